"""Coefficients of prescribed signs: one output, an l1 penalty, and w_j >= 0 or w_j <= 0.

A feature whose sign is prescribed enters where its gradient says so, not where it has the opposite
sign: of the dual ball one side is open. The certificate is the duality gap with that ball. On the
working set the quadratic model is solved exactly, by an active set: one feature enters at a time,
and those whose coefficients would cross zero leave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import linalg

from ..._beside import convert_like, in_double, largest, where
from ...penalties import L21
from ..base import Result
from ..losses.base import Loss
from .engine import Iterate, PathEngine
from .free import minimise_free
from .newton_set import (
    GroupCoefficients,
    LikelihoodL21,
    LikelihoodModel,
    PenalisedLikelihood,
    Point,
)
from .rows_model import RowsModel

# A feature enters where the gradient exceeds its price by this share of the largest product.
ENTRY_TOL = 1e-13
# Active sets grow and shrink for this many steps per column at most.
STEPS_PER_COLUMN = 20
# Pivots below this share of the largest are zero, and slopes below this share of the target.
SINGULAR, FLAT_SLOPE = 1e-6, 1e-9
# Armijo's share of the promised decrease, the shortest step, and where rounding begins.
DECREASE, SHORTEST, ROUNDING = 1e-4, 1e-10, 1e-15


def one_sided(G: Any, signs: np.ndarray) -> Any:
    """By how much every column wants to enter with a sign that it may have.

    ``G`` are the inner products with what is left of the target, ``signs`` 1 or -1 where the sign
    of a coefficient is prescribed, and 0 where it is not.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.paths.signed import one_sided
    >>> one_sided(np.array([-2.0, -3.0, 4.0]), np.array([1, 0, 1]))
    array([0., 3., 4.])
    """
    signs = convert_like(np.asarray(signs, dtype=np.float64), G)
    return where(signs == 0, abs(G), (signs * G).clip(min=0.0))


def signed_minimum(
    H: np.ndarray, b: np.ndarray, prices: np.ndarray, signs: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Minimise 1/2 w'Hw - b'w + sum_j p_j |w_j| over w with the signs prescribed.

    Columns of price 0 and sign 0 are free. ``start`` is feasible.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.paths.signed import signed_minimum
    >>> nothing = np.zeros(2)
    >>> signed_minimum(np.eye(2), np.array([3.0, -2.0]), np.ones(2), np.array([1, 1]), nothing)
    array([2., 0.])
    """
    w, free = start.copy(), (prices == 0) & (signs == 0)
    side, barred, last = np.sign(w), np.zeros(len(w), dtype=bool), -1
    slack = ENTRY_TOL * max(float(np.abs(b).max(initial=0.0)), float(prices.max(initial=0.0)))
    for _ in range(STEPS_PER_COLUMN * (len(w) + 1)):
        active = np.flatnonzero(free | (side != 0))
        now, own = w[active], side[active]
        step, ends = _step(H[np.ix_(active, active)], (b - prices * side)[active], now)
        shrinks = ~free[active] & (step * own <= 0) & ((now + step) * own <= 0)
        if not ends:  # the objective falls until a coefficient is zero
            shrinks = ~free[active] & (step * own < 0)
        if shrinks.any():
            with np.errstate(divide="ignore", invalid="ignore"):
                lengths = np.where(shrinks, np.where(now == 0, 0.0, -now / step), np.inf)
            first = int(np.argmin(lengths))
            w[active] = now + float(lengths[first]) * step
            w[active[first]] = side[active[first]] = 0.0
            barred[last] |= bool(active[first] == last)  # it came in by rounding alone
            continue
        if not ends:
            break
        w[active] = now + step
        left = b - H[:, active] @ w[active]
        closed = free | barred | (side != 0)
        excess = np.where(closed, -np.inf, one_sided(left, signs) - prices)
        if not len(excess) or excess.max() <= slack:
            break
        last = int(np.argmax(excess))
        side[last] = np.sign(left[last])
    return w


def _step(H: np.ndarray, target: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, bool]:
    """The way from w to the minimum of 1/2 w'Hw - w'target, or a direction of endless descent.

    False where there is no minimum, as columns depend on each other.
    """
    slope = target - H @ w
    if not len(w):
        return slope, True
    try:
        factor = linalg.cho_factor(H)
        pivots = np.diagonal(factor[0])
        if pivots.min() > SINGULAR * pivots.max():
            return linalg.cho_solve(factor, slope), True
    except linalg.LinAlgError:
        pass
    sizes, V = np.linalg.eigh(H)
    flat, along = sizes <= SINGULAR**2 * sizes[-1], V.T @ slope
    if float(np.abs(along[flat]).max(initial=0.0)) > FLAT_SLOPE * float(np.abs(target).max()):
        return V[:, flat] @ along[flat], False
    return V[:, ~flat] @ (along[~flat] / sizes[~flat]), True


# -- least squares -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SignedL1(L21):
    """alpha * sum_j |w_j| over w with prescribed signs, for one output.

    Parameters
    ----------
    alpha : float
    signs : ndarray of shape (n_features,)
        1 and -1 prescribe a sign, 0 does not.
    """

    signs: np.ndarray

    def dual_norms(self, G: Any) -> Any:
        """The alpha at which a column with this gradient enters."""
        return one_sided(G[:, 0], self.signs)

    def dual_bound_by_products(self, residual_sq: float, inner: float, G: Any) -> float:
        """As for any sign, with the one-sided norms; only multiples from 0 on are feasible."""
        if residual_sq == 0.0 or inner <= 0.0:
            return 0.0
        top = largest(self.dual_norms(G))
        s = min(inner / residual_sq, self.alpha / top if top > 0 else np.inf)
        return 2.0 * s * inner - s * s * residual_sq


