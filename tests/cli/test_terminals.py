"""Terminals, narrow ones and those without Unicode, and what data would have them do."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from sortal.cli import main, progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Standard output is a terminal of 60 columns."""
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "lda.sortal"),
        ("show", "model.sortal"),
        ("inspect", "penguins.csv", "-t", "species"),
        ("explain", "model.sortal", "penguins.csv", "--row", "7"),
        ("work", "penguins.csv", "-t", "species", "-l", "lda", "--row", "7"),
        ("work", "penguins.csv", "-t", "species"),
    ],
)
def test_a_narrow_terminal(
    terminal: None, run: Callable[..., Any], arguments: tuple[str, ...]
) -> None:
    done = run(*arguments)
    assert done.code == 0
    assert max(map(len, done.out.splitlines())) <= 60


def test_a_terminal_without_unicode(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["show", "lda.sortal"]) == 0
    assert b"class             \\u03c0" in raw.getvalue()


def test_a_pipe_that_breaks(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        monkeypatch.setattr("sys.stdout", pipe)
        assert main(["show", "lda.sortal"]) == 0


NAMES = ["[red]a[/red]", "b|c", 'say "hi"', "it's", "two words", "<b>x</b>", "tab\there"]
NAMES += ["\x1b[2J", "é"]


@pytest.fixture
def nasty(here: Path) -> Path:
    """A table whose names and values would like to be obeyed."""
    header = ",".join('"' + name.replace('"', '""') + '"' for name in (*NAMES, "y"))
    rows = [
        ",".join([*("[bold]p[/bold]" if i % 2 else "\x1b]0;owned\x07" for _ in NAMES), label])
        for i, label in enumerate(['"<script>"', "'; DROP TABLE x; --", "\u202eevil"] * 6)
    ]
    (here / "nasty file.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return here


OBEYED = set("\x1b\x07\u202e\x9b")


@pytest.mark.parametrize("learner", ["tree", "bayes"])
def test_nothing_from_data_is_obeyed(nasty: Path, run: Callable[..., Any], learner: str) -> None:
    table = ("nasty file.csv", "-t", "y", "-l", learner)
    asked = ("explain", "odd.sortal", "nasty file.csv", "--row", "2")
    told = {"fit": run("fit", *table, "-o", "odd.sortal")}
    for how in ("--format=text", "--format=md", "--format=html", "--json"):
        for command in (("show", "odd.sortal"), asked, ("work", *table, "--row", "2")):
            told[f"{command[0]} {how}"] = run(*command, how)
    for what, done in told.items():
        assert done.code == 0, what
        assert not OBEYED & set(done.out + done.err), what
        assert "<script>" not in done.out or "html" not in what, what
    assert json.loads(told["work --json"].out)
    assert "[red]a[/red]" in told["work --format=text"].out  # brackets are brackets


def test_every_odd_name_can_be_typed(nasty: Path, run: Callable[..., Any], terminal: None) -> None:
    drop = [word for name in NAMES[1:] for word in ("--drop", name)]
    assert run("fit", "nasty file.csv", "-t", "y", *drop, "-o", "odd.sortal").code == 0
    kept = [word for name in NAMES for word in ("--keep", name)]
    said = run("predict", "odd.sortal", "nasty file.csv", *kept)  # on a terminal
    assert said.code == 0
    assert not OBEYED & set(said.out)
    wrong = run("fit", "nasty file.csv", "-t", "\x1b[2J!", "-o", "odd.sortal")
    assert wrong.code == 1
    assert not OBEYED & set(wrong.err)
    usage = run("fit", "nasty file.csv", "--\x1b[2J")
    assert usage.code == 2
    assert not OBEYED & set(usage.err)


def test_predictions_in_a_file_are_as_they_are(nasty: Path, run: Callable[..., Any]) -> None:
    assert run("fit", "nasty file.csv", "-t", "y", "-o", "odd.sortal").code == 0
    assert run("predict", "odd.sortal", "nasty file.csv", "-o", "said.jsonl").code == 0
    rows = [json.loads(line) for line in (nasty / "said.jsonl").read_text("utf-8").splitlines()]
    labels = {"<script>", "'; DROP TABLE x; --", "\u202eevil"}
    assert {row["prediction"] for row in rows} <= labels


@pytest.mark.parametrize(
    ("command", "steps"),
    [
        ("fit penguins.csv -t species -o new.sortal", ("fitting tree", "writing new.sortal")),
        ("predict model.sortal penguins.csv -o said.csv", ("predicting",)),
        ("explain model.sortal penguins.csv -r 1 -o why.txt", ("explaining",)),
    ],
)
def test_steps_are_drawn_where_a_file_is_large(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, command: str, steps: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    assert "━" not in run(*command.split()).err  # a moment's work
    monkeypatch.setattr(progress, "_LARGE", 1)
    told = run(*command.split()).err
    for step in ("reading penguins.csv", *steps):
        assert step in told
    assert "━" not in run(*command.split(), "-q").err
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: False)
    assert run(*command.split()).err.startswith("wrote ")
