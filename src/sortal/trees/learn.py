"""Growing a tree: its options, rows in the form that the core grows from, and the model grown."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import numpy as np

from sortal import native
from sortal.data.columns import brief_moments, column_ranges
from sortal.decision.options import (
    categorical_features,
    choose,
    class_weight,
    costs,
    is_whole,
    n_jobs,
    non_negative,
    number,
    one_of,
    option,
    priors,
    progress,
    proportion,
    random_state,
    share,
    whole,
)
from sortal.errors import ParameterError, WeightError, brief
from sortal.native import trees
from sortal.trees.model import Smoothing, TreeModel, code_counts
from sortal.trees.rows import ASKED_AS, end_nodes, part_bits, read_weights, scale_rows, unscale
from sortal.trees.split_scores import CRITERIA_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import (
        CategoricalFeatures,
        ClassWeight,
        Codes,
        CostsLike,
        Float,
        Places,
        PriorsLike,
    )
    from sortal.data.columns import Schema
    from sortal.trees.rows import EncodedTreeRows, TreeRows


# --- What is given as an option ------------------------------------------------------------------

Criterion = Literal["gain", "gain_ratio", "gini", "cart"]
Pruning = Literal["cost_complexity", "reduced_error", "pessimistic"]
SmoothingKind = Literal["laplace", "m_estimate", "shrinkage"]
Policy = Literal["direction", "branch", "majority", "fractional", "error"]
UnknownPolicy = Literal["majority", "error"]
CategoricalSplit: TypeAlias = str | Mapping[str, str]


class Splitter(Protocol):
    """Folds as scikit-learn deals them."""

    def split(self, X: Float, y: Codes) -> Iterable[tuple[Places, Places]]:
        """Pairs of rows to grow from and rows to be left out."""

    def get_n_splits(self) -> int:
        """How many."""


Folds: TypeAlias = "int | Splitter | Iterable[object]"


def _read_min_samples(name: str, given: float) -> float:
    if not (is_whole(given) and given >= 1) and not (_is_share(given) and 0 < given < 1):
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a whole number of at least 1, or a share "
            "of the rows between 0 and 1."
        )
    return given


def _is_share(given: object) -> bool:
    return isinstance(given, float | np.floating)


def _read_min_weight(name: str, given: float) -> float:
    if share(name, given) > 0.5:
        raise ParameterError(
            f"{name}={given!r} leaves no test, which has two sides at least: give a number from 0 "
            "to 0.5."
        )
    return float(given)


def _read_split(name: str, given: CategoricalSplit) -> CategoricalSplit:
    words = given.values() if isinstance(given, Mapping) else [given]
    for word in words:
        if not isinstance(word, str) or word not in ASKED_AS:
            raise ParameterError(
                f"{name}={brief(given)} cannot be used: it can be 'subset', 'multiway', or a dict "
                "that gives one of these words by the name of a column."
            )
    return given


def _read_cp(name: str, given: str | float) -> str | float:
    if isinstance(given, str):
        return choose(name, given, ("one_se", "min"))
    return non_negative(name, given)


def _read_fraction(name: str, given: float) -> float:
    if not 0 < share(name, given) < 1:
        raise ParameterError(
            f"{name}={given!r} cannot be used: give a share of the rows between 0 and 1."
        )
    return float(given)


def _read_confidence(name: str, given: str | float) -> str | float:
    if isinstance(given, str):
        return choose(name, given, ("auto",))
    if share(name, given) == 0:
        raise ParameterError(f"{name}=0 prunes nothing or all: give a number above 0, up to 1.")
    return float(given)


def _or_none(read: Callable[[str, Any], object]) -> Callable[[str, object], object]:
    return lambda name, given: None if given is None else read(name, given)


def _word_or_none(words: object, default: str, text: str) -> Any:
    named = get_args(words)
    kind = "{" + ", ".join(f'"{word}"' for word in named) + "} or None"
    return option(default, kind, text, _or_none(partial(choose, allowed=named)))


def _flag(text: str) -> Any:
    def read(name: str, given: object) -> bool:
        if not isinstance(given, bool):
            raise ParameterError(f"{name}={brief(given)} cannot be used: it can be True or False.")
        return given

    return option(default=False, kind="bool", text=text, read=read)


@dataclass(eq=False, repr=False)
class TreeOptions:
    """The parameters of a tree."""

    criterion: Criterion = one_of(
        Criterion,
        "gain",
        """What the best test has most of: information gain in bits; the gain ratio of C4.5 (of the
        tests with at least the mean gain, the largest gain by split information); the decrease of
        the Gini index; or the CART measure, 2 n_Y/n n_N/n Σ_k abs(P(k|Y) - P(k|N)).""",
    )
    _: KW_ONLY
    purity: float = proportion(1.0, "A node whose largest class has at least this share is a leaf.")
    leaf_size: int = whole(
        1,
        0,
        """A node of at most this size is a leaf. Sizes count rows, or copies of rows where weights
        are whole numbers.""",
    )
    max_depth: int | None = whole(
        None,
        0,
        """The most tests from the root to a leaf; 0 makes the root a leaf, None sets no bound.""",
        none="no bound",
    )
    min_samples_leaf: float = option(
        1,
        "int of at least 1, or float between 0 and 1",
        """The least size of each side of a test (of two branches at least, where there is one per
        value); a float is a share of the rows, rounded up.""",
        _read_min_samples,
    )
    min_weight_fraction_leaf: float = option(
        0.0,
        "float from 0 to 0.5",
        "The same for the weight, as a share of the weight of all rows.",
        _read_min_weight,
    )
    min_gain: float = number(
        0.0, "A node whose best test scores less, in the criterion's own scale, is a leaf."
    )
    max_leaf_nodes: int | None = whole(
        None,
        1,
        """Grow the node with the largest weight times score first, until there are so many
        leaves.""",
        none="no bound",
    )
    categorical_split: CategoricalSplit = option(
        "subset",
        '{"subset", "multiway"} or dict',
        """How categories are asked: x in V, or one branch per value. A dict gives one of these
        words by the name of a column, "subset" standing for the columns it does not name. An
        ordered category (of pandas, or an Enum of polars) is cut like a number, unless a dict names
        it. "multiway" and "cart" exclude each other.""",
        _read_split,
    )
    max_subset: int | None = whole(
        None,
        1,
        """The most values in V, which is written as the side that holds fewer of a node's
        values.""",
        none="no bound",
    )
    pruning: Pruning | None = _word_or_none(
        Pruning,
        "pessimistic",
        """Take tests out again after growing: by C4.5's estimates of errors; by Breiman's cost
        complexity as rpart does; or where rows held out are told no worse without them. None keeps
        the tree as grown, which is the textbook's.""",
    )
    cp: str | float = option(
        "one_se",
        '{"one_se", "min"} or float of at least 0',
        """Of "cost_complexity": the price of a leaf as a share of the root's risk (rpart's cp), or
        how cross-validation chooses it: the smallest tree within one standard error of the least
        error, or the one with the least error.""",
        _read_cp,
    )
    cv: Folds = option(
        10,
        "int, array of shape (n_samples,), splitter or iterable",
        """The folds of that: how many (dealt out within each class), a fold number for each row, or
        as in scikit-learn, where each row is to be left out once.""",
    )
    validation_fraction: float = option(
        0.2,
        "float between 0 and 1",
        """Of "reduced_error": the share of each class that is held out. The tree grows from the
        rest.""",
        _read_fraction,
    )
    confidence: str | float = option(
        "auto",
        '"auto", or float above 0 and at most 1',
        """Of "pessimistic": the level of the upper bound of each node's error rate; the smaller,
        the more is pruned. C4.5 has 0.25. "auto" falls with the number n of rows, (15/n)² from 0.5
        at 21 rows to 0.001 at 474: a dozen rows keep the textbook's tree, and larger tables have
        trees that are smaller and more often right. `fit_report_` says the level. Whole-number
        weights count as so many rows; otherwise n is the effective number of rows,
        (Σ w)² / Σ w².""",
        _read_confidence,
    )
    join_leaves: bool = _flag(
        "Where all branches of a test end in leaves of one class, make it a leaf."
    )
    progress: Callable[[int, int], object] | None = progress(
        """Called after each fold of the cross-validation with how many are done and how many there
        are. What it raises ends the fit.""",
    )
    random_state: int | np.random.RandomState | None = random_state(
        "Which rows are dealt into which fold, or held out."
    )
    priors: PriorsLike = priors(
        """The rows of each class count for so much of the whole, in tests and in shares. By default
        the share of each class.""",
    )
    class_weight: ClassWeight = class_weight(
        """Equal priors do the same as "balanced". Sizes count rows in any case. Not together with
        `priors`.""",
    )
    costs: CostsLike = costs(
        """A node says the class of least expected cost, too, and in the choice of tests a row
        counts times Σ_j costs[i, j]. Where all errors cost the same, nothing changes.""",
    )
    smoothing: SmoothingKind | None = _word_or_none(
        SmoothingKind,
        "shrinkage",
        """How class probabilities follow from the proportions in nodes; predictions follow them,
        while counts, purity and error are printed as they are. With n the size of a node and n_k
        the part of class k of K in it: "shrinkage", from the root down, p(parent) + (n_k/n -
        n_k(parent)/n(parent)) / (1 + λ / n(parent)); "laplace", (n_k + 1) / (n + K);
        "m_estimate", (n_k + m p_k) / (n + m), p the proportions at the root; None, n_k/n. Only
        the last lets a class that has rows have probability 0.""",
    )
    smoothing_strength: float | None = option(
        None,
        "float of at least 0",
        """λ, by default 5: a node of five rows hands down half of what its split tells; or m, by
        default the number of classes, which is Laplace's rule where these are equally frequent.""",
        _or_none(non_negative),
    )
    categorical_features: CategoricalFeatures = categorical_features()
    missing: Policy = one_of(
        Policy,
        "direction",
        """What a missing value does at a node that asks its column. "direction": it takes the side
        that makes the better test, which may be a side of missing values alone. "branch": missing
        values have a branch of their own. "fractional": a row goes down every branch, weighted by
        the branches' known rows, and a test is scored by its known rows and their share (C4.5).
        "majority": scored the same way, missing values go with the heavier branch. "error": a
        missing value is an error that names its column, at fit and at predict. Where the fit met
        none at a node, a missing value takes the branch of larger weight (a node with one branch
        per value keeps the row), unless it is "fractional".""",
    )
    unknown: UnknownPolicy = one_of(
        UnknownPolicy,
        "majority",
        """A value at predict that no row had at fit takes the branch of larger weight (a node with
        one branch per value keeps the row), and is warned of with its number; or it is an error.
        A value that was fitted but is absent from the rows of a node goes the same way there,
        without a warning.""",
    )
    n_jobs: int | None = n_jobs()


