"""A whole small page of HTML: nothing from elsewhere, light and dark, fit to be printed."""

from __future__ import annotations

from html import escape
from typing import Final

from sortal.data.printing import printable

# Nothing is fetched and nothing runs; only the style below is allowed.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h4 { font-size: 1.1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; white-space: nowrap; font-weight: 600; padding-bottom: .4rem; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .8rem .25rem 0; text-align: left; }
th { border-bottom-width: 2px; vertical-align: bottom; }
pre { overflow-x: auto; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } div { overflow: visible; }
  tr { break-inside: avoid; } thead { display: table-header-group; } }
""".strip()


def page(title: str, body: str) -> str:
    """A page around a piece of HTML, whose own texts are escaped already."""
    head = escape(printable(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{head}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{head}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )
