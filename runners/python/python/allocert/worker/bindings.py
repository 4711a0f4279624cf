"""The names that a case's steps bind to objects, and whether those objects are still alive."""

import sys
import weakref
from collections.abc import Callable
from typing import Any, TypeAlias

from .outcome import Missing

#: Gives for an object the one whose end counts as the end of both, and that one's finalizer if it
#: has one.
LifetimeOf: TypeAlias = Callable[[Any], tuple[Any, "weakref.finalize[..., Any] | None"]]


class Bindings:
    """Name -> object. Holds the only reference of the worker to each object."""

    def __init__(self, lifetime_of: LifetimeOf) -> None:
        self._lifetime_of = lifetime_of
        self._values: dict[str, Any] = {}
        self._watches: dict[str, _Watch] = {}

    def bind(self, name: str, value: Any) -> None:
        """Binds the name, whatever it stood for before."""
        target, finalizer = self._lifetime_of(value)
        self._watches[name] = _Watch(target, finalizer, target is value)
        self._values[name] = value

    def get(self, name: str) -> Any:
        """The object. Raises Missing if no step bound the name."""
        try:
            return self._values[name]
        except KeyError:
            raise Missing(name) from None

    def drop(self, name: str) -> bool | None:
        """Drops the object. Returns whether that finalized it, or None if that cannot be known."""
        self.get(name)
        watch = self._watches[name]
        only_holder = watch.by_count and _count(self._values, name) == _count(
            {name: object()}, name
        )
        del self._values[name]
        watch.was_only_holder = only_holder
        return only_holder if watch.by_count else watch.finalized()

    def alive(self, name: str) -> bool | None:
        """Whether the object that has or had this name is alive; None if that cannot be known."""
        if name not in self._watches:
            raise Missing(name)
        finalized = self._watches[name].finalized()
        return None if finalized is None else not finalized

    def __contains__(self, name: str) -> bool:
        return name in self._values


class _Watch:
    """Checks whether an object still exists, without keeping it alive."""

    def __init__(
        self, target: Any, finalizer: "weakref.finalize[..., Any] | None", is_bound: bool
    ) -> None:
        self._finalizer = finalizer
        self._reference: weakref.ref[Any] | None
        try:
            self._reference = weakref.ref(target)
        except TypeError:
            self._reference = None
        #: The bound object itself takes no weak reference, but its references can be counted.
        self.by_count = is_bound and finalizer is None and self._reference is None
        #: Whether the name was dropped while nothing else referred to the object.
        self.was_only_holder = False

    def finalized(self) -> bool | None:
        if self._finalizer is not None:
            return not self._finalizer.alive
        if self._reference is None:
            return True if self.was_only_holder and self.by_count else None
        return self._reference() is None


def _count(values: dict[str, Any], name: str) -> int:
    return sys.getrefcount(values[name])
