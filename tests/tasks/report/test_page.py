"""The page of a report in a real browser: opened from disk, read, printed, tried, attacked."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest

from sortal import datasets
from sortal.tasks.report.report import report

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Locator, Page

    from sortal.tasks.report.report import Report

FEW: Final[dict[str, Any]] = {"repeats": 1, "n_jobs": 1}
pytestmark = pytest.mark.usefixtures("one_process")
NASTY: Final = (
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "{{ 7 * 7 }} $x^2$ & \"quoted\" 'single'",
    "</svg></style><b onclick=alert(3)>",
)


@dataclass(frozen=True)
class Made:
    """A report and the file that it was saved to."""

    report: Report
    path: Path

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


def save(made: Report, folder: Path) -> Made:
    path = folder / "report.html"
    made.save(path)
    return Made(made, path)


@pytest.fixture(scope="module")
def penguins(one_process: None, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """All learners, the short tree among them, by few folds."""
    made = report(datasets.penguins(), "species", baselines=["constant"], folds=3, **FEW)
    return save(made, tmp_path_factory.mktemp("penguins"))


def nasty_table(n: int = 300) -> pd.DataFrame:
    """Names, words and labels that mean something to browsers; more columns than are shown."""
    rng = np.random.default_rng(0)
    x, other, odd = rng.normal(size=n), rng.normal(size=n).round(2), rng.integers(2, size=n)
    columns: dict[str, Any] = {NASTY[0]: x, NASTY[1]: np.array(NASTY[:2])[odd]}
    columns |= {f"{NASTY[2]} {j}": rng.normal(size=n).round(2) for j in range(18)}
    columns[f"{NASTY[2]} 0"] = other
    y = ((x > 0.3) & (odd == 1)) | (other > 0.8)
    y = np.where(rng.random(n) < 0.05, ~y, y).astype(int)
    return pd.DataFrame(columns).assign(**{NASTY[3]: np.array(NASTY[2:])[y]})


@pytest.fixture(scope="module")
def nasty(one_process: None, tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A tree, chosen for want of others."""
    made = report(
        nasty_table(), NASTY[3], learners=["tree", "bayes"], baselines=False, folds=2, **FEW
    )
    return save(made, tmp_path_factory.mktemp("nasty"))


@contextmanager
def opened(browser: Browser, made: Made, **context: Any) -> Iterator[Page]:
    """The file in a page that asks for nothing else and complains of nothing."""
    with browser.new_context(viewport={"width": 1280, "height": 900}, **context) as room:
        room.set_default_timeout(60_000)
        page, said = room.new_page(), list[str]()
        address = made.path.as_uri()
        page.on("request", lambda asked: said.append(asked.url))
        page.on("console", lambda told: said.append(told.text))
        page.on("pageerror", lambda told: said.append(str(told)))
        page.on("dialog", lambda told: said.append(told.message))
        page.goto(address)
        yield page
        assert said == [address]


