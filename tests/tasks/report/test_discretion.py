"""A report without rows holds no text that few rows have; rare text is joined, nothing else."""

from __future__ import annotations

import json
import re
import warnings
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import sortal
from sortal.base.save import parts_of
from sortal.errors import SortalWarning
from sortal.tasks.report.gather import join_rare, join_rare_text
from sortal.tasks.report.report import Report, report
from sortal.tasks.show import held, show

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("one_process")
QUICK: dict[str, Any] = {"baselines": False, "folds": 2, "repeats": 1, "n_jobs": 1}
N = 200


def hidden(i: int, what: str) -> str:
    return f"zq-{what}{i}"  # no such sign is in numbers that are packed into letters


def table() -> pd.DataFrame:
    """Rare text in every way in which it came into a page; all of it begins with zq-."""
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
    return make(folder / "t.csv", "tree", "bayes", categorical_features=["year"])


def test_no_rare_text_in_anything_that_is_written(texts: dict[str, str]) -> None:
    for where, text in texts.items():
        assert "zq-" not in text, where
        assert not re.search(r"\b7001\b", text), where
        assert "asked" in text or where == "text", where


def test_what_was_left_out_and_joined_is_said(made: Report, texts: dict[str, str]) -> None:
    said = made.facts.left_out
    assert said.startswith(
        "Not learned from: 'mail' (names people, or is free text), 'told' (names people, or is "
        "free text). To learn from them: --use mail --use told. Text that occurs in "
    )
    assert made.facts.comparison.settings.dropped == ("mail", "told")
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
    assert again["model"]._fit_call.dropped == ("mail", "told")
    prints = {parts_of(one["model"]).manifest["data"]["fingerprint"] for one in (again, drawn)}
    assert prints == {made.facts.reproduction.fingerprint}
    how = made.facts.reproduction
    assert "drop" not in how.command + how.report_code  # they are found again
    assert "drop=['mail', 'told']" in how.model_code.replace("\n", "")
    joined = "table = join_rare(table, 'y', 5, categorical_features=['year'])"
    assert joined in how.model_code
    assert joined in model.code


@pytest.mark.full
def test_where_it_is_asked_for_text_is_shown(folder: Path) -> None:
    allowed = make(folder / "t.csv", "bayes", include_rows=True)
    assert allowed.facts.left_out.startswith("Not learned from: 'mail'")
    assert "was read as" not in allowed.facts.left_out
    page = allowed.to_html()
    assert "It holds rows of the table." in page
    assert [what for what in ("zq-n7", "zq-a50") if what not in page] == []
    assert "zq-t7 came" not in page  # a model does not hold it
    all_of_it = make(folder / "t.csv", "bayes", include_rows=True, use=["mail", "told"])
    assert all_of_it.facts.left_out == ""
    page = all_of_it.to_html()
    assert [what for what in ("zq-n7", "zq-m7@", "zq-t7 came", "zq-a50") if what not in page] == []
    kept = make(folder / "t.csv", "bayes", use="mail", drop=["told"], min_frequency=3)
    page = kept.to_html()
    assert "zq-m7@" in page  # in three rows
    assert "zq-m69@" not in page  # in two
    command = kept.facts.reproduction.command
    assert all(words in command for words in ("--min-frequency 3", "--use mail", "--drop told"))


