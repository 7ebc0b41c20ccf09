"""The kernel weights of a multiple kernel machine whose coefficients are held fixed.

With theta_m = A_m u, p_m = y theta_m and r = s - sum_m d_m p_m - s y b the problem is

    min over 0 <= d <= d_max, b:  sum_m (energy_m + shift_m |u|^2) d_m + lambda2 delta(d_m)
                                  + sum_i max(0, r_i)^2

A DC algorithm replaces delta by its tangent. What is left is convex and has few positive weights:
a working set grows by the features whose gradient is negative, and is solved by coordinate
descent, which finds the zeros, and Newton steps, which polish. Where more weights than samples are
between their bounds, as at prices near zero, some of them are first moved to a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np

from ..._saved import Floats, Ints, Savable

if TYPE_CHECKING:
    from ...penalties.concave import Surrogate
    from .alternating_dca import MKLModel
    from .bank import KernelBank

EPOCHS = 5  # of coordinate descent, between Newton steps
# Most times that features enter the working set; a handful is usual.
MAX_ENTRIES = 1000
# Kernel weights beyond this say that the objective has no minimum.
MAX_WEIGHT = 1e8
UNBOUNDED = (
    "the objective is unbounded below: a kernel weight grows without limit; use "
    'solver="alternating" and a finite d_max'
)


class UnboundedObjectiveError(ArithmeticError):
    """The objective has no lower bound; ``trace`` holds its values so far."""

    def __init__(self, message: str, trace: Sequence[float] = ()):
        super().__init__(message)
        self.trace: list[float] = list(trace)


@dataclass(frozen=True)
class KernelWeights(Savable):
    """Positive weights of a few features, and the bias."""

    features: Annotated[Ints, "features"]
    d: Annotated[Floats, "features"]
    bias: float

    @classmethod
    def none(cls, bias: float = 0.0) -> KernelWeights:
        """No feature at all."""
        return cls(np.empty(0, dtype=np.int64), np.empty(0), bias)

    def dense(self, n_features: int) -> np.ndarray:
        """Weights of all features."""
        full = np.zeros(n_features)
        full[self.features] = self.d
        return full


class WeightProgram:
    """The DC program above, for the coefficients ``u``.

    Parameters
    ----------
    model : MKLModel
        Kernels, labels, penalty, and whether the shifts of kernels are part of the objective.
    u : ndarray of shape (n_samples,)
        Coefficients.
    members : ndarray of int or None
        Features that may have a weight, in rising order; None is all.
    bias : float or None
        Holds b at this value; None optimises it together with the weights.
    """

    bank: KernelBank
    y: np.ndarray
    d_max: float
    lambda2: float
    surrogate: Surrogate

    def __init__(
        self,
        model: MKLModel,
        u: np.ndarray,
        members: np.ndarray | None = None,
        bias: float | None = None,
    ):
        self.bank, self.y = model.bank, model.y
        self.members: np.ndarray = np.arange(self.bank.n_features) if members is None else members
        self.lambda2, self.surrogate, self.d_max = model.lambda2, model.surrogate, model.d_max
        self.s: np.ndarray = self.bank.roots
        self.border: np.ndarray = self.s * self.y
        if bias is not None:
            self.s, self.border = self.s - self.border * bias, np.zeros_like(self.s)
        P = self.bank.apply(u, members)
        self.energy: np.ndarray = model.lambda1 * (P @ u)
        P *= self.y
        self.P = P
        self.ridge: float = model.lambda1 * float(u @ u) if model.shifted else 0.0
        self.scale: float = 2.0 * max(float(np.abs(P @ self.s).max()), np.finfo(float).tiny)

    # -- what the DC loop asks for ---------------------------------------------------------

    def value(self, x: KernelWeights) -> float:
        """The objective of the weights."""
        residual = np.maximum(0.0, self.residual(x))
        penalty = self.lambda2 * self.surrogate.total(x.d)
        return float(self.charge(x.features) @ x.d) + penalty + float(residual @ residual)

    def linearise(self, x: KernelWeights) -> np.ndarray:
        """lambda2 delta' of every member: its cost in the next convex problem."""
        costs = np.full(len(self.energy), self.lambda2 * self.surrogate.slope_at_zero)
        costs[self.rows(x.features)] = self.lambda2 * self.surrogate.weight(x.d)
        return costs

    def solve_convex(self, costs: np.ndarray, x0: KernelWeights) -> KernelWeights:
        """The weights that are optimal over all features at these costs."""
        working, d, bias = x0.features, x0.d, x0.bias
        tol = 1e-9 * self.scale
        for _ in range(MAX_ENTRIES):
            rows = self.rows(working)
            P = np.ascontiguousarray(self.P[rows])
            linear = self.charge(working) + costs[rows]
            d, bias, residual = solve_weights(
                P, linear, self.d_max, self.border, self.s, d, bias, tol
            )
            entering = self._entering(residual, costs, working, max(20, 2 * len(d)), tol)
            kept = d > 0
            working, d = working[kept], d[kept]
            if not len(entering):
                break
            working = np.concatenate([working, entering])
            d = np.concatenate([d, np.zeros(len(entering))])
        kept = d > 0
        order = np.argsort(working[kept])
        return KernelWeights(working[kept][order], d[kept][order], bias)

    # -- pieces ------------------------------------------------------------------------------

    def rows(self, features: np.ndarray) -> np.ndarray:
        """Where these features are among the members."""
        return np.searchsorted(self.members, features)

    def residual(self, x: KernelWeights) -> np.ndarray:
        """The residual r."""
        return self.s - x.d @ self.P[self.rows(x.features)] - self.border * x.bias

    def charge(self, features: np.ndarray) -> np.ndarray:
        """energy_m + shift_m |u|^2: what a unit of weight costs in the regulariser."""
        charge = self.energy[self.rows(features)]
        return charge + self.ridge * self.bank.shifts(features) if self.ridge else charge

    def gains(self, x: KernelWeights) -> np.ndarray:
        """What every member would gain per unit of weight: minus the gradient at zero weight.

        An upper bound for features whose shifts were not computed.
        """
        shifts = self.bank.known_shifts()[self.members]
        return (
            self._correlations(self.residual(x))
            - self.linearise(x)
            - self.energy
            - self.ridge * shifts
        )

    def contributions(self, x: KernelWeights) -> np.ndarray:
        """Half the difference of the classes' means of what every feature adds to the function f.

        Their sum over the features is the mean margin of the two classes, bias aside.
        """
        w = self.bank.weights
        sizes = np.where(self.y > 0, w[self.y > 0].sum(), w[self.y < 0].sum())
        found = np.zeros(len(self.energy))
        rows = self.rows(x.features)
        found[rows] = 0.5 * x.d * (self.P[rows] @ (self.bank.roots / sizes))
        return found

    def stationarity(self, x: KernelWeights) -> float:
        """Largest violation of the first-order conditions of the weights, over all members.

        Relative to the largest correlation of a feature with the residual.
        """
        correlations = self._correlations(self.residual(x))
        costs = self.linearise(x)
        entering = self._entering(self.residual(x), costs, x.features, 1, 0.0)
        worst = 0.0
        if len(entering):
            worst = float((correlations - costs)[self.rows(entering)[0]] - self.charge(entering)[0])
        rows = self.rows(x.features)
        inside = self.charge(x.features) + costs[rows] - correlations[rows]
        inside = np.where(x.d >= self.d_max, np.maximum(inside, 0.0), np.abs(inside))
        scale = max(float(np.abs(correlations).max()), float(costs.max()))
        # Comparisons pass over numbers that are none; such a point is not stationary.
        if not (np.isfinite(correlations).all() and np.isfinite(self.energy).all()):
            return np.inf
        return max(worst, float(inside.max(initial=0.0))) / scale

    def _correlations(self, residual) -> np.ndarray:
        """Minus the slope of the loss in every weight: twice p_m'max(0, r)."""
        return 2.0 * (self.P @ np.maximum(0.0, residual))

    def _entering(self, residual, costs, working, count, tol) -> np.ndarray:
        """Members outside that violate their KKT condition, worst first, at most ``count``.

        A shift is nonnegative, so it is only computed for features that would enter without,
        and would also with a lower bound of it.
        """
        base = self._correlations(residual) - costs - self.energy
        base[self.rows(working)] = -np.inf
        score = base
        if self.ridge:
            candidates = np.flatnonzero(base > tol)
            score = base.copy()
            score[candidates] -= self.ridge * self.bank.least_shifts(self.members[candidates])
        while True:
            worst = np.flatnonzero(score > tol)
            if len(worst) > count:
                worst = worst[np.argpartition(-score[worst], count - 1)[:count]]
            worst = worst[np.argsort(-score[worst], kind="stable")]
            features = self.members[worst]
            if not self.ridge or self.bank.has_shifts(features):
                return features
            score[worst] = base[worst] - self.ridge * self.bank.shifts(features)


