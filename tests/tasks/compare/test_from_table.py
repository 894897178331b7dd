"""Compare, from a table to the record."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import LinearDiscriminant, TreeClassifier, datasets
from sortal.errors import ParameterError
from sortal.tasks.compare import workers
from sortal.tasks.compare.candidates import candidates
from sortal.tasks.compare.compare import compare
from sortal.tasks.compare.comparison import build_comparison
from sortal.tasks.compare.fold_run import FoldResult
from sortal.tasks.compare.run import Run, Schedule

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.compare.comparison import Comparison

REAL = workers.Worker
NAMES = {one.name for one in candidates(None, baselines=True)}


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """What a progress callback was told."""
    return []


@pytest.fixture(scope="module")
def found(one_process: None, told: list[Any]) -> Comparison:
    """Every model."""

    def progress(*words: Any) -> None:
        told.append(words)

    return compare(datasets.penguins(), "species", folds=2, repeats=2, n_jobs=1, progress=progress)


def test_every_model_takes_part_and_the_best_comes_first(found: Comparison) -> None:
    assert {model.name for model in found.models} == NAMES
    scores = [model.score for model in found.models]
    assert all(score is not None for score in scores)
    assert scores == sorted(scores, reverse=True)  # type: ignore[type-var]
    assert found.choice.best in {model.name for model in found.models[:6]}
    assert not found[found.choice.recommended].baseline
    assert found.models[-1].name == "constant"
    assert all(model.eligible and not model.status for model in found.models)
    assert {"tree", "tree:max_leaf_nodes=16", "random_forest", "boosting", "constant"} <= NAMES
    assert found.kept == {}


def test_a_model_is_described(found: Comparison) -> None:
    lda = found["lda"]
    assert (lda.title, lda.baseline, lda.size, lda.rows) == ("linear discriminant", False, 33, 172)
    assert len(lda.scores) == 4
    assert lda.score == pytest.approx(np.mean(lda.scores))
    assert lda.low is not None
    assert lda.high is not None
    assert lda.score is not None
    assert 0.85 < lda.low <= lda.score <= lda.high <= 1
    assert set(lda.measures) == {"accuracy", "balanced_accuracy", "log_loss", "brier", "roc_auc"}
    assert "log_loss" not in found["fisher"].measures
    assert lda.terms == 10
    assert found["tree"].terms < 10  # type: ignore[operator]
    assert found["constant"].score == pytest.approx(1 / 3)
    assert found["constant"].size == 1
    best = found[found.choice.best]
    assert best.behind == 0
    assert found["constant"].behind == pytest.approx(best.score - 1 / 3)  # type: ignore[operator]


def test_what_was_not_finished_is_not_recommended(found: Comparison) -> None:
    run = Run("lda", (172,), 4)
    run.results[0] = FoldResult({"balanced_accuracy": 1.0, "accuracy": 1.0})
    run.stop("unfinished", "unfinished: 1 of 4 folds")
    lda = next(one for one in found.settings.candidates if one.name == "lda")
    again = [run if one is lda else Run(one.name, (172,), 4) for one in found.settings.candidates]
    one = build_comparison(again, found.settings)["lda"]
    assert (one.score, one.eligible, one.status) == (1.0, False, "unfinished: 1 of 4 folds")


def test_progress_comes_to_its_end(found: Comparison, told: list[Any]) -> None:
    done = [call[0] for call in told]
    assert done == sorted(done)
    # ensembles go through the folds once
    assert done[-1] == told[-1][1] == 4 * (len(NAMES) - 2) + 2 * 2
    assert told[-1][2:] == ("done", 0.0)
    assert all(call[3] >= 0 for call in told)
    assert told[0][2] == "reading"
    assert {name for call in told for name in call[2].split(", ")} >= {"tree", "lda"}


@pytest.mark.usefixtures("one_process")
@pytest.mark.parametrize("name", ["tree", "linear_svm"])
def test_its_code_gives_the_same_scores(found: Comparison, name: str) -> None:
    namespace: dict[str, Any] = {"table": datasets.penguins(), "print": lambda _: None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(found.code(name), namespace)  # noqa: S102  (our own)
    assert namespace["scores"] == found[name].scores


def test_neither_workers_nor_the_library_change_a_score(found: Comparison) -> None:
    table = datasets.penguins("polars")
    few: dict[str, Any] = {"learners": ["tree", "lda"], "baselines": ["linear_svm"], "folds": 2}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "Worker", REAL)  # this once, in processes of their own
        some = compare(table, "species", repeats=2, n_jobs=2, **few)
    for name in ("tree", "lda", "linear_svm"):
        assert some[name].scores == found[name].scores
    assert isinstance(some.to_frame(), pl.DataFrame)


def test_faces(found: Comparison) -> None:
    text = str(found)
    assert text.startswith("species: 3 classes, 344 rows, 2 folds, twice; intervals of 95 %\n")
    assert "balanced accuracy ↑" in text
    assert "log loss ↓" in text
    assert found.sentence in text
    assert "nan" not in text.lower().split()
    assert "predict s" in text
    assert "predict s" not in found.to_text(times=False)
    assert max(map(len, found.to_text(60).splitlines())) <= 60
    assert found.to_markdown().startswith("### species: 3 classes")
    assert found.to_html().startswith("<!doctype html>")
    html = found._repr_html_()
    assert html.count("<tr>") == len(NAMES) + 1
    frame = found.to_frame()
    assert frame["name"].tolist() == [model.name for model in found.models]
    assert frame["score"].tolist() == [model.score for model in found.models]
    assert frame["accuracy"].tolist() == [model.measures["accuracy"] for model in found.models]
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["choice"]["recommended"] == found.choice.recommended
    assert plain["settings"]["folds"] == 2
    assert plain["models"][0]["scores"] == list(found.models[0].scores)


@pytest.mark.usefixtures("one_process")
def test_by_log_loss_less_is_better_and_some_cannot_be_judged(tmp_path: Path) -> None:
    table = datasets.penguins()
    table = table.assign(species=table["species"].where(table.index % 50 != 0))
    table.assign(sex="<b>\x1b[31m").to_csv(tmp_path / "penguins.csv", index=False)
    found = compare(
        tmp_path / "penguins.csv", "species", learners=["bayes", "fisher", "lda"],
        baselines=[], metric="log_loss", folds=3, repeats=1, drop=["island"],
        categorical_features=["year"], tune=True, n_jobs=1,
    )  # fmt: skip
    ranked = [model.name for model in found.models]
    assert ranked[-2:] == ["constant", "fisher"]
    assert found["fisher"].status == "no probabilities, and so no log loss"
    assert not found["fisher"].eligible
    assert found.choice.best == ranked[0]
    assert found.table.columns[1] == "log loss ↓"
    assert (found.settings.rows, found.settings.left_out) == (337, 7)
    assert "7 of 344 rows have no 'species' and are left out." in found.notes
    assert len(found["lda"].chosen) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace: dict[str, Any] = {}
        exec(found.code("lda"), namespace)  # noqa: S102  (our own)
    assert namespace["scores"] == found["lda"].scores
    assert "\x1b" not in str(found)


FEW: dict[str, Any] = {"baselines": False, "folds": 3, "repeats": 1, "n_jobs": 1}


def skewed(n: int = 300) -> pd.DataFrame:
    """One row in ten is "yes"; two columns tell a little."""
    rng = np.random.default_rng(1)
    yes = np.arange(n) % 10 == 0
    table = pd.DataFrame({"a": rng.normal(size=n) + yes, "b": rng.normal(size=n)})
    return table.assign(y=np.where(yes, "yes", "no"))


@pytest.mark.usefixtures("one_process")
def test_the_measure_follows_the_table_and_the_costs() -> None:
    one = {"learners": ["lda"], **FEW}
    assert compare(datasets.iris(), "species", **one).settings.metric == "accuracy"
    found = compare(skewed(), "y", **one)
    assert (found.settings.metric, found.settings.costs) == ("balanced_accuracy", "balanced")
    assert found["constant"].measures["accuracy"] == pytest.approx(0.9)
    assert any("gets fewer rows right" in words for words in found.choice.warnings)
    priced = compare(skewed(), "y", costs={("yes", "no"): 20}, **one)
    assert priced.settings.metric == "cost"
    assert priced.settings.head == "mean cost ↓"
    assert priced["constant"].score == pytest.approx(0.9)  # always "yes"
    assert priced["lda"].score < 0.9  # type: ignore[operator]
    model = LinearDiscriminant(**priced.fit_options("lda")).fit(skewed(), "y")
    assert model.costs == {("yes", "no"): 20}
    assert LinearDiscriminant(**found.fit_options("lda")).costs == "balanced"
    told = priced.fit_command("lda", "t.csv")
    assert told == "sortal fit t.csv --target y --learner lda --cost 'yes->no=20' -o model.sortal"


@pytest.mark.usefixtures("one_process")
def test_average_precision_is_told_where_a_class_is_rare() -> None:
    found = compare(skewed(), "y", learners=["lda", "fisher"], **FEW | {"repeats": 2})
    assert "average_precision" not in found["lda"].measures  # a tenth is not rare
    few = skewed(600).assign(y=lambda t: np.where(np.arange(len(t)) % 25 == 0, "yes", "no"))
    found = compare(few, "y", learners=["lda", "fisher"], **FEW | {"repeats": 2})
    assert 0 < found["lda"].measures["average_precision"] < 1
    assert "average_precision" not in found["fisher"].measures
    by_it = compare(few, "y", learners=["lda"], metric="average_precision", **FEW | {"repeats": 2})
    assert len(by_it["lda"].scores) == 2


@pytest.mark.usefixtures("one_process")
def test_own_candidates() -> None:
    small = "tree:criterion=gini,max_leaf_nodes=8"
    given = ["tree", small, TreeClassifier(class_weight="balanced"), "lda:shrinkage=0.1"]
    found = compare(skewed(), "y", learners=given, **FEW)
    assert set(found.scores) == {
        "tree", small, "tree:class_weight=balanced", "lda:shrinkage=0.1", "constant",
    }  # fmt: skip
    assert found[small].title == "decision tree (criterion=gini, max_leaf_nodes=8)"
    told = found.fit_command(small, "t.csv")
    assert "--learner tree --set criterion=gini --set max_leaf_nodes=8 --cost balanced" in told


@pytest.mark.usefixtures("one_process")
def test_columns_that_name_rows_are_left_out_unless_asked_for() -> None:
    table = skewed().assign(id=[f"r{i}" for i in range(300)], none=np.nan, leak=lambda t: t["y"])
    found = compare(table, "y", learners=["lda"], **FEW)
    assert found.settings.dropped == ("id", "none", "leak")
    (words,) = [note for note in found.notes if note.startswith("Not learned from: ")]
    assert words == (
        "Not learned from: 'id' (names rows), 'none' (has no value), 'leak' (alone tells the "
        "target). To learn from them: --use id --use none --use leak."
    )
    used = compare(table, "y", learners=["lda"], use=["leak"], drop=["a"], **FEW)
    assert used.settings.dropped == ("a", "id", "none")
    assert used["lda"].score == 1


@pytest.mark.usefixtures("one_process")
def test_small_classes_are_set_aside_joined_or_left_out() -> None:
    table = skewed()
    table.loc[[3, 5], "y"] = "odd"
    one = {"learners": ["lda", "bayes"], **FEW}
    found = compare(table, "y", **one)
    assert found.settings.judged == (True, False, True)
    assert "Too small to be judged, and in no measure: 'odd' (2 rows in all)" in str(found)
    assert all(model.status == "" for model in found.models)
    joined = compare(table, "y", merge_rare="no", **one)
    assert joined.settings.classes == ("no", "yes")
    assert joined.settings.rows == 300
    assert "Class 'odd' of the target: joined into 'no'." in str(joined)
    dropped = compare(table, "y", drop_rare=True, **one)
    assert (dropped.settings.rows, dropped.settings.classes) == (298, ("no", "yes"))
    every = compare(table, "y", min_class_rows=1, **one)
    assert every.settings.judged == (True, True, True)


@pytest.mark.usefixtures("one_process")
def test_groups_and_time_are_not_learned_from() -> None:
    table = skewed().assign(who=lambda t: np.arange(len(t)) // 10, day=lambda t: np.arange(len(t)))
    by_group = compare(table, "y", learners=["lda"], groups="who", use=["day"], **FEW)
    assert "who" in by_group.settings.dropped
    assert "3 folds by group, once" in by_group.settings.title
    in_time = compare(table, "y", learners=["lda"], time="day", drop=["who"], **FEW)
    assert "3 folds in time, once" in in_time.settings.title
    assert "--drop who --drop day" in in_time.fit_command("lda", "t.csv")


@pytest.mark.usefixtures("one_process")
def test_a_comparison_is_replayed(tmp_path: Path) -> None:
    few = {**FEW, "baselines": ["logistic"]}
    few["costs"] = {("yes", "no"): 7}
    found = compare(skewed(), "y", learners=["lda:shrinkage=0.1", "bayes"], random_state=3, **few)
    path = tmp_path / "result.json"
    path.write_text(json.dumps(found.to_dict()), encoding="utf-8")
    for given in (str(path), found.to_dict()):
        assert compare(skewed(), "y", replay=given, n_jobs=1).scores == found.scores
    with pytest.raises(ParameterError, match="replay predicts 'y'"):
        compare(skewed(), "a", replay=found.to_dict())
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(ParameterError, match="replay cannot be read"):
        compare(skewed(), "y", replay=path)


@pytest.mark.usefixtures("one_process")
def test_a_model_that_saw_fewer_rows_is_beside_the_best_of_as_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Schedule, "_judge", _settle)
    found = compare(skewed(9_000), "y", learners=["lda", "neighbors"], **FEW)
    part = found["neighbors"]
    assert part.status == "trained on 1,500 of 6,000 rows"
    assert (part.part, part.rows, part.eligible) == (1_500, 1_500, True)
    assert part.curve == ((1_500, part.score),)
    assert [rows for rows, _ in found["lda"].curve] == [1_500, 6_000]
    assert any(note.startswith("neighbors learned from 1,500 rows: ") for note in found.notes)
    again = compare(skewed(9_000), "y", replay=found.to_dict(), n_jobs=1)
    assert again["neighbors"].scores == part.scores


def _settle(_: Schedule, run: Run) -> None:
    """One model goes on with a quarter of the rows, the others with all."""
    if run.capped or (run.name == "neighbors" and run.at == len(run.sizes) - 2):
        run.state = "on"
    elif run.at + 1 < len(run.sizes):
        run.turn_to(run.at + 1)
    else:
        run.state = "on"
