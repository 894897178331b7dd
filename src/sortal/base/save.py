"""Saving a fitted estimator: what of it goes into a model file, and how it comes back.

A class says in `_kept` which of its attributes are kept and as what, beyond those that its base
classes list. The first underscore and the last are dropped: `_model` is "model" in the file, and
`fit_report_` is "fit_report". Parameters and the schema are kept without being named.
"""

from __future__ import annotations

import inspect
import json
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.learner import FitReport, Fitted, InputNames
from sortal.data.columns import union
from sortal.data.files.csv_reader import is_delimiter
from sortal.engines import n_threads
from sortal.errors import FormatError, SortalError, SortalWarning, listed, warn
from sortal.modelfile.archive import FORMAT, VERSION, ArchiveMembers, write_archive
from sortal.modelfile.arrays import FOLDER, ArrayReader, ArrayWriter, OptionsField, RecordField
from sortal.modelfile.fields import (
    BACKENDS,
    Flag,
    LabelType,
    Layout,
    OptionalField,
    SchemaField,
    Several,
    ValuesField,
    Whole,
    Word,
    schema_in,
    schema_out,
)
from sortal.modelfile.values import NotPlainError, Scope, from_plain, to_plain

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from sortal.base.classifier import TableClassifier
    from sortal.data.schema import Schema


# --- The parameters of an estimator in a model file: plain data, checked when they come back -----

# Parameters that are no part of a model: they are dropped without a word.
_SILENT = ("progress",)  # as declared: Option.in_file


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


_PARTS = {"format", "version", "library", "estimator", "options", "schema", "state", "data"}

_PARTS |= {"model", "arrays"}

# Labels as an array take this much memory at most.
_MOST_LABEL_BYTES = 1 << 26


@dataclass(frozen=True)
class DataFile:
    """The file from which rows came: its name without the folder, its bytes, and how it was read.

    A delimiter has CSV only; the decimal mark is None where no number had one. `na_values` are the
    words for missing values that were given beside the usual ones.
    """

    name: str
    bytes: int
    sha256: str
    format: str
    delimiter: str | None = None
    decimal: str | None = None
    na_values: tuple[str, ...] = ()

    LAYOUT: ClassVar[Layout] = Layout(
        name=Word(),
        bytes=Whole(least=0),
        sha256=Word(),
        format=Word(("csv", "parquet", "jsonl")),
        delimiter=OptionalField(Word()),
        decimal=OptionalField(Word((".", ","))),
        na_values=Several(Word()),
    )

    def check(self) -> None:
        """Refuse what no file could be written with."""
        if self.delimiter is not None and not is_delimiter(self.delimiter):
            raise FormatError(f"{self.delimiter[:20]!r} is no delimiter of a file: damaged?")


@dataclass(frozen=True)
class FitCall:
    """The call that made a fit: target, dropped columns, day, release, and the file if any."""

    target: str
    dropped: tuple[str, ...]
    date: str
    library: str
    file: DataFile | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        target=Word(),
        dropped=Several(Word()),
        date=Word(),
        library=Word(),
        file=OptionalField(RecordField(DataFile)),
    )


_CALL = OptionalField(RecordField(FitCall))

_STATE = Layout(
    backend=Word(BACKENDS),
    by_name=Flag(),
    declared=SchemaField(),
    fit_report=RecordField(FitReport),
    label_dtype=LabelType(),
    labels=LabelType(),
    named=Flag(),
    weightless=ValuesField(),
)


class OptionalAttribute(OptionalField[Any]):
    """An attribute that may not be there, which is null in JSON."""


class SaveMixin:
    """Saving and loading, for estimators that declare in `_kept` what to keep."""

    _kept: ClassVar[Layout] = Layout()
    _schema: Schema

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into a model file, which `sortal.load` reads.

        The file holds data only, as docs/model_file.md has it: parameters, schema, the numbers of
        the model, and what further fitting needs. A file of that name is replaced when the new one
        is complete, and not before. Parameters that are no data, such as functions, are replaced by
        their defaults, with a warning that names them; `progress` without one.

        Parameters
        ----------
        path : str or path
            Where to write; by custom it ends in ".sortal".
        """
        parts = parts_of(self)
        restore(type(self), parts)  # what could not be read again is not written
        write_archive(path, parts)

    def _origin(self) -> tuple[str, Any] | None:
        """Where there is no summary: plain data that stands for the rows, and a word for it."""
        return None

    def _restore(self, kept: dict[str, Any]) -> None:
        """Take what was kept; all else that a fit leaves follows from it."""
        for name, value in kept.items():
            setattr(self, name, value)


# --- Out -----------------------------------------------------------------------------------------


def save(estimator: TableClassifier[Any, Any, Any], path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator into a model file; what could not be read again is not written."""
    parts = parts_of(estimator)
    restore(type(estimator), parts)
    write_archive(path, parts)


