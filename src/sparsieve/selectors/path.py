"""Sequences of selections, as found on ``path_``; going: solvers.base.Path takes its place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


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
