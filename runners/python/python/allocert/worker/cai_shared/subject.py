"""An adapter as a subject: a class whose methods make a library's arrays, or take arrays."""

import importlib.metadata

from ..refused import Refused
from ..safe_access import read_attribute
from ..safe_text import bounded
from ..subject import ModuleSubject


class AdapterSubject(ModuleSubject):
    """What the adapters of both sides share."""

    default_attribute: str
    #: An adapter has at least one of these methods: without them no case can begin.
    needed: tuple[str, ...] = ()

    def check(self, cls: type, place: str) -> None:
        if not self.looks_like_subject(cls):
            role = self.default_attribute.lower()
            needed = " nor ".join(f"`{name}`" for name in self.needed)
            raise Refused(
                "class", f"`{place}` is not an adapter of a {role}: it has no method {needed}"
            )

    def looks_like_subject(self, cls: type) -> bool:
        return any(callable(read_attribute(cls, name)) for name in self.needed)

    def find_version(self) -> str | None:
        """The version of the library that the adapter names, else of the adapter's module."""
        library = read_attribute(self.cls, "library")
        try:
            return f"{bounded(library, 100)} {importlib.metadata.version(library)}"
        except Exception:  # noqa: BLE001 - `library` may be anything; the report does without
            return super().find_version()
