"""What the worker reports of plugins that conform, misbehave, or do nothing."""

import pathlib
import signal
from typing import Any

import pytest
from harness import Body, Outcome, Step, Worker, facts

SETUP: list[Step] = [
    {"do": {"attach": {"device": 0}}},
    {"do": {"create": {"as": "m", "device": 0}}},
    {"do": {"initialize": {}}},
]
ALLOCATE: Step = {"do": {"memalloc": {"size": 4096, "as": "a"}}}
DROP: Step = {"do": {"drop": {"name": "a"}}}


def run(worker: Worker, subject: str, *steps: Step, **case: Any) -> tuple[list[Outcome], Body]:
    """Loads the subject and performs one case after its set-up."""
    kind, body = worker.load(subject)
    assert kind == "loaded", body
    outcomes, ended = worker.run(*SETUP, *steps, **case)
    return outcomes[len(SETUP) :], ended


def test_facts_of_a_conforming_allocation(worker: Worker) -> None:
    outcomes, ended = run(worker, "allocert_mutants.emm.conforming_plugin:Manager", ALLOCATE, DROP)
    memory = facts(outcomes[0])
    assert memory["pointer"] % 256 == 0 < memory["pointer"]
    del memory["pointer"]
    assert memory == {
        "kind": "device",
        "type": "MemoryPointer",
        "bases": ["MemoryPointer"],
        "host_pointer": 0,
        "pointer_type": "CUdeviceptr",
        "size_bytes": 4096,
        "context_matches": True,
        "owner_is_none": True,
        "references": 1,
        "has_finalizer": True,
        "buffer_bytes": None,
        "writable": None,
    }
    assert facts(outcomes[1]) == {"finalized": True}
    assert (
        ended["exit"] == {"code": 0} and ended["stderr"]["bytes"] == ended["stdout"]["bytes"] == 0
    )


def test_memory_is_written_and_read_through_the_driver(worker: Worker) -> None:
    fill, read = {"memory": "a", "byte": 7, "offset": 96}, {"memory": "a"}
    outcomes, _ = run(
        worker,
        "allocert_mutants.emm.conforming_plugin:Manager",
        ALLOCATE,
        {"do": {"fill": fill}},
        {"do": {"read": read}},
    )
    assert facts(outcomes[2])["bytes_read"] == 4096 and facts(outcomes[2])["uniform"] is None
    again = {"memory": "a", "offset": 96, "size": 4000}
    outcomes, _ = worker.run(*SETUP, ALLOCATE, {"do": {"fill": fill}}, {"do": {"read": again}})
    assert facts(outcomes[-1]) == {"uniform": 7, "bytes_read": 4000}


@pytest.mark.parametrize("mapped", [False, True])
def test_host_memory(worker: Worker, mapped: bool) -> None:
    host = {"size": 8192, "mapped": mapped, "as": "a"}
    fill, read = {"memory": "a", "byte": 9}, {"memory": "a"}
    outcomes, _ = run(
        worker,
        "allocert_mutants.emm.conforming_plugin:Manager",
        {"do": {"memhostalloc": host}},
        {"do": {"fill": fill}},
        {"do": {"read": read}},
        DROP,
    )
    memory = facts(outcomes[0])
    assert memory["kind"] == ("mapped" if mapped else "pinned")
    assert (memory["pointer"] != 0) is mapped and memory["host_pointer"] != 0
    assert (memory["buffer_bytes"], memory["writable"]) == (8192, True)
    assert facts(outcomes[2]) == {"uniform": 9, "bytes_read": 8192}
    assert facts(outcomes[3]) == {"finalized": True}


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("wc", [False, True])
def test_host_memory_has_the_flags_that_the_driver_reports(
    worker: Worker, portable: bool, wc: bool
) -> None:
    host = {"size": 8192, "portable": portable, "wc": wc, "as": "a"}
    outcomes, _ = run(
        worker, "allocert_mutants.emm.conforming_plugin:Manager", {"do": {"memhostalloc": host}}
    )
    memory = facts(outcomes[0])
    assert (memory["portable"], memory["write_combined"]) == (portable, wc)


ONE_BLOCK = """
from allocert_mutants.emm.conforming_plugin import Manager

class OneBlock(Manager):
    def memalloc(self, size):
        self.block = getattr(self, "block", None) or super().memalloc(5000)
        return self.wrap(int(self.block.handle), size, None)
"""


