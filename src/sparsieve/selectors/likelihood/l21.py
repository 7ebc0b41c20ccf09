"""Likelihoods with the l2,1 (group lasso) penalty."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..._checks import check_real
from ..._saved import Maybe
from ...solvers.base import Path, Result
from ...solvers.losses.cox import Cox
from ...solvers.paths.newton_set import GroupCoefficients, LikelihoodL21, PenalisedLikelihood
from ...solvers.paths.signed import SignedLikelihood, SignedProblem
from ...solvers.searches.likelihood_forward import explainable
from ..base import Columns, FeatureScores, TrainingData
from ..certificates import Certificate, certified_sizes
from ..groups import PenalisedChoices, column_signs, prescribes_signs
from ..path_selector import PathSelector, StrengthModel
from .base import Baselines, LikelihoodSelector
from .proof import check_same, ridge_certificate

# Classes from which on a fit may be long, and products with X for each that count in its time.
MANY_CLASSES, CG_PRODUCTS = 100, 30.0


@dataclass(eq=False, repr=False, kw_only=True)
class LikelihoodL21Selector(LikelihoodSelector, PathSelector):
    """Logistic, Poisson, Cox or Huber regression with an l2,1 (group lasso) penalty.

    In short: Lasso and group lasso for classes, counts and survival times: a convex model that
    shrinks the coefficients of uninformative features to zero.

    Minimises ``-log likelihood + alpha * sum_g c_g ||W_g||``, where a group is a feature or a group
    of features with its coefficients for all outputs. The intercept and the columns of
    ``always_keep`` are not penalised. Solved by Newton steps on working sets until the duality gap,
    a bound on how far the objective is from its minimum, is small.

    For ordinary classes :class:`L21Selector` selects as well: over 13 data sets the multinomial
    loss made no difference. Use this selector for survival times, for counts, and where predicted
    probabilities matter. :class:`LikelihoodForwardSelector` chooses smaller sets of features.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients. If it is
        given and ``alpha`` is not, ``alpha`` is decreased along a path, features are ranked by the
        value at which they enter the model, and ``coef_`` is the solution at which enough features
        have entered.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    loss : {"auto", "logistic", "multinomial", "poisson", "negative-binomial", "cox", "huber"}, \
