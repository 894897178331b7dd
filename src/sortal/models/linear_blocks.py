"""What a pass over blocks does with functions of rows: picklable values that can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import as_numbers, given_values
from sortal.models.decision import decide, leading, log_of, log_posterior, posterior
from sortal.models.term_block import TermBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Values
    from sortal.models.functions import LinearMap, RowFunctions

    Counts = NDArray[np.int64]
    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Answered:
    """What was asked of a block's rows; cells without a usable value, by column."""

    answer: NDArray[Any]
    holes: Counts
    unknown: Counts


@dataclass(frozen=True, eq=False)
class AskBlock:
    """Block → Answered: functions of the rows, and what `ask` makes of them."""

    function: RowFunctions
    ask: Callable[[Float], NDArray[Any]]

    def __call__(self, batch: Batch) -> Answered:
        """Ask one block."""
        mapped = self.function(batch)
        return Answered(self.ask(mapped.values), mapped.holes, mapped.unknown)


def as_they_are(values: Float) -> Float:
    """The functions themselves."""
    return values


def margin(values: Float) -> Float:
    """The functions; of two, the second less the first."""
    return values[:, 1] - values[:, 0] if values.shape[1] == 2 else values


@dataclass(frozen=True, eq=False)
class FromPriors:
    """ln f_k(x) up to a common term, and priors → what is said. (Bar *)

    `what` is "functions", "label", "proba" or "log_proba".
    """

    prior: Float
    what: str
    costs: Float | None = None

    def __call__(self, log_density: Float) -> NDArray[Any]:
        """Answer for one block."""
        log_joint = log_density
        log_joint += log_of(self.prior)
        if self.what == "functions":
            return log_joint
        if self.what == "label" and self.costs is None:
            return leading(log_joint)
        if self.what == "log_proba":
            return log_posterior(log_joint, self.prior)
        shares = posterior(log_joint, self.prior)
        return decide(shares, self.costs) if self.what == "label" else shares


@dataclass(frozen=True, eq=False)
class Centered:
    """Rows as distances from a center, 0 where nothing is known; cells as they were given.

    `values` are the functions of the rows.
    """

    values: Float
    z: Float
    missing: Mask
    unknown: Mask
    given: NDArray[Any]


@dataclass(frozen=True, eq=False)
class CenterBlock:
    """Block → Centered, for whoever looks at single rows."""

    function: RowFunctions

    def __call__(self, batch: Batch) -> Centered:
        """Read one block."""
        design, rows = self.function.design, np.arange(batch.n_rows)
        block = TermBlock.of(design, batch)
        missing, unknown = block.missing(rows), block.unknown(rows)
        given = np.empty((batch.n_rows, len(design.sizes)), dtype=object)
        for j in design.numbers:
            given[:, j] = as_numbers(batch.columns[j]).tolist()
        for j in design.categories:
            given[:, j] = given_values(batch.columns[j])
        given[missing & ~unknown] = None
        z = block.known_part(rows, self.function.center)
        return Centered(self.function(batch).values, z, missing, unknown, given)


@dataclass(frozen=True, eq=False)
class ProjectTraining:
    """Block with labels → projections of the rows, their classes and weights.

    Rows with holes are left out, unless the fit used them too.
    """

    function: LinearMap
    classes: Values
    with_holes: bool

    def __call__(self, batch: Batch) -> tuple[Float, NDArray[np.int32], Float]:
        """Project one block."""
        mapped = self.function(batch)
        place = {label: k for k, label in enumerate(self.classes)}
        weights = np.ldexp(batch.row_units().astype(np.float64), -batch.exponent)
        keep = weights > 0
        if mapped.holes.any() and not self.with_holes:
            for column in batch.columns:
                keep &= ~column.holes()
        codes = batch.labels().recode(place)
        return mapped.values[keep, 0], codes[keep], weights[keep]


def gather_answered(blocks: Sequence[Answered]) -> Answered:
    """Blocks as one."""
    return Answered(
        np.concatenate([block.answer for block in blocks]),
        np.sum([block.holes for block in blocks], axis=0),
        np.sum([block.unknown for block in blocks], axis=0),
    )


def gather_centered(blocks: Sequence[Centered]) -> Centered:
    """Blocks as one."""
    return Centered(
        np.concatenate([block.values for block in blocks]),
        np.concatenate([block.z for block in blocks]),
        np.concatenate([block.missing for block in blocks]),
        np.concatenate([block.unknown for block in blocks]),
        np.concatenate([block.given for block in blocks]),
    )
