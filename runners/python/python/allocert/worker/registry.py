"""The interfaces that this worker knows: a new one is a folder and a line here."""

import importlib

from .interface import Interface
from .refused import Refused

#: The side that is certified, as the harness names it -> the folder that performs its cases. Each
#: has a function `load() -> Interface`.
FOLDERS = {
    "emm": "emm",
    "emm-host": "emm_host",
    "cai-producer": "cai_producer",
    "cai-consumer": "cai_consumer",
    "cai-pair": "cai_pair",
    "nep49": "nep49",
    "nep49-host": "nep49_host",
    "place": "place",
}


def load(side: str) -> Interface:
    """Imports all that the cases of a side need. Raises Refused if that is impossible here."""
    if side not in FOLDERS:
        known = ", ".join(FOLDERS)
        raise Refused("host", f"the Python worker runs subjects of {known}, not of {side}")
    folder = importlib.import_module(f".{FOLDERS[side]}", __package__)
    interface: Interface = folder.load()
    return interface
