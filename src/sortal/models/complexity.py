"""The nested trees of cost-complexity pruning as a record: sizes, errors, and which was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sortal.models.checks import need
from sortal.models.layout import INF, Layout, Maybe, Number, Several, Whole, Word
from sortal.models.records import Table

_HEADS = ("strength", "n_leaves", "error", "cv_error", "cv_deviation")

# Errors whose ratio is so close to 1 are equal but for the rounding of sums.
_ALIKE = 1e-12


@dataclass(frozen=True)
class Complexity:
    """One entry a tree, from the root alone to the largest.

    A tree is the smallest of those with the least risk + strength · root's risk · leaves; it is so
    from its `strength` up to the one before. Errors are risks by the root's. `cv_error` is that of
    rows left out by `n_folds` folds, `cv_deviation` its standard deviation; None where there was no
    cross-validation. `chosen` is the place of the tree that was taken, by the rule `chosen_by`.
    """

    strength: tuple[float, ...]
    n_leaves: tuple[int, ...]
    error: tuple[float, ...]
    cv_error: tuple[float, ...] | None = None
    cv_deviation: tuple[float, ...] | None = None
    n_folds: int | None = None
    chosen: int | None = None
    chosen_by: str = ""

    LAYOUT: ClassVar[Layout] = Layout(
        strength=Several(Number(least=0.0, most=INF), "trees"),
        n_leaves=Several(Whole(least=1), "trees"),
        error=Several(Number(least=0.0), "trees"),
        cv_error=Maybe(Several(Number(least=0.0), "trees")),
        cv_deviation=Maybe(Several(Number(least=0.0), "trees")),
        n_folds=Maybe(Whole(least=1)),
        chosen=Maybe(Whole(least=0)),
        chosen_by=Word(),
    )

    def check(self) -> None:
        """Refuse a choice that is none of the trees, and half of a cross-validation."""
        need(self.strength, "no tree to choose from")
        need(self.chosen is None or self.chosen < len(self), "a choice that is none of its trees")
        need((self.cv_error is None) == (self.cv_deviation is None), "errors without deviations")

    def __len__(self) -> int:
        return len(self.strength)

    def limit(self) -> float:
        """The least error of rows left out, and one standard deviation of it. (S 33)"""
        if self.cv_error is None or self.cv_deviation is None:
            raise TypeError("these trees were not cross-validated")
        best = self._first_within(min(self.cv_error))
        return self.cv_error[best] + self.cv_deviation[best]

    def choose(self, rule: str) -> int:
        """The place of the tree with the least cv_error, or of the smallest within its limit."""
        if self.cv_error is None:
            raise TypeError("these trees were not cross-validated")
        return self._first_within(self.limit() if rule == "one_se" else min(self.cv_error))

    def _first_within(self, most: float) -> int:
        """The smallest tree whose error on rows left out is at most so much."""
        errors = self.cv_error or ()
        return next(i for i, error in enumerate(errors) if error <= most * (1 + _ALIKE))

    def place_of(self, strength: float) -> int:
        """The place of the tree for any strength."""
        return next((i for i, s in enumerate(self.strength) if s <= strength), len(self) - 1)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        columns = {name: getattr(self, name) for name in _HEADS}
        lists = {name: None if cells is None else list(cells) for name, cells in columns.items()}
        told = {"n_folds": self.n_folds, "chosen": self.chosen, "chosen_by": self.chosen_by}
        return lists | told

    def to_frame(self) -> Any:
        """A data frame: one row a tree."""
        return self.to_table().to_frame()

    def to_table(self, backend: str = "pandas") -> Table:
        """One row a tree, the smallest first."""
        heads = _HEADS if self.cv_error is not None else _HEADS[:3]
        cells = [getattr(self, name) for name in heads]
        taken = ["" if i != self.chosen else self.chosen_by or "yes" for i in range(len(self))]
        rows = tuple(zip(*cells, taken, strict=True))
        title = "Trees of cost-complexity pruning" + self._validated()
        return Table("complexity", title, (*heads, "chosen"), rows, "S 31", backend)

    def _validated(self) -> str:
        return "" if self.n_folds is None else f", cross-validated by {self.n_folds} folds"

    def __str__(self) -> str:
        return str(self.to_table())

    def to_markdown(self, level: int = 3) -> str:
        """The table in Markdown, under a heading of this level."""
        return self.to_table().to_markdown(level)

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()
