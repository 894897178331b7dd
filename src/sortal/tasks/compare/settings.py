"""What a comparison, and a report on it, is asked for, and how it was done: to do it again.

Signatures and docstrings of `compare` and `report`, and the options of the commands, follow from
the options here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sortal.errors import counted
from sortal.tasks.options import differing, option
from sortal.tasks.registry import features_among
from sortal.tasks.registry import learners as known_learners

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal._typing import CostsLike
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.fold_run import Folds
    from sortal.tasks.registry import SomeClassifier

MetricName = Literal[
    "accuracy", "balanced_accuracy", "cost", "log_loss", "brier", "roc_auc", "average_precision"
]


class Metric(NamedTuple):
    """What a measure is called, its largest value, and whether more is better."""

    words: str
    highest: float = 1.0
    higher_is_better: bool = True

    @property
    def head(self) -> str:
        """Its name, with an arrow to where better is."""
        return f"{self.words} {'↑' if self.higher_is_better else '↓'}"


METRICS = {
    "balanced_accuracy": Metric("balanced accuracy"),
    "accuracy": Metric("accuracy"),
    "cost": Metric("mean cost", inf, higher_is_better=False),
    "log_loss": Metric("log loss", inf, higher_is_better=False),
    "brier": Metric("Brier score", 2.0, higher_is_better=False),
    "roc_auc": Metric("ROC AUC"),
    "average_precision": Metric("average precision"),
}


@dataclass(frozen=True)
class CompareOptions:
    """The options of `compare`."""

    target: str
    learners: Sequence[str | SomeClassifier] | None = option(
        None,
        "names or estimators",
        """Registered learners, also with options, "tree:criterion=gini,max_leaf_nodes=8", or
        estimators that are not fitted; None means all.""",
        f"Only these of {', '.join(one.name for one in known_learners())}; also with options, "
        "such as tree:max_leaf_nodes=8.",
        "NAME",
        flags="--learner -l",
        type=list[str],
    )
    baselines: bool | Sequence[str] = option(
        True,
        "bool or names",
        "Models of scikit-learn to compare with, or some of them; they are never recommended.",
        "Also models of scikit-learn, to compare with.",
    )
    metric: str | None = option(
        None,
        '{"accuracy", "balanced_accuracy", "cost", "log_loss", "brier", "roc_auc", '
        '"average_precision"}',
        """What models are compared by, and by whose rule they decide. None: the mean cost where
        there are costs, accuracy where the largest class has at most 1.5 times the rows of the
        smallest, else balanced accuracy.""",
        "What models are compared by; by the classes' sizes if not given.",
        flags="--metric -m",
        type=MetricName,
    )
    costs: CostsLike = option(
        None,
        "dict or array-like of shape (n_classes, n_classes)",
        """{("yes", "no"): 10} is what it costs to predict "no" where "yes" is true; other errors
        cost 1. Models then decide by, and are compared by, the mean cost.""",
    )
    require_proba: bool = option(
        True,
        "bool",
        "Recommend only models that give probabilities.",
        "Recommend only models that give probabilities.",
    )
    folds: int | None = option(
        None,
        "int of at least 2",
        "None: 10 up to 20,000 rows, 5 up to 100,000, else 3.",
        "Parts of a cross-validation; by the number of rows if not given.",
        "N",
        type=int,
    )
    repeats: int | None = option(
        None,
        "int of at least 1",
        "None: 10 below 1,000 rows, 3 below 10,000, else 1.",
        "Cross-validations; by the number of rows if not given.",
        "N",
        type=int,
    )
    budget: float = option(
        150.0,
        "float above 0",
        """Seconds of CPU time that each worker may take. A model that would take more than its
        share learns from fewer rows, which is stated.""",
        "CPU time of each worker.",
        "SECONDS",
    )
    confidence_level: float = option(
        0.95,
        "float between 0 and 1",
        "Of the intervals, and of the bound on how far a model is behind.",
        "Confidence level of the intervals and bounds.",
        "PROPORTION",
    )
    tune: bool = option(
        False,
        "bool",
        "Choose among a few options of each model by three folds within each training part.",
        "Choose a learner's options in each fold.",
    )
    drop: Sequence[str] = option(
        (),
        "names",
        "Columns to leave out.",
        "Leave a column out.",
        "COLUMN",
    )
    use: Sequence[str] = option(
        (),
        "names",
        """Columns to learn from although they look like identifiers, free text or a leak of the
        target; without this they are left out, which is stated.""",
        "Learn from a column that looks like an identifier, free text or a leak.",
        "COLUMN",
    )
    categorical_features: Sequence[str] = option(
        (),
        "names",
        "Columns of numbers that are names rather than amounts.",
        "Take a column of numbers for names, such as codes.",
        "COLUMN",
        flags="--categorical",
    )
    min_class_rows: int = option(
        5,
        "int of at least 1",
        """A class of fewer rows is too small to be judged: models learn it, but rows of it count
        in no measure.""",
        "Classes of fewer rows are rare: they count in no measure.",
        "N",
    )
    merge_rare: str | None = option(
        None,
        "str",
        "Join the classes of fewer than `min_class_rows` rows into one of this name.",
        "Join the rare classes into one of this name.",
        "NAME",
    )
    drop_rare: bool = option(
        False,
        "bool",
        "Leave out the rows of the classes of fewer than `min_class_rows` rows.",
        "Leave out the rows of rare classes.",
    )
    groups: str | None = option(
        None,
        "str",
        "A column whose equal values mark rows that belong together: they stay in one fold.",
        "Keep rows with equal values of this column in one fold.",
        "COLUMN",
    )
    time: str | None = option(
        None,
        "str",
        "A column that orders the rows: models learn from earlier rows and are judged on later.",
        "Learn from earlier rows by this column, and test on later ones.",
        "COLUMN",
    )
    replay: str | Mapping[str, Any] | None = option(
        None,
        "path or dict",
        """What `to_dict` of an earlier comparison gave, or a JSON file of it: the same models run
        on the same folds and numbers of rows, whatever time they take.""",
        "Run exactly the models, folds and rows of an earlier JSON result.",
        "FILE",
    )
    random_state: int = option(
        0,
        "int from 0 to 2^32 - 1",
        "Which rows fall into which fold.",
        "For the folds.",
        "N",
        flags="--seed",
    )
    n_jobs: int | None = option(
        None,
        "int",
        "Workers, one core each; None means all cores. Scores do not depend on it.",
        "Workers; at most the cores.",
        "N",
        flags="--jobs",
        type=int,
    )

    @property
    def selection(self) -> dict[str, Any]:
        """The options that decide which rows and columns are learned from, which `fit` has, too."""
        return {name: getattr(self, name) for name in SELECTION}


SELECTION = (
    *("drop", "use", "categorical_features", "min_class_rows", "merge_rare", "drop_rare"),
    *("groups", "time"),
)


@dataclass(frozen=True)
class ReportOptions(CompareOptions):
    """The options of `report`: those of `compare`, how a file is read, and how much is shown.

    `reading` are options of `sortal.read`. `joins` says that there was rare text to be joined,
    which code that makes a model again must do.
    """

    include_rows: bool = option(
        False,
        "bool",
        """Whether the page may hold rows of the table. Otherwise it holds counts, and models that
        keep rows do not decide in it.""",
        "Rows of the table may be in the report; else only counts.",
    )
    min_frequency: int = option(
        5,
        "int of at least 1",
        """Text that fewer rows have is read as "other", unless rows may be shown, so that neither
        the models nor the report hold it. Class labels stay.""",
        "Text that fewer rows have is joined as 'other'; not where rows may be shown.",
        "N",
    )
    title: str | None = option(
        None,
        "str",
        "The heading.",
        "The heading.",
        "WORDS",
    )
    reading: Mapping[str, Any] = field(default_factory=dict)
    joins: bool = False

    def named(self) -> dict[str, object]:
        """Options that differ from their defaults, without target and reading, as one types them.

        How many cores work is left out: it changes no score.
        """
        given = differing(ReportOptions, vars(self))
        return {name: value for name, value in given.items() if name not in ("target", "n_jobs")}

    def fitting(self) -> dict[str, object]:
        """The options among these that `fit` and `working` take, too."""
        return {name: value for name, value in self.named().items() if name in SELECTION}


# --- How a comparison was done ------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What was asked for, and on which rows, classes and folds it was done.

    `metric` is the measure that decided, `costs` the rule by which models decide: None, "balanced"
    or a matrix. Of `classes`, which have `counts` rows, those in `judged` count in the measures.
    `dropped` columns were left out, the ones that were asked for among them. `path` is the file
    that the rows came from, if any.
    """

    asked: CompareOptions
    metric: str
    costs: Any
    folds: Folds
    rows: int
    left_out: int
    classes: tuple[Any, ...]
    counts: tuple[int, ...]
    judged: tuple[bool, ...]
    dropped: tuple[str, ...]
    n_jobs: int
    seconds: float
    backend: str
    path: str | None
    candidates: tuple[Candidate, ...]
    notes: tuple[str, ...] = ()

    @property
    def target(self) -> str:
        """The column that is predicted."""
        return self.asked.target

    @property
    def confidence_level(self) -> float:
        """That of intervals and bounds."""
        return self.asked.confidence_level

    @property
    def declared_features(self) -> list[str]:
        """The columns that are learned from and declared to be categories."""
        return features_among(self.asked.categorical_features, self.target)

    @property
    def head(self) -> str:
        """The metric, with an arrow to where better is."""
        return METRICS[self.metric].head

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
        asked = {
            name: value
            for name, value in vars(self.asked).items()
            if name not in ("learners", "replay", "reading", "joins")
        }
        own = ("metric", "rows", "left_out", "classes", "counts", "judged", "dropped")
        return asked | {
            **{name: getattr(self, name) for name in own},
            "decided_by": self.costs,
            "folds": self.folds.folds,
            "repeats": self.folds.repeats,
            "n_jobs": self.n_jobs,
            "seconds": self.seconds,
            "file": self.path,
        }
