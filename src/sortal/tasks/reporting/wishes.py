"""What a report was asked for."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Wishes:
    """The options of `report`: those of `compare`, how a file is read, and how much is shown.

    `joins` says that there was rare text to be joined, which code that makes a model again must do.
    """

    target: str
    learners: Sequence[str] | None = None
    baselines: bool | Sequence[str] = True
    metric: str = "balanced_accuracy"
    folds: int = 10
    repeats: int | None = None
    budget: float = 150.0
    level: float = 0.05
    tune: bool = False
    drop: Sequence[str] = ()
    categories: Sequence[str] = ()
    random_state: int = 0
    n_jobs: int | None = None
    rows: bool = False
    min_frequency: int = 5
    keep: Sequence[str] = ()
    title: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    joins: bool = False

    def comparing(self) -> dict[str, Any]:
        """The options that `compare` takes, too."""
        others = ("target", "rows", "min_frequency", "keep", "title", "reading", "joins")
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in others}

    def named(self) -> dict[str, Any]:
        """Options that differ from their defaults, without target and reading, as one types them.

        How many cores work is left out: it changes no score.
        """
        told = {}
        for f in fields(self):
            value = getattr(self, f.name)
            unnamed = ("target", "reading", "n_jobs", "joins")
            if f.name not in unnamed and value != f.default:
                told[f.name] = list(value) if isinstance(value, tuple) else value
        return told

    def fitting(self) -> dict[str, Any]:
        """The options among these that `fit` and `work` take, too."""
        return {
            name: value for name, value in self.named().items() if name in ("drop", "categories")
        }


def names(given: Any) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given)
