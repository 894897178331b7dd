"""Wrong usage: exit code 2, and what was meant."""

from __future__ import annotations

import pytest

from sortal.cli import main
from sortal.cli.code import TABLE, call
from sortal.cli.reading import as_options, reading
from sortal.cli.settings import read_settings


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fti"], "Did you mean 'fit'?"),
        (["fit"], "Missing argument 'DATA'"),
        (["fit", "x.csv", "-o", "m"], "Missing option '--target'"),
        (["fit", "x.csv", "-t", "y"], "Missing option '--output'"),
        (["fit", "x.csv", "--tagret", "y"], "--target"),
        (["show"], "Missing argument 'MODEL'"),
        (["explain", "m", "x.csv", "--row", "seven"], "'seven' is not a whole number: give"),
        (["explain", "m", "x.csv", "--format", "pdf"], "'text', 'md', 'html'"),
        (["compare", "x.csv", "-t", "y", "--metric", "auc"], "'balanced_accuracy'"),
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
    assert reading(None, None, None, None, None, None) == {}
    assert reading("NA,-", ["zip"], "tab", "latin-1", header=False, decimal=",") == {
        "na_values": ["NA", "-"],
        "text": ["zip"],
        "delimiter": "tab",
        "encoding": "latin-1",
        "header": False,
        "decimal": ",",
    }


def test_reading_can_be_said_again_in_options() -> None:
    how = reading("NA,-", ["zip", "a b"], "\\t", "latin-1", None, None)
    words = as_options(how)
    assert words[:4] == ["--text", "zip", "--text", "a b"]
    assert words[4:] == ["--na-values", "NA,-", "--delimiter", "tab", "--encoding", "latin-1"]
    signs = reading("", None, "space", None, None, None)
    assert as_options(signs) == ["--na-values", "", "--delimiter", " "]
    odd = reading(None, None, None, None, header=False, decimal=",")
    assert as_options(odd) == ["--decimal", ",", "--no-header"]
    assert as_options({}) == []


def test_calls_are_written_as_one_would() -> None:
    assert call("f", TABLE, "a'b", k=[1]) == """f(table, "a'b", k=[1])"""
    long = call("f", "x" * 80, k="y" * 10)
    assert long == f"f(\n    {'x' * 80!r},\n    k={'y' * 10!r},\n)"
