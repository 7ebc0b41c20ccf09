"""Solvers of least-squares problems."""
