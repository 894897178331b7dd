"""The facts of a report: everything that is said in it, before it is said in HTML or Markdown."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sortal.evaluation import Confusion, Reliability, Roc
    from sortal.pictures import Picture
    from sortal.records.render import PagePart
    from sortal.records.tables import Table, Working
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.inspect.inspect import Inspection
    from sortal.tasks.report.errors import ErrorAnalysis


@dataclass(frozen=True)
class SummaryTexts:
    """What a reader wants to know first, each in a few sentences of plain words.

    An empty line parts paragraphs.

    `which` model was chosen, `why`, `how_sure` one is that it is right and how often it will be,
    and what it does with a `new_row`.
    """

    which: str
    why: str
    how_sure: str
    new_row: str


@dataclass(frozen=True)
class ModelFacts:
    """One of sortal's learners: how it did in the comparison, and itself, fitted to all rows.

    `code` is Python that fits it, for the code of its pictures. `note` says why parts are missing.
    `facts` are those of `show`; `rules` or `tables` are what is read, and `more` says what was left
    out. `judged` says which predictions the next four rest on.
    """

    name: str
    title: str
    reads: str
    result: ModelResult
    facts: Table | None
    pictures: tuple[Picture, ...]
    rules: Any
    tables: tuple[Table, ...]
    more: str
    judged: str
    confusion: Confusion | None
    reliability: Reliability | None
    roc: Roc | None
    errors: ErrorAnalysis | None
    judged_pictures: tuple[Picture, ...]
    code: str = ""
    note: str = ""


@dataclass(frozen=True)
class Reproduction:
    """How to get the same again: code for the report and for the chosen model, and with what."""

    report_code: str
    model_code: str
    command: str
    versions: Table
    seed: int
    fingerprint: str
    file: str


@dataclass(frozen=True)
class ReportFacts:
    """All of a report. `models` are in the order of the comparison, the chosen one first.

    `chosen` is the learner that the page decides with; None where no learner could be fitted.
    `decide` is the form in which it does. `pictures` are those of the comparison. `left_out` says
    which columns took no part, since they name rows or people, and what text was joined.
    """

    title: str
    target: str
    date: str
    answer: SummaryTexts
    data: Inspection
    left_out: str
    comparison: Comparison
    pictures: tuple[Picture, ...]
    models: tuple[ModelFacts, ...]
    chosen: str | None
    decide: PagePart | None
    decide_note: str
    working: Working | None
    working_note: str
    reproduction: Reproduction
    rows: bool


# --- The facts of a report as plain lists and dictionaries ---------------------------------------


def plain_facts(facts: ReportFacts) -> dict[str, Any]:
    """All that is said, without pictures; ready for JSON."""
    how = facts.reproduction
    return {
        "title": facts.title,
        "target": facts.target,
        "date": facts.date,
        "answer": asdict(facts.answer),
        "data": facts.data.to_dict(),
        "left_out": facts.left_out,
        "comparison": facts.comparison.to_dict(),
        "chosen": facts.chosen,
        "models": [_model(model) for model in facts.models],
        "working": _plain_record(facts.working),
        "working_note": facts.working_note,
        "reproduction": {
            "report_code": how.report_code,
            "model_code": how.model_code,
            "command": how.command,
            "versions": {str(row[0]): row[1] for row in how.versions.rows},
            "seed": how.seed,
            "fingerprint": how.fingerprint,
            "file": how.file,
        },
        "rows": facts.rows,
    }


def _model(model: ModelFacts) -> dict[str, Any]:
    return {
        "name": model.name,
        "title": model.title,
        "reads": model.reads,
        "note": model.note,
        "facts": _plain_record(model.facts),
        "rules": _plain_record(model.rules),
        "tables": [table.to_dict() for table in model.tables],
        "more": model.more,
        "judged": model.judged,
        "confusion": _plain_record(model.confusion),
        "reliability": _plain_record(model.reliability),
        "roc": _plain_record(model.roc),
        "errors": _plain_record(model.errors),
        "pictures": [
            {
                "name": one.name,
                "title": one.title,
                "alt": one.alt,
                "table": _plain_record(one.table),
            }
            for one in (*model.pictures, *model.judged_pictures)
        ],
    }


def _plain_record(record: Any) -> Any:
    return None if record is None else record.to_dict()
