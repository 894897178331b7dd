"""Pictures of a decision tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import as_categories
from sortal.data.printing import counted
from sortal.models.conditions import Interval
from sortal.views.complexity import ComplexityDisplay
from sortal.views.lettering import number_text
from sortal.views.pictures.scene import Plan, Scene, Words
from sortal.views.pictures.words import class_places, cut_table, plain, several

if TYPE_CHECKING:
    from sortal.models.complexity import Complexity
    from sortal.models.records import Cell
    from sortal.views.pictures.scene import Pictures

# More ends make a picture that is read nowhere but on a wall.
_MOST_LEAVES = 24

# Of many classes, bars have many parts.
_FEW_LEAVES, _FEW_CLASSES = 10, 8

_DAY = np.timedelta64(1, "D")


def pictures(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    rows: bool = False,
    complexity: Complexity | None = None,
) -> Pictures:
    """The tree, its regions over two columns, its nested trees, and what its columns count for.

    `complexity` is drawn where it is given, with errors of cross-validation, instead of that of
    the rows of the fit alone.
    """
    scene = Scene("tree", estimator, X, y, rows=rows)
    if estimator.get_n_leaves() == 1:
        label = plain(estimator.rules()[0].label)
        scene.leave_out("The tree", f"it is a single leaf, which says {label} in any case.")
        return scene.pictures()
    _add_tree(scene)
    _add_importances(scene)
    _add_partition(scene)
    _add_complexity(scene, complexity)
    return scene.pictures()


def _add_tree(scene: Scene) -> None:
    n = int(scene.estimator.get_n_leaves())
    title = (
        f"The tree: {counted(n, 'leaf', 'leaves')}, {counted(scene.estimator.get_depth(), 'level')}"
    )
    most = _MOST_LEAVES if len(scene.classes) <= _FEW_CLASSES else _FEW_LEAVES
    plan = Plan("TreeDisplay", {"max_leaves": most, "title": ""}, with_rows=False)
    scene.plan("tree", title, plan, lambda display: _tree_words(scene, title, display))


def _tree_words(scene: Scene, title: str, display: Any) -> Words:
    rules = sorted(scene.estimator.rules(), key=lambda rule: -rule.n)
    told = [f"{rule.text(max_values=6)} ({rule.share:.0%} of the rows)" for rule in rules]
    said = f"{title}. Its largest leaves: {'; '.join(plain_rule(t) for t in told[:3])}."
    rows: list[tuple[Cell, ...]] = [
        (rule.leaf, rule.text(max_values=10), str(rule.label), rule.n, rule.purity)
        for rule in rules
    ]
    heads = ("leaf", "rule", "class", "rows", "share of the class")
    table, cut = cut_table("tree", "Leaves, the largest first", heads, rows)
    left = display.drawing.left_out()
    if left:
        left = f"{left[0].upper()}{left[1:]}; model.to_svg(max_leaves=None) draws all."
    return Words(said, table, " ".join(filter(None, [left, cut])), cut)


def plain_rule(text: str) -> str:
    """A rule on one line that can be read out."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 240 else f"{line[:239]}…"


def _add_importances(scene: Scene) -> None:
    title = "What each column counts for"
    plan = Plan("ImportancesDisplay", {"title": ""}, with_rows=False)
    scene.plan("importances", title, plan, lambda display: _importance_words(title, display))


def _importance_words(title: str, display: Any) -> Words:
    pairs = list(zip(display.names, display.importances.tolist(), strict=True))
    counts = [(name, share) for name, share in pairs if share > 0]
    told = [f"{plain(name)} {share:.0%}" for name, share in counts]
    silent = len(pairs) - len(counts)
    said = (
        f"{title}, as a share of all that the tests of the tree gain: {several(told, 'columns')}."
    )
    said += f" {counted(silent, 'column')} not asked for." if silent else ""
    table, cut = cut_table("importances", title, ("column", "importance"), pairs, "S 28")
    drawn = len(display.ax_.get_yticks())
    more = len(counts) > drawn
    left = f"{drawn} of {len(counts)} are drawn; max_bars=... draws more." if more else ""
    return Words(said, table, " ".join(filter(None, [left, cut])))


def _add_partition(scene: Scene) -> None:
    title = "Regions of the tree"
    importances = dict(zip(scene.fitted, scene.estimator.feature_importances_, strict=True))
    asked = _asked(scene)
    words = {name for name, values in asked.items() if values}
    numbers = [one for one in scene.numbers if scene.names[one.place] not in words]
    # a column that is not asked may be the second one: the more telling the better
    ranked = sorted(numbers, key=lambda one: -importances[scene.names[one.place]])[:2]
    if len(ranked) < 2 or importances[scene.names[ranked[0].place]] == 0:
        scene.leave_out(title, "a plane needs two columns of numbers, one of them asked.")
        return
    first, second = ranked
    shown = {scene.names[one.place] for one in ranked}
    at = {name: _typical(scene, name, asked[name]) for name in asked if name not in shown}
    title = f"Regions of the tree over {plain(first.name)} and {plain(second.name)}"
    options: dict[str, Any] = {"features": [scene.feature(one.place) for one in ranked]}
    options |= {"at": at} if at else {}
    plan = Plan("PartitionDisplay", options, points=True)
    scene.plan("partition", title, plan, lambda display: _partition_words(title, display, at))


