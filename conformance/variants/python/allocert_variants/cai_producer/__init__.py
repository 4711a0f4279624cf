"""Producers of arrays that use what the text leaves open."""