def kept_of(cls: type[TableClassifier[Any, Any, Any]]) -> Layout:
    """All that a model file holds of an estimator beside its parameters, the model last."""
    learner = cls.learner
    own = {name: kind for name, kind in learner.kept.items() if name != "model"}
    return Layout(
        **_STATE,
        fitted=OptionsField(learner.options, learner.read),
        **own,
        model=learner.kept["model"],
    )


def _state_of(fitted: Any) -> dict[str, Any]:
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


def parts_of(estimator: Any) -> ArchiveMembers:
    """A fitted estimator as the parts of a model file."""
    check_is_fitted(estimator)
    if hasattr(type(estimator), "learner"):
        return _parts_of(estimator)
    model = estimator._model
    if isinstance(model, SortalError):  # why the rows so far do not make a model
        raise type(model)(*model.args)
    kept, store = kept_layout(type(estimator)), ArrayWriter()
    fields = {}
    for attribute, kind in kept.items():
        name = file_name(attribute)
        scope = Scope.of(estimator._schema, store, name)
        absent = isinstance(kind, OptionalAttribute) and not hasattr(estimator, attribute)
        fields[name] = None if absent else kind.write(getattr(estimator, attribute), scope)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("sortal"),
        "estimator": type(estimator).__name__,
        "options": options_out(estimator),
        "schema": schema_out(estimator._schema),
        "state": {name: item for name, item in fields.items() if name != "model"},
        "data": None,
        "model": fields["model"],
        "arrays": store.entries,
    }
    manifest["data"] = _data(estimator, manifest, store.members)
    arrays_first = sorted(store.members.items(), key=lambda member: member[0] == "summary")
    return ArchiveMembers(manifest, dict(arrays_first))


def _parts_of(estimator: TableClassifier[Any, Any, Any]) -> ArchiveMembers:
    fitted, store = estimator._fitted, ArrayWriter()
    values = _state_of(fitted) | estimator.learner.pack(fitted)
    fields = {
        name: kind.write(values[name], Scope.of(fitted.schema, store, name))
        for name, kind in kept_of(type(estimator)).items()
    }
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("sortal"),
        "estimator": type(estimator).__name__,
        "options": options_out(estimator),
        "schema": schema_out(fitted.schema),
        "state": {name: item for name, item in fields.items() if name != "model"},
        "data": None,
        "model": fields["model"],
        "arrays": store.entries,
    }
    origin = estimator.learner.origin(fitted)
    manifest["data"] = _data_of(fitted, origin, manifest, store.members)
    arrays_first = sorted(store.members.items(), key=lambda member: member[0] == "summary")
    return ArchiveMembers(manifest, dict(arrays_first))


def _data_of(
    fitted: Any,
    origin: tuple[str, Any] | None,
    manifest: Mapping[str, Any],
    members: Mapping[str, Any],
) -> dict[str, Any]:
    """What the model was learned from: how many rows, and a fingerprint of them."""
    if "summary" in members:
        of, digest = "summary", sha256(members["summary"]).hexdigest()
    elif origin is not None:
        of, digest = origin[0], _digest([manifest["schema"], origin[1]])
    else:
        names = [FOLDER + entry["name"] for entry in manifest["arrays"]]  # however they were packed
        numbers = {name: sha256(members[name]).hexdigest() for name in names}
        of, digest = "model", _digest([manifest["schema"], numbers])
    return {
        "rows": fitted.report.rows,
        "fingerprint": f"sha256:{digest}",
        "of": of,
        "fit": _CALL.write(fitted.call, Scope.of(fitted.schema, ArrayWriter(), "data.fit")),
    }


def kept_layout(cls: type[Any]) -> Layout:
    """All that a class keeps, its bases' first and the model last."""
    if hasattr(cls, "learner"):
        return kept_of(cls)
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        fields |= vars(base).get("_kept", {})
    if "_model" not in fields:
        raise TypeError(
            f"{cls.__name__} does not say what its model is: give it a class variable "
            "_kept = Layout(_model=Record(…)), with the class of the model, which has a LAYOUT."
        )
    return Layout(**{name: fields[name] for name in sorted(fields, key="_model".__eq__)})


def file_name(attribute: str) -> str:
    """The name of an attribute in the file."""
    return attribute.strip("_")


def _data(
    estimator: Any, manifest: Mapping[str, Any], members: Mapping[str, Any]
) -> dict[str, Any]:
    """What the model was learned from: how many rows, and a fingerprint of them."""
    report, call = getattr(estimator, "fit_report_", None), getattr(estimator, "_fit_call", None)
    if "summary" in members:
        of, digest = "summary", sha256(members["summary"]).hexdigest()
    elif (origin := estimator._origin()) is not None:
        of, digest = origin[0], _digest([manifest["schema"], origin[1]])
    else:
        names = [FOLDER + entry["name"] for entry in manifest["arrays"]]  # however they were packed
        numbers = {name: sha256(members[name]).hexdigest() for name in names}
        of, digest = "model", _digest([manifest["schema"], numbers])
    return {
        "rows": None if report is None else report.rows,
        "fingerprint": f"sha256:{digest}",
        "of": of,
        "fit": _CALL.write(call, _nowhere(estimator)),
    }


