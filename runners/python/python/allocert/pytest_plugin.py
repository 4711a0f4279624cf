"""Cases of allocert as tests of pytest.

    pytest --allocert mylib.numba_plugin:Manager --allocert-side emm

Each case is an item whose name is the id of the case, below the node `allocert`. The program runs
once, on all items that are selected, when the first of them is due. Without the option `--allocert`
this plugin does nothing.
"""

import dataclasses
import pathlib
import warnings
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from .errors import AllocertError

if TYPE_CHECKING:
    from .results import Case, Run

#: The name of the node below which the items are.
_NAME = "allocert"

#: Option of `allocert run` -> how pytest's help names its value, and what the help says.
_OPTIONS = {
    "profile": ("NAME", "the requirements that apply"),
    "expect": ("FILE", "the expectation file, which lists known violations"),
    "driver": ("sim|real", "the driver below the subject [default: sim]"),
    "python": ("EXE", "the interpreter of a Python subject [default: that of pytest]"),
    "abi": ("NAME", "place: how a subject without a table is called"),
    "isolation": ("HOW", "case, group or none: which cases share a process"),
    "jobs": ("N", "so many cases at a time [default: one a core]"),
    "timeout": ("S", "seconds for each case"),
    "out": ("FILE", "where to keep the run file"),
}


_ALLOW_NOT_OBSERVED = "--allocert-allow-not-observed"


