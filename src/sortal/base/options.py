"""Options: a parameter's default, check and description, declared once.

    @dataclass(eq=False, repr=False)
    class MyOptions:
        metric: Metric = one_of(Metric, "euclidean", "What is measured.")
        _: KW_ONLY
        n_jobs: int | None = n_jobs()

An estimator inherits its options, and all else follows from them: its signature, `get_params`, what
`fit` refuses, the parameters in its docstring, and what a model file keeps. Learners read a
snapshot, which `checked` takes when a fit begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from inspect import cleandoc
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar, get_args

from sortal.decision.options import (
    check_progress,
    choose,
    non_negative,
    read_seed,
    share,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance


Opt = TypeVar("Opt", bound="DataclassInstance")


@dataclass(frozen=True)
class Option:
    """What is known of a parameter beside its default.

    `read` checks a value by the parameter's name, and gives what a fit uses.
    """

    kind: str
    text: str
    read: Callable[[str, Any], object]
    in_file: bool = True

    @property
    def sentence(self) -> str:
        """The first sentence of its description."""
        first, _, _ = " ".join(self.text.split()).partition(". ")
        return f"{first.rstrip('.')}."


def _as_given(name: str, given: object) -> object:  # noqa: ARG001
    return given


def option(
    default: object,
    kind: str,
    text: str,
    read: Callable[[str, Any], object] = _as_given,
    *,
    in_file: bool = True,
) -> Any:
    """A parameter: its default, its type in words, its description, its check."""
    return field(default=default, metadata={"option": Option(kind, text, read, in_file)})


def one_of(words: object, default: str | None, text: str, *, none: bool = False) -> Any:
    """One of the words of a `Literal`; `none` says that None is allowed beside them."""
    allowed = get_args(words)

    def read(name: str, given: object) -> object:
        return None if none and given is None else choose(name, given, allowed, none=none)

    kind = "{" + ", ".join(f'"{word}"' for word in allowed) + "}" + (" or None" if none else "")
    return option(default, kind, text, read)


def whole(default: int | None, least: int, text: str, none: str = "") -> Any:
    """A whole number of at least so much; `none` is what None means, where it is allowed."""
    read = partial(whole_number, least=least, none=none)
    return option(default, f"int of at least {least}", text, read)


def number(default: float | None, text: str) -> Any:
    """A number of at least 0."""
    return option(default, "float of at least 0", text, non_negative)


def proportion(default: float, text: str) -> Any:
    """A number from 0 to 1."""
    return option(default, "float from 0 to 1", text, share)


# --- Parameters that several estimators have -----------------------------------------------------


def priors(text: str = "By default the share of each class.") -> Any:
    """Priors, which are read when the classes are known."""
    lead = "π in the order of `classes_`, or by label"
    return option(None, "array-like of shape (n_classes,) or dict", f"{lead}. {text}")


def class_weight(text: str = "") -> Any:
    """Class weights, which are read when the classes are known."""
    lead = (
        "Factor on the weight of each row by its class; "
        '"balanced" gives every class the same total.'
    )
    return option(None, 'dict or "balanced"', f"{lead}\n{text}".rstrip())


def costs(text: str = "") -> Any:
    """Costs, which are read when the classes are known."""
    lead = (
        "costs[i, j] is the cost of predicting class j when class i is true. With costs,\n"
        "`predict` gives the class of least expected cost. A dict by (true label, predicted\n"
        'label) names costs, and other errors cost 1. "balanced" is 1 / π_i for every error in\n'
        "class i, π_i being its proportion: it is what balanced accuracy asks for."
    )
    kind = 'array-like of shape (n_classes, n_classes), dict or "balanced"'
    return option(None, kind, f"{lead}\n{cleandoc(text)}".rstrip())


def categorical_features(text: str = "Positions count the columns of X without y.") -> Any:
    """Which columns are categories; read with the table."""
    lead = (
        "Words, truth values and categorical types are always categories; numbers are categories\n"
        f"where named here. {text}"
    )
    kind = '"from_dtype", "all", mask, positions or names'
    return option("from_dtype", kind, lead)


def random_state(text: str) -> Any:
    """A seed; from a RandomState a number is drawn at each fit."""
    more = (
        "None is 0 here: a fit gives the same model each time. From a RandomState a number is\n"
        "drawn at each fit."
    )
    kind = "int of at least 0, RandomState or None"
    return option(0, kind, f"{text} {more}", lambda _, given: read_seed(given))


def progress(text: str) -> Any:
    """A function that is told how far a fit is: no part of a model."""
    return option(None, "callable", text, check_progress, in_file=False)


def n_jobs() -> Any:
    """Threads, which are counted when they are needed."""
    text = (
        "Threads; None means all cores (one inside a joblib worker). The result does not depend\n"
        "on it."
    )
    return option(None, "int", text)


# --- What follows from the declarations ----------------------------------------------------------


_DECLARED: dict[object, Mapping[str, Option]] = {}  # each fit asks


def declared(options: type[DataclassInstance]) -> Mapping[str, Option]:
    """The parameters by name, in the order of the signature."""
    if options not in _DECLARED:
        _DECLARED[options] = {one.name: one.metadata["option"] for one in fields(options)}
    return _DECLARED[options]


def checked(options: type[Opt], given: object) -> Opt:
    """A snapshot of an estimator's options, each as its declaration reads it."""
    known = declared(options).items()
    return options(**{name: own.read(name, getattr(given, name)) for name, own in known})


def described(options: type[DataclassInstance]) -> str:
    """The parameters, as the section of a docstring."""
    lines = []
    for one in fields(options):
        own: Option = one.metadata["option"]
        default = f'"{one.default}"' if isinstance(one.default, str) else repr(one.default)
        lines += [f"{one.name} : {own.kind}, default={default}", indent(cleandoc(own.text), "    ")]
    return "\n".join(lines)


def with_parameters(doc: str, options: type[DataclassInstance]) -> str:
    """A docstring with its section of parameters, before that of attributes."""
    head, title, rest = cleandoc(doc).partition("Attributes\n----------\n")
    parts = head.rstrip(), f"Parameters\n----------\n{described(options)}", title + rest
    return "\n\n".join(filter(None, parts))
