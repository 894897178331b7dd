"""Fit, predict, explain and show on files: what comes out, and where it goes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from tests.modelfile.plain_reader import PlainReader

import sortal
from sortal.tasks.tables import read_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import pytest


def test_fit_writes_a_model_and_says_what_it_met(run: Callable[..., Any], here: Path) -> None:
    done = run("fit", "penguins.csv", "-t", "species", "-o", "new.sortal", "--set", "max_depth=1")
    assert done.code == 0
    assert done.out.startswith("decision tree, ")
    assert "344 rows; missing values: bill_length_mm 2" in done.out
    assert done.err == "wrote new.sortal\n"
    model = sortal.load(here / "new.sortal")
    assert model.get_depth() == 1
    file = read_file(here / "penguins.csv")
    assert model._fit_call is not None
    kept = model._fit_call.file
    assert kept is not None
    assert (kept.name, kept.bytes, kept.sha256) == ("penguins.csv", file.n_bytes, file.sha256)


def test_notes_of_how_a_file_is_read(run: Callable[..., Any], here: Path) -> None:
    (here / "a.csv").write_text("a,id,y\n" + "1,p,no\n-9,q,yes\n2,r,\n" * 9, encoding="utf-8")
    fit = "fit a.csv -t y -l bayes --drop id -o a.sortal --na-values -9,none"
    done = run(*fit.split())
    assert "note: 9 of 27 rows have no 'y' and are left out." in done.err
    assert "note: na_values (--na-values): no column of a.csv holds 'none', which" in done.err
    kept = PlainReader(here / "a.sortal").fit
    assert (kept["target"], kept["dropped"], kept["library"]) == ("y", ["id"], sortal.__version__)
    assert kept["file"]["na_values"] == ["-9", "none"]
    alike = ("predict", "a.sortal", "a.csv", "--proba")
    assert "is read otherwise" not in run(*alike).err
    assert "(--na-values) none instead of '-9', 'none'" in run(*alike, "--na-values", "").err


def test_standard_input(
    run: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (here / "penguins.csv").open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        done = run("predict", "model.sortal", "-")
    assert done.out == run("predict", "model.sortal", "penguins.csv").out


def test_explain_one_row_and_several(run: Callable[..., Any]) -> None:
    done = run("explain", "model.sortal", "penguins.csv", "--row", "272", "--row", "7")
    assert done.code == 0
    first, second = done.out.split("\n\n")
    assert first.startswith("Row 272. Gentoo (P = 0.9895) at node 9 (123 of 123)")
    assert second.startswith("Row 7. Adelie")
    whole = run("explain", "lda.sortal", "penguins.csv")
    assert whole.out.count("Row ") == 20
    assert "… and 324 more rows" in whole.out
    assert len(json.loads(run("explain", "lda.sortal", "penguins.csv", "--json").out)) == 344
    told = " ".join(run("explain", "--help").out.replace("│", " ").split())
    assert "the first 20 rows are shown; --json has them all" in told


def test_quiet_says_nothing_but_the_result(run: Callable[..., Any]) -> None:
    loud = run("predict", "lda.sortal", "penguins.csv", "--proba")
    quiet = run("predict", "lda.sortal", "penguins.csv", "--proba", "--quiet")
    assert loud.out == quiet.out
    assert loud.err.count("note: ") == 1  # though predict_proba warns again
    assert quiet.err == ""


def test_a_pipe_is_written_into(run: Callable[..., Any], here: Path) -> None:
    os.mkfifo(here / "pipe")
    reading = os.open(here / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    assert run("show", "model.sortal", "-o", "pipe", "-q").code == 0
    assert os.read(reading, 100).startswith(b"Decision tree\n")
    os.close(reading)
    assert (here / "pipe").is_fifo()


def test_predictions_for_a_spreadsheet(run: Callable[..., Any], here: Path) -> None:
    (here / "formulas.csv").write_text("x,y\n1,=a\n2,=a\n3,b\n4,b\n", encoding="utf-8")
    assert run("fit", "formulas.csv", "-t", "y", "-l", "lda", "-o", "f.sortal", "-q").code == 0
    asked = ("predict", "f.sortal", "formulas.csv")
    plain, safe = run(*asked), run(*asked, "--excel-safe")
    assert plain.out.splitlines()[1] == "1,=a"
    assert safe.out.splitlines()[1] == "1,'=a"
    assert (
        "excel_safe=True"
        in run("predict", "f.sortal", "formulas.csv", "--excel-safe", "--show-code").out
    )
    refused = run("predict", "f.sortal", "formulas.csv", "--excel-safe", "--json")
    assert (refused.code, "--excel-safe is for CSV" in refused.err) == (1, True)


def test_all_of_a_long_model_is_shown_if_asked_for(run: Callable[..., Any], here: Path) -> None:
    rows = "".join(f"{k},{'ab'[k % 2]}\n" for k in range(150))
    (here / "long.csv").write_text(f"x,y\n{rows}", encoding="utf-8")
    given = ("long.csv", "-t", "y", "--set", "pruning=null")
    assert run("fit", *given, "-o", "long.sortal", "-q").code == 0
    short, whole = (run("show", "long.sortal", *more).out for more in ([], ["--all"]))
    assert (short.count("then class is"), whole.count("then class is")) == (100, 150)
    assert len(json.loads(run("show", "long.sortal", "--json").out)["rules"]) == 150
    assert "everything=True" in run("show", "long.sortal", "--all", "--show-code").out
    short, whole = (run("working", *given, *more).out for more in ([], ["--all"]))
    assert "(the first 100 of " in short
    assert "(the first 100 of " not in whole
    assert len(whole) > len(short)
    assert "working.to_text()" in run("working", *given, "--all", "--show-code").out
