"""Columns as linear programs see them: dense, and the same whatever held them."""

from __future__ import annotations

import numpy as np

from ....design import DesignMatrix

# Digits beyond this share of a column's largest entry are left out: sums in another order change
# them, and they would decide which of several optimal vertices a linear program ends in.
COLUMN_RESOLUTION = 2.0**-36


class ColumnStore:
    """Columns of a design, read once; the same numbers for every memory order and format."""

    def __init__(self, design: DesignMatrix):
        self.design = design
        self._held: dict[int, np.ndarray] = {}

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """These columns in double precision, of shape (n_samples, n_features)."""
        missing = [j for j in features.tolist() if j not in self._held]
        if missing:
            block = coarse(self.design.dense_columns(np.array(missing)).astype(np.float64).T)
            self._held.update(zip(missing, block, strict=True))
        if not len(features):
            return np.empty((self.design.shape[0], 0))
        return np.column_stack([self._held[j] for j in features.tolist()])

    def __len__(self) -> int:
        return len(self._held)


def coarse(values: np.ndarray, size: float | None = None) -> np.ndarray:
    """Values (or rows of them) without the digits that depend on the order of sums.

    These are below ``COLUMN_RESOLUTION`` times ``size``, by default the largest of the values. The
    grain is a power of two, so that what is left is exact; where one grain gives way to the next
    is put where round numbers and their roots are not.
    """
    largest = np.abs(values).max(axis=-1, keepdims=True, initial=0.0) if size is None else size
    largest = np.where(np.asarray(largest) > 0, largest, 1.0)
    grain = COLUMN_RESOLUTION * np.exp2(np.floor(np.log2(largest) + 0.3217))
    return np.round(values / grain) * grain
