"""Pictures of any model: evaluated predictions, a comparison, classes along columns, regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sortal.errors import counted
from sortal.pictures import (
    MOST_ROWS,
    Pictures,
    Plan,
    Sketches,
    Words,
    class_places,
    class_table,
    cut_table,
    several,
)
from sortal.plotting.axes import plain, short_number
from sortal.plotting.comparison import ComparisonDisplay
from sortal.plotting.decision_regions import DecisionsDisplay
from sortal.plotting.densities import DensitiesDisplay
from sortal.plotting.evaluation import ConfusionDisplay, ReliabilityDisplay, RocDisplay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.evaluation import Confusion, Reliability, Roc
    from sortal.pictures import ColumnSeparation, Scene
    from sortal.records.tables import Cell


T = TypeVar("T")

# With more classes a table of all pairs is not read; one of the confusions is.
_MOST_CLASSES = 12

_CODE = """from sklearn.model_selection import cross_val_predict

from sortal import displays

{told} = cross_val_predict(model, X, y, cv=10{method})  # folds of its own, for any rows
displays.{display}.from_predictions(y, {told})"""


def evaluation_pictures(
    name: str,
    confusion: Confusion | None,
    reliability: Reliability | None = None,
    roc: Roc | None = None,
) -> Pictures:
    """Which classes are taken for which; whether probabilities can be taken at their word; ROC.

    `name` begins the names of the pictures: that of the learner.
    """
    sketches = Sketches(f"{name}-judged")

    def add(name: str, title: str, kind: Any, record: T, words: Callable[[str, T], Words]) -> None:
        asked = ("y_pred", "") if record is confusion else ("y_proba", ', method="predict_proba"')
        code = _CODE.format(told=asked[0], method=asked[1], display=kind.__name__)
        sketches.add(
            name, title, lambda: kind(record).plot(title=""), lambda _: words(title, record), code
        )

    if confusion is not None:
        title = "Which classes are taken for which"
        add("confusion", title, ConfusionDisplay, confusion, _confused)
    if reliability is not None:
        title = "Whether probabilities can be taken at their word"
        add("reliability", title, ReliabilityDisplay, reliability, _relied_on)
    if roc is not None:
        title = "How well probabilities part each class from the others"
        add("roc", title, RocDisplay, roc, _parted)
    return sketches.pictures()


def comparison_pictures(comparison: Any) -> Pictures:
    """Scores of all models with their intervals."""
    sketches = Sketches("comparison")
    title = "Models compared"
    code = "from sortal import displays\n\ndisplays.ComparisonDisplay.from_comparison(comparison)"

    sketches.add(
        "scores",
        title,
        lambda: ComparisonDisplay.from_comparison(comparison, title=""),
        lambda display: _compared(title, display),
        code,
    )
    return sketches.pictures()


def _compared(title: str, display: ComparisonDisplay) -> Words:
    told, rows = [], []
    for one in display.models:
        bounds = ""
        if one.low is not None and one.high is not None:
            bounds = f" ({short_number(one.low)} to {short_number(one.high)})"
        mark = f", {one.mark}" if one.mark else ""
        told.append(f"{plain(one.name)} {short_number(one.score)}{bounds}{mark}")
        kind = "baseline" if one.baseline else "learner"
        rows.append((one.name, kind, one.score, one.low, one.high, one.mark))
    said = f"{title} by {display.metric}, the best first: {'; '.join(told)}."
    heads = ("model", "kind", display.metric, "from", "to", "marked")
    table, note = cut_table("comparison", title, heads, rows)
    return Words(said, table, note)


def _confused(title: str, record: Confusion) -> Words:
    right = record.n - record.n_wrong
    said = f"{title}: {right:,} of {counted(record.n, 'row')} are predicted correctly"
    pairs = [
        f"{plain(one.true)} for {plain(one.said)} ({counted(one.n, 'row')}, {one.share:.0%})"
        for one in record.pairs(4)
    ]
    said += f". Most often taken: {several(pairs, 'pairs')}." if pairs else ", all of them."
    n_pairs = len(record.pair_codes())
    if len(record.classes) <= _MOST_CLASSES:
        return Words(said, record.table())
    note = f"The table has the {MOST_ROWS} most frequent of {n_pairs} confusions."
    return Words(said, record.pairs_table(MOST_ROWS), note if n_pairs > MOST_ROWS else "")


def _relied_on(title: str, record: Reliability) -> Words:
    largest = sorted(record.bins, key=lambda one: -one.n)[:3]
    told = [
        f"of {counted(one.n, 'row')} predicted with a probability of {one.mean:.0%} on "
        f"average, {one.share:.0%} are correct"
        for one in largest
    ]
    said = (
        f"{title}: {'; '.join(told)}. The expected calibration error is "
        f"{short_number(record.expected_error)}, the Brier score {short_number(record.brier)}."
    )
    return Words(said, record.table())


def _parted(title: str, record: Roc) -> Words:
    known = [curve for curve in record.curves if curve.auc is not None]
    told = [
        f"{plain(curve.label)} {short_number(curve.auc or 0.0)}"
        for curve in sorted(known, key=lambda curve: curve.auc or 0.0)
    ]
    said = f"{title}: the area under the curve, 1 at best and 0.5 by chance, is "
    said += f"for {several(told, 'classes')}"
    if len(known) > 1 and record.macro is not None:
        said += f"; {short_number(record.macro)} on average"
    own = record.table()
    table, note = cut_table("roc", own.title, own.columns, own.rows, own.equation)
    return Words(f"{said}.", table, note)


# --- Classes along one column or one direction: histograms and normal curves ---------------------

# So many columns have a panel.
MOST_COLUMNS = 6

# Over all panels, so many curves can be told apart and written.
_MOST_CURVES = 36


def n_panels(n_classes: int) -> int:
    """How many panels there are, of one curve a class each."""
    return min(max(_MOST_CURVES // n_classes, 1), MOST_COLUMNS)


def add_columns(scene: Scene, columns: Sequence[ColumnSeparation]) -> None:
    """Densities of columns of numbers, the most telling first."""
    told = list(columns[: n_panels(len(scene.classes))])
    if not told:
        scene.leave_out("Densities of columns", "the model has no column of numbers that varies.")
        return
    plans = [Plan(DensitiesDisplay, {"feature": scene.feature(one.place)}) for one in told]
    more = len(columns) - len(told)
    note = (
        "Columns stand in the order of the proportion of their variance that lies between classes."
    )
    note = note if len(told) > 1 else ""
    note += (
        f" The {len(told)} largest of {len(columns)} are drawn; for another one, "
        "displays.DensitiesDisplay.from_estimator(model, X, y, feature=...)."
        if more
        else ""
    )
    names = [f"{plain(one.name)} ({one.share:.0%} of its variance between classes)" for one in told]
    title = "Columns of numbers by class" if len(told) > 1 else f"{plain(told[0].name)} by class"
    scene.panels(
        "densities",
        title,
        plans,
        lambda displays: _density_words(title, names, displays, note.strip()),
    )


def add_directions(scene: Scene, n_directions: int) -> None:
    """Densities along the first two fitted directions."""
    ordinals = ["first", "second"][: min(n_directions, n_panels(len(scene.classes)))]
    plans = [
        Plan(DensitiesDisplay, {"component": i, "title": f"Along the {nth} direction"})
        for i, nth in enumerate(ordinals)
    ]
    title = "Classes along the fitted direction" + ("s" if len(plans) > 1 else "")
    names = [f"the {nth} direction" for nth in ordinals]
    scene.panels("along", title, plans, lambda displays: _density_words(title, names, displays, ""))


def _density_words(
    title: str, names: Sequence[str], displays: Sequence[DensitiesDisplay], note: str
) -> Words:
    said = [f"{title}: a histogram and a normal curve for each class."]
    rows: list[tuple[Cell, ...]] = []
    for name, display in zip(names, displays, strict=True):
        classes = [plain(label) for label in display.rows.classes]
        middles = [
            f"{label} around {short_number(mean)}"
            for label, mean in zip(classes, display.means, strict=True)
            if np.isfinite(mean)
        ]
        cut = display.threshold
        point = "" if cut is None else f"; the separating point is {short_number(cut)}"
        said.append(f"Along {name}: {several(middles, 'classes')}{point}.")
        rows += _cells(display)
    heads = ("along", "class", "rows", "mean", "deviation of the curve")
    table, cut_note = cut_table("densities", "Means and deviations", heads, rows)
    return Words(" ".join(said), table, " ".join(filter(None, [note, cut_note])))


def _cells(display: DensitiesDisplay) -> list[tuple[Cell, ...]]:
    along = plain(display.rows.names[0], 60)
    spread = np.sqrt(display.variances)
    numbers = zip(display.means.tolist(), spread.tolist(), strict=True)
    counts = display.rows.counts.tolist()
    return [
        (along, str(label), n, *(None if np.isnan(x) else x for x in pair))
        for label, n, pair in zip(display.rows.classes, counts, numbers, strict=True)
    ]


# --- Decision regions in a plane of two columns, of any model ------------------------------------

# With more classes, boundaries of all pairs hide those that decide.
_MOST_PAIRS = 4

# Lines of the grid in each direction: curves between so few do not tell where single rows lie.
_RESOLUTION = 80


def add_regions(scene: Scene) -> None:
    """Regions over the two most telling columns; of linear functions also each pair's lines."""
    chosen = scene.numbers[:2]
    if len(chosen) < 2:
        n = len(scene.numbers)
        scene.leave_out(
            "Decision regions", f"a plane needs two columns of numbers, and the model has {n}."
        )
        return
    first, second = chosen
    title = f"Decision regions over {plain(first.name)} and {plain(second.name)}"
    features = [scene.feature(one.place) for one in chosen]
    options: dict[str, Any] = {"features": features, "resolution": _RESOLUTION}
    linear = hasattr(scene.estimator, "coef_") and not hasattr(scene.estimator, "covariances_")
    if linear and len(scene.classes) <= _MOST_PAIRS:
        options["pairwise"] = True
    why = (
        f"Of all columns of numbers, these two have the largest proportions of variance "
        f"between classes: {first.share:.0%} and {second.share:.0%}."
        if len(scene.numbers) > 2
        else ""
    )
    plan = Plan(DecisionsDisplay, options, points=True)
    scene.plan("regions", title, plan, lambda shown: _region_words(scene, title, shown, why))


def _region_words(scene: Scene, title: str, display: DecisionsDisplay, why: str) -> Words:
    labels = display.grid.labels.ravel()
    shares = np.bincount(labels, minlength=len(scene.classes)) / labels.size
    names = [plain(label) for label in scene.classes]
    order = np.argsort(-shares, kind="stable")
    told = [f"{names[k]} on {shares[k]:.0%}" for k in order if shares[k] > 0]
    nowhere = [names[k] for k in range(len(names)) if shares[k] == 0]
    said = f"{title}. The class predicted in the plane: {several(told, 'classes')} of the picture"
    said += f"; nowhere {several(nowhere, 'classes')}." if nowhere else "."
    held = display.note.replace("\n", "; ").replace(r"\$", "$")
    said += f" Drawn {held}." if held else ""
    table, cut = class_table("regions", display.rows)
    heads = (*table.columns, "proportion of the plane")
    cells = [(*row, float(share)) for row, share in zip(table.rows, shares, strict=False)]
    table = cut_table("regions", table.title, heads, cells)[0]
    note = " ".join(filter(None, [why, cut]))
    return Words(f"{said} {class_places(display.rows)}", table, note)
