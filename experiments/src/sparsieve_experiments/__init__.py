"""Experiments with sparsieve: studies over data sets, and those of the five papers."""
