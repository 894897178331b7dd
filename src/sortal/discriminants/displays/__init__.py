"""Displays of discriminants."""
