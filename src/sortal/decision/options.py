"""Options: a parameter's default, check and description, declared once; and what is given, read.

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

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from inspect import cleandoc
from numbers import Integral
from textwrap import indent
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from sortal.errors import ParameterError, brief, counted, listed

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from sortal._typing import ClassWeight, Float, PriorsLike
    from sortal.data.columns import Values

Opt = TypeVar("Opt", bound="DataclassInstance")

# Beyond it squares and products leave float64, and what stands beside such a number is lost.
LARGEST = 1e100


def choose(name: str, given: object, allowed: tuple[str, ...], *, none: bool = False) -> str:
    """One of a few words; `none` says that None is allowed beside them."""
    if not isinstance(given, str) or given not in allowed:
        words = ", ".join(map(repr, (*allowed, None) if none else allowed))
        raise ParameterError(f"{name}={brief(given)} is not known: it can be {words}.")
    return str(given)


def check_progress(name: str, given: Any) -> Any:
    """A function to be told how far a fit is, or None."""
    if given is not None and not callable(given):
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a function of two numbers, (done, of how "
            "many), or None."
        )
    return given


def as_real(given: Any) -> float:
    """A real number as float64; NaN for what is none, infinite where float64 cannot hold it."""
    if not is_whole(given) and not isinstance(given, float | np.floating):
        return math.nan
    try:
        return float(given)
    except OverflowError:  # as of 10**400
        return math.inf if given > 0 else -math.inf


def non_negative(name: str, given: Any) -> float:
    """A number of at least 0, small enough to be reckoned with."""
    if not 0 <= as_real(given) <= LARGEST:
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a finite number of at least 0 (and at "
            "most "
            f"{LARGEST:g})."
        )
    return as_real(given)


def share(name: str, given: Any) -> float:
    """A number from 0 to 1."""
    if not 0 <= as_real(given) <= 1:
        raise ParameterError(f"{name}={brief(given)} cannot be used: give a number from 0 to 1.")
    return as_real(given)


def is_whole(given: Any) -> bool:
    """Whether something is a whole number; truth values are not, nor are spans of time."""
    return isinstance(given, Integral) and not isinstance(given, bool | np.timedelta64)


def whole_number(name: str, given: Any, least: int, none: str = "") -> Any:
    """A whole number of at least so much, or None where that has a meaning."""
    if (is_whole(given) and given >= least) or (given is None and none):
        return given
    otherwise = f", or None for {none}" if none else ""
    raise ParameterError(
        f"{name}={brief(given)} cannot be used: give a whole number of at least {least}{otherwise}."
    )


def read_seed(given: Any) -> int:
    """The seed of a random_state: a number itself, 0 for None, and one drawn from a RandomState."""
    if isinstance(given, np.random.RandomState):
        return int(given.randint(2**31 - 1))
    if given is not None and not (is_whole(given) and given >= 0):
        raise ParameterError(
            f"random_state={brief(given)} cannot be used: give a whole number of at least 0, None "
            "for 0, or a numpy.random.RandomState, from which a number is drawn."
        )
    return int(given or 0)


def numbers(name: str, given: Any) -> Float:
    """Finite numbers."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):  # the last is that of 10**400
        array = np.array([np.nan])
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: it must hold finite numbers only."
        )
    return array


# --- Options that several learners share, checked once: directions, priors, class weights, costs --


# Class weights from the first to the second: sums of squares times these can be written down.
CLASS_WEIGHTS = 1e-20, 1e20


def n_directions(given: Any, n_classes: int, n_terms: int) -> int:
    """How many directions: as given, at most one fewer than classes and no more than columns."""
    most = min(n_classes - 1, n_terms)
    if given is None or n_classes == 1:
        return most
    if not is_whole(given) or not 1 <= given <= most:
        raise ParameterError(
            f"n_components={brief(given)} cannot be had: {n_classes} classes and "
            f"{counted(n_terms, 'column')} have at most {counted(most, 'direction')}. Give a whole "
            f"number from 1 to {most}, or None."
        )
    return int(given)


