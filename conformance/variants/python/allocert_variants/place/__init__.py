"""Variants of `place` that are Python objects."""
