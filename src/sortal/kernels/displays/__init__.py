"""Displays of the kernel discriminant."""
