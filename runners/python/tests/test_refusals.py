"""Subjects that cannot be run: whose fault it is, and what to do."""

import pathlib

import pytest
from harness import Worker

MODULES = {
    "raises.py": "def start():\n    1 / 0\nstart()\n",
    "needs.py": "import a_dependency_that_is_missing\n",
    "leaves.py": "raise SystemExit(3)\n",
    "offers.py": (
        "class Manager:\n    def memalloc(self, size): pass\n"
        "class Box: pass\n"
        "instance = Manager()\n"
        "def __getattr__(name):\n"
        "    if name == 'late': raise OSError('no')\n"
        "    raise AttributeError(name)\n"
    ),
}

CASES = [
    ("absent", "import", "no module named `absent`"),
    ("not-a-name", "import", "`not-a-name` is no module name"),
    ("raises", "import", "importing `raises` raised ZeroDivisionError: division by zero"),
    (
        "needs",
        "import",
        "importing `needs` raised ModuleNotFoundError:"
        " No module named 'a_dependency_that_is_missing'",
    ),
    ("leaves", "import", "importing `leaves` raised SystemExit: 3"),
    (
        "offers",
        "attribute",
        "`offers` has no attribute `_numba_memory_manager`; did you mean `Manager`?",
    ),
    ("offers:Manger", "attribute", "`offers` has no attribute `Manger`; did you mean `Manager`?"),
    ("offers:Manager.z", "attribute", "`offers.Manager` has no attribute `z`"),
    ("offers:late", "attribute", "reading `late` of `offers` raised OSError: no"),
    (
        "offers:instance",
        "class",
        "`offers.instance` is no class but a Manager; give the class, not an instance of it",
    ),
    ("offers:Manager", "class", "`offers.Manager` is no memory manager"),
    ("offers:Box", "class", "lacks memalloc, memhostalloc, mempin"),
]


@pytest.mark.parametrize(("subject", "stage", "message"), CASES, ids=[case[0] for case in CASES])
def test_refused(
    worker: Worker, subjects: pathlib.Path, subject: str, stage: str, message: str
) -> None:
    for name, text in MODULES.items():
        (subjects / name).write_text(text)
    kind, body = worker.load(subject)
    assert kind == "refused"
    assert body["stage"] == stage
    assert message in body["message"]


def test_the_traceback_begins_in_the_subject(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "raises.py").write_text(MODULES["raises.py"])
    _, body = worker.load("raises")
    assert [
        line.split(",")[1].strip()
        for line in body["detail"].splitlines()
        if line.startswith("  File")
    ] == [
        "line 3",
        "line 2",
    ]


def test_a_host_without_numba_is_told_how_to_get_it(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "numba.py").write_text(
        "raise ModuleNotFoundError('No module named numba', name='numba')\n"
    )
    kind, body = worker.load("anything")
    assert (kind, body["stage"]) == ("refused", "host")
    assert (
        "numba-cuda is not installed" in body["message"]
        and "-m pip install numba-cuda" in body["message"]
    )


def test_another_interface_is_refused(worker: Worker) -> None:
    _, body = worker.load("x", "cai")
    assert (
        body["message"]
        == "the Python worker runs subjects of emm, emm-host, cai-producer, cai-consumer, cai-pair,"
        " not of cai"
    )
