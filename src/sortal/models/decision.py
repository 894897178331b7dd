"""Decisions: log joint probabilities → posterior → label, for every probabilistic model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]


def log_evidence(log_joint: Float) -> Float:
    """ln P(x) = ln Σ_c P(x|c) P(c), row by row; -inf where every class gives zero. (Sch 4-14)"""
    peak = log_joint.max(axis=1)
    shift = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):  # ln 0 = -inf is meant
        return np.asarray(shift + np.log(np.exp(log_joint - shift[:, None]).sum(axis=1)))


def posterior(log_joint: Float, prior: Float) -> Float:
    """P(c|x) = P(x|c) P(c) / P(x), row by row. (Sch 4-13)

    A row that no class can produce has P(x) = 0 and says nothing: the prior stands.
    """
    evidence = log_evidence(log_joint)
    possible = np.isfinite(evidence)
    shift = np.where(possible, evidence, 0.0)
    shares = np.exp(log_joint - shift[:, None])
    shares[possible] /= shares[possible].sum(axis=1, keepdims=True)
    shares[~possible] = np.broadcast_to(prior, shares.shape)[~possible]
    return shares


def decide(probabilities: Float, costs: Float | None) -> NDArray[np.intp]:
    """The most probable class, or the one of least expected cost; the first of equals.

    costs[i, j] is the cost of saying j when i is true.
    """
    if costs is None:
        return np.asarray(probabilities.argmax(axis=1))
    return np.asarray((probabilities @ costs).argmin(axis=1))
