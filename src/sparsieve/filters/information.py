"""Information gain, and the levels that columns are divided into for it.

Information gain: what a discretised feature says about the class.

From numbers to a few levels per feature, column block by column block.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._checks import check_choice, check_integer
from ..design import DesignMatrix
from ..selectors.base import DEFAULT_COUNT, BaseSelector, ClassWeight, FeatureScores, TrainingData
from ..validation.feature_groups import FeatureGroups
from .base import constant_columns

METHODS = ("mdl", "frequency", "std")
MAX_LEVELS = 256

# Columns are sorted in blocks of about this many values.
BLOCK_VALUES = 1 << 19


def discretize(
    design: DesignMatrix,
    method: str | None,
    *,
    n_bins: int,
    classes: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Cut every column into levels.

    Parameters
    ----------
    design : DesignMatrix
        The features.
    method : {"mdl", "frequency", "std"} or None
        "mdl": recursive cuts of least class entropy while the gain pays for its description
        (Fayyad and Irani 1993); "frequency": ``n_bins`` levels of equal size, fewer where
        one value fills several (equal values are never separated); "std": three levels cut at the
        mean plus and minus half a standard deviation; None: the values are levels already.
    n_bins : int
        Levels of "frequency".
    classes : ndarray of int
        Class of every sample, used by "mdl".
    sample_weight : ndarray or None
        Weights of the samples; a weight of two counts as the sample given twice.

    Returns
    -------
    levels : ndarray of uint8, shape (n_features, n_samples)
        Level of every sample, features in rows.
    """
    n_samples, n_features = design.shape
    weights = np.ones(n_samples) if sample_weight is None else sample_weight
    codes = np.empty((n_features, n_samples), dtype=np.uint8)
    step = max(1, BLOCK_VALUES // n_samples)
    for start in range(0, n_features, step):
        stop = min(start + step, n_features)
        block = design.dense_columns(np.arange(start, stop)).T  # features in rows, contiguous
        if method == "std":
            codes[start:stop] = _std_levels(block, weights)
        elif method == "frequency":
            codes[start:stop] = _frequency_levels(block, weights, n_bins)
        elif method == "mdl":
            codes[start:stop] = _mdl_levels(block, weights, classes)
        else:
            codes[start:stop] = _own_levels(block, start)
    return codes


def _std_levels(block, weights) -> np.ndarray:
    block = block.astype(np.float64, copy=False)
    total = weights.sum()
    # Deviations from the first sample: a constant column has mean and deviation exactly zero.
    block = block - block[:, :1]
    means = (block @ weights / total)[:, None]
    half = np.sqrt((block - means) ** 2 @ weights / total)[:, None] / 2
    return 1 + (block > means + half).astype(np.uint8) - (block < means - half)


def _frequency_levels(block, weights, n_bins: int) -> np.ndarray:
    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1)
    reached = np.cumsum(weights[order], axis=1)
    reached = np.hstack(
        [np.zeros((len(block), 1)), reached]
    )  # before the first, ..., after the last
    total = reached[:, -1:]
    levels = np.zeros(block.shape, dtype=np.uint8)
    for k in range(1, n_bins):
        # The smallest value that k / n_bins of the samples do not exceed.
        place = (reached[:, 1:] * n_bins >= k * total).argmax(axis=1)[:, None]
        edge = np.take_along_axis(ordered, place, axis=1)
        first = (ordered < edge).sum(axis=1, keepdims=True)
        last = (ordered <= edge).sum(axis=1, keepdims=True)
        below = np.take_along_axis(reached, first, axis=1)
        through = np.take_along_axis(reached, last, axis=1)
        # A value that fills more than a level is cut off on the nearer side: cutting above it
        # always would leave rare low values together with it.
        heavy = (through - below) * n_bins > total
        before = heavy & (k * total - below * n_bins < through * n_bins - k * total)
        levels += np.where(before, block >= edge, block > edge)
    return levels


