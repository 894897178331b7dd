"""Engines: where passes over the rows run. A fit reaches rows through `reduce` and `map` only."""
