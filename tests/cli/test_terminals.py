"""Terminals and whole processes: widths, encodings, pipes, Ctrl-C, and what data would have."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from sortal.cli import main
from sortal.cli import output as progress

if TYPE_CHECKING:
    from collections.abc import Callable


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
        ("working", "penguins.csv", "-t", "species", "-l", "lda", "--row", "7"),
        ("working", "penguins.csv", "-t", "species"),
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
        for command in (("show", "odd.sortal"), asked, ("working", *table, "--row", "2")):
            told[f"{command[0]} {how}"] = run(*command, how)
    for what, done in told.items():
        assert done.code == 0, what
        assert not OBEYED & set(done.out + done.err), what
        assert "<script>" not in done.out or "html" not in what, what
    assert json.loads(told["working --json"].out)
    assert "[red]a[/red]" in told["working --format=text"].out  # brackets are brackets


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


SORTAL = [sys.executable, "-m", "sortal"]


def start(*arguments: str, cwd: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*SORTAL, *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def interrupt(process: subprocess.Popen[bytes]) -> str:
    """What it says after Ctrl-C, which all its processes get; how soon is for benchmarks."""
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate()
    return told.decode()


def wait_until_loaded(process: subprocess.Popen[bytes], library: str) -> None:
    """Until a process has a compiled library in its memory."""
    while library not in Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8"):
        assert process.poll() is None
        time.sleep(0.005)


def children_of(process: subprocess.Popen[bytes]) -> list[Path]:
    """Where the system keeps what it knows of a process's workers."""
    listed = subprocess.run(
        ["/bin/ps", "--ppid", str(process.pid), "-o", "pid="],
        capture_output=True,
        text=True,
        check=False,
    )
    return [Path("/proc") / pid for pid in listed.stdout.split()]


@pytest.mark.full
def test_interrupting_a_comparison(here: Path) -> None:
    before = sorted(here.iterdir())
    process = start("compare", "penguins.csv", "-t", "species", "-o", "found.txt", cwd=here)
    assert process.stderr is not None
    while b" tree" not in process.stderr.readline():  # until a model is at work
        assert process.poll() is None
    workers = children_of(process)
    assert workers
    told = interrupt(process)
    assert process.returncode == 130
    assert told.endswith("interrupted: nothing was written.\n")
    assert "Traceback" not in told
    assert sorted(here.iterdir()) == before
    assert not any(worker.exists() for worker in workers)


@pytest.mark.full
def test_interrupting_a_prediction(here: Path) -> None:
    table = pd.read_csv(here / "penguins.csv").sample(100_000, replace=True, random_state=0)
    table.to_csv(here / "many.csv", index=False)
    before = sorted(here.iterdir())
    command = ("predict", "lda.sortal", "many.csv", "--proba", "-o", "said.csv")
    for library in ("numpy", "sortal/native", "duckdb"):  # importing, opening, reading
        process = start(*command, cwd=here)
        wait_until_loaded(process, library)
        told = interrupt(process)
        assert process.returncode == 130
        assert told == "interrupted: nothing was written.\n"
        assert sorted(here.iterdir()) == before


def test_an_import_is_not_interrupted(here: Path) -> None:
    """A compiled module that is interrupted while it is loaded may abort the whole process."""
    (here / "half_loaded.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nwhole = sum(range(1000))\n",
        encoding="utf-8",
    )
    told = run_interrupted("import half_loaded\nwhile True: time.sleep(0.01)", cwd=here)
    assert told == "interrupted, and half_loaded is whole\n"


@pytest.mark.full
def test_ctrl_c_that_a_library_forgot(here: Path) -> None:
    told = run_interrupted(
        "try:\n    os.kill(os.getpid(), signal.SIGINT)\n    while True: time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n    pass\nwhile True: time.sleep(0.01)",
        cwd=here,
    )
    assert told == "interrupted\n"


def run_interrupted(body: str, cwd: Path) -> str:
    """What a process says that has the command line's answer to Ctrl-C."""
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    program = (
        "import os, signal, sys, time\n"
        "from sortal.cli import _interrupt\n"
        "signal.signal(signal.SIGINT, _interrupt)\n"
        f"try:\n{lines}\n    print('went on')\n"
        "except KeyboardInterrupt:\n"
        "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "    loaded = getattr(sys.modules.get('half_loaded'), 'whole', None)\n"
        "    print('interrupted' + (', and half_loaded is whole' if loaded else ''))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=cwd, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.full
def test_a_reader_that_had_enough(here: Path) -> None:
    process = start("predict", "model.sortal", "penguins.csv", "--proba", cwd=here)
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr as told:
        assert told.read() == b""
    assert process.wait() == 0


def on_a_terminal(here: Path, columns: int, *arguments: str, **environment: str) -> str:
    """What a command writes on a terminal so wide."""
    main, other = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
    process = subprocess.Popen(
        [*SORTAL, *arguments], stdout=other, stderr=other, stdin=other, cwd=here, env=env
    )
    os.close(other)
    told = b""
    while True:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        told += block
    process.wait()
    os.close(main)
    return told.decode().replace("\r\n", "\n")


def test_colors_are_for_those_who_want_them(here: Path) -> None:
    wrong = ("fit", "penguins.csv", "-t", "species", "-o", "x", "--set", "depth")
    assert on_a_terminal(here, 80, *wrong).startswith("\x1b[31m\x1b[1merror:\x1b[0m --set")
    assert on_a_terminal(here, 80, *wrong, NO_COLOR="1").startswith("error: --set 'depth'")


@pytest.mark.full
def test_a_bar_on_a_terminal(here: Path) -> None:
    few = ("-l", "lda", "--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1")
    told = on_a_terminal(here, 100, "compare", "penguins.csv", "-t", "species", *few)
    assert "━" in told
    assert "Go on with: sortal fit penguins.csv --target species --learner lda" in told
