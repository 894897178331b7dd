"""The parameters of an estimator in a model file: plain data, checked when they come back."""

from __future__ import annotations

import inspect
from typing import Any

from sortal.engines.local import n_threads
from sortal.errors import FormatError, SortalError, SortalWarning, listed, warn
from sortal.models.plain import NotPlainError, from_plain, to_plain

# Parameters that are no part of a model: they are dropped without a word.
_SILENT = ("progress",)


def options_out(estimator: Any) -> dict[str, Any]:
    """Parameters as plain data."""
    plain, dropped = {}, []
    defaults = _defaults(type(estimator))
    for name, value in estimator.get_params(deep=False).items():
        try:
            plain[name] = to_plain(value)
        except NotPlainError:
            plain[name] = to_plain(defaults[name])
            dropped += [name] if name not in _SILENT else []
    if dropped:
        warn(
            f"{listed(dropped)} of this {type(estimator).__name__} cannot be kept in a model file, "
            "which holds data only: the file has the default instead.",
            SortalWarning,
        )
    return plain


def _defaults(cls: type[Any]) -> dict[str, Any]:
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.name != "self"}


def options_in(cls: type[Any], data: Any) -> dict[str, Any]:
    """Parameters; those that the file does not know yet have their defaults."""
    known = set(_defaults(cls))
    if not isinstance(data, dict) or not set(data) <= known:
        strange = sorted(set(data) - known)[:3] if isinstance(data, dict) else []
        raise FormatError(f"{cls.__name__} has no options {strange}: of a newer release?")
    return {name: from_plain(item) for name, item in data.items()}


def check_options(estimator: Any) -> None:
    """Refuse options that a fit would refuse."""
    try:
        if hasattr(estimator, "_options"):
            estimator._options()
        n_threads(getattr(estimator, "n_jobs", None))
    except (SortalError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"The options of this model cannot be used: {error}") from None
