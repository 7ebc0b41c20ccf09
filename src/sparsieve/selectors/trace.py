"""How a fit went, read from a fitted selector: the way of its objective, and whether it arrived."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

FEATURE_COUNT = "number of features"  # what a greedy path counts


@dataclass(frozen=True)
class Descent:
    """Objective values of a fit.

    Attributes
    ----------
    values : ndarray
        The objective after every step.
    first : int
        Number of the first value.
    step_name : str
        What is counted: iterations, or the features of a greedy path.
    """

    values: np.ndarray
    first: int
    step_name: str


def descent_of(selector: Any) -> Descent:
    """``history_`` of a fitted selector with its meaning."""
    values = np.asarray(selector.history_, dtype=np.float64)
    path: Any = getattr(selector, "path_", None)
    by_size = getattr(path, "objective", None)
    # The objectives of a path that grows by one feature a step are no iterations.
    if by_size is not None and 0 < len(values) <= len(by_size):
        steps = range(len(by_size))[-len(values) :]
        sizes = [len(support) for support in path.supports][-len(values) :]
        if sizes == list(steps) and np.array_equal(by_size[-len(values) :], values):
            return Descent(values, steps[0], FEATURE_COUNT)
    return Descent(values, 1, "iteration")


def why_not_converged(selector: Any) -> str:
    """What kept a fitted selector from its goal, as part of a sentence; empty if it arrived."""
    if getattr(selector, "converged_", True):
        return ""
    optimality, tol = selector.optimality_, getattr(selector, "tol", None)
    if tol is None or math.isnan(optimality):
        return "it stopped early"
    return f"optimality {optimality:.2g} exceeds tol={tol:g}"
