"""Pictures for a report: a figure, its alternative text, its table, its code."""
