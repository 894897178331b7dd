"""Pruning a grown tree: checked options, and what each way of pruning makes of a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sortal.data.checks import choose, non_negative, share
from sortal.data.printing import counted
from sortal.errors import OptionError, told
from sortal.learners.tree_complexity import complexity_path, prune_to
from sortal.learners.tree_cutting import join_siblings
from sortal.learners.tree_pessimistic import default_level, prune_by_raising, prune_pessimistic
from sortal.learners.tree_reduced import prune_reduced

if TYPE_CHECKING:
    from sortal.learners.tree import TreeRows
    from sortal.models.complexity import Complexity
    from sortal.models.tree import TreeModel

WAYS = ("cost_complexity", "reduced_error", "pessimistic")
RULES = ("one_se", "least")


@dataclass(frozen=True)
class PruningOptions:
    """Checked options, by the names and meanings of the estimator's parameters."""

    pruning: str | None = None
    strength: Any = "one_se"
    confidence: Any = "auto"
    raising: bool = False
    join_leaves: bool = False
    missing: str = "direction"

    def __post_init__(self) -> None:
        if self.pruning is not None:
            choose("pruning", self.pruning, WAYS)
        if isinstance(self.strength, str):
            choose("strength", self.strength, RULES)
        else:
            non_negative("strength", self.strength)
        if isinstance(self.confidence, str):
            choose("confidence", self.confidence, ("auto",))
        elif share("confidence", self.confidence) == 0:
            raise OptionError("confidence=0 prunes nothing or all: give a number above 0, up to 1.")
        for name in ("raising", "join_leaves"):
            if not isinstance(getattr(self, name), bool):
                raise OptionError(
                    f"{name}={told(getattr(self, name))} cannot be used: it can be True or False."
                )
        if self.raises and self.missing == "fractional":
            raise OptionError(
                "raising=True sends whole rows another way, and missing='fractional' sends parts: "
                "set raising=False, or another missing."
            )

    @property
    def validates(self) -> bool:
        """Whether the strength is found by cross-validation."""
        return self.pruning == "cost_complexity" and isinstance(self.strength, str)

    def level(self, model: TreeModel) -> float:
        """The level of a pessimistic estimate."""
        given = self.confidence
        return default_level(model) if isinstance(given, str) else float(given)

    @property
    def raises(self) -> bool:
        """Whether subtrees may move up, which takes the rows of the fit."""
        return self.pruning == "pessimistic" and self.raising


@dataclass(frozen=True)
class Pruned:
    """A pruned tree, what was done, and how many tests have taken the place of another."""

    model: TreeModel
    notes: tuple[str, ...] = ()
    complexity: Complexity | None = None
    n_moved: int = 0


def prune_tree(
    model: TreeModel,
    how: PruningOptions,
    *,
    path: Complexity | None = None,
    rows: TreeRows | None = None,
    criterion: str = "gain",
) -> Pruned:
    """Prune as asked.

    `path` is the tree's own, cross-validated where a rule chooses the strength. `rows` are those of
    the fit for raising, and others for reduced error.
    """
    pruned = _prune(model, how, path, rows, criterion)
    if how.join_leaves:
        joined = join_siblings(pruned.model)
        told = f"leaves of one class were joined: {pruned.model.n_leaves} became {joined.n_leaves}"
        pruned = replace(pruned, model=joined, notes=(*pruned.notes, told))
    return pruned


def _prune(
    model: TreeModel,
    how: PruningOptions,
    path: Complexity | None,
    rows: TreeRows | None,
    criterion: str,
) -> Pruned:
    if how.pruning == "cost_complexity":
        complexity = chosen(complexity_path(model) if path is None else path, how.strength)
        strength = how.strength
        if isinstance(strength, str):
            strength = complexity.strength[complexity.chosen or 0]
        smaller = prune_to(model, strength)
        return Pruned(smaller, (_told(model, smaller, _by_cost(complexity, strength)),), complexity)
    if how.pruning == "reduced_error" and rows is not None:
        smaller = prune_reduced(model, rows)
        return Pruned(
            smaller, (_told(model, smaller, f"their errors on {counted(rows.size, 'row')}"),)
        )
    if how.raises and rows is not None:
        level = how.level(model)
        raised = prune_by_raising(model, rows, level, criterion)
        words = f"estimated errors (confidence {level:.3g}), raising subtrees"
        moved = f"tests that have more rows than they were chosen for: {raised.n_moved}"
        notes = (_told(model, raised.model, words), *([moved] if raised.n_moved else []))
        return Pruned(raised.model, notes, n_moved=raised.n_moved)
    if how.pruning == "pessimistic":
        level = how.level(model)
        smaller = prune_pessimistic(model, level)
        words = f"estimated errors (confidence {level:.3g})"
        return Pruned(smaller, (_told(model, smaller, words),))
    return Pruned(model)


def chosen(path: Complexity, strength: Any) -> Complexity:
    """The path with the tree that a rule or a strength takes."""
    if isinstance(strength, str):
        return replace(path, chosen=path.choose(strength), chosen_by=strength)
    return replace(path, chosen=path.place_of(float(strength)), chosen_by="strength")


def _by_cost(complexity: Complexity, strength: float) -> str:
    rule = f", {complexity.chosen_by} of {complexity.n_folds} folds" if complexity.n_folds else ""
    return f"cost complexity (strength {strength:.6g}{rule})"


def _told(before: TreeModel, after: TreeModel, words: str) -> str:
    return (
        f"pruned from {before.n_leaves} to {counted(after.n_leaves, 'leaf', 'leaves')} by {words}"
    )
