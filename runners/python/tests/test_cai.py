"""What the worker reports of adapters that conform, of wrong ones and of broken ones."""

import json
import pathlib
import re
import signal
import sys
from typing import Any

import pytest
from harness import ROOT, Body, Outcome, Program, Step, Worker, facts
from runfile import findings, verdicts

SETUP: list[Step] = [{"do": {"attach": {"device": 0}}}, {"do": {"instantiate": {"as": "adapter"}}}]
CONFORMING = {
    "producer": "allocert_mutants.cai_producer.conforming_producer:Producer",
    "consumer": "allocert_mutants.cai_consumer.conforming_consumer:Consumer",
}


def steps(*operations: dict[str, Any]) -> list[Step]:
    """The operations as steps after the set-up."""
    return [*SETUP, *[{"do": operation} for operation in operations]]


def run(
    worker: Worker, role: str, subject: str, *operations: dict[str, Any]
) -> tuple[list[Outcome], Body]:
    """Loads the adapter and performs one case after its set-up."""
    kind, body = worker.load(subject, f"cai-{role}")
    assert kind == "loaded", body
    outcomes, ended = worker.run(*steps(*operations), side=f"cai-{role}")
    return outcomes[len(SETUP) :], ended


EXPORT = (
    {"array": {"shape": [2, 3], "layout": "fortran", "counting": True, "as": "a"}},
    {"export": {"of": "a", "as": "e"}},
)


def test_an_export_is_described_and_looked_up(worker: Worker) -> None:
    outcomes, ended = run(
        worker, "producer", CONFORMING["producer"], *EXPORT, {"consume": {"export": "e"}}
    )
    export = facts(outcomes[1])
    base = export["pointer"]
    assert base % 256 == 0 < base and export["description"]["entries"]["shape"]["type"] == "tuple"
    memory = export["memory"]
    assert (memory["type"], memory["base"], memory["size_bytes"], memory["device"]) == (
        "device",
        base,
        24,
        0,
    )
    assert (export["shape"], export["strides"], export["effective_strides"]) == (
        [2, 3],
        [4, 8],
        [4, 8],
    )
    assert (export["stream"], export["version"], export["read_only"]) == (None, 3, False)
    assert facts(outcomes[2]) == {
        "uniform": None,
        "bytes_read": 24,
        "typestr": "<f4",
        "values": [0, 1, 2, 3, 4, 5],
        "truths": [False, True, True, True, True, True],
    }
    assert ended["exit"] == {"code": 0} and ended["stderr"]["bytes"] == 0


ODD = """
class Huge(int):
    pass

class Odd:
    def __init__(self, **entries):
        data = (1 << 70, False)
        self.entries = {"shape": (4,), "typestr": "<f4", "data": data, "version": 3, **entries}
    @property
    def __cuda_array_interface__(self):
        if isinstance(self.entries.get("raise"), BaseException):
            raise self.entries["raise"]
        return self.entries

ODD = [
    Odd(),
    Odd(shape=(1 << 80,)),
    Odd(shape=[4]),
    Odd(shape=(Huge(4),)),
    Odd(strides=(1 << 62,) * 1000),
    Odd(typestr="x"),
    Odd(typestr=chr(0xd800), descr=[(chr(0xd801), chr(0xd802))], **{chr(0xdfff): 1}),
    Odd(stream=-1),
    Odd(stream=1 << 65),
    Odd(mask=Odd()),
    Odd(**{"raise": SystemExit(3)}),
    Odd(**{"raise": ValueError("no")}),
    Odd(data=(0x1234, False)),
]

class Producer:
    def array(self, spec):
        array = ODD[spec.shape[0]]
        if array.entries.get("shape") == [4]:
            return type("Other", (), {"__cuda_array_interface__": 7})()
        return array
"""


def test_odd_exports_are_described_and_never_trusted(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "odd.py").write_text(ODD)
    operations = []
    for index in range(13):
        operations.append({"array": {"shape": [index], "as": f"a{index}"}})
        operations.append({"export": {"of": f"a{index}", "as": f"e{index}"}})
        operations.append({"consume": {"export": f"e{index}"}})
    outcomes, ended = run(worker, "producer", "odd", *operations)
    exports, consumed = outcomes[1::3], outcomes[2::3]
    assert [name for outcome in exports for name in outcome] == ["returned"] * 10 + [
        "raised"
    ] * 2 + ["returned"]
    assert [outcome["raised"]["type"] for outcome in exports[10:12]] == ["SystemExit", "ValueError"]
    assert facts(exports[12])["memory"] == {"known": False}
    assert all("raised" in outcome for outcome in consumed[:10]), consumed
    # Lone surrogates are no JSON to the harness.
    assert json.dumps(outcomes, ensure_ascii=False).encode()
    assert consumed[10:12] == [{"skipped": {"because": f"e{index}"}} for index in (10, 11)]
    assert ended["exit"] == {"code": 0}


