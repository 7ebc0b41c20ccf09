"""Solvers of problems with a sum of residual norms."""