@pytest.mark.parametrize(
    ("subject", "wrong"),
    [("allocert_mutants.emm.conforming_plugin:Manager", False), ("block:OneBlock", True)],
)
def test_a_mixed_churn_checks_the_content_of_each_block(
    worker: Worker, subjects: pathlib.Path, subject: str, wrong: bool
) -> None:
    (subjects / "block.py").write_text(ONE_BLOCK)
    churn = {"do": {"churn": {"size": 5000, "times": 60, "hold": 8, "mixed": True}}}
    outcomes, _ = run(worker, subject, churn)
    found = facts(outcomes[0])
    assert (found["failed"], found["first_failure"]) == (0, None)
    assert (found["changed"] > 0, found["overlaps"] > 0) == (wrong, wrong)


def test_a_pinned_buffer_lives_as_long_as_the_pin(worker: Worker) -> None:
    steps: list[Step] = [
        {"do": {"host_buffer": {"size": 4096, "as": "buffer"}}},
        {"do": {"mempin": {"buffer": "buffer", "mapped": False, "as": "a"}}},
        {"do": {"drop": {"name": "buffer"}}},
        DROP,
    ]
    outcomes, _ = run(worker, "allocert_mutants.emm.conforming_plugin:Manager", *steps)
    assert [facts(outcome).get("finalized") for outcome in outcomes[2:]] == [False, True]
    run_again, _ = worker.run(*SETUP, *steps)
    assert facts(run_again[-2]) == {"finalized": False}


def test_a_view_keeps_the_memory(worker: Worker) -> None:
    view = {"do": {"view": {"of": "a", "offset": 256, "size": 64, "as": "v"}}}
    outcomes, _ = run(
        worker,
        "allocert_mutants.emm.conforming_plugin:Manager",
        ALLOCATE,
        view,
        DROP,
        {"do": {"drop": {"name": "v"}}},
    )
    assert facts(outcomes[1])["pointer"] == facts(outcomes[0])["pointer"] + 256
    assert [facts(outcome) for outcome in outcomes[2:]] == [
        {"finalized": False},
        {"finalized": True},
    ]


def test_a_finalizer_that_raises_is_the_outcome_of_its_step(worker: Worker) -> None:
    outcomes, ended = run(worker, "allocert_mutants.emm.finalizer:Raises", ALLOCATE, DROP)
    assert outcomes[1]["raised"]["type"] == "ValueError"
    assert outcomes[1]["raised"]["message"] == "this finalizer always raises"
    assert "ValueError" in ended["stderr"]["text"]


@pytest.mark.parametrize("subject", ["ReferencesMemory", "MemoryInReferenceCycle"])
def test_memory_in_a_cycle_is_not_finalized(worker: Worker, subject: str) -> None:
    outcomes, _ = run(worker, f"allocert_mutants.emm.finalizer:{subject}", ALLOCATE, DROP)
    assert facts(outcomes[1]) == {"finalized": False}


def test_a_raised_exception_keeps_no_object_alive(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "keeps.py").write_text(
        "from allocert_mutants.emm.conforming_plugin import Manager as Conforming\n"
        "class Manager(Conforming):\n"
        "    def get_ipc_handle(self, memory):\n"
        "        try:\n            raise ValueError('kept')\n"
        "        except ValueError as error:\n            kept = error\n            raise\n"
    )
    handle = {"do": {"get_ipc_handle": {"memory": "a", "as": "h"}}}
    outcomes, _ = run(worker, "keeps:Manager", ALLOCATE, handle, DROP)
    assert outcomes[1]["raised"]["bases"] == ["ValueError", "Exception", "BaseException"]
    assert facts(outcomes[2]) == {"finalized": True}


