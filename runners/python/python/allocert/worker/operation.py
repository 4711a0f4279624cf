"""The table of operations: name to function of (case, manager name, arguments)."""

OPERATIONS = {}


def operation(function):
    """Registers a function under its own name."""
    OPERATIONS[function.__name__] = function
    return function
