"""A report on nearest neighbors, whose model is its rows: none is in the page unless it may be."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from sortal import NeighborsClassifier, report
from sortal.errors import MissingValueWarning
from sortal.tasks.registry import find
from sortal.tasks.reporting.judging import judge_kept
from sortal.tasks.reporting.near_rows import with_neighbors
from sortal.tasks.training import training_rows

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.report import Report

FEW: dict[str, Any] = {"learners": ["neighbors"], "baselines": False, "folds": 2, "repeats": 1}


def people(n: int = 60) -> pd.DataFrame:
    """Numbers that are somebody's, a word that most share, and a hole."""
    rng = np.random.default_rng(4)
    codes = rng.integers(2, size=n)
    table = pd.DataFrame(
        {
            "income": 1000 * rng.random(n) + 400 * codes,
            "height": 10 * rng.random(n) + 4 * codes,
            "town": np.array(["Ulm", "Bonn"])[rng.integers(2, size=n)],
            "state": np.array(["ill", "well"])[codes],
        }
    )
    table.loc[3, "height"] = None
    table.loc[5, "state"] = None
    return table


@cache
def made() -> Report:
    with pytest.warns(MissingValueWarning) as told:
        found = report(people(), "state", **FEW)
    assert [str(one.message) for one in told] == ["1 of 60 rows has no 'state' and is left out."]
    return found


def known() -> tuple[Any, pd.DataFrame]:
    """The labeled rows, and as they stand in the table."""
    with pytest.warns(MissingValueWarning):
        rows = training_rows(people(), "state", (), (), {})
    return rows, people().dropna(subset=["state"])


def cells(text: str) -> list[float]:
    """Numbers of the table, but for the least and the greatest, that a text has."""
    found = []
    for name in ("income", "height"):
        values = sorted(people()[name].dropna())[1:-1]
        found += [x for x in values if repr(x)[:9] in text or f"{x:.6g}" in text]
    return found


def test_no_row_is_in_the_page_the_text_or_the_data(tmp_path: Path) -> None:
    page = made()
    page.save(tmp_path / "report.md")
    html, text = page.to_html(), (tmp_path / "report.md").read_text(encoding="utf-8")
    assert cells(html + text) == []
    assert "It holds no rows of the table." in html
    assert "a form would need those rows themselves" in html


def test_what_there_is_to_read_without_rows() -> None:
    facts = made().facts
    (model,) = facts.models
    assert facts.decide is None
    assert model.facts is not None
    told: dict[Any, Any] = {what: value for what, value in model.facts.rows}  # noqa: C416
    assert (told["distance"], told["neighbors"], told["votes"]) == ("gower", 5, "uniform")
    assert [table.name for table in model.tables] == ["scale", "classes"]
    assert [picture.name for picture in model.pictures] == ["neighbors-regions", "neighbors-loo"]
    regions, curve = model.pictures
    assert "exact=False" in regions.code
    assert "exact ones would tell where single rows lie" in regions.note
    assert "n_neighbors='loo' would choose it" in curve.note
    assert model.errors is not None
    assert model.errors.near is None


def test_with_rows_the_nearest_of_wrong_rows_are_told() -> None:
    rows, table = known()
    wishes: Any = SimpleNamespace(rows=True, categories=(), target="state")
    fitted = NeighborsClassifier().fit(table, "state")
    judged = judge_kept("neighbors", made().facts.comparison, rows, wishes)
    told = with_neighbors(judged.errors, fitted, rows)
    assert told is not None
    assert told.near is not None
    assert told.tables[-1] is told.near
    assert len(cells(str(told))) > 5
    distances, ids = fitted.kneighbors()
    numbers, labels = table.index.to_numpy() + 1, table["state"].to_numpy()
    assert dict.fromkeys(told.near.column("row")) == dict.fromkeys(numbers[list(told.places[:5])])
    for number in dict.fromkeys(told.near.column("row")):
        i = int(np.flatnonzero(numbers == number)[0])
        mine = [row for row in told.near.rows if row[0] == number]
        assert [row[1:4] for row in mine] == [
            (labels[i], numbers[j], labels[j]) for j in ids[i].tolist()
        ]
        assert [row[4] for row in mine] == pytest.approx(distances[i])


def test_with_rows_boundaries_are_exact() -> None:
    X, y = people().drop(columns="state")[:20], np.repeat(["ill", "well"], 10)
    drawn = find("neighbors").draw(NeighborsClassifier().fit(X, y), X, y, rows=True)
    assert drawn is not None
    assert "exact" not in drawn.pictures[0].code + drawn.pictures[0].note


def test_models_without_neighbors_or_errors_stay_as_they_are() -> None:
    rows, _ = known()
    (model,) = made().facts.models
    assert with_neighbors(None, None, rows) is None
    assert with_neighbors(model.errors, object(), rows) is model.errors
