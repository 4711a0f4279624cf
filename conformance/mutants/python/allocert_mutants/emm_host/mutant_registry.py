"""The mutants of this package by name, and how they replace functions of numba-cuda."""

from collections.abc import Callable
from typing import Any, TypeAlias

Function: TypeAlias = Callable[..., Any]
#: Breaks a host: sets attributes of the host that it is given, or of classes of numba-cuda.
Mutation: TypeAlias = Callable[[Any], None]

MUTATIONS: dict[str, Mutation] = {}


def mutant(mutation: Mutation) -> Mutation:
    """Registers a mutation under its name."""
    MUTATIONS[mutation.__name__] = mutation
    return mutation


def around(owner: Any, name: str) -> Callable[[Function], Function]:
    """Replaces a function of the owner by one that receives the original as its first argument."""

    def replace(function: Function) -> Function:
        original = getattr(owner, name)
        setattr(owner, name, lambda *args, **kwargs: function(original, *args, **kwargs))
        return function

    return replace
