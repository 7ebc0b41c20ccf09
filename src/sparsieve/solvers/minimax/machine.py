"""The minimax probability machine: the hyperplane with the best worst-case accuracy.

Among all distributions with the given class means and covariances, the worst accuracy of the
half spaces of (w, b) is alpha = kappa^2 / (1 + kappa^2) with

    1 / kappa = (N1(w) + N2(w)) / D'w,    N_i(w)^2 = ||Z_i w||^2 + ridge_i ||w||^2,

so the best hyperplane minimises f(w) = N1(w) + N2(w) subject to D'w = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ..base import Result
from ..engines.conic import ConeProgram
from .hyperplane import Hyperplane, accuracy_of
from .moments import TwoClassMoments

AIM = 1e-3  # share of the tolerance to strive for: Newton's method gets there in one more step
KINK_GAP = 1e-6  # a larger gap after Newton's method is no matter of rounding


@dataclass(frozen=True)
class _ReducedProblem:
    """The same problem in min(features, samples + 1) dimensions, where its solution lives."""

    roots: tuple[np.ndarray, np.ndarray]  # N_i(v)^2 = ||roots_i v||^2 + ridges_i ||v||^2
    ridges: tuple[float, float]
    difference: np.ndarray

    def norms(self, v) -> np.ndarray:
        return np.array(
            [
                np.sqrt(np.sum((root @ v) ** 2) + ridge * (v @ v))
                for root, ridge in zip(self.roots, self.ridges, strict=True)
            ]
        )

    def covariances(self) -> list[np.ndarray]:
        size = len(self.difference)
        return [
            root.T @ root + ridge * np.eye(size)
            for root, ridge in zip(self.roots, self.ridges, strict=True)
        ]


def solve_mpm(
    moments: TwoClassMoments, *, tol: float = 1e-6, max_iter: int = 100
) -> Result[Hyperplane]:
    """Newton's method on the slice D'w = 1, in the span of the samples where that is smaller.

    The objective is f(w) = 1 / kappa*, the optimality certified: f(w) is at most this share above
    the optimum.

    The part of w orthogonal to all samples and to D changes neither D'w nor Z_i w, and a ridge
    only punishes it: nothing is lost.
    """
    reduced, lift = _reduce(moments)
    v, gap, trace = _flat_direction(reduced), 0.0, [0.0]
    if v is None:
        v, gap, trace = _newton(reduced, AIM * tol, max_iter)
        # Rounding in ill-conditioned covariances limits Newton's method; a kink stops it.
        if gap > max(tol, KINK_GAP):
            v, gap, trace = _better(reduced, (v, gap, trace), _by_cones(reduced))
    norms = reduced.norms(v)
    total = float(norms.sum()) if trace[-1] > 0.0 else 0.0
    weights = lift(v)
    share = norms[0] / total if total > 0.0 else 0.5
    # With D'w = 1, mu1'w - kappa N1 = b: the classes get parts of D'w in proportion to N_i.
    offset = float(moments.means[0] @ weights - share * (moments.difference @ weights))
    accuracy = accuracy_of(np.inf if total == 0.0 else 1.0 / total)
    plane = Hyperplane(weights, offset, accuracy, np.ones(len(weights)))
    return Result(plane, total, float(gap), len(trace), gap <= tol, trace)


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
        return moments.price(a[:n_first], a[n_first:-1]) + moments.difference * a[-1]

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


def newton_polish(roots, ridges, difference, start) -> np.ndarray | None:
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
        pulls = [S[i] @ v / norms[i] for i in (0, 1) if live[i]]
        gradient = np.sum(pulls, axis=0)
        residual = gradient - f * d
        # f(w) >= gradient'w = f + residual'w for every w on the slice, and a better w has
        # sqrt(w'(S1 + S2)w) <= f(w) <= f: the optimum is at least f (1 - gap).
        gap = float(np.sqrt(max(residual @ cho_solve(metric_factor, residual), 0.0)))
        if gap < best[1]:
            best = (v, gap)
        if gap <= tol or not live.all():
            break
        hessian = np.outer(d, d) * f  # makes the (singular) Hessian definite; vanishes on the slice
        for covariance, norm, pull in zip(S, norms, pulls, strict=True):
            hessian += (covariance - np.outer(pull, pull)) / norm
        hessian_factor = _factor(hessian)
        if hessian_factor is None:
            break
        step = cho_solve(hessian_factor, -residual)
        step -= v * (d @ step)
        slope = float(gradient @ step)
        length = 1.0
        while length > 1e-10:
            trial = v + length * step
            trial_norms = reduced.norms(trial)
            if trial_norms.sum() <= f + 1e-4 * length * slope:
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
    size = len(reduced.difference)
    heads = np.zeros((2, size + 2))
    heads[0, -2] = heads[1, -1] = -1.0
    blocks, sizes = [], []
    for which, (root, ridge) in enumerate(zip(reduced.roots, reduced.ridges, strict=True)):
        rows = root if ridge == 0.0 else np.vstack([root, np.sqrt(ridge) * np.eye(size)])
        blocks += [heads[which : which + 1], np.hstack([-rows, np.zeros((len(rows), 2))])]
        sizes.append(len(rows) + 1)
    slice_row = np.concatenate([-reduced.difference, [0.0, 0.0]])[None, :]
    A = np.vstack([slice_row, *blocks])
    b = np.zeros(len(A))
    b[0] = -1.0  # D'w >= 1 is tight at the optimum
    q = np.zeros(size + 2)
    q[-2:] = 1.0
    answer = ConeProgram(q, A, b, 1, sizes).solve()
    v = answer.x[:size]
    along = float(reduced.difference @ v)
    if answer.status != "solved" or not along > 0:
        return None
    v = v / along
    value = float(reduced.norms(v).sum())
    gap = max(value - answer.dual_objective, 0.0) / max(value, np.finfo(float).tiny)
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
