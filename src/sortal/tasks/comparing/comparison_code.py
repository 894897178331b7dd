"""The Python that gives the scores of one model of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sortal
from sortal.tasks.comparing.contest import INNER_FOLDS, SCORERS

if TYPE_CHECKING:
    from sortal.tasks.comparing.contest import Entrant
    from sortal.tasks.comparing.settings import Settings

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
        "from sortal.tasks.training import training_rows",
    }
    if part is not None:
        imports.add("from sortal.tasks.comparing.folds import part_of")
    table = repr(settings.path) if settings.path else "table"
    x, some = ("matrix.values", "[{}]") if entrant.baseline else ("X", "[{}].to_native()")
    folds = settings.folds
    tested = said.format(X=x + some.format("test"))
    lines = [
        *sorted(imports, key=lambda line: (line.split()[0] != "import", line)),
        "",
        *([] if settings.path else ["# table: the data frame that was compared"]),
        f"rows = training_rows({_arguments(table, settings)})",
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


def _arguments(table: str, settings: Settings) -> str:
    columns = f"drop={list(settings.drop)!r}, categories={list(settings.categories)!r}"
    return f"{table}, {settings.target!r}, {columns}, reading={{}}"


def _estimator(entrant: Entrant, settings: Settings) -> tuple[set[str], list[str]]:
    """Imports, lines, and at last what makes an estimator."""
    seed = settings.folds.seed
    if entrant.learner is None:
        imports = {"from sortal.tasks.comparing.baselines import as_matrix, make_baseline"}
        lines = [f"matrix = as_matrix(rows.X, {settings.categorical_features!r})"]
        made = f"make_baseline({entrant.name!r}, matrix, {seed})"
    else:
        cls = entrant.learner.load()
        home = "sortal" if cls.__name__ in sortal.__all__ else cls.__module__
        imports, lines = {f"from {home} import {cls.__name__}"}, []
        told = entrant.options(settings.folds.seed, settings.categorical_features)
        made = f"{cls.__name__}({_options(told)})"
    if not (settings.tune and entrant.grid):
        return imports, [*lines, made]
    imports |= {"from sklearn.model_selection import GridSearchCV, StratifiedKFold"}
    scorer = SCORERS[settings.metric if entrant.probabilistic else "balanced_accuracy"]
    lines.append(
        f"inner = StratifiedKFold({INNER_FOLDS}, shuffle=True, random_state={seed})",
    )
    grid = f"{entrant.grid!r}"
    return imports, [
        *lines,
        f"GridSearchCV({made}, {grid}, scoring={scorer!r}, cv=inner)",
    ]


def _options(told: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in told.items())
