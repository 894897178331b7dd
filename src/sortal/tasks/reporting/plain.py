"""The facts of a report as plain lists and dictionaries."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sortal.tasks.reporting.facts import Facts, ModelFacts


def plain_facts(facts: Facts) -> dict[str, Any]:
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
        "working": _told(facts.working),
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
        "facts": _told(model.facts),
        "rules": _told(model.rules),
        "tables": [table.to_dict() for table in model.tables],
        "more": model.more,
        "judged": model.judged,
        "confusion": _told(model.confusion),
        "reliability": _told(model.reliability),
        "roc": _told(model.roc),
        "errors": _told(model.errors),
        "pictures": [
            {"name": one.name, "title": one.title, "alt": one.alt, "table": _told(one.table)}
            for one in (*model.pictures, *model.judged_pictures)
        ],
    }


def _told(record: Any) -> Any:
    return None if record is None else record.to_dict()
