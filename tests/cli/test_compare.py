"""`sortal compare`: options arrive as they are declared, and the command to go on with works."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import pytest

import sortal
from sortal.cli.options import Group
from sortal.errors import DataWarning
from sortal.tasks.compare import compare as tasks
from sortal.tasks.compare.settings import CompareOptions, ReportOptions
from sortal.tasks.options import as_typed, differing, option, options_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.cli.conftest import Done

GIVEN = ("compare", "penguins.csv", "-t", "species")
QUICK = ("--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1", "--no-times")

pytestmark = pytest.mark.usefixtures("one_process")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The options of comparisons that were asked for, none of which is done."""
    found: list[dict[str, Any]] = []

    def refuse(*_: object, progress: object, **options: Any) -> None:
        found.append(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(tasks, "compare", refuse)
    return found


@pytest.fixture
def table(here: Path) -> None:
    """Two classes, one of two rows beside them, a column that names rows, and groups."""
    lines = [f"{i % 7},{i % 2 + i % 3},p{i:03},{i // 4},{'ab'[i % 2]}\n" for i in range(40)]
    lines += ["9,9,p100,10,c\n", "9,8,p101,11,c\n"]
    (here / "rows.csv").write_text("x,z,id,visit,y\n" + "".join(lines), encoding="utf-8")


# --- Options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "kind"), [("compare", CompareOptions), ("report", ReportOptions)])
def test_every_option_is_listed_once(run: Callable[..., Done], name: str, kind: type) -> None:
    lines = run(name, "--help").out.partition("Options:")[2].splitlines()
    starts = [line.split("  ")[1] for line in lines if line.startswith("  -")]
    assert len(starts) == len(set(starts))
    flags = [word.strip(",") for start in starts for word in start.split()]
    declared = [flag for *_, one in options_of(kind) if one.help for flag in one.flags.split()]
    typed = [flag for pair in declared for flag in pair.split("/")]
    assert [flags.count(flag) for flag in (*typed, "--cost", "--threshold")] == [1] * (
        len(typed) + 2
    )


def test_an_option_is_declared_in_one_place() -> None:
    @dataclass(frozen=True)
    class More(CompareOptions):
        seasons: tuple[str, ...] = option(
            (), "names", "Seasons.", "A season.", "NAME", flags="--season -s"
        )
        years: int = option(3, "int", "Years.", "How many years.", "N")

    group = Group(More, "drop", "seasons", "years")
    assert [one.name for one in group.parameters] == ["seasons", "years", "drop"]  # its own first
    (kind, seasons), (_, years) = [get_args(one.annotation) for one in group.parameters[:2]]
    assert (kind, seasons.default, *seasons.param_decls) == (list[str] | None, "--season", "-s")
    assert (group.parameters[1].default, years.show_default, years.parser("4")) == (3, True, 4)
    assert group.make(drop=["year"], use=[]) == {"drop": ["year"]}


ALL = (
    "-l tree:max_leaf_nodes=16 -l lda --no-baselines -m log_loss --no-require-proba --folds 3 "
    "--repeats 2 --budget 9 --confidence-level 0.9 --tune --drop year --drop sex --use island "
    "--categorical year --min-class-rows 7 --merge-rare others --groups island --seed 5 --jobs 1 "
    "--replay earlier.json"
)
WANTED = {
    "learners": ["tree:max_leaf_nodes=16", "lda"],
    "baselines": False,
    "metric": "log_loss",
    "require_proba": False,
    "folds": 3,
    "repeats": 2,
    "budget": 9.0,
    "confidence_level": 0.9,
    "tune": True,
    "drop": ["year", "sex"],
    "use": ["island"],
    "categorical_features": ["year"],
    "min_class_rows": 7,
    "merge_rare": "others",
    "groups": "island",
    "replay": "earlier.json",
    "random_state": 5,
    "n_jobs": 1,
}


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ("", {}),
        (ALL, WANTED),
        ("--time year --drop-rare", {"drop_rare": True, "time": "year"}),
        ("--cost balanced", {"costs": "balanced"}),
        (
            "--cost Adelie->Gentoo=10 --cost '\"a->b\"->Gentoo=0.5'",
            {"costs": {("Adelie", "Gentoo"): 10.0, ("a->b", "Gentoo"): 0.5}},
        ),
        ("--threshold 'a b=0.2'", {"costs": {("a b", None): pytest.approx(4)}}),
    ],
)
def test_all_options_arrive_and_can_be_typed_again(
    run: Callable[..., Done], asked: list[dict[str, Any]], options: str, wanted: dict[str, Any]
) -> None:
    assert run(*GIVEN, *shlex.split(options)).code == 130
    assert asked == [wanted]
    run(*GIVEN, *as_typed(asked[0], CompareOptions))
    assert asked[1] == asked[0]
    assert differing(CompareOptions, asked[0]) == asked[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--cost Adelie->Emu=10", "--cost names 'Emu', and the classes are 'Adelie', "),
        ("--threshold Adelie=0.2", "--threshold names an error by one label, which takes two"),
        ("--cost Adelie->Gentoo=10 --threshold Adelie=0.2", "give one of them"),
        ("-m cost", "needs costs (--cost)"),
        ("--groups island --time year", "groups and time were both given"),
        ("--merge-rare others --drop-rare", "merge_rare and drop_rare were both given"),
        ("--min-class-rows 0", "min_class_rows=0"),
        ("--use yeer", "use='yeer' is no column"),
        ("--replay penguins.csv", "a file that compare --json wrote"),
    ],
)
def test_what_cannot_be_asked_for(run: Callable[..., Done], options: str, words: str) -> None:
    done = run(*GIVEN, *QUICK, "-l", "lda", *shlex.split(options))
    assert (done.code, done.out) == (1, "")
    assert words in done.err


