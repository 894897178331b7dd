"""Discriminants for a page: linear functions, of rows without missing values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.browser import BrowserModel, pack
from sortal.data.table import LARGEST

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.browser import Ends
    from sortal.data.columns import Design
    from sortal.discriminants.fisher import FisherModel
    from sortal.discriminants.functions import LinearMap, Nearest
    from sortal.discriminants.learn import LinearModel
    from sortal.discriminants.regression import IndicatorModel


LOG_ODDS: Final = {
    "offset": "start",
    "unit": "Log-odds",
    "amount": "what each column adds to the log-odds",
}

_FUNCTIONS: Final = {
    "offset": "start",
    "unit": "Amount",
    "amount": "what each column adds to the difference of the two scores",
    "function": "Score",
    "functions": "The score of each class: the largest decides",
}


def describe_linear(model: LinearModel) -> BrowserModel:
    """Gaussian classes with a common covariance."""
    known = {"prior": pack(model.prior), "anchor": pack(model.gap), "unit": [1.0]}
    spread = np.sqrt(np.diag(model.covariance))
    return _described(model.scores, model.center + model.gap, spread, known, LOG_ODDS)


def describe_fisher(model: FisherModel) -> BrowserModel:
    """Distances along Fisher's directions, as linear functions."""
    prior = None if model.prior is None else pack(model.prior)
    known = {"prior": prior, "anchor": pack(model.gap), "unit": pack([model.unit])}
    words = _FUNCTIONS if prior is None else LOG_ODDS
    variance = np.diagonal(model.scatter.sum(axis=0)) / max(model.weight.sum(), 1e-300)
    means = model.center + model.gap
    return _described(model.scores, means, np.sqrt(variance), known, words)


def describe_indicator(model: IndicatorModel) -> BrowserModel:
    """Regressions on class indicators."""
    anchor = np.broadcast_to(model.mean, model.gap.shape)
    known = {"prior": None, "anchor": pack(anchor), "unit": [1.0]}
    means = model.center + model.gap
    return _described(model.scores, means, None, known, _FUNCTIONS)


def _described(
    scores: LinearMap,
    means: Float,
    spread: Float | None,
    known: dict[str, Any],
    words: dict[str, str],
) -> BrowserModel:
    design = scores.design
    numbers = known | {
        "sizes": list(design.sizes),
        "center": pack(scores.center),
        "weights": pack(scores.weights.T),
        "offsets": pack(scores.offsets),
        "nearest": None if scores.nearest is None else _nearest(scores.nearest),
    }
    return BrowserModel(
        "linear",
        design.schema,
        tuple(range(len(design.sizes))),
        reach(design, means, spread),
        numbers,
        words,
        whole_rows=True,
        largest=LARGEST,
    )


def _nearest(found: Nearest) -> dict[str, Any]:
    near, rest = found.means.near()
    return {"near": pack(near), "rest": pack(rest), "roots": pack(found.root.T)}


def reach(design: Design, means: Float, spread: Float | None) -> tuple[Ends, ...]:
    """Of each number, from the least class mean less two deviations to the greatest and two.

    Where the deviations are not known, nothing is.
    """
    ends: list[Ends] = [None] * len(design.sizes)
    if spread is None:
        return tuple(ends)
    first = np.concatenate([[0], np.cumsum(design.sizes)])[:-1]
    for j in design.numbers:
        i = int(first[j])
        low, high = means[:, i] - 2 * spread[..., i], means[:, i] + 2 * spread[..., i]
        ends[j] = float(low.min()), float(high.max())
    return tuple(ends)
