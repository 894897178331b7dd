"""Explanations of every learner: parts that add up to what was predicted, and their faces."""

from __future__ import annotations

import json
from typing import Any

import narwhals as nw
import numpy as np
import pytest
from scipy.special import softmax
from tests.contract.learners import (
    LIBRARIES,
    Setting,
    every_learner,
    every_setting,
    fitted,
    labels,
    mixed,
    whole,
)

from sortal.records.tables import SHOWN, Explanations, Table
from sortal.tasks.registry import find
from sortal.tasks.show import show

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def odds(model: Any, rows: Any) -> Any:
    """What totals compare: ln P(k|x), or the functions of learners without probabilities."""
    if hasattr(model, "predict_log_proba"):
        return model.predict_log_proba(rows)
    return model.decision_function(rows)


@every_setting
def test_they_are_of_what_was_predicted(setting: Setting) -> None:
    model, rows = fitted(setting), mixed()[:16]
    reasons, logs = model.explain(rows), odds(model, rows)
    assert [why.label for why in reasons] == model.predict(rows).tolist()
    for why, log in zip(reasons, logs, strict=True):
        assert list(why.classes) == model.classes_.tolist()
        k, other = why.classes.index(why.label), why.classes.index(why.against)
        assert log[other] == pytest.approx(np.delete(log, k).max(), abs=1e-12)
        unit = {"bits": np.log(2)}.get(why.amount, 1.0)
        if why.amount == "share":
            assert why.total == pytest.approx(np.exp(log[k]))
        elif why.amount == "vote":
            assert why.total == pytest.approx(sum(why.facts["votes"]))
        else:
            assert why.total == pytest.approx((log[k] - log[other]) / unit, rel=1e-7, abs=1e-7)
        told = why.facts.get("posterior", why.facts.get("probabilities"))
        if told is not None:
            np.testing.assert_allclose(told, softmax(log), rtol=1e-9, atol=1e-300)
        assert set(why.facts) | {"label", "against", "classes", "total", "parts"} == set(
            why.to_dict()
        )


@every_setting
@pytest.mark.parametrize("costs", [None, [[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [4.0, 1.0, 0.0]]])
def test_the_parts_add_up_and_the_table_says_so(setting: Setting, costs: Any) -> None:
    wanted = {"priors": [0.2, 0.5, 0.3]} if costs is None else {"costs": costs}
    known = setting.learner.options() if setting.learner.name != "indicator" else ()
    taken = {name: given for name, given in wanted.items() if name in known}
    model = setting.fit(whole(), **taken)
    for why in model.explain(mixed()[:12]):
        parts = np.array(why.parts.column(why.amount), dtype=float)
        size = max(1.0, *np.abs(parts)) if len(parts) else 1.0
        assert why.total == pytest.approx(parts.sum(), abs=1e-12 * size)
        table = why.to_table()
        assert table.columns == why.parts.columns
        lines = table.rows[: len(parts)] if why.last else table.rows
        assert [line[:1] for line in lines] == [line[:1] for line in why.parts.rows]
        shown = np.array(table.column(why.amount), dtype=float)
        np.testing.assert_array_equal(shown[: len(parts)], np.round(parts, 12) + 0.0)
        assert not np.signbit(shown[shown == 0]).any()
        if why.last:
            assert shown[-1] == pytest.approx(why.total, abs=1e-12 * size)
            named = "costs" in table.column(table.columns[0])
            assert named == ("costs" in taken and why.amount != "share")


@every_learner
def test_a_sequence_shows_its_first_rows_and_has_all(learner: Setting) -> None:
    model, n = learner.fit(whole()), SHOWN + 5
    made: Explanations = model.explain(mixed()[:n])
    assert len(made) == len(list(made)) == n
    assert made == model.explain(mixed()[:n])
    assert made[1:] != made
    assert made[-1] == made[n - 1]
    assert made[4:][1:][0] == made[5]
    with pytest.raises(IndexError):
        made[n]
    frame = made.to_frame()
    assert list(frame.columns) == ["row", *made[0].parts.columns]
    assert frame["row"].tolist() == [i for i, one in enumerate(made) for _ in one.to_table().rows]
    assert made[21:24].to_frame()["row"].unique().tolist() == [21, 22, 23]
    assert made[::-12].to_frame()["row"].unique().tolist() == [24, 12, 0]
    assert list(made[:0].to_frame().columns) == ["row"]
    for text in (str(made), repr(made), made.to_text(), made.to_markdown()):
        heads = [
            line.split("Row ")[1].split(".")[0] for line in text.splitlines() if "Row " in line
        ]
        assert heads == [str(i) for i in range(SHOWN)]
        assert text.splitlines()[-1] == "… and 5 more rows: to_frame() has them all"
    pages = made._repr_html_(), made.to_html()
    assert [page.count("<table>") for page in pages] == [SHOWN, SHOWN]
    assert all("and 5 more rows" in page for page in pages)
    assert "more rows:" not in str(made[:SHOWN]) + made[:SHOWN]._repr_html_()
    first, second = (str(one).splitlines()[0] for one in made[7:9])
    assert [line for line in str(made[7:9]).splitlines() if line.startswith("Row ")] == [
        f"Row 7. {first}",
        f"Row 8. {second}",
    ]


@every_setting
def test_everything_that_is_shown_is_ready_for_json(setting: Setting) -> None:
    model = fitted(setting)
    reasons = model.explain(mixed()[:16])
    for shown in (reasons, *reasons, model.working(), show(model)):
        plain = shown.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert [why.to_dict() for why in reasons[10:14]] == reasons.to_dict()[10:14]
    for why, plain in zip(reasons, reasons.to_dict(), strict=True):
        assert plain["parts"] == why.parts.lines()
        assert (plain["label"], plain["against"], plain["total"]) == (
            *(why.label, why.against),
            why.total,
        )


@every_learner
def test_frames_are_of_the_library_that_came_in(learner: Setting) -> None:
    fitted_on = {name: learner.fit(to(whole())) for name, to in LIBRARIES.items()}
    for name, to in LIBRARIES.items():
        frame = to(whole()[:3])
        made = fitted_on["polars" if name == "pandas" else "pandas"].explain(frame)
        tables = [fact for fact, told in made[0].facts.items() if isinstance(told, Table)]
        shown = [made.to_frame(), made[0].to_frame(), made[0].parts.to_frame()]
        shown += [made.to_frame(fact) for fact in tables]
        assert {type(one) for one in shown} == {type(frame)}
        working = fitted_on[name].working()
        for table, (called, own) in zip(working, working.to_frame().items(), strict=True):
            assert (called, type(own)) == (table.name, type(frame))
            assert tuple(map(str, nw.from_native(own).columns)) == table.columns
            assert len(own) == len(table.rows)


@pytest.mark.parametrize("name", ["bayes", "kernel", "neighbors"])
def test_the_working_of_rows_is_of_their_library(name: str) -> None:
    model = find(name).make().fit(whole(), labels())
    for to in LIBRARIES.values():
        frame = to(whole()[:3])
        assert {type(one) for one in model.working(frame).to_frame().values()} == {type(frame)}