def _digest(plain: Any) -> str:
    return sha256(json.dumps(plain).encode()).hexdigest()


def _nowhere(estimator: Any) -> Scope:
    return Scope.of(estimator._schema, ArrayWriter(), "data.fit")


# --- In ------------------------------------------------------------------------------------------


def restore(cls: type[Any], parts: ArchiveMembers) -> Any:
    """The estimator of a class that the parts of a model file describe."""
    manifest = parts.manifest
    if set(manifest) != _PARTS or not isinstance(manifest["state"], dict):
        raise FormatError(f"The manifest does not have the parts {listed(sorted(_PARTS))}.")
    schema = schema_in(manifest["schema"])
    store = ArrayReader(manifest["arrays"], parts.members)
    made = cls(**options_in(cls, manifest["options"]))
    if hasattr(cls, "learner"):
        return _restore_fitted(made, manifest, schema, store, parts.members)
    with np.errstate(all="ignore"):  # of numbers that cannot be, checks may meet any
        kept = _read_kept(cls, manifest, schema, store)
    store.check_all_used()
    made._schema = schema
    made._restore(kept)
    _check_library(manifest["library"])
    check_options(made)
    _restore_data(made, manifest, parts.members)
    return made


def _restore_fitted(
    made: Any, manifest: Mapping[str, Any], schema: Schema, store: ArrayReader, members: Any
) -> Any:
    cls, learner = type(made), type(made).learner
    layout = kept_of(cls)
    given = {**manifest["state"], "model": manifest["model"]}
    if set(given) != set(layout) or "model" in manifest["state"]:
        raise FormatError(f"The state of a {cls.__name__} has {listed(sorted(layout))}: damaged?")
    with np.errstate(all="ignore"):  # of numbers that cannot be, checks may meet any
        kept = {
            name: kind.read(given[name], Scope.of(schema, store, name))
            for name, kind in layout.items()
        }
        store.check_all_used()
        fitted = _fitted_of(learner, schema, kept)
    _check_library(manifest["library"])
    try:
        learner.read(made)
        n_threads(made.n_jobs)
    except (SortalError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(f"The options of this model cannot be used: {error}") from None
    data = manifest["data"]
    if not isinstance(data, dict) or "fit" not in data:
        raise FormatError("The manifest does not say what the model was learned from: damaged?")
    call = _CALL.read(data["fit"], Scope.of(schema, ArrayWriter(), "data.fit"))
    made._fitted = replace(fitted, call=call)
    if data != _data_of(made._fitted, learner.origin(fitted), manifest, members):
        raise FormatError("What the manifest says of the data is not so: damaged?")
    return made


def _fitted_of(learner: Any, schema: Schema, kept: dict[str, Any]) -> Any:
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


def _has_schema(learner: Any, fitted: Any) -> bool:
    """Whether the schema is that of the summary."""
    if fitted.summary is None:
        return True
    made = learner.schema(fitted.declared, fitted.summary, fitted.options)
    same = (made.columns, made.classes) == (fitted.schema.columns, fitted.classes)
    return same and set(fitted.summary.labels) <= set(fitted.schema.classes)


def _read_kept(
    cls: type[Any], manifest: Mapping[str, Any], schema: Schema, store: ArrayReader
) -> dict[str, Any]:
    layout = kept_layout(cls)
    given = {**manifest["state"], "model": manifest["model"]}
    wanted = {file_name(attribute) for attribute in layout}
    if set(given) != wanted or "model" in manifest["state"]:
        raise FormatError(f"The state of a {cls.__name__} has {listed(sorted(wanted))}: damaged?")
    kept = {}
    for attribute, kind in layout.items():
        name = file_name(attribute)
        value = kind.read(given[name], Scope.of(schema, store, name))
        if value is not None or not isinstance(kind, OptionalAttribute):
            kept[attribute] = value
    return kept


def _check_library(name: Any) -> None:
    if not isinstance(name, str) or len(name) > 100:
        raise FormatError("The manifest does not name the release that wrote it: damaged?")


def _restore_data(estimator: Any, manifest: Mapping[str, Any], members: Mapping[str, Any]) -> None:
    data = manifest["data"]
    if not isinstance(data, dict) or "fit" not in data:
        raise FormatError("The manifest does not say what the model was learned from: damaged?")
    if (call := _CALL.read(data["fit"], _nowhere(estimator))) is not None:
        estimator._fit_call = call
    if data != _data(estimator, manifest, members):
        raise FormatError("What the manifest says of the data is not so: damaged?")


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
