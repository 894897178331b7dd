"""The classical statistics of discriminant analysis, and its assumptions."""
