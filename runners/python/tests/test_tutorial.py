"""The commands of docs/tutorial.md print what the page says.

They run in one shell, one after the other. Of what they print, the page may leave lines out: `...`
stands for any number of lines, and at the end of a line for the rest of the line.
"""

import os
import pathlib
import re
import subprocess
import sys
from collections.abc import Iterator

from harness import ROOT

PAGE = ROOT / "docs/tutorial.md"
#: What the shell prints between the commands.
END = "@@ end of a command @@"


def commands(page: str) -> Iterator[tuple[str, list[str]]]:
    """The commands in the blocks for a console, each with the lines that it prints."""
    for block in re.findall(r"```console\n(.*?)```", page, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *printed = part.rstrip("\n").split("\n")
            yield command, printed


def pattern(lines: list[str]) -> str:
    """A regular expression for the output that a page shows."""
    parts = []
    for line in lines:
        if line == "...":
            parts.append(r"(?:.*\n)*?")
        elif line.endswith("..."):
            parts.append(re.escape(line.removesuffix("...")) + r".*\n")
        else:
            parts.append(re.escape(line) + r"\n")
    return "".join(parts)


def run(script: str, folder: pathlib.Path) -> list[str]:
    """The output of each command of a script."""
    environment = dict(os.environ, PYTEST_ADDOPTS="-p no:cacheprovider", COLUMNS="80")
    environment["PATH"] = f"{pathlib.Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    ended = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    return ended.stdout.split(f"{END}\n")[:-1]


def test_the_commands_of_the_tutorial_print_what_it_says(tmp_path: pathlib.Path) -> None:
    asked = list(commands(PAGE.read_text()))
    assert len(asked) > 10
    # The next command finds the exit code of this one in `$?`.
    lines = [f"{command}\n(code=$?; echo '{END}'; exit $code)" for command, _ in asked]
    outputs = run("\n".join(lines), tmp_path)
    assert len(outputs) == len(asked)
    for (command, printed), output in zip(asked, outputs, strict=True):
        assert re.fullmatch(pattern(printed), output), f"$ {command}\n{output}"


def test_a_page_that_shows_other_output_is_found() -> None:
    page = "```console\n$ echo a; echo b; echo c\na\n...\nc\n$ true\n```\n"
    assert list(commands(page)) == [("echo a; echo b; echo c", ["a", "...", "c"]), ("true", [])]
    assert re.fullmatch(pattern(["a", "...", "c"]), "a\nb\nc\n")
    assert re.fullmatch(pattern(["a", "..."]), "a\n")
    assert re.fullmatch(pattern(["b..."]), "bcd\n")
    for lines in (["a"], ["...", "d"], ["a", "c"], []):
        assert not re.fullmatch(pattern(lines), "a\nb\nc\n")
