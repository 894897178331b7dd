"""Views: pictures of discriminants, drawn from plain arrays or from what an estimator shows."""
