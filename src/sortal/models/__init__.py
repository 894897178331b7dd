"""Models: immutable, predict only; decisions; the records in which working is shown."""
