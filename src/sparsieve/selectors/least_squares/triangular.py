"""Least squares on any few of the features seen so far, without the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..preparation import Prepared


@dataclass(frozen=True)
class ReducedLeastSquares:
    """The triangular factor of some columns of X, which carries all that least squares needs.

    With X_U = QR, ||Y - X_U W||^2 = ||Q'Y - R W||^2 + ||Y - QQ'Y||^2. Solving on columns of R
    is as accurate as on columns of X, which normal equations would not be.
    """

    features: np.ndarray
    factor: np.ndarray
    target: np.ndarray
    outside: float
    ridge: float
    dtype: np.dtype

    @classmethod
    def of(cls, problem: Prepared, features: np.ndarray, ridge: float):
        """Factorise these columns of a problem."""
        columns = problem.design.dense_columns(features).astype(np.float64)
        Y = problem.Y.astype(np.float64)
        Q, R = linalg.qr(columns, mode="economic", overwrite_a=True, check_finite=False)
        target = Q.T @ Y
        outside = Y - Q @ target
        rest = float(np.vdot(outside, outside))
        return cls(features, R, target, rest, ridge, problem.design.dtype)

    def solve(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients on ``support`` and ||Y - X_S W||^2 + ridge ||W||^2."""
        order = np.argsort(self.features, kind="stable")
        places = order[np.searchsorted(self.features, support, sorter=order)]
        A, B = self.factor[:, places], self.target
        k = len(support)
        if self.ridge:
            A = np.vstack([A, np.sqrt(self.ridge) * np.eye(k)])
            B = np.vstack([B, np.zeros((k, B.shape[1]))])
        W = linalg.lstsq(A, B, lapack_driver="gelsy")[0] if k else np.zeros((0, B.shape[1]))
        residual = B - A @ W
        return W, self.outside + float(np.vdot(residual, residual))
