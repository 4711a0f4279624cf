"""Adapters: how the suite makes a library's arrays, and gives it arrays of others. runners/python/ADAPTERS.md says how to write one.

Each module adapts one library and imports it when it is imported itself; nothing here needs the rest of this package.
"""