def check_together(options: TreeOptions) -> None:
    """Refuse options that contradict each other."""
    split = options.categorical_split
    words = split.values() if isinstance(split, Mapping) else [split]
    two_sided = CRITERIA_BY_NAME[options.criterion].two_sided
    if two_sided and "multiway" in words:
        raise ParameterError(
            f"criterion={options.criterion!r} compares two sides, and categorical_split={split!r} "
            "asks for a branch per value: use 'subset', or another criterion."
        )
    if two_sided and options.missing == "branch":
        raise ParameterError(
            f"criterion={options.criterion!r} compares two sides, and missing='branch' asks for a "
            "branch beside them: use missing='direction', or another criterion."
        )
    if options.priors is not None and options.class_weight is not None:
        raise ParameterError(
            "priors and class_weight both say what the classes count for, and priors leave nothing "
            "of class_weight: give one of them."
        )
    kind, strength = options.smoothing, options.smoothing_strength
    if strength is not None and kind in (None, "laplace"):
        raise ParameterError(
            f"smoothing_strength={strength!r} has nothing to act on where smoothing={kind!r}: "
            "leave it None, or set smoothing to 'm_estimate' or 'shrinkage'."
        )


def validates(options: TreeOptions) -> bool:
    """Whether the cp is found by cross-validation."""
    return options.pruning == "cost_complexity" and isinstance(options.cp, str)


