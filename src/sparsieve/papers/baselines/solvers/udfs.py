"""Few features in which neighbours can be separated by lines: the iteration of UDFS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ....solvers.base import Callback, Event, Result

# Row norms are smoothed to sqrt(norm^2 + SMOOTHING^2), so that the penalty has a slope at zero.
SMOOTHING = 1e-3
_CHUNK_BYTES = 1 << 24
# So many steps are those of the paper, which mostly decide where the rest will lead to. Later ones
# extrapolate, further by GROWTH every time, and less far by SHRINKAGE where the objective rose.
PUBLISHED_STEPS, GROWTH, SHRINKAGE, MIN_EXTRAPOLATION = 50, 1.2, 0.25, 0.5


def local_scatter(X: np.ndarray, neighbours: np.ndarray, ridge: float) -> np.ndarray:
    """M = sum_i X_i' (X_i X_i' + ridge I)^-1 X_i of features x features.

    The rows of X_i are a sample and its neighbours, centred. w'Mw is small for
    directions w along which the differences of neighbours are small compared with those in other
    directions.
    """
    n_samples, n_features = X.shape
    members = np.column_stack([np.arange(n_samples), neighbours])
    size = members.shape[1]
    M = np.zeros((n_features, n_features))
    step = max(1, _CHUNK_BYTES // (8 * size * n_features))
    for start in range(0, n_samples, step):
        part = members[start : start + step]
        local = X[part]
        local = local - local.mean(axis=1, keepdims=True)
        gram = local @ local.transpose(0, 2, 1)
        gram[:, np.arange(size), np.arange(size)] += ridge
        scaled = np.linalg.solve(gram, local)
        M += local.reshape(-1, n_features).T @ scaled.reshape(-1, n_features)
    return 0.5 * (M + M.T)


@dataclass(frozen=True)
class LocalDiscriminants:
    """Minimise tr(W'MW) + alpha sum_j ||w_j|| over W'W = I.

    Attributes
    ----------
    M : ndarray
        Local scatter, see :func:`local_scatter`.
    n_components : int
        Columns of W.
    alpha : float
        Regularisation parameter of the row norms.
    basis : ndarray or None
        Orthonormal columns V: W is V B then, and M that of the coordinates, V'MV.
    """

    M: np.ndarray
    n_components: int
    alpha: float
    basis: np.ndarray | None = None


@dataclass(frozen=True)
class ReweightedEigenvectors:
    """The iteration of UDFS, to a stationary point.

    Every step takes the eigenvectors of M + alpha D with the smallest eigenvalues, where
    D_jj = 1 / (2 ||w_j||) makes a quadratic bound of the penalty at the last W: the objective never
    rises. After some steps D is that of row norms further along the way from the last W but one
    to the last, in logarithms; where that raises the objective the last W stays.
    ``optimality`` is ||(I - WW')(M + alpha D)W|| / ||(M + alpha D)W|| with D at W itself,
    which is zero just where the objective is stationary under W'W = I.
    """

    max_iter: int = 1000
    tol: float = 1e-4

    def solve(
        self,
        problem: LocalDiscriminants,
        start: Result[np.ndarray] | None = None,
        callback: Callback | None = None,
    ) -> Result[np.ndarray]:
        """Iterate from D at ``start``, or from D = I."""
        M, alpha, basis = problem.M, problem.alpha, problem.basis
        D = np.ones(len(M) if basis is None else len(basis))
        if start is not None:
            D = 0.5 / _smoothed_norms(start.solution)
        trace: list[float] = []
        logs, length, extrapolated = np.zeros(len(D)), 1.0, False
        for n_iter in range(1, self.max_iter + 1):
            curvature = np.diag(D) if basis is None else basis.T @ (D[:, None] * basis)
            _, B = linalg.eigh(M + alpha * curvature, subset_by_index=(0, problem.n_components - 1))
            trial = B if basis is None else basis @ B
            norms = _smoothed_norms(trial)
            image = M @ B
            value = float(np.vdot(B, image)) + alpha * float(norms.sum())
            kept = not extrapolated or value <= trace[-1]
            if kept:
                W, before, logs = trial, logs, np.log(norms)
                slope = (0.5 / norms)[:, None] * W
                image += alpha * (slope if basis is None else basis.T @ slope)
                size = float(np.linalg.norm(image))
                rest = float(np.linalg.norm(image - B @ (B.T @ image)))
                optimality = rest / size if size > 0 else 0.0
                n_features = int((norms > 0.01).sum())
            trace.append(value if kept else trace[-1])
            event = Event(n_iter, trace[-1], optimality, n_features=n_features)
            if optimality <= self.tol or (callback is not None and callback(event)):
                break
            if extrapolated:
                length = length * GROWTH if kept else max(length * SHRINKAGE, MIN_EXTRAPOLATION)
            extrapolated = kept and n_iter > PUBLISHED_STEPS
            target = logs
            if extrapolated:
                target = np.clip(logs + length * (logs - before), np.log(SMOOTHING), 0.0)
            D = 0.5 * np.exp(-target)
        return Result(W, trace[-1], optimality, n_iter, optimality <= self.tol, trace)


def _smoothed_norms(W: np.ndarray) -> np.ndarray:
    return np.sqrt((W**2).sum(axis=1) + SMOOTHING**2)
