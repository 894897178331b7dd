"""Options that are declared once: signatures, docstrings, the command line and code follow."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, cleandoc, signature
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sortal.errors import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal._typing import CostsLike

Task = TypeVar("Task", bound="Callable[..., Any]")
Asked = TypeVar("Asked")


@dataclass(frozen=True)
class Declared:
    """What is known of an option beside its name and its default.

    Its type in words, its description, and how one types it: flags, a line of help, the type and
    what stands for the value. One without help is for Python only.
    """

    kind: str
    text: str
    help: str
    flags: str
    type: Any
    metavar: str | None


def option(
    default: object,
    kind: str,
    text: str,
    help: str = "",  # noqa: A002
    metavar: str | None = None,
    flags: str = "",
    type: Any = None,  # noqa: A002
) -> Any:
    """An option; flags are those of its name, and the type that of its default, if not given."""
    return field(default=default, metadata={"of": Declared(kind, text, help, flags, type, metavar)})


def options_of(options: type[Any]) -> list[tuple[str, object, Any, Declared]]:
    """Name, default, annotation and description of each option of a record."""
    return [
        (one.name, one.default, one.type, _complete(one.name, one.default, one.metadata["of"]))
        for one in fields(options)
        if one.metadata
    ]


def _complete(name: str, default: object, declared: Declared) -> Declared:
    kind = declared.type or (list[str] if default == () else str)
    if declared.type is None and isinstance(default, bool | int | float):
        kind = type(default)
    flag = name.replace("_", "-")
    flags = declared.flags or (f"--{flag}/--no-{flag}" if default is True else f"--{flag}")
    return replace(declared, flags=flags, type=kind)


def takes(options: type[Any], *more: str) -> Callable[[Task], Task]:
    """A function that takes these options by name: its signature and its docstring list them.

    `more` names what stands for further keywords, if it takes any.
    """

    def declared(function: Task) -> Task:
        own = signature(function)
        kept = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        known = [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, default, kind, _ in options_of(options)
        ]
        rest = [Parameter(name, Parameter.VAR_KEYWORD) for name in more]
        order = sorted([*kept[:2], *known, *kept[2:], *rest], key=lambda p: p.kind)
        vars(function)["__signature__"] = own.replace(parameters=order)
        described = [
            f"{name} : {one.kind}, default={default!r}\n{indent(cleandoc(one.text), '    ')}"
            for name, default, _, one in options_of(options)
        ]
        text = indent("\n".join(described), "    ").lstrip()
        function.__doc__ = (function.__doc__ or "").replace("OPTIONS", text)
        return function

    return declared


def read_options(kind: type[Asked], target: str, given: Mapping[str, Any]) -> Asked:
    """The record of options that were given by name; a name alone may stand for a list of one."""
    known = {name: default for name, default, _, _ in options_of(kind)}
    for name in given:
        if name not in known:
            raise TypeError(
                f"There is no option {name!r}: there are {listed(list(known), most=40)}."
            )
    listed_ones = {name for name, default in known.items() if default == ()}
    values: dict[str, Any] = {
        name: (value,) if name in listed_ones and isinstance(value, str) else value
        for name, value in given.items()
    }
    return cast("Callable[..., Asked]", kind)(target, **values)


def differing(options: type[Any], given: Mapping[str, object]) -> dict[str, object]:
    """Options that are given and differ from their defaults, in the order of their record."""
    different = {}
    for name, default, _, _ in options_of(options):
        value = given.get(name)
        value = tuple(value) if isinstance(value, list) and default == () else value
        same = type(value) is type(default) and value == default
        if value is not None and not same:
            different[name] = list(value) if isinstance(value, tuple) else value
    return different


# --- Options as one types them -------------------------------------------------------------------


def as_typed(given: Mapping[str, Any], options: type[Any] | None = None) -> list[str]:
    """Options as one types them; those that are None, and the format of a file, are not typed.

    `options` is the record that declares those whose flag is not their name.
    """
    flags = {name: one.flags for name, _, _, one in options_of(options)} if options else {}
    words: list[str] = []
    for name, value in given.items():
        flag = flags.get(name, f"--{name.replace('_', '-')}").split()[0].partition("/")[0]
        if name == "costs" and value is not None:
            words += cost_words(value)
        elif name == "na_values":
            words += [flag, ",".join(value)]
        elif isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag, str(one))]
        elif value is not None and name != "format":
            words += [flag, str(value)]
    return words


def cost_words(costs: CostsLike) -> list[str]:
    """Costs as one types them, by the names of classes; (label, None) is a threshold of a class."""
    if isinstance(costs, str):
        return ["--cost", costs]
    words: list[str] = []
    for (true, predicted), cost in dict(cast("Mapping[Any, float]", costs)).items():
        number = str(cost).removesuffix(".0")
        words += (
            ["--threshold", f"{_label(true)}={1 / (1 + cost):.10g}"]
            if predicted is None
            else ["--cost", f"{_label(true)}->{_label(predicted)}={number}"]
        )
    return words


def _label(label: object) -> str:
    """A class as costs name it, in quotes where it would be read otherwise."""
    text = str(label)
    plain = text and text == text.strip() and "->" not in text and not text.startswith('"')
    return text if plain else json.dumps(text, ensure_ascii=False)


# --- Calls as Python code ------------------------------------------------------------------------

# Longer calls have one argument a line.
_WIDTH = 88


class Name(str):
    """A variable, which stands in code as it is."""

    __slots__ = ()


TABLE = Name("table")


def call(function: str, *given: object, **named: object) -> str:
    """A call with these values as its arguments, one a line where it is long."""
    line = in_one_line(function, *given, **named)
    if len(line) <= _WIDTH:
        return line
    inner = "".join(f"    {part},\n" for part in _arguments(given, named))
    return f"{function}(\n{inner})"


def in_one_line(function: str, *given: object, **named: object) -> str:
    """The same in one line, however long."""
    return f"{function}({', '.join(_arguments(given, named))})"


def _arguments(given: Sequence[object], named: Mapping[str, object]) -> list[str]:
    return [
        *(_code_of(value) for value in given),
        *(f"{name}={_code_of(value)}" for name, value in named.items()),
    ]


def _code_of(value: object) -> str:
    """A value as it stands in code; infinities and NaN have no name of their own there."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return f"float({str(value)!r})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name!r}: {_code_of(item)}' for name, item in value.items())}}}"
    return repr(value)