_DEFAULT_LAMBDA = 5.0


def read_smoothing(options: TreeOptions, n_classes: int) -> Smoothing | None:
    """How shares are read; by default m is the number of classes, and λ 5."""
    kind, strength = options.smoothing, options.smoothing_strength
    if kind is None:
        return None
    default = {"laplace": 0.0, "m_estimate": float(n_classes), "shrinkage": _DEFAULT_LAMBDA}
    return Smoothing(kind, default[kind] if strength is None else float(strength))


# --- The model grown -----------------------------------------------------------------------------


def _check_total(rows: TreeRows, criterion: str) -> None:
    """Logarithms are whole numbers of units that the total fixes: a node must not vanish in one."""
    if CRITERIA_BY_NAME[criterion].uses_logs and rows.copies and rows.total_units >= 2**46:
        raise WeightError(
            f"sample_weight sums to {rows.total_units:.3g}, and {criterion} counts exactly up to "
            "2**46 copies of rows: divide the weights by a constant, or use criterion='gini'."
        )


def grow(rows: TreeRows, options: TreeOptions, threads: int) -> TreeModel:
    """Grow a tree. (ZM Alg. 19.1)"""
    _check_total(rows, options.criterion)
    weights = read_weights(options, rows)
    schema, encoded = rows.schema, rows.encoded
    scaled = scale_rows(rows, weights.multiples)
    spreads = options.missing == "fractional"
    bits = part_bits(scaled) if spreads and encoded.missing.any() else (0, 0)
    grown = _grow(scaled, growth(scaled, options, bits), threads)
    grown = grown._replace(units=unscale(grown.units, weights.multiples))
    if spreads:
        missing = np.where(grown.kind == trees.LEAF, trees.NOTHING_MISSING, trees.SPREAD)
        grown = grown._replace(missing=missing.astype(np.int32))
    model = TreeModel(
        schema,
        rows.column_kinds,
        unseen_codes(rows),
        rows.exponent + bits[1],
        *grown,
        ranges=_ranges(schema, encoded.columns),
        policy=options.missing,
        missing_counts=tuple(encoded.missing.tolist()),
        part_bits=bits[1],
        factors=weights.factors,
        costs=weights.costs,
        smoothing=read_smoothing(options, len(schema.classes)),
    )
    model = replace(model, threshold=_brief_thresholds(model, encoded.columns))
    return with_rows(model, rows)


