"""`sortal compare` and `sortal inspect`."""

from __future__ import annotations

import shlex
from typing import Annotated, Any, Literal

import typer

from sortal.cli import options as o
from sortal.cli.options import as_options, open_data, reading
from sortal.cli.output import (
    check_output,
    emit,
    emit_record,
    is_quiet,
    json_text,
    set_quiet,
    show_progress,
    text_width,
)
from sortal.cli.show_code import TABLE, Script, call
from sortal.tasks.registry import learners

COMPARE_EXAMPLES = (
    "sortal compare penguins.csv --target species",
    "sortal compare penguins.csv -t species --learner tree --learner lda --repeats 1",
    "sortal compare penguins.csv -t species --no-baselines --metric log_loss --budget 60",
)

Metric = Literal["balanced_accuracy", "accuracy", "log_loss"]

Learners = Annotated[
    list[str] | None,
    typer.Option(
        "--learner",
        "-l",
        metavar="NAME",
        help=f"Only these of {o.learner_names()}.",
        show_default=False,
    ),
]

Baselines = Annotated[
    bool,
    typer.Option(
        "--baselines/--no-baselines", help="Also the majority class and scikit-learn's models."
    ),
]

MetricName = Annotated[Metric, typer.Option("--metric", "-m", help="What models are judged by.")]

Folds = Annotated[
    int, typer.Option("--folds", metavar="N", help="Parts of a cross-validation.", parser=o.whole)
]

Repeats = Annotated[
    int | None,
    typer.Option(
        "--repeats",
        metavar="N",
        help="Cross-validations; by the number of rows if not given.",
        parser=o.whole,
    ),
]

Budget = Annotated[float, typer.Option("--budget", metavar="SECONDS", help="Time for all models.")]

ConfidenceLevel = Annotated[
    float,
    typer.Option(
        "--confidence-level",
        metavar="SHARE",
        help="Confidence level of the intervals and of the tests behind the choice.",
    ),
]

Tune = Annotated[bool, typer.Option("--tune", help="Choose a learner's options in each fold.")]

Seed = Annotated[int, typer.Option("--seed", metavar="N", help="For the folds.", parser=o.whole)]

Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", help="Models at a time; at most the cores.", parser=o.whole
    ),
]

Times = Annotated[
    bool, typer.Option("--times/--no-times", help="Also seconds, which differ from run to run.")
]

DEFAULTS = {
    "learners": None,
    "baselines": True,
    "metric": "balanced_accuracy",
    "folds": 10,
    "repeats": None,
    "budget": 150.0,
    "confidence_level": 0.95,
    "tune": False,
    "drop": None,
    "categorical_features": None,
    "random_state": 0,
    "n_jobs": None,
}


def compare(
    data: o.Data,
    target: o.Target,
    learner: Learners = None,
    baselines: Baselines = True,
    metric: MetricName = "balanced_accuracy",
    folds: Folds = 10,
    repeats: Repeats = None,
    budget: Budget = 150.0,
    confidence_level: ConfidenceLevel = 0.95,
    tune: Tune = False,
    seed: Seed = 0,
    jobs: Jobs = None,
    drop: o.Drop = None,
    categorical: o.Categorical = None,
    text: o.Text = None,
    na_values: o.NaValues = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    decimal: o.Decimal = None,
    times: Times = True,
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Compare learners, and choose one.

    All learners and, as baselines, models of scikit-learn are judged by the same repeated
    cross-validation. Chosen is the simplest that is not distinguishably worse than the best.
    """
    set_quiet(quiet)
    given: dict[str, Any] = {
        "learners": learner or None,
        "baselines": baselines,
        "metric": metric,
        "folds": folds,
        "repeats": repeats,
        "budget": budget,
        "confidence_level": confidence_level,
        "tune": tune,
        "drop": drop or None,
        "categorical_features": categorical or None,
        "random_state": seed,
        "n_jobs": jobs,
    }
    named = {name: value for name, value in given.items() if value != DEFAULTS[name]}
    how = reading(na_values, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_compare_code(data, target, named, how, as_json, times, output)))
        return
    from sortal.tasks.compare.compare import compare as task

    check_output(output, data)
    table = open_data(data, how)
    with show_progress(is_quiet()) as progress:
        comparison = task(table, target, progress=progress, **named)
    if as_json:
        emit(json_text(comparison.to_dict()), output)
    else:
        emit(comparison.to_text(text_width(output), times=times), output)
    if not as_json and output is None:
        _go_on(comparison, data, target, how, drop, categorical)


def _compare_code(
    data: str,
    target: str,
    named: dict[str, Any],
    how: dict[str, Any],
    as_json: bool,
    times: bool,
    output: str | None,
) -> Script:
    script = Script()
    script.read(data, how)
    script.add(f"comparison = {call('sortal.compare', TABLE, target, **named)}")
    if times or as_json:
        script.finish("comparison", "text", as_json, output)
    else:
        script.write("comparison.to_text(times=False)", output)
    return script


def _go_on(
    comparison: Any,
    data: str,
    target: str,
    how: dict[str, Any],
    drop: list[str] | None,
    categorical: list[str] | None,
) -> None:
    """The command that fits what was chosen; beside a baseline, the learner named with it."""
    learner = comparison.choice.learner
    if learner not in {known.name for known in learners()}:
        return
    words = ["sortal", "fit", data, "--target", target, "--learner", learner]
    for option, columns in (("--drop", drop), ("--categorical", categorical)):
        words += [word for column in columns or () for word in (option, column)]
    emit(f"\nGo on with: {shlex.join([*words, *as_options(how), '-o', 'model.sortal'])}")


# --- `sortal inspect` ----------------------------------------------------------------------------

INSPECT_EXAMPLES = (
    "sortal inspect penguins.csv",
    "sortal inspect penguins.csv --target species",
    "sortal inspect penguins.csv --target species --drop year --json",
)


def inspect(
    data: o.Data,
    target: o.MaybeTarget = None,
    drop: o.Drop = None,
    text: o.Text = None,
    na_values: o.NaValues = None,
    delimiter: o.Delimiter = None,
    encoding: o.Encoding = None,
    header: o.Header = None,
    decimal: o.Decimal = None,
    form: o.Format = "text",
    output: o.Output = None,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
    quiet: o.Quiet = False,
) -> None:
    """Look at a table: columns, missing values, classes, findings.

    Every finding comes with the option of fit and compare that answers it.
    """
    set_quiet(quiet)
    how = reading(na_values, text, delimiter, encoding, header, decimal)
    if show_code:
        emit(str(_inspect_code(data, target, drop, how, form, as_json, output)))
        return
    from sortal.tasks.inspect.inspect import inspect as task

    check_output(output, data)
    emit_record(task(data, target, drop=drop or (), **how), form, as_json, output)


def _inspect_code(
    data: str,
    target: str | None,
    drop: list[str] | None,
    how: dict[str, Any],
    form: o.TextFormat,
    as_json: bool,
    output: str | None,
) -> Script:
    script = Script()
    given = {"drop": drop} | how if drop else how
    script.add(f"found = {call('sortal.inspect', data, *filter(None, [target]), **given)}")
    script.finish("found", form, as_json, output)
    return script
