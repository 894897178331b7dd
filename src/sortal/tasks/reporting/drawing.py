"""The pictures of a report: of the comparison, of each learner, and of its predictions."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from sortal.tasks.comparing.contest import one_line
from sortal.tasks.reporting.trees import is_tree, smaller_trees, tree_part_of

if TYPE_CHECKING:
    from sortal.models.complexity import Complexity
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.judging import Judged
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows
    from sortal.views.pictures.picture import Picture

    Drawn = tuple[tuple[Picture, ...], tuple[str, ...]]


def learner_pictures(
    fitted: Fitted, comparison: Comparison, rows: Rows, wishes: Wishes, *, is_chosen: bool
) -> Drawn:
    """The pictures of a learner, a tree with what it can do, and why others are left out."""
    if fitted.estimator is None:
        return (), ()
    if not is_tree(fitted.estimator):
        return _drawn(fitted, rows, wishes)
    path, note = smaller_trees(fitted, comparison, rows)
    pictures, left_out = _drawn(fitted, rows, wishes, path)
    return tuple(_with_part(one, fitted, path, note, is_chosen) for one in pictures), left_out


def _drawn(fitted: Fitted, rows: Rows, wishes: Wishes, path: Complexity | None = None) -> Drawn:
    """What the learner's own function draws; whatever it raises is its own affair."""
    extra = {} if path is None else {"complexity": path}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = fitted.learner.draw(fitted.estimator, rows.X, rows.y, rows=wishes.rows, **extra)
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return (), (f"Its pictures could not be drawn. {type(error).__name__}: {one_line(error)}",)
    return ((), ()) if drawn is None else (tuple(drawn.pictures), tuple(drawn.left_out))


def _with_part(
    picture: Picture, fitted: Fitted, path: Complexity | None, note: str, is_chosen: bool
) -> Picture:
    """The picture of the tree itself, with the tree that unfolds in its place."""
    if picture.name == "tree-complexity":
        return replace(picture, in_page=path is None)  # the slider shows it
    if picture.name != "tree-tree":
        return picture
    part = tree_part_of(fitted, path, is_chosen=is_chosen)
    said, beside = (
        " ".join(filter(None, [one, note])) for one in (picture.note, picture.part_note)
    )
    return replace(picture, part=part, note=said, part_note=beside)


def judged_pictures(name: str, judged: Judged) -> tuple[Picture, ...]:
    """Confusions, reliability and curves, as far as there are any."""
    from sortal.views.pictures import judged as views  # noqa: PLC0415  (matplotlib is slow)

    prefix = name.replace("_", "-")
    drawn = views.judged_pictures(prefix, judged.confusion, judged.reliability, judged.roc)
    return tuple(drawn.pictures)


def comparison_pictures(comparison: Comparison) -> tuple[Picture, ...]:
    """All models with their intervals."""
    from sortal.views.pictures import judged as views  # noqa: PLC0415

    return tuple(views.comparison_pictures(comparison).pictures)
