"""Tables of operations: the name in a step, and the function that performs it."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

#: The fields of an operation, as the plan sends them.
Arguments: TypeAlias = dict[str, Any]
#: What a step returned, as plain JSON.
Facts: TypeAlias = dict[str, Any]

C = TypeVar("C")
#: A function of the case, the step's `on` and the operation's fields. None stands for no facts.
Operation: TypeAlias = Callable[[C, str, Arguments], Facts | None]


class OperationTable(dict[str, Operation[C]]):
    """Name of an operation -> the function that performs it on a case of class C."""

    def register(self, function: Operation[C]) -> Operation[C]:
        """Adds a function under its own name; a decorator."""
        return self.register_as(function.__name__)(function)

    def register_as(self, name: str) -> Callable[[Operation[C]], Operation[C]]:
        """Adds a function under a name that Python does not allow for one; makes a decorator."""

        def add(function: Operation[C]) -> Operation[C]:
            self[name] = function
            return function

        return add


def merged(*tables: Mapping[str, Operation[C]]) -> dict[str, Operation[C]]:
    """One table of all of them. Raises ValueError if two have an operation of the same name."""
    found: dict[str, Operation[C]] = {}
    for table in tables:
        twice = sorted(found.keys() & table.keys())
        if twice:
            raise ValueError(f"two functions perform the operation {twice[0]}")
        found.update(table)
    return found
