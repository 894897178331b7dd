"""What commands share: arguments, settings, how data is read, code that does the same."""

from __future__ import annotations

import json
import math
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast, get_type_hints

import typer

from sortal.cli.output import note, set_quiet
from sortal.errors import ParameterError
from sortal.tasks.compare.settings import CompareOptions, ReportOptions
from sortal.tasks.options import as_typed, call, differing, option, options_of
from sortal.tasks.registry import learners, read_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sortal._typing import CostsLike, Plain
    from sortal.tasks.options import Declared
    from sortal.tasks.registry import FittedClassifier
    from sortal.tasks.tables import OpenedTable, ReadOptions

TextFormat = Literal["text", "md", "html"]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet or JSON-lines file (also .gz); - is standard input.",
        show_default=False,
    ),
]

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, from fit.", show_default=False)
]

Target = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
]

MaybeTarget = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
]


def learner_names() -> str:
    """The learners' names, for a line of help."""
    return ", ".join(learner.name for learner in learners())


LearnerName = Annotated[
    str,
    typer.Option("--learner", "-l", metavar="NAME", help=f"What is fitted: {learner_names()}."),
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help=(
            "An option of the learner, such as max_depth=3, criterion=gini or pruning=null; "
            "sortal show LEARNER lists them."
        ),
        show_default=False,
    ),
]

Cost = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="TRUE->PREDICTED=N",
        help=(
            "What an error costs, such as 'yes->no=10'; others cost 1. Or balanced: an error costs "
            "the more, the rarer the true class is."
        ),
        show_default=False,
    ),
]

Threshold = Annotated[
    str | None,
    typer.Option(
        "--threshold",
        metavar="CLASS=P",
        help="Of two classes, predict this one from this probability on, such as yes=0.2.",
        show_default=False,
    ),
]


def whole(given: str) -> int:
    """A whole number, as an option has it."""
    try:
        return int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a whole number: give one, such as 7.") from None


Rows = Annotated[
    list[int] | None,
    typer.Option(
        "--row",
        "-r",
        metavar="N",
        help="A row, counted from 1.",
        show_default=False,
        parser=whole,
    ),
]

Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write into a file.", show_default=False),
]

All = Annotated[
    bool,
    typer.Option("--all", help="Everything, however long it is; JSON always has everything."),
]

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

ShowCode = Annotated[
    bool, typer.Option("--show-code", help="Print Python code that does the same, and do nothing.")
]

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]

Format = Annotated[
    TextFormat, typer.Option("--format", "-f", help="Plain text, Markdown or a page of HTML.")
]


# --- Options of a learner, given as `--set name=value` -------------------------------------------


def read_settings(given: list[str] | None) -> dict[str, Plain]:
    """Values by name; a value is JSON, or else a word."""
    settings: dict[str, Plain] = {}
    for setting in given or ():
        name, sign, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise ParameterError(
                f"--set {setting!r} cannot be read: give a name and a value, such as max_depth=3."
            )
        if name in settings:
            raise ParameterError(f"--set names {name!r} twice: give each option once.")
        settings[name] = read_value(value)
    return settings


# --- Costs, given as `--cost true->predicted=number` or `--threshold class=probability` -----------

# A probability that is the threshold, however rounded, is enough.
_ENOUGH = 1 + 1e-12


def read_cost_options(cost: Sequence[str] | None, threshold: str | None) -> CostsLike:
    """What `costs` of estimators takes: None, "balanced", or costs by labels, which are texts."""
    if cost and threshold is not None:
        raise ParameterError("--cost and --threshold both say what errors cost: give one of them.")
    if threshold is not None:
        name, probability = _named_number("--threshold", threshold, "yes=0.2")
        if not 0 < probability < 1:
            raise ParameterError(
                f"--threshold {threshold!r} cannot be used: give a probability above 0 and below 1."
            )
        return {(_label(name), None): (1 - probability) / probability * _ENOUGH}
    if not cost or list(cost) == ["balanced"]:
        return "balanced" if cost else None
    costs: dict[tuple[str, str], float] = {}
    for given in cost:
        names, number = _named_number("--cost", given, "'yes->no=10'")
        pair = _two_labels(names, given)
        if not 0 <= number < math.inf or pair in costs:
            raise ParameterError(
                f"--cost {given!r} cannot be used: give each error once, and a finite number of at "
                "least 0."
            )
        costs[pair] = number
    return costs


