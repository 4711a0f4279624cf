"""Adapters: how the suite makes a library's arrays, and gives arrays to it.

runners/python/ADAPTERS.md says how to write one. Each module adapts one library and imports it at
the top. None needs the rest of this package.
"""
