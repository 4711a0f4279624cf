"""What each folder of an interface provides to the shared part of the worker."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from .case import Case
from .driver import Driver
from .operations import Operation
from .protocol import CaseDescription

C = TypeVar("C", bound=Case)


class Subject(Protocol):
    """What the server and a case use of a subject; subject.py finds most of them."""

    name: str
    file: str | None
    capabilities: list[str]
    #: Whether the import of the subject called cuInit.
    initialized_driver: bool

    @property
    def version(self) -> str | None: ...


@dataclass(frozen=True)
class CaseKind(Generic[C]):
    """How the cases are performed whose steps use the operations of one side."""

    cls: Callable[[CaseDescription, Any, Driver, Mapping[str, Operation[Any]]], C]
    operations: Mapping[str, Operation[C]]

    def new(self, described: CaseDescription, subject: Subject, driver: Driver) -> C:
        """The case, before its first step."""
        return self.cls(described, subject, driver, self.operations)


@dataclass(frozen=True)
class Interface:
    """One side: how its subjects are found, and how its cases are performed."""

    #: The distributions whose versions stand in a report, as pip names them.
    distributions: tuple[str, ...]
    #: Makes the subject of a specification such as `module:attribute`, or raises Refused.
    subject: Callable[[str, Driver], Subject]
    #: The side whose operations a case uses -> how such cases are performed.
    case_kinds: Mapping[str, CaseKind[Any]]
    #: Whether a subject that starts threads of C code while it is imported is imported by each
    #: child. Large libraries start such threads too, and know how to go on after a fork.
    counts_native_threads: bool = False

    def new_case(self, described: CaseDescription, subject: Subject, driver: Driver) -> Case:
        """A case of this side. If the side has no such operations, each step is unsupported."""
        kind: CaseKind[Any] = self.case_kinds.get(described["operations"], CaseKind(Case, {}))
        case: Case = kind.new(described, subject, driver)
        return case
