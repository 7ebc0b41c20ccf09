"""Relief, ReliefF and RReliefF: features that differ between near samples of different classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._checks import check_integer, check_real
from .._wings import load_entry
from ..design import RowBlockedDesign, SparseDesign
from ..selectors.base import (
    DEFAULT_COUNT,
    BaseSelector,
    FeatureScores,
    RandomState,
    TrainingData,
)
from ..validation.target import Target
from .relieff_features import (
    BlockedFeatures,
    Features,
    discrete_mask,
    features_in_memory,
    in_threads,
)

# Samples per side of a tile of distances: a tile and the eight columns of features it is made
# from at a time stay in the second-level cache.
TILE = 256


@dataclass(eq=False, repr=False, kw_only=True)
class ReliefFSelector(BaseSelector):
    """ReliefF: keep features that differ between similar samples of different classes.

    In short: Finds features that differ between similar samples of different classes, including
    features that matter only in combination.

    For a sample, its nearest samples of the same class (hits) and of every other class (misses)
    are found; a feature loses its mean difference to the hits and gains its mean difference to
    the misses of each class C, weighted by P(C) / (1 - P(class of the sample)). The score is
    the mean over the samples (Robnik-Sikonja and Kononenko 2003). Two classes and
    ``n_neighbors=1`` give the original Relief; real targets give RReliefF.

    The difference of two values is ``|u - v| / (max - min)`` for numeric features and 0 or 1 for
    discrete ones; the distance of two samples is the sum of the differences. Distances are compared
    to about eleven digits, and of two samples at the same distance the earlier one is nearer. If a
    class has fewer than ``n_neighbors`` samples, the mean is taken over those available; a class of
    one sample has no hits.

    A missing value (NaN) counts as the mean difference over the known values of its class: for
    discrete features 1 - P(value | class), the rule of Kononenko (1994), and its counterpart for
    numeric ones. In regression all known values are used.

    ``fit`` does not take ``sample_weight``, because repeating a sample would change the neighbours.

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
    n_neighbors : int, default=10
        Number of nearest neighbours; per class in classification, in total in regression.
    n_samples : int or None, default=None
        Number of samples, drawn without replacement, whose neighbours are used; None uses all of
        them. Neighbours always come from all samples.
    discrete_features : None, bool mask or array of column indices, default=None
        Features whose values are categories rather than numbers; None means there are none.
    sigma : float or None, default=None
        Weight the r-th neighbour in proportion to exp(-(r / sigma)^2); None weights all neighbours
        equally.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator; an int makes results reproducible.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        ReliefF weight: how much more the feature differs between similar samples of different
        classes than between similar samples of the same class; at most 1, about 0 for noise.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.InfoGainSelector : Mutual information with the class.
    sparsieve.HSICLassoSelector : Non-linear selection by one convex problem.

    References
    ----------
    M. Robnik-Sikonja, I. Kononenko (2003). Theoretical and empirical analysis of ReliefF and
    RReliefF. Machine Learning 53, 23-69.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ReliefFSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> ReliefFSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6, 11, 12])
    """

    n_neighbors: int = 10
    n_samples: int | None = None
    discrete_features: Sequence[int] | Sequence[bool] | np.ndarray | None = None
    sigma: float | None = None
    task: str = "auto"
    random_state: RandomState = None
    n_jobs: int | None = None

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear",)
    _scale_free: ClassVar[bool | None] = True
    _accepts_device: ClassVar[bool] = True
    _accepts_nan: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = (
        "ReliefF weight: how much more the feature differs between similar samples of different "
        "classes than between similar samples of the same class; at most 1, about 0 for noise."
    )

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Rank the features of X by how informative they are about y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data; NaN marks missing values. A sparse X is never made dense as a whole,
            only 256 samples at a time.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y)

    def _check_parameters(self) -> None:
        check_integer("n_neighbors", self.n_neighbors)
        if self.n_samples is not None:
            check_integer("n_samples", self.n_samples)
        check_real("sigma", self.sigma, minimum=0, strict=True, optional=True)

    _external_hint: ClassVar[str] = (
        "pass n_samples (such as 200) to use the neighbours of fewer samples, and leave "
        "discrete_features=None"
    )

    @property
    def _accepts_external(self) -> bool:  # type: ignore[override]
        return self.n_samples is not None and self.discrete_features is None

    def _work(self, data: TrainingData) -> float:
        n_samples, n_features = data.design.shape
        n_queries = n_samples if self.n_samples is None else min(self.n_samples, n_samples)
        return 0.0 if data.design.is_on_device else float(n_queries) * n_samples * n_features

    def _fit(self, data: TrainingData) -> FeatureScores:
        target = data.target
        n_samples, n_features = data.design.shape
        groups = np.zeros(n_samples, dtype=np.intp) if target.codes is None else target.codes
        queries = self._queries(n_samples)
        features = self._features(data, groups, queries)
        if isinstance(features, Features):
            nearest = nearest_samples(features, groups, queries, self.n_neighbors, self.n_jobs)
        else:
            nearest = features.nearest(groups, self.n_neighbors)
        influence = _influence(nearest, self.sigma)
        score = _regression_score if target.codes is None else _class_score
        scores, varying = np.zeros(n_features), data.fixed.candidates[features.order]
        scores[varying] = score(features, target, queries, nearest, influence, self.n_jobs)
        constant = np.ones(n_features, dtype=bool)
        constant[varying] = False
        return FeatureScores(scores, n_kept=DEFAULT_COUNT, constant=constant)

    def _features(self, data: TrainingData, groups: np.ndarray, queries: np.ndarray) -> Any:
        """The columns that vary and may be kept, wherever X is."""
        design: Any = data.allowed_design
        if isinstance(design, RowBlockedDesign):
            return BlockedFeatures(design, queries)
        discrete = discrete_mask(self.discrete_features, data.design.shape[1])[
            data.fixed.candidates
        ]
        if design.is_on_device:
            return load_entry("sparsieve.device", "relieff")(design, discrete, queries)
        X = design.matrix if isinstance(design, SparseDesign) else design.array
        return features_in_memory(X, discrete, groups)

    def _queries(self, n_samples: int) -> np.ndarray:
        if self.n_samples is None:
            return np.arange(n_samples)
        if self.n_samples > n_samples:
            raise ValueError(
                f"n_samples={self.n_samples} is larger than the {n_samples} samples of X; "
                "pass None to use all of them"
            )
        drawn = check_random_state(self.random_state).permutation(n_samples)[: self.n_samples]
        return np.sort(drawn)


# -- neighbours ------------------------------------------------------------------------------


def nearest_samples(
    features: Features,
    groups: np.ndarray,
    queries: np.ndarray,
    n_neighbors: int,
    n_jobs: int | None,
) -> np.ndarray:
    """The nearest samples of every query in every group, (n_queries, n_groups, k), -1 for none.

    Distances are made once, tile by tile. Where every sample is a query each tile serves both
    of its sides; taking the tiles in this order offers the candidates of every sample in
    sample order.
    """
    from ._relieff_kernels import offer

    sizes = np.bincount(groups)
    n_samples, count = len(groups), min(n_neighbors, int(sizes.max()))
    keys = np.full((len(queries), len(sizes), count), np.inf)
    nearest = np.full(keys.shape, -1, dtype=np.intp)
    symmetric = len(queries) == n_samples
    for start in range(0, n_samples, TILE):
        stop = min(start + TILE, n_samples)
        slots = [
            (first, min(first + TILE, len(queries)))
            for first in range(0, stop if symmetric else len(queries), TILE)
        ]
        work = ((features, queries, slot, slice(start, stop), symmetric) for slot in slots)
        for (first, last), tile in zip(slots, in_threads(_tile, work, n_jobs), strict=True):
            if symmetric and first < start:
                mirrored = np.ascontiguousarray(tile.T)
                offer(mirrored, start, queries[start:stop], first, groups, keys, nearest)
            offer(tile, first, queries[first:last], start, groups, keys, nearest)
    return nearest


def _tile(
    features: Features, queries: np.ndarray, slot: tuple[int, int], others: slice, symmetric: bool
) -> np.ndarray:
    """Distances of some queries to some samples, which all are queries if ``symmetric``."""
    same = symmetric and slot[0] == others.start
    rows = slice(*slot) if symmetric else queries[slice(*slot)]
    distances = features.distances(rows, others, same)
    if same:
        distances = np.maximum(distances, distances.T)  # the lower triangle is still zero
    if features.incomplete is not None:
        names = np.arange(others.start, others.stop)
        features.incomplete.add_distances(queries[slice(*slot)], names, distances)
    return distances


def _influence(nearest: np.ndarray, sigma) -> np.ndarray:
    """How much every neighbour counts; sums to one over the neighbours of a query in a group."""
    ranks = np.arange(1, nearest.shape[2] + 1)
    decay = np.ones(len(ranks)) if sigma is None else np.exp(-((ranks / sigma) ** 2))
    influence = np.where(nearest >= 0, decay, 0.0)
    totals = influence.sum(axis=2, keepdims=True)
    # A group with no neighbour at all has no influence; a tiny sigma leaves the nearest only.
    np.divide(influence, totals, out=influence, where=totals > 0)
    return influence


# -- scores ----------------------------------------------------------------------------------


def _class_score(features, target: Target, queries, nearest, influence, n_jobs) -> np.ndarray:
    assert target.codes is not None
    priors = np.bincount(target.codes) / len(target.codes)
    own = target.codes[queries]
    sign = priors / (1.0 - priors[own])[:, None]
    sign[np.arange(len(own)), own] = -1.0
    weights = influence * (sign / len(queries))[:, :, None]
    return _weighted_sum(features, queries, nearest, weights, n_jobs)


def _regression_score(features, target: Target, queries, nearest, influence, n_jobs) -> np.ndarray:
    Y = target.Y.astype(np.float64)
    span = np.ptp(Y, axis=0)
    varies = span > 0
    if not varies.any():
        raise ValueError("y is constant, so no feature can predict it; check the target")
    scaled = Y[:, varies] / span[varies]
    # The difference of several targets is the mean of theirs: again between 0 and 1.
    differences = np.abs(scaled[queries, None, None] - scaled[nearest]).mean(axis=-1)
    together = influence * differences
    near = float(len(queries))
    different = float(together.sum())
    both = _weighted_sum(features, queries, nearest, together, n_jobs)
    feature = _weighted_sum(features, queries, nearest, influence, n_jobs)
    # Where no neighbour (or every one) has another target, that part of the estimate is empty.
    gain = both / different if different > 0 else np.zeros_like(both)
    loss = (feature - both) / (near - different) if near > different else np.zeros_like(both)
    return gain - loss


def _weighted_sum(features, queries, nearest, weights, n_jobs) -> np.ndarray:
    """Sum over (query, neighbour) of weight * difference, for every varying column."""
    if isinstance(features, BlockedFeatures):
        return features.weighted_sum(nearest, weights)
    n_samples = features.n_samples
    found = nearest >= 0
    row = np.broadcast_to(queries[:, None, None], nearest.shape)[found]
    column = nearest[found]
    # A pair that met twice is summed once: differences are symmetric.
    low, high = np.minimum(row, column), np.maximum(row, column)
    pairs = sparse.coo_array((weights[found], (low, high)), shape=(n_samples, n_samples)).tocsr()
    sums = [features.pair_sums(pairs, n_jobs)]
    if features.incomplete is not None:
        first, second = pairs.tocoo().coords
        sums.append(features.incomplete.weighted_differences(first, second, pairs.data))
    return np.concatenate(sums)
