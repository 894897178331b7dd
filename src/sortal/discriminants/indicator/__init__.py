"""Regression on class indicators."""
