"""What every learner shows: reasons, working, rules and pages, of names that are not trusted."""

from __future__ import annotations

import doctest
import html
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from tests.contract.learners import (
    Setting,
    every_learner,
    labels,
    whole,
)

import sortal
from sortal.tasks.show import show

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


NASTY = "<script>alert('&\")</script>"
CONTROL = "a\x1b[31m\u202e\nb"


@every_learner
@pytest.mark.parametrize("nasty", [NASTY, CONTROL], ids=["markup", "control"])
def test_names_values_and_labels_are_not_trusted(learner: Setting, nasty: str) -> None:
    frame = whole().rename(columns={"spend": f"{nasty} spend", "city": f"{nasty} city"})
    frame[f"{nasty} city"] = nasty + frame[f"{nasty} city"]
    model = learner.fit(frame, np.char.add(nasty, labels()))
    reasons = model.explain(frame[:2])
    shown = (reasons, model.working(), show(model))
    pages = [one._repr_html_() for one in (*shown, model)]
    texts = [str(one) for one in (*shown, reasons[0], model.fit_report_)]
    texts += [one.to_markdown() for one in shown if hasattr(one, "to_markdown")]
    if hasattr(model, "to_svg"):
        pages += [model.to_html(), model.to_svg()]
        texts += [model.to_text(), str(model.rules())]
    for text in (*texts, *pages):
        assert not set(text) & set("\x1b\u202e")
    for page in pages:
        assert "<script>alert" not in page
    if nasty == NASTY:
        assert all(html.escape("<script>") in page for page in pages[:3])


# --- Examples in docstrings ----------------------------------------------------------------------

PACKAGE = Path(sortal.__file__).parent
EXAMPLES = sorted(
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    for path in PACKAGE.rglob("*.py")
    if ">>>" in path.read_text(encoding="utf-8")
)
SLOW = ("sortal.tasks.compare.compare", "sortal.tasks.report.report")


@pytest.mark.filterwarnings("default::sortal.errors.SortalWarning")
@pytest.mark.parametrize(
    "module", [pytest.param(one, marks=[pytest.mark.full] * (one in SLOW)) for one in EXAMPLES]
)
def test_the_examples_in_docstrings_run(module: str) -> None:
    done = doctest.testmod(import_module(module))
    assert done.attempted > 0
    assert done.failed == 0


@every_learner
def test_every_learner_has_an_example(learner: Setting) -> None:
    assert ">>>" in str(learner.learner.load().__doc__)
