"""How a comparison was done: everything that is needed to do it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from sortal.errors import counted
from sortal.tasks.registry import features_among

if TYPE_CHECKING:
    from sortal.tasks.compare.fold_run import Candidate, Folds


class Metric(NamedTuple):
    """What a score is called, whether more is better, and its largest value."""

    words: str
    higher_is_better: bool
    highest: float


METRICS = {
    "balanced_accuracy": Metric("balanced accuracy", True, 1.0),  # noqa: FBT003
    "accuracy": Metric("accuracy", True, 1.0),  # noqa: FBT003
    "log_loss": Metric("log loss", False, float("inf")),  # noqa: FBT003
}


@dataclass(frozen=True)
class Settings:
    """Rows, classes, folds, options. `path` is the file that the rows came from, if any."""

    target: str
    metric: str
    folds: Folds
    confidence_level: float
    budget: float
    tune: bool
    drop: tuple[str, ...]
    categorical_features: tuple[str, ...]
    rows: int
    left_out: int
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    n_jobs: int
    seconds: float
    backend: str
    path: str | None
    entrants: tuple[Candidate, ...]

    @property
    def significance_level(self) -> float:
        """The level of the tests, without what the subtraction rounds."""
        return round(1 - self.confidence_level, 12)

    @property
    def declared_features(self) -> list[str]:
        """The columns that are learned from and declared to be categories."""
        return features_among(self.categorical_features, self.target)

    @property
    def head(self) -> str:
        """The metric, with an arrow to where better is."""
        metric = METRICS[self.metric]
        return f"{metric.words} {'↑' if metric.higher_is_better else '↓'}"

    @property
    def title(self) -> str:
        """What was compared."""
        return (
            f"{self.target}: {counted(len(self.classes), 'class', 'classes')}, "
            f"{counted(self.rows, 'row')}, {self.folds}; "
            f"intervals of {100 * self.confidence_level:g} %"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings."""
        return {
            "target": self.target,
            "metric": self.metric,
            "folds": self.folds.folds,
            "repeats": self.folds.repeats,
            "random_state": self.folds.seed,
            "confidence_level": self.confidence_level,
            "budget": self.budget,
            "tune": self.tune,
            "drop": list(self.drop),
            "categorical_features": list(self.categorical_features),
            "rows": self.rows,
            "left_out": self.left_out,
            "classes": list(self.classes),
            "counts": list(self.counts),
            "n_jobs": self.n_jobs,
            "seconds": self.seconds,
            "file": self.path,
        }
