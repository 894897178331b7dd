"""Rows, their weights and their order: what every learner makes of them."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.contract.learners import (
    SETTINGS,
    N,
    Setting,
    answers,
    assert_close,
    assert_same,
    every_learner,
    every_setting,
    fitted,
    labels,
    mixed,
    numbers,
)

from sortal.decision.scores import Question
from sortal.errors import TrainingRowsError
from sortal.tasks.compare.workers import pack

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
# Sums of the same numbers in another order: the tables have conditions of about 1e3.
ROUNDING = 1e-9


@every_setting
def test_whole_weights_are_copies_of_rows(setting: Setting) -> None:
    if "landmarks" in setting.options.values():  # drawn among rows, whatever they weigh
        return
    kind = ("int", "float", "bool")[SETTINGS.index(setting) % 3]
    weight = (np.arange(N) // 4 % 3).astype(kind)
    copies = np.repeat(np.arange(N), weight.astype(int))
    weighed = setting.fit(mixed(), weight=weight)
    repeated = setting.fit(mixed().iloc[copies], labels()[copies])
    assert weighed.fit_report_.rows == repeated.fit_report_.rows
    assert_close(weighed, repeated, mixed(), ROUNDING)


@every_setting
def test_rows_of_weight_0_do_not_exist(setting: Setting) -> None:
    kept = np.arange(N) % 7 > 0
    frame = mixed()
    frame.loc[~kept, ["city", "spend"]] = ["Atlantis", 1e9]
    found = setting.fit(frame, weight=kept * 2)
    wanted = setting.fit(frame[kept], labels()[kept], np.full(kept.sum(), 2))
    assert found.fit_report_ == wanted.fit_report_
    assert_close(found, wanted, mixed(), ROUNDING)


@every_setting
def test_threads_change_no_bit_and_blocks_no_digit(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    [wanted] = answers(fitted(setting), mixed(), 1)
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 60)  # four blocks
    [found] = answers(fitted(setting), mixed(), 1)
    np.testing.assert_allclose(found, wanted, rtol=ROUNDING, atol=ROUNDING)
    for table in (mixed(), numbers()) if setting.learner.facts.keeps_rows else (mixed(),):
        alone, together = (setting.fit(table, n_jobs=n_jobs) for n_jobs in (1, 3))
        assert_same(together, alone, table)
        assert together.working().to_dict() == alone.working().to_dict()
        if hasattr(alone, "loo_proba") and "mean" not in setting.options.values():
            loo = [model.loo_proba(table, labels()) for model in (together, alone)]
            np.testing.assert_array_equal(*loo)
        if isinstance(table, pd.DataFrame):
            assert_close(alone, fitted(setting), table, ROUNDING)


@every_setting
def test_the_order_of_rows_does_not_matter(setting: Setting) -> None:
    if {"landmarks", "hamming"} & set(setting.options.values()):  # places of rows decide
        return
    order = np.random.default_rng(2).permutation(N)
    X = numbers() if setting.learner.facts.keeps_rows else mixed()  # no rows equally near
    turned = X[order] if isinstance(X, np.ndarray) else X.iloc[order]
    assert_close(setting.fit(turned, labels()[order]), setting.fit(X), X, ROUNDING)


@every_learner
def test_four_threads_may_ask_at_once(learner: Setting) -> None:
    wanted = answers(fitted(learner), mixed())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: answers(fitted(learner), mixed()), range(8)))
    for one in found:
        for said, alone in zip(one, wanted, strict=True):
            np.testing.assert_array_equal(said, alone)


# --- Rows that come and go in blocks -------------------------------------------------------------


def forget(model: Any, rows: slice) -> Any:
    """Neighbors are forgotten by their ids."""
    if hasattr(model, "ids_"):
        return model.forget(ids=model.ids_[rows])
    return model.forget(mixed()[rows], labels()[rows])


@every_setting
def test_rows_in_pieces_are_one_fit_and_forgotten_rows_none(setting: Setting) -> None:
    """Where all rows are learned from: a kernel in pieces keeps landmarks of the first."""
    if not setting.offers("partial_fit", "forget") or "mean" in setting.options.values():
        return
    model = setting.make()
    for part in (slice(0, 30), slice(30, 45), slice(45, N)):
        model.partial_fit(mixed()[part], labels()[part], classes=["ash", "birch", "elm"])
    assert_close(model, fitted(setting), mixed(), ROUNDING)
    assert model.fit_report_ == fitted(setting).fit_report_
    forget(model, slice(40, N))
    assert_close(model, setting.fit(mixed()[:40], labels()[:40]), mixed(), ROUNDING)


@every_learner
def test_columns_are_found_by_name_in_later_pieces(learner: Setting) -> None:
    if not learner.offers("partial_fit"):
        return
    turned = mixed()[["spend", "city", "visits", "member"]].assign(note="x")
    models = [learner.make().partial_fit(mixed(), labels()) for _ in range(2)]
    models[0].partial_fit(mixed(), labels())
    models[1].partial_fit(turned, labels())
    assert_same(*models, mixed())


@every_learner
def test_rows_that_were_not_fitted_cannot_be_forgotten(learner: Setting) -> None:
    if not learner.offers("forget") or learner.learner.facts.keeps_rows:
        return
    with pytest.raises(TrainingRowsError, match="taken out"):
        learner.fit(mixed()).forget(pd.concat([mixed()] * 2), np.tile(labels(), 2))


@every_setting
def test_a_pass_can_be_sent_to_where_rows_are(setting: Setting) -> None:
    estimator = setting.fit(mixed())
    what: Any = "proba" if hasattr(estimator, "predict_proba") else "label"
    question = Question(what, unknown=estimator.unknown)
    here = estimator._learner.answer(estimator._fitted, question)
    there = pickle.loads(pack(here))  # noqa: S301  (our own)
    batch = estimator._open(mixed()).block(0)
    np.testing.assert_array_equal(there(batch).answer, here(batch).answer)
