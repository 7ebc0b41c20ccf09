"""What every selector shares: validation, target, ranking, support and ``at(k)``."""

from __future__ import annotations

import copy
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from ..design import DesignMatrix, as_design
from .fixed_columns import FixedColumns
from .html_repr import selector_html
from .substitutes import correlated_features
from .target import Target, encode_target
from .validation import check_columns, check_finite, check_real


@dataclass(frozen=True)
class TrainingData:
    """Validated training data as handed to ``BaseSelector._fit``.

    ``sample_weight`` already includes the class weights; it is None when all samples count the
    same, and never holds zeros (such samples were dropped). ``fixed`` are the columns that
    ``always_keep`` and ``never_keep`` name.
    """

    design: DesignMatrix
    target: Target
    sample_weight: np.ndarray | None
    fixed: FixedColumns

    @property
    def total_weight(self) -> float:
        """The number of samples, counted with their weights."""
        if self.sample_weight is None:
            return float(self.design.shape[0])
        return float(self.sample_weight.sum())


@dataclass(frozen=True)
class FeatureScores:
    """What ``_fit`` found out about the features.

    Attributes
    ----------
    scores : ndarray of shape (n_features,)
        Larger is better.
    n_kept : int
        How many features the model itself keeps (not counting those of ``always_keep``), used
        when no number is asked for.
    ties : ndarray or None
        Decides between equal scores before column order does.
    constant : ndarray of bool or None
        Columns that carry no information: always ranked last.
    """

    scores: np.ndarray
    n_kept: int
    ties: np.ndarray | None = None
    constant: np.ndarray | None = None

    def ranking(self) -> np.ndarray:
        """Rank of every feature, 1 for the best; equal features in column order."""
        n_features = len(self.scores)
        keys = [np.arange(n_features)]
        if self.ties is not None:
            keys.append(-self.ties)
        keys.append(-self.scores)
        if self.constant is not None:
            keys.append(self.constant)
        ranking = np.empty(n_features, dtype=np.int64)
        ranking[np.lexsort(keys)] = np.arange(1, n_features + 1)
        return ranking