@pytest.mark.full
def test_groups_stay_apart_and_are_not_shown(folder: Path) -> None:
    """Joining their rare names would make one group of many people."""
    frame = table().assign(who=[hidden(i // 4, "w") for i in range(N)])
    made = make(frame.drop(columns=["mail", "told", "age"]), "bayes", groups="who")
    settings = made.facts.comparison.settings
    assert (settings.folds.by, settings.dropped) == ("groups", ("who",))
    assert "zq-" not in made.to_html()
    shown = {row[0]: str(row[-1]) for row in made.facts.data.columns.rows}
    assert shown["who"] == "not shown"
    code: dict[str, Any] = {
        "__name__": "code",
        "table": frame.drop(columns=["mail", "told", "age"]),
    }
    exec(made.facts.models[0].code, code)  # noqa: S102  (our own)
    assert list(code["X"].columns) == ["x", "note", "year"]


def test_a_column_that_joining_makes_suspicious_is_learned_from_by_the_code_too() -> None:
    """What is rare is of one class only: "other" alone tells the target, and its parts did not."""
    rng = np.random.default_rng(3)
    place = [hidden(i // 2, "p") if i < 40 else f"often{i % 3}" for i in range(120)]
    columns: dict[str, Any] = {"x": rng.normal(size=120), "place": place}
    frame = pd.DataFrame(columns | {"y": ["no"] * 40 + ["yes"] * 80})
    made = make(frame, "tree")
    assert made.facts.comparison.settings.dropped == ()
    assert "use=['place']" in made.facts.reproduction.model_code
    assert "use" not in made.facts.reproduction.report_code
    code: dict[str, Any] = {"__name__": "code", "table": frame}
    exec(made.facts.models[0].code, code)  # noqa: S102  (our own)
    assert list(code["X"].columns) == ["x", "place"]
    assert parts_of(code["model"]).manifest["data"]["fingerprint"] == (
        made.facts.reproduction.fingerprint
    )
    assert "zq-" not in made.to_html()


def test_rare_text_of_a_column_that_is_called_by_a_number() -> None:
    rare = [hidden(i, "n") if i < 30 else "often" for i in range(80)]
    frame = pd.DataFrame({7: rare, "x": np.arange(80) % 9, "y": ["a", "b"] * 40})
    made = make(frame, "tree")
    assert "'7' (30 texts in 30 rows)" in made.facts.left_out
    assert "zq-" not in made.to_html()


@pytest.mark.full
def test_labels_of_classes_stay() -> None:
    labels = ["p"] * 18 + ["q"] * 18 + ["r"] * 4
    made = make(pd.DataFrame({"x": [i % 7 for i in range(40)], "y": labels}), "tree")
    assert made.facts.left_out == ""
    assert made.facts.comparison.settings.classes == ("p", "q", "r")
    assert made.facts.comparison.settings.judged == (True, True, False)
    assert "join_rare" not in made.facts.reproduction.model_code


@pytest.mark.full
def test_no_rare_text_of_linear_functions(folder: Path) -> None:
    assert "zq-" not in make(folder / "t.csv", "lda").to_html()


ROWS = 12


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_text_of_few_rows(library: Any) -> None:
    columns: dict[str, list[Any]] = {
        "a": ["x"] * 6 + ["y"] * 3 + ["z", None, "z"],
        "n": [1, 1, 1, 1, 1, 7, 8, 9, None, None, None, None],
        "code": [1, 1, 1, 1, 1, 7, 8, 9, None, None, None, None],
        "is": [True] * 11 + [False],
        "target": ["u"] * 11 + ["v"],
    }
    table = nw.from_dict(columns, backend=library).to_native()
    made = nw.from_native(join_rare(table, "target", 5, ["code"]), eager_only=True)
    assert made["a"].to_list()[:10] == ["x"] * 6 + ["other"] * 4
    assert made["a"].is_null().to_list() == [False] * 10 + [True, False]
    assert made["code"].to_list()[:8] == ["1"] * 5 + ["other"] * 3
    for name in ("n", "is", "target"):
        assert made[name].is_null().to_list() == [cell is None for cell in columns[name]]
        assert made[name].drop_nulls().to_list() == [c for c in columns[name] if c is not None]
    few = join_rare_text(table, "target", 5, ["code"])
    assert few.texts == {"a": {"y", "z"}, "code": {"7", "8", "9"}}
    assert few.n_rows == {"a": 5, "code": 3}
    assert few.masked("such as 'y', '8' or 'x'") == "such as '…', '…' or 'x'"
    assert join_rare(table, "target", 1) is table


def test_types_that_declare_text() -> None:
    table = pd.DataFrame(
        {
            "some": pd.Categorical(["p"] * ROWS, ["p", "nobody"]),
            "scale": pd.Categorical(["low"] * (ROWS - 1) + ["high"], ["low", "high"], ordered=True),
            5: ["m"] * (ROWS - 1) + [3],
        },
        index=range(7, 7 + ROWS),
    )
    made = join_rare(table, "none", 5)
    assert made["some"].tolist() == ["p"] * ROWS
    assert not isinstance(made["some"].dtype, pd.CategoricalDtype)
    assert made["scale"].equals(table["scale"])
    assert made[5].tolist() == ["m"] * (ROWS - 1) + ["other"]
    assert made.index.equals(table.index)


def table_of_notes() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    notes = [f"note {i}" for i in range(20)] + ["none"] * 20
    return pd.DataFrame({"x": rng.normal(size=40), "note": notes, "y": ["a", "b"] * 20})


FEW = "21 values of 'note' (20 of them in fewer than 5 rows)"


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
@pytest.mark.parametrize(
    ("learner", "options", "said"),
    [
        ("bayes", {}, FEW),
        ("bayes", {"structure": "joint"}, f"{FEW}; 21 combinations of values"),
        ("tree", {}, "21 values of 'note'"),
        ("lda", {}, "21 values of 'note'"),
        ("neighbors", {}, f"{FEW}; 40 rows of the table"),
        ("kernel", {}, "21 values of 'note'; 40 rows of the table"),
    ],
)
def test_a_model_says_what_it_holds(learner: str, options: Any, said: str, tmp_path: Any) -> None:
    from sortal.tasks.fit import fit

    fit(table_of_notes(), "y", learner, options, use=["note"]).save(tmp_path / "model.sortal")
    assert show(tmp_path / "model.sortal").to_dict()["facts"]["holds"] == said


def test_counts_of_weighted_rows_are_no_rows() -> None:
    from sortal import DiscreteBayes, LinearDiscriminant

    table = table_of_notes()
    X, y = table[["x", "note"]], table["y"]
    weighted = DiscreteBayes().fit(X, y, sample_weight=np.full(40, 10.0))
    assert held(weighted) == "21 values of 'note'"
    assert held(LinearDiscriminant().fit(X[["x"]], y)) == "class labels and numbers only"


def test_sentences_do_not_quote_rare_text() -> None:
    long = "x" * 30
    table = pd.DataFrame({"a": ["it's", long, 'say "so"', *["often"] * 9], "y": ["u"] * ROWS})
    few = join_rare_text(table, "y", 5)
    said = f"It isn't {'it' + chr(39) + 's'!r}, {long!r}, {long[:23] + '…'!r} or {'often'!r}."
    assert few.masked(said) == "It isn't '…', '…', '…' or 'often'."