default="auto"
        Negative log-likelihood. "auto" means logistic for two classes, multinomial for more,
        Poisson for counts (``task="counts"``), Cox for survival times, and Huber's loss, in which
        outliers count by their distance and not by its square, for other numbers
        (``task="regression"``).
    nonnegative : bool, list of int or str, or mask, default=False
        Columns whose coefficients must not be negative; True means all of them. With two classes
        they speak for the second one. Covariates of ``always_keep`` may have any sign. Not for
        more than two classes or ``feature_groups``.
    alpha : float or None, default=None
        Strength of the row penalty. The loss is a sum over samples, so that alpha grows with their
        number. If None, a path of decreasing strengths is followed when ``n_features_to_select`` is
        given; otherwise alpha is a tenth of alpha_max, the smallest strength at which no feature is
        kept.
    ties : {"efron", "breslow"}, default="efron"
        Cox: how events at the same time are treated.
    dispersion : float, default=1.0
        Negative binomial: the variance of a count with mean mu is mu + dispersion * mu ** 2.
    epsilon : float, default=1.35
        Huber: residuals beyond this many standard deviations of y are outliers. The standard
        deviation is estimated by the median distance of y from its median.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept. A Cox model has none; there, 0 stands for a sample with
        average features.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=1000
        Maximum number of Newton steps for one strength.
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "counts", "survival", "regression"}, default="auto"
        How to interpret y. "auto" follows ``loss``, takes a structured array or a frame with the
        columns "time" and "event" as survival times, and anything else as classes.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups.
    group_weights : dict or array-like of shape (n_groups,), default=None
        The factor c_g of every group in the penalty ``alpha * sum_g c_g ||W_g||``, by name or in
        the order of ``group_names_``. None is the square root of the rank of the group's columns,
        so that large groups enter no sooner than small ones.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        After a path: the penalty strength at which the feature entered, relative to alpha_max; for
        features that did not enter, their correlation with the final residual on the same scale.
        For a given ``alpha``: the norm of the feature's standardised coefficients.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero coefficients are ranked by the
        gradient of the loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X; one output, or one per class if there are more than two.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    alpha_ : float
        Penalty strength at which ``coef_`` was computed.
    baseline_times_, baseline_hazard_ : ndarray of shape (n_events,)
        Survival only: times of events and the cumulative baseline hazard (Breslow's estimator), in
        order of strata; see :meth:`predict_survival`.
    strata_ : ndarray of shape (n_strata,)
        Survival with strata only: their labels, sorted.
    objective_ : float
        Negative log-likelihood plus penalty at ``coef_`` on the standardised data.
    duality_gap_ : float
        No other coefficients have an objective below ``objective_ - duality_gap_``.
    optimality_ : float
        Duality gap relative to ``objective_``, or to its distance from that of a perfect fit where
        this is larger.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of Newton steps.
    history_ : list of float
        Objective after every round of the working set (for the last strength).
    path_ : Path
        Features in the order in which they entered, with the strengths at which they did (only when
        a path was followed). :meth:`at` accepts at most this many features.

    See Also
    --------
    sparsieve.LikelihoodForwardSelector : Adds features one at a time by their likelihood.
    sparsieve.L21Selector : The same penalty with a squared loss.

    Notes
    -----
    To scikit-learn this is a classifier, a regressor with ``task="counts"``, and neither with
    ``task="survival"``: say so before ``cross_val_score``, which would stratify survival times.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import LikelihoodL21Selector
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 20))
    >>> time = rng.exponential(np.exp(-X[:, 3] + X[:, 8]))
    >>> y = np.array([(t < 2, min(t, 2)) for t in time], dtype=[("event", "?"), ("time", "f8")])
    >>> selector = LikelihoodL21Selector(n_features_to_select=2).fit(X, y)
    >>> selector.get_support(indices=True)
    array([3, 8])
    >>> selector.optimality_ < 1e-6
    True
    """

    nonnegative: bool | Columns = False
    alpha: float | None = None
    max_iter: int = 1000
    tol: float = 1e-6
    feature_groups: Any = None
    group_weights: Any = None

    _purposes: ClassVar[tuple[str, ...]] = ()
    _score_meaning: ClassVar[str] = (
        "Size of the feature's standardised coefficients: how much the linear predictor changes "
        "when the feature changes by one standard deviation."
    )

    alpha_: float = field(init=False)
    duality_gap_: float = field(init=False)
    objective_: float = field(init=False)
    certificate_: Maybe[Certificate] = field(init=False)

    def _path_model(self, data: TrainingData) -> _Model:
        return _Model(self, data)

    def _keep(self, model: Any, result: Result[GroupCoefficients], alpha: float) -> None:
        found, prepared = result.solution, model.prepared
        self.duality_gap_ = max(float(found.gap), 0.0)
        baselines = None
        if isinstance(prepared.loss, Cox):
            columns = np.asarray(prepared.design.dense_columns(found.features), dtype=np.float64)
            F = columns @ found.W + prepared.free @ found.B
            baselines = Baselines.from_predictors(prepared.loss, [F])
        self._keep_baselines(baselines)
        self._use_baseline(0)
        super()._keep(model, result, alpha)

    def path(
        self,
        X: Any,
        y: Any,
        *,
        alphas: ArrayLike | None = None,
        n_alphas: int = 50,
        ratio: float = 0.01,
        sample_weight: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        entry: ArrayLike | None = None,
    ) -> Path:
        """Compute the solutions for a sequence of penalty strengths, each started from the previous
        one.

        Parameters
        ----------
        X, y, sample_weight, strata, entry : as for :meth:`fit`.
        alphas : array-like or None, default=None
            Strengths in decreasing order. None uses ``n_alphas`` values, log-spaced from alpha_max
            (the smallest strength at which no feature is kept) down to ``ratio`` times alpha_max.
        n_alphas : int, default=50
            Number of strengths.
        ratio : float, default=0.01
            Last strength, relative to alpha_max.

        Returns
        -------
        path : Path
            The empty selection at alpha_max, followed by one selection per strength, with
            coefficients in the units of X, objectives and relative duality gaps.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import LikelihoodL21Selector
        >>> path = LikelihoodL21Selector().path(*load_wine(return_X_y=True), n_alphas=4)
        >>> path.n_features
        array([ 0,  6,  9,  9, 10])
        """
        return super().path(
            *(X, self._target(y, strata, entry)),
            alphas=alphas,
            n_alphas=n_alphas,
            ratio=ratio,
            sample_weight=sample_weight,
        )

    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        ridge: float = 1.0,
        n_features: int | Sequence[int] | None = None,
        strata: Any = None,
        entry: Any = None,
    ) -> Certificate:
        """Prove how close the selection is to the best one of the same size.

        The selected features are fitted anew with a ridge instead of the l2,1 penalty, and the
        objective is compared with a lower bound that holds for all selections of the same size. The
        bound is tight for a ridge of 1 and weak for a small one. The proof concerns the training
        objective, not accuracy on new data.

        Parameters
        ----------
        X, y, sample_weight, strata, entry : as given to ``fit``
            The data the selector was fitted on.
        ridge : float, default=1.0
            Ridge relative to the curvature of the loss without features, as in
            :class:`LikelihoodForwardSelector`.
        n_features : int, list of int or None, default=None
            Numbers of features to certify, the best ones by ``ranking_``; None means the number
            that is selected.

        Returns
        -------
        certificate : Certificate
            Objective (half of the deviance plus the ridge), lower bound, gap and share for every
            number of features; also stored as ``certificate_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sparsieve import LikelihoodL21Selector
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> print(LikelihoodL21Selector(n_features_to_select=3).fit(X, y).certify(X, y))
        These 3 features explain at least 9... % of what the best 3 features could (proven ...).
        """
        check_real("ridge", ridge, minimum=0, strict=True)
        data, prepared = self._seen_again(X, y, sample_weight, strata, entry)
        loss, n_always = prepared.loss, data.fixed.n_always
        W = (self.coef_.T * prepared.units.scale[:, None])[~data.fixed.always]
        penalty = self.alpha_ * float(np.linalg.norm(W.astype(np.float64), axis=1).sum())
        F = np.asarray(self.decision_function(X), dtype=np.float64).reshape(len(loss.weights), -1)
        check_same(loss.value(F) + penalty, self.objective_, explainable(loss))
        wanted = int(self.support_.sum()) if n_features is None else n_features
        sizes = certified_sizes(wanted, n_always, self._n_ranked - n_always)
        best = np.argsort(self.ranking_, kind="stable")
        best = best[~data.fixed.always[best]]
        supports = [best[:k] for k in sizes - n_always]
        problem = prepared.with_ridge(float(ridge))
        self.certificate_ = ridge_certificate(problem, sizes, n_always, supports)
        return self.certificate_

    def _work(self, data: TrainingData) -> float:
        """Newton steps by conjugate gradients, where there are many classes.

        No more columns are worked on at once than there are samples, or about that.
        """
        classes = data.target.classes
        if classes is None or len(classes) < MANY_CLASSES or data.design.is_on_device:
            return 0.0
        n_samples, n_features = data.design.shape
        return CG_PRODUCTS * n_samples * min(n_samples, n_features) * len(classes)

    def _check_certifiable(self) -> None:
        if prescribes_signs(self):
            raise ValueError(
                "LikelihoodL21Selector cannot prove anything about coefficients of prescribed "
                "signs; fit it without nonnegative"
            )
        if self.feature_groups is not None:
            raise ValueError(
                "LikelihoodL21Selector cannot prove anything about feature groups; fit it without "
                "feature_groups, or certify the groups of LikelihoodForwardSelector"
            )


class _Model(StrengthModel):
    """The penalised problem of some data, solved for any strengths."""

    solver: LikelihoodL21

    def __init__(self, selector: LikelihoodL21Selector, data: TrainingData) -> None:
        self.selector, self.prepared = selector, selector._problem(data)
        prepared = self.prepared
        choices = PenalisedChoices.from_selector(selector, data, prepared.design, prepared.constant)
        self.groups, self.constant = data.groups, choices.constant
        parts = prepared.design, prepared.loss, choices.columns, choices.weights, prepared.free
        self.equations = PenalisedLikelihood(*parts)
        self.solver = LikelihoodL21(selector.tol, selector.max_iter)
        if prescribes_signs(selector):
            signs = column_signs(selector, data, prepared.loss.n_outputs)
            self.equations = SignedProblem(*parts, signs=signs)
            self.solver = SignedLikelihood(selector.tol, selector.max_iter)

    def at_zero(self) -> np.ndarray:
        return self._nothing.correlation

    @cached_property
    def _nothing(self) -> GroupCoefficients:
        return self.solver.null(self.equations)

    def scores(self, result: Result[GroupCoefficients]) -> FeatureScores:
        found = result.solution
        return FeatureScores.by_norms(found.norms, found.correlation, self.constant, "lower alpha")

    def null_model(self) -> tuple[float, GroupCoefficients]:
        problem = self.equations
        return problem.loss.value(problem.free @ self._nothing.B), self._nothing

    def features(self, solution: GroupCoefficients) -> np.ndarray:
        return solution.features

    def coefficients(self, solution: GroupCoefficients) -> tuple[np.ndarray, np.ndarray]:
        return self.prepared.in_user_units(solution.features, solution.W, solution.B)
