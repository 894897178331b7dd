"""The kernel discriminant."""
