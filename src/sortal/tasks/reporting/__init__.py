"""How a report is made: its facts, and its faces."""
