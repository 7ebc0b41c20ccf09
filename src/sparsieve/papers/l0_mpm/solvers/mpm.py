"""The minimax probability machine: the hyperplane with the best worst-case accuracy.

Among all distributions with the given class means and covariances, the worst accuracy of the
half spaces of (w, b) is alpha = kappa^2 / (1 + kappa^2) with

    1 / kappa = (N1(w) + N2(w)) / D'w,    N_i(w)^2 = ||Z_i w||^2 + ridge_i ||w||^2,

so the best hyperplane minimises f(w) = N1(w) + N2(w) subject to D'w = 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ....solvers.base import Callback, Result
from .cones import Columns, solve_ratio
from .moments import TwoClassMoments
from .problem import Hyperplane, Minimax, spreads, worst_case_accuracy

GAP_TARGET_SHARE = 1e-3  # of the tolerance: Newton's method gets there in one more step
CONE_TOL = 1e-9
KINK_GAP = 1e-6  # relative; a larger one after Newton's method is no matter of rounding


@dataclass(frozen=True)
class _ReducedProblem:
    """The same problem in min(features, samples + 1) dimensions, where its solution lives."""

    roots: tuple[np.ndarray, np.ndarray]  # N_i(v)^2 = ||roots_i v||^2 + ridges_i ||v||^2
    ridges: tuple[float, float]
    difference: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        return np.ones(len(self.difference))

    def columns(self, which: int, features: np.ndarray) -> np.ndarray:
        return self.roots[which][:, features]

    def norms(self, v) -> np.ndarray:
        return spreads(self.roots, self.ridges, v)

    def covariances(self) -> list[np.ndarray]:
        size = len(self.difference)
        return [
            root.T @ root + ridge * np.eye(size)
            for root, ridge in zip(self.roots, self.ridges, strict=True)
        ]


@dataclass(frozen=True)
class MPM:
    """Newton's method on the slice D'w = 1, in the span of the samples where that is smaller.

    The objective is f(w) = 1 / kappa*, the optimality certified: f(w) is at most this share above
    the optimum.

    The part of w orthogonal to all samples and to D changes neither D'w nor Z_i w, and a ridge
    only punishes it: nothing is lost.
    """

    tol: float = 1e-6
    max_iter: int = 100

    def solve(
        self,
        problem: Minimax,
        start: Result[Hyperplane] | None = None,
        callback: Callback | None = None,
    ) -> Result[Hyperplane]:
        """Begin with Fisher's discriminant, which is nearly there; ``start`` is not used."""
        moments = problem.moments
        reduced, lift = _reduce(moments)
        v, gap, trace = _flat_direction(reduced), 0.0, [0.0]
        if v is None:
            v, gap, trace = _newton(reduced, GAP_TARGET_SHARE * self.tol, self.max_iter)
            # Rounding in ill-conditioned covariances limits Newton's method; a kink stops it.
            if gap > max(self.tol, KINK_GAP):
                v, gap, trace = _better(reduced, (v, gap, trace), _by_cones(reduced))
        norms = reduced.norms(v)
        total = float(norms.sum()) if trace[-1] > 0.0 else 0.0
        weights = lift(v)
        share = norms[0] / total if total > 0.0 else 0.5
        # With D'w = 1, mu1'w - kappa N1 = b: the classes get parts of D'w in proportion to N_i.
        offset = float(moments.means[0] @ weights - share * (moments.difference @ weights))
        accuracy = worst_case_accuracy(np.inf if total == 0.0 else 1.0 / total)
        plane = Hyperplane(weights, offset, accuracy, np.ones(len(weights)))
        return Result(plane, total, float(gap), len(trace), gap <= self.tol, trace)


def _reduce(moments: TwoClassMoments):
    everything = np.arange(moments.n_features)
    n_first, n_second = moments.n_rows
    if moments.n_features <= n_first + n_second + 1:
        roots = (moments.columns(0, everything), moments.columns(1, everything))
        return _ReducedProblem(roots, moments.ridges, moments.difference), lambda v: v
    # M M' = U diag(s) U' gives the orthonormal basis M'U / sqrt(s) of the rows of M, on which
    # M has the coordinates U sqrt(s).
    values, vectors = np.linalg.eigh(moments.gram())
    kept = values > values[-1] * len(values) * max(np.finfo(float).eps, moments.precision)
    roots = np.sqrt(values[kept])
    coordinates = vectors[:, kept] * roots
    back = vectors[:, kept] / roots

    def lift(v):
        a = back @ v
        return moments.rmatmul(a[:n_first], a[n_first:-1]) + moments.difference * a[-1]

    halves = (coordinates[:n_first], coordinates[n_first:-1])
    return _ReducedProblem(halves, moments.ridges, coordinates[-1]), lift


