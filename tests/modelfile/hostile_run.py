"""Loads hostile files and asks what loads, in a process of its own with bounds on memory and time.

A line is printed before each file and one after it, so that whoever reads them knows which file
ended the process. `python -m tests.modelfile.hostile_run first stop step` runs the files of these
numbers.
"""

import faulthandler
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tests.modelfile.hostile_files import make

import sortal
from sortal.base.save import DataFile, FitCall
from sortal.errors import SortalError
from sortal.modelfile.archive import read_archive
from sortal.tasks.load import load
from sortal.tasks.show import show

# What one file may take: more than the library needs, less than what it might be led to. Seconds of
# work, since others may be at work too; then seconds in all, where Python itself is not asked.
SECONDS, SECONDS_IN_ALL, MEMORY = 3.0, 600.0, 256 << 20

# Questions that a model has to answer in order to count as one.
FIRST = ("predict", "predict_proba", "explain", "save")


class TooSlowError(BaseException):
    """Not an Exception, so that nothing on the way takes it for one."""


def table(n: int = 24) -> tuple[pd.DataFrame, list[str]]:
    rng = np.random.default_rng(4)
    k = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "x": np.round(k + rng.normal(size=n), 1),
            "word": np.array(["a", "b", "c"], dtype=object)[(k + (rng.random(n) < 0.4)) % 3],
            "level": pd.Categorical.from_codes(
                (k + (rng.random(n) < 0.3)) % 3, ["low", "mid", "high", "never"], ordered=True
            ),
            "z": rng.normal(size=n),
        }
    )
    frame.loc[[2, 7], "x"] = np.nan
    frame.loc[[4, 15], "word"] = None
    return frame, [["no", "perhaps", "yes"][i] for i in k]


def fitted() -> dict[str, Any]:
    frame, y = table()
    costs = [[0, 1, 4], [1, 0, 1], [2, 1, 0]]
    few: dict[str, Any] = {"leaf_size": 3, "pruning": None}
    models: dict[str, Any] = {
        "tree": sortal.TreeClassifier(**few),
        "linear": sortal.LinearDiscriminant(),
        "spread": sortal.TreeClassifier(missing="fractional", categorical_split="multiway", **few),
        "quadratic": sortal.QuadraticDiscriminant(pooling=0.5, shrinkage=0.2),
        "bayes": sortal.DiscreteBayes(),
        "fisher": sortal.FisherDiscriminant(),
        "costs": sortal.TreeClassifier(costs=costs, smoothing="shrinkage", class_weight="balanced"),
        "indicator": sortal.IndicatorRegression(),
        "joint": sortal.DiscreteBayes(
            structure="joint", priors={"no": 0.5, "perhaps": 0.25, "yes": 0.25}
        ),
        "chosen": sortal.LinearDiscriminant(shrinkage="loo", costs=costs),
        "neighbors": sortal.NeighborsClassifier([1, 3], costs=costs),
        "kernel": sortal.KernelDiscriminant(ridge="loo", penalty="coefficients", costs=costs),
        "landmarks": sortal.KernelDiscriminant(
            "poly", coef0=1.0, n_landmarks=5, solver="landmarks"
        ),
        "values": sortal.NeighborsClassifier(metric="hamming", weights="rank"),
    }
    models = {name: model.fit(frame, y) for name, model in models.items()}
    models["near"] = sortal.NeighborsClassifier(3, "mahalanobis", weights="gaussian").fit(
        np.arange(24, dtype=np.float32).reshape(12, 2) ** 2 % 17, y[:12], np.arange(12) / 4 + 0.5
    )
    models["given"] = sortal.KernelDiscriminant("precomputed").fit(
        np.eye(8) + np.arange(8) % 2 * np.arange(8)[:, None] % 2, np.arange(8) % 2
    )
    models["known"] = sortal.LinearDiscriminant.from_moments(
        [[0.0, 0.0], [1.0, 2.0]], covariances=[[1.0, 0.2], [0.2, 2.0]]
    )
    file = DataFile("rows.csv", 321, "0" * 64, "csv", ";", ",", ("-999", "n/a "))
    for kind in ("tree", "linear", "near"):
        models[kind]._fit_call = FitCall("y", ("id",), "2024-02-29", "0.1.0", file)
    return models


def asked() -> pd.DataFrame:
    frame = table()[0][:9].copy()
    frame.loc[8, "word"] = "new"
    return frame


