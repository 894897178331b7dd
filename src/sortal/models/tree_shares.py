"""Shares of the classes in the nodes of a tree, drawn towards others, and what is said for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.models.layout import Layout, Number, Word

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel

    Float = NDArray[np.float64]

SMOOTHINGS = ("laplace", "m_estimate", "shrinkage")

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True)
class Smoothing:
    """What shares are drawn to, one of `SMOOTHINGS`, and how strongly: m or λ; Laplace has none."""

    kind: str
    strength: float = 0.0

    LAYOUT: ClassVar[Layout] = Layout(kind=Word(SMOOTHINGS), strength=Number(least=0.0))


def plain_shares(counts: NDArray[np.number]) -> Float:
    """The share of each class in each row of counts."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def smooth(model: TreeModel, smoothing: Smoothing) -> Float:
    """The shares of all nodes, smoothed."""
    shares, n = model.plain_shares(), model.effective_rows()
    if smoothing.kind == "laplace":
        return laplace(shares, n)
    if smoothing.kind == "m_estimate":
        return m_estimate(shares, n, smoothing.strength)
    return shrink(shares, n, model.parents(), smoothing.strength)


def laplace(shares: Float, n: Float) -> Float:
    """(n s_k + 1) / (n + K), s the plain shares. (S 38)"""
    return np.asarray((n[:, None] * shares + 1) / (n[:, None] + shares.shape[1]))


def m_estimate(shares: Float, n: Float, m: float) -> Float:
    """(n s_k + m p_k) / (n + m), p the shares of the root. (S 39)"""
    return np.asarray((n[:, None] * shares + m * shares[0]) / (n[:, None] + m))


def shrink(shares: Float, n: Float, parents: NDArray[np.integer], strength: float) -> Float:
    """p(t) = p(parent) + (s(t) - s(parent)) / (1 + λ / n(parent)), s the plain shares. (S 40)

    With a(t) = n(t) / (n(t) + λ) this is a(parent) s(t) + Σ (a(above u) - a(u)) s(u) over the nodes
    u above t, where a is 1 above the root: a mean of the shares on the path, and nothing cancels.
    A node counts for no more rows than those above it, whatever its rows weigh.
    """
    keep = _to_root(np.minimum, n / (n + strength), parents)
    above = np.concatenate([[1.0], keep[parents[1:]]])  # the root comes first
    upper = _to_root(np.add, (above - keep)[:, None] * shares, parents)
    upper = np.concatenate([np.zeros_like(shares[:1]), upper[parents[1:]]])
    return np.asarray(upper + above[:, None] * shares)


def _to_root(combine: np.ufunc, values: Float, parents: NDArray[np.integer]) -> Float:
    """Each node's value with all above it; the way of a node doubles until it is at the root."""
    found, ahead = values.copy(), parents.copy()
    while (climbing := np.flatnonzero(ahead >= 0)).size:
        met = ahead[climbing]
        found[climbing] = combine(found[climbing], found[met])
        ahead[climbing] = ahead[met]
    return found


def reweigh(shares: Float, old: Float, new: Float) -> Float:
    """Shares for other priors: Bayes' rule, share_k new_k / old_k up to their sum.

    A node of nothing but classes that cannot be says nothing: there the new priors stand.
    """
    ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0)
    turned = shares * ratio
    total = turned.sum(axis=1, keepdims=True)
    return np.where(total > 0, turned / np.where(total > 0, total, 1.0), new)


def say(amounts: Float, costs: Float | None) -> NDArray[np.intp]:
    """The class of the largest amount, or of least expected cost, in each row; the first of equals.

    Amounts are shares or weights. Those that differ by the rounding of their sums are equal. (S 37)
    """
    slack = (16 + amounts.shape[1]) * _EPS
    if costs is None:
        enough = amounts.max(axis=1, keepdims=True) * (1 - slack)
        return np.asarray((amounts >= enough).argmax(axis=1))
    expected = amounts @ costs
    least = expected.min(axis=1, keepdims=True) * (1 + slack)
    return np.asarray((expected <= least).argmax(axis=1))
