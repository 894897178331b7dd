"""Explanations of discrete Bayes: a prior and weights of evidence that add up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

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
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float, Mask
    from sortal.bayes.model import BayesModel, EncodedBayesRows
    from sortal.data.columns import Value, Values
    from sortal.records.tables import Cell


Mark = Literal["", "missing", "unknown", "constant", "unseen cell"]


@dataclass(frozen=True)
class Evidence:
    """One attribute's part: its log2 likelihood by class, and its weight of evidence in bits."""

    attribute: str
    value: Value | None
    log2_likelihood: tuple[float, ...]
    bits: float
    mark: Mark = ""


@dataclass(frozen=True)
class BayesExplanation:
    """prior_bits + Σ evidence bits = total_bits = log2 of P(label|x) / P(against|x).

    `against` is the most probable of the other classes. Under costs the total includes `cost_bits`,
    what they add to the log-odds (None without costs): it is at least 0, because the label has the
    least expected cost, however probable it is. Marks say which attributes were left out
    (missing, unknown, constant) and whether the joint cell was never seen. `possible` is False
    where every class gives the row probability zero; the posterior is then the prior, and the
    evidence is not in the total.
    """

    label: Value
    against: Value
    classes: Values
    prior: tuple[float, ...]
    posterior: tuple[float, ...]
    prior_bits: float
    evidence: tuple[Evidence, ...]
    total_bits: float
    possible: bool
    cost_bits: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinite bits as the words inf and -inf."""
        evidence = [
            {
                "attribute": part.attribute,
                "value": part.value,
                "mark": part.mark,
                "bits": _json(part.bits),
                "log2_likelihood": [_json(bits) for bits in part.log2_likelihood],
            }
            for part in self.evidence
        ]
        return {
            "label": self.label,
            "against": self.against,
            "classes": list(self.classes),
            "prior": list(self.prior),
            "posterior": list(self.posterior),
            "prior_bits": _json(self.prior_bits),
            "evidence": evidence,
            "cost_bits": None if self.cost_bits is None else _json(self.cost_bits),
            "total_bits": _json(self.total_bits),
            "possible": self.possible,
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """Prior, evidence, costs and total, in bits, without digits that are rounding only."""
        rows: list[tuple[Cell, ...]] = [("prior", None, round(self.prior_bits, 12), "")]
        rows += [(e.attribute, e.value, round(e.bits, 12), e.mark) for e in self.evidence]
        if self.cost_bits is not None:
            rows.append(("costs", None, round(self.cost_bits, 12), ""))
        note = "" if self.possible else "impossible row"
        rows.append(("total", None, round(self.total_bits, 12), note))
        share = self.posterior[self.classes.index(self.label)]
        title = f"{self.label} (P = {share:.4g}) against {self.against}, in bits"
        columns = ("part", "value", "bits", "mark")
        return Table("evidence", title, columns, tuple(rows), "S 5", backend)

    def __str__(self) -> str:
        return str(self.to_table())


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


@dataclass(frozen=True, eq=False)
class ExplainRow:
    """Row number → its explanation."""

    model: BayesModel
    parts: tuple[_Part, ...]
    log_joint: Float
    shares: Float
    verdicts: Decisions

    def __call__(self, i: int) -> BayesExplanation:
        """Explain one row."""
        return explain_row(self, i)


def explain(model: BayesModel, encoded: EncodedBayesRows, costs: Float | None) -> ExplainRow:
    """What every row's explanation is made from."""
    parts = [*_discrete_parts(model, encoded), *_number_parts(model, encoded)]
    parts.sort(key=lambda part: part.j)
    # added up as predict does it, so that both say the same also where costs tie
    log_joint = model.log_prior + log_likelihood(model, encoded)
    shares = posterior(log_joint, model.prior)
    verdicts = Decisions.of(log_joint, model.prior, costs)
    return ExplainRow(model, tuple(parts), log_joint, shares, verdicts)


def explain_row(made: ExplainRow, i: int) -> BayesExplanation:
    """log2 P(a|x)/P(b|x) = log2 P(a)/P(b) + Σ_j log2 P(x_j|a)/P(x_j|b). (S 5)"""
    model, (label, against) = made.model, made.verdicts.pair(i)
    evidence = []
    for part in made.parts:
        log2 = part.terms[i] / np.log(2)
        bits = difference(log2[label], log2[against])
        likelihoods = tuple(map(float, log2))
        evidence.append(Evidence(part.attribute, part.values[i], likelihoods, bits, part.marks[i]))
    log2_prior = model.log_prior / np.log(2)
    prior_bits = difference(log2_prior[label], log2_prior[against])
    possible = bool(np.isfinite(made.log_joint[i]).any())
    odds = prior_bits + (sum(part.bits for part in evidence) if possible else 0.0)
    cost_bits, total_bits = made.verdicts.with_costs(i, odds, math.log(2))
    return BayesExplanation(
        label=model.classes[label],
        against=model.classes[against],
        classes=model.classes,
        prior=tuple(map(float, model.prior)),
        posterior=tuple(map(float, made.shares[i])),
        prior_bits=prior_bits,
        evidence=tuple(evidence),
        total_bits=total_bits,
        possible=possible,
        cost_bits=cost_bits,
    )


def _json(bits: float) -> float | str:
    """JSON has no infinity."""
    return bits if np.isfinite(bits) else str(bits)


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
