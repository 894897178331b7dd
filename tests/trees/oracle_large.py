"""An oracle of trees of large incomplete tables: cumulative counts of every test of a node.

It goes down a fitted tree and holds at each node the fitted test against the largest score of
all tests, in float64. Where the fitted test leads, the rows follow, so that one pass sees all
nodes. Rows are counted once each; what "fractional" spreads is float64 too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tests.trees.oracle import (
    CUT,
    LEAF,
    MULTIWAY,
    NONE_MET,
    SPREAD,
    SUBSET,
    Guide,
    threshold_between,
)

from sortal import TreeClassifier

if TYPE_CHECKING:
    from collections.abc import Iterator

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]

TOLERANCE: Final = 1e-9

# --- Scores of many partitions at once -----------------------------------------------------------


def clogc(x: Float) -> Float:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1)))


def total(counts: Float) -> Float:
    """The sum of the last axis, which is short: as a product it takes a tenth of the time."""
    m = counts.shape[-1]
    return np.asarray((counts.reshape(-1, m) @ np.ones(m)).reshape(counts.shape[:-1]))


def bits(counts: Float) -> Float:
    """n times the entropy of the last axis."""
    return np.asarray(clogc(total(counts)) - total(clogc(counts)))


def squares(counts: Float) -> Float:
    """n times the Gini index of the last axis."""
    n = total(counts)
    return np.asarray(n - total(counts**2) / np.where(n > 0, n, 1))


def measure(criterion: str, parts: Float) -> Float:
    """n times the measure (bits for the gain ratio) of parts[..., p, k]."""
    whole = parts.sum(axis=-2)
    if criterion == "cart":
        yes, no = parts[..., 0, :], parts[..., 1, :]
        n_yes, n_no = total(yes)[..., None], total(no)[..., None]
        return np.asarray(2 * total(np.abs(yes * n_no - no * n_yes)) / total(whole))
    impurity = squares if criterion == "gini" else bits
    return np.asarray(impurity(whole) - total(impurity(parts)))


@cache
def all_sets(m: int) -> Float:
    """Which of m values each set holds, of all sets but the empty one and that of all."""
    sets = np.arange(1, max(2**m - 1, 1))
    return np.asarray((sets[:, None] >> np.arange(m)) & 1, dtype=np.float64)


@dataclass(frozen=True)
class Offer:
    """The best of a column: n times its measure and n times the split information."""

    attribute: int
    amount: float
    spread: float


# --- Tables --------------------------------------------------------------------------------------


def as_words(codes: NDArray[np.float64]) -> NDArray[np.object_]:
    """Words by code; -1 is a missing value."""
    words = [*(f"v{i:03d}" for i in range(int(codes.max()) + 1)), None]
    return np.array(words, object)[codes.astype(np.int64)]


@dataclass(frozen=True)
class Large:
    """Numbers with NaN, or codes of words with -1, for the missing values."""

    columns: tuple[NDArray[Any], ...]
    kinds: tuple[int, ...]
    classes: Int
    options: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def frame(self) -> Any:
        cells = zip(self.columns, self.kinds, strict=True)
        return pd.DataFrame(
            {f"x{j}": x if kind == CUT else as_words(x) for j, (x, kind) in enumerate(cells)}
        )

    def fit(self, **options: Any) -> Any:
        words = {SUBSET: "subset", MULTIWAY: "multiway"}
        split = {f"x{j}": words[kind] for j, kind in enumerate(self.kinds) if kind != CUT}
        plain = {"pruning": None, "smoothing": None, "categorical_split": split or "subset"}
        model = TreeClassifier(**{**plain, **self.options, **options})
        return model.fit(self.frame, self.classes)


# --- The largest score of a node -----------------------------------------------------------------


@dataclass(frozen=True)
class Tally:
    """One column in one node: class counts of its known values, ascending, and of missing ones."""

    attribute: int
    kind: int
    values: Float
    known: Float
    missing: Float


@dataclass(frozen=True)
class LargeOracle:
    table: Large
    model: Any

    @property
    def criterion(self) -> str:
        return str(self.table.options.get("criterion", "gain"))

    @property
    def policy(self) -> str:
        return str(self.table.options["missing"])

    @property
    def least(self) -> float:
        return float(self.table.options.get("min_samples_leaf", 1))

    @cached_property
    def n_classes(self) -> int:
        return int(self.table.classes.max()) + 1

    @cached_property
    def ranks(self) -> list[tuple[NDArray[Any], Int]]:
        """Of every column its values, ascending, and the rank of each row's; -1 is missing."""
        found = []
        for x, kind in zip(self.table.columns, self.table.kinds, strict=True):
            is_missing = np.isnan(x) if kind == CUT else x < 0
            values, places = np.unique(x[~is_missing], return_inverse=True)
            ranks = np.full(len(x), -1)
            ranks[~is_missing] = places
            found.append((values.astype(np.float64), ranks))
        return found

    def counts(self, rows: Int, weights: Float) -> Float:
        found = np.bincount(self.table.classes[rows], weights, self.n_classes)
        return np.asarray(found)

    def tally(self, j: int, rows: Int, weights: Float) -> Tally:
        values, ranks = self.ranks[j]
        K, places = self.n_classes, ranks[rows]
        is_missing = places < 0
        places = places[~is_missing]
        cells = places * K + self.table.classes[rows[~is_missing]]
        known = np.asarray(
            np.bincount(cells, weights[~is_missing], len(values) * K), dtype=np.float64
        )
        met = np.bincount(places, minlength=len(values)) > 0
        missing = self.counts(rows[is_missing], weights[is_missing])
        return Tally(j, self.table.kinds[j], values[met], known.reshape(-1, K)[met], missing)

    def yes_sides(self, tally: Tally, tables: Float) -> Float:
        """The class counts of the yes side of every cut or subset."""
        if tally.kind == CUT:
            return np.asarray(tables.cumsum(axis=0)[:-1])
        if len(tables) > 12:  # two classes: the best set is a beginning of the order by share
            assert self.n_classes == 2
            order = np.argsort(tables[:, 0] / tables.sum(axis=1), kind="stable")
            return np.asarray(tables[order].cumsum(axis=0)[:-1])
        return np.asarray(all_sets(len(tables)) @ tables)

    def partitions(self, tally: Tally) -> Iterator[tuple[Float, Float, Float]]:
        """Of every test: parts that limits hold for, that are scored, and that have sizes."""
        known, missing = tally.known.sum(axis=0), tally.missing
        has_missing = bool(missing.sum() > 0)
        if tally.kind == MULTIWAY:
            yield from self.multiway(tally)
        elif self.policy == "direction":
            yes = self.yes_sides(tally, tally.known)
            if has_missing and tally.kind == CUT:
                yes = np.concatenate([yes, yes + missing, [known]])
            elif has_missing:
                yes = self.yes_sides(tally, np.concatenate([tally.known, [missing]]))
            parts = np.stack([yes, known + missing - yes], axis=1)
            yield parts, parts, parts
        else:
            yes = self.yes_sides(tally, tally.known)
            parts = np.stack([yes, known - yes], axis=1)
            beside = np.concatenate(
                [parts, np.broadcast_to(missing, (len(parts), 1, len(missing)))], 1
            )
            yield parts, beside if self.policy == "branch" else parts, beside

    def multiway(self, tally: Tally) -> Iterator[tuple[Float, Float, Float]]:
        parts, m = tally.known[None], len(tally.known)
        has_missing = bool(tally.missing.sum() > 0)
        beside = np.concatenate([tally.known, [tally.missing]])[None]
        if self.policy == "direction" and has_missing:
            joined = tally.known + np.eye(m)[:, :, None] * tally.missing
            yield joined, joined, joined
        elif self.policy == "branch" and has_missing:
            yield beside, beside, beside
        else:
            yield parts, parts, beside

    def offer(self, tally: Tally) -> Offer | None:
        """The first test of the largest measure that is allowed and above zero."""
        best: Offer | None = None
        for limited, scored, sized in self.partitions(tally):
            if not len(limited) or limited.shape[1] < 2:
                continue
            large = (total(limited) >= self.least).sum(axis=1) >= 2
            tells = measure(self.criterion, limited) > TOLERANCE
            amount = np.where(large & tells, measure(self.criterion, scored), -np.inf)
            first = int(amount.argmax())
            if amount[first] > 0:
                spread = float(bits(sized[first].sum(axis=-1)))
                best = Offer(tally.attribute, float(amount[first]), spread)
        if best is None and self.policy == "branch" and tally.kind != MULTIWAY:
            best = self.known_or_missing(tally)
        return best

    def known_or_missing(self, tally: Tally) -> Offer | None:
        parts = np.stack([tally.known.sum(axis=0), tally.missing])
        amount = float(measure(self.criterion, parts))
        if (parts.sum(axis=-1) < self.least).any() or amount <= TOLERANCE:
            return None
        return Offer(tally.attribute, amount, float(bits(parts.sum(axis=-1))))

    def best_score(self, offers: list[Offer], n: float) -> tuple[float, set[int]]:
        """The largest score, and the columns that have it."""
        if self.criterion == "gain_ratio":
            average = sum(o.amount for o in offers) / len(offers)
            scores = {o.attribute: o.amount / o.spread
                      for o in offers if o.amount >= average}  # fmt: skip
        else:
            scores = {o.attribute: o.amount / n for o in offers}
        best = max(scores.values())
        return best, {j for j, score in scores.items() if score > best - TOLERANCE}

    # --- Down the fitted tree --------------------------------------------------------------------

    def check(self) -> int:
        """Every node of the fitted tree; gives the number of tests."""
        n = len(self.table.classes)
        tested = 0
        shares = np.zeros((n, self.n_classes))
        waiting = [(0, np.arange(n), np.ones(n), 0)]
        while waiting:
            t, rows, weights, depth = waiting.pop()
            tree = self.model._model
            counts = self.counts(rows, weights)
            held = np.ldexp(tree.units[t].astype(np.float64), -tree.exponent)
            slack = 1e-6 if self.policy == "fractional" else 0
            np.testing.assert_allclose(held, counts, rtol=0, atol=slack)
            tallies = [self.tally(j, rows, weights) for j in range(len(self.table.kinds))]
            if tree.kind[t] == LEAF:
                self.check_leaf(counts, tallies, depth)
                np.add.at(shares, rows, weights[:, None] * (counts / counts.sum()))
                continue
            tested += 1
            self.check_test(t, counts, tallies)
            parts = self.parted(t, rows, weights)
            below = Guide(tree, t).children
            assert len(below) == len(parts)
            waiting += [(s, *part, depth + 1) for s, part in zip(below, parts, strict=True)]
        found = self.model.predict_proba(self.table.frame)
        np.testing.assert_allclose(found, shares, rtol=0, atol=1e-9)
        return tested

    def offers(self, tallies: list[Tally]) -> list[Offer]:
        return [offer for offer in map(self.offer, tallies) if offer is not None]

    def check_leaf(self, counts: Float, tallies: list[Tally], depth: int) -> None:
        if depth == self.table.options.get("max_depth") or counts.max() == counts.sum():
            return
        if counts.sum() > self.table.options.get("leaf_size", 1):
            assert self.offers(tallies) == []

    def check_test(self, t: int, counts: Float, tallies: list[Tally]) -> None:
        """The fitted test has the score it claims, and no other has more."""
        tree, n = self.model._model, float(counts.sum())
        best, columns = self.best_score(self.offers(tallies), n)
        j = int(tree.attribute[t])
        assert abs(tree.score[t] - best) <= TOLERANCE, f"node {t}: {tree.score[t]}, not {best}"
        assert j in columns, f"node {t} asks column {j}, not one of {columns}"
        amount, spread = self.claimed(t, tallies[j])
        assert abs(tree.gain[t] - amount / n) <= TOLERANCE
        score = amount / (spread if self.criterion == "gain_ratio" else n)
        assert abs(tree.score[t] - score) <= TOLERANCE

    def claimed(self, t: int, tally: Tally) -> tuple[float, float]:
        """The measure and the split information of the fitted test, each times n."""
        branches, missing = self.branches(t, tally), int(self.model._model.missing[t])
        n_branches = len(Guide(self.model._model, t).children)
        has_missing = bool(tally.missing.sum() > 0)
        parts = np.zeros((n_branches, self.n_classes))
        np.add.at(parts, branches, tally.known)
        beside = np.concatenate([parts, [tally.missing]])
        assert (missing >= 0) == (has_missing and self.policy != "fractional")
        assert (missing == SPREAD) == (self.policy == "fractional")
        if self.policy in {"majority", "fractional"}:
            if missing >= 0:
                assert missing == parts.sum(axis=1).argmax()
            return float(measure(self.criterion, parts)), float(bits(beside.sum(axis=1)))
        if self.policy == "branch" and has_missing:
            assert missing == n_branches - 1
            assert (branches < missing).all()
        if has_missing:
            parts[missing] += tally.missing
        return float(measure(self.criterion, parts)), float(bits(parts.sum(axis=1)))

    def branches(self, t: int, tally: Tally) -> Int:
        """The branch of each known value; thresholds lie where the rule has them."""
        tree = self.model._model
        assert tree.kind[t] == tally.kind
        if tally.kind != CUT:
            listed = Guide(tree, t).values
            assert list(listed) == tally.values.tolist()
            return np.array([listed[int(value)] for value in tally.values], dtype=np.int64)
        v, below = float(tree.threshold[t]), tally.values <= tree.threshold[t]
        if not math.isinf(v):
            place = int(below.sum())
            assert v == threshold_between(*tally.values[place - 1 : place + 1].tolist())
        return np.where(below, 0, 1)

    def parted(self, t: int, rows: Int, weights: Float) -> list[tuple[Int, Float]]:
        tree = self.model._model
        j, missing = int(tree.attribute[t]), int(tree.missing[t])
        x, guide = self.table.columns[j][rows], Guide(tree, t)
        if tree.kind[t] == CUT:
            branch = np.where(x <= tree.threshold[t], 0, 1)
            is_missing = np.isnan(x)
        else:
            places = np.full(int(x.max()) + 1, NONE_MET)
            places[list(guide.values)] = list(guide.values.values())
            branch, is_missing = places[x], x < 0
        known = [~is_missing & (branch == b) for b in range(len(guide.children))]
        share = np.array([weights[side].sum() for side in known])
        share /= share.sum()
        found = []
        for b, side in enumerate(known):
            part = 1.0 if missing == b else share[b] if missing == SPREAD else 0.0
            scaled = np.where(side, weights, np.where(is_missing, weights * part, 0.0))
            taken = scaled > 0
            found.append((rows[taken], scaled[taken]))
        return found