def test_a_consumer_that_does_not_wait_reads_old_data(worker: Worker) -> None:
    """The order of the consumer's reads against the producer's write is in the data."""
    operations = (
        {"stream": {"kind": "non_blocking", "as": "s"}},
        {"produce": {"shape": [4], "byte": 1, "stream": "s", "as": "p"}},
        {"pend": {"on": "p", "stream": "s", "byte": 2}},
        {"import": {"of": "p", "as": "i"}},
        {"access": {"on": "i"}},
        {"inspect": {"on": "p"}},
    )
    waited, _ = run(worker, "consumer", CONFORMING["consumer"], *operations)
    assert [facts(outcome)["uniform"] for outcome in waited[-2:]] == [2, 2]
    early, _ = run(
        worker, "consumer", "allocert_mutants.cai_consumer.stream_order:NeverWaits", *operations
    )
    assert [facts(outcome)["uniform"] for outcome in early[-2:]] == [1, 2]


def test_the_dictionary_has_the_entries_that_a_case_sets(worker: Worker) -> None:
    changes = {
        "shape": {"type": "list", "items": [4]},
        "data": [{"type": "pointer", "plus": 4}, True],
        "extra": None,
    }
    outcomes, _ = run(
        worker,
        "consumer",
        CONFORMING["consumer"],
        {
            "produce": {
                "shape": [4],
                "counting": True,
                "strides": [8],
                "set": changes,
                "omit": ["version"],
                "as": "p",
            }
        },
        {"import": {"of": "p", "as": "i"}},
    )
    made = facts(outcomes[0])
    assert (
        made["keys"] == ["data", "extra", "shape", "strides", "typestr"]
        and made["size_bytes"] == 28
    )
    assert outcomes[1]["raised"]["message"] == "the interface has no version"


def test_an_exporter_and_its_memory_live_until_the_last_reference(worker: Worker) -> None:
    outcomes, _ = run(
        worker,
        "consumer",
        CONFORMING["consumer"],
        {"produce": {"shape": [4], "byte": 3, "as": "p"}},
        {"import": {"of": "p", "as": "i"}},
        {"drop": {"name": "p"}},
        {"alive": {"of": "p"}},
        {"access": {"on": "i"}},
        {"drop": {"name": "i"}},
        {"alive": {"of": "p"}},
    )
    imported, *rest = outcomes[1:]
    assert facts(imported)["attribute_reads"] == 1 and facts(imported)["unchanged"] is True
    assert [facts(outcome) for outcome in rest[:2]] == [{"finalized": False}, {"alive": True}]
    assert facts(rest[2])["uniform"] == 3
    assert [facts(outcome) for outcome in rest[3:]] == [{"finalized": True}, {"alive": False}]


DECLINES = """
class Consumer:
    def accept(self, exporter, ignore_stream):
        raise NotImplementedError("never")
"""


def test_what_an_adapter_lacks_is_declined_and_what_it_refuses_is_raised(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "declines.py").write_text(DECLINES)
    made = {"produce": {"shape": [4], "as": "p"}}
    outcomes, _ = run(
        worker,
        "consumer",
        "declines",
        made,
        {"import": {"of": "p", "as": "i"}},
        {"launch": {"on": ["p"]}},
    )
    assert outcomes[1]["raised"]["message"] == "never"
    assert outcomes[2] == {"declined": {"because": "Consumer has no method `launch`"}}


SLOTTED = """
class Array:
    __slots__ = ()
    __cuda_array_interface__ = {}

class Producer:
    immutable = True
    kept = []
    def array(self, spec):
        made = Array()
        if spec.shape == (2,):
            self.kept.append(made)
        return made
"""


def test_the_references_of_an_object_without_weak_references_are_counted(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "slotted.py").write_text(SLOTTED)
    made = [{"array": {"shape": [extent], "as": f"a{extent}"}} for extent in (1, 2)]
    outcomes, _ = run(
        worker, "producer", "slotted", *made, {"drop": {"name": "a1"}}, {"drop": {"name": "a2"}}
    )
    assert [facts(outcome) for outcome in outcomes[2:]] == [
        {"finalized": True},
        {"finalized": False},
    ]
    assert facts(outcomes[0]) == {"read_only": True}, "a library without writable arrays"


MASKLESS = """
class Consumer:
    def accept(self, exporter, ignore_stream):
        return exporter
    def describe(self, exporter):
        if exporter.__cuda_array_interface__["typestr"] == "<f4":
            return {"valid": None}
        return {"shape": (2,)}
"""


