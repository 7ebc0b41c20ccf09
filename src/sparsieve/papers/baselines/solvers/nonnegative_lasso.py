"""The path of the non-negative lasso, followed exactly from the strongest penalty down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ....solvers.base import Callback, Event, Result

# What the inner products, of vectors in single precision, are good for, relative to the first
# strength: features closer than this enter at the same time, the first one first.
PRECISION = 1e-6


@dataclass(frozen=True)
class NonnegativePath:
    """Where a path ended, and how it got there.

    Attributes
    ----------
    order : ndarray
        Features in the order of their first entry.
    strengths : ndarray
        Of the penalty when each of them entered.
    strength : float
        Of the penalty at the end: the next feature would enter here, or it is zero.
    weights : ndarray of shape (n_features,)
        The solution there.
    correlations : ndarray of shape (n_features,)
        Inner products with what is left of the target there.
    """

    order: np.ndarray
    strengths: np.ndarray
    strength: float
    weights: np.ndarray
    correlations: np.ndarray


@dataclass(frozen=True)
class NonnegativeLasso:
    """Minimise 1/2 ||y - Z a||^2 + strength sum(a) over a >= 0, given by inner products.

    Attributes
    ----------
    correlations : ndarray of shape (n_features,)
        Inner products of the features, of norm one or zero, with y.
    gram_column : callable
        Inner products of all features with one of them.
    target_power : float
        ||y||^2.
    """

    correlations: np.ndarray
    gram_column: Callable[[int], np.ndarray]
    target_power: float


@dataclass(frozen=True)
class NonnegativeLARS:
    """The homotopy method (LARS with the lasso's modification), which ends exactly on the path.

    Between two events, where a feature enters or leaves, the solution is linear in the strength:
    a = G^-1 (c - strength) on the features in use, with their Gram matrix G and the inner products
    c with y. Only the columns of the Gram matrix are needed of features that enter. The optimality
    is the largest violation of the KKT conditions, relative to the first strength.

    Attributes
    ----------
    n_steps : int
        Features to take up; the path ends where the next one would enter.
    tol : float
    """

    n_steps: int
    tol: float = 1e-4

    def solve(
        self,
        problem: NonnegativeLasso,
        start: Result[NonnegativePath] | None = None,
        callback: Callback | None = None,
    ) -> Result[NonnegativePath]:
        """Follow the path from the first entry; there is no other place to start from."""
        correlations, target_power = problem.correlations, problem.target_power
        first = float(correlations.max(initial=0.0))
        n_features = len(correlations)
        if first <= PRECISION * target_power**0.5:
            empty = np.empty(0, dtype=np.int64)
            nothing = NonnegativePath(empty, np.empty(0), 0.0, np.zeros(n_features), correlations)
            return Result(nothing, 0.5 * target_power, 0.0, 1, True)
        grain = PRECISION * first
        open_ = np.ones(n_features, dtype=bool)  # not in use
        redundant = np.zeros(n_features, dtype=bool)  # in the span of the features in use
        strengths: dict[int, float] = {}
        columns: dict[int, np.ndarray] = {}
        use: list[int] = []
        left: int | None = None
        now, strength, trace = correlations, first, [0.5 * target_power]
        weights = np.empty(0)
        limit = 20 * self.n_steps + 100
        for n_iter in range(1, limit + 1):
            if use:
                G = np.stack([columns[j][use] for j in use])
                G = 0.5 * (G + G.T)
                slope = np.linalg.solve(G, np.ones(len(use)))
                fall = np.stack([columns[j] for j in use], axis=1) @ slope
            else:
                slope, fall = np.empty(0), np.zeros(n_features)
            # How far the strength falls until a feature enters, and until one leaves.
            pace = 1.0 - fall
            may_enter = open_ & ~redundant & (pace > PRECISION)
            if left is not None:
                may_enter[left] = False
            until = np.full(n_features, np.inf)
            np.divide(strength - now, pace, out=until, where=may_enter)
            np.maximum(until, 0.0, out=until)
            entry = float(until.min())
            leaving = np.full(len(use), np.inf)
            np.divide(-weights, slope, out=leaving, where=slope < 0)
            exit_ = float(leaving.min(initial=np.inf))
            step = min(entry, exit_, strength)
            strength = max(strength - step, 0.0)
            if use:
                weights = np.linalg.solve(G, correlations[use] - strength)
                now = correlations - np.stack([columns[j] for j in use], axis=1) @ weights
            trace.append(_objective(weights, correlations[use], strength, target_power))
            done = strength <= grain or (entry <= exit_ and len(strengths) >= self.n_steps)
            event = Event(n_iter, trace[-1], n_features=len(use))
            if done or (callback is not None and callback(event)):
                break
            left = None
            if exit_ < entry:
                place = int(np.argmin(leaving))
                left = use.pop(place)
                weights = np.delete(weights, place)
                open_[left] = True
                redundant[:] = False
                continue
            j = int(np.flatnonzero(until <= entry + grain)[0])
            columns[j] = columns[j] if j in columns else problem.gram_column(j)
            if use:
                shared = columns[j][use]
                if columns[j][j] - shared @ np.linalg.solve(G, shared) <= 10 * PRECISION:
                    # The features in use say all that this one does. There may be very many such.
                    table = np.stack([columns[i] for i in use])
                    power = np.einsum("ij,ij->j", table, np.linalg.solve(G, table))
                    redundant |= power >= 1.0 - 10 * PRECISION
                    redundant[j] = True
                    continue
            open_[j] = False
            use.append(j)
            weights = np.append(weights, 0.0)
            strengths.setdefault(j, strength)
        a = np.zeros(n_features)
        a[use] = np.maximum(weights, 0.0)
        # The KKT conditions: correlations with the residual are at most the strength, and equal to
        # it for the features in use.
        excess = float((now - strength).max())
        uneven = float(np.abs(now[use] - strength).max(initial=0.0))
        negative = float(-weights.min(initial=0.0))
        optimality = max(excess, uneven, negative * first, 0.0) / first
        order = np.array(list(strengths), dtype=np.int64)
        path = NonnegativePath(order, np.array(list(strengths.values())), strength, a, now)
        return Result(
            path, trace[-1], float(optimality), n_iter, bool(done and optimality <= self.tol), trace
        )


def _objective(a: np.ndarray, c: np.ndarray, strength: float, target_power: float) -> float:
    """At a solution G a = c - strength, so that the Gram matrix is not needed."""
    fitted = float(a @ (c - strength))
    return 0.5 * (target_power - 2.0 * float(a @ c) + fitted) + strength * float(a.sum())
