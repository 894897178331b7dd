"""From the scores of all folds to the record: the table and the recommendation."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, field, fields, replace
from math import inf
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import ParameterError, listed
from sortal.records import render as faces
from sortal.records.render import page
from sortal.records.tables import Sentences, Shown, Table, frame_of
from sortal.tasks.baselines import CONSTANT
from sortal.tasks.compare.choose import (
    ModelChoice,
    ScoredCandidate,
    Yardstick,
    balanced_rows,
    choose,
    interval,
)
from sortal.tasks.compare.measures import average_precision, rare_classes
from sortal.tasks.compare.settings import METRICS, CompareOptions
from sortal.tasks.options import TABLE, as_typed, call, differing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal._typing import Plain
    from sortal.records.tables import Cell, Piece
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.run import OutOfFold, Run
    from sortal.tasks.compare.settings import Settings

# The measures that every comparison shows beside the one that decided.
_ALWAYS = ("accuracy", "balanced_accuracy", "log_loss", "roc_auc")


@dataclass(frozen=True)
class ModelResult:
    """One model of a comparison; None where there is no such number, and `status` says why.

    `low` and `high` bound the score expected of models trained on so many rows. `measures` are the
    means of all measures. `terms` are the leaves of a tree or the terms of a function, `size` how
    many numbers predict needs; seconds, sizes and `rows` (of training) are medians over the folds.
    `behind` is the distance to the best score. `part` is the number of training rows where the
    budget allowed a part of them only, `curve` the score by number of training rows. `chosen` are
    the options that each fold chose where they are tuned.
    """

    name: str
    title: str
    baseline: bool
    score: float | None
    low: float | None
    high: float | None
    measures: Mapping[str, float]
    terms: float | None
    size: float | None
    fit_seconds: float | None
    predict_seconds: float | None
    rows: int | None
    status: str
    eligible: bool
    behind: float | None
    scores: tuple[float, ...]
    chosen: tuple[Mapping[str, Any], ...] = ()
    part: int | None = None
    curve: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """What `compare` found: models, best first, the recommendation, and how it was done.

    `kept` has, by name, what learners predicted of rows that they had not seen; `compare` keeps
    none.
    """

    models: tuple[ModelResult, ...]
    choice: ModelChoice
    settings: Settings
    notes: tuple[str, ...] = ()
    kept: Mapping[str, OutOfFold] = field(default_factory=dict, compare=False)

    @property
    def sentence(self) -> str:
        """Which model to take, and at what price."""
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
        rows = [_columns(model, self.settings, times=times) for model in self.models]
        heads = tuple(dict.fromkeys(head for row in rows for head in row))
        cells = tuple(tuple(row.get(head) for head in heads) for row in rows)
        return Table("comparison", self.settings.title, heads, cells, "", self.settings.backend)

    @property
    def words(self) -> tuple[str, ...]:
        """The recommendation, what to be wary of, and the notes."""
        return (self.sentence, *self.choice.warnings, *self.notes)

    def _pieces(self, *, times: bool = True) -> Sequence[Piece]:
        """The table, the recommendation and the notes."""
        return self._table(times=times), Sentences(self.words)

    def to_text(self, width: int | None = None, *, times: bool = True) -> str:
        """What is printed; without times, the same whenever it is done.

        With `width`, in lines that are no longer.
        """
        told = [piece.to_text(width) for piece in self._pieces(times=times)]
        return faces.join_text("", told)

    def to_markdown(self, level: int | None = None, *, times: bool = True) -> str:
        """The same in Markdown, under a heading of this level."""
        level = self.LEVEL if level is None else level
        told = [piece.to_markdown(level) for piece in self._pieces(times=times)]
        return faces.join_text("", told)

    def to_html(self) -> str:
        """A whole page."""
        return page(self.settings.title, self._repr_html_())

    def to_frame(self) -> Any:
        """A data frame, one row per model, of the library that the rows came in, or pandas."""
        left = ("scores", "chosen", "curve", "measures", "part")
        names = [f.name for f in fields(ModelResult) if f.name not in left]
        measured = list(dict.fromkeys(name for model in self.models for name in model.measures))
        rows = [
            (
                *(getattr(model, name) for name in names),
                *(model.measures.get(name) for name in measured),
            )
            for model in self.models
        ]
        return frame_of([*names, *measured], rows, self.settings.backend)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, numbers and strings, ready for JSON."""
        return {
            "settings": _plain(self.settings.to_dict()),
            "models": [_plain(asdict(model)) for model in self.models],
            "choice": _plain(asdict(self.choice)),
            "sentence": self.sentence,
            "notes": list(self.notes),
        }

    def code(self, name: str) -> str:
        """Python that gives the scores of one model on the same folds."""
        model, asked = self[name], differing(CompareOptions, vars(self.settings.asked))
        only = {"learners": [], "baselines": [name]} if model.baseline else {"learners": [name]}
        named = asked | {"baselines": False} | only | {"replay": None}
        named = {option: value for option, value in named.items() if value is not None}
        table = TABLE if self.settings.path is None else self.settings.path
        found = call("sortal.compare", table, self.settings.target, **named)
        return f"import sortal\n\nfound = {found}\nscores = found[{name!r}].scores\n"

    def fit_options(self, name: str) -> dict[str, Any]:
        """The options by which a learner that is fitted again is the one that was compared."""
        candidate = next(one for one in self.settings.candidates if one.name == name)
        settings = self.settings
        given = settings.asked.costs if settings.costs is not settings.asked.costs else None
        rule = settings.costs if given is None else given
        costs = rule if candidate.carries(len(settings.classes)) else None
        return candidate.options(settings.folds.seed, settings.declared_features, costs)

    def fit_command(self, name: str, file: str, words: Sequence[str] = ()) -> str:
        """The command that fits a learner as it was compared; `words` say how the file is read."""
        candidate = next(one for one in self.settings.candidates if one.name == name)
        assert candidate.learner is not None  # noqa: S101  (of learners only)
        known, options = candidate.learner.options(), self.fit_options(name)
        options.pop("categorical_features", None)
        asked = differing(CompareOptions, self.settings.asked.selection)
        apart = [asked.pop(what) for what in ("groups", "time") if what in asked]
        asked["drop"] = [*self.settings.asked.drop, *apart]
        told = ["--target", self.settings.target, "--learner", candidate.learner.name]
        asked = {"costs": _by_name(options.pop("costs", None), self.settings.classes)} | asked
        for option, value in options.items():
            if value != known[option]:
                told += ["--set", f"{option}={value}"]
        told += [*as_typed(asked, CompareOptions), *words]
        return shlex.join(["sortal", "fit", file, *told, "-o", "model.sortal"])


