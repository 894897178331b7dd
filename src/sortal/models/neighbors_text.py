"""Neighbors in words: who decided, and in what each of them differs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.models.faces import decision_text, number_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.values import Value, Values
    from sortal.models.neighbors_explain import DistancePart, NeighborsExplanation

# Columns in which a neighbor differs that its line names.
_MOST_NAMED = 3


def title(made: NeighborsExplanation) -> str:
    """Who decided, in words."""
    label = made.classes.index(made.label)
    why = decision_text(made.posterior[label], label, made.expected_costs)
    said = f"{made.label} ({why}): {_count_neighbors(made)}"
    if not sum(made.votes):
        return f"{said}; nobody votes, and the prior stands"
    counts = [float(_count(made, label)) for label in made.classes]
    if counts == list(made.votes):
        return said
    cast = [f"{number_text(v)} for {c}" for c, v in _ranked(made.classes, made.votes)]
    return f"{said}; votes: {', '.join(cast)}"


def _count(made: NeighborsExplanation, label: Value) -> int:
    return sum(neighbor.label == label for neighbor in made.neighbors)


def _count_neighbors(made: NeighborsExplanation) -> str:
    """5 neighbors, 3 of them versicolor, 2 virginica."""
    n = len(made.neighbors)
    if not n:
        return "no neighbors"
    pairs = _ranked(made.classes, [_count(made, label) for label in made.classes])
    (first, most), *others = [(_called(label), m) for label, m in pairs]
    if n == 1:
        return f"1 neighbor, {first}"
    if not others:
        return f"{counted(n, 'neighbor')}, all of them {first}" if n > 1 else f"1 neighbor, {first}"
    return ", ".join(
        [
            counted(n, "neighbor"),
            f"{most} of them {first}",
            *(f"{m} {label}" for label, m in others),
        ]
    )


def _called(label: Value) -> str:
    """A class as one would say it after a number."""
    text = str(label)
    return text if text[:1].isalpha() and not isinstance(label, bool) else f"of class {text}"


def _ranked(classes: Values, amounts: Sequence[float]) -> list[tuple[Value, float]]:
    """Classes with an amount, the largest first."""
    pairs = [(label, a) for label, a in zip(classes, amounts, strict=True) if a]
    return sorted(pairs, key=lambda pair: -pair[1])


def difference(parts: Sequence[DistancePart]) -> str:
    """The columns with the largest shares, and those that are left out."""
    apart = sorted((p for p in parts if p.share), key=lambda p: -p.share)
    named, others = apart[:_MOST_NAMED], apart[_MOST_NAMED:]
    said = [
        f"{p.attribute} {_here(p)} / {number_text(p.neighbor_value)} ({p.share:.0%})" for p in named
    ]
    if others:
        said.append(f"{len(others)} more ({sum(p.share for p in others):.0%})")
    text = ", ".join(said) or "nothing"
    for mark in ("missing", "unknown"):
        silent = [p.attribute for p in parts if p.mark == mark and not p.share]
        text += f"; {mark}: {_some(silent)}" if silent else ""
    return text


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _here(part: DistancePart) -> str:
    text = number_text(part.value)
    return f"{text} ({part.mark})" if part.mark else text
