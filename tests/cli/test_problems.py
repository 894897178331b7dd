"""What newcomers do wrong: exit code 1, one line that helps, and nothing written.

More of it is pinned word by word: tools/pinned_commands.txt.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from sortal.cli import output as endings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIT = "fit penguins.csv -t species -o new.sortal"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("fit nix.csv -t species -o new.sortal", "nix.csv"),
        ("fit . -t species -o new.sortal", "folder"),
        ("fit empty.csv -t species -o new.sortal", "empty"),
        ("fit model.sortal -t species -o new.sortal", "is a model file of sortal"),
        ("fit penguins.csv -t specis -o new.sortal", "it has 'species', "),
        ("fit penguins.csv -t body_mass_g -o new.sortal", "--categorical body_mass_g"),
        ("compare penguins.csv -t body_mass_g", "94 distinct numbers in 342 rows"),
        (f"{FIT} --set criterion=ginni", "criterion='ginni'"),
        (f"{FIT} --drop yeer", "drop='yeer' is no column of this table: it has 'year', "),
        (f"{FIT} --drop species", "the target itself"),
        (f"{FIT} --categorical yeer", "categorical_features='yeer'"),
        (f"{FIT} --text yeer", "yeer"),
        (f"{FIT} --categorical year --set categorical_features=all", "one of the two"),
        (f"{FIT} --delimiter ;", "delimiter=';' makes one column of it, while ',' would make"),
        ("fit penguins.csv -t species -o -", "a model goes into a file"),
        ("fit penguins.csv -t species -o penguins.csv", "the input itself"),
        ("fit penguins.csv -t species -o .", "is a folder"),
        ("fit holes.csv -t y -o new.sortal", "'y' has no value in any row"),
        ("predict penguins.csv penguins.csv", "no model file"),
        ("predict penguins.csv model.sortal", "give the model first, then the data"),
        ("predict model.sortal one.csv", "'bill_length_mm', 'flipper_length_mm', which"),
        ("predict model.sortal penguins.csv -o said.xlsx", "ends in '.xlsx'"),
        ("predict model.sortal penguins.csv -o model.sortal", "the input itself"),
        ("predict model.sortal penguins.csv -o ./penguins.csv", "the input itself"),
        ("explain model.sortal penguins.csv --row 0", "numbered from 1 to 344"),
        ("working penguins.csv -t species -l lda --node 1", "has no nodes"),
        ("working penguins.csv -t species --node 99", "node=99"),
        ("working penguins.csv -t species --row 345", "numbered from 1 to 344"),
        ("compare penguins.csv -t species --budget 0", "budget=0"),
        ("compare penguins.csv -t species -o penguins.csv", "the input itself"),
    ],
)
def test_a_problem_is_one_line(
    run: Callable[..., Any], here: Path, command: str, words: str
) -> None:
    (here / "empty.csv").touch()
    (here / "one.csv").write_text("a,y\n1,no\n2,no\n", encoding="utf-8")
    (here / "holes.csv").write_text("a,y\n1,\n2,\n", encoding="utf-8")
    before = {path.name: path.read_bytes() for path in here.iterdir()}
    done = run(*command.split())
    assert done.code == 1
    assert done.out == ""
    last = done.err.splitlines()[-1]
    assert last.startswith("error: ")
    assert words.lower() in last.lower()
    assert done.err.count("error:") == 1
    assert {path.name: path.read_bytes() for path in here.iterdir()} == before


@pytest.mark.parametrize("labels", [("0.5", "1.5"), ("2024-01-01", "2024-01-02")])
def test_labels_that_look_like_amounts_can_be_read_as_text(
    run: Callable[..., Any], here: Path, labels: tuple[str, str]
) -> None:
    rows = "".join(f"{k},{labels[k % 2]}\n" for k in range(8))
    (here / "amounts.csv").write_text(f"a,y\n{rows}", encoding="utf-8")
    command = ("fit", "amounts.csv", "-t", "y", "-o", "new.sortal")
    done = run(*command)
    assert done.code == 1
    assert "read the column as text (on the command line, --text COLUMN)." in done.err
    assert run(*command, "--text", "y").code == 0


def test_no_permission_to_write(run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    # root may write everywhere, so that the system's answer is given in its place
    monkeypatch.setattr("os.access", lambda *_: False)
    done = run("show", "model.sortal", "-o", "shown.txt")
    assert done.code == 1
    assert "no permission to write into" in done.err


def test_a_traceback_is_shown_when_asked_for(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sortal.cli import main

    monkeypatch.setenv("SORTAL_DEBUG", "1")
    assert main(["show", "penguins.csv"]) == 1
    told = capsys.readouterr().err
    assert "Traceback" in told
    assert told.splitlines()[-1].startswith("error: ")


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "interrupted: "),
        (MemoryError(), 1, "not enough memory"),
        (ZeroDivisionError("a\nb"), 1, "ZeroDivisionError: a b. This was not expected"),
        (OSError(28, "No space left on device", "x"), 1, "'x': No space left on device."),
        (BrokenPipeError(), 0, ""),
    ],
)
def test_every_ending_has_its_code(
    error: BaseException, code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise error

    assert endings.end(fail) == code
    told = capsys.readouterr()
    assert words in told.err
    assert "Traceback" not in told.err
    assert told.err.count("\n") == (1 if words else 0)


def test_a_full_disk_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("sys.stdout", Full())
    assert endings.end(lambda: None) == 1
    assert capsys.readouterr().err == "error: No space left on device.\n"