class BaseSelector(SelectorMixin, BaseEstimator):
    """Base of all selectors.

    A subclass stores flat parameters in ``__init__`` (``n_features_to_select`` among them) and
    implements ``_fit``; it may override ``_check_parameters``. The class attributes say what
    data it takes. A subclass with the parameters ``always_keep`` and ``never_keep`` gets them
    checked, and as masks in ``TrainingData.fixed``; ranking and counting them is done here.
    """

    _accepts_sparse = True
    _accepts_regression = True
    _accepts_nan = False
    _keeps_one = True  # the best feature, where the model itself keeps none
    _stopped_early = False  # for fits with more to reach than optimality_ says
    _html_repr = selector_html  # what notebooks show

    def fit(self, X, y, sample_weight=None):
        """Rank the features of X by what they say about y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a 0/1 indicator matrix, or real targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of every sample in the loss; a weight of two counts as the sample given
            twice.

        Returns
        -------
        self : object
            The fitted selector.
        """
        self._check_parameters()
        self._stopped_early = False
        data = self._training_data(X, y, sample_weight)
        fixed = data.fixed
        # Asking for too many features is refused before the work, not after it.
        fixed.count(self.n_features_to_select, default=fixed.n_available)
        found = self._fit(data)
        self._fixed = fixed
        kept = max(found.n_kept + fixed.n_always, int(self._keeps_one))
        self._n_kept = min(kept, fixed.n_available)
        self._set_ranking(found.scores, found.ranking())
        self._set_support()
        return self

    @abstractmethod
    def _fit(self, data: TrainingData) -> FeatureScores:
        """Set the fitted attributes of the model and return the scores."""

    def _check_parameters(self) -> None:
        """Refuse bad parameters; called first in ``fit``."""

    def at(self, n_features):
        """Return this selection at another number of features, without refitting.

        Parameters
        ----------
        n_features : int, float or None
            A number, a fraction, or None for what the model itself keeps.

        Returns
        -------
        selector : object of the same class
            A fitted copy that differs in ``support_`` and, for models that know their
            coefficients at every number of features, in ``coef_``.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import FisherSelector
        >>> X, y = load_wine(return_X_y=True)
        >>> selector = FisherSelector(n_features_to_select=5).fit(X, y)
        >>> selector.at(2).transform(X).shape
        (178, 2)
        """
        check_is_fitted(self)
        other = copy.copy(self)
        other.n_features_to_select = n_features
        other._set_support()
        return other

    def find_substitutes(self, X, threshold=0.9):
        """Find the near-duplicates of the selected features among those left out.

        Which of several features that carry the same information is selected can be a matter
        of chance; this lists the alternatives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The data to correlate the features on, usually the training data.
        threshold : float, default=0.9
            Smallest absolute correlation that makes a substitute.

        Returns
        -------
        substitutes : dict
            For every selected feature (by name where X had names, else by column) a list of
            (feature, correlation), the strongest first. Also kept as ``substitutes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sparsieve import FisherSelector
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = FisherSelector(n_features_to_select=1).fit(X, y)
        >>> selector.find_substitutes(X, threshold=0.91)
        {'worst concave points': [('mean concave points', 0.91...)]}
        """
        check_is_fitted(self)
        check_real("threshold", threshold, minimum=0, strict=True)
        X = validate_data(
            self,
            X,
            reset=False,
            accept_sparse=("csr", "csc"),
            dtype=(np.float64, np.float32),
            ensure_min_samples=2,
        )
        names = getattr(self, "feature_names_in_", None)
        found = correlated_features(as_design(X), self.support_, threshold)
        if names is None:
            self.substitutes_ = found
        else:
            self.substitutes_ = {
                names[feature]: [(names[j], r) for j, r in others]
                for feature, others in found.items()
            }
        return self.substitutes_

    def _set_ranking(self, scores: np.ndarray, ranking: np.ndarray) -> None:
        """Keep what the model found, with the columns that are not its to choose in place."""
        self.scores_, self.ranking_ = self._fixed.score(scores), self._fixed.rank(ranking)

    def _set_support(self) -> None:
        count = self._fixed.count(self.n_features_to_select, self._n_kept)
        self.support_ = self.ranking_ <= count
        self._refit(count - self._fixed.n_always)

    def _refit(self, n_chosen: int) -> None:
        """Adapt fitted attributes to another support, where a model can do so for free.

        ``n_chosen`` counts the features of the model's own choice, without ``always_keep``.
        """

    def _get_support_mask(self):
        check_is_fitted(self)
        return self.support_

    # -- input ---------------------------------------------------------------------------

    def _training_data(self, X, y, sample_weight) -> TrainingData:
        check_columns(X)
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse=("csr", "csc") if self._accepts_sparse else False,
            dtype=(np.float64, np.float32),
            multi_output=True,
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        names = getattr(self, "feature_names_in_", None)
        check_finite(X, names, allow_nan=self._accepts_nan)
        _check_finite_target(y)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, X, dtype=np.float64, ensure_non_negative=True
            )
            used = sample_weight > 0
            if not used.all():
                X, y, sample_weight = X[used], y[used], sample_weight[used]
        name = type(self).__name__
        target = encode_target(y, task=getattr(self, "task", "auto"), dtype=X.dtype, owner=name)
        if target.task != "classification" and not self._accepts_regression:
            raise ValueError(
                f"Unknown label type: {name} needs one column of class labels, but y looks like "
                f"{target.task}; bin y into classes or use a selector for regression such as "
                "RidgeForwardSelector"
            )
        if target.classes is not None:
            self.classes_ = target.classes
        elif hasattr(self, "classes_"):
            del self.classes_  # of an earlier fit on labels
        weights = _combined_weights(sample_weight, getattr(self, "class_weight", None), target)
        return TrainingData(as_design(X), target, weights, FixedColumns.of(self, X.shape[1]))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_nan
        tags.target_tags.required = True
        tags.target_tags.multi_output = self._accepts_regression
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_finite_target(y) -> None:
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        bad = int((~np.isfinite(y)).sum())
        raise ValueError(f"Input y contains NaN or infinite values ({bad} of {y.size}); drop them")


def _combined_weights(sample_weight, class_weight, target: Target) -> np.ndarray | None:
    if class_weight is None:
        return sample_weight
    if target.classes is None:
        raise ValueError(
            "class_weight is for class labels, but y is used as numbers; leave class_weight=None "
            "and pass sample_weight instead"
        )
    if isinstance(class_weight, str) and class_weight == "balanced":
        # Weighted class sizes, so that a sample of weight two counts as two samples.
        sizes = np.bincount(target.codes, weights=sample_weight)
        per_class = sizes.sum() / (len(sizes) * sizes)
    else:
        per_class = compute_class_weight(
            class_weight, classes=target.classes, y=target.classes[target.codes]
        )
    weights = per_class[target.codes]
    return weights if sample_weight is None else weights * sample_weight
