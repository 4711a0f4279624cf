"""The table of operations: name to function of (case, manager name, arguments)."""

OPERATIONS = {}


def operation(function, name=None):
    """Registers a function under its own name, or under one that Python does not take for a function's."""
    OPERATIONS[name or function.__name__] = function
    return function
