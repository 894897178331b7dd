"""Compare, from a table to the record."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from sortal import datasets
from sortal.errors import MissingValueWarning
from sortal.tasks.compare import workers
from sortal.tasks.compare.baselines import baselines
from sortal.tasks.compare.choose import rows_left_out
from sortal.tasks.compare.compare import compare
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.compare.comparison import Comparison

REAL = workers.Worker
NAMES = {one.name for one in learners()} | {one.name for one in baselines()}


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
    assert found.choice.best == found.models[0].name
    assert found.models[-1].name == "majority"
    assert all(model.eligible and not model.status for model in found.models)
    assert found.kept == {}


def test_a_model_is_described(found: Comparison) -> None:
    lda = found["lda"]
    assert (lda.title, lda.baseline, lda.size, lda.rows) == ("linear discriminant", False, 33, 172)
    assert len(lda.scores) == 4
    assert lda.score == pytest.approx(np.mean(lda.scores))
    assert lda.low is not None
    assert lda.high is not None
    assert lda.score is not None
    assert 0.9 < lda.low <= lda.score <= lda.high <= 1
    assert lda.log_loss is not None
    assert found["fisher"].log_loss is None
    assert "A model without probabilities has no log loss." in found.notes
    assert found["majority"].score == 1 / 3
    assert found["majority"].size == 1
    best = found.models[0]
    assert (best.behind, best.p) == (0, None)
    assert found["majority"].p == found.choice.p_values["majority"]
    assert found["majority"].behind == pytest.approx(best.score - 1 / 3)  # type: ignore[operator]


def test_progress_comes_to_its_end(found: Comparison, told: list[Any]) -> None:
    done = [call[0] for call in told]
    assert done == sorted(done)
    assert done[-1] == found.settings.folds.n * len(NAMES) == 52
    assert {call[1] for call in told} == {52}
    assert told[-1][2:] == ("done", 0.0)
    assert all(0 <= call[3] <= 150 for call in told)
    assert {name for call in told for name in call[2].split(", ")} >= {"tree", "lda"}


@pytest.mark.parametrize("name", ["tree", "linear_svm"])
def test_its_code_gives_the_same_scores(found: Comparison, name: str) -> None:
    namespace: dict[str, Any] = {"table": datasets.penguins(), "print": lambda _: None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(found.code(name), namespace)  # noqa: S102  (our own)
    assert tuple(namespace["scores"]) == found[name].scores


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
    assert frame["balanced_accuracy"].tolist() == [model.score for model in found.models]
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["choice"]["chosen"] == found.choice.chosen
    assert plain["settings"]["folds"] == 2
    assert plain["models"][0]["scores"] == list(found.models[0].scores)


@pytest.mark.usefixtures("one_process")
def test_by_log_loss_less_is_better_and_some_cannot_be_judged(tmp_path: Path) -> None:
    table = datasets.penguins()
    table = table.assign(species=table["species"].where(table.index % 50 != 0))
    table.assign(sex="<b>\x1b[31m").to_csv(tmp_path / "penguins.csv", index=False)
    with pytest.warns(MissingValueWarning, match="7 of 344 rows"):
        found = compare(
            tmp_path / "penguins.csv", "species", learners=["bayes", "fisher", "lda"],
            baselines=["majority"], metric="log_loss", folds=3, repeats=1, drop=["island"],
            categorical_features=["year"], tune=True, n_jobs=1,
        )  # fmt: skip
    ranked = [model.name for model in found.models]
    assert ranked[-2:] == ["majority", "fisher"]
    assert found["fisher"].status == "no probabilities, and so no log loss"
    assert not found["fisher"].eligible
    assert found.choice.best == ranked[0]
    assert found.table.columns[1] == "log loss ↓"
    assert list(found.to_frame().columns).count("log_loss") == 1
    assert (found.settings.rows, found.settings.left_out) == (337, 7)
    assert "7 rows have no 'species' and are left out." in found.notes
    assert rows_left_out(1, "y") == "1 row has no 'y' and is left out."
    code = found.code("lda")
    assert "GridSearchCV(LinearDiscriminant(categorical_features=['year'])" in code
    assert len(found["lda"].chosen) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        namespace: dict[str, Any] = {"print": lambda _: None}
        exec(code, namespace)  # noqa: S102  (our own)
    assert tuple(namespace["scores"]) == found["lda"].scores
    assert "\x1b" not in str(found)
