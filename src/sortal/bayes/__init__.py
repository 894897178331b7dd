"""Discrete Bayes: Bayes' rule on tables of counts and normal densities."""
