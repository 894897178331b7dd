"""Explanations of a kernel discriminant: rows that count for each side, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import as_numbers, given_values
from sortal.decision.posterior import Decisions, difference, posterior
from sortal.engines import total
from sortal.errors import agreed
from sortal.records.tables import Explanation, Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask
    from sortal.data.sources import Batch
    from sortal.kernels.model import KernelModel
    from sortal.records.tables import Cell


# Columns without a usable value that a title names.
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class ExplainKernel:
    """Row number → its explanation."""

    model: KernelModel
    rows: KernelRows
    log_joint: Float
    shares: Float
    verdicts: Decisions
    max_rows: int

    def __call__(self, i: int) -> Explanation:
        """Explain one row."""
        model, (label, against) = self.model, self.verdicts.pair(i)
        if np.isneginf(self.log_joint[i]).all():  # a row that no class can produce: the prior says
            offset, coefficients = _prior_odds(model, label, against), np.zeros(len(model.ids))
        else:
            offset, coefficients = pulls_between(model, label, against)
        kernel = model.with_basis(self.rows.u[i : i + 1])[0]
        pulls = coefficients * kernel
        listed = _strongest(pulls, self.max_rows)
        log_odds = offset + float(pulls.sum())
        costs, total = self.verdicts.with_costs(i, log_odds)
        basis = "landmarks" if model.solver == "landmarks" else "rows"
        one, n_others, blank = basis[:-1], len(pulls) - len(listed), (None,) * 4
        lines: list[tuple[Cell, ...]] = [("offset", *blank, offset)]
        numbers = zip(kernel[listed], coefficients[listed], pulls[listed], strict=True)
        for j, row in zip(listed, numbers, strict=True):
            front = one, int(model.ids[j]), model.classes[int(model.codes[j])]
            lines.append((*front, *map(float, row)))
        if n_others:
            others = f"{n_others} more {agreed(n_others, one, basis)}"
            lines.append((others, *blank, float(np.delete(pulls, listed).sum())))
        if costs is not None:
            lines.append(("costs", *blank, costs))
        filled = self._filled(i)
        title = self._title(i, label, against, filled)
        heads = ("part", "id", "class", "kernel", "coefficient", "pull")
        return Explanation(
            label=model.classes[label],
            against=model.classes[against],
            classes=model.classes,
            total=total,
            parts=Table("pulls", title, heads, tuple(lines), "S 94"),
            amount="pull",
            last=("log-odds" if costs is None else "total", *blank, total),
            facts={
                "posterior": tuple(self.shares[i].tolist()),
                "log_odds": log_odds,
                "by_class": tuple(np.bincount(model.codes, pulls, len(model.classes)).tolist()),
                "n_basis": len(pulls),
                "basis": basis,
                "filled": filled,
            },
        )

    def _filled(self, i: int) -> tuple[dict[str, Any], ...]:
        """The columns of a row for which their mean stands."""
        names, rows = self.model.inputs.design.schema.names, self.rows
        return tuple(
            {
                "attribute": names[j],
                "value": rows.given[i, j],
                "mark": "unknown" if rows.new[i, j] else "missing",
            }
            for j in np.flatnonzero(rows.filled[i]).tolist()
        )

    def _title(self, i: int, label: int, against: int, filled: tuple[dict[str, Any], ...]) -> str:
        """Which two classes are compared, where pulls go, and which cells had no value."""
        a, b = (self.model.classes[k] for k in (label, against))
        said = f"{a} (P = {self.shares[i, label]:.4g}) against {b}: positive pulls are to "
        said += f"{a}, negative to {b}"
        for mark in ("missing", "unknown"):
            names = [cell["attribute"] for cell in filled if cell["mark"] == mark]
            more = len(names) - _MOST_NAMED
            told = [*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])]
            said += f"; {mark}: {', '.join(told)}" if told else ""
        return said


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