def test_a_library_without_masks_takes_every_element_for_data(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "described.py").write_text(MASKLESS)
    made = [
        {"produce": {"shape": [2, 2], "typestr": typestr, "as": typestr}}
        for typestr in ("<f4", "|u1")
    ]
    taken = [{"import": {"of": typestr, "as": f"i{typestr}"}} for typestr in ("<f4", "|u1")]
    outcomes, _ = run(worker, "consumer", "described", *made, *taken)
    assert facts(outcomes[2])["valid"] == [True] * 4
    assert "valid" not in facts(outcomes[3]) and facts(outcomes[3])["shape"] == [2]


DESCRIBES = """
import numpy
ITSELF = []
ITSELF.append(ITSELF)

class Consumer:
    def accept(self, exporter, ignore_stream):
        return exporter

    def describe(self, imported):
        return {described}

    def read(self, imported):
        return numpy.ma.MaskedArray(numpy.arange(4, dtype="u1"), mask=[True, False, True, False])
"""
DESCRIBED: dict[str, dict[str, Any]] = {
    "{'shape': (1,), 'pointer': 1 << 80, 'valid': ITSELF}": {
        "shape": [1],
        "pointer": str(1 << 80),
        "valid": ["[[...]]"],
    },
    "{'shape': [[2]] * 1000}": {"shape": ["[2]"] * 64},
    "{'shape': numpy.array([2, 3]), 'strides': (numpy.int64(4),), 'read_only': numpy.True_}": {
        "shape": [2, 3],
        "strides": [4],
        "read_only": True,
    },
    "{'typestr': '<u1'}": {"typestr": "|u1"},
    "{'typestr': '>m8[1s]'}": {"typestr": ">m8[s]"},
    "{'typestr': '>u2'}": {"typestr": ">u2"},
    "{'typestr': '|f4'}": {"typestr": "|f4"},
}


@pytest.mark.parametrize("described", DESCRIBED)
def test_what_an_adapter_describes_is_bounded(
    worker: Worker, subjects: pathlib.Path, described: str
) -> None:
    (subjects / "described.py").write_text(DESCRIBES.replace("{described}", described))
    made = {"produce": {"shape": [4], "typestr": "|u1", "as": "p"}}
    outcomes, _ = run(
        worker,
        "consumer",
        "described",
        made,
        {"import": {"of": "p", "as": "i"}},
        {"access": {"on": "i"}},
    )
    assert {name: facts(outcomes[1])[name] for name in DESCRIBED[described]} == DESCRIBED[described]
    assert facts(outcomes[2])["values"] == [0, 1, 2, 3], "of a masked array, the data"


def test_a_description_that_is_not_a_dict_is_an_error(
    worker: Worker, subjects: pathlib.Path
) -> None:
    (subjects / "described.py").write_text(DESCRIBES.replace("{described}", "7"))
    made = {"produce": {"shape": [4], "as": "p"}}
    outcomes, _ = run(worker, "consumer", "described", made, {"import": {"of": "p", "as": "i"}})
    assert (
        outcomes[1]["raised"]["message"]
        == "describe() of the adapter must return a dict, but returned an object of type int"
    )


EMPTY = ({"array": {"shape": [0], "as": "a"}}, {"export": {"of": "a", "as": "e"}})


def test_a_subject_that_ends_the_process_leaves_the_server_alive(worker: Worker) -> None:
    outcomes, ended = run(
        worker, "producer", "allocert_mutants.cai_producer.lifetime:Aborts", *EMPTY
    )
    assert len(outcomes) == 1 and ended["exit"] == {"signal": signal.SIGABRT}
    outcomes, ended = worker.run(*steps(EXPORT[0]), side="cai-producer")
    assert "returned" in outcomes[-1] and ended["exit"] == {"code": 0}


@pytest.mark.parametrize(
    ("subject", "stage", "message"),
    [
        (
            "allocert.adapters.nothing:Producer",
            "import",
            "no module named `allocert.adapters.nothing`",
        ),
        (
            "allocert_mutants.cai_producer.conforming_producer:Producers",
            "attribute",
            "did you mean `Producer`?",
        ),
        (
            "allocert_mutants.cai_producer.conforming_producer:Array",
            "class",
            "is not an adapter of a producer: it has no method `array`",
        ),
    ],
)
def test_a_subject_that_is_no_adapter_is_refused(
    worker: Worker, subject: str, stage: str, message: str
) -> None:
    kind, body = worker.load(subject, "cai-producer")
    assert (kind, body["stage"]) == ("refused", stage) and message in body["message"]


CANNOT_BE_MADE = """
import sys

class Raises:
    def __init__(self):
        raise RuntimeError("no licence")

    def array(self, *arguments):
        pass

    accept = array

class Exits(Raises):
    def __init__(self):
        sys.exit(3)

class NeedsArgument(Raises):
    def __init__(self, library):
        self.library = library
"""


