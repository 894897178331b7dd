"""The pictures of a report: of the comparison, of each learner, and of its predictions."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sortal.tasks.comparing.contest import one_line
from sortal.views.pictures.picture import Picture

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.judging import Judged
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows


def learner_pictures(
    fitted: Fitted, rows: Rows, wishes: Wishes
) -> tuple[tuple[Picture, ...], tuple[str, ...]]:
    """The pictures that a learner's own function draws, and why some are left out."""
    home = getattr(fitted.learner, "pictures", "")
    if fitted.estimator is None or not home:
        return (), ()
    module, _, name = home.partition(":")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = getattr(import_module(module), name)(
                fitted.estimator, rows.X, rows.y, rows=wishes.rows
            )
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return (), (f"Its pictures could not be drawn. {type(error).__name__}: {one_line(error)}",)
    return tuple(drawn.pictures), tuple(drawn.left_out)


def comparison_picture(comparison: Comparison) -> tuple[Picture, ...]:
    """All models with their intervals."""
    scored = [one for one in comparison.models if one.score is not None]
    if not scored:
        return ()
    settings = comparison.settings
    told = "; ".join(_told(one) for one in scored)
    return (
        Picture(
            name="comparison",
            title=f"The models by {settings.head}, with intervals of {_percent(settings.level)}",
            alt=f"A dot and an interval for each model, the best at the top. {told}.",
            draw=lambda: _draw(comparison),
            code=(
                "import sortal\n"
                "sortal.displays.ComparisonDisplay.from_comparison(report.facts.comparison)"
            ),
        ),
    )


def _draw(comparison: Comparison) -> Any:
    from sortal.views.displays import ComparisonDisplay  # noqa: PLC0415  (matplotlib is slow)

    return ComparisonDisplay.from_comparison(comparison).figure_


def _told(one: Any) -> str:
    bounds = "" if one.low is None else f" ({one.low:.3f} to {one.high:.3f})"
    return f"{one.title} {one.score:.3f}{bounds}"


def _percent(level: float) -> str:
    return f"{100 * (1 - level):g} %"


def judged_pictures(name: str, judged: Judged) -> tuple[Picture, ...]:
    """Confusions, reliability and curves, as far as there are any."""
    if judged.confusion is None:
        return ()
    try:
        from sortal.views.pictures.judged import judged_pictures as draw  # noqa: PLC0415
    except ImportError:
        return ()
    return tuple(draw(name, judged.confusion, judged.reliability, judged.roc))
