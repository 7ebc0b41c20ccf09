"""Infinite feature selection: features as nodes of a graph, scored by all paths through them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from ..._checks import check_flag, check_real
from ...design import SparseDesign
from ...design.sparse import deviations_and_ranges, ranks_from_zero, without_stored_zeros
from ...filters.base import ClassMoments, class_moments, constant_columns
from ...memory import memory_limit
from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...solvers.base import Result
from .laplacian import BLOCK_BYTES, UnsupervisedSelector

Columns = Any  # an array, or a sparse one by columns

# A class without spread would make the criterion infinite and all other features nothing; a
# millionth of the variance of the feature is as good as none.
_MIN_SPREAD = 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class InfFSSelector(UnsupervisedSelector):
    """Infinite feature selection (inf-FS): keep features that vary much and are not redundant.

    In short: Needs no target: features that vary much and are not redundant. Noise is not redundant
    either, so remove it first.

    Features are the nodes of a graph whose edges have the weights::

        a_ij = mixing max(s_i, s_j) + (1 - mixing) (1 - |rho_ij|)

    with the standard deviations s of the features, rescaled to [0, 1], and Spearman's rank
    correlations rho. An edge is strong if one of the two features varies much and they are not
    correlated. The weight of a path is the product of its edges, and the score of a feature is the
    sum over all paths of any length that start at it, with r = 0.9 / (spectral radius of A) for
    every step: ((I - r A)^-1 - I) 1. With ``supervised=True`` the second term is replaced by the
    product f_i f_j of the Fisher criteria of the two features, rescaled to [0, 1] over all pairs.

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
    mixing : float, default=0.5
        Weight of the standard deviations in an edge (alpha in the paper), between 0 and 1.
    supervised : bool, default=False
        Use class labels: relevance replaces the rank correlations, and ``fit`` needs y.
    unit_range : bool, default=True
        Divide every column by its range before computing its standard deviation, so that units do
        not matter. False uses the columns unscaled, as the authors do; they should then be in
        comparable units.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Sum over all paths from the feature; 9 if all features are equivalent, also for noise.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    spectral_radius_ : float
        Spectral radius of the matrix of edge weights.
    classes_ : ndarray of shape (n_classes,)
        Class labels (supervised only).
    objective_ : float
        Sum of the scores.
    optimality_ : float
        Residual of the linear system that the scores solve, relative to its right-hand side.
    n_iter_ : int
        Number of products with the matrix of edge weights.
    converged_ : bool
        Whether ``optimality_`` reached 1e-10.
    history_ : list of float
        Empty.

    See Also
    --------
    sparsieve.LaplacianScoreSelector : Features that agree between similar samples.
    sparsieve.MRMRSelector : Relevant features that are not redundant.

    Notes
    -----
    Noise is uncorrelated with everything and therefore scores high without labels. Constant
    features, which the formula would rank among the best for the same reason, are left out of the
    graph.

    The matrix of weights is stored only if there are fewer features than samples. Otherwise a
    product with it computes the correlations block by block: ten to twenty passes of n_features^2
    n_samples operations. The supervised weights need no pass over pairs of features. Sparse X is
    never made dense.

    The paper is unsupervised; the supervised weights are those of the code that its authors
    released in 2016, which handles two classes: (m_1 - m_2)^2 / (v_1 + v_2) with means and sample
    variances of the classes. Here the criterion is summed over all pairs of classes. A product of
    criteria is large only if both features are relevant: a single relevant feature among noise can
    rank below features that merely vary more, unless ``mixing`` is small.

    References
    ----------
    G. Roffo, S. Melzi, M. Cristani (2015). Infinite feature selection. IEEE International
    Conference on Computer Vision, 4202-4210.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import InfFSSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> InfFSSelector(n_features_to_select=3).fit(X).get_support(indices=True)
    array([ 1,  7, 11])
    >>> InfFSSelector(3, supervised=True).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    """

    mixing: float = 0.5
    supervised: bool = False
    unit_range: bool = True

    _accepts_regression: ClassVar[bool] = False
    _purposes: ClassVar[tuple[str, ...]] = ("unsupervised",)  # unless supervised=True
    _score_meaning: ClassVar[str] = (
        "Sum over all paths from the feature through a graph of features; 9 if all features are "
        "equivalent, also for noise."
    )

    @property
    def _scale_free(self) -> bool:  # type: ignore[override]
        return bool(self.unit_range)

    @property
    def _needs_target(self) -> bool:  # type: ignore[override]
        return bool(self.supervised)

    def _check_parameters(self) -> None:
        check_flag("supervised", self.supervised)
        check_flag("unit_range", self.unit_range)
        check_real("mixing", self.mixing, minimum=0)
        if self.mixing > 1:
            raise ValueError(f"mixing must be between 0 and 1, got {self.mixing}")

    def _work(self, data: TrainingData) -> float:
        if self.supervised:
            return 0.0
        n, d = data.design.shape
        return float(d) ** 2 * (20 + n / 10)  # measured on 10,000 features, 3 and 100 samples

    def _fit(self, data: TrainingData) -> FeatureScores:
        constant = constant_columns(data)
        varying = np.flatnonzero(~constant & ~data.fixed.never)
        scores = np.zeros(len(constant))
        if len(varying):
            X = _columns(data.design, varying)
            relation: Callable[[np.ndarray], np.ndarray]
            if self.supervised:
                relation = _Relevance(_fisher_criterion(class_moments(data))[varying])
            else:
                relation = _Difference(X)
            spread = _Spread(X, in_range=self.unit_range)
            share = float(self.mixing)

            def weigh(v: np.ndarray) -> np.ndarray:
                return share * spread(v) + (1.0 - share) * relation(v)

            found = path_energies(weigh, len(varying))
            scores[varying], radius = found.solution
        else:
            radius = 0.0
            found = Result((scores, 0.0), 0.0, 0.0, 1, True)
        self.spectral_radius_: float = radius
        self._keep_result(
            found,
            measure="a residual of",
            remedy=("rescale X, whose values are extremely large or small"),
        )
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant)


def _columns(design: Any, index: np.ndarray) -> Columns:
    """Some columns in the memory of the host, sparse ones as they are."""
    if isinstance(design, SparseDesign):
        return without_stored_zeros(design.by_column[:, index])
    return design.dense_columns(index)


class _Spread:
    """max(s_i, s_j): sorted by s, every row is a number times one sum plus another sum."""

    def __init__(self, X: Columns, *, in_range: bool):
        if isinstance(X, np.ndarray):
            deviations, ranges = X.std(axis=0, dtype=np.float64), np.ptp(X, axis=0)
        else:
            deviations, ranges = deviations_and_ranges(X)
        if in_range:
            deviations = deviations / ranges
        self.values = _from_zero_to_one(deviations)
        self.order = np.argsort(self.values, kind="stable")

    def __call__(self, v: np.ndarray) -> np.ndarray:
        values, sorted_v = self.values[self.order], v[self.order]
        weighted = values * sorted_v
        product = np.empty_like(v)
        product[self.order] = values * np.cumsum(sorted_v) + weighted.sum() - np.cumsum(weighted)
        return product


class _Difference:
    """1 - |rank correlation|, zero for a feature and itself."""

    def __init__(self, X: Columns):
        n_samples, n_features = X.shape
        if isinstance(X, np.ndarray):
            ranks = rankdata(X, axis=0)
            ranks -= ranks.mean(axis=0)
            self.ranks: Columns = ranks / np.sqrt((ranks**2).sum(axis=0))
            self.means = None
        else:
            # Not centred, which would make it dense: products do without the means.
            ranks = ranks_from_zero(X)
            self.means = np.asarray(ranks.mean(axis=0)).ravel()
            squares = np.asarray((ranks**2).sum(axis=0)).ravel()
            lengths = np.sqrt(squares - n_samples * self.means**2)
            self.means = np.sqrt(n_samples) * self.means / lengths
            self.ranks = sparse.csc_array(ranks / lengths)
        hold = n_features <= n_samples and 8 * n_features**2 <= memory_limit()
        self.held = self._correlations(0, n_features) if hold else None

    def _correlations(self, start: int, stop: int) -> np.ndarray:
        """Sizes of the correlations of some features with these and all that follow."""
        block = self.ranks[:, start:stop].T @ self.ranks[:, start:]
        if self.means is not None:
            block = block.toarray() - np.outer(self.means[start:stop], self.means[start:])
        return np.abs(block)

    def __call__(self, v: np.ndarray) -> np.ndarray:
        if self.held is not None:
            return v.sum() - self.held @ v
        n_features = self.ranks.shape[1]
        step = max(1, BLOCK_BYTES // (8 * n_features))
        repeated = np.zeros_like(v)
        for start in range(0, n_features, step):
            stop = min(start + step, n_features)
            block = self._correlations(start, stop)
            repeated[start:stop] += block @ v[start:]
            # Below the diagonal stands what is above it.
            repeated[stop:] += v[start:stop] @ block[:, stop - start :]
        return v.sum() - repeated


class _Relevance:
    """f_i f_j, moved and scaled to lie between 0 and 1; nothing where all are the same."""

    def __init__(self, criterion: np.ndarray):
        self.criterion = criterion / max(float(criterion.max()), np.finfo(np.float64).tiny)
        self.least = float(self.criterion.min()) ** 2
        self.size = float(self.criterion.max()) ** 2 - self.least

    def __call__(self, v: np.ndarray) -> np.ndarray:
        if self.size <= 0.0:
            return np.zeros_like(v)
        product = self.criterion * float(self.criterion @ v) - self.least * v.sum()
        return product / self.size


def _fisher_criterion(moments: ClassMoments) -> np.ndarray:
    """Squared distance of the means over the variances, summed over pairs of classes."""
    sizes: Any = moments.sizes[:, None]
    # The sample variance, as the authors take it; a class of one sample has none.
    variances = moments.squares / np.maximum(sizes - 1.0, 1.0)
    least = _MIN_SPREAD * moments.total / sizes.sum()
    total = np.zeros(moments.means.shape[1])
    for a in range(len(sizes)):
        for b in range(a):
            spread = np.maximum(variances[a] + variances[b], least)
            distance = (moments.means[a] - moments.means[b]) ** 2
            total += np.divide(distance, spread, out=np.zeros_like(total), where=spread > 0)
    return total


def _from_zero_to_one(values: np.ndarray) -> np.ndarray:
    """Moved and scaled; all the same are all zero."""
    values = values - values.min()
    largest = float(values.max())
    return values / largest if largest > 1e-12 else np.zeros_like(values)


SHARE = 0.9  # r is this share of what the series still converges for
_TOL = 1e-10
_MAX_PRODUCTS = 200


def path_energies(
    weigh: Callable[[np.ndarray], np.ndarray], n_nodes: int
) -> Result[tuple[np.ndarray, float]]:
    """((I - r A)^-1 - I) 1 with r = SHARE / rho, and rho, the spectral radius of A.

    A has no negative entries, so that its largest eigenvalue is rho and the vector of ones is
    not orthogonal to the eigenvector: the Lanczos process from there finds rho and solves the
    system from the same products with A. In its basis Q, A is the tridiagonal T, and the
    solution for any r is Q (I - r T)^-1 Q'1.
    """
    length = float(np.sqrt(n_nodes))
    basis = [np.full(n_nodes, 1.0 / length)]
    diagonal: list[float] = []
    off: list[float] = []
    most = min(n_nodes, _MAX_PRODUCTS)
    while True:
        following = weigh(basis[-1])
        diagonal.append(float(basis[-1] @ following))
        Q = np.stack(basis)
        for _ in range(2):  # twice is enough
            following -= Q.T @ (Q @ following)
        rest = float(np.linalg.norm(following))
        T = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
        values, vectors = np.linalg.eigh(T)
        radius = float(values[-1])
        if radius <= 0.0:  # no edges at all
            return Result((np.zeros(n_nodes), 0.0), 0.0, 0.0, len(diagonal), True)
        r = SHARE / radius
        inner = vectors @ (vectors[0] * length / (1.0 - r * values))
        residual = r * rest * abs(inner[-1]) / length
        # The residual of the eigenvector, whose square bounds how far the radius is off.
        off_radius = rest * abs(vectors[-1, -1]) / radius
        exhausted = rest <= 1e-14 * radius
        if max(residual, off_radius**2) <= _TOL or exhausted or len(basis) == most:
            break
        off.append(rest)
        basis.append(following / rest)
    energies = Q.T @ inner - 1.0
    # Digits beyond the tolerance say nothing: features that are alike score the same.
    grain = _TOL * float(np.abs(energies).max())
    energies = grain * np.rint(energies / grain)
    optimality = float(max(residual, off_radius**2))
    return Result(
        (energies, radius),
        objective=float(energies.sum()),
        optimality=optimality,
        n_iter=len(diagonal),
        converged=optimality <= _TOL or exhausted,
    )
