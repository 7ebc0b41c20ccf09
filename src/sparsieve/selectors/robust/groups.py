"""Groups of features under an l2,1 loss: columns, weights, and the selectors' parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._saved import Floats
from ...solvers.base import Result
from ...solvers.robust.group_working_set import GroupWorkingSet
from ...solvers.robust.polishing import RobustRefit
from ...validation.feature_groups import FeatureGroups
from ..base import TrainingData
from ..choices import PenalisedChoices, check_weights
from .base import ModelOnSupports, RobustProblem, UserModel


@dataclass(frozen=True)
class PenalisedRobustGroups:
    """The groups of a robust problem.

    Attributes
    ----------
    groups : FeatureGroups
        As given.
    constant : ndarray of bool of shape (n_groups,)
        Groups without information.
    solver : GroupWorkingSet
        The convex problem on the groups that may be chosen, with their weights.
    """

    groups: FeatureGroups
    constant: np.ndarray
    solver: GroupWorkingSet

    def alpha_max(self, problem: RobustProblem) -> float:
        """max_g ||X_g' L|| / c_g with L the weighted, normalised rows of Y."""
        dual = problem.data.normalised_target()
        return float(self.solver.at_dual(problem.data, dual).max(initial=0.0))


@dataclass(frozen=True)
class GroupModelOnSupports(ModelOnSupports):
    """The same with supports of groups; ``importances`` are those of groups."""

    groups: FeatureGroups
    weights: Annotated[Floats, "groups"]

    def columns(self, support: np.ndarray) -> np.ndarray:
        return self.groups.union(support)

    def fit(self, support: np.ndarray) -> Result[UserModel]:
        """The certified model on some groups."""
        local = [
            np.searchsorted(self.features, some) if g in support else some[:0]
            for g, some in enumerate(self.groups.columns)
        ]
        solver = GroupWorkingSet(local, self.weights)
        data = self.problem.data
        fit = RobustRefit(self.tol, self.max_iter).solve(solver.part(data, support))
        found = solver.whole(data, support, fit.solution)
        return self._for_user(fit, found, found.norms)


def group_model(
    selector: Any, data: TrainingData, problem: RobustProblem
) -> PenalisedRobustGroups | None:
    """What ``feature_groups`` and ``group_weights`` say; None where every column stands alone."""
    groups = data.groups
    if groups is None or (groups.are_single and selector.group_weights is None):
        return None
    choices = PenalisedChoices.of(selector, data, problem.data.design, problem.constant)
    solver = GroupWorkingSet(
        choices.columns, choices.weights, float(selector.tol), int(selector.max_iter or 200)
    )
    return PenalisedRobustGroups(groups, choices.constant, solver)


def check_groups(selector: Any, *, possible: bool) -> None:
    """Refuse weights without groups, and groups where a solver has none."""
    check_weights(selector)
    if selector.feature_groups is not None and not possible:
        raise ValueError(
            f"solver={selector.solver!r} cannot keep feature groups together; use "
            f"solver={type(selector).solver!r}"
        )
