"""Conditions on one attribute: what a branch of a tree says, and what a rule asks.

Names and values come from data. Where one could be read as a part of the sentence around it, it is
written in quotes, as JSON has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sortal.decision.options import whole_number
from sortal.records.render import moment_text, number_in_full, quoted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.columns import Value, Values


@dataclass(frozen=True)
class IntervalCondition:
    """low < x <= high, or low <= x <= high where `closed`.

    x is a number, or a date in days since 1970-01-01. With `missing`, a missing value meets it,
    too; `told`, its words say whether one does, so that x <= 5 is asked of numbers that are known.
    """

    attribute: str
    low: float = -math.inf
    high: float = math.inf
    is_date: bool = False
    closed: bool = False
    missing: bool = False
    told: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number meets it."""
        return self.low > self.high or (self.low == self.high and not self.closed)

    @property
    def rest(self) -> str:
        """The words on missing values at the end of a condition."""
        return _also(others=False, missing=self.missing and self.told)

    def predicate(self, max_values: int | None = None) -> str:  # noqa: ARG002  (as of Choice)
        """What follows the attribute; "" for an interval with two ends, which has it in between."""
        if self.is_empty and self.missing:
            return "is missing"
        if self.low == math.inf:
            return "is no number"
        if self.low == -math.inf and self.high == math.inf:
            return "is known" if self.told and not self.missing else f"is any number{self.rest}"
        if self.low == -math.inf:
            return f"<= {self._end(self.high)}{self.rest}"
        return f"> {self._end(self.low)}{self.rest}" if self.high == math.inf else ""

    def text(self, max_values: int | None = None) -> str:
        """The condition as it is printed; its ends read back to the last bit."""
        name = quoted(self.attribute)
        if predicate := self.predicate(max_values):
            return f"{name} {predicate}"
        sign = "<=" if self.closed else "<"
        return f"{self._end(self.low)} {sign} {name} <= {self._end(self.high)}{self.rest}"

    def within(self, whole: IntervalCondition) -> IntervalCondition:
        """What lies in both; `whole` may be closed below."""
        lower = whole if self.low < whole.low else self
        high, missing = min(self.high, whole.high), self.missing and whole.missing
        return replace(lower, high=high, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; an open end is None. Without `known`, only missing is met."""
        ends = {"low": self.low, "high": self.high}
        told = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        kind = {"is_date": self.is_date, "closed": self.closed}
        met = {"known": not self.is_empty, "missing": self.missing}
        return {"attribute": self.attribute, **told, **kind, **met, "text": self.text()}

    def _end(self, x: float) -> str:
        return moment_text(x) if self.is_date else number_in_full(x)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class SetCondition:
    """x is one of `values`; with `others`, also any value that is not among `against`.

    Without `others` nothing need be listed in `against`. Of an ordered category that is cut,
    `after` and `upto` are the values between which x lies (after < x <= upto), None where there is
    no bound. `missing` and `told` are as of an interval.
    """

    attribute: str
    values: Values
    against: Values
    others: bool
    after: Value | None = None
    upto: Value | None = None
    missing: bool = False
    told: bool = False

    @property
    def rest(self) -> str:
        """The words on other values and on missing values at the end of a condition."""
        return _also(self.others and not self._is_denied, missing=self.missing and self.told)

    @property
    def _is_denied(self) -> bool:
        """Whether it is said by the values that do not meet it."""
        is_shorter = not self.values or 0 < len(self.against) < len(self.values)
        return self.others and is_shorter and not self._is_order

    @property
    def _is_order(self) -> bool:
        return self.after is not None or self.upto is not None

    def predicate(self, max_values: int | None = None) -> str:
        """What follows the attribute; "" for an order with two ends, which has it in between."""
        if self.missing and not self.values and not self.others:
            return "is missing"
        if self._is_order:
            return self._order_predicate()
        if self.told and self.others and not self.against:
            return "is any value (or missing)" if self.missing else "is known"
        if self._is_denied:
            return _listed(self.against, "!=", "not in", max_values) + self.rest
        return _listed(self.values, "=", "in", max_values) + self.rest

    def text(self, max_values: int | None = None) -> str:
        """The condition as it is printed; of long lists the first `max_values` and their number."""
        name = quoted(self.attribute)
        if predicate := self.predicate(max_values):
            return f"{name} {predicate}"
        return f"{quoted(self.after)} < {name} <= {quoted(self.upto)}{self.rest}"

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings."""
        return {
            "attribute": self.attribute,
            "values": list(self.values),
            "against": list(self.against),
            "others": self.others,
            "after": self.after,
            "upto": self.upto,
            "missing": self.missing,
            "text": self.text(),
        }

    def _order_predicate(self) -> str:
        if self.after is None:
            return f"<= {quoted(self.upto)}{self.rest}"
        return f"> {quoted(self.after)}{self.rest}" if self.upto is None else ""

    def __str__(self) -> str:
        return self.text()


Condition = IntervalCondition | SetCondition


def check_max_values(given: Any) -> None:
    """How many values of a set are named."""
    whole_number("max_values", given, 1, none="all values")


def named(values: Sequence[Value], max_values: int | None = None) -> list[str]:
    """Values as they are written; of a long list the first ones and how many there are."""
    shown = values if max_values is None else values[:max_values]
    more = [f"… ({len(values)} values)"] if len(shown) < len(values) else []
    return [quoted(value) for value in shown] + more


def set_text(values: Sequence[Value], max_values: int | None = None) -> str:
    """{a, b, c}."""
    return f"{{{', '.join(named(values, max_values))}}}"


def _also(others: bool, missing: bool) -> str:
    words = [*["or other"] * others, *["or missing"] * missing]
    return f" ({', '.join(words)})" if words else ""


def _listed(values: Values, one: str, several: str, max_values: int | None) -> str:
    if len(values) == 1:
        return f"{one} {quoted(values[0])}"
    return f"{several} {set_text(values, max_values)}"
