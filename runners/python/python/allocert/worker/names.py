"""The names that a case's steps bind, and whether what they named is still alive."""

import sys
import weakref

from .outcome import Missing


class Names:
    """Holds the worker's only reference to each named object.

    `root` gives the object whose life decides about a named one, and its `weakref.finalize` where it has one.
    """

    def __init__(self, root):
        self._root = root
        self._values = {}
        self._watches = {}

    def bind(self, name, value):
        target, finalizer = self._root(value)
        self._watches[name] = Watch(target, finalizer, target is value)
        self._values[name] = value

    def get(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise Missing(name) from None

    def drop(self, name):
        """Lets the reference go, then says whether that finalized the object (None: it cannot be told)."""
        self.get(name)
        watch = self._watches[name]
        alone = watch.blind and _references(self._values, name) == _references(
            {name: object()}, name
        )
        del self._values[name]
        return alone if watch.blind else watch.finalized()

    def alive(self, name):
        """Whether the object that has or had this name is alive (None: it cannot be told)."""
        if name not in self._watches:
            raise Missing(name)
        finalized = self._watches[name].finalized()
        return None if finalized is None else not finalized

    def __contains__(self, name):
        return name in self._values


class Watch:
    """Watches an object without keeping it alive."""

    def __init__(self, target, finalizer, held):
        self._finalizer = finalizer
        try:
            self._reference = weakref.ref(target)
        except TypeError:
            self._reference = None
        #: The object itself is held by its name, and tells nobody when it dies; how many hold it can be counted.
        self.blind = held and finalizer is None and self._reference is None

    def finalized(self):
        if self._finalizer is not None:
            return not self._finalizer.alive
        if self._reference is None:
            return None
        return self._reference() is None


def _references(values, name):
    return sys.getrefcount(values[name])
