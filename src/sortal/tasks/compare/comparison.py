"""The record of a comparison: its table, the choice and why, scores by fold, and code."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from html import escape
from typing import TYPE_CHECKING, Any

import sortal
from sortal.errors import ParameterError, listed
from sortal.records import render as faces
from sortal.records.render import fold, page
from sortal.records.tables import Table, frame_of
from sortal.tasks.compare.fold_run import INNER_FOLDS
from sortal.tasks.compare.settings import TABLE, Name, in_one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal._typing import Plain
    from sortal.records.tables import Cell
    from sortal.tasks.compare.choose import ModelChoice
    from sortal.tasks.compare.fold_run import Candidate
    from sortal.tasks.compare.run import OutOfFold
    from sortal.tasks.compare.settings import Settings


# --- The Python that gives the scores of one model of a comparison -------------------------------

_METRICS = {
    "balanced_accuracy": ("balanced_accuracy_score", "model.predict({X})"),
    "accuracy": ("accuracy_score", "model.predict({X})"),
    "log_loss": ("log_loss", "model.predict_proba({X}), labels=model.classes_"),
}


def code_of(name: str, part: int | None, settings: Settings) -> str:
    """A script that ends with `scores`, one a fold."""
    entrant = next(e for e in settings.entrants if e.name == name)
    imports, make = _estimator(entrant, settings)
    score, said = _METRICS[settings.metric]
    imports |= {
        "import narwhals as nw",
        "import numpy as np",
        f"from sklearn.metrics import {score}",
        "from sklearn.model_selection import RepeatedStratifiedKFold",
        "from sortal.tasks.fit import training_rows",
    }
    if part is not None:
        imports.add("from sortal.tasks.compare.fold_run import part_of")
    x, some = ("matrix.values", "[{}]") if entrant.baseline else ("X", "[{}].to_native()")
    folds = settings.folds
    tested = said.format(X=x + some.format("test"))
    lines = [
        *sorted(imports, key=lambda line: (line.split()[0] != "import", line)),
        "",
        *([] if settings.path else ["# table: the data frame that was compared"]),
        f"rows = {_rows(settings)}",
        "X = nw.from_native(rows.X, eager_only=True)",
        "y = np.array(nw.from_native(rows.y, series_only=True).to_list())",
        *make[:-1],
        (
            f"folds = RepeatedStratifiedKFold(n_splits={folds.folds}, n_repeats={folds.repeats}, "
            f"random_state={folds.seed})"
        ),
        "scores = []",
        "for fold, (train, test) in enumerate(folds.split(np.zeros(len(y)), y)):",
        *([f"    train = part_of(train, y, {part}, {folds.seed}, fold)"] if part else []),
        f"    model = {make[-1]}",
        f"    model.fit({x}{some.format('train')}, y[train])",
        f"    scores.append({score}(y[test], {tested}))",
        "print(np.mean(scores))",
    ]
    return "\n".join(lines) + "\n"


def _rows(settings: Settings) -> str:
    columns = {
        "drop": list(settings.drop),
        "categorical_features": list(settings.categorical_features),
    }
    given = (settings.path or TABLE, settings.target)
    return in_one_line("training_rows", *given, **columns, reading={})


def _estimator(entrant: Candidate, settings: Settings) -> tuple[set[str], list[str]]:
    """Imports, lines, and at last what makes an estimator."""
    seed = settings.folds.seed
    if entrant.learner is None:
        imports = {"from sortal.tasks.compare.baselines import as_matrix, make_baseline"}
        lines = [f"matrix = as_matrix(rows.X, {settings.declared_features!r})"]
        made = f"make_baseline({entrant.name!r}, matrix, {seed})"
    else:
        cls = entrant.learner.load()
        home = "sortal" if cls.__name__ in sortal.__all__ else cls.__module__
        imports, lines = {f"from {home} import {cls.__name__}"}, []
        told = entrant.options(settings.folds.seed, settings.declared_features)
        made = in_one_line(cls.__name__, **told)
    if not (settings.tune and entrant.grid):
        return imports, [*lines, made]
    imports |= {"from sklearn.model_selection import GridSearchCV, StratifiedKFold"}
    lines.append(f"inner = StratifiedKFold({INNER_FOLDS}, shuffle=True, random_state={seed})")
    chosen_by = {"scoring": entrant.scorer(settings.metric), "cv": Name("inner")}
    return imports, [*lines, in_one_line("GridSearchCV", Name(made), entrant.grid, **chosen_by)]


@dataclass(frozen=True)
class ModelResult:
    """One model of a comparison; None where there is no such number, and `status` says why.

    `low` and `high` bound the score expected of models trained on so many rows; `size` is how many
    numbers predict needs; seconds, size and `rows` (of training) are medians over the folds.
    `behind` is the distance to the best score, `p` how probable so large a one is without a
    difference. `chosen` are the options that each fold chose where they are tuned.
    """

    name: str
    title: str
    baseline: bool
    score: float | None
    low: float | None
    high: float | None
    log_loss: float | None
    size: float | None
    fit_seconds: float | None
    predict_seconds: float | None
    rows: int | None
    status: str
    eligible: bool
    behind: float | None
    p: float | None
    scores: tuple[float, ...]
    chosen: tuple[Mapping[str, Any], ...] = ()
    part: int | None = None


@dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` found: models, best first, the choice, and how it was done.

    `kept` has, by name, what learners said of rows that they had not seen; `compare` keeps none.
    """

    models: tuple[ModelResult, ...]
    choice: ModelChoice
    settings: Settings
    notes: tuple[str, ...] = ()
    kept: Mapping[str, OutOfFold] = field(default_factory=dict, compare=False)

    @property
    def sentence(self) -> str:
        """Which model to go on with, and why."""
        return self.choice.sentence

    @property
    def scores(self) -> dict[str, tuple[float, ...]]:
        """The scores of each model, fold by fold."""
        return {model.name: model.scores for model in self.models}

    def __getitem__(self, name: str) -> ModelResult:
        for model in self.models:
            if model.name == name:
                return model
        known = listed([model.name for model in self.models])
        raise ParameterError(f"There is no model {name!r} in this comparison: it has {known}.")

    @property
    def table(self) -> Table:
        """The models, best first, as one reads them."""
        return self._table(times=True)

    def _table(self, *, times: bool) -> Table:
        loss = self.settings.metric != "log_loss"
        columns = [_columns(model, self.settings.head) for model in self.models]
        left_out = {*(() if times else ("fit s", "predict s")), *(() if loss else ("log loss ↓ ",))}
        heads = tuple(head for head in columns[0] if head not in left_out)
        rows = tuple(tuple(row[head] for head in heads) for row in columns)
        named = tuple(head.strip() for head in heads)
        return Table("comparison", self.settings.title, named, rows, "", self.settings.backend)

    def to_text(self, width: int | None = None, *, times: bool = True) -> str:
        """The table, the choice and the notes; without times, the same whenever it is done.

        With `width`, in lines that are no longer.
        """
        words = fold("\n".join([self.sentence, *self.notes]), width)
        return faces.join_text("", [self._table(times=times).to_text(width), words])

    def to_markdown(self, level: int = 3, *, times: bool = True) -> str:
        """The same in Markdown, under a heading of this level."""
        words = [faces.marked(words) for words in (self.sentence, *self.notes)]
        return faces.join_text("", [self._table(times=times).to_markdown(level), *words])

    def to_html(self) -> str:
        """A whole page."""
        return page(self.settings.title, self._repr_html_())

    def to_frame(self) -> Any:
        """A data frame, one row a model, of the library that the rows came in, or pandas."""
        names = [f.name for f in fields(ModelResult) if f.name not in ("scores", "chosen", "part")]
        rows = [tuple(getattr(model, name) for name in names) for model in self.models]
        heads = [self.settings.metric if name == "score" else name for name in names]
        if self.settings.metric == "log_loss":
            j = names.index("log_loss")
            heads, rows = heads[:j] + heads[j + 1 :], [row[:j] + row[j + 1 :] for row in rows]
        return frame_of(heads, rows, self.settings.backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "settings": self.settings.to_dict(),
            "models": [_plain(asdict(model)) for model in self.models],
            "choice": _plain(asdict(self.choice)),
            "sentence": self.sentence,
            "notes": list(self.notes),
        }

    def code(self, name: str) -> str:
        """Python that gives the scores of a model, fold by fold, without `compare`."""
        model = self[name]
        return code_of(name, model.part, self.settings)

    def __str__(self) -> str:
        return self.to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = [f"<p>{escape(words)}</p>" for words in (self.sentence, *self.notes)]
        return faces.join_html("", [self.table._repr_html_(), *words])


def _columns(model: ModelResult, head: str) -> dict[str, Cell]:
    """What is shown of a model; the blank tells the second log loss from a first one."""
    return {
        "model": model.name,
        head: _digits(model.score),
        "from": _digits(model.low),
        "to": _digits(model.high),
        "log loss ↓ ": _digits(model.log_loss),
        "size": None if model.size is None else round(model.size),
        "fit s": _seconds(model.fit_seconds),
        "predict s": _seconds(model.predict_seconds),
        "behind": _digits(model.behind),
        "p": _p(model.p),
        "status": model.status,
    }


def _digits(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _p(p: float | None) -> Cell:
    if p is None:
        return None
    return "<0.0001" if p < 0.0001 else float(f"{p:.2g}")


def _seconds(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.2g}")


def _plain(thing: object) -> Plain:
    """Dictionaries, lists and what JSON knows."""
    if isinstance(thing, dict):
        return {str(name): _plain(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(value) for value in thing]
    return thing if isinstance(thing, str | bool | int | float | None) else repr(thing)
