"""Saving a fitted estimator: what of it goes into a model file, and how it comes back.

Parameters and schema are kept, and of what the fit has left `STATE` and what the learner names in
`kept`; its `pack` and `unpack` say how.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.learner import FitReport, Fitted, InputNames
from sortal.data.columns import union
from sortal.data.files.csv_reader import is_delimiter
from sortal.decision.options import declared
from sortal.engines import n_threads
from sortal.errors import FormatError, SortalError, SortalWarning, listed, warn
from sortal.modelfile.archive import ArchiveMembers, write_archive
from sortal.modelfile.arrays import ArrayReader, ArrayWriter
from sortal.modelfile.fields import (
    BACKENDS,
    Field,
    Flag,
    LabelType,
    OptionalField,
    OptionsField,
    SchemaField,
    ValuesField,
    Word,
    schema_in,
    schema_out,
)
from sortal.modelfile.record import RecordField, digest_of, fingerprint, kind_of, limits, record
from sortal.modelfile.values import NotPlainError, Scope, from_plain, to_plain

if TYPE_CHECKING:
    import os

    from sortal.base.classifier import TableClassifier
    from sortal.base.learner import Learner
    from sortal.data.columns import Schema

    AnyClassifier: TypeAlias = TableClassifier[Any, Any, Any]
    AnyFitted: TypeAlias = Fitted[Any, Any, Any]
    AnyLearner: TypeAlias = Learner[Any, Any, Any]

Estimator = TypeVar("Estimator", bound="AnyClassifier")


# --- The parameters of an estimator in a model file: plain data, checked when they come back -----


def options_out(estimator: AnyClassifier) -> dict[str, Any]:
    """Parameters as plain data."""
    plain, dropped, options = {}, [], estimator._learner.options
    for name, own in declared(options).items():
        try:
            plain[name] = to_plain(getattr(estimator, name))
        except NotPlainError:
            plain[name] = to_plain(getattr(options, name))
            dropped += [name] if own.in_file else []
    if dropped:
        warn(
            f"{listed(dropped)} of this {type(estimator).__name__} cannot be kept in a model file, "
            "which holds data only: the file has the default instead.",
            SortalWarning,
        )
    return plain


def options_in(cls: type[AnyClassifier], data: object) -> dict[str, Any]:
    """Parameters; those that the file does not know yet have their defaults."""
    known = set(declared(cls._learner.options))
    if not isinstance(data, dict) or not set(data) <= known:
        strange = sorted(set(data) - known)[:3] if isinstance(data, dict) else []
        raise FormatError(f"{cls.__name__} has no options {strange}: of a newer release?")
    return {name: from_plain(item) for name, item in data.items()}


_PARTS = {"library", "estimator", "options", "schema", "state", "data", "model", "arrays"}

# Labels as an array take this much memory at most.
_MOST_LABEL_BYTES = 1 << 26


@record(eq=True)
class DataFile:
    """The file from which rows came: its name without the folder, its bytes, and how it was read.

    A delimiter has CSV only; the decimal mark is None where no number had one. `na_values` are the
    words for missing values that were given beside the usual ones.
    """

    name: str
    bytes: int = limits(least=0)
    sha256: str
    format: str = limits(among=("csv", "parquet", "jsonl"))
    delimiter: str | None = None
    decimal: str | None = limits(among=(".", ","), default=None)
    na_values: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what no file could be written with."""
        if self.delimiter is not None and not is_delimiter(self.delimiter):
            raise FormatError(f"{self.delimiter[:20]!r} is no delimiter of a file: damaged?")


@record(eq=True)
class FitCall:
    """The call that made a fit: target, dropped columns, day, release, and the file if any."""

    target: str
    dropped: tuple[str, ...]
    date: str
    library: str
    file: DataFile | None = None


_CALL = OptionalField(RecordField(FitCall))

# Of every fit, whatever the learner.
STATE: dict[str, Field[Any]] = {
    "backend": Word(BACKENDS),
    "by_name": Flag(),
    "declared": SchemaField(),
    "fit_report": RecordField(FitReport),
    "label_dtype": LabelType(),
    "labels": LabelType(),
    "named": Flag(),
    "weightless": ValuesField(),
}


# --- Out -----------------------------------------------------------------------------------------


