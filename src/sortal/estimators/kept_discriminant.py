"""What a discriminant keeps in a model file: its summary, or the moments that were given."""

from __future__ import annotations

from typing import Any, ClassVar

from sortal.data.design import Design
from sortal.errors import FormatError
from sortal.estimators.forgetting import ForgettingClassifier
from sortal.estimators.keeping import Perhaps
from sortal.learners.discriminant import ClassStatistics
from sortal.models.layout import Flag, FromSchema, Layout, Maybe, Number, Several
from sortal.models.layout_arrays import Array, Record, Summary
from sortal.models.layout_schema import ValuesField
from sortal.summaries.discriminant import DiscriminantSummary, Fill, SummarizeDiscriminant

_FILL = Layout(
    numbers=Several(Number(), "numbers"),
    values=Several(ValuesField(), "categories"),
    shares=Several(Several(Number(least=0.0)), "categories"),
)

# Of given moments: third and fourth powers are not known, and `slack` is 0.
_MOMENTS = Layout(
    design=FromSchema("design"),
    weight=Array("f8", "classes", least=0.0),
    rows=Array("f8", "classes", least=0.0),
    center=Array("f8", "terms"),
    gap=Array("f8", "classes", "terms"),
    scatter=Array("f8", "classes", "terms", "terms"),
    third=Array("f8", "classes", "terms", nan=True),
    fourth=Array("f8", "classes", nan=True),
    exact=Flag(),
)


class KeptDiscriminant(ForgettingClassifier):
    """The state of a discriminant, out and in."""

    _kept: ClassVar[Layout] = Layout(
        _summary=Maybe(Summary(DiscriminantSummary)),
        _fill=Maybe(Record(Fill, _FILL)),
        _given=Perhaps(Record(ClassStatistics, _MOMENTS)),
    )

    @property
    def _fill(self) -> Fill | None:
        """What stands for a hole."""
        found: Fill | None = None if self._summary is None else self._plan.fill
        return found

    def _restore(self, kept: dict[str, Any]) -> None:
        fill = kept.pop("_fill")
        if (kept["_summary"] is None) != ("_given" in kept):
            raise FormatError("The model has neither rows nor moments, or both: damaged?")
        if kept["_summary"] is not None:
            self._plan = SummarizeDiscriminant(self._schema, (), (), fill)
        super()._restore(kept)

    def _agrees(self, summary: DiscriminantSummary) -> bool:
        design, names = Design(self._declared), self._declared.names
        moments, fill = summary.moments, self._plan.fill
        same = moments.numbers == tuple(names[j] for j in design.numbers)
        same = same and moments.categories == tuple(names[j] for j in design.categories)
        if fill is not None:
            pairs = zip(fill.values, fill.shares, strict=True)
            same = same and all(len(values) == len(shares) for values, shares in pairs)
        return same and super()._agrees(summary)
