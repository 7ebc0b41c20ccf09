"""Sequences of selections, as found on ``path_`` or returned by ``path()``."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse


@dataclass(frozen=True)
class SelectionPath:
    """The selections of a model at every number of features.

    Most paths are nested: the selection of k features is the first k of ``features``. A model
    that may take back earlier choices has ``supports`` of its own for every k.

    Attributes
    ----------
    features : ndarray of shape (n_steps,)
        Feature indices in order of entry.
    objective : ndarray of shape (n_steps + 1,) or None
        Objective with 0, 1, 2, ... of them.
    strength : ndarray of shape (n_steps,) or None
        Strength of the regularisation at which each entered.
    supports : list of ndarray or None
        Entry k holds the k features selected at that number, where they are not nested;
        ``features`` is then the last of them.
    """

    features: np.ndarray
    objective: np.ndarray | None = None
    strength: np.ndarray | None = None
    supports: list[np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.features)

    def support(self, n_features: int) -> np.ndarray:
        """The selected features at this number, the whole path if it is shorter."""
        n_features = min(n_features, len(self.features))
        if self.supports is None:
            return self.features[:n_features]
        return self.supports[n_features]


@dataclass
class RegularisationPath:
    """Solutions for falling strengths of a penalty.

    Attributes
    ----------
    strengths : list of float
    coefs : list of sparse arrays of shape (n_outputs, n_features)
        Coefficients in the units of X, one for every strength.
    intercepts : list of ndarray of shape (n_outputs,)
    objectives : list of float
    optimality : list of float
        Relative duality gap of every solution.
    """

    strengths: list[float] = field(default_factory=list)
    coefs: list[sparse.csc_array] = field(default_factory=list)
    intercepts: list[np.ndarray] = field(default_factory=list)
    objectives: list[float] = field(default_factory=list)
    optimality: list[float] = field(default_factory=list)

    def append(self, strength, coef, intercept, objective, optimality) -> None:
        """Add the solution for the next strength."""
        self.strengths.append(strength)
        self.coefs.append(sparse.csc_array(coef))
        self.intercepts.append(intercept)
        self.objectives.append(objective)
        self.optimality.append(optimality)

    @property
    def n_features(self) -> np.ndarray:
        """Number of features with a nonzero coefficient at every strength."""
        return np.array([int((np.diff(coef.indptr) > 0).sum()) for coef in self.coefs])

    def __len__(self) -> int:
        return len(self.strengths)
