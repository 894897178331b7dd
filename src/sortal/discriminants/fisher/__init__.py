"""Fisher's discriminant."""
