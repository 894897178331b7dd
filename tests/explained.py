"""Explanations as tests ask for them: the parts by name, apart from what priors and costs add."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sortal.records.tables import Explanation


def read(why: Explanation) -> Any:
    """The facts as attributes, the first line as `start`, `costs` and `rest` where there are such.

    `parts` are the lines between: attributes, moves, rows that pull, or neighbors.
    """
    lines = why.parts.lines()
    told = SimpleNamespace(**vars(why) | dict(why.facts), start=0.0, costs=None, rest=0.0)
    if why.amount == "vote":
        told.parts = [_neighbor(why, line) for line in lines]
        return told
    told.start = lines.pop(0)[why.amount]
    if why.amount == "share":
        told.rest = sum(line["share"] for line in lines[len(told.path) :])
        told.parts = [
            SimpleNamespace(
                node=int(line["node"]),
                condition=condition,
                value=value,
                n=line["n"],
                amount=line["share"],
                mark=line["mark"],
            )
            for line, condition, value in zip(lines, told.path, told.values, strict=False)
        ]
        return told
    if lines and lines[-1]["part"] == "costs":
        told.costs = lines.pop()[why.amount]
    if why.amount == "pull":
        told.rest = sum(line["pull"] for line in lines if line["id"] is None)
        lines = [line for line in lines if line["id"] is not None]
    told.parts = [SimpleNamespace(**line | {"amount": line[why.amount]}) for line in lines]
    if why.amount == "bits":
        for part, likelihood in zip(told.parts, told.log2_likelihood, strict=True):
            part.log2_likelihood = likelihood
    return told


def _neighbor(why: Explanation, line: dict[str, Any]) -> Any:
    """A neighbor with the columns of its distance."""
    own = [row for row in why.facts["shares"].lines() if row["id"] == line["id"]]
    front = {name: own[0][name] for name in ("part", "kernel")} if own else {}
    columns = [SimpleNamespace(**row, neighbor_value=row["neighbor value"]) for row in own]
    return SimpleNamespace(**line | front, label=line["class"], parts=columns)
