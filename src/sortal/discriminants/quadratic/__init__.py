"""The quadratic discriminant."""
