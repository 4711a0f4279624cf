"""An adapter class: the methods by which a library makes arrays, or takes those of others."""

import importlib.metadata

from .. import subject
from ..peek import read
from ..subject import Refused
from ..text import bounded


class _Adapter(subject.Subject):
    #: Of these an adapter has at least one: without them no case can begin.
    needed = ()

    def check(self, cls, seen):
        if not self.offers(cls):
            needed = " nor ".join(f"`{name}`" for name in self.needed)
            raise Refused(
                "class",
                f"`{seen}` is no adapter of a {self.default_attribute.lower()}: it has no method {needed}",
            )

    def offers(self, cls):
        return any(callable(read(cls, name)) for name in self.needed)

    def _version(self):
        """Of the library, which an adapter names; else as of any subject."""
        library = read(self.cls, "library")
        try:
            return f"{bounded(library, 100)} {importlib.metadata.version(library)}"
        except Exception:  # noqa: BLE001 - no such distribution, or no name at all; the version is a courtesy
            return super()._version()


class Producer(_Adapter):
    default_attribute = "Producer"
    needed = ("array",)


class Consumer(_Adapter):
    default_attribute = "Consumer"
    needed = ("accept", "launch")
