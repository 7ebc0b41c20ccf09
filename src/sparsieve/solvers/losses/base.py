"""What a solver may ask of a loss, whatever the target is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import entr, xlog1py


class BinomialData(NamedTuple):
    """y successes and ``failures`` at f - ``shift``: the logistic and negative binomial losses."""

    y: np.ndarray
    failures: np.ndarray
    weights: np.ndarray
    shift: float = 0.0


class PoissonData(NamedTuple):
    """Counts y of mean e^f."""

    y: np.ndarray
    weights: np.ndarray


class CoxData(NamedTuple):
    """Times without late entry.

    y is the weight of those who die and 0 for others; samples and blocks are as
    :class:`.cox.Rows` has them, and ``block_weights`` are those of every term of a block.
    """

    y: np.ndarray
    weights: np.ndarray
    order: np.ndarray
    blocks: np.ndarray
    block_weights: np.ndarray


class Loss(ABC):
    """L(F) = sum_i s_i l(y_i, f_i), convex in the linear predictors F of shape (n, m).

    A loss is made from the target and the weights s of the samples. Rows of F are samples, and
    columns are outputs: one, or one per class.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        s, all positive.
    n_outputs : int
        m.
    task : str
        What y holds: "classification", "counts", "survival" or "regression".
    has_intercept : bool
        Whether adding a constant to a column of F changes L. Where it does not, as for Cox, a model
        has no intercept.
    is_redundant : bool
        Whether adding the same number to all outputs of a sample leaves L as it is, as for the
        multinomial loss.
    compiled : tuple or None
        What :mod:`._loss_kernels` take of the loss, of a class of its own, so that nothing else is
        compiled; None where there is no compiled code for it.
    """

    weights: np.ndarray
    n_outputs: int = 1
    task: ClassVar[str] = "regression"
    has_intercept: ClassVar[bool] = True
    is_redundant: ClassVar[bool] = False
    compiled: Any = None

    @classmethod
    def is_default(cls, target: Any) -> bool:
        """Whether it is the one to take for a target of its task where nobody says which."""
        return True

    @classmethod
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        """The loss of a validated target, with the parameters of a selector.

        ``target`` has the numbers ``Y``, one column per output, or the ``codes`` of ``classes``, or
        ``survival`` times. As it stands this is for a loss that is made of one column of numbers.
        """
        return cls(one_column(target), weights)  # type: ignore[call-arg]

    @classmethod
    def predict_mean(cls, F: np.ndarray) -> np.ndarray:
        """What is expected of y where linear predictors are F and y holds no classes."""
        return F

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return len(self.weights)

    @abstractmethod
    def value(self, F: np.ndarray) -> float:
        """L(F); infinite where it overflows."""

    @abstractmethod
    def gradient(self, F: np.ndarray) -> np.ndarray:
        """The derivatives of L, of the shape of F."""

    @abstractmethod
    def curvature(self, F: np.ndarray) -> np.ndarray:
        """A diagonal D of the shape of F with H(F) <= diag(D), where H(F) is the Hessian.

        For one output without coupling between samples it is the Hessian. Its sum over samples at
        the null model measures how much the target can say about one coefficient: n p (1 - p) for
        two classes, the number of events for Cox.
        """

    def diagonal(self, F: np.ndarray) -> np.ndarray:
        """The diagonal of the Hessian for one sample and output each, of the shape of F.

        Unlike :meth:`curvature` it bounds nothing. For Cox it is that bound; for a loss whose
        samples do not see each other it is the Hessian.
        """
        return self.curvature(F)

    @abstractmethod
    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        """H(F) V for directions V of shape (n, m), or several of them as (n, m, q)."""

    def curvature_operator(
        self, F: np.ndarray, X: np.ndarray, dtype: type = np.float64
    ) -> Callable[[np.ndarray], np.ndarray]:
        """The product with X'H(F)X of coefficients of shape (q, m), for columns X of shape (n, q).

        ``F`` must not change while it is in use; ``dtype`` is that of the coefficients.
        """
        return lambda V: X.T @ self.hessian_product(F, X @ V)

    @abstractmethod
    def dual_value(self, F: np.ndarray, t: float) -> float:
        """-L*(t grad L(F)) for 0 <= t <= 1, the value D(t) of the dual point -t grad L(F).

        It bounds a penalised objective from below where that point is feasible: orthogonal to the
        columns without penalty, and within the penalty's dual ball for the others.
        """

    @abstractmethod
    def null(self) -> tuple[np.ndarray, float]:
        """(intercepts of shape (m,), value) of the best model without features."""

    def null_coefficients(self, Z: np.ndarray) -> np.ndarray:
        """Those of columns Z, of which a first one of equal numbers is for the intercept."""
        B = np.zeros((Z.shape[1], self.n_outputs))
        if self.has_intercept and len(B) and (Z[:, 0] == Z[0, 0]).all():
            B[0] = self.null()[0] / Z[0, 0]
        return B

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        """X'H(F)X for columns X of shape (n, q), of shape (q m, q m).

        The outputs of a feature are neighbours: coefficient (j, k) has place j m + k.
        """
        H = self.mixed_hessian(F, X, X)
        return np.asarray(0.5 * (H + H.T))

    def mixed_hessian(self, F: np.ndarray, X: np.ndarray, other: np.ndarray) -> np.ndarray:
        """X'H(F)U for columns X and U = ``other``, of shape (q m, p m) in the same order."""
        m, q, p = self.n_outputs, X.shape[1], other.shape[1]
        if m == 1:
            return np.asarray(X.T @ self.hessian_product(F, other[:, None, :])[:, 0, :])
        found = np.empty((q, m, p, m))
        V = np.zeros((len(X), m, p))
        for k in range(m):
            V[:, k] = other
            product = self.hessian_product(F, V)
            for row in range(m):
                found[:, row, :, k] = X.T @ product[:, row]
            V[:, k] = 0.0
        return found.reshape(q * m, p * m)


class SeparableLoss(Loss):
    """A loss of one output whose samples do not see each other: its Hessian is diagonal."""

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        D = self.diagonal(F)
        return (D if V.ndim == 2 else D[:, :, None]) * V

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        scaled = np.sqrt(self.diagonal(F)) * X
        return np.asarray(scaled.T @ scaled)


def one_column(target: Any) -> np.ndarray:
    """The numbers of a target of one column."""
    Y = np.asarray(target.Y, dtype=np.float64)
    if Y.shape[1] != 1:
        raise ValueError(f"this loss takes one column of numbers, but y has {Y.shape[1]}")
    return Y[:, 0]


def sample_weights(weights: np.ndarray | None, n_samples: int) -> np.ndarray:
    """The weights in double precision; None counts every sample once."""
    return np.ones(n_samples) if weights is None else np.asarray(weights, dtype=np.float64)


def weighted_mean(y: np.ndarray, weights: np.ndarray) -> float:
    """The weighted mean."""
    return float(weights @ y / weights.sum())


def binary_entropy(q: np.ndarray, rest: np.ndarray) -> np.ndarray:
    """-q ln q - rest ln rest where q + rest = 1, without cancellation where one is close to 1."""
    large = np.maximum(q, rest)
    small = np.minimum(q, rest)
    return np.asarray(entr(small) - xlog1py(large, -small))
