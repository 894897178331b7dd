"""The record of a comparison: its table, the choice and why, scores fold by fold."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from html import escape
from typing import TYPE_CHECKING, Any

from sortal.errors import OptionError, listed
from sortal.models import faces
from sortal.models.records import Table, frame_of
from sortal.tasks.comparison_code import code_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.models.records import Cell
    from sortal.tasks.judging import Choice
    from sortal.tasks.settings import Settings


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
    """What `compare` found: models, best first, the choice, and how it was done."""

    models: tuple[ModelResult, ...]
    choice: Choice
    settings: Settings
    notes: tuple[str, ...] = ()

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
        raise OptionError(f"There is no model {name!r} in this comparison: it has {known}.")

    @property
    def table(self) -> Table:
        """The models, best first, as one reads them."""
        metric = self.settings.metric
        both = metric != "log_loss"
        heads = ["model", self.settings.head, "from", "to", *(["log loss ↓"] if both else [])]
        heads += ["size", "fit s", "predict s", "behind", "p", "status"]
        rows = [_row(model, both=both) for model in self.models]
        return Table(
            "comparison", self.settings.title, tuple(heads), tuple(rows), "", self.settings.backend
        )

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
        return faces.join_text("", [str(self.table), "\n".join([self.sentence, *self.notes])])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        words = [f"<p>{escape(words)}</p>" for words in (self.sentence, *self.notes)]
        return faces.join_html("", [self.table._repr_html_(), *words])


def _row(model: ModelResult, *, both: bool) -> tuple[Cell, ...]:
    size = None if model.size is None else round(model.size)
    return (
        model.name,
        _digits(model.score),
        _digits(model.low),
        _digits(model.high),
        *((_digits(model.log_loss),) if both else ()),
        size,
        _seconds(model.fit_seconds),
        _seconds(model.predict_seconds),
        _digits(model.behind),
        _p(model.p),
        model.status,
    )


def _digits(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _p(p: float | None) -> Cell:
    if p is None:
        return None
    return "<0.0001" if p < 0.0001 else float(f"{p:.2g}")


def _seconds(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.2g}")


def _plain(thing: Any) -> Any:
    """Dictionaries, lists and what JSON knows."""
    if isinstance(thing, dict):
        return {str(name): _plain(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(value) for value in thing]
    return thing if isinstance(thing, str | bool | int | float | None) else repr(thing)
