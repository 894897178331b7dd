"""What is pinned: records of six tables, public names, drawings of trees and model files."""

from __future__ import annotations

import inspect
import json
import re
import warnings
from contextlib import ExitStack
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch
from zipfile import ZipFile

import pandas as pd
from tools.frozen_models import FOLDER, estimators, said, table

import sortal
from sortal import datasets
from sortal.errors import SortalWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ESTIMATORS = [name for name in sortal.__all__ if hasattr(getattr(sortal, name), "predict")]
CHANGING = {"seconds", "fit_seconds", "predict_seconds", "date", "versions", "library"}
# so few folds are quick; so much time is enough on any machine
QUICK: dict[str, Any] = {"folds": 2, "repeats": 1, "baselines": False, "n_jobs": 1, "budget": 3600}
_saved = cache(estimators)


class Case(NamedTuple):
    """A table, the column to predict, and what else a fit is given."""

    X: pd.DataFrame
    y: pd.Series
    weights: Any = None
    costs: Any = None


def of_frame(frame: pd.DataFrame, target: str) -> Case:
    """A table with its labels."""
    return Case(frame.drop(columns=target), frame[target])


def many() -> Case:
    """Eight classes that are numbers, by a generator that gives the same in every release."""
    random, kinds = Random(5), [k for k in range(8) for _ in range(9)]  # noqa: S311
    columns = {
        "height": [round(3 * (k % 4) + random.gauss(0, 1), 2) for k in kinds],
        "weight": [round(5 * (k // 4) + random.gauss(0, 2), 2) for k in kinds],
        "place": [random.choice(["north", "south"] if k % 2 else ["east", "south"]) for k in kinds],
    }
    return Case(pd.DataFrame(columns), pd.Series(kinds, name="kind"))


def weighted() -> Case:
    """Columns of every kind, weights with fractions, and costs."""
    X, y = table()
    weights = [(i % 4 + 1) / 2 for i in range(len(y))]
    return Case(X, pd.Series(y, name="wood"), weights, [[0, 1, 4], [1, 0, 1], [2, 1, 0]])


CASES = {
    "numbers": of_frame(datasets.iris()[::3], "species"),
    "mixed": of_frame(datasets.penguins()[3::4], "species"),  # rows without values among them
    "two": of_frame(datasets.iris()[50::2], "species"),
    "many": many(),
    "weighted": weighted(),
    "categorical": of_frame(datasets.play_tennis(), "PlayTennis"),
}


def noting(make: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What is made, and what sortal warns of on the way."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make()
    ours = [one for one in caught if issubclass(one.category, SortalWarning)]
    return made, [f"{one.category.__name__}: {one.message}" for one in ours]


@cache
def fitted(name: str, case: str) -> tuple[Any, list[str]]:
    """An estimator, fitted to a table with all that it takes, and what it warned of."""
    given, estimator = CASES[case], getattr(sortal, name)()
    if hasattr(estimator, "predict_proba"):  # pins of others are those of their own rule
        estimator.set_params(costs=given.costs)
    return noting(lambda: estimator.fit(given.X, given.y, sample_weight=given.weights))


def of_estimator(name: str, case: str) -> dict[str, Any]:
    """What a fitted estimator says: of itself, of a few rows, and in its own ways."""
    given, (estimator, warned) = CASES[case], fitted(name, case)
    rows = given.X[:: len(given.X) // 3][:3]
    ask = getattr(estimator, "predict_proba", None) or estimator.decision_function
    told = {
        "fit warns": warned,
        "fit_report": vars(estimator.fit_report_),
        "size": estimator.n_parameters_,
        "predict": estimator.predict(rows).tolist(),
        "numbers": ask(rows).tolist(),
        "explain": estimator.explain(rows).to_dict(),
    }
    own = _of_tree if hasattr(estimator, "rules") else _of_other
    return told | {what: record.to_dict() for what, record in own(estimator, *given[:3]).items()}


def _of_tree(tree: Any, X: Any, y: Any, weights: Any) -> dict[str, Any]:
    # of a node with many numbers there are many tests
    train = (X, y) if weights is None and len(X) <= 50 else ()
    return {
        "working": tree.working(0, *train),
        "rules": tree.rules(),
        "rules by class": tree.rules("class"),
        "cost_complexity_path": tree.cost_complexity_path(X, y, sample_weight=weights),
        "partition": sortal.score_split(tree.apply(X), y),
    }


def _of_other(model: Any, X: Any, y: Any, _: Any) -> dict[str, Any]:
    told = {"working": model.working(X[:1])}
    if hasattr(model, "check_assumptions"):
        told["assumed"] = model.check_assumptions(X, y)
    if hasattr(model, "evaluate_direction"):
        told["judged"] = model.evaluate_direction([1.0] * len(model.terms_))
    return told


@cache
def record_classes() -> dict[str, type]:
    """The classes of the package that have `to_dict`, wherever they are, but for their bases."""
    home, found = Path(sortal.__file__).parent.parent, dict[str, type]()
    for path in sorted(home.rglob("sortal/**/*.py")):
        text = path.read_text(encoding="utf-8")
        if "def to_dict" in text or "from sortal.records.tables import" in text:
            module = import_module(".".join(path.relative_to(home).with_suffix("").parts))
            kinds = {kind for kind in vars(module).values() if isinstance(kind, type)}
            found |= {kind.__name__: kind for kind in kinds if hasattr(kind, "to_dict")}
    bases = {"Record", "Records", "Shown"}
    return {
        name: kind
        for name, kind in found.items()
        if name not in bases and name[0] != "_" and not getattr(kind, "_is_protocol", False)
    }


def pinned(make: Callable[..., Any], *given: Any, **how: Any) -> dict[str, Any]:
    """What is made, the records that were asked for `to_dict`, also by others, and warnings."""
    met: set[str] = set()

    def noticed(to_dict: Any) -> Callable[[Any], Any]:
        return lambda record: (met.add(type(record).__name__), to_dict(record))[1]  # type: ignore[func-returns-value]

    telling = {base for kind in record_classes().values() for base in kind.__mro__}
    with ExitStack() as stack:
        for kind in telling:
            if "to_dict" in vars(kind):
                told = noticed(vars(kind)["to_dict"])
                stack.enter_context(patch.object(kind, "to_dict", told))
        made, warned = noting(partial(make, *given, **how))
    return {"records": sorted(met), "warnings": warned, **timeless(made)}


def timeless(thing: Any) -> Any:
    """Without what depends on the day, the processor and versions."""
    if isinstance(thing, str):  # a fingerprint is of every bit of the moments
        return re.sub(r"sha256:\w{64}", "sha256:…", thing)
    if isinstance(thing, dict):
        return {k: f"some {k}" if k in CHANGING and v else timeless(v) for k, v in thing.items()}
    return [timeless(part) for part in thing] if isinstance(thing, list | tuple) else thing


def of_task(task: str, case: str, **how: Any) -> dict[str, Any]:
    """What `inspect`, `compare` or `report` finds."""
    X, y = CASES[case][:2]
    told = getattr(sortal, task)(X.assign(**{y.name: y}), y.name, **how)
    return dict(told.to_dict())


def _call(name: str, thing: Any) -> str:
    """A name and its parameters, one a line."""
    signature = inspect.signature(thing)
    told = [
        f"    {one.replace(annotation=one.empty)}{_kind(': ', one.annotation)}"
        f"{', by name only' * (one.kind is one.KEYWORD_ONLY)}"
        for one in signature.parameters.values()
    ]
    return "\n".join([f"{name}{_kind(' -> ', signature.return_annotation)}", *told])


def _kind(before: str, kind: Any) -> str:
    """An annotation as it is written; Python's releases differ in how they quote it."""
    text = kind if isinstance(kind, str) else inspect.formatannotation(kind)
    return "" if kind is inspect.Signature.empty else f"{before}{text}"


def _members(kind: type) -> Iterator[str]:
    """Methods and properties, inherited ones too; scikit-learn's own differ between releases."""
    for name in dir(kind):
        thing = inspect.getattr_static(kind, name)
        if not hasattr(kind, name):  # of the base, and lacking here
            continue
        if isinstance(thing, property | cached_property) and name[0] != "_":
            yield f".{name}"
        # itself, or what a class method, or one that is there under a condition, wraps
        wrapped = getattr(thing, "__func__", None)
        for inner in (thing, wrapped, *getattr(thing, "__dict__", {}).values()):
            ours = inspect.isfunction(inner) and inner.__module__.startswith("sortal.")
            if ours and name[0] != "_":
                yield _call(f".{name}()", inner)


def _told(name: str, thing: Any) -> str:
    if inspect.isclass(thing) and issubclass(thing, BaseException):  # by what it can be caught
        return f"{name}: {', '.join(base.__name__ for base in thing.__mro__[1:-2])}"
    if inspect.isclass(thing):
        return "\n".join([_call(name, thing), *_members(thing)])
    return _call(f"{name}()", thing) if callable(thing) else f"{name}: {type(thing).__name__}"


def names(part: str) -> str:
    """The public names of a part of the package, or the records that it gives."""
    module = getattr(sortal, part, sortal)
    public = getattr(module, "__all__", [name for name in vars(module) if name[0].isupper()])
    told = record_classes() if part == "records" else {n: getattr(module, n) for n in public}
    return "\n\n".join(_told(name, thing) for name, thing in sorted(told.items())) + "\n"


def drawn(form: str, case: str) -> str:
    """A tree as SVG, an element a line; as text; its rules, by leaf and by class, in Markdown."""
    tree = fitted("TreeClassifier", case)[0]
    if form == "md":
        return "\n\n".join([tree.rules().to_markdown(), tree.rules("class").to_markdown(), ""])
    told = tree.to_svg(theme="light") if form == "svg" else tree.to_text()
    # its id is a hash of all: every line would differ
    return re.sub(r"\btree-\w{12}\b", "tree-ID", told.replace("><", ">\n<")) + "\n"


def model_file(name: str) -> dict[str, Any]:
    """The manifest and the members of a file, and what its model says once it is read back."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sortal"
        noting(_saved)[0][name].save(path)
        with ZipFile(path) as archive:
            members = {entry.filename: entry.compress_type for entry in archive.infolist()}
            manifest = json.loads(archive.read("manifest.json"))
        says = noting(lambda: said(sortal.load(path)))
    return {"members": members, "manifest": timeless(manifest), "says": list(says)}


FEW = {"learners": ["tree", "lda"], **QUICK}
PARTS = ("sortal", "datasets", "displays", "errors", "records")
SAVED = sorted(path.stem for path in FOLDER.glob("*.sortal"))
PINS: dict[str, Callable[[], Any]] = {
    **{
        f"records/{e}-{case}.json": partial(pinned, of_estimator, e, case)
        for e in ESTIMATORS
        for case in CASES
    },
    **{f"inspect/{case}.json": partial(pinned, of_task, "inspect", case) for case in CASES},
    **{f"compare/{case}.json": partial(pinned, of_task, "compare", case, **FEW) for case in CASES},
    "report/mixed.json": partial(pinned, of_task, "report", "mixed", **FEW),
    "report/numbers.json": partial(pinned, of_task, "report", "numbers", **QUICK),
    **{f"names/{part}.txt": partial(names, part) for part in PARTS},
    **{
        f"trees/{case}.{form}": partial(drawn, form, case)
        for case in ("mixed", "many", "categorical")
        for form in ("svg", "txt", "md")
    },
    **{f"models/{name}.json": partial(model_file, name) for name in SAVED},
}
