"""The scikit-learn door: parameters, validation, docstrings."""