def _flat_direction(reduced: _ReducedProblem) -> np.ndarray | None:
    """A direction of no spread in either class along which the means differ, if there is one."""
    if max(reduced.ridges) > 0.0:
        return None
    spread = np.vstack(reduced.roots)
    difference = reduced.difference
    if spread.size == 0:
        return difference / (difference @ difference)
    _, singular, right = np.linalg.svd(spread, full_matrices=False)
    # Measured in units of the spread, so that badly scaled features do not look flat.
    inside = right[singular > singular[0] * 1e-10]
    rest = difference - inside.T @ (inside @ difference)
    rest -= inside.T @ (inside @ rest)
    if rest @ rest <= 1e-12 * (difference @ difference):
        return None
    return rest / (rest @ difference)


def newton_polish(
    roots: Sequence[np.ndarray],
    ridges: tuple[float, float],
    difference: np.ndarray,
    start: np.ndarray,
) -> np.ndarray | None:
    """Minimise N1(v) + N2(v) on difference'v = 1 from a good start; None if that fails."""
    along = float(difference @ start)
    if along <= 0.0:
        return None
    reduced = _ReducedProblem((roots[0], roots[1]), ridges, difference)
    v, gap, trace = _newton(reduced, 1e-13, 20, start / along)
    return v if gap <= 1e-8 and trace[-1] > 0.0 else None


def _newton(reduced: _ReducedProblem, tol: float, max_iter: int, start=None):
    """Minimise f on the slice; (point, certified relative gap, trace)."""
    S = reduced.covariances()
    d = reduced.difference
    metric = S[0] + S[1]
    metric_factor = _factor(metric)
    if metric_factor is None:
        v = d / (d @ d) if start is None else start
        return v, np.inf, [float(reduced.norms(v).sum())]
    if start is None:
        # Fisher's discriminant, which is optimal when both norms are equal.
        v = cho_solve(metric_factor, d)
        v /= d @ v
    else:
        v = start
    norms = reduced.norms(v)
    trace = [float(norms.sum())]
    best = (v, np.inf)
    for _ in range(max_iter):
        f = trace[-1]
        live = norms > 1e-14 * f
        gradients = [S[i] @ v / norms[i] for i in (0, 1) if live[i]]
        gradient = np.sum(gradients, axis=0)
        residual = gradient - f * d
        # f(w) >= gradient'w = f + residual'w for every w on the slice, and a better w has
        # sqrt(w'(S1 + S2)w) <= f(w) <= f: the optimum is at least f (1 - gap).
        gap = float(np.sqrt(max(residual @ cho_solve(metric_factor, residual), 0.0)))
        if gap < best[1]:
            best = (v, gap)
        if gap <= tol or not live.all():
            break
        hessian = np.outer(d, d) * f  # makes the (singular) Hessian definite; vanishes on the slice
        for covariance, norm, slope in zip(S, norms, gradients, strict=True):
            hessian += (covariance - np.outer(slope, slope)) / norm
        hessian_factor = _factor(hessian)
        if hessian_factor is None:
            break
        step = cho_solve(hessian_factor, -residual)
        step -= v * (d @ step)
        descent = float(gradient @ step)
        length = 1.0
        while length > 1e-10:
            trial = v + length * step
            trial_norms = reduced.norms(trial)
            if trial_norms.sum() <= f + 1e-4 * length * descent:
                break
            length /= 2.0
        else:
            break
        v, norms = trial / (d @ trial), trial_norms
        trace.append(float(norms.sum()))
    return best[0], best[1], trace


def _factor(matrix):
    """Cholesky factor, with as little added to the diagonal as it takes; None if hopeless."""
    unit = np.finfo(float).eps * np.trace(matrix) / len(matrix)
    if not np.isfinite(unit):
        return None
    for power in range(10):
        try:
            return cho_factor(matrix + unit * 10.0**power * np.eye(len(matrix)))
        except LinAlgError:
            continue
    return None


def _by_cones(reduced: _ReducedProblem):
    """The same by a cone program, for optima where one of the norms vanishes (a kink)."""
    every, none = np.arange(len(reduced.difference)), np.zeros(len(reduced.difference))
    answer = solve_ratio(cast(TwoClassMoments, reduced), Columns(every, none), none, CONE_TOL)
    along = 0.0 if answer is None else float(reduced.difference @ answer.weights)
    if answer is None or not along > 0:
        return None
    v = answer.weights / along
    value = float(reduced.norms(v).sum())
    gap = max(value - answer.dual_value, 0.0) / max(value, np.finfo(float).tiny)
    return v, gap, [value]


def _better(reduced, newton, cones):
    """The better of two points, with the better of their two lower bounds."""
    if cones is None:
        return newton
    values = [float(reduced.norms(found[0]).sum()) for found in (newton, cones)]
    bound = max(
        value * (1.0 - found[1]) for value, found in zip(values, (newton, cones), strict=True)
    )
    v = newton[0] if values[0] <= values[1] else cones[0]
    value = min(values)
    trace = [earlier for earlier in newton[2] if earlier > value] + [value]
    return v, max(value - bound, 0.0) / value, trace
