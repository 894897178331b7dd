"""Predictions judged: what was said of rows, beside what is true of them.

Classes are given by codes, places in the list of classes. The records hold counts and curves, never
rows.
"""

from __future__ import annotations

from sortal.models.judged_confusion import Confused, Confusion
from sortal.models.judged_reliability import Bin, Reliability
from sortal.models.judged_roc import Roc, RocCurve

__all__ = ["Bin", "Confused", "Confusion", "Reliability", "Roc", "RocCurve"]
