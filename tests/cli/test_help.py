"""Help comes at once, and says what is there."""

from __future__ import annotations

import subprocess
import sys
from inspect import signature

import pytest

import sortal
from sortal.cli import main
from sortal.cli.app import COMMANDS
from sortal.tasks.registry import learners

NAMES = [function.__name__ for function, _ in COMMANDS]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.split("Commands:\n")[1].splitlines()] == NAMES
    assert NAMES == ["inspect", "compare", "report", "fit", "predict", "explain", "show", "work"]
    assert "..." not in told.split("Commands:")[1]


def test_no_arguments_and_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.startswith("Usage: sortal")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"sortal {sortal.__version__}\n"


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_has_examples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out
    examples = dict(zip(NAMES, (examples for _, examples in COMMANDS), strict=True))[name]
    assert 2 <= len(examples) <= 3
    for example in examples:
        assert f"    {example}\n" in told  # as it is, in one line
    if "--learner" in told:
        assert all(learner.name in told for learner in learners())


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_the_common_options(name: str) -> None:
    function = next(function for function, _ in COMMANDS if function.__name__ == name)
    taken = set(signature(function).parameters)
    assert {"as_json", "show_code", "quiet", "output"} <= taken
    if name != "show":
        assert {"na_values", "text", "delimiter", "encoding", "header", "decimal"} <= taken
    if name in ("compare", "report", "fit", "work"):
        assert {"drop", "category"} <= taken


def test_help_imports_nothing_heavy() -> None:
    heavy = ("numpy", "sklearn", "pandas", "duckdb", "matplotlib", "narwhals", "scipy", "rich")
    script = (
        "import sys, io; from sortal.cli import main; sys.stdout = io.StringIO();"
        "codes = [main(['--version']), main(['--help']), main(['fit', '--help'])];"
        f"print(codes, [m for m in {heavy} if m in sys.modules], file=sys.__stdout__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[0, 0, 0] []"
