"""Selectors that look at X alone; the Laplacian score is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from ..._checks import check_flag, check_integer, check_real
from ...design import DesignMatrix, standardise_columns
from ...design.base import feature_blocks
from ...selectors.base import DEFAULT_COUNT, BaseSelector, FeatureScores, TrainingData


@dataclass(eq=False, repr=False, kw_only=True)
class UnsupervisedSelector(BaseSelector):
    """Base of the selectors whose ``fit`` needs no y.

    Weights are not taken: these methods ask which samples are near each other, or rank them,
    and a sample given twice is not a sample of weight two there.
    """

    _needs_target: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None) -> Self:  # type: ignore[override]
        """Rank the features of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : None
            Ignored; present for compatibility with scikit-learn pipelines.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y)


@dataclass(eq=False, repr=False, kw_only=True)
class LaplacianScoreSelector(UnsupervisedSelector):
    """Laplacian score: keep features whose values agree between similar samples, without a target.

    In short: Needs no target: features whose values agree between similar samples, such as markers
    of clusters.

    Two samples are connected if one is among the nearest neighbours of the other, with the weight
    s_ij = exp(-||x_i - x_j||^2 / t). With the degrees d_i = sum_j s_ij and the feature f centred by
    them, the Laplacian score of He, Cai and Niyogi is L = sum_ij s_ij (f_i - f_j)^2 / (2 sum_i d_i
    f_i^2), small for features that follow the graph. ``scores_`` are 1 - L, the correlation of a
    feature between neighbouring samples.

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
    n_neighbors : int, default=5
        Number of nearest neighbours; fewer if there are not enough samples.
    width : float or None, default=None
        The t of the weights, a squared distance between samples; None means the mean squared
        distance between connected samples.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged. Scaling
        only affects which samples are neighbours.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        One minus the Laplacian score: correlation of the feature between neighbouring samples, at
        most 1. Noise scores near 0 with thousands of features, and higher with fewer.
    graph_ : sparse array of shape (n_samples, n_samples)
        The weights s_ij.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.

    See Also
    --------
    sparsieve.UDFSSelector : Unsupervised: features that separate local groups of samples.
    sparsieve.InfFSSelector : Unsupervised: ranks features by paths through a graph of features.

    Notes
    -----
    Every feature helps to decide which samples are neighbours, so even pure noise scores above 0:
    with 120 samples, independent normal columns score 0.76 on average if there are 5 of them, 0.39
    if 20, 0.11 if 200 and 0.02 if 2,000. Compare features of the same X with each other, not scores
    with 0.

    References
    ----------
    X. He, D. Cai, P. Niyogi (2005). Laplacian score for feature selection. Advances in Neural
    Information Processing Systems 18, 507-514.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import LaplacianScoreSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> LaplacianScoreSelector(n_features_to_select=3).fit(X).get_support(indices=True)
    array([ 6,  9, 12])
    """

    n_neighbors: int = 5
    width: float | None = None
    standardize: bool = True

    _score_meaning: ClassVar[str] = (
        "One minus the Laplacian score: correlation of the feature between neighbouring samples, "
        "at most 1. Noise scores near 0 with thousands of features, and higher with fewer."
    )

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors)
        check_real("width", self.width, minimum=0, strict=True, optional=True)
        check_flag("standardize", self.standardize)

    def _work(self, data: TrainingData) -> float:
        return neighbour_work(data.design.shape)

    def _fit(self, data: TrainingData) -> FeatureScores:
        view = standardise_columns(data.design, centre=True, scale=self.standardize)
        seen = view.design.columns(data.fixed.candidates) if data.fixed.never.any() else view.design
        self.graph_: sparse.csr_array = heat_graph(seen, int(self.n_neighbors), self.width)
        degrees = np.asarray(self.graph_.sum(axis=1)).ravel()
        scores = np.zeros(data.design.shape[1])
        for place, block in feature_blocks(view.design):
            block -= degrees @ block / degrees.sum()
            power = degrees @ block**2
            shared = np.einsum("ij,ij->j", block, self.graph_ @ block)
            scores[place] = np.divide(shared, power, out=np.zeros_like(power), where=power > 0)
        scores[view.constant] = 0.0
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=view.constant)


def heat_graph(design: DesignMatrix, n_neighbors: int, width: float | None) -> sparse.csr_array:
    """Weights of the edges between samples one of which is among the nearest of the other."""
    n_samples = design.shape[0]
    n_neighbors = min(n_neighbors, n_samples - 1)
    neighbours, distances = nearest_samples(design, n_neighbors)
    rows = np.repeat(np.arange(n_samples), n_neighbors)
    # An edge found from both ends is one edge: which end it starts at does not count.
    ends = np.sort(np.stack([rows, neighbours.ravel()]), axis=0)
    _, once = np.unique(ends[0] * n_samples + ends[1], return_index=True)
    left, right = ends[:, once]
    squared = distances.ravel()[once]
    if width is None:
        width = float(squared.mean())
    weights = np.exp(-squared / width) if width > 0 else np.ones_like(squared)
    # A sample far from all others keeps a trace of its edges: degrees are divided by.
    weights = np.maximum(weights, np.finfo(np.float64).tiny ** 0.25)
    upper = sparse.coo_array((weights, (left, right)), shape=(n_samples, n_samples))
    return sparse.csr_array(upper + upper.T)


