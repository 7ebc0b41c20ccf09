"""How much worse a model predicts held-out samples when the values of a feature are shuffled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from .._checks import MAX_REPEATS, check_integer
from .._saved import Floats
from ..selectors.around import check_predicts, estimator_tags, for_classes_only, for_numbers_only
from ..selectors.base import BaseSelector, FeatureScores, RandomState, TrainingData
from ..selectors.origins import call_with_views

RIDGE = 0.1  # per sample
DEFAULT_FOLDS = 5
CALL_WORK = 3e5  # what scoring a model costs however small the data are, in multiplications


@dataclass(eq=False, repr=False, kw_only=True)
class PermutationSelector(BaseSelector):
    """Permutation importance: keep features that a model cannot do without.

    In short: Fits a model, shuffles one feature at a time on held-out samples, and keeps the
    features whose shuffling costs the model the most.

    The model is fitted on the training part of every fold. On the other samples each feature in
    turn is given the values of other samples, so that it says nothing about them any more; its
    importance is the mean loss of score over folds and shuffles (Breiman 2001). Two features that
    carry the same information stand in for each other, so both may look unimportant.

    ``fit`` does not take ``sample_weight``, because copies of a sample would be on both sides of a
    fold.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the features whose importance is more
        than two standard errors above 0.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first; they are in the model, as all others are.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the others are ranked as if X did not have them.
    estimator : estimator or None, default=None
        The model: anything with ``fit`` and ``predict``. None means ridge regression
        (``RidgeClassifier`` for classes) on standardised columns.
    n_repeats : int, default=5
        How often every feature is shuffled on every fold.
    scoring : str, callable or None, default=None
        The score whose loss is measured, as in scikit-learn, larger is better; None is the
        estimator's own: accuracy, or R squared.
    cv : int, splitter or iterable, default=5
        An integer is the number of folds, shuffled and, for classes, stratified. A splitter or an
        iterable of (train, test) is used unchanged.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Permutation importance: how much the score on held-out samples falls when the feature is
        shuffled; about 0, or slightly negative, for features that the model does not need.
    standard_errors_ : ndarray of shape (n_features,)
        Standard error of the importance over the folds, with the samples that training parts share
        taken into account (Nadeau and Bengio 2003).
    held_out_score_ : float
        Mean score on held-out samples with nothing shuffled.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.ShadowSelector : Compares importances with those of shuffled copies.
    sparsieve.RidgeForwardSelector : Adds the feature that helps a ridge model most.

    References
    ----------
    L. Breiman (2001). Random forests. Machine Learning 45, 5-32.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import ExtraTreesClassifier
    >>> from sparsieve import PermutationSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = ExtraTreesClassifier(20, random_state=0)
    >>> selector = PermutationSelector(3, estimator=forest, n_repeats=2, cv=3).fit(X, y)
    >>> selector.get_support().sum()
    np.int64(3)
    """

    estimator: Any = None
    n_repeats: int = 5
    scoring: Any = None
    cv: Any = DEFAULT_FOLDS
    task: str = "auto"
    random_state: RandomState = 0
    n_jobs: int | None = None

    _accepts_sparse: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "How much the score on held-out samples falls when the feature is shuffled; about 0 for "
        "features that the model does not need."
    )

    standard_errors_: Annotated[Floats, "features"] = field(init=False)
    held_out_score_: float = field(init=False)

    @property
    def _accepts_nan(self) -> bool:  # type: ignore[override]
        return self.estimator is not None and estimator_tags(self.estimator).input_tags.allow_nan

    @property
    def _accepts_regression(self) -> bool:  # type: ignore[override]
        return self.estimator is None or not for_classes_only(self.estimator)

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        return self.estimator is not None and for_numbers_only(self.estimator)

    @property
    def _scale_free(self) -> bool:  # type: ignore[override]
        return self.estimator is None

    def _check_parameters(self) -> None:
        check_integer("n_repeats", self.n_repeats, maximum=MAX_REPEATS)
        wanted = ("fit", "predict", "get_params")
        is_model = all(hasattr(self.estimator, name) for name in wanted)
        if self.estimator is not None and (isinstance(self.estimator, type) or not is_model):
            raise TypeError(
                "estimator must be a model with fit and predict, such as "
                f"RandomForestClassifier(), got {self.estimator!r}"
            )

    def fit(self, X: Any, y: Any) -> PermutationSelector:  # type: ignore[override]
        """Rank the features of X by how much a model needs them to predict y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y)

    def _work(self, data: TrainingData) -> float:
        """At least that of a linear model, which reads all columns for each that is shuffled."""
        n_samples, n_features = data.design.shape
        n_folds = int(self.cv) if isinstance(self.cv, int | np.integer) else DEFAULT_FOLDS
        once = n_samples * n_features + n_folds * CALL_WORK
        return float(self.n_repeats) * n_features * once

    def _fit(self, data: TrainingData) -> FeatureScores:
        X, y = data.arrays()
        X = X[:, data.fixed.candidates] if data.fixed.never.any() else X
        model = self._model(data)
        check_predicts(model, data.target.task)
        scorer = check_scoring(model, scoring=self.scoring)
        random = check_random_state(self.random_state)
        folds = self._folds(data, X, y, random)
        seeds = random.randint(np.iinfo(np.int32).max, size=len(folds))
        work = Parallel(n_jobs=self.n_jobs)
        found = work(
            delayed(_losses)(model, scorer, X, y, *fold, self.n_repeats, int(seed))
            for fold, seed in zip(folds, seeds, strict=True)
        )
        losses = np.array([loss for _, loss in found])  # by fold and feature
        self.held_out_score_ = float(np.mean([whole for whole, _ in found]))
        scores = losses.mean(axis=0)
        spread = losses.std(axis=0, ddof=1) if len(folds) > 1 else np.zeros(X.shape[1])
        test_share = np.mean([len(test) / len(train) for train, test in folds])
        errors = spread * np.sqrt(1.0 / len(folds) + test_share)
        n_kept = int((scores > 2.0 * errors).sum())
        self.standard_errors_ = data.fixed.spread(errors)
        constant = data.fixed.spread((X[:1] == X).all(axis=0), True)
        return FeatureScores(data.fixed.spread(scores), n_kept=n_kept, constant=constant)

    def _model(self, data: TrainingData) -> Any:
        if self.estimator is not None:
            return self.estimator
        kind = RidgeClassifier if data.target.task == "classification" else Ridge
        return make_pipeline(StandardScaler(), kind(alpha=RIDGE * data.design.shape[0]))

    def _folds(self, data: TrainingData, X: Any, y: Any, random: Any) -> list[Any]:
        """The folds, as many as the samples of a class allow where the number is ours."""
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer):
            return list(
                check_cv(self.cv, y, classifier=is_classifier(self._model(data))).split(X, y)
            )
        check_integer("cv", self.cv, minimum=2)
        codes, n_samples = data.target.codes, X.shape[0]
        if n_samples < 4:
            raise ValueError(
                f"the {n_samples} samples of X are too few to hold some out; give at least 4"
            )
        n_splits, seed = int(self.cv), int(random.randint(np.iinfo(np.int32).max))
        fewest = 0 if codes is None else int(np.bincount(codes).min())
        if fewest >= 2:
            made = StratifiedKFold(min(n_splits, fewest), shuffle=True, random_state=seed)
            return list(made.split(X, codes))
        made = KFold(min(n_splits, n_samples // 2), shuffle=True, random_state=seed)
        return list(made.split(X))


def _losses(
    model: Any,
    scorer: Any,
    X: np.ndarray,
    y: np.ndarray,
    train: np.ndarray,
    test: np.ndarray,
    n_repeats: int,
    seed: int,
) -> tuple[float, np.ndarray]:
    """(score on the test part, mean loss of it for every feature).

    All features are shuffled in the same ways, so that their order makes no difference.
    """
    fitted = call_with_views(clone(model).fit, X[train], y[train])
    held_out, truth = X[test].copy(), y[test]
    whole = float(scorer(fitted, held_out, truth))
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(len(test)) for _ in range(n_repeats)]
    losses = np.zeros(X.shape[1])
    for j in range(X.shape[1]):
        column = held_out[:, j].copy()
        if (column == column[0]).all():
            continue  # shuffling changes nothing
        for order in orders:
            held_out[:, j] = column[order]
            losses[j] += whole - float(scorer(fitted, held_out, truth))
        held_out[:, j] = column
    return whole, losses / n_repeats