def _grow(rows: TreeRows, growth: trees.Growth, threads: int) -> trees.Grown:
    """What the core makes of the rows, as they count in growing."""
    encoded = rows.encoded
    n_values = code_counts(rows.schema, rows.column_kinds)
    has_missing = (encoded.missing > 0).tolist()
    return trees.grow_tree(
        trees.TreeColumns(
            _with_missing(encoded, n_values), rows.column_kinds, n_values, has_missing
        ),
        rows.classes,
        len(rows.schema.classes),
        trees.TreeRowWeights(rows.units, rows.copies, rows.sizes),
        growth,
        threads,
    )


def _with_missing(encoded: EncodedTreeRows, n_values: Sequence[int]) -> list[Any]:
    """The columns as the core grows from them: missing has the code after all others."""
    cells = zip(encoded.columns, n_values, encoded.missing.tolist(), strict=True)
    return [
        np.where(x < 0, n, x).astype(np.int32) if missing and x.dtype == np.int32 else x
        for x, n, missing in cells
    ]


def _ranges(schema: Schema, columns: Sequence[Any]) -> tuple[tuple[float, float] | None, ...]:
    """The range of each column of numbers, None of others."""
    numbers = [j for j, column in enumerate(schema.columns) if column.is_number]
    found = dict(zip(numbers, column_ranges([columns[j] for j in numbers]), strict=True))
    return tuple(found.get(j) for j in range(len(columns)))


