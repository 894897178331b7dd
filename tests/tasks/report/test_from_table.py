"""A report, from a table to its facts, pages and files."""

from __future__ import annotations

import json
import re
import warnings
from base64 import b64decode
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import sortal
from sortal import datasets
from sortal.errors import SortalWarning
from sortal.tasks import tables
from sortal.tasks.compare.compare import compare
from sortal.tasks.registry import LearnerEntry, LearnerFacts, register, unregister
from sortal.tasks.report.report import Report, report
from sortal.tasks.show import show

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("one_process")
FEW: dict[str, Any] = {"folds": 3, "repeats": 1, "n_jobs": 1}
ASKED: dict[str, Any] = {
    "learners": ["tree", "lda", "fisher"],
    "baselines": ["constant"],
    "drop": ["year"],
    **FEW,
}


@pytest.fixture(scope="module")
def told() -> list[Any]:
    """What a progress callback was told."""
    return []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Penguins in a file, of which some have no species."""
    folder = tmp_path_factory.mktemp("report")
    table = datasets.penguins()
    table.loc[[3, 200], "species"] = None
    table.to_csv(folder / "penguins.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def made(one_process: None, folder: Path, told: list[Any]) -> Report:
    def progress(*words: Any) -> None:
        told.append(words)

    return report(folder / "penguins.csv", "species", progress=progress, **ASKED)


@pytest.fixture(scope="module")
def with_rows(one_process: None) -> Report:
    few: dict[str, Any] = {"learners": "bayes", "baselines": False, **FEW}
    return report(datasets.iris(), "species", include_rows=True, title="Iris", **few)


def execute(code: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "code"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        exec(compile(code, "<code>", "exec"), names)  # noqa: S102  (our own)
    return names


def test_the_facts(made: Report, folder: Path) -> None:
    facts = made.facts
    assert facts.title == "Predicting species from penguins.csv"
    assert facts.chosen == facts.comparison.choice.recommended in ("tree", "lda", "fisher")
    assert facts.models[0].name == facts.chosen
    assert {model.name for model in facts.models} == {"tree", "lda", "fisher"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", facts.date)
    assert facts.data.n_rows == 344
    assert (facts.comparison.settings.rows, facts.comparison.settings.left_out) == (342, 2)
    assert facts.decide is not None
    assert facts.working is not None
    assert facts.rows is False
    assert facts.left_out == "2 of 344 rows have no 'species' and are left out."
    assert facts.answer.which.startswith(f"{facts.comparison.sentence}\n\n")
    assert [picture.name for picture in facts.pictures] == ["comparison-scores"]


def test_models_are_fitted_and_judged(made: Report) -> None:
    for model in made.facts.models:
        assert model.note == ""
        assert model.facts is not None
        assert model.pictures
        assert (model.rules is not None) == (model.name == "tree")
        assert model.tables or model.rules
        assert model.confusion is not None
        assert model.confusion.n == 342
        assert "each by a model that had not seen the row" in model.judged
        assert (model.reliability is None) == (model.name == "fisher")
        assert (model.roc is None) == (model.name == "fisher")
        assert len(model.judged_pictures) == (1 if model.name == "fisher" else 3)
        assert model.errors is not None
        assert model.errors.cells is None


def test_scores_are_those_of_compare(made: Report, folder: Path) -> None:
    again = compare(folder / "penguins.csv", "species", **ASKED)
    assert made.facts.comparison.scores == again.scores
    assert made.facts.comparison.choice == again.choice


def test_the_tree_follows_the_form(made: Report) -> None:
    assert made.facts.decide is not None
    tree = next(model for model in made.facts.models if model.name == "tree")
    part = tree.pictures[0].part
    assert part is not None
    assert part.kind == "tree"
    if made.facts.chosen == "tree":
        assert part.data["model"] == made.facts.decide.data["name"]


def test_progress_counts_up_to_its_end(made: Report, told: list[Any]) -> None:
    done = [call[0] for call in told]
    assert done == sorted(done)
    assert all(call[0] <= call[1] for call in told)
    last = told[-1]
    assert (last[0] + 1, last[2], last[3]) == (last[1], "report", None)
    assert "fit: tree" in [call[2] for call in told]


def test_names_are_their_own_in_a_report(made: Report) -> None:
    models = made.facts.models
    names = [p.name for m in models for p in (*m.pictures, *m.judged_pictures)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in names)


def test_what_is_printed_and_plain(made: Report) -> None:
    assert str(made).startswith("Predicting species from penguins.csv\n\nTake ")
    assert "balanced accuracy ↑" in repr(made)
    assert max(map(len, made.to_text(60).splitlines())) <= 60
    found = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    assert found["answer"]["which"] == made.facts.answer.which
    assert found["models"][0]["name"] == made.facts.chosen
    assert found["reproduction"]["file"].startswith("penguins.csv, ")


def test_the_page_and_the_notebook(
    made: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = made.to_html()
    monkeypatch.setattr(Report, "to_html", lambda _: page)  # once takes its time
    assert page.startswith("<!doctype html>")
    assert len(page.encode()) < 2_000_000
    made.save(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == page
    shown = made._repr_html_()
    found = re.fullmatch(r'<iframe title="[^"]+" style="[^"]+" srcdoc="([^"]*)"></iframe>', shown)
    assert found is not None
    assert unescape(found[1]) == page


@pytest.mark.full
def test_markdown_and_its_pictures(made: Report, tmp_path: Path) -> None:
    made.save(tmp_path / "my report.md")
    text = (tmp_path / "my report.md").read_text(encoding="utf-8")
    files = {one.name for one in (tmp_path / "my report_pictures").iterdir()}
    shown = re.findall(r"!\[.+\]\(my%20report_pictures/([a-z0-9-]+\.png)\)", text)
    assert set(shown) == files
    assert len(shown) == len(files) >= 8
    heads = re.findall(r"^## (.+)$", text, re.M)
    assert heads[:4] == ["Summary", "Try the model", "Data", "Comparison"]
    assert heads[4:] == ["Models", "Calculations", "Reproduce"]
    data = (tmp_path / "my report_pictures" / shown[0]).read_bytes()
    assert data.startswith(b"\x89PNG")


@pytest.mark.full
def test_the_code_makes_the_same_report(
    made: Report, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = made.facts.reproduction
    (tmp_path / "penguins.csv").write_bytes((folder / "penguins.csv").read_bytes())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sortal, "report", report, raising=False)
    monkeypatch.setattr(Report, "to_html", lambda _: "a page")  # elsewhere it is made in full
    assert "n_jobs" not in how.report_code  # it changes no score
    assert how.seed == 0
    again = execute(how.report_code)["report"]
    assert again.facts.comparison.scores == made.facts.comparison.scores
    assert again.facts.reproduction == how
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "a page"
    assert ("sortal", sortal.__version__) in how.versions.rows


def test_the_code_fits_the_same_model(
    made: Report, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    how = made.facts.reproduction
    assert how.command == ""  # of baselines one types all or none
    monkeypatch.chdir(tmp_path)
    (tmp_path / "penguins.csv").write_bytes((folder / "penguins.csv").read_bytes())
    model = execute(how.model_code)["model"]
    facts = made.facts.models[0].facts
    assert facts is not None
    wanted = [row for row in facts.rows if row[0] not in ("file", "read as")]  # unknown of a frame
    again = show(model)
    own = [(f"option {name}", value) for name, value in again.options.rows]
    assert [*again.facts.rows, *own] == wanted
    assert ("option costs", "balanced") in wanted
    assert ("fingerprint", how.fingerprint) in wanted
    assert (tmp_path / "model.sortal").exists()


def test_the_line_of_the_working_runs(made: Report, folder: Path) -> None:
    note = made.facts.working_note
    line = re.search(r"model\.working\(.*?\)(?=;|$)", note)
    assert line is not None
    names = {"table": sortal.read(folder / "penguins.csv")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)
        exec(made.facts.models[0].code, names)  # noqa: S102  (our own)
        whole: Any = eval(line[0], names)  # noqa: S307
    assert made.facts.working is not None
    assert whole.tables[0] == made.facts.working.tables[0]
    assert len(whole) >= len(made.facts.working)


def test_rows_are_there_only_where_they_are_allowed(made: Report, with_rows: Report) -> None:
    assert with_rows.facts.title == "Iris"
    starts = with_rows.facts.decide
    assert starts is not None
    assert "row 1" in starts.html
    errors = with_rows.facts.models[0].errors
    assert errors is not None
    assert errors.cells is not None
    assert made.facts.decide is not None
    assert "typical row of Adelie" in made.facts.decide.html
    assert not re.search(r"row \d", made.facts.decide.html)


def test_one_model_and_a_frame(
    with_rows: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # the code writes a model
    how = with_rows.facts.reproduction
    assert (how.file, how.command) == ("", "")
    assert "# table: the data frame that was reported on" in how.report_code
    assert "Take discrete Bayes" in with_rows.facts.answer.which
    found = execute(f"from sortal import datasets\ntable = datasets.iris()\n{how.model_code}")
    assert type(found["model"]).__name__ == "DiscreteBayes"


def test_a_file_is_read_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Any] = []
    read = tables.read_file

    def count(*given: Any, **named: Any) -> Any:
        reads.append(given)
        return read(*given, **named)

    monkeypatch.setattr(tables, "read_file", count)
    few: dict[str, Any] = {"baselines": False, "folds": 2, "repeats": 1, "n_jobs": 1}
    asked: dict[str, Any] = {"tune": True, "categorical_features": "year", "text": ["year"]}
    found = report(folder / "penguins.csv", "species", learners=["bayes"], **few, **asked)
    assert len(reads) == 1
    how = found.facts.reproduction
    assert "text=['year']" in how.report_code
    assert how.command.startswith("sortal report penguins.csv --target species --learner bayes ")
    assert how.command.endswith(
        "--no-baselines --folds 2 --repeats 1 --tune --categorical year --text year -o report.html"
    )
    assert "Python code under “Reproduce”" in found.facts.answer.new_row  # no command has α
    assert re.search(
        r"Fitted with alpha=\S+, which \d of 2 folds chose", found.facts.models[0].note
    )


def birds() -> pd.DataFrame:
    """Penguins of which few are of one species: balanced accuracy decides, by 1/π."""
    table = datasets.penguins().drop(columns="year").dropna()
    return table[(table["species"] != "Gentoo") | (np.arange(len(table)) % 10 == 0)]


@pytest.fixture(scope="module")
def balanced(one_process: None) -> Report:
    names = ["tree:max_leaf_nodes=4", "tree:max_leaf_nodes=6", "lda"]
    return report(birds(), "species", learners=names, baselines=False, **FEW)


def test_models_of_one_learner_are_told_apart(balanced: Report, tmp_path: Path) -> None:
    models = balanced.facts.models
    assert len({model.id for model in models}) == 3
    names = [p.name for m in models for p in (*m.pictures, *m.judged_pictures)]
    assert len(set(names)) == len(names)
    page = balanced.to_html()
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(set(ids)) == len(ids)
    assert {f"model-{model.id}" for model in models} < set(ids)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
    balanced.save(tmp_path / "r.md")
    files = {one.name for one in (tmp_path / "r_pictures").iterdir()}
    assert all(any(name.startswith(f"{one}-") for name in files) for one in names)


def test_models_decide_as_they_were_compared(balanced: Report) -> None:
    """In the page, in the code and by the command: by 1/π_i in class i."""
    facts = balanced.facts
    assert facts.comparison.settings.metric == "balanced_accuracy"
    table = birds()
    counts = table["species"].value_counts().sort_index()
    wanted = np.where(np.eye(3), 0.0, (len(table) / counts.to_numpy())[:, None])
    assert facts.decide is not None
    told = facts.decide.data["costs"]
    costs = np.frombuffer(b64decode(told["f8"]), dtype="<f8").reshape(told["shape"])
    np.testing.assert_allclose(costs, wanted)
    for model in facts.models:
        assert "'costs': 'balanced'" in model.code
        names: dict[str, Any] = {"table": table}
        exec(model.code, names)  # noqa: S102  (our own)
        assert names["model"].costs == "balanced"
    assert "--cost balanced" in facts.answer.new_row


def test_costs_by_name_are_in_the_page_and_in_the_code(tmp_path: Path) -> None:
    table = birds()
    table.to_csv(tmp_path / "birds.csv", index=False)
    costs = {("Adelie", "Gentoo"): 10.0}
    few: dict[str, Any] = {"learners": ["lda"], "baselines": False, "costs": costs, **FEW}
    facts = report(tmp_path / "birds.csv", "species", **few).facts
    assert facts.comparison.settings.metric == "cost"
    assert facts.decide is not None
    told = facts.decide.data["costs"]
    matrix = np.frombuffer(b64decode(told["f8"]), dtype="<f8").reshape(told["shape"])
    np.testing.assert_array_equal(matrix, [[0, 1, 10], [1, 0, 1], [1, 1, 0]])
    assert "--cost 'Adelie->Gentoo=10'" in facts.reproduction.command
    assert "--cost 'Adelie->Gentoo=10'" in facts.answer.new_row
    assert "{('Adelie', 'Gentoo'): 10.0}" in facts.reproduction.report_code
    names: dict[str, Any] = {"table": table}
    exec(facts.models[0].code, names)  # noqa: S102  (our own)
    assert names["model"].costs == costs
    few["costs"] = matrix
    facts = report(table, "species", **few).facts
    assert "costs=[[0.0, 1.0, 10.0], " in facts.reproduction.report_code.replace("\n    ", "")
    assert "Python code under “Reproduce”" in facts.answer.new_row


def test_an_option_that_there_is_not_is_an_error(folder: Path) -> None:
    with pytest.raises(TypeError, match="There is no option 'keep': there are 'learners', "):
        report(folder / "penguins.csv", "species", keep=["year"])


class Crooked:
    """A learner that cannot be fitted."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        return {"random_state": self.random_state}

    def fit(self, X: Any, y: Any) -> Any:
        raise ValueError("<b>crooked</b>")


