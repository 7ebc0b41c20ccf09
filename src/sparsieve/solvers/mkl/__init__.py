"""Solvers of multiple kernel learning."""
