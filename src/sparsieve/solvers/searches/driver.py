"""Exchanges between supports of one size, whatever is fitted on them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

Fit = TypeVar("Fit", bound=Any)  # with its objective
# The features of a support, and how to fit it: None where the objective does not get below a limit.
Proposal = tuple[Iterable[int], Callable[[float], Fit | None]]


class Exchanges(ABC, Generic[Fit]):
    """Proposals are fitted one by one; the first that is better is taken.

    What supports that were tried could not get below is remembered: none is fitted twice in vain.
    """

    def __init__(self) -> None:
        self._rejected: dict[frozenset[int], float] = {}

    @abstractmethod
    def goal(self, fit: Fit) -> float:
        """What an exchange must get below."""

    @abstractmethod
    def proposals(self, fit: Fit) -> Iterator[Proposal[Fit]]:
        """Exchanges that may lower the objective, the most promising first."""

    def better(self, fit: Fit) -> Fit | None:
        """The first proposal that lowers the objective; None where none does."""
        tried = (self.tried(fit, *proposal) for proposal in self.proposals(fit))
        return next((found for found in tried if found is not None), None)

    def tried(
        self, fit: Fit, features: Iterable[int], fitted: Callable[[float], Fit | None]
    ) -> Fit | None:
        """The fit on these features where it is below the goal."""
        goal, key = self.goal(fit), frozenset(features)
        if self._rejected.get(key, -np.inf) >= goal:
            return None
        found = fitted(goal)
        if found is not None and found.objective < goal:
            return found
        self._rejected[key] = goal
        return None
