"""A nested sequence of selections, as found on ``path_`` of fitted selectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SelectionPath:
    """Features in the order they enter a model.

    Attributes
    ----------
    features : ndarray of shape (n_steps,)
        Feature indices in order of entry.
    objective : ndarray of shape (n_steps + 1,) or None
        Objective with 0, 1, 2, ... of them.
    strength : ndarray of shape (n_steps,) or None
        Strength of the regularisation at which each entered.
    """

    features: np.ndarray
    objective: np.ndarray | None = None
    strength: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.features)
