"""The linear discriminant."""