def save(estimator: AnyClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator into a model file; what could not be read again is not written."""
    parts = parts_of(estimator)
    restore(type(estimator), parts)
    write_archive(path, parts)


def kept_of(cls: type[AnyClassifier]) -> dict[str, Field[Any]]:
    """All that a model file holds of an estimator beside its parameters, the model last."""
    learner = cls._learner
    own = {name: kind_of(hint) for name, hint in learner.kept.items()}
    fields = {**STATE, "fitted": OptionsField(learner.options, learner.read), **own}
    return {name: fields[name] for name in sorted(fields, key="model".__eq__)}


def _state_of(fitted: AnyFitted) -> dict[str, Any]:
    """What is kept of every fit."""
    return {
        "backend": fitted.names.backend,
        "by_name": fitted.names.by_name,
        "named": fitted.names.strings,
        "labels": fitted.labels.dtype,
        "label_dtype": fitted.label_dtype,
        "weightless": fitted.weightless,
        "declared": fitted.declared,
        "fit_report": fitted.report,
        "fitted": fitted.options,
    }


def parts_of(estimator: AnyClassifier) -> ArchiveMembers:
    """A fitted estimator as the parts of a model file."""
    check_is_fitted(estimator)
    fitted, store = estimator._fitted, ArrayWriter()
    values = _state_of(fitted) | estimator._learner.pack(fitted)
    scope, kinds = Scope.of(fitted.schema, store, ""), kept_of(type(estimator)).items()
    fields = {name: kind.write(values[name], scope.at(name)) for name, kind in kinds}
    manifest = {
        "library": version("sortal"),
        "estimator": type(estimator).__name__,
        "options": options_out(estimator),
        "schema": schema_out(fitted.schema),
        "state": {name: item for name, item in fields.items() if name != "model"},
        "data": None,
        "model": fields["model"],
        "arrays": store.entries,
    }
    parts = ArchiveMembers(manifest, store.numbers)
    manifest["data"] = _data_of(fitted, estimator._learner, parts)
    return parts


def _data_of(fitted: AnyFitted, learner: AnyLearner, parts: ArchiveMembers) -> dict[str, Any]:
    """What the model was learned from: how many rows, and a fingerprint of them."""
    origin, kept = learner.origin(fitted), "summary" in learner.kept
    if kept and (summary := learner.pack(fitted)["summary"]) is not None:
        of, digest = "summary", fingerprint(summary)
    else:
        of, plain = origin or ("model", sha256(parts.numbers).hexdigest())
        digest = digest_of([parts.manifest["schema"], plain])
    return {
        "rows": fitted.report.rows,
        "fingerprint": f"sha256:{digest}",
        "of": of,
        "fit": _CALL.write(fitted.call, Scope.of(fitted.schema, ArrayWriter(), "data.fit")),
    }


# --- In ------------------------------------------------------------------------------------------


def restore(cls: type[Estimator], parts: ArchiveMembers) -> Estimator:
    """The estimator of a class that the parts of a model file describe."""
    manifest, learner = parts.manifest, cls._learner
    if set(manifest) != _PARTS or not isinstance(manifest["state"], dict):
        raise FormatError(f"The manifest does not have the parts {listed(sorted(_PARTS))}.")
    schema = schema_in(manifest["schema"])
    store = ArrayReader(manifest["arrays"], parts.numbers)
    made = cls(**options_in(cls, manifest["options"]))
    layout, given = kept_of(cls), {**manifest["state"], "model": manifest["model"]}
    if set(given) != set(layout) or "model" in manifest["state"]:
        raise FormatError(f"The state of a {cls.__name__} has {listed(sorted(layout))}: damaged?")
    with np.errstate(all="ignore"):  # of numbers that cannot be, checks may meet any
        scope = Scope.of(schema, store, "")
        kept = {name: kind.read(given[name], scope.at(name)) for name, kind in layout.items()}
        store.check_all_used()
        fitted = _fitted_of(learner, schema, kept)
    _check_library(manifest["library"])
    try:
        learner.read(made)
        n_threads(made.n_jobs)
    except (SortalError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"The options of this model cannot be used: {error}") from None
    made._fitted = _with_call(fitted, learner, parts)
    return made


def _with_call(fitted: AnyFitted, learner: AnyLearner, parts: ArchiveMembers) -> AnyFitted:
    """With the call that made the fit; what the manifest says of the data must be so."""
    data = parts.manifest["data"]
    if not isinstance(data, dict) or "fit" not in data:
        raise FormatError("The manifest does not say what the model was learned from: damaged?")
    call = _CALL.read(data["fit"], Scope.of(fitted.schema, ArrayWriter(), "data.fit"))
    fitted = replace(fitted, call=call)
    if data != _data_of(fitted, learner, parts):
        raise FormatError("What the manifest says of the data is not so: damaged?")
    return fitted


def _fitted_of(learner: AnyLearner, schema: Schema, kept: dict[str, Any]) -> AnyFitted:
    """What a fit left, of what was kept of it, which must agree."""
    if set(kept["weightless"]) & set(schema.classes):
        raise FormatError("A class is both with and without weight: damaged?")
    labels = label_array(union(schema.classes, kept["weightless"])[0], kept["labels"])
    names = InputNames(kept["by_name"], kept["named"], kept["backend"])
    declared, options = kept["declared"], kept["fitted"]
    try:
        plan, summary, model = learner.unpack(learner, kept, declared, options)
        fitted = Fitted(
            options, declared, schema, labels, kept["label_dtype"], names, plan, summary,
            kept["fit_report"], model,
        )  # fmt: skip
        agrees = learner.agrees(fitted) and _has_schema(learner, fitted)
    except (SortalError, LookupError, ValueError) as error:
        raise FormatError(f"The summary does not fit the schema ({error}).") from None
    if not agrees:
        raise FormatError("The summary does not fit the schema: damaged?")
    return fitted


def _has_schema(learner: AnyLearner, fitted: AnyFitted) -> bool:
    """Whether the schema is that of the summary."""
    if fitted.summary is None:
        return True
    made = learner.schema(fitted.declared, fitted.summary, fitted.options)
    same = (made.columns, made.classes) == (fitted.schema.columns, fitted.classes)
    return same and set(fitted.summary.labels) <= set(fitted.schema.classes)


def _check_library(name: object) -> None:
    if not isinstance(name, str) or len(name) > 100:
        raise FormatError("The manifest does not name the release that wrote it: damaged?")


def label_array(classes: tuple[Any, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The classes as an array of a type, or a FormatError where they are of another."""
    if dtype.itemsize * len(classes) > _MOST_LABEL_BYTES:
        raise FormatError(f"Labels of type {dtype.str} take too much memory: damaged?")
    try:
        array = np.fromiter(classes, dtype=dtype, count=len(classes))
    except (OverflowError, TypeError, ValueError):
        array = np.empty(0)
    if array.tolist() != list(classes):
        raise FormatError(f"The classes are not of the type {dtype.str}: damaged?")
    return array
