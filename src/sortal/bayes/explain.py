"""Explanations of discrete Bayes: a prior and weights of evidence that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sortal.bayes.model import (
    category_terms,
    cell_weight,
    joint_log_likelihood,
    log_likelihood,
    number_terms,
)
from sortal.data.columns import MISSING, UNKNOWN
from sortal.decision.posterior import Decisions, difference, posterior
from sortal.records.render import moment_text
from sortal.records.tables import Explanation, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal._typing import Float, Mask
    from sortal.bayes.model import BayesModel, EncodedBayesRows
    from sortal.data.columns import Value
    from sortal.records.tables import Cell


Mark = Literal["", "missing", "unknown", "constant", "unseen cell"]


@dataclass(frozen=True, eq=False)
class _Part:
    """A factor of the likelihood for all rows: ln P(part|c), each row's value and mark.

    `j` is the (first) column of the schema it stands for.
    """

    j: int
    attribute: str
    values: Sequence[Value | None]
    terms: Float
    marks: Sequence[Mark]


def explain(
    model: BayesModel, encoded: EncodedBayesRows, costs: Float | None
) -> tuple[Callable[[int], Explanation], Float]:
    """Row number → its explanation, and ln P(x|c) P(c) of all rows."""
    parts = [*_discrete_parts(model, encoded), *_number_parts(model, encoded)]
    parts.sort(key=lambda part: part.j)
    # added up as predict does it, so that both say the same also where costs tie
    log_joint = model.log_prior + log_likelihood(model, encoded)
    shares = posterior(log_joint, model.prior)
    verdicts = Decisions.of(log_joint, model.prior, costs)

    def explain_row(i: int) -> Explanation:
        """log2 P(a|x)/P(b|x) = log2 P(a)/P(b) + Σ_j log2 P(x_j|a)/P(x_j|b). (S 5)"""
        label, against = verdicts.pair(i)

        def bits(log_terms: Float) -> float:
            log2 = log_terms / np.log(2)
            return difference(log2[label], log2[against])

        prior, evidence = bits(model.log_prior), [bits(part.terms[i]) for part in parts]
        possible = bool(np.isfinite(log_joint[i]).any())
        odds = prior + (sum(evidence) if possible else 0.0)
        added, total = verdicts.with_costs(i, odds, math.log(2))
        lines: list[tuple[Cell, ...]] = [("prior", None, prior, "")]
        lines += [
            (part.attribute, part.values[i], own, part.marks[i])
            for part, own in zip(parts, evidence, strict=True)
        ]
        if added is not None:
            lines.append(("costs", None, added, ""))
        said, other = model.classes[label], model.classes[against]
        title = f"{said} (P = {shares[i, label]:.4g}) against {other}, in bits"
        return Explanation(
            label=said,
            against=other,
            classes=model.classes,
            total=total,
            parts=Table("evidence", title, ("part", "value", "bits", "mark"), tuple(lines), "S 5"),
            amount="bits",
            last=("total", None, total, "" if possible else "impossible row"),
            facts={
                "prior": tuple(model.prior.tolist()),
                "posterior": tuple(shares[i].tolist()),
                "log2_likelihood": tuple(tuple((p.terms[i] / np.log(2)).tolist()) for p in parts),
                "possible": possible,
            },
        )

    return explain_row, log_joint


def _discrete_parts(model: BayesModel, encoded: EncodedBayesRows) -> list[_Part]:
    terms = category_terms(model, encoded)
    parts = []
    for place, j in enumerate(model.categories):
        marks = [_mark(code) for code in encoded.codes[place].tolist()]
        name, given = model.schema.columns[j].name, encoded.words[place].tolist()
        parts.append(_Part(j, name, given, terms[place], marks))
    if model.joint is None or not parts:
        return parts
    naive = np.sum(terms, axis=0)
    weight = cell_weight(model.joint, encoded.codes)
    joint = joint_log_likelihood(weight, model.joint.class_weight, naive, model.joint.alpha)
    return [_joined(parts, joint, (weight == 0).all(axis=1))]


def _joined(parts: list[_Part], terms: Float, unseen: Mask) -> _Part:
    """All category columns as the one factor they are in the joint structure."""
    values, marks = [], []
    for i in range(len(terms)):
        given = [part.values[i] for part in parts]
        values.append(", ".join("?" if value is None else str(value) for value in given))
        left_out: list[Mark] = [part.marks[i] for part in parts if part.marks[i]]
        marks.append("unseen cell" if unseen[i] else (left_out[0] if left_out else ""))
    return _Part(parts[0].j, ", ".join(part.attribute for part in parts), values, terms, marks)


def _number_parts(model: BayesModel, encoded: EncodedBayesRows) -> list[_Part]:
    parts = []
    for place, terms in enumerate(number_terms(model, encoded)):
        j = model.numbers[place]
        column, x = model.schema.columns[j], encoded.numbers[place]
        silent: Mark = "constant" if place in model.constant else ""
        marks: list[Mark] = ["missing" if np.isnan(value) else silent for value in x]
        values = [None if np.isnan(value) else _as_given(value, column.kind) for value in x]
        parts.append(_Part(j, column.name, values, terms, marks))
    return parts


def _as_given(x: float, kind: str) -> Value:
    """Days are shown as the date or time they are."""
    return moment_text(x) if kind == "date" else float(x)


def _mark(code: int) -> Mark:
    if code == MISSING:
        return "missing"
    return "unknown" if code == UNKNOWN else ""
