"""What every selector shares: validation, target, ranking, support and ``at(k)``."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from functools import cache
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from .._cost import announce
from .._sklearn import clone_parametrized, get_output_config
from ..design import external_design, own_passes
from ..solvers.base import Result
from ..validation.columns import (
    FixedColumns,
    check_in_memory,
    check_same_features,
    format_output,
    is_tensor,
    native_indices,
)
from ..validation.containers import naming_arguments, plain_matrix
from ..validation.training_data import Capabilities, TrainingData, training_data
from .fitted import FittedAttributes, ShownInNotebooks, keep_result
from .near_copies import PassesOver, without_copies
from .preparation import scores_groups
from .ranked import FeatureScores as FeatureScores
from .ranked import as_frame, selection_columns

# Features that are kept where neither the user nor the model says how many: as many as by
# scikit-learn's SelectKBest.
DEFAULT_COUNT = 10

# What the parameters of selectors take, for signatures.
Count: TypeAlias = int | float | str | None
Columns: TypeAlias = Sequence[int] | Sequence[str] | Sequence[bool] | np.ndarray | None
ClassWeight: TypeAlias = dict[Any, float] | str | None
RandomState: TypeAlias = int | np.random.RandomState | None


# scikit-learn's own equality, hash and repr stay: a plain dataclass would replace them.
@dataclass(eq=False, repr=False)
class BaseSelector(
    PassesOver, ShownInNotebooks, FittedAttributes, Capabilities, SelectorMixin, BaseEstimator
):
    """Base of all selectors, and of a selector of your own.

    A subclass is a dataclass (``eq=False, repr=False, kw_only=True``) whose fields are its
    parameters, and implements ``_fit(data)``, which returns :class:`FeatureScores`. It gets
    validated data: ``X, y = data.arrays()``, the weights of samples as ``data.sample_weight``
    (None where all count the same), and ``data.target`` with ``task``, ``classes`` and ``codes``.
    Everything else is done here: ``ranking_``, ``support_``, :meth:`at`, names of features, tags.

    A subclass may override ``_check_parameters``, and these class attributes: ``_score_meaning``
    (one sentence), ``_accepts_sparse`` (default True), ``_accepts_nan`` (False),
    ``_accepts_regression`` (True; False is for class labels only) and ``_needs_target`` (True). A
    parameter ``task`` or ``class_weight`` is read where there is one. Columns of ``always_keep``
    and ``never_keep`` are masks in ``data.fixed``, and are ranked and counted here. A model that
    judges features by what they add to those of ``always_keep`` says ``_adjusts_for_kept = True``
    and leaves them out of ``n_kept``.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps what the model itself keeps. A number
        above that of all features keeps all, with a warning.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. None keeps near copies too.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; they rank last.

    See Also
    --------
    sparsieve.check_selector : Checks a selector of your own.
    sparsieve.FeatureScores : What ``_fit`` returns.
    sparsieve.SelectorAdapter : Takes estimators and functions as they are.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import BaseSelector, FeatureScores
    >>> @dataclass(eq=False, repr=False, kw_only=True)
    ... class SpreadSelector(BaseSelector):
    ...     power: float = 2.0
    ...     _accepts_sparse = False
    ...     _score_meaning = "Mean distance from the mean, to a power: larger is better."
    ...
    ...     def _fit(self, data):
    ...         X, y = data.arrays()
    ...         centre = np.average(X, axis=0, weights=data.sample_weight)
    ...         away = np.abs(X - centre) ** self.power
    ...         return FeatureScores(np.average(away, axis=0, weights=data.sample_weight), n_kept=5)
    >>> SpreadSelector(n_features_to_select=2).fit(*load_wine(return_X_y=True)).support_.sum()
    np.int64(2)
    """

    n_features_to_select: Count = None
    _: KW_ONLY
    max_correlation: float | None = None
    always_keep: Columns = None
    never_keep: Columns = None

    _purposes: ClassVar[tuple[str, ...]] = ()  # what it is for, see registry.PURPOSES
    _takes_less: ClassVar[str] = "fewer samples or features are faster"
    _adjusts_for_kept: ClassVar[bool] = False  # judges features by what they add to always_keep
    _keeps_one: ClassVar[bool] = True  # the best feature, where the model itself keeps none
    _score_meaning: ClassVar[str] = "Larger is better."
    _meaning_of_groups: ClassVar[str] = ""  # where scores of groups mean something else

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Rank the features of X by how informative they are about y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data. Many selectors also accept data larger than memory, read in blocks: a
            memory-mapped array, an HDF5 or Zarr array, backed AnnData or a Parquet file.
            ``n_passes_`` then says how often the data were read.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a 0/1 indicator matrix, or real-valued targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the loss; a weight of 2 counts like two copies of the sample.

        Returns
        -------
        self : object
            The fitted selector.
        """
        self._check_max_correlation()
        self._check_parameters()
        self._forget()
        data = self._training_data(X, y, sample_weight)
        fixed = data.choices
        # A number that says nothing is refused before the work, not after it.
        fixed.count(self.n_features_to_select, default=fixed.n_available)
        fixed.warn_of_more(self.n_features_to_select)
        announce(type(self).__name__, self._work(data), self._takes_less)
        # What the host does between the passes of a device is small: threads would be in the way.
        with own_passes(data.design) if data.design.is_on_device else nullcontext():
            found = self._fit(data)
        if data.design.passes:
            self.n_passes_: int = data.design.passes
        self._fixed = data.fixed
        if data.groups is not None:
            self._feature_groups = data.groups
        n_wanted = None
        if self.n_features_to_select is not None:
            asked = fixed.count(self.n_features_to_select, default=fixed.n_available)
            n_given = fixed.n_always if self._adjusts_for_kept else 0
            found.warn_of_few(asked, n_given, fixed.unit)
            n_wanted = asked - fixed.n_always
        if fixed.n_always and not self._adjusts_for_kept:
            found = found.beside(fixed.always)
        found = without_copies(found, data, self.max_correlation, n_wanted)
        self._passed_over = found.passed_over or {}
        kept = max(found.n_kept + fixed.n_always, int(self._keeps_one))
        self._n_kept = min(kept, fixed.n_available)
        asked = fixed.count(self.n_features_to_select, default=self._n_kept)
        self._n_ranked = fixed.n_available
        if not found.complete:
            own = [] if found.order is None else ~fixed.always[found.order]
            entered = int(np.sum(own)) + fixed.n_always if len(own) else 0
            self._n_ranked = min(max(asked, self._n_kept, entered), fixed.n_available)
        self._set_ranking(found.scores, found.ranking(data.design if data.groups is None else None))
        self._set_support()
        return self

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Names of the parameters; scikit-learn reads them from the signature at every clone."""
        return super()._get_param_names()  # type: ignore[misc]

    def __sklearn_clone__(self) -> Self:
        """Clone the parameters, but keep a fitted transformer that says which columns go together.

        scikit-learn would clone that into one that is not fitted and knows nothing.
        """
        copied = clone_parametrized(self)
        if getattr(self, "feature_groups", None) is not None:
            copied.feature_groups = copy.deepcopy(self.feature_groups)
        return copied

    def _work(self, data: TrainingData) -> float:
        """Multiplications to expect of a fit, where they may be so many that they are announced."""
        return 0.0

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected features.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        X_r : array of shape (n_samples, n_selected_features)
            The selected columns, in the order they have in X. Data that are not in memory give a
            NumPy array or an array of their own kind; a tensor gives a tensor on the same device.
            Missing values of a data frame pass; those of an array only where the selector itself
            takes them, as in scikit-learn.
        """
        check_is_fitted(self)
        if is_tensor(X):
            check_same_features(self, X)
            return format_output(self, X[:, native_indices(X, self._get_support_mask())])
        design = external_design(X)
        if design is None:
            with naming_arguments():
                X = plain_matrix(X)
                # Of pandas frames scikit-learn takes columns without looking at them, if asked for.
                keeps = get_output_config("transform", self)["dense"] != "default"
                if hasattr(X, "columns") and not (keeps and hasattr(X, "iloc")):
                    how = {"reset": False, "dtype": None, "accept_sparse": "csr"}
                    X = validate_data(self, X, ensure_all_finite="allow-nan", **how)
                    return self._transform(X)
                return super().transform(X)
        check_same_features(self, design)
        return format_output(self, design.take_columns(np.flatnonzero(self._get_support_mask())))

    def inverse_transform(self, X: Any) -> Any:
        """Put the selected columns back in their original places, with zeros elsewhere.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_selected_features)
            What :meth:`transform` returned.

        Returns
        -------
        X_original : array of shape (n_samples, n_features)
            All features; a tensor gives a tensor on the same device.
        """
        support = self._get_support_mask()
        if not is_tensor(X):
            check_in_memory("inverse_transform", X)
            if np.shape(X)[1:] == (0,) and not support.any():  # of tests that found nothing
                return np.zeros((np.shape(X)[0], len(support)))
            return super().inverse_transform(X)
        if X.ndim != 2 or X.shape[1] != support.sum():
            raise ValueError(
                f"X has shape {tuple(X.shape)}, but must have one column for each of the "
                f"{int(support.sum())} selected features"
            )
        wide = X.new_zeros((len(X), len(support)))
        wide[:, native_indices(X, support)] = X
        return wide

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if self._meaning_of_groups and scores_groups(self):
            return self._meaning_of_groups
        return self._score_meaning

    @abstractmethod
    def _fit(self, data: TrainingData) -> FeatureScores:
        """Set the fitted attributes of the model and return the scores."""

    def _check_parameters(self) -> None:
        """Refuse bad parameters; called first in ``fit``."""

    def at(self, n_features: Count) -> Self:
        """Return this selection at another number of features, without refitting.

        Features that ``max_correlation`` passed over come after all others.

        Parameters
        ----------
        n_features : int, float, "all" or None
            A number, a fraction, or None for the number that the model itself keeps.

        Returns
        -------
        selector : object of the same class
            A fitted copy with another ``support_`` and, where the model has coefficients for every
            number of features, another ``coef_``.

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
        count = self._choices.count(n_features, self._n_kept)
        if count > self._n_ranked:
            raise ValueError(
                f"at({n_features!r}) asks for more than the {self._n_ranked} features that this "
                f"fit ranked; fit with n_features_to_select >= {count}"
            )
        self._choices.warn_of_more(n_features)
        other = copy.copy(self)
        other.n_features_to_select = n_features
        other._set_support()
        return other

    @property
    def n_features_(self) -> int:
        """The number of features that are kept, as the selectors of scikit-learn call it."""
        return int(np.sum(self.support_))

    @property
    def n_features_to_select_(self) -> int:
        """The number that is kept of what ``n_features_to_select`` counts: features, or groups."""
        return int(np.sum(vars(self).get("group_support_", self.support_)))

    @property
    def n_ranked_(self) -> int:
        """The largest number of features that :meth:`at` accepts."""
        return self._n_ranked

    def reaching(self, n_features: Count) -> Self:
        """Return an unfitted copy that will rank at least this number of features.

        In some models other parameters limit how many features are ranked; ``n_ranked_`` of the
        fitted copy says how many there are.

        Parameters
        ----------
        n_features : int, float, "all" or None
            The largest number that will be passed to :meth:`at`.

        Returns
        -------
        selector : object of the same class
            Not fitted.
        """
        return clone(self).set_params(n_features_to_select=n_features)

    def to_frame(self, *, all_features: bool = False) -> Any:
        """Return the selected features as a table, best first.

        Parameters
        ----------
        all_features : bool, default=False
            Include the features that were not selected; the column "selected" tells them apart.

        Returns
        -------
        table : DataFrame or dict
            A pandas or polars frame, like X; for arrays a pandas frame, or a dict of columns if
            pandas is not installed. Columns: rank, feature, score; coefficients and
            p-values if the selector has them; substitutes after ``find_substitutes``, with their
            correlations.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import FStatisticSelector
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> table = FStatisticSelector(n_features_to_select=2).fit(X, y).to_frame()
        >>> table[["rank", "feature"]].values.tolist()
        [[1, 'flavanoids'], [2, 'proline']]
        """
        check_is_fitted(self)
        columns = selection_columns(self, all_features=all_features)
        return as_frame(columns, getattr(self, "_frame_library", None))

    def _keep_result(self, results: Result | Sequence[Result], **words: str) -> None:
        """Say how a fit went, for one model or several; ``words`` as :func:`keep_result` takes."""
        keep_result(self, results, **words)

    @property
    def _choices(self) -> FixedColumns:
        """What is chosen and counted, by the user's decision: the columns, or groups of them."""
        groups = vars(self).get("_feature_groups")
        return self._fixed if groups is None else groups.choices(self._fixed)

    def _set_ranking(self, scores: np.ndarray, ranking: np.ndarray) -> None:
        """Keep what the model found, with the columns that are not its to choose in place."""
        ranking = self._choices.rank(ranking)
        if self._adjusts_for_kept:
            scores = self._choices.score(scores)
        if (groups := vars(self).get("_feature_groups")) is not None:
            self.group_scores_: NDArray[np.floating[Any]] = scores
            self.group_ranking_: NDArray[np.int64] = ranking
            self.group_names_: NDArray[Any] = np.array(groups.names, dtype=object)
            scores, ranking = groups.scores_of_columns(scores), groups.ranks_of_columns(ranking)
        self.scores_: NDArray[np.floating[Any]] = scores
        self.ranking_: NDArray[np.int64] = ranking

    def _set_support(self) -> None:
        count = self._choices.count(self.n_features_to_select, self._n_kept)
        self.support_: NDArray[np.bool_] = self.ranking_ <= count
        if "_feature_groups" in vars(self):
            self.group_support_: NDArray[np.bool_] = self.group_ranking_ <= count
        self._refit(count - self._choices.n_always)

    def _refit(self, n_chosen: int) -> None:
        """Adapt fitted attributes to another support, where a model can do so for free.

        ``n_chosen`` counts the features of the model's own choice, without ``always_keep``.
        """

    def _get_support_mask(self) -> np.ndarray:
        check_is_fitted(self)
        return self.support_

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        return training_data(self, X, y, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_nan
        tags.target_tags.required = self._needs_target
        tags.target_tags.multi_output = self._accepts_regression
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
