"""Tables of text, where there is room and where there is little."""

from __future__ import annotations

from sortal.records.render import fold, text_table
from sortal.records.tables import Explanation, Explanations, Table, Working

WIDE = Table(
    "wide",
    "A title of several words, long enough to be folded in a narrow terminal",
    ("name", *(f"column {j}" for j in range(9)), "words"),
    tuple((f"row {i}", *range(9), "of many words " * 4) for i in range(3)),
    "S 2",
)


def test_no_line_is_longer_than_the_terminal() -> None:
    for width in (30, 40, 60, 80):
        text = WIDE.to_text(width)
        assert max(map(len, text.splitlines())) <= width
        flat = " ".join(text.split())
        assert all(f"column {j}" in flat for j in range(9))


def test_every_block_has_the_first_column() -> None:
    table = Table("t", "T", WIDE.columns[:-1], tuple(row[:-1] for row in WIDE.rows))
    head, *blocks = table.to_text(40).split("\n\n")
    assert len(blocks) > 1
    for block in [head.split("\n", 1)[1], *blocks]:
        first = [line.split("  ")[0] for line in block.splitlines()]
        assert first == ["name", "-----", "row 0", "row 1", "row 2"]


def test_words_are_folded_and_numbers_and_short_lines_are_not() -> None:
    text = text_table(["n", "w"], [["123456789012345", "aa bb " * 10]], [False, True], 30)
    assert "123456789012345" in text
    assert max(map(len, text.splitlines())) <= 30
    table = Table("t", "T", ("a", "b"), (("x", 1), ("y", 22)))
    assert table.to_text(40) == table.to_text() == str(table)
    assert fold("  a   b\n" + "word " * 9, 20).split("\n")[0] == "  a   b"
    assert fold("x" * 50, None) == "x" * 50
    assert fold("", 10) == ""


NASTY = Table(
    "t",
    "T\x1b[31m",
    ("a|b", "[red]x[/red]"),
    (("line\nbreak", 1), ("\x1b]0;owned\x07", 2), ("right\u202eleft", 3), ("*_`<b>", 4)),
)


def test_signs_that_a_terminal_obeys_are_written_out() -> None:
    for text in (NASTY.to_text(), NASTY.to_text(30), NASTY.to_markdown(), NASTY.to_html()):
        assert not set(text) & set("\x1b\x07\u202e")
    assert "line\\nbreak" in str(NASTY)
    assert "\\u001b]0;owned\\u0007" in str(NASTY)
    assert "[red]x[/red]" in str(NASTY)


def test_markdown_shows_names_and_values_as_they_are() -> None:
    heading, _, head, rule, *rows = NASTY.to_markdown().splitlines()
    assert heading == "### T\\\\u001b\\[31m"
    assert head == "| a\\|b | \\[red\\]x\\[/red\\] |"
    assert rule == "| --- | ---: |"
    assert rows[0] == "| line break | 1 |"
    assert rows[3] == "| \\*\\_\\`\\<b> | 4 |"


def test_a_working_and_explanations_as_markdown() -> None:
    so = Table("why", "So", ("a", "n"), (("x", 1.0),))
    made = Explanation("x", None, ("x",), 1.0, so, "n")
    working = Working("All | of it", (NASTY, WIDE))
    assert working.to_markdown().startswith("## All \\| of it\n\n### T")
    why = Explanations(lambda _: made, range(1, 31), "pandas")
    text = why.to_markdown()
    assert text.count("### Row ") == 20
    assert text.endswith("… and 10 more rows: to_frame() has them all")
    first = "### Row 1. So\n\n| a | n |\n| --- | ---: |\n| x | 1 |"
    assert why[:2].to_markdown() == f"{first}\n\n{first.replace('Row 1', 'Row 2')}"


def test_a_page_is_whole_and_fetches_nothing() -> None:
    page = Working("<script>alert(1)</script>", (NASTY,)).to_html()
    assert page.startswith("<!doctype html>")
    assert not [word for word in ("<script", "https:", "http:") if word in page]
    for words in ("default-src 'none'", "color-scheme: light dark", "@media print"):
        assert words in page
