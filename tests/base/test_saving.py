"""A model file gives back what was saved: bit for bit, and able to do all that it did."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import jsonschema
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from tests.base.saving_cases import CASES, DISCRIMINANTS, EVERY, LABELS, case, mixed, numbers

from sortal import DiscreteBayes, LinearDiscriminant, QuadraticDiscriminant, TreeClassifier
from sortal._typing import Counts
from sortal.base.classifier import TableClassifier
from sortal.base.learner import Learner
from sortal.base.save import DataFile, FitCall, parts_of, restore
from sortal.data.columns import Values
from sortal.decision.options import whole
from sortal.decision.scores import ScoredTerms
from sortal.errors import FormatError, InputError, SortalWarning
from sortal.modelfile.record import limits, of_schema, record
from sortal.summaries.counts import BayesSummary, SummarizeBayes
from sortal.tasks import load as loading
from sortal.tasks.load import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal.data.columns import Schema
    from sortal.data.sources import Batch

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "model_file.schema.json"
VALIDATOR = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


def answers(estimator: Any, X: Any) -> list[Any]:
    """All that an estimator says of rows."""
    asks = ("predict", "predict_proba", "decision_function", "transform", "apply")
    return [getattr(estimator, ask)(X) for ask in asks if hasattr(estimator, ask)]


def same_bits(a: Any, b: Any) -> bool:
    """Whether arrays are of one type and equal to the last bit."""
    if a.dtype.hasobject:
        return bool(a.dtype == b.dtype and a.tolist() == b.tolist())
    return bool(a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes())


# The contract of all learners saves and loads each on a mixed table.
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in EVERY)) for name in CASES]
)
def test_a_model_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    estimator, X = case(name)
    first, second = tmp_path / "a.sortal", tmp_path / "b.sortal"
    estimator.save(first)
    again = load(first)
    again.save(second)
    assert first.read_bytes() == second.read_bytes()
    assert type(again) is type(estimator)
    assert same_bits(again.classes_, estimator.classes_)
    assert [type(c) for c in again.classes_.tolist()] == [
        type(c) for c in estimator.classes_.tolist()
    ]
    assert again.fit_report_ == estimator.fit_report_
    assert again.n_features_in_ == estimator.n_features_in_
    assert hasattr(again, "feature_names_in_") == hasattr(estimator, "feature_names_in_")
    pairs = zip(answers(estimator, X), answers(again, X), strict=True)
    assert all(same_bits(a, b) for a, b in pairs)
    with ZipFile(first) as archive:
        VALIDATOR.validate(json.loads(archive.read("manifest.json")))
    assert again.explain(X[:3]).to_dict() == estimator.explain(X[:3]).to_dict()
    assert getattr(again, "loo_curve_", None) == getattr(estimator, "loo_curve_", None)
    if isinstance(estimator, TreeClassifier):
        assert again.to_text() == estimator.to_text()
        assert repr(again.rules()) == repr(estimator.rules())
        assert repr(again.cost_complexity_path()) == repr(estimator.cost_complexity_path())
        assert getattr(again, "cp_table_", None) == getattr(estimator, "cp_table_", None)
    else:
        assert repr(again.working()) == repr(estimator.working())


@pytest.mark.parametrize("cls", [*DISCRIMINANTS, DiscreteBayes])
def test_a_loaded_model_learns_on_as_the_other_does(cls: type[Any]) -> None:
    X, y = mixed(), LABELS["str"]
    estimator = cls(missing="mean" if cls in DISCRIMINANTS else "skip").fit(X[:60], y[:60])
    again = restore(cls, parts_of(estimator))
    for model in (estimator, again):
        model.partial_fit(X[60:], y[60:], classes=["never", "no"]).forget(X[50:70], y[50:70])
    assert_same_parts(estimator, again)


@pytest.mark.parametrize("cls", [LinearDiscriminant, QuadraticDiscriminant, DiscreteBayes])
def test_rows_are_left_out_as_before(cls: type[Any]) -> None:
    X, y = mixed()[:30], LABELS["str"][:30]
    estimator = cls().fit(X, y)
    again = restore(cls, parts_of(estimator))
    assert same_bits(again.loo_proba(X, y), estimator.loo_proba(X, y))
    if hasattr(estimator, "check_assumptions"):
        assert repr(again.check_assumptions(X, y)) == repr(estimator.check_assumptions(X, y))


def test_a_loaded_tree_is_pruned_and_shows_its_working_as_before() -> None:
    X, y = mixed(), LABELS["str"]
    estimator = TreeClassifier(pruning="cost_complexity", cv=3).fit(X, y)
    again = restore(TreeClassifier, parts_of(estimator))
    assert_same_parts(*(m.prune("pessimistic", confidence=0.3) for m in (estimator, again)))
    assert repr(again.working(0, X, y)) == repr(estimator.working(0, X, y))


def assert_same_parts(a: Any, b: Any) -> None:
    one, two = parts_of(a), parts_of(b)
    assert one.manifest == two.manifest
    assert one.numbers == two.numbers


def test_options_set_since_the_fit_are_kept_beside_those_of_the_fit() -> None:
    estimator, _ = case("set later")
    again = restore(DiscreteBayes, parts_of(estimator))
    assert again.get_params() == estimator.get_params()
    assert vars(again._fitted.options) == vars(estimator._fitted.options)
    assert again.alpha == 2.0
    assert again._fitted.options.alpha == 0.5


@pytest.mark.parametrize("labels", LABELS)
def test_labels_as_keys_keep_their_type(labels: str) -> None:
    y = LABELS[labels]
    weights = dict.fromkeys(set(y.tolist()), 2.0)
    estimator = LinearDiscriminant(class_weight=weights).fit(numbers(), y)
    kept: Any = restore(LinearDiscriminant, parts_of(estimator)).class_weight
    assert [(type(k), k) for k in kept] == [(type(k), k) for k in weights]


def test_arrays_among_options_become_lists() -> None:
    estimator = LinearDiscriminant(priors=np.array([0.5, 0.25, 0.25]), costs=np.array(COST))
    estimator.fit(numbers(), LABELS["int"])
    again = restore(LinearDiscriminant, parts_of(estimator))
    assert (again.priors, again.costs) == ([0.5, 0.25, 0.25], COST)


COST = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]


@pytest.mark.filterwarnings("default::sortal.errors.SortalWarning")
def test_options_that_are_no_data_become_their_defaults() -> None:
    estimator = TreeClassifier(cv=StratifiedKFold(3), progress=print)
    estimator.fit(numbers(), LABELS["int"])
    with pytest.warns(SortalWarning, match="'cv' of this TreeClassifier cannot be kept"):
        parts = parts_of(estimator)
    again = restore(TreeClassifier, parts)
    assert (again.cv, again.progress) == (10, None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parts_of(estimator.set_params(cv=10))  # progress goes without a word


def test_what_is_not_fitted_is_not_saved(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        TreeClassifier().save(tmp_path / "m.sortal")
    waiting = LinearDiscriminant().partial_fit(np.ones((2, 3)), [0, 1])
    with pytest.raises(InputError, match="No column of this table varies"):
        waiting.save(tmp_path / "m.sortal")
    assert list(tmp_path.iterdir()) == []


def test_options_that_a_fit_would_refuse_are_not_saved(tmp_path: Path) -> None:
    estimator = DiscreteBayes().fit(numbers(), LABELS["int"]).set_params(alpha=-1)
    with pytest.raises(FormatError, match="alpha"):
        estimator.save(tmp_path / "m.sortal")


def test_the_call_for_a_fit_is_kept_until_others_come() -> None:
    estimator = DiscreteBayes().fit(numbers(), LABELS["int"])
    assert parts_of(estimator).manifest["data"]["fit"] is None
    file = DataFile("rows.csv", 123, "0" * 64, "csv", "\t", ",", ("-9", "n/a "))
    estimator._fit_call = FitCall("y", ("id", "a b"), "2024-02-29", "0.1.0", file)
    parts = parts_of(estimator)
    assert parts.manifest["data"]["fit"] == {
        "target": "y",
        "dropped": ["id", "a b"],
        "date": "2024-02-29",
        "library": "0.1.0",
        "file": {
            "name": "rows.csv",
            "bytes": 123,
            "sha256": "0" * 64,
            "format": "csv",
            "delimiter": "\t",
            "decimal": ",",
            "na_values": ["-9", "n/a "],
        },
    }
    again = restore(DiscreteBayes, parts)
    assert again._fit_call == estimator._fit_call
    again.partial_fit(numbers()[:3], LABELS["int"][:3])
    assert parts_of(again).manifest["data"]["fit"] is None
    tree = TreeClassifier().fit(numbers(), LABELS["int"])
    tree._fit_call = estimator._fit_call
    assert parts_of(tree.fit(numbers(), LABELS["int"])).manifest["data"]["fit"] is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("more", 1),
        ("delimiter", ";;"),
        ("delimiter", '"'),
        ("decimal", "x"),
        ("na_values", "NA"),
        ("format", 1),
    ],
)
def test_a_file_that_cannot_be_is_refused(name: str, value: Any) -> None:
    estimator = DiscreteBayes().fit(numbers(), LABELS["int"])
    estimator._fit_call = FitCall("y", (), "", "", DataFile("a", 1, "", "csv"))
    parts = parts_of(estimator)
    parts.manifest["data"]["fit"]["file"][name] = value
    with pytest.raises(FormatError):
        restore(DiscreteBayes, parts)


def test_the_same_rows_have_the_same_fingerprint() -> None:
    X, y, turned = mixed(), LABELS["str"], np.arange(len(mixed()))[::-1]
    for cls in (DiscreteBayes, TreeClassifier):
        one = parts_of(cls().fit(X, y)).manifest["data"]
        other = parts_of(cls().fit(X.iloc[turned], y[turned])).manifest["data"]
        fewer = parts_of(cls().fit(X[1:], y[1:])).manifest["data"]
        assert one["rows"] == 90
        assert one["fingerprint"] != fewer["fingerprint"]
        if cls is TreeClassifier:
            assert (one["of"], one) == ("root", other)


# --- A learner from elsewhere --------------------------------------------------------------------


@record()
class ToyModel:
    """The class that most rows have, and how many have each."""

    classes: Values = of_schema()
    counts: Counts = limits("classes", least=0)

    @property
    def size(self) -> int:
        return len(self.counts)

    def check(self) -> None:
        if not self.counts.any():
            raise FormatError("no rows")


@dataclass(eq=False, repr=False)
class ToyOptions:
    """Its parameter."""

    shift: int = whole(0, 0, "How many classes later.")


def say_most(fitted: Any, question: Any) -> Callable[[Batch], ScoredTerms]:
    label = fitted.model.counts.argmax() + fitted.options.shift
    none = np.zeros(len(fitted.schema.columns), dtype=np.int64)
    return lambda batch: ScoredTerms(np.full(batch.n_rows, label), none, none)


def count(summary: BayesSummary, schema: Schema, *_: object) -> ToyModel:
    return ToyModel(schema.classes, summary.classes.units)


# A learner whose file has something beside the model, and no summary.
TOY: Learner[ToyOptions, BayesSummary, ToyModel] = Learner(
    options=ToyOptions,
    kept={"model": ToyModel, "seen": int},
    plan=lambda *_: SummarizeBayes((), (), ()),
    later_plan=lambda *_: SummarizeBayes((), (), ()),
    model=count,
    answer=say_most,
    pack=lambda fitted: {"model": fitted.model, "seen": fitted.report.rows},
    unpack=lambda learner, kept, declared, options: (None, None, kept["model"]),  # noqa: ARG005
)


class ToyClassifier(ToyOptions, TableClassifier[ToyOptions, BayesSummary, ToyModel]):
    """Always says the same."""

    _learner = TOY


def test_a_learner_from_elsewhere_needs_no_more_than_its_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = ToyClassifier(shift=1).fit(mixed(), ["a", "b"] * 30 + ["a"] * 30)
    toy.save(tmp_path / "toy.sortal")
    with pytest.raises(FormatError, match=r"'ToyClassifier'.*TreeClassifier"):
        load(tmp_path / "toy.sortal")
    find: Callable[[str], type[Any]] = {"ToyClassifier": ToyClassifier}.__getitem__
    monkeypatch.setattr(loading, "estimator_named", find)
    again: Any = load(tmp_path / "toy.sortal")
    assert again.predict(mixed()[:2]).tolist() == ["b", "b"]
    assert (parts_of(again).manifest["state"]["seen"], again.shift) == (90, 1)
    assert again._model.counts.tolist() == [60, 30]


def test_a_learner_that_does_not_say_what_its_model_is_is_told_to() -> None:
    class Silent(ToyClassifier):
        pass

    assert parts_of(Silent().fit(mixed(), LABELS["str"])).manifest["estimator"] == "Silent"
    with pytest.raises(TypeError, match=r'kept=\{"model": …\}'):
        replace(TOY, kept={"seen": int})
