"""The report: facts first, then a page or Markdown."""