def test_a_raised_exception_says_where_it_passed(worker: Worker, subjects: pathlib.Path) -> None:
    file = subjects / "passes.py"
    file.write_text(
        "from allocert_mutants.emm.conforming_plugin import Manager as Conforming\n"
        "class Manager(Conforming):\n"
        "    def memalloc(self, size):\n"
        "        return self.inner(size)\n"
        "    def inner(self, size):\n"
        "        return self.inner(size - 1) if size else {}['no such key']\n"
    )
    allocate = {"do": {"memalloc": {"size": 3, "as": "a"}}}
    deep = {"do": {"memalloc": {"size": 500, "as": "b"}}}
    (three, five_hundred), _ = run(worker, "passes:Manager", allocate, deep)
    names = [frame.rsplit(" in ", 1) for frame in three["raised"]["traceback"]]
    assert [place for place, _ in names] == [f"{file}:4"] + [f"{file}:6"] * 4
    assert [name.rsplit(".", 1)[-1] for _, name in names] == ["memalloc"] + ["inner"] * 4
    assert five_hundred["raised"]["traceback"] == [three["raised"]["traceback"][-1]] * 16


def test_a_missing_name_skips_the_step(worker: Worker) -> None:
    outcomes, _ = run(worker, "allocert_mutants.emm.constant_answer:AlwaysRaises", ALLOCATE, DROP)
    assert outcomes[0]["raised"]["message"] == "this plugin always refuses"
    assert outcomes[1] == {"skipped": {"because": "a"}}


def test_a_fresh_thread_has_no_context(worker: Worker) -> None:
    outcomes, _ = run(
        worker,
        "allocert_mutants.emm.conforming_plugin:Manager",
        {**ALLOCATE, "thread": "fresh"},
        ALLOCATE,
    )
    assert outcomes[0]["raised"]["code"] == 201
    assert facts(outcomes[1])["kind"] == "device"


ODD = """
from allocert_mutants.emm.conforming_plugin import Manager as Conforming

class Lie(int):
    def __index__(self): raise RuntimeError('index')
    def __str__(self): raise RuntimeError('str')

class Memory:
    device_pointer = 1 << 70
    size = 1 << 80
    context = property(lambda self: 1 / 0)
    host_pointer = None
    _bufptr_ = object()

class Loud(Exception):
    def __str__(self): return 'x' * 100000 + chr(0xd800)

class Odd(Conforming):
    def memalloc(self, size):
        if size == 1: return Memory()
        if size == 2: return Lie()
        if size == 3: raise Loud()
        if size == 4: raise KeyboardInterrupt()
        if size == 5: raise SystemExit(chr(0xd800))
        return type(chr(0xd800), (), {})()
"""


def test_odd_objects_are_described_and_never_trusted(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "odd.py").write_text(ODD)
    steps: list[Step] = [
        {"do": {"memalloc": {"size": size, "as": f"n{size}"}}} for size in range(1, 7)
    ]
    outcomes, ended = run(worker, "odd:Odd", *steps)
    huge, lie, loud, interrupt, leave, _ = outcomes
    assert facts(huge)["pointer"] is None and facts(huge)["size_bytes"] == "<integer of 81 bits>"
    assert facts(lie)["kind"] == "none" and facts(lie)["type"] == "Lie"
    assert len(loud["raised"]["message"]) < 5000
    assert [outcome["raised"]["type"] for outcome in (interrupt, leave)] == [
        "KeyboardInterrupt",
        "SystemExit",
    ]
    assert ended["exit"] == {"code": 0}


@pytest.mark.parametrize(
    ("subject", "ending"),
    [
        ("Crashes", {"signal": signal.SIGSEGV}),
        ("Aborts", {"signal": signal.SIGABRT}),
        ("ExitsWith0", {"code": 0}),
    ],
)
def test_a_process_that_ends_in_a_step_leaves_the_server_alive(
    worker: Worker, subject: str, ending: dict[str, int]
) -> None:
    outcomes, ended = run(
        worker, f"allocert_mutants.emm.crash_hang_output:{subject}", ALLOCATE, DROP
    )
    assert outcomes == [] and ended["exit"] == ending
    outcomes, ended = worker.run({"do": {"describe": {}}})
    assert facts(outcomes[0])["instantiable"] is True and ended["exit"] == {"code": 0}


def test_long_output_is_counted_and_shortened(worker: Worker) -> None:
    outcomes, ended = run(
        worker, "allocert_mutants.emm.crash_hang_output:PrintsMegabytes", ALLOCATE
    )
    assert facts(outcomes[0])["kind"] == "device"
    assert ended["stdout"]["bytes"] == 64 * 4096 * len("nothing to see here\n")
    assert len(ended["stdout"]["text"]) < 17000 and "bytes left out" in ended["stdout"]["text"]


