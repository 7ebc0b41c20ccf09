"""Solvers: iterate until an optimality measure is small."""

from .base import Callback, Problem, Result, Solver
from .forward import ForwardPath, forward_path

__all__ = ["Callback", "ForwardPath", "Problem", "Result", "Solver", "forward_path"]
