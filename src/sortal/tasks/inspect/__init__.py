"""Inspecting a table before anything is fitted to it."""
