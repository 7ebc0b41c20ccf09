"""Solvers of minimax probability machines."""