def questions(model: Any, frame: pd.DataFrame, again: Path) -> dict[str, Callable[[], Any]]:
    """All that is asked of a model that loads, the last two of which change it."""
    columns = [column.name for column in model._schema.columns]
    rows: Any = frame.reindex(columns=columns)
    more: Any = table()
    if not hasattr(model, "feature_names_in_"):
        rows, more = np.zeros((3, len(columns))), (np.eye(4, len(columns)), [0, 1, 0, 1])
    of = {
        "predict": lambda: model.predict(rows),
        "predict_proba": lambda: _probabilities(model.predict_proba(rows)),
        "explain": lambda: str(model.explain(rows[:2])),
        "save": lambda: model.save(again),
        "transform": lambda: model.transform(rows),
        "decision_function": lambda: model.decision_function(rows),
        "apply": lambda: model.apply(rows),
        "working": lambda: str(model.working()),
        "rules": lambda: str(model.rules()),
        "to_text": lambda: str(model.to_text()),
        "get_params": lambda: show(model).to_html(),  # every estimator can be shown
        "loo_proba": lambda: model.loo_proba(*more),
        "__repr__": lambda: repr(model),
        "coef_": lambda: getattr(model, "coef_", None),
        "boundary": lambda: model.boundary(*model.classes_[:2]),
        "feature_importances_": lambda: model.feature_importances_,
        "to_frame": lambda: str(model.to_frame()),
        "decision_path": lambda: model.decision_path(rows),
        "prune": lambda: model.prune("pessimistic"),
        "partial_fit": lambda: model.partial_fit(*more),
        "kneighbors": lambda: model.kneighbors(rows),
        "forget": lambda: _forget(model, more),
    }
    return {name: ask for name, ask in of.items() if hasattr(type(model), name)}


def _probabilities(shares: Any) -> None:
    """Whatever a file holds, what leaves a model are probabilities."""
    if not ((shares >= 0).all() and np.allclose(shares.sum(axis=1), 1.0)):
        raise ArithmeticError(f"no probabilities: {shares.tolist()}")


def _forget(model: Any, more: Any) -> Any:
    """Rows by their ids, where they have such."""
    return model.forget(ids=model.ids_[:2]) if hasattr(model, "ids_") else model.forget(*more)


def outcome(path: Path, frame: pd.DataFrame, again: Path, *, briefly: bool) -> str:
    """What a file comes to: "door", "behind", "answers" or "answers not"."""
    try:
        read_archive(path)
    except SortalError:
        return "door"
    try:
        model = load(path)
    except SortalError:
        return "behind"
    said = "answers"
    for name, ask in questions(model, frame, again).items():
        if briefly and name not in FIRST:
            continue
        try:
            ask()
        except SortalError:
            said = "answers not" if name in FIRST else said
    return said


def bounded() -> None:
    """From now on, no more memory than a bound above what is taken."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def too_slow(*_: object) -> None:
    raise TooSlowError


def run(numbers: range, say: Callable[[str], object]) -> None:
    frame = asked()
    signal.signal(signal.SIGPROF, too_slow)
    with tempfile.TemporaryDirectory() as name:
        folder, bases = Path(name), {}
        for kind, model in fitted().items():
            model.save(folder / kind)
            bases[kind] = (folder / kind).read_bytes()
            say(f"as it was: {timed(folder / kind, frame, bases[kind])}")
        bounded()
        for number in numbers:
            case = make(number, bases)
            (folder / "file").write_bytes(case.data)
            say(f"begins {case.title!r}")
            same = None if case.renewed else bases[case.base]
            said = timed(folder / "file", frame, same)
            say(f"{'renewed' if case.renewed else 'damaged'}: {said}")


def timed(path: Path, frame: pd.DataFrame, same: bytes | None) -> str:
    """The outcome of a file, or how it failed; `same` is what a model that loads is to save."""
    again = path.with_name("again")
    again.unlink(missing_ok=True)
    faulthandler.dump_traceback_later(SECONDS_IN_ALL, exit=True)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        said = outcome(path, frame, again, briefly=same is not None)
    except (Exception, TooSlowError) as error:  # noqa: BLE001
        lines = traceback.format_exception(error)[-8:]
        return f"failed by {type(error).__name__} {''.join(lines)!r}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        faulthandler.cancel_dump_traceback_later()
    if said == "answers" and same is not None and again.read_bytes() != same:
        return "failed: damaged, and another model"
    return said


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run(range(*map(int, sys.argv[1:])), lambda line: print(line, flush=True))  # noqa: T201
