"""Fisher's, linear and quadratic discriminants and indicator regression."""
