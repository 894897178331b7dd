"""Explanations of a kernel discriminant: rows that count for each side, and how much."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.data.columns import as_numbers, given_values
from sortal.decision.posterior import Decisions, difference, posterior
from sortal.engines import total
from sortal.errors import agreed
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask
    from sortal.data.columns import Value, Values
    from sortal.data.sources import Batch
    from sortal.kernels.model import KernelModel
    from sortal.records.tables import Cell


Mark = Literal["missing", "unknown"]

# Columns without a usable value that a title names.
_MOST_NAMED = 3


@dataclass(frozen=True)
class KernelContribution:
    """A row of the fit: pull = coefficient · kernel, to the class said if it is positive.

    `kernel` is k(row, x), which for rbf and laplacian is 1 where both are the same and falls to 0
    with their distance. `id` is the row's number in the fit; its cells are not told.
    """

    id: int
    label: Value
    kernel: float
    coefficient: float
    pull: float


@dataclass(frozen=True)
class ImputedColumn:
    """A column for which the row has no value, or one never fitted: its mean stands there."""

    attribute: str
    value: Value | None
    mark: Mark


@dataclass(frozen=True)
class KernelExplanation:
    """offset + Σ pulls + rest = log_odds = ln of P(label|x) / P(against|x).

    `against` is the most probable of the other classes. `total` is log_odds + `costs`, what costs
    add to the log-odds (None without costs): it is at least 0, because the label has the least
    expected cost. Listed are the strongest pulls to `label`,
    then the strongest to `against`; `rest` adds up all others of the `n_basis` rows that the model
    consists of. `by_class` adds up all pulls by the class of the row that pulls. `basis` is what
    these rows are: "rows" of the fit, or "landmarks" among them; a landmark stands for the rows
    around it and may pull away from its own class. Where one of the two classes cannot be, the
    offset is infinite.
    """

    label: Value
    against: Value
    classes: Values
    posterior: tuple[float, ...]
    log_odds: float
    offset: float
    pulls: tuple[KernelContribution, ...]
    rest: float
    by_class: tuple[float, ...]
    n_basis: int
    basis: str
    filled: tuple[ImputedColumn, ...]
    costs: float | None
    total: float

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        return {name: _plain(value) for name, value in vars(self).items()}

    def to_table(self, backend: str = "pandas") -> Table:
        """Offset, pulls, the rest, costs and their total, without digits that are rounding only."""
        one, n_others = self.basis.removesuffix("s"), self.n_basis - len(self.pulls)
        blank = (None,) * 4
        rows: list[tuple[Cell, ...]] = [("offset", *blank, _tidy(self.offset))]
        rows += [(one, p.id, p.label, p.kernel, p.coefficient, _tidy(p.pull)) for p in self.pulls]
        if n_others:
            others = f"{n_others} more {agreed(n_others, one, self.basis)}"
            rows.append((others, *blank, _tidy(self.rest)))
        if self.costs is not None:
            rows.append(("costs", *blank, _tidy(self.costs)))
        last = "log-odds" if self.costs is None else "total"
        rows.append((last, *blank, _tidy(self.total)))
        columns = ("part", "id", "class", "kernel", "coefficient", "pull")
        return Table("pulls", _title(self), columns, tuple(rows), "S 94", backend)

    def __str__(self) -> str:
        return str(self.to_table())


def _title(made: KernelExplanation) -> str:
    """Which two classes are compared, where pulls go, and which cells had no value."""
    share = made.posterior[made.classes.index(made.label)]
    said = f"{made.label} (P = {share:.4g}) against {made.against}: positive pulls are to "
    said += f"{made.label}, negative to {made.against}"
    for mark in ("missing", "unknown"):
        names = [cell.attribute for cell in made.filled if cell.mark == mark]
        more = len(names) - _MOST_NAMED
        told = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
        said += f"; {mark}: {', '.join(told)}" if told else ""
    return said


def _tidy(value: float) -> float:
    """Without digits that are rounding only, and without a sign of zero."""
    return round(value, 12) + 0.0


def _plain(value: object) -> object:
    """JSON has neither tuples nor infinities."""
    if isinstance(value, tuple):
        own = KernelContribution | ImputedColumn
        return [asdict(one) if isinstance(one, own) else one for one in value]
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


# --- Making them ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExplainKernel:
    """Row number → its explanation."""

    model: KernelModel
    rows: KernelRows
    log_joint: Float
    shares: Float
    verdicts: Decisions
    max_rows: int

    def __call__(self, i: int) -> KernelExplanation:
        """Explain one row."""
        model, (label, against) = self.model, self.verdicts.pair(i)
        if np.isneginf(self.log_joint[i]).all():  # a row that no class can produce: the prior says
            offset, coefficients = _prior_odds(model, label, against), np.zeros(len(model.ids))
        else:
            offset, coefficients = pulls_between(model, label, against)
        kernel = model.with_basis(self.rows.u[i : i + 1])[0]
        pulls = coefficients * kernel
        listed = _strongest(pulls, self.max_rows)
        left, log_odds = np.delete(pulls, listed), offset + float(pulls.sum())
        costs, total = self.verdicts.with_costs(i, log_odds)
        return KernelExplanation(
            label=model.classes[label],
            against=model.classes[against],
            classes=model.classes,
            posterior=tuple(self.shares[i].tolist()),
            log_odds=log_odds,
            offset=offset,
            pulls=tuple(_pull(model, j, kernel[j], coefficients[j]) for j in listed),
            rest=float(left.sum()),
            by_class=tuple(np.bincount(model.codes, pulls, len(model.classes)).tolist()),
            n_basis=len(pulls),
            basis="landmarks" if model.solver == "landmarks" else "rows",
            filled=tuple(self._filled(i)),
            costs=costs,
            total=total,
        )

    def _filled(self, i: int) -> list[ImputedColumn]:
        """The columns of a row for which their mean stands."""
        columns = self.model.inputs.design.schema.columns
        found = []
        for j in np.flatnonzero(self.rows.filled[i]).tolist():
            mark: Mark = "unknown" if self.rows.new[i, j] else "missing"
            found.append(ImputedColumn(columns[j].name, self.rows.given[i, j], mark))
        return found


def explain_rows(
    model: KernelModel, rows: KernelRows, costs: Float | None, max_rows: int
) -> ExplainKernel:
    """What every row's explanation is made from."""
    log_joint = model.log_densities(rows.projections) + model.log_prior
    verdicts = Decisions.of(log_joint, model.prior, costs)
    return ExplainKernel(
        model, rows, log_joint, posterior(log_joint, model.prior), verdicts, max_rows
    )


