"""UDFS, unsupervised discriminative feature selection: features in which neighbours separate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from ..._checks import check_flag, check_integer, check_real, warn_user
from ...design import standardise_columns
from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...solvers.base import Callback, Event, Result, printer
from .laplacian import UnsupervisedSelector, nearest_samples, neighbour_work

# Directions of a smaller share of the largest singular value of X are not spanned by the samples.
RANK_TOL = 1e-7


@dataclass(eq=False, repr=False, kw_only=True)
class UDFSSelector(UnsupervisedSelector):
    """Unsupervised discriminative selection: few features that separate local groups of samples.

    In short: Needs no target: finds few features that separate groups of similar samples; use it
    with more samples than features.

    With a sample and its nearest neighbours, centred, as the rows of X_i,

        tr(W'MW) / m + alpha sum_j ||w_j||    over W'W = I

    is minimised, where M = sum_i X_i'(X_i X_i' + local_ridge I)^-1 X_i measures the scatter within
    neighbourhoods relative to the total, and m is the mean of its diagonal. Along the columns of W,
    neighbouring samples are close; the row penalty makes W depend on few features, which are ranked
    by the norms of their rows.

    The problem is not convex. The published iteration (eigenvectors of M / m + alpha D with D_jj =
    1 / (2 ||w_j||), starting from D = I) lowers the objective in every step, and ends at a point
    that is stationary to ``tol``. From the 51st step on, D is extrapolated along the last step, as
    long as the objective does not rise. Row norms are smoothed by 0.001.

    The directions are restricted to linear combinations of the samples. With more features than
    samples, or linearly dependent features, other directions vanish on every sample and would look
    perfect whatever the features mean.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first; the others are scored as without this.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the others are ranked as if X did not have them.
    n_components : int, default=5
        Number of directions, such as the clusters expected; at most one less than the rank of X.
    alpha : float, default=0.1
        Strength of the row penalty. A large value leaves as many features as directions.
    n_neighbors : int, default=5
        Number of nearest neighbours; fewer if there are not enough samples.
    local_ridge : float, default=1.0
        Ridge of the local matrices (lambda in the paper).
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=1000
        Maximum number of iterations.
    tol : float, default=1e-4
        Stop when the relative residual of the stationarity condition is at most this.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's row in W, at most 1. If all features contribute equally, as for noise,
        all scores are sqrt(n_components / n_features).
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    components_ : ndarray of shape (n_components, n_features)
        The directions W', for standardised columns.
    objective_ : float
        Objective at ``components_``.
    optimality_ : float
        Residual of the stationarity condition (M / m + alpha D) W = W S, relative to the left side.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every iteration; it never increases.

    See Also
    --------
    sparsieve.LaplacianScoreSelector : Features that agree between similar samples.
    sparsieve.InfFSSelector : Unsupervised: ranks features by paths through a graph of features.

    Notes
    -----
    With more features than samples, a warning says that the ranking means little: with 300 features
    and 100 samples, noise ranked above the features of clear clusters in all data sets tried, while
    :class:`LaplacianScoreSelector` found them.

    References
    ----------
    Y. Yang, H. T. Shen, Z. Ma, Z. Huang, X. Zhou (2011). l2,1-norm regularized discriminative
    feature selection for unsupervised learning. International Joint Conference on Artificial
    Intelligence 22, 1589-1594.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import UDFSSelector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((120, 15))
    >>> X[:, :3] += 4 * rng.integers(0, 2, (120, 1))
    >>> UDFSSelector(3, n_components=2).fit(X).get_support(indices=True)
    array([0, 1, 2])
    """

    n_components: int = 5
    alpha: float = 0.1
    n_neighbors: int = 5
    local_ridge: float = 1.0
    standardize: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    verbose: int = 0

    _score_meaning: ClassVar[str] = (
        "Norm of the feature's row in the discriminant directions, at most 1; if all features "
        "contribute equally, sqrt(n_components / n_features)."
    )

    def _check_parameters(self) -> None:
        check_integer("n_components", self.n_components)
        check_integer("n_neighbors", self.n_neighbors)
        check_integer("max_iter", self.max_iter)
        check_real("alpha", self.alpha, minimum=0)
        check_real("local_ridge", self.local_ridge, minimum=0, strict=True)
        check_real("tol", self.tol, minimum=0)
        check_flag("standardize", self.standardize)

    def _work(self, data: TrainingData) -> float:
        # Measured with a million samples, and with 1,500 samples of 2,900 features.
        n_samples, n_features = data.design.shape
        rank = float(min(n_samples, n_features))
        return neighbour_work(data.design.shape) + 1e4 * n_samples + 12.0 * rank**3

    def _fit(self, data: TrainingData) -> FeatureScores:
        view = standardise_columns(data.design, centre=True, scale=self.standardize)
        varying = np.flatnonzero(~view.constant & ~data.fixed.never)
        n_features = data.design.shape[1]
        scores = np.zeros(n_features)
        self.components_: np.ndarray = np.zeros((1, n_features))
        if len(varying):
            found = self._directions(view.design.columns(varying))
            self.components_ = np.zeros((found.solution.shape[1], n_features))
            self.components_[:, varying] = found.solution.T
            norms = np.linalg.norm(found.solution, axis=1)
            scores[varying] = np.round(norms, 8)  # features that are alike score the same
        else:
            found = Result(self.components_, 0.0, 0.0, 1, True)
        self._keep_result(found, measure="a stationarity residual of")
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=view.constant)

    def _directions(self, design) -> Result[np.ndarray]:
        n_samples, n_features = design.shape
        neighbours, _ = nearest_samples(design, min(int(self.n_neighbors), n_samples - 1))
        X = design.dense_columns(np.arange(n_features)).astype(np.float64)
        _, sizes, V = np.linalg.svd(X, full_matrices=False)
        rank = int((sizes > RANK_TOL * sizes[0]).sum())
        if n_features > n_samples:
            warn_user(
                f"UDFSSelector cannot rank {n_features} non-constant features from only "
                f"{n_samples} samples: some direction makes neighbours close whatever the "
                "features mean; use LaplacianScoreSelector, or use it to reduce the features "
                "first"
            )
        basis = V[:rank].T if rank < n_features else None
        coordinates = X if basis is None else X @ basis
        M = local_scatter(coordinates, neighbours, float(self.local_ridge))
        mean = float(np.trace(M)) / n_features
        problem = LocalDiscriminants(
            M / mean if mean > 0 else M,
            min(int(self.n_components), max(1, rank - 1)),
            float(self.alpha),
            basis,
        )
        solver = ReweightedEigenvectors(int(self.max_iter), float(self.tol))
        return solver.solve(problem, callback=printer(self.verbose, type(self).__name__))


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
