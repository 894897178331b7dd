"""The facts of a report: the table, the comparison, each model, and the working of the chosen."""

from __future__ import annotations

import inspect as signatures
from datetime import datetime
from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.models.records import Working
from sortal.tasks.compare import run_comparison
from sortal.tasks.comparing.contest import one_line
from sortal.tasks.inspect import inspect
from sortal.tasks.reporting.answer import answer
from sortal.tasks.reporting.cutting import Room, cut_tables, sentence
from sortal.tasks.reporting.deciding import decide, has_form
from sortal.tasks.reporting.discretion import discreet
from sortal.tasks.reporting.drawing import comparison_pictures
from sortal.tasks.reporting.facts import Facts
from sortal.tasks.reporting.fitting import fit_again
from sortal.tasks.reporting.model_facts import model_facts
from sortal.tasks.reporting.reproduce import reproduction, work_line
from sortal.tasks.training import training_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.tables import Opened
    from sortal.tasks.training import Rows

    Progress = Callable[[int, int, str, float | None], None]

# Of the working of the chosen model so much is in the page.
_ROOM = Room(tables=12, rows=40, columns=30)


def gather(opened: Opened, wishes: Wishes, progress: Progress | None = None) -> Facts:
    """Everything that a report says."""
    data = inspect(opened, wishes.target, drop=wishes.drop)
    data, opened, wishes, left_out = discreet(data, opened, wishes)
    rows = training_rows(opened, wishes.target, wishes.drop, wishes.categories, {})
    steps = _Steps(progress)
    comparison = run_comparison(
        rows, wishes.target, progress=steps.of_folds, keep=True, **wishes.comparing()
    )
    fitted = _fit_all(comparison, rows, steps)
    chosen = _chosen(comparison, fitted)
    models = []
    for one in _ordered(fitted, chosen):
        steps.say(f"report: {one.learner.name}")
        models.append(model_facts(one, comparison, rows, wishes, is_chosen=one is chosen))
    steps.say("report")
    part, decide_note = decide(chosen, rows, models, wishes)
    working, working_note = _working(chosen, rows, wishes)
    return Facts(
        title=wishes.title or _title(wishes, opened, comparison),
        target=wishes.target,
        date=datetime.now().astimezone().date().isoformat(),
        answer=answer(
            data, comparison, models, chosen, wishes, opened.file, decides=has_form(part)
        ),
        data=data,
        left_out=left_out,
        comparison=comparison,
        pictures=comparison_pictures(comparison),
        models=tuple(models),
        chosen=None if chosen is None else chosen.learner.name,
        decide=part,
        decide_note=decide_note,
        working=working,
        working_note=working_note,
        reproduction=reproduction(wishes, opened.file, chosen, comparison.settings.left_out),
        rows=wishes.rows,
    )


class _Steps:
    """Progress over folds first, and then over what is made of them."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._done, self._total, self._more = progress, 0, 0, 1

    def expect(self, more: int) -> None:
        """So many steps come after the folds."""
        self._more = more

    def of_folds(self, done: int, total: int, words: str, seconds_left: float | None) -> None:
        """What a comparison tells."""
        self._done, self._total = total, total
        if self._progress is not None:
            self._progress(done, total + self._more, words, seconds_left)

    def say(self, words: str) -> None:
        """One step is begun."""
        if self._progress is not None:
            self._done += 1
            total = max(self._total + self._more, self._done)
            self._progress(self._done - 1, total, words, None)


def _title(wishes: Wishes, opened: Opened, comparison: Comparison) -> str:
    source = counted(comparison.settings.rows, "row") if opened.file is None else opened.file.name
    return f"Predicting {wishes.target} from {source}"


def _fit_all(comparison: Comparison, rows: Rows, steps: _Steps) -> list[Fitted]:
    """Each of sortal's learners that took part, in the order of the comparison."""
    entrants = {one.name: one for one in comparison.settings.entrants if not one.baseline}
    ranked = [entrants[model.name] for model in comparison.models if model.name in entrants]
    steps.expect(2 * len(ranked) + 1)
    fitted = []
    for entrant in ranked:
        steps.say(f"fit: {entrant.name}")
        fitted.append(fit_again(comparison, entrant, rows))
    return fitted


def _chosen(comparison: Comparison, fitted: Sequence[Fitted]) -> Fitted | None:
    """The learner of the choice; else the best that may be chosen; else the best there is.

    Learners come in the order of the comparison, those without a score last.
    """
    there = [one for one in fitted if one.estimator is not None]
    wanted = [one for one in there if one.learner.name == comparison.choice.learner]
    eligible = [one for one in there if one.result.eligible]
    scored = [one for one in there if one.result.score is not None]
    return next(iter([*wanted, *eligible, *scored, *there]), None)


def _ordered(fitted: Sequence[Fitted], chosen: Fitted | None) -> list[Fitted]:
    return sorted(fitted, key=lambda one: one is not chosen)


def _working(chosen: Fitted | None, rows: Rows, wishes: Wishes) -> tuple[Working | None, str]:
    """The textbook's numbers for the chosen model, and what was cut of them."""
    if chosen is None or not hasattr(chosen.estimator, "working"):
        return None, ""
    work = chosen.estimator.working
    has_nodes = "node" in signatures.signature(work).parameters
    # of a kernel, the matrices of few rows would tell of each of them
    given = {"most": 1} if hasattr(chosen.estimator, "dual_coef_") and not wishes.rows else {}
    try:
        whole: Working = work(0, rows.X, rows.y) if has_nodes else work(**given)
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return None, f"Its working could not be shown. {type(error).__name__}: {one_line(error)}"
    tables, cut = cut_tables(whole.tables, _ROOM)
    line = work_line(wishes, chosen)
    if not has_nodes:
        return Working(whole.title, tables), sentence(cut, line)
    told = ["this is the working of the first question of the tree, node 0", *cut]
    others = f"; of another node, such as 1: {line[:-1]}, node=1)"
    return Working(whole.title, tables), sentence(told, line) + others
