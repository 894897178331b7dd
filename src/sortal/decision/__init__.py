"""From scores to posterior probabilities to labels; folds; the geometry of scatter matrices."""
