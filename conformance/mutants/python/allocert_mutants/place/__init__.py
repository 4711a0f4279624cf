"""Mutants of `place` that are Python objects."""
