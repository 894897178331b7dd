"""How to get a report again: code, a command, versions and what the rows were."""

from __future__ import annotations

import platform
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import sortal
from sortal.base.classifier import TableClassifier
from sortal.base.save import parts_of
from sortal.records.tables import Table
from sortal.tasks.compare.settings import TABLE, Name, as_typed, call, in_one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.registry import FittedClassifier
    from sortal.tasks.report.models import FittedLearner
    from sortal.tasks.tables import FileTable

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "narwhals", "pandas", "duckdb", "matplotlib")

_JOINING = "from sortal.tasks.report.gather import join_rare"


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
    wishes: ReportOptions, file: FileTable | None, chosen: FittedLearner | None, left_out: int
) -> Reproduction:
    """Code for the report and for the chosen model, and with what they were run."""
    return Reproduction(
        report_code=report_code(wishes, file),
        model_code="" if chosen is None else model_code(wishes, file, chosen, left_out),
        command="" if file is None else command(wishes, file),
        versions=versions(),
        seed=wishes.random_state,
        fingerprint="" if chosen is None else _fingerprint(chosen.estimator),
        file="" if file is None else f"{file.name}, {file.n_bytes:,} bytes, sha256 {file.sha256}",
    )


def report_code(wishes: ReportOptions, file: FileTable | None) -> str:
    """Python that makes the report again."""
    data, reading = (TABLE, {}) if file is None else (_path(file), wishes.reading)
    made = call("sortal.report", data, wishes.target, **wishes.named(), **reading)
    lines = ["import sortal", "", *(_table(wishes, file) if file is None else [])]
    return "\n".join([*lines, f"report = {made}", 'report.save("report.html")'])


def model_code(
    wishes: ReportOptions, file: FileTable | None, chosen: FittedLearner, left_out: int = 0
) -> str:
    """Python that fits the chosen model again, keeps it, and predicts with it."""
    plain = not left_out and not wishes.drop
    imports, made = (_by_class if plain else _by_task)(wishes, chosen)
    return "\n".join(
        [
            *_sorted(["import sortal", *imports, *([_JOINING] if wishes.joins else [])]),
            "",
            *_table(wishes, file),
            *_joined(wishes),
            *made,
            'model.save("model.sortal")',
            "print(model.predict(table[:5]))",
        ]
    )


def fitting_code(wishes: ReportOptions, fitted: FittedLearner) -> str:
    """Python that fits one of the models to the table, and names what code of pictures uses."""
    given = (TABLE, wishes.target, list(wishes.drop), list(wishes.categorical_features))
    rows = in_one_line("training_rows", *given, {})
    imports = [
        "import sortal",
        "from sortal.tasks.fit import fit",
        "from sortal.tasks.fit import training_rows",
    ]
    return "\n".join(
        [
            *_sorted([*imports, *([_JOINING] if wishes.joins else [])]),
            "",
            "# table: the data frame, or sortal.read(...) of the file",
            *_joined(wishes),
            f"model = {_fit(wishes, fitted)}",
            f"rows = {rows}",
            "X, y = rows.X, rows.y",
        ]
    )


def _by_class(wishes: ReportOptions, chosen: FittedLearner) -> tuple[list[str], list[str]]:
    """Imports, and a fit by the estimator itself."""
    cls = chosen.learner.load()
    is_ours = cls.__name__ in sortal.__all__
    imports = [] if is_ours else [f"from {cls.__module__} import {cls.__name__}"]
    made = call(f"sortal.{cls.__name__}" if is_ours else cls.__name__, **chosen.options)
    return imports, [f"model = {made}", f"model.fit(table, {wishes.target!r})"]


def _by_task(wishes: ReportOptions, chosen: FittedLearner) -> tuple[list[str], list[str]]:
    """Imports, and a fit that leaves out columns, and rows without a label."""
    return ["from sortal.tasks.fit import fit"], [f"model = {_fit(wishes, chosen)}"]


def _fit(wishes: ReportOptions, fitted: FittedLearner) -> str:
    return call("fit", TABLE, wishes.target, fitted.learner.name, **_fit_arguments(wishes, fitted))


def _fit_arguments(wishes: ReportOptions, chosen: FittedLearner) -> dict[str, Any]:
    """What `fit` and `working` are told: options that differ from their defaults, and columns."""
    usual = chosen.learner.options()
    own = {k: v for k, v in chosen.options.items() if k != "categorical_features" and v != usual[k]}
    return ({"options": own} if own else {}) | wishes.fitting()


def work_line(wishes: ReportOptions, chosen: FittedLearner) -> str:
    """The line that shows the whole working."""
    table = Name(_join(wishes)) if wishes.joins else TABLE
    named = _fit_arguments(wishes, chosen)
    return in_one_line("sortal.working", table, wishes.target, chosen.learner.name, **named)


def _joined(wishes: ReportOptions) -> list[str]:
    """The line that joins rare text, where there is some."""
    return [f"table = {_join(wishes)}"] if wishes.joins else []


def _join(wishes: ReportOptions) -> str:
    columns = list(wishes.categorical_features)
    named = {"categorical_features": columns} if columns else {}
    return in_one_line("join_rare", TABLE, wishes.target, wishes.min_frequency, **named)


def _sorted(imports: Sequence[str]) -> list[str]:
    return sorted({*imports}, key=lambda line: (line[0] == "f", line))


def command(wishes: ReportOptions, file: FileTable) -> str:
    """What to type, in the folder of the file, for the same report; nothing where one cannot."""
    if not isinstance(wishes.baselines, bool) or "format" in wishes.reading:
        return ""
    words = ["sortal", "report", _path(file), "--target", wishes.target]
    words += as_typed({**wishes.named(), **wishes.reading})
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
