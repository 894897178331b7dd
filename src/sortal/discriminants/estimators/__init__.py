"""The four discriminants, as estimators."""
