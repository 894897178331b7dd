"""Summaries: small statistics of labeled rows that merge. Nothing smoothed is ever stored."""
