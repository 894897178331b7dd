"""Commands: what each line of pinned_commands.txt says, and how it ends."""

from __future__ import annotations

import atexit
import io
import os
import re
import shlex
from contextlib import chdir, redirect_stderr, redirect_stdout
from functools import cache, partial
from importlib.metadata import entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from tools.pinned import timeless

import sortal
from sortal import datasets

LINES = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
GROUPS = {lines.split("\n")[0]: lines.split("\n")[1:-1] for lines in LINES.split("# ")[1:]}


@cache
def folder() -> str:
    """A folder with tables and two models, which goes when the process ends."""
    place = TemporaryDirectory(prefix="pins-")
    atexit.register(place.cleanup)
    penguins = datasets.penguins()
    tables = {"penguins": penguins, "few": penguins[3::60], "tennis": datasets.play_tennis()}
    for name, table in tables.items():
        table.to_csv(Path(place.name) / f"{name}.csv", index=False, lineterminator="\n")
    for learner in ("tree", "lda"):
        run(f"fit penguins.csv -t species -q -l {learner} -o {learner}.sortal", place.name)
    return place.name


def run(line: str, where: str) -> tuple[int, str, str]:
    """The exit code of a command, what it prints, and what it says beside that."""
    [command] = entry_points(group="console_scripts", name="sortal")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    environment = patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"})
    with chdir(where), environment, redirect_stdout(out), redirect_stderr(err):
        code = command.load()(shlex.split(line))
    return code, *(_written(stream) for stream in (out, err))


def _written(stream: Any) -> str:
    stream.flush()
    text: str = stream.buffer.getvalue().decode()
    return _plain_help(text) if text.startswith("Usage") else text


def runs(group: str) -> str:
    """What every command of a group says, without versions, dates, times and the folder."""
    told = []
    for line in GROUPS[group]:
        code, out, err = run(line, folder())
        told.append(f"$ sortal {line}\n[ends with {code}]\n{out}[standard error]\n{err}")
    text = "\n".join(told).replace(sortal.__version__, "VERSION")
    text = re.sub(r"\b20\d\d-\d\d-\d\d\b", "DATE", timeless(text))
    text = re.sub(r'(seconds": )[\d.e-]+', r"\1SECONDS", text)
    text = re.sub(r"\n\d+(/\d+ (?:folds|steps): .*?)(?:, about .* left)?(?=\n)", r"\nSOME\1", text)
    text = re.sub(r"\d+ kB", "SOME kB", text)
    return re.sub(r"'[^']*pins-[^/']*", "'FOLDER", text)


def _plain_help(text: str) -> str:
    """Without what releases of typer set otherwise: signs of types, and where lines break."""
    text = re.sub(r"\{([A-Z]+)\}", r"\1", re.sub(" <str>|Value error, ", "", text))
    text = re.sub(r"[\[<](\w+(?:\|\w+)+)[\]>]", r"<\1>", text)
    return re.sub(r"\n {6,}|(?<=\S) {2,}", " ", text)


PINS = {f"commands/{group}.txt": partial(runs, group) for group in GROUPS}
