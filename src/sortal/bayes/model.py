"""The fitted discrete Bayes model: tables of log probabilities, and passes over rows by them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native
from sortal._typing import Codes, Float
from sortal.data.columns import (
    MISSING,
    UNKNOWN,
    Schema,
    as_numbers,
    given_values,
    number_cells,
    recode_columns,
)
from sortal.data.table import LARGEST, infinite, too_large
from sortal.decision.posterior import decide, log_of, n_impossible, posterior
from sortal.decision.scores import Question, ScoredTerms
from sortal.engines import along, total
from sortal.errors import ImpossibleRowWarning, agreed, counted, warn
from sortal.modelfile.fields import INF, check_prior, check_squares, need
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal._typing import Counts, Places
    from sortal.data.columns import Values
    from sortal.data.sources import Batch


@record()
class JointTable:
    """The weight by class of each cell that was seen, and of each class.

    Cells combine the category columns at `places` of the model's list.
    """

    places: tuple[int, ...] = limits("places", least=0)
    codes: Codes = limits("cells", "places", least=0)
    weight: Float = limits("cells", "classes", least=0.0)
    class_weight: Float = limits("classes", least=0.0)
    alpha: float = limits(least=0.0, most=1e100)


@record()
class BayesModel:
    """Probabilities over a schema's columns and classes.

    `tables[place]` is ln P(v|c) of category column `categories[place]`; `mean[place]`,
    `tail[place]` and `variance[place]` belong to number column `numbers[place]`: the mean is
    mean + tail, the tail being what a float64 does not hold of it (None: 0). A number column that
    never varies is listed in `constant` and left out of every product.
    """

    schema: Schema
    prior: Float = limits("classes", least=0.0)
    categories: tuple[int, ...] = limits("categories", least=0)
    tables: tuple[Float, ...] = limits("categories", "*", "classes", least=-INF)
    numbers: tuple[int, ...] = limits("numbers", least=0)
    mean: Float = limits("numbers", "classes")
    tail: Float | None = limits("numbers", "classes")
    variance: Float = limits("numbers", "classes", least=0.0)
    constant: tuple[int, ...] = limits(least=0)
    joint: JointTable | None

    def check(self) -> None:
        """Refuse tables of other values than the schema's, and densities without a spread."""
        words = self.schema.categories
        need(self.numbers == self.schema.numbers, "numbers that are none")
        need(self.categories == words, "categories that are none")
        sizes = [len(self.schema.columns[j].values) for j in words]
        need([len(table) for table in self.tables] == sizes, "a table of other values")
        need(all(place < len(self.numbers) for place in self.constant), "a column that is not")
        varies = [place for place in range(len(self.numbers)) if place not in self.constant]
        need((self.variance[varies] > 0).all(), "a density without a spread")
        check_prior(self.prior)
        check_squares(np.concatenate([self.mean, self.tails, np.sqrt(self.variance)]))
        if self.joint is not None:
            places = self.joint.places
            need(list(places) == sorted(set(places)), "columns out of order")
            need(all(place < len(words) for place in places), "a column that is not")
            most = np.array([sizes[place] for place in places], dtype=np.int64)
            need((self.joint.codes < most).all(), "a cell of values that are not")

    @property
    def unused(self) -> dict[int, float]:
        """The columns of numbers that never vary, and the number that each of them has."""
        return {self.numbers[place]: float(self.mean[place, 0]) for place in self.constant}

    @property
    def classes(self) -> Values:
        """The classes, sorted."""
        return self.schema.classes

    @property
    def size(self) -> int:
        """How many numbers predict needs: K priors, K a value, a mean and a variance a number.

        Of a joint table, K a cell instead of K a value.
        """
        K = len(self.prior)
        joint = self.joint
        words = sum(table.size for table in self.tables) if joint is None else joint.weight.size
        return int(K + words + 2 * K * (len(self.numbers) - len(self.constant)))

    @property
    def tails(self) -> Float:
        """What `mean` does not hold of the means; files of the first release have none."""
        return np.zeros_like(self.mean) if self.tail is None else self.tail

    @property
    def log_prior(self) -> Float:
        """ln P(c)."""
        return log_of(self.prior)


@dataclass(frozen=True, eq=False)
class EncodedBayesRows:
    """A block in a model's terms: codes[place, i] by its values, numbers[place, i] as they are.

    `missing` and `unknown` count cells by column. `words` are the category cells as given, where
    somebody will read them.
    """

    codes: Codes = along(1)
    numbers: Float = along(1)
    missing: Counts = total()
    unknown: Counts = total()
    words: NDArray[Any] = along(1)