def _mdl_levels(block, weights, classes) -> np.ndarray:
    from ._information_kernels import mdl_levels

    order = np.argsort(block, axis=1, kind="stable")
    ordered = np.take_along_axis(block, order, axis=1).astype(np.float64, copy=False)
    levels = np.empty(block.shape, dtype=np.uint8)
    n_classes = int(classes.max()) + 1
    scratch = np.empty(block.shape[1] + 1, dtype=np.int64), np.empty(n_classes), np.empty(n_classes)
    mdl_levels(ordered, order, classes, weights, levels, *scratch)
    return levels


def _own_levels(block, first: int) -> np.ndarray:
    levels = np.empty(block.shape, dtype=np.uint8)
    for j, column in enumerate(block):
        values, codes = np.unique(column, return_inverse=True)
        if len(values) > MAX_LEVELS:
            raise ValueError(
                f"column {first + j} has {len(values)} different values, more than the "
                f"{MAX_LEVELS} that are possible without discretisation; pass "
                f"discretize={', '.join(map(repr, METHODS))}"
            )
        levels[j] = codes
    return levels


def joint_levels(levels: np.ndarray, groups: FeatureGroups) -> np.ndarray:
    """The combinations of levels of the columns of every group, as levels of the group."""
    found = np.empty((groups.n_groups, levels.shape[1]), dtype=levels.dtype)
    for g, columns in enumerate(groups.columns):
        kinds, codes = np.unique(levels[columns], axis=1, return_inverse=True)
        if kinds.shape[1] > MAX_LEVELS:
            raise ValueError(
                f"the columns of feature group {groups.names[g]!r} have {kinds.shape[1]} different "
                f"combinations of levels, more than {MAX_LEVELS}; choose a criterion by "
                "correlations, or smaller groups"
            )
        found[g] = codes.ravel()
    return found


# Information is compared after rounding to this many decimals: tables of counts that are
# permutations of each other then tie instead of differing by rounding.
DECIMALS = 12


@dataclass(eq=False, repr=False, kw_only=True)
class InfoGainSelector(BaseSelector):
    """Keep the features with the highest mutual information with the target.

    In short: Scores each feature separately: mutual information with the target, for relations of
    any shape.

    The score is the mutual information (information gain) I(x; y) = H(x) + H(y) - H(x, y) of the
    discretised feature and the class, in nats; divide by ln 2 for bits. A target of numbers is cut
    into ``n_bins`` levels of equal size, which stand for classes; more of them see finer relations
    and more noise. Of several targets the largest information counts. With ``discretize=None`` it
    equals scikit-learn's ``mutual_info_classif`` for discrete features; for continuous features
    scikit-learn estimates densities from nearest neighbours instead of binning, which gives other
    values.

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
    discretize : {"mdl", "frequency", "std"} or None, default="mdl"
        How to discretise numbers. "mdl" cuts where the class entropy falls most and stops by the
        minimum description length criterion (Fayyad and Irani 1993); a feature without a cut scores
        0. "frequency" makes ``n_bins`` bins of equal size. "std" makes three bins, cut at the mean
        plus and minus half a standard deviation. None treats every value as a level.
    n_bins : int, default=5
        Number of bins of "frequency", and of a target of numbers.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Information gain: mutual information of the discretised feature and the target, in nats
        (rounded to twelve decimals).
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.MRMRSelector : Relevant features that are not redundant.
    sparsieve.ReliefFSelector : Also finds features that matter only in combination.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import InfoGainSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> InfoGainSelector(n_features_to_select=3).fit(X, y).get_support(indices=True)
    array([ 6,  9, 12])
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> InfoGainSelector(n_features_to_select=2, task="regression").fit(X, y).support_.nonzero()[0]
    array([2, 8])
    """

    discretize: str | None = "mdl"
    n_bins: int = 5
    task: str = "auto"
    class_weight: ClassWeight = None

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear",)
    _scale_free: ClassVar[bool | None] = True
    _score_meaning: ClassVar[str] = (
        "Information gain: mutual information of the discretised feature and the target, in nats."
    )

    def _check_parameters(self) -> None:
        check_discretisation(self.discretize, self.n_bins)

    def _fit(self, data: TrainingData) -> FeatureScores:
        relevance = np.max(
            [
                Information(data, codes, self.discretize, self.n_bins).relevance
                for codes in target_codes(data, self.n_bins)
            ],
            axis=0,
        )
        return FeatureScores(relevance, n_kept=DEFAULT_COUNT, constant=constant_columns(data))


