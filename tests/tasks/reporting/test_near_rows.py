"""A report on nearest neighbors, whose model is its rows: none is in the page unless it may be."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from sortal import NeighborsClassifier, report
from sortal.errors import MissingValueWarning
from sortal.tasks.reporting.near_rows import with_neighbors
from sortal.tasks.training import training_rows

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.report import Report

FEW: dict[str, Any] = {
    "learners": ["neighbors"],
    "baselines": False,
    "folds": 2,
    "repeats": 1,
}


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
def made(rows: bool) -> Report:
    with pytest.warns(MissingValueWarning) as told:
        found = report(people(), "state", rows=rows, **FEW)
    assert [str(one.message) for one in told] == ["1 of 60 rows have no 'state' and are left out."]
    return found


def cells(text: str) -> list[float]:
    """Numbers of the table, but for the least and the greatest, that a text has."""
    found = []
    for name in ("income", "height"):
        values = sorted(people()[name].dropna())[1:-1]
        found += [x for x in values if repr(x)[:9] in text or f"{x:.6g}" in text]
    return found


def test_no_row_is_in_the_page_the_text_or_the_data(tmp_path: Path) -> None:
    page = made(rows=False)
    page.save(tmp_path / "report.md")
    for text in (page.to_html(), (tmp_path / "report.md").read_text(encoding="utf-8")):
        assert cells(text) == []
        assert "a form would need those rows themselves" in text


def test_what_there_is_to_read_without_rows() -> None:
    facts = made(rows=False).facts
    (model,) = facts.models
    assert facts.decide is None
    assert "It holds no rows of the table." in made(rows=False).to_html()
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
    assert "cannot decide in a page" not in facts.decide_note


def test_with_rows_the_nearest_of_wrong_rows_are_told() -> None:
    page = made(rows=True)
    (model,) = page.facts.models
    assert model.errors is not None
    table = model.errors.near
    assert table is not None
    assert len(cells(str(model.errors))) > 5
    assert "It holds rows of the table." in page.to_html()
    assert table.title in page.to_html()
    frame = people()
    known = frame.dropna(subset=["state"])
    fitted = NeighborsClassifier().fit(known, "state")
    distances, ids = fitted.kneighbors()
    numbers = known.index.to_numpy() + 1
    for number in dict.fromkeys(table.column("row")):
        mine = [row for row in table.rows if row[0] == number]
        i = int(np.flatnonzero(numbers == number)[0])
        assert [row[2] for row in mine] == numbers[ids[i]].tolist()
        assert [row[3] for row in mine] == frame["state"][numbers[ids[i]] - 1].tolist()
        assert [row[4] for row in mine] == pytest.approx(distances[i])
        assert {row[1] for row in mine} == {frame["state"][int(number or 0) - 1]}
    assert "exact=False" not in model.pictures[0].code


def test_models_without_neighbors_or_errors_stay_as_they_are() -> None:
    rows = training_rows(people().dropna(), "state", (), (), {})
    (model,) = made(rows=False).facts.models
    assert with_neighbors(None, None, rows) is None
    assert with_neighbors(model.errors, object(), rows) is model.errors
