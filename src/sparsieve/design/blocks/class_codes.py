"""Targets of many samples: class labels as small numbers, and what they span, in little memory.

Where X is too large to hold, n_samples may be so large that a few columns of as many numbers are
too: a column per class, in double precision, takes as much as some columns of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base import slices

# Rows that are worked on together.
STEP = 1 << 16


@dataclass(frozen=True)
class Coded:
    """A matrix whose every row is one of the rows of a small table: table[codes].

    Rows of it are plain arrays, and so is all of it where somebody asks for an array.
    """

    codes: np.ndarray
    table: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.codes), self.table.shape[1]

    @property
    def dtype(self) -> np.dtype:
        return self.table.dtype

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return self.table[self.codes[rows]]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.table.astype(dtype or self.dtype)[self.codes]

    def astype(self, dtype: Any) -> np.ndarray:
        return self.__array__(dtype)

    def sizes(self, weights: np.ndarray | None = None) -> np.ndarray:
        """How many rows have each code, counted with their weights."""
        return code_sizes(self.codes, len(self.table), weights)


Outputs = np.ndarray | Coded  # what a target may be: (n_samples, n_outputs)


def code_sizes(codes: np.ndarray, n_codes: int, weights: np.ndarray | None = None) -> np.ndarray:
    """How often each code occurs, counted with weights, without wider copies of the codes."""
    total = np.zeros(n_codes)
    for rows in slices(len(codes), STEP):
        some = None if weights is None else weights[rows]
        total += np.bincount(codes[rows], weights=some, minlength=n_codes)
    return total


def totals(Y: Outputs, weights: np.ndarray | None = None) -> np.ndarray:
    """The weighted sum of every column."""
    if isinstance(Y, Coded):
        return Y.sizes(weights) @ Y.table
    return Y.sum(axis=0) if weights is None else weights @ Y


def independent(Y: Outputs, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """(M, R) with Y = (Y M) R and columns of Y M that are orthonormal under the weights.

    The columns of several classes add up to nothing. Inner products would not show that: their
    rounding is larger than the squares of what rounding leaves of such a sum.
    """
    n_outputs = Y.shape[1]
    if not n_outputs:
        return np.zeros((0, 0)), np.zeros((0, 0))
    if isinstance(Y, Coded):
        few = np.sqrt(Y.sizes(weights))[:, None] * Y.table
    else:
        few = _triangle(Y, weights)
    _, singular, right = np.linalg.svd(few, full_matrices=False)
    threshold = singular[0] * max(Y.shape) * np.finfo(np.float64).eps
    lengths = singular[: int((singular > threshold).sum())]
    right = right[: len(lengths)]
    return right.T / lengths, lengths[:, None] * right


def _triangle(Y: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """T with T'T = Y'DY, by orthogonal steps over blocks of rows."""
    found: Any = np.empty((0, Y.shape[1]))
    for rows in slices(len(Y), STEP):
        block = np.asarray(Y[rows], dtype=np.float64)
        if weights is not None:
            block = np.sqrt(weights[rows])[:, None] * block
        found = np.linalg.qr(np.vstack([found, block]), mode="r")
    return found