def encode(model: BayesModel, batch: Batch) -> EncodedBayesRows:
    """Values → codes of the model; numbers → an array."""
    codes = recode_columns(
        [batch.columns[j] for j in model.categories],
        [model.schema.columns[j].values for j in model.categories],
        batch.n_rows,
    )
    numbers = np.empty((len(model.numbers), batch.n_rows))
    for place, j in enumerate(model.numbers):
        numbers[place] = as_numbers(batch.columns[j])
        if (np.abs(numbers[place]) > LARGEST).any():
            name = model.schema.columns[j].name
            raise infinite(name) if np.isinf(numbers[place]).any() else too_large(name)
    missing, unknown = np.zeros((2, len(batch.columns)), dtype=np.int64)
    missing[list(model.categories)] = (codes == MISSING).sum(axis=1)
    missing[list(model.numbers)] = np.isnan(numbers).sum(axis=1)
    unknown[list(model.categories)] = (codes == UNKNOWN).sum(axis=1)
    return EncodedBayesRows(codes, numbers, missing, unknown, np.empty((0, batch.n_rows), object))


def category_term(table: Float, codes: Codes) -> Float:
    """ln P(x_j|c) of a category column, row by row; 0 for missing and unknown values."""
    term = np.zeros((len(codes), table.shape[1]))
    native.add_terms(term, table, codes)
    return term


def number_term(mean: Float, tail: Float, variance: Float, x: Float) -> Float:
    """ln of the normal density of a number column, row by row; 0 for missing values."""
    known = ~np.isnan(x)
    d = (np.where(known, x, 0.0)[:, None] - mean) - tail
    term = -0.5 * (np.log(2 * np.pi * variance) + d * d / variance)
    return np.where(known[:, None], term, 0.0)


def category_terms(model: BayesModel, encoded: EncodedBayesRows) -> list[Float]:
    """The terms of the category columns, one by one."""
    pairs = zip(model.tables, encoded.codes, strict=True)
    return [category_term(table, codes) for table, codes in pairs]


def number_terms(model: BayesModel, encoded: EncodedBayesRows) -> list[Float]:
    """The terms of the number columns, one by one; a constant column says nothing."""
    silent = np.zeros((encoded.numbers.shape[1], len(model.classes)))
    moments = model.mean, model.tails, model.variance
    columns = enumerate(zip(*moments, encoded.numbers, strict=True))
    return [
        silent if place in model.constant else number_term(*column) for place, column in columns
    ]


def log_likelihood(model: BayesModel, encoded: EncodedBayesRows) -> Float:
    """ln P(x|c) = Σ_j ln P(x_j|c), or the joint cell's; missing and unknown ignored. (S 1)"""
    n = encoded.codes.shape[1]
    total = np.zeros((n, len(model.classes)))
    for table, codes in zip(model.tables, encoded.codes, strict=True):
        native.add_terms(total, table, codes)
    if model.joint is not None:
        weight = cell_weight(model.joint, encoded.codes)
        total = joint_log_likelihood(weight, model.joint.class_weight, total, model.joint.alpha)
    for term in number_terms(model, encoded):
        total += term
    return total


def joint_log_likelihood(cell: Float, n_class: Float, log_naive: Float, alpha: float) -> Float:
    """ln P(x|c) = ln (n(x,c) + α P_b(x|c)) / (n(c) + α), P_b the naive product. (S 3)

    With α = 0, P_b itself for a cell that no class has seen and for a class without any cell.
    """
    n_class = np.broadcast_to(n_class, cell.shape)
    backed_off = cell + alpha * np.exp(log_naive)
    with np.errstate(divide="ignore"):  # ln 0 = -inf: this class excludes this cell
        log_joint = np.log(backed_off) - np.log(np.where(n_class + alpha > 0, n_class + alpha, 1))
    if alpha > 0:
        # far below the smallest float, exp(log_naive) is 0 while its logarithm is still good
        only_naive = (cell == 0) & (backed_off < 1e-290)
        deep = np.log(alpha) + log_naive - np.log(n_class + alpha)
        return np.where(only_naive, deep, log_joint)
    silent = (cell.sum(axis=1, keepdims=True) == 0) | (n_class == 0)
    return np.where(silent, log_naive, log_joint)


def cell_weight(joint: JointTable, codes: Codes) -> Float:
    """n(x, c) of each row: the weight of the cells that agree with what is known of the row."""
    codes = codes[list(joint.places)]
    weight = np.zeros((codes.shape[1], joint.weight.shape[1]))
    known = codes >= 0
    if known.all():
        return _agreeing(joint, codes, np.arange(len(codes)))
    patterns, pattern = np.unique(known, axis=1, return_inverse=True)
    for p in range(patterns.shape[1]):
        rows = np.flatnonzero(pattern.ravel() == p)
        # a rare pattern is compared with every cell, a common one is numbered together with them:
        # 10,000 rows of 16 columns, a fifth of them missing values, took 8.6 s by numbering alone,
        # 1.5 s so
        agree = _compared if len(rows) < _RARE else _agreeing
        weight[rows] = agree(joint, codes[:, rows], np.flatnonzero(patterns[:, p]))
    return weight