def _columns(model: ModelResult, settings: Settings, *, times: bool) -> dict[str, Cell]:
    """What is shown of a model."""
    shown = {
        "model": model.name,
        settings.head: _digits(model.score),
        "from": _digits(model.low),
        "to": _digits(model.high),
    }
    beside = [name for name in (*_ALWAYS, "average_precision") if name != settings.metric]
    for name in beside:
        if name in _ALWAYS or name in model.measures:
            shown[METRICS[name].head] = _digits(model.measures.get(name))
    shown |= {"terms": _rounded(model.terms), "size": _rounded(model.size)}
    if times:
        shown["fit s"] = _seconds(model.fit_seconds)
        shown["predict s"] = _seconds(model.predict_seconds)
    return shown | {"behind": _digits(model.behind), "status": model.status}


def _digits(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _rounded(number: float | None) -> int | None:
    return None if number is None or not np.isfinite(number) else round(number)


def _seconds(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.2g}")


def _plain(thing: object) -> Plain:
    """Dictionaries, lists and what JSON knows; costs by classes as a list of records."""
    if isinstance(thing, dict):
        if any(isinstance(name, tuple) for name in thing):
            pairs = thing.items()
            return [{"true": a, "predicted": b, "cost": float(c)} for (a, b), c in pairs]
        return {str(name): _plain(value) for name, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_plain(value) for value in thing]
    if isinstance(thing, np.ndarray):
        return _plain(thing.tolist())
    if isinstance(thing, float) and not np.isfinite(thing):
        return None
    return thing if isinstance(thing, str | bool | int | float | None) else repr(thing)


# --- Scores judged, and everything stated --------------------------------------------------------


def build_comparison(
    runs: Sequence[Run], settings: Settings, beside: Sequence[Run] = ()
) -> Comparison:
    """The record; `beside` are models that ran again with the rows that others had."""
    found = [
        _result(one, run, settings) for one, run in zip(settings.candidates, runs, strict=True)
    ]
    constant = next((one.score for one in found if one.name == CONSTANT), None)
    counts = [n for n, judged in zip(settings.counts, settings.judged, strict=True) if judged]
    by = _yardstick(settings, counts, constant)
    asked = settings.asked
    field_of = [
        ScoredCandidate(
            one.name,
            one.scores,
            one.title,
            candidate.kind,
            inf if one.terms is None else one.terms,
            inf if one.size is None else one.size,
            one.eligible
            and not one.baseline
            and (candidate.probabilistic or not asked.require_proba)
            and (settings.costs is None or candidate.carries(len(settings.classes))),
        )
        for one, candidate in zip(found, settings.candidates, strict=True)
        if one.scores
    ]
    choice = choose(field_of, by)
    fewer = _fewer_right(choice, found)
    choice = replace(choice, warnings=(*choice.warnings, *fewer))
    shown = [_shown(one, found, choice, beside, settings) for one in found]
    ranked = sorted(
        shown,
        key=lambda one: (one.score is None, -by.sign * (one.score or 0.0), one.size or inf),
    )
    notes = (_metric_note(settings), *_notes(runs, settings), *_curves(ranked))
    return Comparison(tuple(ranked), choice, settings, tuple(filter(None, notes)))


def _fewer_right(choice: ModelChoice, found: Sequence[ModelResult]) -> list[str]:
    """What to say where always predicting the commonest class gets more rows right."""
    named = {one.name: one for one in found}
    if choice.recommended not in named or CONSTANT not in named:
        return []
    one, constant = named[choice.recommended], named[CONSTANT].measures.get("accuracy", 0.0)
    own = one.measures["accuracy"]
    if own >= constant:
        return []
    than = f"than always predicting the commonest class ({constant:.3f})"
    title = one.title[:1].upper() + one.title[1:]
    return [f"{title} gets fewer rows right ({own:.3f}) {than}."]


def _yardstick(settings: Settings, counts: Sequence[int], constant: float | None) -> Yardstick:
    n, rarest = sum(counts), min(counts)
    rows = {"balanced_accuracy": balanced_rows(counts), "accuracy": float(n)}
    worth = {"balanced_accuracy": 1 / (len(counts) * rarest), "accuracy": 1 / n}
    return Yardstick(
        settings.metric,
        settings.folds.test_share,
        settings.confidence_level,
        rows.get(settings.metric),
        rarest,
        worth.get(settings.metric, 0.0),
        constant,
    )


def _result(candidate: Candidate, run: Run, settings: Settings) -> ModelResult:
    results = [run.results[fold] for fold in sorted(run.results)]
    by_repeat = _precision(run, settings)
    scores = (
        by_repeat
        if settings.metric == "average_precision"
        else tuple(r.scores[settings.metric] for r in results if settings.metric in r.scores)
    )
    names = dict.fromkeys(name for r in results for name in r.scores)
    measures = {n: fmean(r.scores[n] for r in results if n in r.scores) for n in names}
    if by_repeat:
        measures["average_precision"] = fmean(by_repeat)
    sizes = [r.size for r in results if r.size is not None]
    terms = [r.terms for r in results if r.terms is not None]
    low, high = _bounds(scores, settings) if len(scores) > 1 else (None, None)
    status = _status(run, settings, scored=bool(scores) or not results)
    return ModelResult(
        name=candidate.name,
        title=candidate.title,
        baseline=candidate.baseline,
        score=fmean(scores) if scores else None,
        low=low,
        high=high,
        measures=measures,
        terms=median(terms) if terms else None,
        size=median(sizes) if sizes else None,
        fit_seconds=median(r.fit_seconds for r in results) if results else None,
        predict_seconds=median(r.predict_seconds for r in results) if results else None,
        rows=int(median(r.rows for r in results)) if results else None,
        status=status,
        eligible=run.state == "done" and bool(scores),
        behind=None,
        scores=scores,
        chosen=tuple(r.chosen for r in results if r.chosen),
        part=run.part,
    )


def _precision(run: Run, settings: Settings) -> tuple[float, ...]:
    """The average precision of each repeat whose folds are all done, pooled over its rows."""
    n, found = settings.folds.folds, list[float]()
    rare = rare_classes(np.array(settings.counts))
    if settings.metric == "average_precision":
        rare = rare or list(range(len(settings.counts)))
    if not rare:
        return ()
    for first in range(0, run.n_folds, n):
        parts = [run.results.get(f) for f in range(first, first + n)]
        if any(part is None or part.truth is None for part in parts):
            continue
        truth = np.concatenate([part.truth for part in parts if part is not None])
        scores = np.concatenate([part.probabilities for part in parts if part is not None])
        found.append(average_precision(truth, scores, rare))
    return tuple(found)


def _bounds(scores: Sequence[float], settings: Settings) -> tuple[float, float]:
    counts = [n for n, judged in zip(settings.counts, settings.judged, strict=True) if judged]
    by = _yardstick(settings, counts, None)
    found = interval(
        scores,
        by.test_share,
        level=1 - by.confidence_level,
        highest=METRICS[settings.metric].highest,
        rows=by.rows,
        rarest=by.rarest,
    )
    return found.low, found.high


def _status(run: Run, settings: Settings, *, scored: bool) -> str:
    """Why a model has no score, or saw fewer rows; nothing, where neither is so."""
    if run.state == "error":
        return run.words
    told = [run.words] if run.state == "unfinished" else []
    if run.part is not None and run.results:
        told.append(f"trained on {run.size:,} of {run.sizes[-1]:,} rows")
    if not scored:
        told.append(f"no probabilities, and so no {METRICS[settings.metric].words}")
    return "; ".join(told)


def _shown(
    one: ModelResult,
    found: Sequence[ModelResult],
    choice: ModelChoice,
    beside: Sequence[Run],
    settings: Settings,
) -> ModelResult:
    """A result beside the best one, with its scores by number of training rows."""
    best = next((other for other in found if other.name == choice.best), None)
    behind = None
    if best is not None and best.score is not None and one.score is not None:
        behind = abs(best.score - one.score)
    again = [
        (run.size, fmean(r.scores[settings.metric] for r in run.results.values()))
        for run in beside
        if run.name == one.name and run.results
    ]
    own = [] if one.rows is None or one.score is None else [(one.rows, one.score)]
    curve = tuple(sorted([*again, *own])) if again or one.part is not None else ()
    return replace(one, behind=behind, curve=curve)


def _metric_note(settings: Settings) -> str:
    """Which measure decided, and by which rule models decide."""
    rules = {
        "balanced_accuracy": "the mean over the classes of the proportion predicted correctly",
        "accuracy": "the proportion of rows predicted correctly",
        "cost": "the mean cost of a prediction",
    }
    what = METRICS[settings.metric].words
    told = f"Compared by {what}"
    if settings.metric in rules:
        told += f", {rules[settings.metric]}"
    if settings.costs is None:
        return f"{told}."
    rule = (
        "each model predicts the class whose probability is highest beside its proportion"
        if isinstance(settings.costs, str)
        else "each model predicts the class of least expected cost"
    )
    return f"{told}: {rule}."


def _curves(models: Sequence[ModelResult]) -> list[str]:
    """Models that saw fewer rows, and what the best one had of so many."""
    notes = []
    for one in models:
        if one.part is None or one.score is None:
            continue
        others = [
            f"{other.name} {score:.3f}"
            for other in models
            if other is not one
            for rows, score in other.curve
            if rows == one.part
        ]
        beside = f"; of as many, {', '.join(others)}" if others else ""
        notes.append(f"{one.name} learned from {one.part:,} rows: {one.score:.3f}{beside}.")
    return notes


def _notes(runs: Sequence[Run], settings: Settings) -> list[str]:
    """What else is stated: about rows, columns and time, and what models warned of."""
    notes = list(settings.notes)
    slow = [run.name for run in runs if run.slow]
    if slow:
        notes.append(
            f"Too slow for {settings.asked.budget:g} seconds in all: {', '.join(slow)}. A larger "
            "budget lets models run on all rows."
        )
    return [*notes, *_warned(runs)]


def _warned(runs: Sequence[Run]) -> list[str]:
    """One line per kind of warning: of which models, how often, and the first of them."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        for result in run.results.values():
            for kind, words in result.warned:
                kinds.setdefault(kind, {}).setdefault(run.name, []).append(words)
    n_folds = {run.name: len(run.results) for run in runs}
    notes = []
    for kind, by_model in kinds.items():
        who = ", ".join(f"{n} ({len(w)} of {n_folds[n]} folds)" for n, w in by_model.items())
        often = max(by_model.values(), key=len)
        notes.append(f"{kind}: {who}. For example: {often[0]}")
    return notes


def _by_name(costs: Any, classes: Sequence[Any]) -> Any:
    """Costs by (true label, predicted label), of a matrix those of errors that do not cost 1."""
    if costs is None or isinstance(costs, str | dict):
        return costs
    matrix = np.asarray(costs).tolist()
    pairs = {(a, b): matrix[i][j] for i, a in enumerate(classes) for j, b in enumerate(classes)}
    return {(a, b): cost for (a, b), cost in pairs.items() if cost != (a != b)}