# --- What they do -------------------------------------------------------------------------------


def compared(run: Callable[..., Done], *options: str) -> dict[str, Any]:
    """A comparison of one learner, as a machine reads it."""
    done = run("compare", "rows.csv", "-t", "y", "-l", "bayes", *QUICK, "--json", "-q", *options)
    assert done.code == 0, done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


@pytest.mark.usefixtures("table")
def test_rare_classes(run: Callable[..., Done]) -> None:
    found = compared(run)
    assert found["settings"]["judged"] == [True, True, False]
    assert any("Too small to be judged" in note for note in found["notes"])
    assert compared(run, "--min-class-rows", "2")["settings"]["judged"] == [True] * 3
    assert compared(run, "--drop-rare")["settings"]["classes"] == ["a", "b"]
    joined = compared(run, "--merge-rare", "b", "--min-class-rows", "3")["settings"]
    assert (joined["classes"], joined["counts"]) == (["a", "b"], [20, 22])


@pytest.mark.usefixtures("table")
def test_columns_groups_and_time(run: Callable[..., Done]) -> None:
    assert compared(run)["settings"]["dropped"] == ["id"]
    assert compared(run, "--use", "id")["settings"]["dropped"] == []
    by_group = compared(run, "--groups", "visit", "--use", "id", "--drop-rare")["settings"]
    assert (by_group["groups"], by_group["dropped"]) == ("visit", ["visit"])
    in_time = compared(run, "--time", "visit", "--drop", "id", "--drop-rare")["settings"]
    assert (in_time["time"], in_time["dropped"]) == ("visit", ["id", "visit"])


@pytest.mark.usefixtures("table")
def test_a_result_is_run_again(run: Callable[..., Done], here: Path) -> None:
    first = compared(run, "--seed", "3", "--drop", "id")
    (here / "earlier.json").write_text(json.dumps(first), encoding="utf-8")
    again = run("compare", "rows.csv", "-t", "y", "--replay", "earlier.json", "--json", "-q")
    scores = [[one["scores"] for one in json.loads(again.out)["models"]], again.err]
    assert scores == [[one["scores"] for one in first["models"]], ""]


def test_progress_is_seen_before_the_data_is_read(run: Callable[..., Done]) -> None:
    lines = run(*GIVEN, *QUICK, "-l", "lda").err.splitlines()
    assert lines[0] == "reading penguins.csv"
    assert lines[-1] == "4/4 folds: done"
    assert "0:00 left" not in "".join(lines)
    assert run(*GIVEN, *QUICK, "-l", "lda", "-q").err == ""
    assert run("compare", "nowhere.csv", "-t", "y").err.startswith("reading nowhere.csv\nerror: ")


# --- Going on -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ("-t species -l lda -m accuracy --seed 3", {"costs": None}),
        ("-t species -l tree:max_leaf_nodes=16", {"costs": "balanced", "max_leaf_nodes": 16}),
        (
            "-t species -l tree:criterion=gini,pruning=None -m log_loss --drop island",
            {"criterion": "gini", "pruning": None},
        ),
        ("-t species -l bayes --time year --use island --min-class-rows 9", {"costs": "balanced"}),
        (
            "-t sex -l lda --cost 'female->male=0.5' --groups island --categorical year",
            {"costs": {("female", "male"): 0.5}, "categorical_features": ["year"]},
        ),
        ("-t sex -l bayes --threshold female=0.2", {"costs": {("female", None): pytest.approx(4)}}),
        ("-t species -l fisher -m accuracy --no-require-proba", {"priors": "empirical"}),
    ],
)
def test_the_command_to_go_on_with_fits_what_was_compared(
    run: Callable[..., Done], here: Path, options: str, kept: dict[str, Any]
) -> None:
    done = run("compare", "penguins.csv", *shlex.split(options), *QUICK)
    command = shlex.split(done.out.rpartition("Go on with: ")[2])
    assert command[:3] == ["sortal", "fit", "penguins.csv"]
    fitted = run(*command[1:])
    assert fitted.code == 0, fitted.err
    parameters = sortal.load(here / "model.sortal").get_params()
    assert {name: parameters[name] for name in kept} == kept
    assert run("predict", "model.sortal", "penguins.csv").out.count("\n") == 345


def test_nothing_to_go_on_with(run: Callable[..., Done]) -> None:
    done = run(*GIVEN, *QUICK, "-l", "fisher")
    assert (done.code, "Go on with" in done.out) == (0, False)
    assert "No model can be recommended" in done.out


@pytest.mark.usefixtures("table")
def test_fit_and_working_select_as_compare_does(run: Callable[..., Done], here: Path) -> None:
    fit = ("fit", "rows.csv", "-t", "y", "-l", "bayes", "-o", "new.sortal")
    done = run(*fit)
    assert "note: Not learned from: 'id' (names rows). To learn from it: --use id." in done.err
    names = sortal.load(here / "new.sortal").feature_names_in_.tolist
    assert names() == ["x", "z", "visit"]
    assert "Not learned" not in run(*fit, "--use", "id").err
    script = run(*fit, "--merge-rare", "b", "--min-class-rows", "3", "--show-code").out
    with pytest.warns(DataWarning):
        exec(script, {})  # noqa: S102  (our own)
    assert sortal.load(here / "new.sortal").classes_.tolist() == ["a", "b"]
    assert "rows left out" in run(*fit, "--drop-rare").err
    assert sortal.load(here / "new.sortal").classes_.tolist() == ["a", "b"]
    working = ("working", "rows.csv", "-t", "y", "-l", "bayes", "--json", "--all")
    assert '"id' not in run(*working).out
    assert '"id' in run(*working, "--use", "id").out
