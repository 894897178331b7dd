"""Every example of the help runs; `--show-code` prints Python that runs and gives the same."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
import subprocess
import sys
import warnings
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import sortal
from sortal import datasets
from sortal.cli.app import COMMANDS, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

GIVEN = ("penguins.csv", "-t", "species")


def execute(code: str) -> str:
    """What the code prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore", sortal.errors.SortalWarning)
        exec(compile(code, "<code>", "exec"), {"__name__": "page"})  # noqa: S102  (our own)
    return printed.getvalue()


def without_times(told: str) -> Any:
    found = json.loads(told)
    del found["settings"]["seconds"]
    for model in found["models"]:
        del model["fit_seconds"], model["predict_seconds"]
    return found


@pytest.mark.parametrize(
    "command",
    [
        "inspect penguins.csv --no-header --decimal .",
        "inspect penguins.csv -t species --text year --json",
        "inspect penguins.csv -t species --drop year --drop sex --format md",
        "predict model.sortal penguins.csv --header --decimal .",
        "predict model.sortal penguins.csv --proba --keep sex --text sex",
        "explain model.sortal penguins.csv --row 7 --row 272",
        "explain lda.sortal penguins.csv --row 7 --format md",
        "explain lda.sortal penguins.csv --row 7 --json",
        "show model.sortal",
        "show lda.sortal --format html",
        "show lda.sortal --json",
        "working penguins.csv -t species -l bayes --row 7 --drop year --set alpha=0.5",
        "working penguins.csv -t species --categorical year --node 1 --format md --na-values NA,?",
        "working penguins.csv -t species -l fisher --json --delimiter , --encoding utf-8",
        "working penguins.csv -t species -l bayes --use sex --format md",
    ],
)
def test_code_prints_the_same(run: Callable[..., Any], command: str) -> None:
    shown = run(*command.split(), "--show-code")
    assert (shown.code, shown.err) == (0, "")
    done = run(*command.split())
    assert done.code == 0
    assert execute(shown.out).rstrip("\n") == done.out.rstrip("\n")


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet", "json"])
def test_code_writes_the_same_predictions(run: Callable[..., Any], here: Path, form: str) -> None:
    name = f"said.{form}"
    command = f"predict lda.sortal penguins.csv --proba --keep sex -o {name}".split()
    command += ["--json"] if form == "json" else []
    code = run(*command, "--show-code").out
    assert not (here / name).exists()
    run(*command)
    wanted = read_again(here / name)
    (here / name).unlink()
    execute(code)
    found = read_again(here / name)
    assert found == wanted


@pytest.mark.parametrize("form", ["--format=csv", "--format=jsonl", "--json"])
def test_code_keeps_dates_truths_and_names_that_are_taken(
    run: Callable[..., Any], here: Path, form: str
) -> None:
    rows = [f"{k % 7},{k % 2 == 0},2024-01-{k % 28 + 1:02},{'pq'[k % 2]}" for k in range(40)]
    text = "\n".join(["a,even,prediction,y", *rows, "1,,,p"])
    (here / "days.csv").write_text(f"{text}\n", encoding="utf-8")
    fitted = run("fit", "days.csv", "-t", "y", "--drop", "prediction", "-o", "days.sortal", "-q")
    assert fitted.code == 0
    kept = ("--keep", "prediction", "--keep", "even", "--keep", "y")
    command = ("predict", "days.sortal", "days.csv", *kept, form, "-q")
    done = run(*command)
    assert (done.code, "2024-01-02" in done.out, "true" in done.out) == (0, True, True)
    assert execute(run(*command, "--show-code").out) == done.out


@pytest.mark.parametrize("form", [("--json",), ("--format", "jsonl")])
def test_infinities_are_words_in_json(
    run: Callable[..., Any], here: Path, form: tuple[str, ...]
) -> None:
    table = sortal.read(here / "penguins.csv")[:4]
    table["odd"] = [float("inf"), float("-inf"), float("nan"), 0.5]
    table.to_parquet(here / "odd.parquet")
    command = ("predict", "model.sortal", "odd.parquet", "--keep", "odd", *form)
    told = run(*command).out
    assert execute(run(*command, "--show-code").out) == told
    rows = json.loads(told) if "--json" in form else list(map(json.loads, told.splitlines()))
    assert [row["odd"] for row in rows] == ["inf", "-inf", None, 0.5]


