"""Decisions: log joint probabilities → posterior → label, for every probabilistic model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import InputError, counted

if TYPE_CHECKING:
    from sortal._typing import Float, Places


_TIE = 16 * np.finfo(float).eps


def peak_of(functions: Float) -> Float:
    """The largest function of each row, which is a number, or -inf where nothing can be.

    All that is predicted goes through here, so that NaN never leaves a model.
    """
    peak = across(np.maximum, functions)
    if not (peak < np.inf).all():
        n = int((~(peak < np.inf)).sum())
        raise InputError(
            f"{n} of {counted(len(peak), 'row')} cannot be decided: the scores are beyond what a "
            "float64 holds. The rows are in other units than those of the fit, or the fit had "
            "numbers or weights that are too large or too small, or the model file is damaged: "
            "give rows in the units of the fit, or fit again with columns and weights of ordinary "
            "size."
        )
    return peak


def log_of(probabilities: Float) -> Float:
    """ln p; -inf for what cannot be."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def log_evidence(log_joint: Float) -> Float:
    """ln P(x) = ln Σ_c P(x|c) P(c), row by row; -inf where every class gives zero. (Sch 4-14)"""
    peak, behind = _behind(log_joint)
    with np.errstate(divide="ignore"):  # ln 0 = -inf is meant
        return np.asarray(peak + np.log(across(np.add, np.exp(behind))))


def posterior(log_joint: Float, prior: Float) -> Float:
    """P(c|x) = P(x|c) P(c) / P(x), row by row. (Sch 4-13)

    A row that no class can produce has P(x) = 0 and says nothing: the prior stands.
    """
    _, behind = _behind(log_joint)
    shares = np.exp(behind)
    total = across(np.add, shares)
    impossible = total == 0
    shares /= np.where(impossible, 1.0, total)[:, None]
    if impossible.any():
        shares[impossible] = np.broadcast_to(prior, shares.shape)[impossible]
    return shares


def log_posterior(log_joint: Float, prior: Float) -> Float:
    """ln P(c|x), also where P(c|x) is too small to be written down."""
    _, behind = _behind(log_joint)
    total = across(np.add, np.exp(behind))
    impossible = total == 0
    behind -= np.log(np.where(impossible, 1.0, total))[:, None]
    with np.errstate(divide="ignore"):  # ln 0 = -inf is meant
        behind[impossible] = np.log(np.broadcast_to(prior, behind.shape)[impossible])
    return behind


def n_impossible(log_joint: Float) -> int:
    """How many rows have probability zero in every class."""
    return int(np.isneginf(across(np.maximum, log_joint)).sum())


def leading(functions: Float, unit: float = 1.0) -> Places:
    """The class with the largest function, the first of those that differ by rounding only.

    `unit` is the size that differences between the functions have; of logarithms it is 1, and the
    answer that of `decide` for the posterior.
    """
    peak = peak_of(functions)
    enough = peak - _TIE * np.maximum(unit, abs(peak))
    label = np.zeros(len(peak), dtype=np.intp)
    for k in range(functions.shape[1] - 1, -1, -1):
        np.copyto(label, k, where=functions[:, k] >= enough)
    return label


def _behind(log_joint: Float) -> tuple[Float, Float]:
    """ln of each row's largest product, and how far every product lies behind it, in logarithms."""
    peak = peak_of(log_joint)
    peak[np.isneginf(peak)] = 0.0
    behind = log_joint - peak[:, None]
    # classes that are as probable as the first but for the rounding of their sums are as probable
    behind[behind >= -_TIE * np.maximum(1.0, abs(peak))[:, None]] = 0.0
    return peak, behind


def across(fold: np.ufunc, scores: Float) -> Float:
    """Fold over the classes, column by column: along a short axis NumPy is five times slower."""
    folded = scores[:, 0].copy()
    for k in range(1, scores.shape[1]):
        fold(folded, scores[:, k], out=folded)
    return folded


def shares_of_votes(votes: Float, prior: Float) -> Float:
    """P(c|x) = V_c / Σ V, row by row; where nobody votes, the prior stands. (S 78)

    Classes whose votes differ from the most by rounding only have as many.
    """
    most = peak_of(votes)[:, None]
    even = np.where(votes >= most * (1.0 - _TIE), most, votes)
    total = across(np.add, even)[:, None]
    with np.errstate(invalid="ignore"):
        return np.where(total > 0, even / total, prior)


def decide(probabilities: Float, costs: Float | None) -> Places:
    """The most probable class, or the one of least expected cost; the first of equals.

    costs[i, j] is the cost of saying j when i is true.
    """
    if costs is None:
        return np.asarray(probabilities.argmax(axis=1))
    return np.asarray((probabilities @ costs).argmin(axis=1))


@dataclass(frozen=True, eq=False)
class Decisions:
    """What was decided of rows by functions of them; with costs, these are ln P(c|x)."""

    functions: Float
    labels: Places
    costs: Float | None = None

    @classmethod
    def of(cls, log_joint: Float, prior: Float, costs: Float | None) -> Decisions:
        """By log joint probabilities, as `predict` decides."""
        labels = decide(posterior(log_joint, prior), costs)
        return cls(log_posterior(log_joint, prior), labels, costs)

    def pair(self, i: int) -> tuple[int, int]:
        """The class of row i, and of the others the one with the largest function."""
        label, values = int(self.labels[i]), self.functions[i]
        return label, max((k for k in range(len(values)) if k != label), key=values.__getitem__)

    def with_costs(self, i: int, odds: float, unit: float = 1.0) -> tuple[float | None, float]:
        """What costs add to the log-odds of row i's two classes, and the sum, in units. (S 57)

        The sum is at least 0: the label costs no more than the other class, however probable it is.
        """
        if self.costs is None:
            return None, odds
        (a, b), log_p = self.pair(i), self.functions[i]
        more = self.costs[:, b] - self.costs[:, a]
        up, down = log_of(np.maximum(more, 0.0)), log_of(np.maximum(-more, 0.0))
        gain, loss = _log_sum(up + log_p), _log_sum(down + log_p)
        if gain > loss and np.isfinite(log_p[[a, b]]).all():
            # each by its own class: of two classes the same number for all rows
            added = _log_sum(up + (log_p - log_p[a])) - _log_sum(down + (log_p - log_p[b]))
            return added / unit, odds + added / unit
        total = difference(gain, loss) / unit
        return difference(total, odds), total


def expected_costs(shares: Float, costs: Float | None) -> tuple[float, ...] | None:
    """What predicting each class costs on average in one row; None without costs."""
    return None if costs is None else tuple((shares @ costs).tolist())


def difference(a: float, b: float) -> float:
    """a - b, where two zeros of probability (both -inf) tell nothing apart."""
    return 0.0 if a == b else float(a - b)


def _log_sum(logs: Float) -> float:
    return float(np.logaddexp.reduce(logs))