def solve_weights(
    P: np.ndarray,
    linear: np.ndarray,
    bound: float,
    border: np.ndarray,
    s: np.ndarray,
    d: np.ndarray,
    bias: float,
    tol: float,
) -> tuple[np.ndarray, float, np.ndarray]:
    """Minimise linear'd + sum_i max(0, s - P'd - border b)^2 over 0 <= d <= bound and b.

    Stops when no entry of the projected gradient exceeds ``tol``. Returns (d, b, residual).
    """
    from ._kernels import reduce_weights, weight_epochs

    falling = np.flatnonzero(linear < 0) if np.isinf(bound) else ()
    if len(falling) and (P[falling] >= 0).all(axis=1).any():
        raise UnboundedObjectiveError(UNBOUNDED)  # such a weight lowers every term for ever
    d = d.copy()
    residual = s - d @ P - border * bias
    curvature = 2.0 * np.einsum("ij,ij->i", P, P)
    best = np.inf
    for _ in range(2000):
        bias = weight_epochs(P, curvature, linear, bound, border, d, bias, residual, EPOCHS)
        free = np.flatnonzero((d > 0) & (d < bound))
        if len(free) > len(s):
            # Newton's method has no system of full rank for more weights than samples.
            basis, inverse = np.full(len(s), -1), np.eye(len(s))
            reduce_weights(P, linear, bound, d, free, basis, inverse, np.empty(len(s)))
            residual = s - d @ P - border * bias
        bias = _polish(P, linear, bound, border, d, bias, residual, tol)
        # Recomputed against the drift of the updates.
        residual = s - d @ P - border * bias
        if len(d) and not d.max() <= MAX_WEIGHT:
            raise UnboundedObjectiveError(UNBOUNDED)
        gradient, bias_gradient = _gradients(P, linear, border, residual)
        worst = max(_violation(gradient, d, bound), abs(bias_gradient))
        if worst <= tol:
            break
        active = np.maximum(0.0, residual)
        value = float(linear @ d + active @ active)
        if not value < best - 1e-15 * abs(value):
            break  # rounding: no visible decrease is left
        best = value
    return d, float(bias), residual


