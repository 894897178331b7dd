"""Compare, from a table to the record."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import datasets
from sortal.errors import ColumnError, InputError, LabelError, MissingValueWarning, OptionError
from sortal.tasks.compare import compare
from sortal.tasks.comparing.baselines import baselines
from sortal.tasks.comparing.verdict import rows_left_out
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.comparing.comparison import Comparison

PENGUINS = datasets.penguins()
NAMES = {one.name for one in learners()} | {one.name for one in baselines()}


class Told:
    """What a progress callback was told."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int, str, float]] = []

    def __call__(self, *told: Any) -> None:
        self.calls.append(told)


@pytest.fixture(scope="module")
def told() -> Told:
    return Told()


@pytest.fixture(scope="module")
def found(told: Told) -> Comparison:
    """Every model, with two workers."""
    return compare(PENGUINS, "species", folds=4, repeats=2, n_jobs=2, progress=told)


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
    assert (lda.title, lda.baseline, lda.size, lda.rows) == ("linear discriminant", False, 33, 258)
    assert len(lda.scores) == 8
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


def test_progress_comes_to_its_end(found: Comparison, told: Told) -> None:
    done = [call[0] for call in told.calls]
    assert done == sorted(done)
    assert done[-1] == found.settings.folds.n * len(NAMES) == 104
    assert {call[1] for call in told.calls} == {104}
    assert told.calls[-1][2:] == ("done", 0.0)
    assert all(0 <= call[3] <= 150 for call in told.calls)
    assert {name for call in told.calls for name in call[2].split(", ")} >= {"tree", "lda"}


@pytest.mark.parametrize("name", ["tree", "linear_svm"])
def test_its_code_gives_the_same_scores(found: Comparison, name: str) -> None:
    namespace: dict[str, Any] = {"table": PENGUINS, "print": lambda _: None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(found.code(name), namespace)  # noqa: S102  (our own)
    assert tuple(namespace["scores"]) == found[name].scores


def test_neither_workers_nor_the_library_change_a_score(found: Comparison) -> None:
    cells = PENGUINS.astype(object).where(PENGUINS.notna(), None)
    frame = pl.DataFrame({name: cells[name].to_list() for name in PENGUINS.columns})
    some = compare(
        frame, "species", learners=["tree", "lda"], baselines=["linear_svm"], folds=4, repeats=2,
        n_jobs=1,
    )  # fmt: skip
    for name in ("tree", "lda", "linear_svm"):
        assert some[name].scores == found[name].scores
    assert isinstance(some.to_frame(), pl.DataFrame)


def test_faces(found: Comparison) -> None:
    text = str(found)
    assert text.startswith("species: 3 classes, 344 rows, 4 folds, twice; intervals of 95 %\n")
    assert "balanced accuracy ↑" in text
    assert "log loss ↓" in text
    assert found.sentence in text
    assert "nan" not in text.lower().split()
    assert "predict s" in text
    assert "predict s" not in found.to_text(times=False)
    html = found._repr_html_()
    assert html.count("<tr>") == len(NAMES) + 1
    frame = found.to_frame()
    assert frame["name"].tolist() == [model.name for model in found.models]
    assert frame["balanced_accuracy"].tolist() == [model.score for model in found.models]
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["choice"]["chosen"] == found.choice.chosen
    assert plain["settings"]["folds"] == 4
    assert plain["models"][0]["scores"] == list(found.models[0].scores)
    with pytest.raises(OptionError, match="no model 'forest'"):
        found.code("forest")


def test_by_log_loss_less_is_better_and_some_cannot_be_judged(tmp_path: Path) -> None:
    table = PENGUINS.assign(species=PENGUINS["species"].where(PENGUINS.index % 50 != 0))
    table.assign(sex="<b>\x1b[31m").to_csv(tmp_path / "penguins.csv", index=False)
    with pytest.warns(MissingValueWarning, match="7 of 344 rows"):
        found = compare(
            tmp_path / "penguins.csv", "species", learners=["bayes", "fisher", "lda"],
            baselines=["majority"], metric="log_loss", folds=3, repeats=1, drop=["island"],
            categories=["year"], tune=True, n_jobs=1,
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


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"target": "kind"}, ColumnError, "'kind' is no column"),
        ({"drop": ["colour"]}, ColumnError, "'colour' is no column"),
        ({"learners": ["forest"]}, OptionError, "no learner 'forest'"),
        ({"baselines": ["forest"]}, OptionError, "no baseline 'forest'"),
        ({"learners": [], "baselines": False}, OptionError, "no model to compare"),
        ({"learners": ["lda", "lda"]}, OptionError, "more than once"),
        ({"metric": "f1"}, OptionError, "metric='f1' is not known"),
        ({"budget": 0}, OptionError, "budget=0 cannot"),
        ({"level": 1.5}, OptionError, r"level=1.5 cannot"),
        ({"folds": 1}, OptionError, "folds=1 cannot"),
        ({"random_state": None}, OptionError, "random_state=None"),
        ({"n_jobs": 0}, OptionError, "n_jobs"),
    ],
)
def test_what_is_asked_is_checked_before_anything_runs(
    given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        compare(PENGUINS, **{"target": "species", **given})


def test_tables_that_cannot_be_compared() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["a", "a", "a", "b"]})
    with pytest.raises(LabelError, match="Class 'b' of the target has one row only"):
        compare(frame, "y")
    with pytest.raises(LabelError, match="1 class only"):
        compare(frame[:3], "y")
    with pytest.raises(InputError, match="no column to learn from"):
        compare(frame, "y", drop=["x"])
    with pytest.raises(LabelError, match="continuous"):
        compare(frame.assign(y=[0.5, 1.5, 2.5, 3.5]), "y")