def _brief_thresholds(model: TreeModel, columns: Sequence[Any]) -> Float:
    """Cuts of dates at whole seconds where that parts the rows alike; others as they are. (S 30)"""
    threshold = model.threshold.copy()
    for j, column in enumerate(model.schema.columns):
        asks = np.flatnonzero((model.kind == trees.CUT) & (model.attribute == j))
        if column.kind == "date" and len(asks):
            known = np.unique(columns[j][~np.isnan(columns[j])])
            asks = asks[np.isfinite(threshold[asks])]
            threshold[asks] = brief_moments(threshold[asks], known)
    return threshold


def with_rows(model: TreeModel, rows: TreeRows) -> TreeModel:
    """The tree with the rows in its nodes counted, where weights are no copies of rows. (S 96)"""
    if rows.units is None or rows.copies:
        return model
    ends = end_nodes(model, rows.encoded)
    in_leaf = native.count_codes(ends, model.n_nodes, rows.classes, model.units.shape[1], None)
    before = np.concatenate([np.zeros_like(in_leaf[:1]), np.cumsum(in_leaf, axis=0)])
    counts = before[model.ends()] - before[:-1]  # the nodes below follow in preorder
    most = float(rows.units.max())  # by which rows of one weight count exactly
    squares = _squares(model, rows, ends, rows.units / most)
    weights = np.ldexp(model.units, -model.part_bits) / most
    there = model.units > 0
    effective = np.divide(weights**2, squares, out=np.zeros_like(weights), where=there)
    return replace(model, rows=counts, effective=effective)


def _squares(model: TreeModel, rows: TreeRows, ends: Codes, weights: Float) -> Float:
    """Σ weight² of each class in each node; of a row in parts, each has its part of the square."""
    K, encoded = model.units.shape[1], rows.encoded
    if model.policy == "fractional" and encoded.missing.any():
        given = encoded.columns, model.n_values, model.pull(), rows.classes
        return trees.spread_counts(model.arrays, *given, weights**2, K)
    cell = ends * np.int64(K) + rows.classes
    order = np.lexsort((weights, cell))  # so that the order of rows does not matter
    sums = np.bincount(cell[order], weights[order] ** 2, minlength=model.n_nodes * K)
    squares = sums.astype(np.float64).reshape(-1, K)
    for t, above in reversed(list(enumerate(model.parents().tolist()))[1:]):
        squares[above] += squares[t]
    return squares


def growth(rows: TreeRows, options: TreeOptions, bits: tuple[int, int] = (0, 0)) -> trees.Growth:
    """The options as numbers of rows and units."""
    least = options.min_samples_leaf
    if _is_share(least):  # a share of the rows, as in scikit-learn
        least = math.ceil(least * rows.size)
    return trees.Growth(
        criterion=trees.CRITERIA.index(options.criterion),
        leaf_size=_bounded(options.leaf_size),
        purity=float(options.purity),
        max_depth=-1 if options.max_depth is None else _bounded(options.max_depth),
        min_size=_bounded(least),
        min_units=math.ceil(options.min_weight_fraction_leaf * (rows.total_units << bits[1])),
        min_gain=float(options.min_gain),
        max_leaves=-1 if options.max_leaf_nodes is None else _bounded(options.max_leaf_nodes),
        max_subset=_bounded(options.max_subset),
        # without missing values all policies grow the same tree, and whole rows are the fastest
        policy=trees.POLICIES.index(options.missing if rows.encoded.missing.any() else "direction"),
        part_bits=bits[0],
        unit_bits=bits[1],
    )


def _bounded(count: float | None) -> int:
    """A count within 64 bits."""
    return trees.NO_BOUND if count is None else min(int(count), trees.NO_BOUND)


def unseen_codes(rows: TreeRows) -> tuple[tuple[int, ...], ...]:
    """By column, the codes that no row has; none of a column that is cut."""
    n_values = code_counts(rows.schema, rows.column_kinds)
    one = np.zeros_like(rows.classes)
    unseen: list[tuple[int, ...]] = []
    columns: Sequence[Any] = rows.encoded.columns
    for codes, n in zip(columns, n_values, strict=True):
        counts = native.count_codes(codes, n, one, 1, None) if n else np.ones(0)
        unseen.append(tuple(np.flatnonzero(counts == 0).tolist()))
    return tuple(unseen)
