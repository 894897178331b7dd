"""Predictions as pictures of them are given: labels beside true labels, or a fitted estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.data.objects import objects_of
from sortal.data.values import union
from sortal.models.judged_codes import read_probabilities
from sortal.views.fitted import attribute
from sortal.views.rows import read_labels, split_labels

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal.data.values import Values


class Judged(NamedTuple):
    """Codes of classes, true and said; probabilities by class where they were asked for."""

    truth: NDArray[np.intp]
    said: NDArray[np.intp]
    classes: Values
    probabilities: NDArray[np.float64] | None = None


def from_labels(truth: Any, said: Any, classes: ArrayLike | None) -> Judged:
    """Labels as codes of the given classes, or of those that occur."""
    n = len(truth)
    if classes is None:
        met, told = (read_labels(labels, n, None)[1] for labels in (truth, said))
        classes = objects_of(union(met, told)[0])
    true, values = read_labels(truth, n, classes)
    return Judged(true, read_labels(said, n, classes)[0], values)


def from_probabilities(truth: Any, probabilities: ArrayLike, classes: ArrayLike | None) -> Judged:
    """Labels as codes, and what is most probable as what is said; of equals the first."""
    shares = np.asarray(probabilities, dtype=np.float64)
    true, values = read_labels(truth, len(truth), classes)
    if shares.ndim == 1 and len(values) == 2:
        shares = np.column_stack([1 - shares, shares])  # of the second class alone
    shares = read_probabilities(shares, len(true), len(values))
    return Judged(true, shares.argmax(axis=1), values, shares)


def from_fitted(estimator: Any, X: Any, y: Any, *, probabilities: bool) -> Judged:
    """What a fitted estimator says of rows."""
    X, y = split_labels(X, y)
    classes = attribute(estimator, "classes_")
    read = from_labels(y, estimator.predict(X), classes)
    if not probabilities:
        return read
    shares = np.asarray(attribute(estimator, "predict_proba")(X), dtype=np.float64)
    return read._replace(probabilities=shares)
