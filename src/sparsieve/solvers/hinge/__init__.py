"""Solvers of support vector machines."""
