"""The messages for subjects that cannot be run."""

import pathlib

import pytest
from harness import Worker

MODULES = {
    "raises.py": "def start():\n    1 / 0\nstart()\n",
    "needs.py": "import a_dependency_that_is_missing\n",
    "exits.py": "raise SystemExit(3)\n",
    "plugins.py": (
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
    ("not-a-name", "import", "`not-a-name` is not a module name"),
    ("raises", "import", "importing `raises` raised ZeroDivisionError: division by zero"),
    (
        "needs",
        "import",
        "importing `needs` raised ModuleNotFoundError:"
        " No module named 'a_dependency_that_is_missing'",
    ),
    ("exits", "import", "importing `exits` raised SystemExit: 3"),
    (
        "plugins",
        "attribute",
        "`plugins` has no attribute `_numba_memory_manager`; did you mean `Manager`?",
    ),
    ("plugins:Manger", "attribute", "`plugins` has no attribute `Manger`; did you mean `Manager`?"),
    ("plugins:Manager.z", "attribute", "`plugins.Manager` has no attribute `z`"),
    ("plugins:late", "attribute", "reading `late` of `plugins` raised OSError: no"),
    (
        "plugins:instance",
        "class",
        "`plugins.instance` is an instance of Manager, not a class; give the class itself",
    ),
    ("plugins:Manager", "class", "`plugins.Manager` is not a memory manager"),
    ("plugins:Box", "class", "lacks memalloc, memhostalloc, mempin"),
]


@pytest.mark.parametrize(("subject", "stage", "message"), CASES, ids=[case[0] for case in CASES])
def test_a_subject_that_cannot_be_run_is_refused(
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


@pytest.mark.parametrize("module", ["numba", "numpy"])
def test_the_message_says_how_to_install_numba(
    worker: Worker, subjects: pathlib.Path, module: str
) -> None:
    (subjects / f"{module}.py").write_text(
        f"raise ModuleNotFoundError('No module named {module}', name='{module}')\n"
    )
    kind, body = worker.load("anything")
    assert (kind, body["stage"]) == ("refused", "host")
    assert (
        "numba-cuda is not installed" in body["message"]
        and "-m pip install numba-cuda" in body["message"]
        and 'pip install ".[numba]"' in body["message"]
    )


@pytest.mark.parametrize(
    ("module", "extra"), [("numpy", "numpy"), ("numba", "numba"), ("numba.cuda", "numba")]
)
def test_the_message_names_the_extra_of_a_library_that_is_missing(
    worker: Worker, subjects: pathlib.Path, module: str, extra: str
) -> None:
    text = f"raise ModuleNotFoundError('No module named', name={module!r})\n"
    (subjects / "incomplete.py").write_text(text)
    _, body = worker.load("incomplete", "cai-producer")
    assert body["stage"] == "import" and f'pip install ".[{extra}]"' in body["message"]


def test_the_message_names_no_extra_for_other_libraries(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "incomplete.py").write_text("raise ModuleNotFoundError('no', name=7)\n")
    _, body = worker.load("incomplete", "cai-producer")
    assert body["stage"] == "import" and "extra" not in body["message"]


def test_another_interface_is_refused(worker: Worker) -> None:
    _, body = worker.load("x", "cai")
    assert (
        body["message"]
        == "the Python worker runs subjects of emm, emm-host, cai-producer, cai-consumer, cai-pair,"
        " nep49, nep49-host, place, not of cai"
    )
