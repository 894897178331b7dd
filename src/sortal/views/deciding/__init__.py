"""Models that decide in a page: their numbers for JSON, a form for a row, and a script."""
