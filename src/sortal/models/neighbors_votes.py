"""Votes: places that neighbors fill, what a vote counts by its distance, and shares by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.neighbors import NeighborsModel
    from sortal.models.neighbors_search import Near

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]

# Weightings that ask how far the row at place k + 1 is.
WITH_HEIGHT = ("triangular", "epanechnikov", "gaussian")


@dataclass(frozen=True, eq=False)
class Voters:
    """Class and units of each row (None where every row is one), and the units of a place."""

    labels: NDArray[np.int32]
    weights: NDArray[np.int64] | None
    n_classes: int
    place: float = 1.0

    @classmethod
    def of(cls, model: NeighborsModel) -> Voters:
        """The rows of a model."""
        return cls(model.labels, model.units, len(model.classes), model.place)

    def weights_of(self, near: Near) -> Float:
        """The units of each neighbor; 0 where there is none."""
        if self.weights is None:
            return (near.positions >= 0).astype(np.float64)
        return np.append(self.weights, 0)[near.positions].astype(np.float64)


@dataclass(frozen=True, eq=False)
class Places:
    """Of the k places, where each neighbor begins, and how many it fills: 0 beyond the last.

    `whole`: none of its weight is left outside.
    """

    before: Float
    part: Float
    whole: Mask


def fill_places(near: Near, voters: Voters, k: int) -> Places:
    """A row of weight w fills w of the places that are left, the last in part. (S 75)

    Sums are those of units, which are exact; a place is divided out at the end.
    """
    w, place = voters.weights_of(near), voters.place
    before = np.zeros_like(w)  # of those before alone: a heavy row's digits would hide theirs
    np.cumsum(w[:, :-1], axis=1, out=before[:, 1:])
    part = np.clip(k * place - before, 0.0, w)
    return Places(before / place, part / place, (part == w) & (w > 0))


def is_filled(near: Near, voters: Voters, k: int, *, beyond: bool) -> Mask:
    """Whether all places are filled, `beyond`: and more than these; or there is nobody else."""
    total = voters.weights_of(near).sum(axis=1)
    enough = total > k * voters.place if beyond else total >= k * voters.place
    return np.asarray(enough | (near.positions[:, -1] < 0))


def votes(near: Near, voters: Voters, k: int, weighting: str) -> Float:
    """What the neighbors of each query say for each class, its factor left aside. (S 77)"""
    if voters.weights is None:
        near = type(near)(near.distances[:, : k + 1], near.positions[:, : k + 1])
        if weighting == "uniform":
            return _tally(near.positions[:, :k], None, voters)
    places = fill_places(near, voters, k)
    said = places.part * kernel(weighting, near.distances, places, k)
    return _tally(near.positions, said, voters)


def _tally(found: NDArray[np.int64], said: Float | None, voters: Voters) -> Float:
    """Sums by class; who is not there speaks for a class beyond the last."""
    q, K = len(found), voters.n_classes
    at = np.append(voters.labels, np.int32(K))[found] + np.arange(0, q * (K + 1), K + 1)[:, None]
    sums = np.bincount(at.ravel(), None if said is None else said.ravel(), minlength=q * (K + 1))
    return sums.reshape(q, K + 1)[:, :K].astype(np.float64, copy=False)


def by_class(said: Float, factors: Float) -> Float:
    """Votes times the factors of the classes, up to a power of two that keeps them finite."""
    top = np.frexp(factors.max(axis=-1, keepdims=True))[1]
    return np.asarray(said * np.ldexp(factors, -top))


def kernel(weighting: str, distances: Float, places: Places, k: int) -> Float:
    """What a vote counts by its distance or its places; 0 where no place is filled. (S 76)"""
    inside = places.part > 0
    if weighting == "uniform":
        return inside.astype(np.float64)
    if weighting == "rank":
        middle = places.before + places.part / 2
        return np.where(inside, k + 0.5 - middle, 0.0)
    d = np.where(inside, distances, 0.0)
    if weighting == "distance":
        return np.where(inside, _inverse(d), 0.0)
    u = d / heights(distances, places)[:, None]
    values = _KERNELS[weighting](u, k) * inside
    silent = ~(values > 0).any(axis=1)  # all lie as far as the first one beyond
    values[silent] = inside[silent]
    return np.asarray(values)


def heights(distances: Float, places: Places) -> Float:
    """h: the distance of the row at place k + 1, or the largest within; 1 for 0.

    A row that is inside in part is at place k + 1 too, as its next copy would be.
    """
    n_whole = places.whole.sum(axis=1)
    padded = np.concatenate([distances, np.full((len(distances), 1), np.inf)], axis=1)
    rows = np.arange(len(distances))
    beyond, last = padded[rows, n_whole], padded[rows, np.maximum(n_whole - 1, 0)]
    h = np.where(np.isfinite(beyond), beyond, last)
    return np.where((h > 0) & np.isfinite(h), h, 1.0)  # where h is 0, all distances are


def _inverse(d: Float) -> Float:
    """Nearest over own distance; where the nearest is at 0, those at 0 alone count."""
    nearest = d[:, :1]
    equal = d == nearest
    return np.where(equal, 1.0, nearest / np.where(d > 0, d, 1.0))


_KERNELS = {
    "triangular": lambda u, k: np.maximum(0.0, 1.0 - u),  # noqa: ARG005
    "epanechnikov": lambda u, k: np.maximum(0.0, 1.0 - u * u),  # noqa: ARG005
    "gaussian": lambda u, k: np.exp(-((ndtri(1.0 - 1.0 / (2.0 * (k + 1))) * u) ** 2) / 2.0),
}