def _named_number(option: str, given: str, example: str) -> tuple[str, float]:
    name, _, number = given.rpartition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise ParameterError(
            f"{option} {given!r} cannot be read: give names, = and a number, such as "
            f"{option} {example}; balanced stands alone."
        ) from None


def _two_labels(names: str, given: str) -> tuple[str, str]:
    """The labels around the only arrow that is not within quotes."""
    arrows = [arrow.span() for arrow in re.finditer("->", names)]
    pairs = [(_label(names[:start]), _label(names[end:])) for start, end in arrows]
    found = [(true, predicted) for true, predicted in pairs if true and predicted]
    if len(found) != 1:
        raise ParameterError(
            f"--cost {given!r} cannot be read: give the true and the predicted class, such as "
            "--cost 'yes->no=10'; names that hold -> stand in double quotes, as in "
            """--cost '"a->b"->c=10'."""
        )
    return found[0]


def _label(text: str) -> str:
    """A label as it is or in quotes, as JSON has them; nothing where it would hold an arrow."""
    text = text.strip()
    if not text.startswith('"'):
        return "" if "->" in text else text
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return ""


@contextmanager
def costs_as_typed(costs: CostsLike) -> Iterator[None]:
    """Errors about costs that were typed name the option that gave them."""
    try:
        yield
    except ParameterError as error:
        if costs is None:
            raise
        by_one = isinstance(costs, dict) and any(None in pair for pair in costs)
        words = re.sub(r"^costs\b", "--threshold" if by_one else "--cost", str(error))
        raise ParameterError(words) from error


# --- Options that several commands take together -------------------------------------------------

# signs that are hard to type
_SIGNS = {"\\t": "tab", "space": " "}


@dataclass(frozen=True)
class ReadingOptions:
    """How the data is read, as the options say it; `sortal.read` describes them."""

    text: list[str] | None = option(
        None,
        "",
        "",
        "Read a column as text, whatever it looks like.",
        "COLUMN",
        type=list[str],
    )
    na_values: str | None = option(
        None,
        "",
        "",
        "Words that mean a missing value, with commas between; added to NA, ? and the like.",
        "WORDS",
    )
    delimiter: str | None = option(
        None,
        "",
        "",
        "What stands between the cells of a CSV file; found out if not given.",
        "SIGN",
    )
    encoding: str | None = option(
        None,
        "",
        "",
        "The encoding of a CSV file, such as latin-1; UTF-8 if not given.",
        "NAME",
    )
    header: bool | None = option(
        None,
        "",
        "",
        "Whether the first line of a CSV file has the names; found out if not given.",
        flags="--header/--no-header",
        type=bool,
    )
    decimal: str | None = option(
        None,
        "",
        "",
        "The decimal mark of a CSV file, a point or a comma; found out if not given.",
        "SIGN",
    )

    @property
    def named(self) -> ReadOptions:
        """The options of `sortal.read` that were given."""
        given = {
            "na_values": None if self.na_values is None else self.na_values.split(","),
            "text": self.text or None,
            "delimiter": _SIGNS.get(self.delimiter or "", self.delimiter),
            "encoding": self.encoding,
            "header": self.header,
            "decimal": self.decimal,
        }
        known = {name: value for name, value in given.items() if value is not None}
        return cast("ReadOptions", known)

    @property
    def words(self) -> list[str]:
        """The words of a command line that say the same."""
        order = ("text", "na_values", "delimiter", "encoding", "decimal", "header")
        named = dict(self.named)
        return as_typed({name: named[name] for name in order if name in named})


class Group:
    """Options that a record declares, all or some, and what a command gets of their values.

    Those that a record has beyond the one that it extends come first.
    """

    def __init__(
        self, record: type[Any], *names: str, make: Callable[..., object] | None = None
    ) -> None:
        chosen = [one for one in options_of(record) if not names or one[0] in names]
        chosen.sort(key=lambda one: one[0] not in record.__annotations__)
        self.parameters = [
            part for name, default, _, one in chosen for part in _typed(name, default, one)
        ]
        self.make: Callable[..., object] = make or _given


def _typed(name: str, default: object, option: Declared) -> list[Parameter]:
    """An option as typer has it; costs are typed by two options, and some by none."""
    if not option.help:
        kinds = {"cost": Cost, "threshold": Threshold} if name == "costs" else {}
        return [_parameter(part, None, kind) for part, kind in kinds.items()]
    value = None if default == () else default
    known = typer.Option(
        *option.flags.split(),
        metavar=option.metavar,
        help=option.help,
        show_default=value is not None,
        parser=whole if option.type is int else None,
    )
    kind = option.type if value is not None else option.type | None
    return [_parameter(name, value, Annotated[kind, known])]