class AllocertWarning(UserWarning):
    """A violation of a requirement below MUST. The case conforms."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options. They are those of `allocert run`."""
    group = parser.getgroup("allocert", "cases of allocert")
    group.addoption(
        "--allocert",
        metavar="SUBJECT",
        help="the subject, module[:attribute] or a shared library: each case is a test",
    )
    group.addoption("--allocert-side", metavar="SIDE", help="the side, such as emm")
    for name, (value, text) in _OPTIONS.items():
        group.addoption(f"--allocert-{name}", metavar=value, help=f"{text} (allocert run --{name})")
    group.addoption(
        _ALLOW_NOT_OBSERVED,
        action="store_true",
        default=None,
        help="skip a case that ran without showing what it asks about",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Registers what collects the cases, if a subject is given."""
    subject, side = config.getoption("--allocert"), config.getoption("--allocert-side")
    if subject is None:
        all_options = [f"--allocert-{name}" for name in ("side", *_OPTIONS)]
        alone = [name for name in (*all_options, _ALLOW_NOT_OBSERVED) if config.getoption(name)]
        if alone:
            raise pytest.UsageError(f"{alone[0]} needs --allocert SUBJECT")
        return
    if side is None:
        raise pytest.UsageError(
            "--allocert needs --allocert-side: emm, emm-host, cai-producer, cai-consumer, nep49,"
            " nep49-host or place"
        )
    options = {name: config.getoption(f"--allocert-{name}") for name in _OPTIONS}
    options["allow_not_observed"] = config.getoption(_ALLOW_NOT_OBSERVED)
    if options["out"] is not None and config.getoption("numprocesses", None):
        raise pytest.UsageError(
            "--allocert-out names one file, and each process of pytest-xdist would write it:"
            " leave -n out"
        )
    path = [str(config.rootpath), *map(str, config.getini("pythonpath"))]
    selection = Selection(side, subject, options, path, _named(config))
    config.pluginmanager.register(Collection(selection), "allocert-collection")


def _named(config: pytest.Config) -> list[str] | None:
    """What the command line names of the cases: [""] is all, and None is none.

    pytest would look for a file of the name `allocert`, so the node ids of cases leave its
    arguments. All cases belong to the root folder of the project.
    """
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        return [""]
    ids = [one for one in config.args if _is_node_id(one, config.invocation_params.dir)]
    config.args[:] = [one for one in config.args if one not in ids]
    if ids and config.getoption("numprocesses", None):
        raise pytest.UsageError(f"{ids[0]} cannot be passed to pytest-xdist: leave -n out")
    if any(_holds(one, config) for one in config.args):
        return [""]
    return [one.removeprefix(_NAME).removeprefix("::") for one in ids] or None


def _is_node_id(argument: str, folder: pathlib.Path) -> bool:
    return argument.partition("::")[0] == _NAME and not (folder / _NAME).exists()


def _holds(argument: str, config: pytest.Config) -> bool:
    """Whether the argument is a folder that holds the project."""
    folder = (config.invocation_params.dir / argument).resolve()
    return folder == config.rootpath or folder in config.rootpath.parents


@dataclasses.dataclass
class Selection:
    """What is run, and the run when it is done."""

    side: str
    subject: str
    options: dict[str, Any]
    path: list[str]
    #: Ids of cases, and beginnings of them, that are collected; None where no case is.
    named: list[str] | None
    #: All cases of the side, when they are collected.
    names: list[str] = dataclasses.field(default_factory=list)
    done: "Run | None" = None

    def result(self, session: pytest.Session, name: str) -> "Case":
        """The case of this name. The first call runs all that are selected in this session."""
        if self.done is None:
            self.done = self._run([item.name for item in session.items if isinstance(item, Item)])
        if name not in self.done.cases:
            raise AllocertError(f"the run has no case {name}", 3)
        return self.done.cases[name]

    def _run(self, selected: list[str]) -> "Run":
        from . import api

        chosen = {name: value for name, value in self.options.items() if value is not None}
        if set(selected) != set(self.names):
            chosen["filter"] = "{" + ",".join(map(_literal, selected)) + "}"
        return api.run(self.side, self.subject, path=self.path, **chosen)


class Collection:
    """Adds the cases to those tests that pytest finds."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection

    def pytest_report_header(self) -> str | None:
        """Says why there are no cases."""
        if self.selection.named is not None:
            return None
        return f"allocert: the arguments name other tests; `{_NAME}` names the cases"

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(
        self, collector: pytest.Collector
    ) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
        report = yield
        chosen = self.selection.named is not None
        if chosen and isinstance(collector, pytest.Session) and report.passed:
            side = Side.from_parent(collector, name=_NAME, nodeid=_NAME, selection=self.selection)
            report.result = [*(report.result or ()), side]
        return report


class Side(pytest.Collector):
    """The cases of the side."""

    def __init__(self, *, selection: Selection, **node: Any) -> None:
        super().__init__(**node)
        self.selection = selection

    def collect(self) -> list[pytest.Item]:
        from . import api

        profile = self.selection.options["profile"]
        try:
            self.selection.names = api.cases(self.selection.side, profile)
        except AllocertError as error:
            raise self.CollectError(f"allocert: {error}") from None
        return [
            Item.from_parent(self, name=name, nodeid=f"{_NAME}::{name}", selection=self.selection)
            for name in self._named()
        ]

    def _named(self) -> list[str]:
        """The cases that the command line names, in the order of the side."""
        named = self.selection.named or []
        for one in named:
            if not any(_is_below(name, one) for name in self.selection.names):
                raise self.CollectError(f"allocert: no case of this side is or is below `{one}`")
        return [name for name in self.selection.names if any(_is_below(name, one) for one in named)]


class Item(pytest.Item):
    """One case."""

    def __init__(self, *, selection: Selection, **node: Any) -> None:
        super().__init__(**node)
        self.selection = selection
        self.case: Case | None = None

    def setup(self) -> None:
        """Finds the result. What is no fault of the subject ends here, which is an error."""
        try:
            self.case = self.selection.result(self.session, self.name)
        except AllocertError as error:
            # Each other case would say the same.
            self.session.shouldstop = "allocert gave no verdicts"
            # Without `from None` pytest would show the message twice.
            raise pytest.fail.Exception(f"allocert: {error}", pytrace=False) from None
        verdict = self.case.verdict.value
        unseen = verdict == "not-observed" and self.case.fails_run
        if unseen or verdict in ("unusable", "harness-error"):
            pytest.fail(f"{verdict}: {self.case.reason}", pytrace=False)

    def runtest(self) -> None:
        """Ends as the verdict says."""
        case = self.case
        assert case is not None, "pytest calls setup() first"
        reason = case.reason or ""
        match case.verdict.value:
            case "violates":
                pytest.fail(case.report, pytrace=False)
            case "unexpected-conformance":
                pytest.fail(reason, pytrace=False)
            case "expected-violation":
                pytest.xfail(reason)
            case "not-applicable" | "not-observed" as verdict:
                pytest.skip(f"{verdict.replace('-', ' ')}: {reason}")
        for finding in case.findings:
            text = f"{finding.level} {finding.requirement}: {finding.message}"
            warnings.warn(AllocertWarning(text), stacklevel=1)

    def reportinfo(self) -> tuple[pathlib.Path, int | None, str]:
        return self.path, None, self.name


def _is_below(name: str, beginning: str) -> bool:
    """Whether a case is the one of this id, or one of this group or fixture."""
    return beginning in ("", name) or name.startswith(f"{beginning.rstrip('/')}/")


def _literal(name: str) -> str:
    """The name as a glob that matches nothing else."""
    return "".join(f"[{letter}]" if letter in "*?[]{}," else letter for letter in name)