def _asked(scene: Scene) -> dict[str, list[Any]]:
    """The columns that the tree asks; of categories, the values that it knows."""
    rules = scene.estimator.rules()
    found: dict[str, dict[Any, None]] = {}
    for rule in [*rules, *rules.unlisted]:
        for condition in rule.merged:
            values = found.setdefault(condition.attribute, {})
            if not isinstance(condition, Interval):
                values |= dict.fromkeys((*condition.values, *condition.against))
    return {name: list(values) for name, values in found.items()}


def _typical(scene: Scene, name: str, values: list[Any]) -> Any:
    """The median of numbers, the most frequent of values."""
    j, n = scene.names.index(name), scene.table.n_rows
    if values:
        column = as_categories(scene.table.categories(j, 0, n))
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
        often = dict(zip(column.values, counts.tolist(), strict=True))
        return max(values, key=lambda value: often.get(value, 0))
    cells = scene.table.numbers(j, 0, n).values
    middle = float(np.median(cells[~np.isnan(cells)]))
    if scene.table.column_schema(j).kind == "date":
        return str(np.datetime64(0, "D") + int(np.floor(middle)) * _DAY)
    return middle


def _partition_words(title: str, display: Any, at: dict[str, Any]) -> Words:
    (x0, y0), (x1, y1) = display.box
    whole = (x1 - x0) * (y1 - y0)
    areas: dict[str, float] = {}
    rows: list[tuple[Cell, ...]] = []
    for low1, high1, low2, high2, label, name in display.regions:
        share = float((high1 - low1) * (high2 - low2) / whole)
        areas[plain(label)] = areas.get(plain(label), 0.0) + share
        rows.append((name, float(low1), float(high1), float(low2), float(high2), str(label)))
    told = [f"{label} on {share:.0%}" for label, share in sorted(areas.items(), key=_largest)]
    held = [f"{plain(name)} at {_value(value)}" for name, value in at.items()]
    said = (
        f"{title}: {counted(len(rows), 'box', 'boxes')} along the axes, {several(told, 'classes')}"
    )
    said += (
        f" of the picture. Held fixed: {several(held, 'columns')}." if held else " of the picture."
    )
    a, b = display.rows.names
    heads = ("region", f"{a} above", f"{a} to", f"{b} above", f"{b} to", "class")
    table, cut = cut_table("partition", "Boxes, cut off at the edge of the picture", heads, rows)
    return Words(f"{said} {class_places(display.rows)}", table, cut)


def _largest(pair: tuple[str, float]) -> float:
    return -pair[1]


def _value(value: Any) -> str:
    return number_text(value) if isinstance(value, int | float) else plain(value)


def _add_complexity(scene: Scene, given: Complexity | None) -> None:
    title = "Error against size: the nested trees of cost-complexity pruning"
    own = getattr(scene.estimator, "complexity_", None)
    record = given or own or scene.estimator.complexity()
    told = "model.complexity_" if record is own else "model.complexity()"
    if record is given and given.cv_error is not None:
        told = "model.complexity(X, y)"
    code = f"from sortal import displays\n\ndisplays.ComplexityDisplay.from_complexity({told})"

    def draw() -> ComplexityDisplay:
        return ComplexityDisplay.from_complexity(record, title="")

    scene.add("complexity", title, draw, lambda _: _complexity_words(title, record), code)


def _complexity_words(title: str, record: Complexity) -> Words:
    last = len(record) - 1
    said = (
        f"{title}. From {counted(record.n_leaves[0], 'leaf', 'leaves')} to "
        f"{record.n_leaves[last]}, the error on the rows of the fit, as a share of the root's, "
        f"goes from {number_text(record.error[0])} to {number_text(record.error[last])}"
    )
    if record.cv_error is not None and record.cv_deviation is not None:
        best = min(range(len(record)), key=lambda i: record.cv_error[i])  # type: ignore[index]
        said += (
            f"; on rows left out it is least with "
            f"{counted(record.n_leaves[best], 'leaf', 'leaves')}, "
            f"{number_text(record.cv_error[best])} ± {number_text(record.cv_deviation[best])}"
        )
    if record.chosen is not None:
        said += f"; {counted(record.n_leaves[record.chosen], 'leaf', 'leaves')} chosen"
    own = record.to_table()
    table, cut = cut_table("complexity", own.title, own.columns, own.rows, own.equation)
    note = ""
    if record.cv_error is None:
        note = "Rows of the fit alone; model.complexity(X, y) adds errors of cross-validation."
    return Words(f"{said}.", table, " ".join(filter(None, [note, cut])))
