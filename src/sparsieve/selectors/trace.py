"""How a fit went, read from a fitted selector: the way of its objective, and whether it arrived."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .units import groups_of, unit_masks, unit_of


@dataclass(frozen=True)
class Descent:
    """Objective values of a fit.

    Attributes
    ----------
    values : ndarray
        The objective after every step.
    first : int
        Number of the first value.
    unit : str
        What a greedy path counts: "feature" or "feature group"; empty for iterations.
    """

    values: np.ndarray
    first: int
    unit: str = ""

    @property
    def step_name(self) -> str:
        """What is counted, in words."""
        return f"number of {self.unit}s" if self.unit else "iteration"


def descent_of(selector: Any) -> Descent:
    """``history_`` of a fitted selector with its meaning."""
    values = np.asarray(selector.history_, dtype=np.float64)
    path: Any = getattr(selector, "path_", None)
    by_size = getattr(path, "objective", None)
    # The objectives of a path that grows by one feature or group a step are no iterations.
    if by_size is not None and 0 < len(values) <= len(by_size):
        steps = np.arange(len(by_size))[-len(values) :]
        is_last = np.array_equal(by_size[-len(values) :], values)
        if is_last and _counts(selector, path.supports[-len(values) :], steps):
            return Descent(values, int(steps[0]), unit_of(selector))
    return Descent(values, 1)


def _counts(selector: Any, supports: Sequence[np.ndarray], steps: np.ndarray) -> bool:
    """Whether the supports have so many features, or so many feature groups."""
    groups = groups_of(selector)
    if groups is None:
        return [len(support) for support in supports] == steps.tolist()
    columns = np.zeros((len(supports), groups.n_features), dtype=bool)
    for row, support in zip(columns, supports, strict=True):
        row[support] = True
    # Groups that overlap may hold others, which then count as well.
    return bool((unit_masks(groups, columns).sum(axis=1) >= steps).all())


def why_not_converged(selector: Any) -> str:
    """What kept a fitted selector from its goal, as part of a sentence; empty if it arrived."""
    if getattr(selector, "converged_", True):
        return ""
    optimality, tol = selector.optimality_, getattr(selector, "tol", None)
    if tol is None or math.isnan(optimality):
        return "it stopped early"
    return f"optimality {optimality:.2g} exceeds tol={tol:g}"
