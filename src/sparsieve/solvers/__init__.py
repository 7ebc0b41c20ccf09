"""Solvers: iterate until an optimality measure is small."""

from .dca import DCA, DCAResult, DCProgram

__all__ = ["DCA", "DCAResult", "DCProgram"]
