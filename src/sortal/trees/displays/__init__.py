"""Displays of trees."""
