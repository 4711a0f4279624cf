"""An allocator as a subject: an object, or what makes one for a device."""

from types import ModuleType
from typing import Any

from ..driver import Driver
from ..refused import Refused
from ..safe_text import type_name
from ..subject import ModuleSubject
from .abis import ABIS


class AllocatorSubject(ModuleSubject):
    """A subject given as `ABI(module:attribute)`."""

    def __init__(self, specification: str, driver: Driver) -> None:
        abi, _, named = specification.removesuffix(")").partition("(")
        if abi not in ABIS:
            known = ", ".join(ABIS)
            raise Refused("class", f"there is no ABI `{abi}` of Python objects; there are {known}")
        self.abi_name, self.abi = abi, ABIS[abi]
        self.always = ("python", "device_memory")
        super().__init__(named, driver)

    def looks_like_subject(self, cls: type) -> bool:
        return self.abi.has_methods(cls)

    def find(self, module: ModuleType, path: str | None) -> Any:
        found, place = self.walk(module, path)
        if not self.abi.accepts(found):
            raise Refused(
                "class",
                f"`{place}` has type {type_name(found)}: a subject of --abi {self.abi_name} is"
                f" {self.abi.shape}, or a callable that makes one",
            )
        if self.abi.has_streams(found):
            self.always = (*self.always, "streams")
        return found
