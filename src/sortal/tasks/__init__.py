"""Tasks: what the commands do, as functions of files or data frames; the registry of learners."""
