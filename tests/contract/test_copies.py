"""Models of every learner that are saved, pickled, cloned, asked or fitted in vain."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.contract.learners import (
    ASKS,
    N,
    Setting,
    answers,
    assert_same,
    every_learner,
    every_setting,
    fitted,
    labels,
    mixed,
    whole,
)

import sortal
from sortal.base.save import parts_of
from sortal.errors import InputError, InputTypeError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def kept(model: Any) -> tuple[Any, ...]:
    """All that a file would hold."""
    parts = parts_of(model)
    return parts.manifest, parts.numbers


@every_setting
def test_copies_of_a_model_say_the_same(setting: Setting, tmp_path: Path) -> None:
    model = fitted(setting)
    model.save(tmp_path / "model.sortal")
    loaded = sortal.load(tmp_path / "model.sortal")
    assert_same(loaded, model, mixed(), most=len(ASKS))
    assert loaded.working().to_dict() == model.working().to_dict()
    assert loaded.explain(mixed()[:2]).to_dict() == model.explain(mixed()[:2]).to_dict()
    pickled = pickle.loads(pickle.dumps(model))  # noqa: S301  (our own bytes)
    for again in (loaded, pickled, copy.deepcopy(model)):
        assert_same(again, model, mixed(), most=1)
        assert kept(again) == kept(model)


@every_learner
def test_a_clone_has_the_options_and_not_the_fit(learner: Setting) -> None:
    fresh = clone(learner.fit(whole(), categorical_features=["visits"], missing="error"))
    assert fresh.get_params() == learner.make().get_params() | {
        "categorical_features": ["visits"],
        "missing": "error",
    }
    for ask in (*ASKS, "explain", "decision_path"):
        if hasattr(fresh, ask):
            with pytest.raises(NotFittedError):
                getattr(fresh, ask)(mixed())
    with pytest.raises(NotFittedError):
        fresh.working()


@every_learner
def test_asking_a_model_changes_nothing_in_it(learner: Setting) -> None:
    model = learner.fit(whole())
    before, written = dict(vars(model)), kept(model)
    answers(model, whole(), len(ASKS))
    model.explain(whole()[:2])
    model.working()
    if hasattr(model, "loo_proba"):
        model.loo_proba(whole(), labels())
    assert vars(model) == before
    assert kept(model) == written


@every_learner
def test_a_second_fit_forgets_the_first(learner: Setting) -> None:
    X, y = np.random.default_rng(0).normal(size=(9, 2)), list("xyz" * 3)
    again = learner.fit(mixed()).fit(X, y)
    assert_same(again, learner.fit(X, y), X, most=len(ASKS))
    assert again.classes_.tolist() == ["x", "y", "z"]
    assert not hasattr(again, "feature_names_in_")


# --- Fits that fail ------------------------------------------------------------------------------

BAD_FITS: Final[dict[str, Callable[[], tuple[Any, ...]]]] = {
    "infinity": lambda: (whole().assign(spend=np.inf), labels()),
    "no category": lambda: (whole().assign(city=pd.Series([[1]] * N)), labels()),
    "no rows": lambda: (whole()[:0], []),
    "missing in y": lambda: (whole(), [None, *labels()[1:]]),
    "weights": lambda: (whole(), labels(), [-1] * N),
    "too few labels": lambda: (whole(), labels()[:2]),
    "no such category": lambda: (whole().drop(columns="visits"), labels()),
}


@every_learner
def test_a_fit_that_fails_leaves_the_old_model_whole_and_makes_no_first(learner: Setting) -> None:
    made = {"categorical_features": ["visits"]}
    model, first = learner.fit(whole(), **made), learner.make(**made)
    before, untouched, wanted = dict(vars(model)), dict(vars(first)), answers(model, whole())
    for why, bad in BAD_FITS.items():
        for one in (model, first):
            with pytest.raises((InputError, InputTypeError, ParameterError)):
                one.fit(*bad())
        assert vars(model) == before, why
        assert vars(first) == untouched, why
    for found, said in zip(answers(model, whole()), wanted, strict=True):
        np.testing.assert_array_equal(found, said)
    with pytest.raises(NotFittedError):
        first.predict(whole())


@every_learner
def test_other_calls_that_fail_leave_the_model_whole(learner: Setting) -> None:
    model = learner.fit(whole())
    before, wanted = dict(vars(model)), answers(model, whole())
    calls = {"partial_fit", "loo_proba", "" if hasattr(model, "ids_") else "forget"}
    for call in calls & set(dir(model)):
        for bad in (whole().assign(spend=np.inf), whole().drop(columns="city")):
            with pytest.raises((InputError, InputTypeError, ParameterError)):
                getattr(model, call)(bad, labels())
        with pytest.raises((InputError, InputTypeError, ParameterError)):
            getattr(model, call)(whole(), [None] * N)
    assert vars(model) == before
    for found, said in zip(answers(model, whole()), wanted, strict=True):
        np.testing.assert_array_equal(found, said)
