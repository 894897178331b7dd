"""`sortal report`: what is written, and what is refused before any work is done."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

import pytest

import sortal
from sortal.tasks.report import report as tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

GIVEN = ("report", "penguins.csv", "-t", "species")
QUICK = ("-l", "lda", "--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1")


class Made:
    """Stands for a report; it keeps what it was asked for."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.given, self.named = given, named

    def to_html(self) -> str:
        return "<!doctype html>\n"

    def to_dict(self) -> dict[str, Any]:
        return {"chosen": "lda"}

    def save(self, path: str, form: str | None = None) -> None:
        with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123
            file.write("x" * 412_345)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Made]:
    """The reports that were asked for, which take no time."""
    found: list[Made] = []

    def make(*given: Any, **named: Any) -> Made:
        found.append(Made(*given, **named))
        return found[-1]

    monkeypatch.setattr(tasks, "report", make)
    monkeypatch.setattr(sortal, "report", make, raising=False)
    return found


@pytest.mark.usefixtures("one_process")
def test_a_page_in_one_command(run: Callable[..., Any], here: Path) -> None:
    done = run(*GIVEN, *QUICK, "-o", "report.html")
    assert (done.code, done.out) == (0, "")
    page = (here / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert re.search(r"^wrote report\.html \(\d+ kB\)$", done.err, re.M)
    assert re.search(r"^\d+/\d+ steps: fit: lda$", done.err, re.M)
    written = {one.name for one in here.iterdir()}
    assert not [name for name in written if name.startswith(".")]


def test_size_and_quiet(run: Callable[..., Any], asked: list[Made], here: Path) -> None:
    assert "wrote report.html (412 kB)" in run(*GIVEN, "-o", "report.html").err
    assert run(*GIVEN, "-o", "report.html", "--quiet").err == ""


def test_all_options_arrive(run: Callable[..., Any], asked: list[Made]) -> None:
    options = "--include-rows --title T --metric accuracy --folds 3 --repeats 2 --budget 9 "
    options += "--tune --seed 5 --jobs 1 --no-baselines -l tree --drop year --categorical island "
    options += "--confidence-level 0.9 --na-values NA,- --decimal . --min-frequency 3 --use sex "
    options += "--cost Adelie->Gentoo=10 --no-require-proba --min-class-rows 7 --drop-rare"
    assert run(*GIVEN, *options.split(), "-o", "r.html").code == 0
    named = dict(asked[0].named)
    del named["progress"]
    wanted: dict[str, Any] = {
        "include_rows": True,
        "min_frequency": 3,
        "use": ["sex"],
        "costs": {("Adelie", "Gentoo"): 10.0},
        "require_proba": False,
        "min_class_rows": 7,
        "drop_rare": True,
        "title": "T",
        "metric": "accuracy",
    }
    wanted |= {
        "folds": 3,
        "repeats": 2,
        "budget": 9.0,
        "confidence_level": 0.9,
        "tune": True,
        "n_jobs": 1,
    }
    wanted |= {"random_state": 5, "baselines": False, "learners": ["tree"], "drop": ["year"]}
    assert named == wanted | {
        "categorical_features": ["island"],
        "na_values": ["NA", "-"],
        "decimal": ".",
    }


def test_a_page_can_be_piped(run: Callable[..., Any], asked: list[Made]) -> None:
    for output in ((), ("-o", "-")):
        assert run(*GIVEN, *output, "-q").out == "<!doctype html>\n"
    assert json.loads(run(*GIVEN, "--json", "-q").out) == {"chosen": "lda"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--format", "md"), "give --output a name, such as report.md"),
        (("-o", "report.pdf"), "end it with .html or .md"),
        (("-o", "penguins.csv", "--format", "html"), "is the input itself"),
        (("-o", "nowhere/report.html"), "There is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_first(
    run: Callable[..., Any], asked: list[Made], options: tuple[str, ...], words: str
) -> None:
    done = run(*GIVEN, *options)
    assert (done.code, asked) == (1, [])
    assert words in done.err


def test_a_page_is_nothing_for_a_terminal(
    run: Callable[..., Any], asked: list[Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    done = run(*GIVEN)
    assert (done.code, asked) == (1, [])
    assert "give --output a name, such as report.html" in done.err


@pytest.mark.parametrize(
    ("options", "last"),
    [
        (("-o", "r.md"), "report.save('r.md')"),
        (("-o", "r.txt", "--format", "md"), "report.save('r.txt', 'md')"),
        ((), "print(report.to_html())"),
        (("--json",), "print(json.dumps(report.to_dict()"),
    ],
)
def test_the_code_does_the_same(
    run: Callable[..., Any], asked: list[Made], options: tuple[str, ...], last: str
) -> None:
    common = (*GIVEN, "--drop", "year", "--na-values", "NA", *options)
    code = run(*common, "--show-code").out
    assert asked == []
    assert code.splitlines()[-1].startswith(last)
    exec(compile(code, "<code>", "exec"), {"__name__": "code"})  # noqa: S102  (our own)
    assert asked[0].given == ("penguins.csv", "species")
    assert asked[0].named == {"drop": ["year"], "na_values": ["NA"]}


def test_the_command_of_a_report_is_understood(
    run: Callable[..., Any], asked: list[Made], here: Path
) -> None:
    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.report.reproduce import command
    from sortal.tasks.tables import open_table

    reading: Any = {"na_values": ["NA", "?"], "text": ["sex"], "header": True, "decimal": "."}
    few: dict[str, Any] = {"learners": ("tree", "lda"), "baselines": False, "drop": ("year",)}
    asked_for: dict[str, Any] = {"tune": True, "include_rows": True, "random_state": 3}
    asked_for |= {"use": ("sex",), "costs": {("Adelie", "Gentoo"): 10.0}, "merge_rare": "few"}
    wishes = ReportOptions("species", title="It's a title", reading=reading, **few, **asked_for)
    file = open_table(here / "penguins.csv", **reading).file
    assert file is not None
    assert run(*shlex.split(command(wishes, wishes.named(), file))[1:]).code == 0
    named = dict(asked[0].named)
    del named["progress"]
    assert named == wishes.named() | reading
