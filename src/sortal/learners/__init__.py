"""Learners: summary → model, as pure functions of frozen options."""