def check_discretisation(method: str | None, n_bins: int) -> None:
    """Refuse bad values of the two parameters."""
    if method is not None:
        check_choice("discretize", method, METHODS)
    check_integer("n_bins", n_bins, minimum=2)
    if n_bins > MAX_LEVELS:
        raise ValueError(f"n_bins must be at most {MAX_LEVELS}, got {n_bins}")


def target_codes(data: TrainingData, n_bins: int) -> list[np.ndarray]:
    """The class of every sample; of numbers the level, for each of their columns."""
    if data.target.codes is not None:
        return [data.target.codes]
    Y = np.ascontiguousarray(data.target.Y.T)
    weights = np.ones(Y.shape[1]) if data.sample_weight is None else data.sample_weight
    levels = _frequency_levels(Y, weights, n_bins).astype(np.intp)
    return [np.unique(some, return_inverse=True)[1] for some in levels]


class Information:
    """Entropies of discretised features, alone and together with the class and each other.

    ``classes`` are codes as of :func:`target_codes`; ``method`` and ``n_bins`` are those of
    ``discretize``. Of ``groups`` the combinations of their levels count.
    """

    def __init__(
        self,
        data: TrainingData,
        classes: np.ndarray,
        method: str | None,
        n_bins: int,
        groups: FeatureGroups | None = None,
    ):
        weights = data.sample_weight
        self.levels: np.ndarray = discretize(
            data.design, method, n_bins=n_bins, classes=classes, sample_weight=weights
        )
        if groups is not None:
            self.levels = joint_levels(self.levels, groups)
        self.n_levels: int = int(self.levels.max()) + 1
        self.classes: np.ndarray = classes
        self.n_classes: int = int(classes.max()) + 1
        self.weights: np.ndarray = np.ones(len(classes)) if weights is None else weights
        self.entropies: np.ndarray = self._joint_entropies(np.zeros(len(classes), dtype=np.intp), 1)
        self.with_class: np.ndarray = self._joint_entropies(classes, self.n_classes)
        sizes = np.bincount(classes, weights=self.weights)
        shares = sizes / sizes.sum()
        self.class_entropy: float = -float(shares @ np.log(shares))

    @property
    def relevance(self) -> np.ndarray:
        """I(x_j; y) of every feature."""
        shared = self.entropies + self.class_entropy - self.with_class
        return np.maximum(np.round(shared, DECIMALS), 0.0)

    def redundancy(self, chosen: int) -> np.ndarray:
        """I(x_j; x_chosen) of every feature."""
        return self.entropies + self.entropies[chosen] - self._joint_entropies(self._codes(chosen))

    @property
    def uncertainty(self) -> np.ndarray:
        """Symmetrical uncertainty 2 I(x_j; y) / (H(x_j) + H(y)) of every feature and the class."""
        return _share(2.0 * self.relevance, self.entropies + self.class_entropy)

    def conditional_uncertainty(self, chosen: int) -> np.ndarray:
        """The same of every feature and a chosen one."""
        shared = np.maximum(np.round(self.redundancy(chosen), DECIMALS), 0.0)
        return _share(2.0 * shared, self.entropies + self.entropies[chosen])

    def joint_relevance(self, chosen: int) -> np.ndarray:
        """I(x_j, x_chosen; y) of every feature."""
        codes = self._codes(chosen)
        pairs = self._joint_entropies(codes)
        both = codes * self.n_classes + self.classes
        triples = self._joint_entropies(both, self.n_levels * self.n_classes)
        return pairs + self.class_entropy - triples

    def _codes(self, chosen: int) -> np.ndarray:
        return self.levels[chosen].astype(np.intp)

    def _joint_entropies(self, other: np.ndarray, n_other: int | None = None) -> np.ndarray:
        from ._information_kernels import joint_entropies

        n_other = self.n_levels if n_other is None else n_other
        entropies = np.empty(len(self.levels))
        counts = np.zeros(self.n_levels * n_other)
        joint_entropies(self.levels, other, n_other, self.weights, counts, entropies)
        return entropies


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
