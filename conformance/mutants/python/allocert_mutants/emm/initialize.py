"""Plugins with a faulty initialize()."""

from typing import Any

from .conforming_plugin import Manager


class ReturnsTrue(Manager):
    """Returns True from initialize()."""

    def initialize(self) -> bool:  # type: ignore[override]  # the mutation
        super().initialize()
        return True


class Allocates(Manager):
    """Allocates in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.scratch = self.memalloc(1 << 20)


class OnceOnly(Manager):
    """Raises in a second initialize()."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initialized = False

    def initialize(self) -> None:
        super().initialize()
        if self.initialized:
            raise RuntimeError("already initialized")
        self.initialized = True


class FreesLiveMemory(Manager):
    """Frees all live memory in every initialize()."""

    def initialize(self) -> None:
        super().initialize()
        self.blocks.reset()