@pytest.mark.parametrize("role", ["producer", "consumer"])
@pytest.mark.parametrize(
    ("adapter", "words"),
    [
        ("Raises", "RuntimeError: no licence"),
        ("Exits", "SystemExit: 3"),
        ("NeedsArgument", "TypeError: "),
    ],
)
def test_an_adapter_that_cannot_be_made_is_a_subject_that_cannot_be_used(
    allocert: Program, subjects: pathlib.Path, role: str, adapter: str, words: str
) -> None:
    (subjects / "broken.py").write_text(CANNOT_BE_MADE)
    subject = f"broken:{adapter}"
    ended = allocert("run", f"cai-{role}", subject, "--python", sys.executable, path=[subjects])
    assert (ended.returncode, ended.stderr) == (2, ""), ended.stdout
    assert (
        "unusable: the subject's adapter could not be made:"
        f" its class, called without arguments, raised {words}" in ended.stdout
    )
    assert "\nno case has a result; " in ended.stdout


def test_no_numba_and_no_allocert_is_needed(worker: Worker, subjects: pathlib.Path) -> None:
    (subjects / "numba.py").write_text(
        "raise ModuleNotFoundError('No module named numba', name='numba')\n"
    )
    (subjects / "allocert.py").write_text(
        "raise ModuleNotFoundError('No module named allocert', name='allocert')\n"
    )
    (subjects / "mine.py").write_text(
        "from allocert.adapters import numpy_helpers\n"
        "from allocert_mutants.cai_producer.conforming_producer import Producer as Conforming\n"
        "class Producer(Conforming):\n    def array(self, spec):\n"
        "        numpy_helpers.filled(spec)\n        return super().array(spec)\n"
    )
    outcomes, _ = run(worker, "producer", "mine", *EXPORT)
    assert facts(outcomes[1])["shape"] == [2, 3]


KNOWN = [
    ("numba_cuda", "numba-cuda-0.30.4", "producer"),
    ("numba_cuda", "numba-cuda-0.30.4", "consumer"),
]
KNOWN += [("cuda_core", "cuda-core-1.2.2", "consumer")]


@pytest.mark.parametrize(("adapter", "release", "role"), KNOWN)
def test_a_library_violates_what_is_known_of_it_and_nothing_else(
    allocert: Program, adapter: str, release: str, role: str
) -> None:
    expected = ROOT / f"fixtures/expectations/{release}-cai-{role}.yaml"
    subject = f"allocert.adapters.{adapter}:{role.capitalize()}"
    ended = allocert(
        "run", f"cai-{role}", subject, "--python", sys.executable, "--expect", expected
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.parametrize("side", ["cai-producer", "cai-consumer"])
def test_the_reference_conforms(allocert: Program, tmp_path: pathlib.Path, side: str) -> None:
    out = tmp_path / "run.jsonl"
    ended = allocert("run", side, "reference", "--python", sys.executable, "--out", out)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    # An import that is a view accesses nothing, so nothing shows in what order it does so.
    imports = re.compile("cai-consumer/order/(back-edge|layout)-import/")
    found = {case: verdict for case, verdict in verdicts(out).items() if not imports.match(case)}
    assert set(found.values()) == {"conforms", "not_applicable"}
    assert not any(findings(out).values())


def test_a_stream_that_is_not_named_shows_in_the_order_and_in_the_data(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    out, case = tmp_path / "run.jsonl", "cai-producer/order/pending-write-default"
    subject = "allocert_mutants.cai_producer.stream:NeverExportsStream"
    allocert(
        "run", "cai-producer", subject, "--filter", case, "--python", sys.executable, "--out", out
    )
    found = {
        (one["requirement"], one["observed"].rpartition(", ")[2]) for one in findings(out)[case]
    }
    assert found == {
        ("CAI-PRODUCE-03", "and nothing has waited for it"),
        ("CAI-PRODUCE-06", "and nothing has waited for it"),
        ("CAI-PRODUCE-06", "uniform is 0"),
        ("CAI-RACE-01", "and nothing orders the two"),
    }


def test_an_adapter_that_raises_is_unusable_and_shows_where(
    allocert: Program, tmp_path: pathlib.Path
) -> None:
    """The fault is the adapter's or the library's, not one of allocert."""
    text = "class Producer:\n    def array(self, spec):\n        raise KeyError('no\x1b key')\n"
    (tmp_path / "broken_adapter.py").write_text(text)
    subject = ("run", "cai-producer", "broken_adapter:Producer", "--python", sys.executable)
    ended = allocert(*subject, "--filter", "cai-producer/shape", path=[tmp_path])
    assert ended.returncode == 2
    assert "unusable: step 2: array raised KeyError: " in ended.stdout
    assert "broken_adapter.py:3 in " in ended.stdout
    assert "a fault of the adapter or of its library" in ended.stdout
    assert "harness-error" not in ended.stdout and "\x1b" not in ended.stdout
