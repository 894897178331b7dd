"""Help comes at once and says what is there; wrong usage ends with 2, and what was meant."""

from __future__ import annotations

import subprocess
import sys

import pytest

import sortal
from sortal.cli import main
from sortal.cli.app import COMMANDS
from sortal.cli.options import ReadingOptions, read_settings
from sortal.tasks.options import TABLE, call
from sortal.tasks.registry import learners

NAMES = [function.__name__ for function, _ in COMMANDS]


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.split("Commands:\n")[1].splitlines()] == NAMES
    assert NAMES == ["inspect", "compare", "report", "fit", "predict", "explain", "show", "working"]
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


def test_help_imports_nothing_heavy() -> None:
    heavy = ("numpy", "sklearn", "pandas", "duckdb", "matplotlib", "narwhals", "scipy", "rich")
    script = (
        "import sys, io; from sortal.cli import main; sys.stdout = io.StringIO();"
        "given = (['--version'], ['--help'], ['fit', '--help'], ['report', '--help']);"
        "codes = [main(one) for one in given];"
        f"print(codes, [m for m in {heavy} if m in sys.modules], file=sys.__stdout__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[0, 0, 0, 0] []"


# Wrong usage, and what words of a command become


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fti"], "Did you mean 'fit'?"),
        (["fit"], "Missing argument 'DATA'"),
        (["fit", "x.csv", "-o", "m"], "Missing option '--target'"),
        (["fit", "x.csv", "--tagret", "y"], "--target"),
        (["show"], "Missing argument 'MODEL'"),
        (["compare", "x.csv", "-t", "y", "--folds", "many"], "'many' is not a whole number: give"),
        (["predict", "m", "x.csv", "y.csv"], "unexpected extra argument"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert words in told.err
    assert "Traceback" not in told.err
    assert "--help" in told.err


def test_settings_are_json_or_words() -> None:
    given = [
        "a=1",
        "b=0.5",
        "c=gini",
        "d=null",
        'e={"x": 2}',
        "f=None",
        "g=[1, 2]",
        "h=a=b",
        "i-j=",
    ]
    values = (1, 0.5, "gini", None, {"x": 2}, None, [1, 2], "a=b", "")
    names = (*"abcdefgh", "i_j")
    assert read_settings(given) == dict(zip(names, values, strict=True))
    assert read_settings(None) == {}


def test_reading_keeps_what_was_given() -> None:
    assert ReadingOptions().named == {}
    given = ReadingOptions(["zip"], "NA,-", "tab", "latin-1", header=False, decimal=",")
    assert given.named == {
        "na_values": ["NA", "-"],
        "text": ["zip"],
        "delimiter": "tab",
        "encoding": "latin-1",
        "header": False,
        "decimal": ",",
    }


def test_reading_can_be_said_again_in_options() -> None:
    words = ReadingOptions(["zip", "a b"], "NA,-", "\\t", "latin-1").words
    assert words[:4] == ["--text", "zip", "--text", "a b"]
    assert words[4:] == ["--na-values", "NA,-", "--delimiter", "tab", "--encoding", "latin-1"]
    signs = ReadingOptions(na_values="", delimiter="space")
    assert signs.words == ["--na-values", "", "--delimiter", " "]
    assert ReadingOptions(header=False, decimal=",").words == ["--decimal", ",", "--no-header"]
    assert ReadingOptions().words == []


def test_calls_are_written_as_one_would() -> None:
    assert call("f", TABLE, "a'b", k=[1]) == """f(table, "a'b", k=[1])"""
    long = call("f", "x" * 80, k="y" * 10)
    assert long == f"f(\n    {'x' * 80!r},\n    k={'y' * 10!r},\n)"