def test_forged_lines_do_not_reach_the_protocol(worker: Worker) -> None:
    outcomes, ended = run(worker, "allocert_mutants.emm.crash_hang_output:ForgesVerdicts", ALLOCATE)
    assert [facts(outcome)["kind"] for outcome in outcomes] == ["none"]
    assert '"verdict"' in ended["stdout"]["text"] and '"verdict"' in ended["stderr"]["text"]


def test_a_case_that_ends_as_a_program_ends_runs_atexit(worker: Worker) -> None:
    _, ended = run(
        worker, "allocert_mutants.emm.crash_hang_output:RaisesAtExit", ALLOCATE, ending="exit"
    )
    assert "RuntimeError: too late" in ended["stderr"]["text"]
    _, ended = worker.run(*SETUP, ALLOCATE)
    assert ended["stderr"]["bytes"] == 0


def test_a_subject_whose_import_calls_the_driver_still_works(worker: Worker) -> None:
    outcomes, _ = run(worker, "allocert_mutants.emm.cuda_at_import:Manager", ALLOCATE)
    assert facts(outcomes[0])["kind"] == "device"


def test_driver_settings_of_a_case(worker: Worker) -> None:
    worker.load("allocert_mutants.emm.conforming_plugin:Manager")
    second = {"do": {"attach": {"device": 1}}}
    outcomes, _ = worker.run(second, {"do": {"create": {"as": "m", "device": 1}}}, devices=2)
    assert facts(outcomes[1])["holds_context"] is True
    outcomes, _ = worker.run(second)
    assert "raised" in outcomes[0]


def test_a_handle_is_read_by_a_second_process(worker: Worker) -> None:
    steps: list[Step] = [
        ALLOCATE,
        {"do": {"fill": {"memory": "a", "byte": 5}}},
        {"do": {"view": {"of": "a", "offset": 512, "size": 128, "as": "v"}}},
        {"do": {"fill": {"memory": "v", "byte": 6}}},
        {"do": {"get_ipc_handle": {"memory": "v", "as": "h"}}},
        {"do": {"peer_read": {"handle": "h", "size": 128}}},
        {"do": {"pickle": {"handle": "h"}}},
    ]
    outcomes, _ = run(worker, "allocert_mutants.emm.conforming_plugin:Manager", *steps)
    handle = facts(outcomes[4])
    assert (handle["handle_bytes"], handle["offset_bytes"], handle["size_bytes"]) == (64, 512, 128)
    assert handle["base_is_memory"] and handle["source_matches"]
    assert facts(outcomes[5]) == {"uniform": 6}
    assert facts(outcomes[6]) == {"same_handle": True, "same_offset": True, "same_size": True}


def test_the_host_with_the_subject_installed(worker: Worker) -> None:
    steps: list[Step] = [
        {"do": {"register": {}}},
        {"do": {"open_context": {}}},
        {"do": {"to_device": {"size": 1000, "byte": 3, "as": "a"}}},
        {"do": {"slice": {"of": "a", "start": 100, "stop": 200, "as": "s"}}},
        {"do": {"copy_to_host": {"array": "s"}}},
        {"do": {"mapped_array": {"size": 64, "as": "p"}}},
        {"do": {"pin_block": {"size": 4096, "times": 3, "mapped": True}}},
        DROP,
        {"do": {"drop": {"name": "s"}}},
        {"do": {"drop": {"name": "p"}}},
        {"do": {"close": {}}},
    ]
    worker.load("allocert_mutants.emm.conforming_plugin:Manager")
    outcomes, ended = worker.run(*steps, operations="emm-host")
    opened = {
        "manager_type": "Manager",
        "manager_is_subject": True,
        "same_manager": False,
        "closed_contexts": 0,
    }
    assert facts(outcomes[1]) == opened
    assert facts(outcomes[3])["size_bytes"] == 100
    assert facts(outcomes[4]) == {"uniform": 3, "bytes_read": 100}
    assert [facts(outcome) for outcome in outcomes[7:10]] == [
        {"finalized": value} for value in (False, True, True)
    ]
    assert facts(outcomes[10]) == {} and ended["stderr"]["text"] == ""
