"""What goes into the least-squares solvers, and what comes out of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from .._beside import rows_in_use
from ..design import DesignMatrix
from ..penalties import row_norms
from .base import Result

# ||Y||^2 outside of [this, 1 / this] is refused: its products with squares of X would overflow.
MIN_SQ_NORM = 1e-150


P = TypeVar("P")


@dataclass(frozen=True)
class LeastSquares:
    """Minimise ||XW - Y||^2 + ridge ||W||^2 + penalty(W) over W.

    Parameters
    ----------
    design, Y : the centred problem.
    penalty : Penalty or None
        With whatever capabilities the solver asks for.
    ridge : float
        Non-negative; for searches over supports, which take no penalty.
    eligible : ndarray of shape (n_features,) or None
        Mask of the features that such a search may use; None is all of them.
    redundancy : Redundancy or None
        Which features such a search passes over as near copies; None is none of them.
    """

    design: DesignMatrix
    Y: np.ndarray
    penalty: Any = None
    ridge: float = 0.0
    eligible: np.ndarray | None = None
    redundancy: Any = None

    def __post_init__(self) -> None:
        if self.penalty is None:
            return
        largest = float(np.abs(self.Y).max(initial=0.0))
        if largest > 0 and not MIN_SQ_NORM <= self.power <= 1.0 / MIN_SQ_NORM:
            size = "large" if largest > 1 else "small"
            raise ValueError(
                f"y is too {size} to be squared (its largest centred, weighted value is "
                f"{largest:.3g}); rescale y or sample_weight"
            )

    @property
    def is_eligible(self) -> np.ndarray:
        """The mask of the features that a search may use."""
        n_features = self.design.shape[1]
        return np.ones(n_features, dtype=bool) if self.eligible is None else self.eligible

    @property
    def alpha(self) -> float:
        """The strength of the penalty."""
        return self.penalty.alpha

    @property
    def power(self) -> float:
        """||Y||^2, which is the objective at W = 0."""
        Y = self.Y.astype(np.float64, copy=False)
        return float(np.vdot(Y, Y))

    @property
    def floor(self) -> float:
        """The least objective that gaps are measured by: below it a fit counts as perfect."""
        return float(np.sqrt(np.finfo(self.design.dtype).eps)) * self.power

    def objective(self, W: np.ndarray) -> float:
        """Value at W."""
        R = self.Y - self.design.matmul(W)
        value = float(np.vdot(R, R)) + self.ridge * float(np.vdot(W, W))
        return value if self.penalty is None else value + self.penalty.value(W)

    def make_result(self, W: np.ndarray) -> Result[Rows]:
        """W as a Result that solvers can start from; nothing is known about its optimality."""
        W = W.astype(self.design.dtype, copy=False)
        G = 2.0 * self.design.rmatmul(self.Y - self.design.matmul(W))
        return Result(Rows(W, row_norms(G)), self.objective(W), np.inf, 0, False)

    def assess(self, W: np.ndarray) -> tuple[Rows, float, float]:
        """Rows with their correlations, the objective, and the lower bound that they certify."""
        Y = self.Y.astype(np.float64)
        R = Y - self.design.matmul(W)
        G = 2.0 * self.design.rmatmul(R.astype(self.design.dtype, copy=False))
        value = float(np.vdot(R, R)) + self.penalty.value(W)
        return Rows(W, row_norms(G)), value, self.penalty.dual_bound(Y, R, G)

    def nothing(self) -> Result[Rows]:
        """The solution where no feature says anything about Y."""
        n_features = self.design.shape[1]
        W = np.zeros((n_features, self.Y.shape[1]), dtype=self.design.dtype)
        rows = Rows(W, np.zeros(n_features))
        return Result(rows, self.power, 0.0, 1, True, [self.power])

    def require_penalty(self, kind: type[P], solver: str) -> P:
        """The penalty, of which a solver needs a certain kind."""
        if not isinstance(self.penalty, kind):
            raise TypeError(f"{solver} needs {kind.__name__}, got {type(self.penalty).__name__}")
        return self.penalty


@dataclass(frozen=True)
class Rows:
    """A solution of a row-sparse problem.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients.
    correlation : ndarray of shape (n_features,)
        ||2 x_j'(Y - XW)||, the correlation of every feature with the residual.
    """

    W: np.ndarray
    correlation: np.ndarray

    @property
    def nonzero_features(self) -> np.ndarray:
        """The features with a row that is not zero."""
        return rows_in_use(self.W)


@dataclass(frozen=True)
class FewRows:
    """The same from the rows of a working set: nothing of the length of X is made unless asked for.

    Attributes
    ----------
    features : ndarray of int
        The features of the working set, in any order.
    rows : ndarray of shape (len(features), n_outputs)
        Their coefficients, in double precision.
    correlation : array of shape (n_features,)
        As in :class:`Rows`; a tensor where X is on a device.
    dtype : dtype
        Of the design.
    """

    features: np.ndarray
    rows: np.ndarray
    correlation: Any
    dtype: Any

    @cached_property
    def W(self) -> np.ndarray:
        """All coefficients."""
        W = np.zeros((len(self.correlation), self.rows.shape[1]), dtype=self.dtype)
        W[self.features] = self.rows
        return W

    @property
    def nonzero_features(self) -> np.ndarray:
        """The features with a row that is not zero."""
        return np.sort(self.features[self.rows.astype(self.dtype).any(axis=1)])
