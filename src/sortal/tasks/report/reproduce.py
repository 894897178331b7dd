"""How to get a report again: code, a command, versions and what the rows were."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import sortal
from sortal.base.classifier import TableClassifier
from sortal.base.save import parts_of
from sortal.records.tables import Table
from sortal.tasks.compare.settings import ReportOptions
from sortal.tasks.options import TABLE, as_typed, call, in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.registry import FittedClassifier
    from sortal.tasks.report.models import FittedLearner
    from sortal.tasks.tables import FileTable

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "duckdb", "matplotlib")


@dataclass(frozen=True)
class Reproduction:
    """How to get the same again: code for the report and for the chosen model, and with what."""

    report_code: str
    model_code: str
    command: str
    versions: Table
    seed: int
    fingerprint: str
    file: str


def reproduction(
    wishes: ReportOptions,
    refit: ReportOptions,
    file: FileTable | None,
    chosen: FittedLearner | None,
    candidates: Sequence[Candidate],
) -> Reproduction:
    """Code for the report and for the chosen model, and with what they were run.

    `refit` has the options by which the rows that were learned from are got again.
    """
    named = _named(wishes, candidates)
    return Reproduction(
        report_code=report_code(wishes, named, file),
        model_code="" if chosen is None else model_code(refit, file, chosen),
        command="" if file is None else command(wishes, named, file),
        versions=versions(),
        seed=wishes.random_state,
        fingerprint="" if chosen is None else _fingerprint(chosen.estimator),
        file="" if file is None else f"{file.name}, {file.n_bytes:,} bytes, sha256 {file.sha256}",
    )


def can_type_costs(wishes: ReportOptions) -> bool:
    """Whether costs are given by the names of classes, which a command can do."""
    return wishes.costs is None or isinstance(wishes.costs, str | Mapping)


def _named(wishes: ReportOptions, candidates: Sequence[Candidate]) -> dict[str, Any]:
    """Options that differ from their defaults; learners by the names of their candidates."""
    named = wishes.named()
    if wishes.learners is not None:
        named["learners"] = [one.name for one in candidates if not one.baseline]
    return named


def report_code(wishes: ReportOptions, named: Mapping[str, Any], file: FileTable | None) -> str:
    """Python that makes the report again."""
    data, reading = (TABLE, {}) if file is None else (_path(file), wishes.reading)
    made = call("sortal.report", data, wishes.target, **named, **reading)
    lines = ["import sortal", "", *(_table(wishes, file) if file is None else [])]
    return "\n".join([*lines, f"report = {made}", 'report.save("report.html")'])


def model_code(refit: ReportOptions, file: FileTable | None, chosen: FittedLearner) -> str:
    """Python that fits the chosen model again, keeps it, and predicts with it."""
    made = [f"model = {_fit(refit, chosen)}", 'model.save("model.sortal")']
    made.append("print(model.predict(table[:5]))")
    return _script(refit, _table(refit, file), made, "fit")


def fitting_code(refit: ReportOptions, fitted: FittedLearner) -> str:
    """Python that fits one of the models to the table, and names what code of pictures uses."""
    rows = call("training_rows", TABLE, refit.target, **refit.fitting())
    made = [f"model = {_fit(refit, fitted)}", f"rows = {rows}", "X, y = rows.X, rows.y"]
    table = ["# table: the data frame, or sortal.read(...) of the file"]
    return _script(refit, table, made, "fit", "training_rows")


def _script(refit: ReportOptions, table: list[str], made: list[str], *names: str) -> str:
    """Imports, the table, its rare text joined, and what is made of it."""
    imports = [f"from sortal.tasks.fit import {', '.join(names)}"]
    joined = []
    if refit.joins:
        imports.append("from sortal.tasks.report.gather import join_rare")
        columns = list(refit.categorical_features)
        given = {"categorical_features": columns} if columns else {}
        line = in_one_line("join_rare", TABLE, refit.target, refit.min_frequency, **given)
        joined.append(f"table = {line}")
    return "\n".join(["import sortal", *imports, "", *table, *joined, *made])


def _fit(refit: ReportOptions, fitted: FittedLearner) -> str:
    """The call of `fit`: options that differ from their defaults, rows and columns."""
    usual = fitted.learner.options()
    own = {k: v for k, v in fitted.options.items() if k != "categorical_features" and v != usual[k]}
    given = ({"options": own} if own else {}) | refit.fitting()
    return call("fit", TABLE, refit.target, fitted.learner.name, **given)


def command(wishes: ReportOptions, named: Mapping[str, Any], file: FileTable) -> str:
    """What to type, in the folder of the file, for the same report; nothing where one cannot."""
    whole = isinstance(wishes.baselines, bool) and not isinstance(wishes.replay, Mapping)
    if not can_type_costs(wishes) or not whole or "format" in wishes.reading:
        return ""
    words = ["sortal", "report", _path(file), "--target", wishes.target]
    words += [*as_typed(named, ReportOptions), *as_typed(wishes.reading)]
    return shlex.join([*words, "-o", "report.html"])


def _path(file: FileTable) -> str:
    """What the file is called in its folder: a report that is sent on says no more."""
    return "-" if file.name == "standard input" else file.name


def _table(wishes: ReportOptions, file: FileTable | None) -> list[str]:
    """The lines that read the table."""
    if file is None:
        return ["# table: the data frame that was reported on"]
    return [f"table = {call('sortal.read', _path(file), **wishes.reading)}"]


def versions() -> Table:
    """What the report was made with."""
    rows = [
        ("sortal", sortal.__version__),
        ("Python", platform.python_version()),
        *((name, version(name)) for name in _LIBRARIES),
        ("machine", f"{platform.system()} {platform.machine()}"),
    ]
    return Table("versions", "Made with", ("what", "version"), tuple(rows))


def _fingerprint(estimator: FittedClassifier) -> str:
    """Of the rows that were learned from."""
    if not isinstance(estimator, TableClassifier):
        return ""
    return str(parts_of(estimator).manifest["data"]["fingerprint"])
