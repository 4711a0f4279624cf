"""The operations on what a name holds, whoever made it, and on the process around it."""

import gc
import os

from numba.cuda.core import config

from . import transfer
from .operation import operation


@operation
def drop(case, _on, arguments):
    return {"finalized": case.names.drop(arguments["name"])}


@operation
def free(case, _on, arguments):
    case.names.get(arguments["name"]).free()


@operation
def fill(case, _on, arguments):
    memory = case.names.get(arguments["memory"])
    transfer.fill(case.driver, memory, arguments["byte"], arguments.get("offset", 0), arguments.get("size"))


@operation
def read(case, _on, arguments):
    memory = case.names.get(arguments["memory"])
    return transfer.uniform(case.driver, memory, arguments.get("offset", 0), arguments.get("size"))


@operation
def fault(case, _on, arguments):
    case.driver.fault_add(arguments["call"], arguments.get("nth", 1), arguments.get("count", 1), arguments["error"])


@operation
def clear_faults(case, _on, _arguments):
    case.driver.fault_clear()


@operation
def collect(_case, _on, _arguments):
    gc.collect()


@operation
def environment(_case, _on, arguments):
    os.environ[arguments["name"]] = arguments["value"]
    if arguments["name"].startswith("NUMBA_"):
        config.reload_config()
