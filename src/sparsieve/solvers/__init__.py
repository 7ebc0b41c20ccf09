"""Solvers: iterate until an optimality measure is small."""

from .base import Callback, Problem, Result, Solver
from .dca import DCA, DCAResult, DCProgram
from .forward import ForwardPath, forward_path

__all__ = [
    "DCA",
    "Callback",
    "DCAResult",
    "DCProgram",
    "ForwardPath",
    "Problem",
    "Result",
    "Solver",
    "forward_path",
]