def read_priors(given: Any, classes: Values) -> Float | None:
    """Probabilities in the order of the classes, from a list or a mapping by label."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        _refuse_strangers("priors", given, classes)
        given = [given.get(label, 0.0) for label in classes]
    priors = numbers("priors", given)
    if priors.shape != (len(classes),):
        raise ParameterError(
            f"priors has the shape {priors.shape}, and there are {len(classes)} classes "
            f"({listed(classes)}): give one probability per class in this order, or a dict."
        )
    if (priors < 0).any() or abs(priors.sum() - 1.0) > 1e-8:
        raise ParameterError(
            f"priors={priors.tolist()} are no probabilities: each must be at least 0 and their sum "
            f"1 (it is {priors.sum():.9g}). Divide them by their sum."
        )
    return np.asarray(priors / priors.sum())


def class_priors(
    counts: Float, classes: Values, priors: PriorsLike, class_weight: ClassWeight
) -> Float:
    """P(c) = n(c) / n, classes weighted and along the last axis, unless given. (ZM 19.11)"""
    given = read_priors(priors, classes)
    if given is not None:
        return np.broadcast_to(given, counts.shape)
    # balanced classes weigh the same exactly, not up to the rounding of n(c) · N / (K n(c))
    balanced = isinstance(class_weight, str)
    factor = read_class_weight(class_weight, classes, counts)
    weight = (counts > 0).astype(np.float64) if balanced else counts * factor
    total = weight.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.where(total > 0, weight, 1.0) / np.where(total > 0, total, weight.shape[-1])
    )


def read_class_weight(given: Any, classes: Values, weight: Float) -> Float:
    """A factor a class: 1, from a mapping by label, or N / (K n_c) where "balanced"."""
    if given is None:
        return np.ones(len(classes))
    if isinstance(given, str):
        choose("class_weight", given, ("balanced",))
        return balanced(weight)
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"class_weight={brief(given)} cannot be used: give None, 'balanced' or a dict by label."
        )
    _refuse_strangers("class_weight", given, classes)
    factors = numbers("class_weight", [given.get(label, 1.0) for label in classes])
    least, most = CLASS_WEIGHTS
    if not factors.any() or not ((factors == 0) | ((factors >= least) & (factors <= most))).all():
        raise ParameterError(
            f"class_weight={brief(dict(given))} cannot be used: each weight must be 0 or from "
            f"{least:g} to {most:g}, and one of them above 0. Beyond that one class drowns the "
            "others: multiply the weights by a constant, or give 0 to a class that is not to count."
        )
    return factors


def balanced(weight: Float) -> Float:
    """N / (K n_c) along the last axis, over the classes that have rows; 0 for those without."""
    n_classes = (weight > 0).sum(axis=-1, keepdims=True)
    total = weight.sum(axis=-1, keepdims=True)
    safe = np.where(weight > 0, weight, 1.0) * np.maximum(n_classes, 1)
    return np.asarray(np.where(weight > 0, total / safe, 0.0))


def read_costs(given: Any, classes: Values, weight: Float | None = None) -> Float | None:
    """costs[i, j]: the cost of predicting j when i is true; `weight` is that of each class."""
    if given is None:
        return None
    if isinstance(given, str):
        return _balanced_costs(given, weight)
    if isinstance(given, Mapping):
        return _named_costs(given, classes)
    costs = numbers("costs", given)
    K = len(classes)
    if costs.shape != (K, K) or (costs < 0).any():
        raise ParameterError(
            f"costs has the shape {costs.shape} and a least entry of {costs.min(initial=0):.6g}: "
            f"give {K} × {K} numbers of at least 0, costs[i, j] being the cost of saying class j "
            f"when class i is true, classes in the order {listed(classes)}."
        )
    return costs


def _balanced_costs(given: str, weight: Float | None) -> Float:
    """An error costs 1 / π_i in class i, π_i its proportion: what balanced accuracy asks. (S 106)

    A class without rows costs nothing.
    """
    if given != "balanced":
        raise ParameterError(
            f"costs={given!r} is not known: it can be 'balanced', a dict by (true label, predicted "
            "label), a matrix, or None."
        )
    if weight is None:
        raise ParameterError(
            "costs='balanced' needs the proportions of the classes in a fit, which are not known "
            "here: give a matrix."
        )
    each = weight.sum() / np.where(weight > 0, weight, np.inf)
    return np.asarray(each[:, None] * (1.0 - np.eye(len(weight))))


def _named_costs(given: Mapping[Any, Any], classes: Values) -> Float:
    """Costs by (true label, predicted label); errors that are not named cost 1."""
    costs = 1.0 - np.eye(len(classes))
    places: dict[tuple[int, int], Any] = {}
    for key, cost in given.items():
        if not isinstance(key, tuple) or len(key) != 2:
            raise ParameterError(
                f"costs names {brief(key)}, which is not a pair of labels: give a dict such as "
                f"{{({classes[0]!r}, {classes[-1]!r}): 10}}, by (true label, predicted label)."
            )
        i, j = _place_of(key[0], key, classes), _place_of(key[1], key[::-1], classes)
        if not 0 <= as_real(cost) <= LARGEST:
            raise ParameterError(
                f"costs of {key!r} is {brief(cost)}: give a finite number of at least 0 (and at "
                f"most {LARGEST:g})."
            )
        if places.setdefault((i, j), key) is not key:
            raise ParameterError(
                f"costs names one error twice, as {places[i, j]!r} and as {key!r}: name it once."
            )
        costs[i, j] = cost
    return costs


def _place_of(label: Any, pair: tuple[Any, Any], classes: Values) -> int:
    """Which class a label names, itself or by its text; None names the other one of two."""
    if label is None and len(classes) == 2 and pair[1] is not None:
        return 1 - _place_of(pair[1], pair, classes)
    named = [k for k, c in enumerate(classes) if c == label] or [
        k for k, c in enumerate(classes) if str(c) == label
    ]
    if len(named) != 1 and label is None:
        raise ParameterError(
            f"costs names an error by one label, which takes two classes, and there are "
            f"{len(classes)} ({listed(classes)}): give costs by both labels."
        )
    if len(named) != 1:
        raise ParameterError(
            f"costs names {label!r}, and the classes are {listed(classes)}: name these only."
        )
    return named[0]


def priors_for(given: Any, everything: Values, present: Values) -> Float | None:
    """Probabilities of the classes that have weight: what was given to others falls away."""
    priors = read_priors(given, everything)
    if priors is None or everything == present:
        return priors
    kept = priors[_places(everything, present)]
    if not kept.any():
        raise ParameterError(
            f"priors={priors.tolist()} give all to classes without any row that counts: give "
            f"{listed(present)} a probability above 0."
        )
    return np.asarray(kept / kept.sum())


def costs_for(
    given: Any, everything: Values, present: Values, weight: Float | None
) -> Float | None:
    """costs[i, j] among the classes that have weight; none where these are one."""
    if isinstance(given, str):
        everything = present
    costs = read_costs(given, everything, weight)
    if costs is None or len(present) == 1:
        return None
    at = _places(everything, present)
    return np.asarray(costs[np.ix_(at, at)])


def options_for(options: Any, everything: Values, present: Values, weight: Float | None) -> Any:
    """Options that were given for all classes, for those of them that have this weight."""
    named = {field.name for field in fields(options)}
    changed: dict[str, Any] = {}
    if "costs" in named:
        changed["costs"] = costs_for(options.costs, everything, present, weight)
    if everything == present:
        return replace(options, **changed)
    if "priors" in named and not isinstance(options.priors, str):
        changed["priors"] = priors_for(options.priors, everything, present)
    if isinstance(getattr(options, "class_weight", None), Mapping):
        _refuse_strangers("class_weight", options.class_weight, everything)
        known = options.class_weight.items()
        changed["class_weight"] = {label: w for label, w in known if label in present}
    if is_whole(getattr(options, "n_components", None)) and options.n_components < len(everything):
        changed["n_components"] = max(1, min(options.n_components, len(present) - 1))
    return replace(options, **changed)


def _places(everything: Values, present: Values) -> list[int]:
    return [everything.index(label) for label in present]


def _refuse_strangers(name: str, given: Mapping[Any, Any], classes: Values) -> None:
    strangers = [label for label in given if label not in classes]
    if strangers:
        raise ParameterError(
            f"{name} names {strangers!r}, and the classes are {listed(classes)}: name these only; "
            "classes to come are told to partial_fit, where there is one, by its parameter classes."
        )


# --- Options declared: default, check and description ---------------------------------------------


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
