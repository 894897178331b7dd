"""Whatever an option is given, a fit works or says in words of ours why it does not."""

import re
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import sortal
from sortal.errors import ParameterError, SortalError
from sortal.tasks.registry import find, learners

X = pd.DataFrame({"x": [0.0, 1.0, 2.0, 4.0, 3.0, 5.0, 7.0, 6.0], "word": [*"pqrpqrpq"]})
Y = np.array([*"aaabbbab"])


class Unequal:
    """Whoever asks whether it equals something gets an error."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")


HOSTILE: tuple[Any, ...] = (
    *(None, True, -1, 2**64, 10**30, 10**400, 10**5000, 0.5, 1e-300, 1e308, float("nan"), 1j),
    *("\ud800", b"x", re.compile("x"), np.arange(3.0), np.arange(0), np.array(1.0), [], [[]]),
    *({"a": 10**400}, Fraction(1, 2), np.longdouble("1e4000"), np.timedelta64(1), pd.NA),
    *(Unequal(), pd.Series([1, 2]), scipy.sparse.eye(3)),
)
# what some options need to be looked at
SETTINGS: dict[str, dict[str, Any]] = {
    "cp": {"pruning": "cost_complexity"},
    "cv": {"pruning": "cost_complexity"},
    "validation_fraction": {"pruning": "reduced_error"},
    "smoothing_strength": {"smoothing": "m_estimate"},
    "degree": {"kernel": "poly"},
    "coef0": {"kernel": "poly"},
    "n_landmarks": {"solver": "landmarks"},
    "p": {"metric": "minkowski"},
}
OPTIONS = [(learner.name, option) for learner in learners() for option in learner.options()]
COMMON = ("priors", "class_weight", "costs", "categorical_features", "missing", "unknown", "n_jobs")


def hostile(learner: str, option: str) -> tuple[Any, ...]:
    """All values; of an option that all learners check alike, another third at each of them."""
    names = [one.name for one in learners()]
    return HOSTILE[names.index(learner) % 3 :: 3] if option in COMMON else HOSTILE


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("learner", "option"), OPTIONS)
def test_a_hostile_option_works_or_is_refused_in_our_words(learner: str, option: str) -> None:
    table = X[["x"]] if option == "p" else X
    values, refused = hostile(learner, option), []
    for value in values:
        estimator = find(learner).make(**SETTINGS.get(option, {}), **{option: value})
        try:
            predicted = estimator.fit(table, Y).predict(table)
        except SortalError as error:
            refused.append(str(error))
        else:
            assert set(predicted) <= set(Y)
    assert len(refused) > len(values) / 3
    assert max(map(len, refused)) < 1000


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (
            sortal.DiscreteBayes(alpha=1e101),
            "alpha=1e+101 cannot be used: give a finite",
        ),
        (
            sortal.KernelDiscriminant(ridge=1e308),
            "ridge=1e+308 cannot be used: give a finite",
        ),
        (find("neighbors").make(scale=np.arange(3.0)), "it can be 'auto', 'range', 'std', No"),
        (sortal.TreeClassifier(pruning="cost_complexity", cv=b"x"), "cv=b'x' cannot be used"),
        (find("tree").make(max_depth="x" * 5000), "x… cannot be used: give a whole number"),
    ],
    ids=["alpha", "ridge", "scale", "cv", "long"],
)
def test_the_message_says_what_is_allowed(estimator: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(words)):
        estimator.fit(X, Y)


@pytest.mark.filterwarnings("ignore")
def test_numbers_beyond_64_bits_that_float64_holds_are_numbers() -> None:
    whole, fraction = (sortal.DiscreteBayes(alpha=alpha).fit(X, Y) for alpha in (2**64, 2.0**64))
    np.testing.assert_array_equal(whole.predict_proba(X), fraction.predict_proba(X))
    tree = sortal.TreeClassifier(min_gain=10**30).fit(X, Y)
    assert tree.get_n_leaves() == 1
