"""Nodes of the tree of an exact search, and what the ways to split them ask of the search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass
class Node:
    """Supports that have some features and lack some.

    Attributes
    ----------
    bound : float
        What all of them reach at least.
    inside : ndarray
        Candidates that are in for sure.
    open : ndarray of bool
        Candidates that are not out.
    members, z : ndarray
        Where the solution of the relaxation is known, and its values.
    """

    bound: float
    inside: np.ndarray
    open: np.ndarray
    members: np.ndarray
    z: np.ndarray

    def free(self) -> np.ndarray:
        """Mask of the candidates that may be in or out."""
        free = self.open.copy()
        free[self.inside] = False
        return free


class Search(Protocol):
    """What a search for the best support knows."""

    high: float  # what the best support reaches at most

    def offer(self, supports: np.ndarray, *, last: bool) -> None:
        """Look at supports: the best of all is kept, the others are left behind if ``last``."""

    def settles(self, bound: float) -> bool:
        """Whether supports that reach no less than this are not better by more than ``tol``."""

    def is_done(self, bound: float) -> bool:
        """Whether supports that reach no less than this need not be looked at."""
