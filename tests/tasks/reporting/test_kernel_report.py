"""A report on a kernel discriminant, whose model holds rows: none is in the page uninvited."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from sortal import KernelDiscriminant, report

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.report import Report

FEW: dict[str, Any] = {"learners": ["kernel"], "baselines": False, "folds": 2, "repeats": 1}


def people(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(4)
    codes = rng.permutation(np.arange(n) % 2)
    return pd.DataFrame(
        {
            "income": 1000 * rng.random(n) + 400 * codes,
            "height": 10 * rng.random(n) + 4 * codes,
            "state": np.array(["ill", "well"])[codes],
        }
    )


@cache
def made(n: int, *, rows: bool = False) -> Report:
    return report(people(n), "state", rows=rows, **FEW)


def numbers_of_rows(n: int) -> list[float]:
    """Cells but for the least and the greatest, projections and coefficients of single rows."""
    table = people(n)
    model = KernelDiscriminant().fit(table, "state")
    cells = [x for name in ("income", "height") for x in sorted(table[name])[1:-1]]
    return [*cells, *model.transform(table)[:, 0], *model.dual_coef_[:, 0]]


def test_no_row_is_in_the_page_the_text_or_the_data(tmp_path: Path) -> None:
    for n in (16, 60):  # of 16 rows a working would have every matrix
        page = made(n)
        page.save(tmp_path / "report.md")
        html, text = page.to_html(), (tmp_path / "report.md").read_text(encoding="utf-8")
        told = html + text
        assert not [
            x for x in numbers_of_rows(n) if repr(float(x))[:9] in told or f"{x:.6g}" in told
        ]
        assert "It holds no rows of the table." in html
        assert "a form would need those rows themselves" in html


def test_what_there_is_to_read() -> None:
    facts = made(60).facts
    (model,) = facts.models
    assert facts.decide is None
    names = [picture.name for picture in model.pictures]
    assert names == ["kernel-along", "kernel-contours", "kernel-regions"]
    assert model.facts is not None
    told: dict[Any, Any] = {what: value for what, value in model.facts.rows}  # noqa: C416
    assert (told["width γ"], told["solver"]) == (0.5, "dense")
    assert told["ridge"] == pytest.approx(2 / 60)
    assert facts.working is not None
    assert "kernel" not in [table.name for table in facts.working]


def test_with_rows_the_matrices_of_few_are_shown() -> None:
    facts = made(16, rows=True).facts
    assert facts.working is not None
    assert "kernel" in [table.name for table in facts.working]
    assert "kernel-projection" in [picture.name for picture in facts.models[0].pictures]