# Blocks of samples (against all samples) hold about this many bytes.
BLOCK_BYTES = 1 << 24
# Beyond so many samples a search tree is faster, in so few dimensions, asked for some samples more
# than wanted.
TREE_MIN_SAMPLES, TREE_MAX_FEATURES, TREE_EXTRA_NEIGHBOURS = 5000, 10, 5
# Squared distances this close, relative to the squared sizes they are differences of, are equal:
# of two samples at the same distance the earlier one is nearer, whatever rounding says.
_EQUAL = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}


def nearest_samples(design: DesignMatrix, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """The nearest other samples of every sample and the squared distances to them.

    Two arrays of shape (n_samples, n_neighbors), nearest first; ``n_neighbors`` is at most
    n_samples - 1. Columns should be centred, so that distances lose no digits.
    """
    n_samples, n_features = design.shape
    everything = np.arange(n_features)
    step = max(1, BLOCK_BYTES // (8 * max(n_samples, n_features)))
    sizes = np.empty(n_samples)
    for start in range(0, n_samples, step):
        rows = np.arange(start, min(start + step, n_samples))
        block = design.rows(rows).dense_columns(everything).astype(np.float64)
        sizes[rows] = np.einsum("ij,ij->i", block, block)
    grain = _EQUAL[np.dtype(design.dtype)] * float(sizes.max(initial=0.0))
    neighbours = np.empty((n_samples, n_neighbors), dtype=np.int64)
    distances = np.empty((n_samples, n_neighbors))
    left = everyone = np.arange(n_samples)
    if n_features <= TREE_MAX_FEATURES and n_samples > TREE_MIN_SAMPLES:
        X = design.dense_columns(everything).astype(np.float64)
        left = _by_tree(X, grain, neighbours, distances)
    for start in range(0, len(left), step):
        rows = left[start : start + step]
        block = np.ascontiguousarray(design.rows(rows).dense_columns(everything).T)
        squared = np.ascontiguousarray(design.matmul(block).T, dtype=np.float64)
        squared *= -2.0
        squared += sizes
        squared += sizes[rows, None]
        squared[np.arange(len(rows)), rows] = np.inf
        # All that may be no further than the last neighbour when distances are compared as below.
        limits = np.partition(squared, n_neighbors - 1, axis=1)[:, n_neighbors - 1] + 2.0 * grain
        row, other = np.nonzero(squared <= limits[:, None])
        found = _round_distances(squared[row, other], grain)
        order = np.lexsort([other, found, row])
        first = np.searchsorted(row[order], everyone[: len(rows)])
        places = order[first[:, None] + np.arange(n_neighbors)]
        neighbours[rows], distances[rows] = other[places], found[places]
    return neighbours, distances


def _round_distances(squared: np.ndarray, grain: float) -> np.ndarray:
    """Squared distances, equal where they are close."""
    squared = np.maximum(squared, 0.0)
    return grain * np.rint(squared / grain) if grain > 0.0 else squared


def _by_tree(
    X: np.ndarray, grain: float, neighbours: np.ndarray, distances: np.ndarray
) -> np.ndarray:
    """Fill in the neighbours that a search tree knows for sure; returns the other samples.

    The tree gives some more than wanted. If the last of them is further than the last neighbour
    wanted, none that is as near as that one is missing; many equal distances may forbid that.
    """
    n_samples, count = neighbours.shape
    tree = cKDTree(X)
    asked = min(count + 1 + TREE_EXTRA_NEIGHBOURS, n_samples)
    left = []
    for start in range(0, n_samples, TREE_MIN_SAMPLES):
        rows = np.arange(start, min(start + TREE_MIN_SAMPLES, n_samples))
        lengths, other = tree.query(X[rows], asked)
        found = _round_distances(lengths**2, grain)
        complete = asked == n_samples
        last = found[:, -1].copy()
        found[other == rows[:, None]] = np.inf
        order = np.lexsort([other, found], axis=1)[:, :count]
        neighbours[rows] = np.take_along_axis(other, order, axis=1)
        distances[rows] = np.take_along_axis(found, order, axis=1)
        sure = complete | (distances[rows, -1] < last - grain)
        left.append(rows[~sure])
    return np.concatenate(left)


def neighbour_work(shape: tuple[int, int]) -> float:
    """Multiplications that take as long as finding the nearest samples."""
    n_samples, n_features = (float(size) for size in shape)
    if n_features <= TREE_MAX_FEATURES and n_samples > TREE_MIN_SAMPLES:
        return 5e4 * n_samples  # by a tree: measured with a million samples
    return n_samples**2 * (20.0 + n_features / 20.0)  # products of matrices, and sorting
