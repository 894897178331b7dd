"""A report without rows holds no text that few rows have."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import sortal
from sortal.errors import SortalWarning
from sortal.estimators.keeping import parts_of
from sortal.tasks.report import Report, report

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("one_process")
QUICK: dict[str, Any] = {"baselines": False, "folds": 2, "repeats": 1, "n_jobs": 1}
N = 200


def hidden(i: int, what: str) -> str:
    return f"zq{what}{i}"


def table() -> pd.DataFrame:
    """Rare text in every way in which it came into a page; all of it begins with zq."""
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], N)
    often = rng.choice(["asked", "paid", "wrote"], N)
    return pd.DataFrame(
        {
            "x": rng.normal(size=N) + (y == "yes"),
            "note": [hidden(i // 2, "n") if i < 100 else often[i] for i in range(N)],
            "mail": [f"{hidden(i % 70, 'm')}@example.org" for i in range(N)],
            "told": [f"{hidden(i % 90, 't')} came on a day" for i in range(N)],
            "age": [hidden(i, "a") if i % 50 == 0 else str(20 + i % 30) for i in range(N)],
            "year": [1900 + i % 3 if i > 2 else 7000 + i for i in range(N)],
            "y": y,
        }
    )


@pytest.fixture(scope="module")
def texts(made: Report) -> dict[str, str]:
    """Everything that a report writes."""
    markdown, _ = made.to_markdown()
    told = json.dumps(made.to_dict(), ensure_ascii=False)
    return {"page": made.to_html(), "markdown": markdown, "dict": told, "text": str(made)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("discretion")
    table().to_csv(folder / "t.csv", index=False)
    return folder


def make(data: Any, *learners: str, **options: Any) -> Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        return report(data, "y", learners=learners, **QUICK | options)


@pytest.fixture(scope="module")
def made(one_process: None, folder: Path) -> Report:
    return make(folder / "t.csv", "tree", "bayes", categories=["year"])


def test_no_rare_text_in_anything_that_is_written(texts: dict[str, str]) -> None:
    for where, text in texts.items():
        assert "zq" not in text, where
        assert "7001" not in text, where
        assert "asked" in text or where == "text", where


def test_what_was_left_out_and_joined_is_said(made: Report, texts: dict[str, str]) -> None:
    said = made.facts.left_out
    assert "free text, and this report holds none: mail and told. Where rows may be shown" in said
    assert "fewer than 5 rows (--min-frequency, min_frequency=) was read as 'other'" in said
    assert (
        "'note' (50 texts in 100 rows), 'age' (4 texts in 4 rows) and 'year' (3 texts in 3 rows)"
    ) in said
    for where in ("page", "markdown", "dict"):
        assert "The labels of classes stay." in texts[where]
    shown = {row[0]: str(row[-1]) for row in made.facts.data.columns.rows}
    assert shown["mail"] == shown["told"] == "not shown"
    assert shown["note"].startswith("other (100)")
    found = {one.column: one for one in made.facts.data.findings}
    assert "but for 4 rows ('…', '…', '…', …)" in found["age"].words
    assert found["age"].remedy == ""  # it would list them
    assert found["mail"].remedy == "--drop mail"


def test_the_code_gives_the_same_models(made: Report, folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        patch.chdir(folder)
        again: dict[str, Any] = {"__name__": "code"}
        exec(made.facts.reproduction.model_code, again)  # noqa: S102  (our own)
        model = made.facts.models[0]
        drawn: dict[str, Any] = {"__name__": "code", "table": sortal.read("t.csv")}
        exec(model.code, drawn)  # noqa: S102
    prints = {parts_of(one["model"]).manifest["data"]["fingerprint"] for one in (again, drawn)}
    assert prints == {made.facts.reproduction.fingerprint}
    assert "sortal.work(join_rare(table, 'y', 5, categories=['year'])" in made.facts.working_note
    how = made.facts.reproduction
    assert "--drop mail --drop told" in how.command
    assert "drop=['mail', 'told']" in how.report_code.replace("\n", "")


@pytest.mark.full
def test_where_it_is_asked_for_text_is_shown(folder: Path) -> None:
    allowed = make(folder / "t.csv", "bayes", rows=True)
    assert allowed.facts.left_out == ""
    page = allowed.to_html()
    assert "It holds rows of the table." in page
    assert [what for what in ("zqn7", "zqm7@", "zqt7 came", "zqa50") if what not in page] == []
    kept = make(folder / "t.csv", "bayes", keep="mail", drop=["told"], min_frequency=3)
    page = kept.to_html()
    assert "zqm7@" in page  # in three rows
    assert "zqm69@" not in page  # in two
    assert "--min-frequency 3 --keep mail" in kept.facts.reproduction.command


@pytest.mark.full
def test_labels_of_classes_stay() -> None:
    labels = ["p"] * 18 + ["q"] * 18 + ["r"] * 4
    made = make(pd.DataFrame({"x": [i % 7 for i in range(40)], "y": labels}), "tree")
    assert made.facts.left_out == ""
    assert made.facts.comparison.settings.classes == ("p", "q", "r")
    assert "join_rare" not in made.facts.reproduction.model_code


@pytest.mark.full
def test_no_rare_text_of_linear_functions(folder: Path) -> None:
    assert "zq" not in make(folder / "t.csv", "lda").to_html()