def read_again(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".json":
        rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        return rows
    found = sortal.read(path)
    told: list[dict[str, Any]] = found.astype(object).where(found.notna(), None).to_dict("records")
    return told


@pytest.mark.parametrize("learner", ["tree", "qda"])
def test_code_fits_the_same_model(
    run: Callable[..., Any], here: Path, learner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")  # a day may end between the two
    setting = {"tree": "max_depth=3", "qda": "pooling=0.5"}[learner]
    given = f"-l {learner} --drop island --categorical year -o new.sortal --set {setting} "
    given += "--use sex --merge-rare few --min-class-rows 69 --cost Adelie->few=3"
    options = given.split()
    code = run("fit", *GIVEN, *options, "--show-code").out
    assert not (here / "new.sortal").exists()
    told = run("fit", *GIVEN, *options).out
    wanted = (here / "new.sortal").read_bytes()
    (here / "new.sortal").unlink()
    assert execute(code) in told
    assert (here / "new.sortal").read_bytes() == wanted


def test_code_tells_a_machine_of_the_same_fit(run: Callable[..., Any]) -> None:
    command = ("fit", *GIVEN, "-o", "new.sortal", "--json", "-q")
    code = run(*command, "--show-code").out
    assert execute(code) == run(*command).out


@pytest.mark.usefixtures("one_process")
def test_code_compares_the_same(run: Callable[..., Any]) -> None:
    options = "-l lda -l bayes --no-baselines --folds 3 --repeats 1 --jobs 1 --seed 3 --drop year "
    options += "--use sex --cost Adelie->Gentoo=10 --min-class-rows 7 --no-require-proba"
    command = ("compare", *GIVEN, *options.split(), "--json", "-q")
    code = run(*command, "--show-code").out
    assert without_times(execute(code)) == without_times(run(*command).out)
    short = [word for word in command if word != "--json"]
    assert "print(comparison.to_text(times=False))" in run(*short, "--no-times", "--show-code").out
    assert "print(comparison)" in run(*short, "--show-code").out


def test_code_quotes_what_it_is_given(run: Callable[..., Any], here: Path) -> None:
    name = 'it\'s a "table".csv'
    (here / name).write_text("a'b,y\n1,p\n2,q\n", encoding="utf-8")
    command = ("working", name, "-t", "y", "-l", "bayes", "--drop", "a'b")
    assert execute(run("working", name, "-t", "y", "--show-code").out)
    assert run(*command, "--show-code").code == 0
    nasty = run("working", "x.csv", "-t", "');import os;('", "--show-code").out
    compile(nasty, "<code>", "exec")
    assert "sortal.working(table, \"');import os;('\")" in nasty


pytestmark = pytest.mark.usefixtures("one_process")


@cache
def quick_comparison() -> Any:
    """Two models on two folds."""
    from sortal.tasks.compare.compare import compare

    few: dict[str, Any] = {"folds": 2, "repeats": 1, "baselines": False, "n_jobs": 1}
    return compare(datasets.penguins(), "species", learners=["lda", "bayes"], **few)


class Quick:
    """Stands for a report."""

    def save(self, path: str, form: str | None) -> None:
        Path(path).write_text("a page", encoding="utf-8")


def stand_in(task: Any, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes as the task takes, at once: what it does is tested elsewhere."""
    name = task.__name__.rpartition(".")[2]
    taken = signature(getattr(task, name))

    def quick(*given: Any, **named: Any) -> Any:
        taken.bind(*given, **named)
        return made

    monkeypatch.setattr(task, name, quick)


EXAMPLES = [example for _, examples in COMMANDS for example in examples]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.startswith("sortal ")])
def test_an_example_runs(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    from sortal.tasks.compare import compare
    from sortal.tasks.report import report

    if example.startswith("sortal compare "):
        stand_in(compare, quick_comparison(), monkeypatch)
    stand_in(report, Quick(), monkeypatch)
    done = run(*shlex.split(example)[1:])
    assert done.code == 0
    assert done.out or "wrote " in done.err


@pytest.mark.full
def test_examples_in_a_shell(here: Path) -> None:
    (here / "penguins.csv").unlink()
    piped = [example for example in EXAMPLES if not example.startswith("sortal ")]
    assert piped
    for name, module in (("sortal", "-m sortal.cli"), ("python", "")):
        (here / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (here / name).chmod(0o755)
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    for command in [TABLE, *piped]:
        done = subprocess.run(  # noqa: S602  (our own examples)
            command,
            shell=True,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout.count("\n") == 344


def test_a_comparison_goes_on_with_the_same_table(run: Callable[..., Any], here: Path) -> None:
    text = (here / "penguins.csv").read_text(encoding="utf-8").replace(",", "|")
    (here / "other table.csv").write_text(text, encoding="latin-1")
    columns = ["--drop", "island", "--use", "sex", "--categorical", "year"]
    options = ["--text", "sex", "--na-values", "NA,?", "--delimiter", "|", "--encoding", "latin-1"]
    quick = ["-l", "lda", "--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1"]
    told = run("compare", "other table.csv", "-t", "species", *columns, *options, *quick).out
    command = shlex.split(told.rpartition("Go on with: ")[2])
    assert command[:7] == shlex.split("sortal fit 'other table.csv' --target species --learner lda")
    assert command[7:] == ["--cost", "balanced", *columns, *options, "-o", "model.sortal"]
    assert run(*command[1:]).code == 0