_RARE = 8


def _compared(joint: JointTable, codes: Codes, known: Places) -> Float:
    """Each row takes the weight of the cells that equal it where it is known."""
    cells = joint.codes[:, known]
    weights = [joint.weight[np.all(cells == row, axis=1)].sum(axis=0) for row in codes[known].T]
    return np.array(weights)


def _agreeing(joint: JointTable, codes: Codes, known: Places) -> Float:
    """Cells and rows are numbered together; rows take the weight of the cells of their number."""
    n_cells = len(joint.codes)
    both = np.vstack([joint.codes[:, known], codes[known].T])
    sizes = [int(column.max(initial=0)) + 1 for column in both.T]
    number, first = number_cells(np.ascontiguousarray(both), sizes)
    weight = np.zeros((len(first), joint.weight.shape[1]))
    np.add.at(weight, number[:n_cells], joint.weight)
    return np.asarray(weight[number[n_cells:]])


def linear_functions(model: BayesModel) -> tuple[Float, Float] | None:
    """g_c(x) = w_cᵀx + w_c0 over two-valued columns coded 0 and 1 (Sch LDF), by (S 8).

    None where the model is not of this form: a column with other than two values, a number
    column, the joint structure, or a probability of zero.
    """
    two_valued = all(len(table) == 2 and np.isfinite(table).all() for table in model.tables)
    if model.joint is not None or model.numbers or not two_valued or not model.tables:
        return None
    log_p = np.stack(model.tables)  # column, value, class
    weights = (log_p[:, 1] - log_p[:, 0]).T
    offsets = model.log_prior + log_p[:, 0].sum(axis=0)
    return weights, offsets


# --- Passes over blocks --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BayesScores(ScoredTerms):
    """What was asked of a block's rows, and how many of them no class can produce."""

    n_impossible: int = total()


def answer(model: BayesModel, question: Question) -> Callable[[Batch], BayesScores]:
    """A pass: what is asked of a block's rows, by ln P(x|c)P(c)."""
    prior = model.prior if question.prior is None else question.prior

    def score(batch: Batch) -> BayesScores:
        encoded = encode(model, batch)
        log_joint = log_of(prior) + log_likelihood(model, encoded)
        impossible = n_impossible(log_joint)
        if question.what == "label":  # of rows that no class can produce, by the prior
            answered: NDArray[Any] = decide(posterior(log_joint, prior), question.costs)
        else:
            answered = question.answer(log_joint, prior)
        return BayesScores(answered, encoded.missing, encoded.unknown, impossible)

    return score


def read_given(model: BayesModel) -> Callable[[Batch], EncodedBayesRows]:
    """A pass: rows in the model's terms, with the words as they were given."""

    def read(batch: Batch) -> EncodedBayesRows:
        encoded = encode(model, batch)
        given = [given_values(batch.columns[j]) for j in model.categories]
        words = np.array(given, dtype=object).reshape(len(given), batch.n_rows)
        return replace(encoded, words=words)

    return read


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Labeled rows in a model's codes: classes `y` and weights `w` beside them."""

    encoded: EncodedBayesRows
    y: Codes
    w: Float

    def own(self, n_classes: int) -> Float:
        """w in the column of the row's own class, 0 elsewhere."""
        weights = np.zeros((len(self.y), n_classes))
        weights[np.arange(len(self.y)), self.y] = self.w
        return weights


def read_fitted(model: BayesModel) -> Callable[[Batch], FittedRows]:
    """A pass: rows of the fit, with their labels."""
    place = {label: k for k, label in enumerate(model.classes)}

    def read(batch: Batch) -> FittedRows:
        weights = np.ldexp(batch.row_units().astype(np.float64), -batch.exponent)
        # a row of a class without weight has none itself: whose it is does not matter
        y = np.maximum(batch.labels().recode(place), 0)
        return FittedRows(encode(model, batch), y, weights)

    return read


def warn_of_impossible(n: int) -> None:
    """Rows that no class can produce, at predict."""
    if n:
        warn(
            f"{counted(n, 'row')} {agreed(n, 'has', 'have')} probability zero in every class (a "
            f"value was never seen in it, and alpha is 0): {agreed(n, 'it gets', 'they get')} the "
            "prior. Set alpha above 0 to tell them apart.",
            ImpossibleRowWarning,
        )
