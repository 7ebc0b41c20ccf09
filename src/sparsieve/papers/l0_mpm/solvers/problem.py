"""The problem of every minimax probability machine, and the hyperplane that each ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ....penalties import Surrogate
from .moments import TwoClassMoments


@dataclass(frozen=True)
class Hyperplane:
    """sign(w'x - offset), and how good it is in the worst case.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        Exact zeros outside the support.
    offset : float
    accuracy : float
        Worst-case accuracy in [0, 1] of the class that is worse off; one when the classes can
        be told apart without any spread along w.
    tightness : ndarray of shape (n_features,)
        How close every feature is to being worth its cost: one on the support, below elsewhere.
    reduced_costs : ndarray of shape (n_features,) or None
        Of the machines that reach a level: where the next one starts.
    multipliers : ndarray of shape (4,) or None
        Of the two cones and the two linear constraints of such a machine, relative to its
        objective.
    """

    weights: np.ndarray
    offset: float
    accuracy: float
    tightness: np.ndarray
    reduced_costs: np.ndarray | None = None
    multipliers: np.ndarray | None = None

    @property
    def support(self) -> np.ndarray:
        """Indices of the nonzero weights."""
        return np.flatnonzero(self.weights)


def worst_case_accuracy(kappa: float) -> float:
    """Worst-case accuracy at kappa standard deviations from the mean."""
    return 1.0 if np.isinf(kappa) else kappa**2 / (1.0 + kappa**2)


def required_kappa(accuracy: float) -> float:
    """Standard deviations needed for this worst-case accuracy."""
    return float(np.sqrt(accuracy / (1.0 - accuracy)))


def class_norms(moments: TwoClassMoments, features: np.ndarray, values: np.ndarray) -> np.ndarray:
    """N_1 and N_2 of the weights ``values`` on ``features``."""
    return spreads([moments.columns(which, features) for which in (0, 1)], moments.ridges, values)


def spreads(factors: Sequence[np.ndarray], ridges: Sequence[float], w: np.ndarray) -> np.ndarray:
    """N_i(w) = sqrt(||Z_i w||^2 + ridge_i ||w||^2) of both classes."""
    squares = [
        np.sum((Z @ w) ** 2) + ridge * (w @ w) for Z, ridge in zip(factors, ridges, strict=True)
    ]
    return np.sqrt(squares)


def achieved_accuracy(moments: TwoClassMoments, weights: np.ndarray, offset: float) -> float:
    """Worst-case accuracy of a hyperplane for the class that is worse off."""
    support = np.flatnonzero(weights)
    values = weights[support]
    norms = class_norms(moments, support, values)
    sides = (
        float(moments.means[0][support] @ values) - offset,
        offset - float(moments.means[1][support] @ values),
    )
    kappas = [
        0.0 if side <= 0.0 else (np.inf if norm == 0.0 else side / norm)
        for side, norm in zip(sides, norms, strict=True)
    ]
    return worst_case_accuracy(min(kappas))


def balanced_plane(
    moments: TwoClassMoments, weights: np.ndarray, tightness: np.ndarray
) -> tuple[Hyperplane, float]:
    """The best offset for these weights, where both classes are as many spreads away; N_1 + N_2."""
    support = np.flatnonzero(weights)
    norms = class_norms(moments, support, weights[support])
    total = float(norms.sum())
    means = [float(mean[support] @ weights[support]) for mean in moments.means]
    share = norms[0] / total if total > 0.0 else 0.5
    offset = means[0] - share * (means[0] - means[1])
    accuracy = achieved_accuracy(moments, weights, offset)
    return Hyperplane(weights, offset, accuracy, tightness), total


@dataclass(frozen=True)
class Minimax:
    """Two classes by their moments, what weights cost, and the level to reach.

    Attributes
    ----------
    moments : TwoClassMoments
    costs : ndarray of shape (n_features,)
        Of a unit of |w_j| (or of the surrogate of it); zero for unpenalised features. The machine
        that is not sparse has none.
    level : float
        Worst-case accuracy to reach, where the model has one.
    surrogate : Surrogate or None
        Of the number of features, where it is counted.
    """

    moments: TwoClassMoments
    costs: np.ndarray = field(default_factory=lambda: np.empty(0))
    level: float = 0.0
    surrogate: Surrogate | None = None

    @property
    def kappa(self) -> float:
        """Standard deviations between the hyperplane and the class means."""
        return required_kappa(self.level)

    @property
    def free(self) -> np.ndarray:
        """Features that cost nothing."""
        return np.flatnonzero(self.costs == 0.0)
