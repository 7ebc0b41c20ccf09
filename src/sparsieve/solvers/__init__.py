"""Solvers: iterate until an optimality measure is small."""

from .base import Callback, Event, Path, Result

__all__ = ["Callback", "Event", "Path", "Result"]
