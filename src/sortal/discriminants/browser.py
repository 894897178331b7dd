"""Discriminants for a page: linear functions (LDA, Fisher, indicators) and quadratic ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.browser import BrowserModel, pack, pack_lower
from sortal.data.table import LARGEST
from sortal.discriminants.gaussian import GaussianClasses

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.browser import Ends
    from sortal.data.columns import Design
    from sortal.discriminants.fisher import FisherModel
    from sortal.discriminants.functions import ConditionalMean, LinearMap, Nearest
    from sortal.discriminants.learn import LinearModel, QuadraticModel
    from sortal.discriminants.regression import IndicatorModel


_MISSING: Final = "missing: the other columns speak for it"

LOG_ODDS: Final = {
    "offset": "start",
    "hole": _MISSING,
    "unit": "Log-odds",
    "amount": "what each column adds to the log-odds",
}

_FUNCTIONS: Final = {
    "offset": "start",
    "hole": _MISSING,
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
        _missing(scores.missing),
        largest=LARGEST,
    )


def _nearest(found: Nearest) -> dict[str, Any]:
    near, rest = found.means.near()
    return {
        "near": pack(near),
        "rest": pack(rest),
        "gap": pack(found.means.gap),
        "roots": pack(found.root.T),
    }


def _missing(rule: GaussianClasses | ConditionalMean) -> dict[str, Any]:
    """What the rule for missing values needs beyond the functions themselves."""
    if isinstance(rule, GaussianClasses):
        return {
            "rule": "gaussian",
            "weight": pack(rule.weight),
            "gap": pack(rule.gap),
            "mean": pack(rule.mean),
            "within": pack_lower(rule.within, mirror=True),
            "divisor": rule.divisor,
            "magnitude": pack(rule.magnitude),
        }
    return {
        "rule": "conditional",
        "total": pack_lower(rule.total, mirror=True),
        "mean": pack(rule.mean),
        "magnitude": pack(rule.magnitude),
    }


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


# --- Quadratic functions for a page --------------------------------------------------------------


def describe_quadratic(model: QuadraticModel) -> BrowserModel:
    """Gaussian classes, each with its own covariance."""
    scores, design = model.scores, model.scores.design
    spread = np.sqrt(np.maximum(np.diagonal(model.covariances, axis1=1, axis2=2), 0.0))
    near, rest = scores.means.near()
    numbers = {
        "prior": pack(model.prior),
        "unit": [1.0],
        "sizes": list(design.sizes),
        "near": pack(near),
        "rest": pack(rest),
        "whole": {
            "roots": pack_lower(_triangles(scores.whole.roots), mirror=False),
            "logDets": pack(scores.whole.log_dets),
        },
    }
    into = scores.missing.into.T[None]
    missing = {
        "into": pack_lower(_triangles(into)[0], mirror=False),
        "sigmas": pack_lower(scores.missing.sigmas, mirror=True),
        "present": scores.missing.present.astype(int).tolist(),
    }
    ends = reach(design, model.center + model.gap, spread)
    columns = tuple(range(len(design.sizes)))
    return BrowserModel(
        "quadratic",
        design.schema,
        columns,
        ends,
        numbers,
        LOG_ODDS,
        missing,
        spared=("whole",),
        largest=LARGEST,
    )


def _triangles(roots: Float) -> Float:
    """Roots turned until they are triangles: half the numbers for the same lengths."""
    turned = np.asarray(np.linalg.qr(roots.transpose(0, 2, 1), mode="r"))  # a class: rank × terms
    return turned.transpose(0, 2, 1)