def pulls_between(model: KernelModel, a: int, b: int) -> tuple[float, Float]:
    """offset and c of ln P(a|x) / P(b|x) = offset + Σ_j c_j k(x_j, x). (S 94)

    With D / ℓ_q² for each direction q: c = Σ_q D (m_aq - m_bq) / ℓ_q² a_q, and the offset is half
    the difference of the squared means in the same measure, and ln of the priors' ratio.
    """
    there = model.weight > 0
    if not (there[a] and there[b]):  # density 0
        return (np.inf if there[a] else -np.inf), np.zeros(len(model.ids))
    measured = model.divisor / model.lengths**2 * (model.means[a] - model.means[b])
    middle = (model.means[a] + model.means[b]) / 2
    return _prior_odds(model, a, b) - float(measured @ middle), model.coefs @ measured


def _prior_odds(model: KernelModel, a: int, b: int) -> float:
    """ln π_a / π_b."""
    return difference(model.log_prior[a], model.log_prior[b])


def _strongest(pulls: Float, max_rows: int) -> list[int]:
    """The largest pulls above 0, then the smallest below, the first of equals first."""
    up, down = (
        np.argsort(-pulls, kind="stable")[:max_rows],
        np.argsort(pulls, kind="stable")[:max_rows],
    )
    return [*up[pulls[up] > 0].tolist(), *down[pulls[down] < 0].tolist()]


def _pull(model: KernelModel, j: int, kernel: float, coefficient: float) -> KernelContribution:
    label = model.classes[int(model.codes[j])]
    pull = float(coefficient * kernel)
    return KernelContribution(int(model.ids[j]), label, float(kernel), float(coefficient), pull)


# --- Rows as a kernel discriminant sees them, for whoever looks at single ones -------------------


@dataclass(frozen=True, eq=False)
class KernelRows:
    """Rows that are looked at one by one: inputs u, projections p.

    And which cells are `filled`, for want of a value or of a known one, which of these are `new`
    values, and the cells as they were given; of both the counts by column.
    """

    u: Float
    projections: Float
    filled: Mask
    new: Mask
    given: NDArray[np.object_]
    missing: Counts = total()
    unknown: Counts = total()


def read_kernel_rows(model: KernelModel) -> Callable[[Batch], KernelRows]:
    """A pass: rows that are looked at one by one."""
    design = model.inputs.design

    def look(batch: Batch) -> KernelRows:
        read, mapped = model.inputs(batch), model.project(batch)
        given = np.empty(read.missing.shape, dtype=object)
        for j in design.numbers:
            given[:, j] = as_numbers(batch.columns[j])
        for j in design.categories:
            given[:, j] = given_values(batch.columns[j])
        given[read.missing & ~read.unknown] = None
        cells = read.missing, read.unknown, given
        return KernelRows(read.u, mapped.values, *cells, mapped.missing, mapped.unknown)

    return look
