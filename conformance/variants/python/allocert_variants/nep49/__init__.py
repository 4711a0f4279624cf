"""Handlers of NumPy's data allocation that use what the text leaves open."""
