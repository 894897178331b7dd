"""Tasks: functions that need no fitted model."""
