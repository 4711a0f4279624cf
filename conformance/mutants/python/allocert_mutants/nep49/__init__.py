"""Handlers of NumPy's data allocation in Python: one that conforms, and mutants of it."""
