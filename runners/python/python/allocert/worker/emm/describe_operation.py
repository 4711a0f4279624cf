"""The operation that looks at the manager class, and makes one instance without a context."""

import importlib

from ..emm_shared import facts
from ..emm_shared.case import NumbaCase
from ..operations import Arguments, Facts, OperationTable
from ..safe_access import read_attribute
from ..safe_text import bounded, class_name, class_names, type_name

OPERATIONS: OperationTable[NumbaCase] = OperationTable()


@OPERATIONS.register
def describe(case: NumbaCase, on: str, _arguments: Arguments) -> Facts:
    cls = case.subject.cls
    if case.subject.initialized_driver:
        # The import called the driver before any step; the calls of this one are in the trace.
        importlib.reload(case.subject.module)
    described: Facts = {
        "name": class_name(cls),
        "version": case.subject.version,
        "abstract": sorted(map(str, read_attribute(cls, "__abstractmethods__", ()))),
        "bases": class_names(cls),
        "instantiable": False,
        "interface_version": None,
        "interface_version_type": None,
    }
    try:
        manager = cls(context=None)
    except BaseException as error:  # noqa: BLE001 - that it fails is the fact
        described["error"] = f"{type_name(error)}: {bounded(error, 500)}"
        return described
    if on in case.bindings:  # the host may read the version of a manager that has worked
        manager = case.bindings.get(on)
    version = manager.interface_version
    described.update(
        instantiable=True,
        interface_version=facts.plain(version),
        interface_version_type=_type_of_version(version),
    )
    return described


def _type_of_version(version: object) -> str:
    """`int` for a subclass too, as an IntEnum; a bool is one that nobody means."""
    is_integer = isinstance(version, int) and not isinstance(version, bool)
    return "int" if is_integer else type_name(version)