class SignedRows(RowsModel):
    """A working set of columns that is solved exactly on its Gram matrix."""

    needs: ClassVar[str] = "signs"

    def __init__(self, problem: Any) -> None:
        super().__init__(problem)
        self.gram: np.ndarray = np.empty((0, 0))
        self.target: np.ndarray = np.empty(0)

    def add(self, units: np.ndarray) -> None:
        old = self.size
        super().add(units)
        new = self.columns[:, old:]
        across, gram = self.columns.T @ new, np.empty((self.size, self.size))
        gram[:old, :old] = self.gram
        gram[:, old:], gram[old:, :old] = across, across[:old].T
        self.gram, self.target = gram, np.append(self.target, new.T @ self.Y[:, 0])

    @property
    def squares(self) -> np.ndarray:
        return np.diagonal(self.gram)

    def descend(self, penalty: Any, share: float, max_sweeps: int) -> tuple[int, float]:
        prices = np.full(self.size, 0.5 * penalty.alpha)
        signs = penalty.signs[self.features]
        w = signed_minimum(self.gram, self.target, prices, signs, self.W[:, 0])
        changed = not np.array_equal(w, self.W[:, 0])
        self.W[:, 0] = w
        return int(changed), 0.0

    def move_if_lower(self, penalty: Any, candidate: np.ndarray) -> None:
        """An exact solution needs no better start."""

    def in_doubt(self, iterate: Iterate, alpha: float, seen: np.ndarray) -> bool:
        return False  # solved exactly


@dataclass(frozen=True)
class SignedLeastSquares(PathEngine):
    """Least squares of one output with prescribed signs, for falling strengths."""

    def _model(self, problem: Any, start: Result[Any] | None) -> SignedRows:
        model = SignedRows(problem)
        if start is not None:
            model.begin(start.solution.W)
        return model


# -- likelihoods -------------------------------------------------------------------------------


@dataclass(frozen=True)
class SignedProblem(PenalisedLikelihood):
    """A penalised likelihood of one output on single columns with prescribed signs.

    Parameters
    ----------
    signs : ndarray of shape (n_features,)
        1 and -1 prescribe a sign, 0 does not.
    """

    signs: np.ndarray | None = None

    def strengths(self, *gradients: np.ndarray) -> Any:
        """The strength at which every column would enter with a sign that it may have."""
        assert self.signs is not None
        side_by_side = np.hstack(gradients).astype(self.design.dtype, copy=False)
        G = in_double(self.design.native_projection(side_by_side))
        rows = [one_sided(-G[:, i], self.signs) * self._shares for i in range(len(gradients))]
        return np.array(rows) if isinstance(G, np.ndarray) else rows


class SignedModel(LikelihoodModel):
    """Newton steps whose quadratic models are solved exactly, on a working set of columns."""

    problem: SignedProblem

    def solve(self, alpha: float, share: float, max_steps: int) -> Iterate:
        problem, loss, X = self.problem, self.loss, self.X[: self.n_rows]
        n_free = problem.free.shape[1]
        assert problem.signs is not None
        columns = problem.penalised_groups.members(self.groups)
        signs = np.append(np.zeros(n_free), problem.signs[columns])
        weights = np.append(np.zeros(n_free), self.weights[self.is_free :])
        w, F, gradient = self.point.W[:, 0].copy(), self.point.F, self.point.gradient
        value = loss.value(F) + alpha * float(weights @ np.abs(w))
        steps = 0
        while True:
            pull = -(X @ gradient[:, 0])
            entering = one_sided(pull[n_free:], signs[n_free:]) / weights[n_free:]
            top = float(entering.max(initial=0.0))
            gap = value - loss.dual_value(F, min(1.0, alpha / top) if top > 0 else 1.0)
            if gap <= share * self._size(value) or steps >= max_steps:
                break
            H = loss.hessian(F, X.T)
            there = signed_minimum(H, H @ w + pull, alpha * weights, signs, w)
            following = _lower(loss, X, w, there, value, alpha * weights, pull)
            if following is None:
                break
            w, F, value, steps = *following, steps + 1
            F, gradient, further = minimise_free(loss, problem.free, F)
            w[:n_free] += further[:, 0]
            value = loss.value(F) + alpha * float(weights @ np.abs(w))
        norms = np.append(np.zeros(self.is_free), np.abs(w[n_free:]))
        strengths = np.append(np.zeros(self.is_free), entering)
        self.point: Any = Point(w[:, None], F, gradient, norms, strengths)
        active = self.groups[w[n_free:] != 0]
        return Iterate(value, gap, steps, active, self.point)


def _lower(
    loss: Loss,
    X: np.ndarray,
    w: np.ndarray,
    there: np.ndarray,
    value: float,
    prices: np.ndarray,
    pull: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Coefficients, predictors and value on the way to the minimum of the quadratic model."""
    d = there - w
    promised = float(pull @ d - prices @ (np.abs(there) - np.abs(w)))
    length = 1.0
    while promised > 0 and length > SHORTEST:
        new = there if length == 1.0 else w + length * d
        F = (new @ X)[:, None]
        reached = loss.value(F) + float(prices @ np.abs(new))
        if reached <= value - DECREASE * length * promised + ROUNDING * abs(value):
            return new.copy(), F, reached
        length *= 0.5
    return None


@dataclass(frozen=True)
class SignedLikelihood(LikelihoodL21):
    """A likelihood of one output with prescribed signs, for falling strengths."""

    def _model(self, problem: Any, start: Result[GroupCoefficients] | None) -> LikelihoodModel:
        return SignedModel(problem, self.null(problem) if start is None else start.solution)