def _parameter(name: str, default: object, kind: object) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _given(
    *, cost: list[str] | None = None, threshold: str | None = None, **values: object
) -> dict[str, Any]:
    """Options that differ from their defaults, by their names in Python."""
    values["costs"] = read_cost_options(cost, threshold)
    given = {name: None if value == [] else value for name, value in values.items()}
    return differing(ReportOptions, given)


Reading = Annotated[ReadingOptions, Group(ReadingOptions, make=ReadingOptions)]

Comparing = Annotated[dict[str, Any], Group(CompareOptions)]

Reporting = Annotated[dict[str, Any], Group(ReportOptions)]

_COLUMNS = ("drop", "use", "categorical_features")

_RARE = ("min_class_rows", "merge_rare", "drop_rare")

Dropping = Annotated[dict[str, Any], Group(CompareOptions, "drop")]

Columns = Annotated[dict[str, Any], Group(CompareOptions, *_COLUMNS)]

Fitting = Annotated[dict[str, Any], Group(CompareOptions, "costs", *_COLUMNS, *_RARE)]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes the options of its groups in their place, and --quiet."""
    kinds = get_type_hints(command, include_extras=True)
    groups = {
        name: group
        for name, kind in kinds.items()
        for group in getattr(kind, "__metadata__", ())
        if isinstance(group, Group)
    }
    taken = []
    for name, own in signature(command).parameters.items():
        if name in groups:
            taken += groups[name].parameters
        else:
            taken.append(own.replace(kind=own.KEYWORD_ONLY, annotation=kinds[name]))
    taken.append(_parameter("quiet", default=False, kind=Quiet))

    @wraps(command)
    def spread_out(*, quiet: bool, **given: object) -> None:
        set_quiet(quiet)
        for name, group in groups.items():
            given[name] = group.make(**{one.name: given.pop(one.name) for one in group.parameters})
        command(**given)

    vars(spread_out)["__signature__"] = Signature(taken)
    return spread_out


def open_data(data: str, how: ReadOptions, model: FittedClassifier | None = None) -> OpenedTable:
    """The data, read; what was decided on the way is said. For a model, as it knows the columns."""
    from sortal.tasks.load import open_for
    from sortal.tasks.tables import open_table

    opened = open_table(data, **how) if model is None else open_for(model, data, how)
    for words in opened.notes:
        note(words)
    return opened


# --- Python code that does what a command does, for `--show-code` --------------------------------


@dataclass
class Script:
    """Lines of code and what they import."""

    imports: list[str] = field(default_factory=lambda: ["import sortal"])
    lines: list[str] = field(default_factory=list)

    def need(self, line: str) -> None:
        """Import something, once."""
        if line not in self.imports:
            self.imports.append(line)

    def add(self, *lines: str) -> None:
        """More lines."""
        self.lines += lines

    def read(self, data: str, reading: Mapping[str, object]) -> None:
        """The data as `table`."""
        self.add(f"table = {call('sortal.read', data, **reading)}")

    def load(self, model: str) -> None:
        """The model as `model`."""
        self.add(f"model = {call('sortal.load', model)}")

    def finish(self, name: str, form: TextFormat, as_json: bool, output: str | None) -> None:
        """Print a record, or write it into a file."""
        forms = {"text": f"str({name})", "md": f"{name}.to_markdown()", "html": f"{name}.to_html()"}
        text = forms[form]
        if as_json:
            self.need("import json")
            text = f"json.dumps({name}.to_dict(), indent=2, ensure_ascii=False, allow_nan=False)"
        if text.startswith("str("):
            self.write(name if output in (None, "-") else text, output)
        else:
            self.write(text, output)

    def write(self, text: str, output: str | None) -> None:
        """Print a text, or write it into a file, with an end of line."""
        if output in (None, "-"):
            self.add(f"print({text})")
            return
        self.need("from pathlib import Path")
        if text != "text":
            self.add(f"text = {text}")
        self.add(f'Path({output!r}).write_text(text + "\\n", encoding="utf-8")')

    def __str__(self) -> str:
        ordered = sorted(self.imports, key=lambda line: (line.startswith("from"), line))
        plain = [line for line in ordered if "sortal" not in line]
        ours = [line for line in ordered if "sortal" in line]
        heads = "\n\n".join("\n".join(part) for part in (plain, ours) if part)
        return "\n".join([heads, "", *self.lines])
