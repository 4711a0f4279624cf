"""Handlers of NumPy's data allocation in Python, each with one defect."""
