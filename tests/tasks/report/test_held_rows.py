"""Reports on models that hold rows: none is in the page unless it may be."""

from __future__ import annotations

import warnings
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from sortal import KernelDiscriminant, NeighborsClassifier, report
from sortal.errors import SortalWarning
from sortal.tasks.fit import training_rows
from sortal.tasks.report.models import evaluate_out_of_fold, with_neighbors

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.report.report import Report

pytestmark = pytest.mark.usefixtures("one_process")
FEW: dict[str, Any] = {"baselines": False, "folds": 2, "repeats": 1, "n_jobs": 1}


def people(n: int, *, whole: bool = True) -> pd.DataFrame:
    """Numbers that are somebody's; and a word that most share, with missing values."""
    rng = np.random.default_rng(4)
    codes = rng.permutation(np.arange(n) % 2)
    numbers = {
        "income": 1000 * rng.random(n) + 400 * codes,
        "height": 10 * rng.random(n) + 4 * codes,
        "state": np.array(["ill", "well"])[codes],
    }
    table = pd.DataFrame(numbers)
    if whole:
        return table
    table.insert(2, "town", np.array(["Ulm", "Bonn"])[rng.integers(2, size=n)])
    table.loc[3, "height"] = table.loc[5, "state"] = None
    return table


@cache
def of_neighbors() -> Report:
    return report(people(60, whole=False), "state", learners=["neighbors"], **FEW)


@cache
def of_kernel(n: int, *, rows: bool = False) -> Report:
    return report(people(n), "state", learners=["kernel"], include_rows=rows, **FEW)


def cells(table: pd.DataFrame) -> list[float]:
    """Numbers of rows, but for the least and the greatest."""
    return [x for name in ("income", "height") for x in sorted(table[name].dropna())[1:-1]]


def met(numbers: list[float], text: str) -> list[float]:
    return [x for x in numbers if repr(float(x))[:9] in text or f"{x:.6g}" in text]


def check_no_row(made: Report, numbers: list[float], folder: Path) -> None:
    made.save(folder / "report.md")
    html, text = made.to_html(), (folder / "report.md").read_text(encoding="utf-8")
    assert met(numbers, html + text) == []
    assert "It holds no rows of the table." in html
    assert "a form would need those rows themselves" in html


def test_no_neighbor_is_in_the_page_the_text_or_the_data(tmp_path: Path) -> None:
    check_no_row(of_neighbors(), cells(people(60, whole=False)), tmp_path)


@pytest.mark.parametrize("n", [16, pytest.param(60, marks=pytest.mark.full)])
def test_no_row_of_a_kernel_is_in_the_page_the_text_or_the_data(n: int, tmp_path: Path) -> None:
    """Of 16 rows a working would have every matrix."""
    table = people(n)
    model = KernelDiscriminant().fit(table, "state")
    alone = [*model.transform(table)[:, 0], *model.dual_coef_[:, 0]]
    check_no_row(of_kernel(n), [*cells(table), *alone], tmp_path)


def facts_of(model: Any) -> dict[Any, Any]:
    return {what: value for what, value in model.facts.rows}  # noqa: C416


def test_what_there_is_to_read_of_a_kernel() -> None:
    facts = of_kernel(16).facts
    (model,) = facts.models
    assert facts.decide is None
    names = [picture.name for picture in model.pictures]
    assert names == ["kernel-along", "kernel-contours", "kernel-regions"]
    told = facts_of(model)
    assert (told["width γ"], told["solver"]) == (0.5, "dense")
    assert told["ridge"] == pytest.approx(2 / 16)
    assert facts.working is not None
    assert "kernel" not in [table.name for table in facts.working]


@pytest.mark.full
def test_with_rows_the_matrices_of_few_are_shown() -> None:
    facts = of_kernel(16, rows=True).facts
    assert facts.working is not None
    assert "kernel" in [table.name for table in facts.working]
    assert "kernel-projection" in [picture.name for picture in facts.models[0].pictures]


def test_what_there_is_to_read_of_neighbors() -> None:
    facts = of_neighbors().facts
    (model,) = facts.models
    assert facts.decide is None
    assert facts.left_out.startswith("1 of 60 rows has no 'state' and is left out.")
    told = facts_of(model)
    assert (told["distance"], told["neighbors"], told["votes"]) == ("gower", 5, "uniform")
    assert [table.name for table in model.tables] == ["scale", "classes"]
    assert [picture.name for picture in model.pictures] == ["neighbors-regions", "neighbors-loo"]
    regions, curve = model.pictures
    assert "resolution=80" in regions.code
    assert "n_neighbors='loo' would choose it" in curve.note
    assert model.errors is not None
    assert model.errors.near is None


def known() -> tuple[Any, pd.DataFrame]:
    """The labeled rows, and as they stand in the table."""
    table = people(60, whole=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return training_rows(table, "state"), table.dropna(subset=["state"])


def test_with_rows_the_nearest_of_wrong_rows_are_told() -> None:
    rows, table = known()
    wishes: Any = SimpleNamespace(include_rows=True, categorical_features=(), target="state")
    fitted = NeighborsClassifier().fit(table, "state")
    judged = evaluate_out_of_fold("neighbors", of_neighbors().facts.comparison, rows, wishes)
    told = with_neighbors(judged.errors, fitted, rows)
    assert told is not None
    assert told.near is not None
    assert told.tables[-1] is told.near
    assert len(met(cells(table), str(told))) > 5
    distances, ids = fitted.kneighbors()
    numbers, labels = table.index.to_numpy() + 1, table["state"].to_numpy()
    assert dict.fromkeys(told.near.column("row")) == dict.fromkeys(numbers[list(told.places[:5])])
    for number in dict.fromkeys(told.near.column("row")):
        i = int(np.flatnonzero(numbers == number)[0])
        mine = [row for row in told.near.rows if row[0] == number]
        near = [(labels[i], numbers[j], labels[j]) for j in ids[i].tolist()]
        assert [row[1:4] for row in mine] == near
        assert [row[4] for row in mine] == pytest.approx(distances[i])


def test_models_without_neighbors_or_errors_stay_as_they_are() -> None:
    rows, _ = known()
    (model,) = of_neighbors().facts.models
    assert with_neighbors(None, None, rows) is None
    other: Any = object()
    assert with_neighbors(model.errors, other, rows) is model.errors
