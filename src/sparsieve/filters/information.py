"""Information gain: what a discretised feature says about the class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .._checks import check_choice, check_integer
from ..selectors.base import DEFAULT_COUNT, BaseSelector, ClassWeight, FeatureScores, TrainingData
from .base import constant_columns
from .discretize import MAX_LEVELS, METHODS, discretize

# Information is compared after rounding to this many decimals: tables of counts that are
# permutations of each other then tie instead of differing by rounding.
DECIMALS = 12


@dataclass(eq=False, repr=False, kw_only=True)
class InfoGainSelector(BaseSelector):
    """Keep the features with the highest mutual information with the class.

    In short: Scores each feature separately: mutual information with the class, for relations of
    any shape.

    The score is the mutual information (information gain) I(x; y) = H(x) + H(y) - H(x, y) of the
    discretised feature and the class, in nats; divide by ln 2 for bits. With ``discretize=None`` it
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
        Number of bins of "frequency".
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Information gain: mutual information of the discretised feature and the class, in nats
        (rounded to twelve decimals).
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels.

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
    """

    discretize: str | None = "mdl"
    n_bins: int = 5
    class_weight: ClassWeight = None

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear",)
    _accepts_regression: ClassVar[bool] = False
    _scale_free: ClassVar[bool | None] = True
    _score_meaning: ClassVar[str] = (
        "Information gain: mutual information of the discretised feature and the class, in nats."
    )

    def _check_parameters(self) -> None:
        check_discretisation(self.discretize, self.n_bins)

    def _fit(self, data: TrainingData) -> FeatureScores:
        relevance = Information(data, self.discretize, self.n_bins).relevance
        return FeatureScores(relevance, n_kept=DEFAULT_COUNT, constant=constant_columns(data))


def check_discretisation(method: str | None, n_bins: int) -> None:
    """Refuse bad values of the two parameters."""
    if method is not None:
        check_choice("discretize", method, METHODS)
    check_integer("n_bins", n_bins, minimum=2)
    if n_bins > MAX_LEVELS:
        raise ValueError(f"n_bins must be at most {MAX_LEVELS}, got {n_bins}")


class Information:
    """Entropies of discretised features, alone and together with the class and each other.

    Of training data with classes; ``method`` and ``n_bins`` are those of ``discretize``.
    """

    def __init__(self, data: TrainingData, method: str | None, n_bins: int):
        classes, weights = data.target.codes, data.sample_weight
        self.levels: np.ndarray = discretize(
            data.design, method, n_bins=n_bins, classes=classes, sample_weight=weights
        )
        self.n_levels: int = int(self.levels.max()) + 1
        self.classes: np.ndarray = classes
        self.n_classes: int = int(classes.max()) + 1
        self.weights: np.ndarray = np.ones(len(classes)) if weights is None else weights
        self.entropies: np.ndarray = self._with(np.zeros(len(classes), dtype=np.intp), 1)
        self.with_class: np.ndarray = self._with(classes, self.n_classes)
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
        return self.entropies + self.entropies[chosen] - self._with(self._codes(chosen))

    @property
    def uncertainty(self) -> np.ndarray:
        """Symmetrical uncertainty 2 I(x_j; y) / (H(x_j) + H(y)) of every feature and the class."""
        return _share(2.0 * self.relevance, self.entropies + self.class_entropy)

    def uncertainty_with(self, chosen: int) -> np.ndarray:
        """The same of every feature and a chosen one."""
        shared = np.maximum(np.round(self.redundancy(chosen), DECIMALS), 0.0)
        return _share(2.0 * shared, self.entropies + self.entropies[chosen])

    def joint_relevance(self, chosen: int) -> np.ndarray:
        """I(x_j, x_chosen; y) of every feature."""
        codes = self._codes(chosen)
        pairs = self._with(codes)
        both = codes * self.n_classes + self.classes
        triples = self._with(both, self.n_levels * self.n_classes)
        return pairs + self.class_entropy - triples

    def _codes(self, chosen: int) -> np.ndarray:
        return self.levels[chosen].astype(np.intp)

    def _with(self, other: np.ndarray, n_other: int | None = None) -> np.ndarray:
        from ._information_kernels import joint_entropies

        n_other = self.n_levels if n_other is None else n_other
        entropies = np.empty(len(self.levels))
        counts = np.zeros(self.n_levels * n_other)
        joint_entropies(self.levels, other, n_other, self.weights, counts, entropies)
        return entropies


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