class Spoken(list[str]):
    """Rules of one's own: what a record of rules must have, and no table."""

    def to_text(self) -> str:
        return "\n".join(self)

    to_markdown = _repr_html_ = to_text

    def to_dict(self) -> list[str]:
        return list(self)


class Dull(Crooked):
    """One that has no pictures, and whose working wants to be asked otherwise."""

    def working(self, X: Any, y: Any) -> Any:
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


class Chatty(Dull):
    """One with rules of its own."""

    def rules(self) -> Spoken:
        return Spoken(["always say <i>a</i>"])


@pytest.fixture
def strangers() -> Any:
    for cls in (Crooked, Dull, Chatty):
        name = cls.__name__.lower()
        facts = LearnerFacts(probabilistic=False, reads="Read it not.")
        register(LearnerEntry(name, cls, name, facts))
    yield
    for name in ("crooked", "dull", "chatty"):
        unregister(name)


def test_learners_of_ones_own(strangers: Any, tmp_path: Path) -> None:
    table = pd.DataFrame({"x": [1.0, 2.0] * 10, "y": ["a", "b"] * 10})
    names = ["crooked", "dull", "chatty"]
    found = report(table, "y", learners=names, baselines=False, **FEW)
    _, crooked, dull = sorted(found.facts.models, key=lambda model: model.name)
    assert "It finished no fold of the comparison" in crooked.note
    assert "<b>crooked</b>" in crooked.note
    assert (found.facts.decide, found.facts.working, dull.pictures) == (None, None, ())
    assert "no form here for a model of this kind" in found.facts.decide_note
    assert "It could not be shown. TypeError" in dull.note
    assert "Its calculations could not be shown. TypeError" in found.facts.working_note
    page = found.to_html()
    assert "<b>crooked" not in page
    assert "always say &lt;i&gt;a&lt;/i&gt;" in page
    found.save(tmp_path / "r.md")
    text = (tmp_path / "r.md").read_text(encoding="utf-8")
    assert "<b>" not in text.replace("\\<b>", "")
