"""The operations that every interface has: on the process, and on what a name holds."""

import gc
import os

from .case import Case
from .operations import Arguments, Facts, OperationTable

OPERATIONS: OperationTable[Case] = OperationTable()


@OPERATIONS.register
def drop(case: Case, _on: str, arguments: Arguments) -> Facts:
    return {"finalized": case.bindings.drop(arguments["name"])}


@OPERATIONS.register
def fault(case: Case, _on: str, arguments: Arguments) -> None:
    nth, count = arguments.get("nth", 1), arguments.get("count", 1)
    case.driver.fault_add(arguments["call"], nth, count, arguments["error"])


@OPERATIONS.register
def clear_faults(case: Case, _on: str, _arguments: Arguments) -> None:
    case.driver.fault_clear()


@OPERATIONS.register
def collect(_case: Case, _on: str, _arguments: Arguments) -> None:
    gc.collect()


@OPERATIONS.register
def environment(case: Case, _on: str, arguments: Arguments) -> None:
    os.environ[arguments["name"]] = arguments["value"]
    case.environment_changed(arguments["name"])