def unfold_everything(page: Page) -> None:
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def check_accessible(page: Page) -> None:
    """No serious fault for readers with other means."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    serious = [one for one in found if one["impact"] in ("serious", "critical")]
    told = [(one["id"], [n["html"][:120] for n in one["nodes"][:3]]) for one in serious]
    assert told == []


def check_one_file(made: Made) -> None:
    assert made.path.stat().st_size < 2_000_000
    assert len(re.findall(r"<script(?![^>]*application/json)", made.text)) == 1
    assert not re.findall(r'(?:src|href)="(?!#)', made.text)
    assert "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha" in unescape(made.text)


def test_one_file_that_fetches_nothing(nasty: Made) -> None:
    check_one_file(nasty)


def test_a_page_of_hostile_names(browser: Browser, nasty: Made) -> None:
    with opened(browser, nasty) as page:
        unfold_everything(page)
        assert page.locator("img, [onclick], [onerror]").count() == 0
        assert page.locator("script").count() == nasty.text.count("data-for=") + 1
        assert page.locator("h1").inner_text().startswith("Predicting")
        text = page.locator("body").inner_text()
        assert all(name in text for name in NASTY)
        assert "49" not in page.locator("#summary").inner_text().split()
        check_accessible(page)


def test_rows_are_not_there(nasty: Made) -> None:
    """Numbers with all their digits stand for rows; the least and the greatest may be told."""
    cells = sorted(nasty_table()[NASTY[0]])[1:-1]
    assert "It holds no rows of the table." in nasty.text
    assert not [cell for cell in cells if repr(cell)[:12] in nasty.text]


@pytest.mark.full
def test_the_text_answers_what_a_reader_asks(browser: Browser, penguins: Made) -> None:
    check_one_file(penguins)
    with opened(browser, penguins) as page:
        answers = page.locator("#summary dt").all_inner_texts()
        assert answers == [
            "Which model?",
            "Why this one?",
            "How sure is it?",
            "What does it do with a new row?",
        ]
        chosen = penguins.report.facts.models[0]
        assert chosen.title in page.locator("#summary dd").first.inner_text()
        assert chosen.name == penguins.report.facts.comparison.choice.recommended
        score = f"{chosen.result.score:.3f}"
        assert score in page.locator(f"#model-{chosen.id} summary").first.inner_text()
        assert page.locator("tr.marked td").first.inner_text() == chosen.title
        unfold_everything(page)
        check_accessible(page)


@pytest.mark.full
def test_contents_lead_there_and_unfold(browser: Browser, penguins: Made) -> None:
    with opened(browser, penguins) as page:
        for link in page.locator("nav a").all():
            link.click()
            aim = page.locator(link.get_attribute("href") or "none")
            aim.wait_for(state="visible")
            if (link.get_attribute("href") or "").startswith("#model-"):
                assert aim.get_attribute("open") is not None
        assert page.locator("nav a[aria-current]").count() == 1


@pytest.mark.full
def test_every_picture_has_words_and_its_data(browser: Browser, penguins: Made) -> None:
    with opened(browser, penguins) as page:
        unfold_everything(page)
        figures = page.locator("figure[id^=picture-]").all()
        assert len(figures) >= 12
        for figure in figures:
            drawn = figure.locator("svg").first
            assert drawn.get_attribute("aria-label") or figure.locator("[role=tree]").count()
            assert figure.locator("figcaption").first.inner_text()
            assert figure.locator("details.data").count() == 1


@pytest.mark.full
def test_long_tables_fold(browser: Browser, nasty: Made) -> None:
    with opened(browser, nasty) as page:
        rows = page.locator("#data table").first.locator("tbody tr")
        assert rows.count() == 21
        assert sum(row.is_visible() for row in rows.all()) == 12
        page.get_by_role("button", name="Show all 21 rows").click()
        assert all(row.is_visible() for row in rows.all())
        page.get_by_role("button", name="Show the first 12 rows").click()
        assert not rows.last.is_visible()


def ground(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


@pytest.mark.full
def test_dark_and_print(browser: Browser, penguins: Made) -> None:
    with opened(browser, penguins, color_scheme="dark") as page:
        assert ground(page) == "rgb(13, 17, 23)"
        check_accessible(page)
        # letters of pictures are as light as those of the page, and stay within
        assert page.locator("figure svg text").first.evaluate(
            "(one) => getComputedStyle(one).fill === getComputedStyle(document.body).color"
        )
        page.emulate_media(media="print")
        assert ground(page) == "rgb(255, 255, 255)"
        assert not page.locator("nav").is_visible()
        assert page.locator("details:not([open])").count() > 5
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        assert page.locator("details:not([open])").count() == 0
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        assert page.locator("details:not([open])").count() > 5
        assert page.pdf()[:4] == b"%PDF"


def values_of(form: Locator) -> dict[str, Locator]:
    fields = form.locator(".field").all()
    return {one.locator("label").inner_text(): one.locator("[data-field]") for one in fields}


def enter(field: Locator, value: Any) -> None:
    if field.evaluate("(one) => one.tagName") == "SELECT":
        field.select_option(label=str(value))
    else:
        field.fill("")
        field.press_sequentially(str(value))


@pytest.mark.full
def test_the_tree_in_the_page(browser: Browser, nasty: Made) -> None:
    with opened(browser, nasty) as page:
        tree = page.locator(".sortal-tree")
        page.locator("#decide").get_by_label("Start from").select_option(index=2)
        one = tree.locator(".box.lit").all_inner_texts()
        page.locator("#decide").get_by_label("Start from").select_option(index=1)
        assert tree.locator(".box.lit").all_inner_texts() != one


def people(n: int = 120) -> pd.DataFrame:
    """Names, numbers and dates that are somebody's, and columns that are not called by words."""
    rng = np.random.default_rng(1)
    y = rng.integers(2, size=n)
    columns: dict[Any, Any] = {
        "who": [f"Somebody No. {i}" for i in range(n)],
        7: rng.normal(size=n) + y,
        "income": rng.choice(10**6, n, replace=False) + 123_456,
        "born": pd.Timestamp("1960-01-01") + pd.to_timedelta(rng.permutation(9000)[:n], unit="D"),
    }
    return pd.DataFrame(columns | {"y": np.array(["ill", "well"])[y]})


@pytest.mark.full
def test_nobody_is_named(browser: Browser, tmp_path: Path) -> None:
    """Names of rows take no part; typical numbers and dates are nobody's; the page says so."""
    table = people()
    made = report(table, "y", learners=["tree", "bayes"], baselines=False, folds=2, **FEW)
    page = save(made, tmp_path)
    assert "Somebody" not in page.text
    assert "Not learned from: &#39;who&#39; (names " in page.text
    inner = table.sort_values("born")["born"].iloc[1:-1].dt.strftime("%Y-%m-%d")
    inner = inner[~inner.str.endswith("-01")]
    # a threshold at noon lies between two days
    assert not [day for day in inner if re.search(rf"{day}(?!T12)", page.text)]
    inner = sorted(table["income"])[1:-1]
    assert not [number for number in inner if str(number) in page.text]
    names = {"table": table}
    exec(made.facts.models[0].code, names)  # noqa: S102  (what the page shows)
    for picture in made.facts.models[0].pictures:
        exec(picture.code, dict(names))  # noqa: S102
    with opened(browser, page) as shown:
        form = shown.locator("#decide")
        fields = values_of(form)
        if "born" in fields:
            enter(fields["born"], "1975")
            assert "cannot be read" in form.inner_text()
        enter(fields["7"], "1e6")
        assert "outside of what the model learned from" in form.inner_text()
