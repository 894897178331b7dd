"""Comparing learners by cross-validation."""