def _gradients(P, linear, border, residual):
    active = np.maximum(0.0, residual)
    return linear - 2.0 * (P @ active), -2.0 * float(border @ active)


def _violation(gradient, d, bound) -> float:
    wrong = np.where(d <= 0, -gradient, np.where(d >= bound, gradient, np.abs(gradient)))
    return float(np.maximum(wrong, 0.0).max(initial=0.0))


def _polish(P, linear, bound, border, d, bias, residual, tol):
    """Newton steps on the weights between their bounds and on the bias, in place.

    A step that meets a bound stops there, and the next one goes on without that weight.
    """
    for _ in range(30):
        gradient, bias_gradient = _gradients(P, linear, border, residual)
        free = np.flatnonzero((d > 0) & (d < bound))
        slopes = np.append(gradient[free], bias_gradient)
        if np.abs(slopes).max() <= 0.1 * tol:
            break
        active = residual > 0
        rows = np.vstack([P[free][:, active], border[active]])
        hessian = 2.0 * (rows @ rows.T)
        np.einsum("ii->i", hessian)[:] += 1e-13 * max(float(np.trace(hessian)), 1e-300)
        try:
            step = -np.linalg.solve(hessian, slopes)
        except np.linalg.LinAlgError:
            break
        if not np.isfinite(step).all():
            break
        limit, blocked = _longest_step(d[free], step[:-1], bound)
        change = -(step[:-1] @ P[free] + step[-1] * border)
        length = _line_search(linear[free] @ step[:-1], residual, change, min(1.0, limit))
        if length <= 0.0:
            break
        d[free] = np.clip(d[free] + length * step[:-1], 0.0, bound)
        bias += length * step[-1]
        if length == limit:
            j = free[blocked]
            d[j] = 0.0 if step[blocked] < 0 else bound
        residual += length * change
    return bias


def _longest_step(d, step, bound) -> tuple[float, int]:
    """How far a step can go before the first weight meets a bound, and which one."""
    if not len(d):
        return np.inf, -1
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(step < 0, -d / step, np.where(step > 0, (bound - d) / step, np.inf))
    first = int(np.argmin(length))
    return float(length[first]), first


def _line_search(slope, residual, change, longest) -> float:
    """A step with sufficient decrease along a line, or zero."""
    start = np.maximum(0.0, residual)
    value = float(start @ start)
    descent = slope + 2.0 * float(start @ change)
    if descent >= 0:
        return 0.0
    length = longest
    for _ in range(40):
        end = np.maximum(0.0, residual + length * change)
        if float(end @ end) - value + length * slope <= 1e-4 * length * descent:
            return length
        length *= 0.5
    return 0.0
