"""The problem of every minimax probability machine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ....penalties import Surrogate
from .hyperplane import required_kappa
from .moments import TwoClassMoments


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
