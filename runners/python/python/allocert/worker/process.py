"""The operations on the process and on what a name holds, which every interface has."""

import gc
import os

from .operation import operation


@operation
def drop(case, _on, arguments):
    return {"finalized": case.names.drop(arguments["name"])}


@operation
def fault(case, _on, arguments):
    case.driver.fault_add(
        arguments["call"], arguments.get("nth", 1), arguments.get("count", 1), arguments["error"]
    )


@operation
def clear_faults(case, _on, _arguments):
    case.driver.fault_clear()


@operation
def collect(_case, _on, _arguments):
    gc.collect()


@operation
def environment(case, _on, arguments):
    os.environ[arguments["name"]] = arguments["value"]
    case.environment_changed(arguments["name"])


@operation
def attach(case, _on, arguments):
    case.attach(arguments.get("device", 0))


@operation
def detach(case, _on, _arguments):
    case.driver.set_current(0)
