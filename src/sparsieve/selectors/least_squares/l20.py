"""The l2,0 model: least squares with a price on every feature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from ..._checks import check_real
from ..._saved import Maybe
from ..._wings import load_entry
from ...solvers.base import Path, printer
from ...solvers.settings import AHIHT, HIHT, ExactSearch, Greedy, SolverSettings
from ..base import Columns, Count, FeatureScores, RandomState, TrainingData
from ..groups import prescribes_signs
from ..linear import LinearSelector
from ..near_copies import make_redundancy, one_of_each
from ..preparation import Prepared
from ..settings import HasSolver, check_price, resolve_solver, warn_of_no_feature
from .certificate import Certifiable
from .l20_exact import Proof, exact_supports
from .l20_greedy import GreedySearch, GroupGreedySearch, GroupSupportsBySize, SupportsBySize
from .support_fit import (
    LEAST_RIDGE,
    SupportFit,
    SupportLeastSquares,
    fading_ridge,
    price_rule,
    signal_rule,
)

# With all columns, that a search with exchanges takes for every feature, about.
PRODUCTS_PER_STEP = 4


@dataclass(eq=False, repr=False, kw_only=True)
class L20Selector(HasSolver, Certifiable, LinearSelector):
    """Least squares with a penalty on, or limit to, the number of features (best subset selection).

    In short: Searches for the best set of features: forward selection, then swaps that improve the
    fit.

    The model is ``1/2 ||XW - Y||^2 + lam * (number of nonzero rows of W)``, plus ``ridge * n / 2 *
    ||W||^2`` if ``ridge`` is not 0.

    ``solver="greedy"`` adds the best feature at every step, swaps selected features for better ones
    as long as that lowers the objective, and removes features in the same way; the best set of
    every size is kept. One run covers every number of features (:meth:`at`) and every ``lam``. With
    up to 32 features it also swaps pairs, which nearly always finds the best set; on larger
    problems the number of swaps is limited, see :class:`Greedy`. The result is at least as good as
    forward selection for every number of features: ``Greedy(swaps=0)`` *is* forward selection, and
    with the default ridge the search is that of :class:`RidgeForwardSelector` plus swaps, without
    its clipping and class balance.

    ``solver="exact"`` continues with branch and bound until the set of every size is proven to be
    the best, or the time limit is reached (:class:`ExactSearch`). With ``max_correlation`` it
    searches, and the proof ranges over, all sets of the features that are left when of near copies
    only the one most correlated with the target may be chosen. ``optimality_`` is then the
    proven gap, rounding errors included: no set of that size (with ``lam``, of any size) has an
    objective lower by more than this fraction; 0 means that none is better. The proof concerns the
    training objective, not accuracy. :meth:`certify` bounds the gap of the greedy solution at a
    fraction of the cost.

    ``solver="published"`` is accelerated homotopy iterative hard thresholding (:class:`AHIHT`), as
    published by Sun and Yu, and ``solver="hiht"`` their method without the acceleration. They rank
    features by the row norms of W.

    For the same penalty with a loss robust to outliers, use ``RobustL20Selector(alpha=0,
    lam=...)``.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. Give either this or ``lam``. With neither, the
        greedy solver continues while the remaining features together explain more of the residual
        than noise would, and the next one explains at least 0.2 % of the target; the homotopy ends
        at 0.001 times the penalty at which the first feature enters.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    nonnegative : bool, list of int or str, or mask, default=False
        Columns whose coefficients must not be negative; True means all of them. With two classes
        they speak for the second one. A feature that loses its weight to others keeps its place.
        Covariates of ``always_keep`` may have any sign. Not for several columns of y, more than two
        classes, or ``feature_groups``, without proofs, and with ``solver="greedy"`` only.
    lam : float or None, default=None
        Penalty per selected feature in the objective. None uses the number of features instead. If
        the penalty is too large for any feature, ``coef_`` is zero and ``objective_`` that of the
        intercept alone. ``support_`` then still contains the best-ranked feature, because a
        selector keeps at least one, and a warning says so.
    ridge : float or "auto", default="auto"
        Ridge relative to the (weighted) number of samples. 0 is the exact l2,0 problem. "auto"
        is that of :class:`RidgeForwardSelector` for the greedy and the exact solver, because
        features chosen with a ridge generalise better, and 0 for the homotopy, as published.
    solver : {"greedy", "exact", "published", "hiht"} or an object, default="greedy"
        A name, or an object with settings: :class:`Greedy`, :class:`ExactSearch`, :class:`HIHT`,
        :class:`AHIHT`.
    max_iter : int, default=10000
        Homotopy: maximum number of steps.
    tol : float, default=1e-6
        Homotopy: a stage of "hiht" ends when L ||dW||^2 is at most this fraction of the objective.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator; an int makes results reproducible.
    verbose : int, default=0
        1 prints a line per iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap: a column of several kept groups
        is in the model once. ``n_features_to_select`` then counts groups. The homotopy does not
        take groups.
    group_costs : dict or array-like of shape (n_groups,), default=None
        Cost of every group, by name or in the order of ``group_names_``: a group adds ``lam *
        cost`` to the objective, whether ``lam`` or ``n_features_to_select`` says how many to keep.
        None charges a group what the best of as many groups of noise would gain, relative to a
        single column, so that large groups win no more often than small ones. With equal costs the
        groups that fit best are kept, however large they are. Without ``lam``, a cost of 1 is what
        the best single column of noise would gain. For costs of single features pass
        ``feature_groups=range(n_features)``.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Greedy: fraction of the target that the feature explains when it is added, ``(1 + ridge) *
        gain / ||Y||^2``, with the selected features in the order of forward selection. 1 for a copy
        of a single target, about 1/n for noise. For features that were not selected, the fraction
        they would explain if added next. Homotopy: norm of the feature's standardised coefficients,
        relative to the root mean square of the target; 0 if not selected.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Greedy: the selected features come first, in the
        order of forward selection among them. The best sets of different sizes need not be nested:
        ``at`` with fewer features returns the set found for that number, with its own scores and
        ranking.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    path_ : sparsieve.solvers.base.Path
        Greedy: the set of every size and its objective without the penalty. Homotopy: the features
        with nonzero coefficients, largest first, and the penalty at which each entered.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X: the least squares (or ridge) fit on the selected features.
        The homotopy gives its own W for the number of features that it selects itself.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    lam_ : float
        Penalty per feature that was used; 0 if none was. With ``feature_groups``, the penalty per
        unit of cost, given or estimated.
    objective_ : float
        Objective at ``coef_`` on the standardised data, including the penalty.
    optimality_ : float
        HIHT: the last L ||dW||^2 relative to the objective, or the remaining relative decrease of
        the penalty if that is larger. AHIHT: this decrease, 0 at the end. Where the homotopy ends
        without a feature: by what share of the objective one feature alone would lower it. Greedy:
        0, because the fit on the selected features is exact (use :meth:`certify` to check the
        choice of features). Exact: the proven gap relative to the objective (or to machine
        precision times ``||Y||^2`` if the objective is smaller); 0 if no other set is better.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of steps of the homotopy, or length of the path.
    history_ : list of float
        Objective after every step of the homotopy, including the penalty; for the greedy solver the
        objective for every number of features, without it.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.
    sparsieve.RobustL20Selector : Robust regression with few features.

    References
    ----------
    Z. Sun and Y. Yu, "Robust multi-class feature selection via l2,0-norm regularization
    minimization".

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L20Selector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = L20Selector(n_features_to_select=5).fit(X, y)
    >>> selector.transform(X).shape
    (569, 5)
    >>> int(selector.at(3).support_.sum())
    3
    """

    nonnegative: bool | Columns = False
    lam: float | None = None
    ridge: float | str = "auto"
    solver: str | SolverSettings = "greedy"
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    random_state: RandomState = None
    verbose: int = 0
    feature_groups: Any = None
    group_costs: Any = None

    _accepts_external: ClassVar[bool] = True
    _solvers: ClassVar[Mapping[str, type[SolverSettings]]] = {
        "exact": ExactSearch,
        "greedy": Greedy,
        "published": AHIHT,
        "hiht": HIHT,
    }

    lam_: float = field(init=False)
    path_: Path = field(init=False)
    # What the homotopy itself ends with, where the fit on a support is not asked for.
    _own: SupportFit | None = field(init=False)
    _by_size: Annotated[SupportsBySize, "features"] | None = field(init=False)
    _model: Annotated[SupportLeastSquares, "features"] = field(init=False)
    _gap: Maybe[float] = field(init=False)

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if isinstance(resolve_solver(self.solver, self._solvers), HIHT):
            return (
                "Size of the feature's standardised coefficients, 0 if it is not selected; "
                "coefficients depend on the other features, so compare only within one fit."
            )
        return (
            "Fraction of the target that the feature explains when it is added; for features "
            "that were not selected, the fraction they would explain if added next."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        resolve_solver(self.solver, self._solvers)
        check_price(self)
        check_real("ridge", self.ridge, minimum=0, auto=True)
        if self.group_costs is not None and self.feature_groups is None:
            raise ValueError(
                "group_costs needs feature_groups; for a cost of every single feature, pass "
                "feature_groups=range(n_features)"
            )
        settings = resolve_solver(self.solver, self._solvers)
        if prescribes_signs(self) and not isinstance(settings, Greedy):
            raise ValueError(
                f'nonnegative needs solver="greedy" (or Greedy(...)), got solver={self.solver!r}'
            )
        if prescribes_signs(self) and self.group_costs is not None:
            raise ValueError(
                "L20Selector cannot prescribe the signs of coefficients in feature_groups; leave "
                "nonnegative or feature_groups and group_costs out"
            )
        if self.feature_groups is not None and isinstance(settings, HIHT):
            raise ValueError(
                f'solver={self.solver!r} cannot keep feature groups together; use solver="greedy" '
                'or solver="exact"'
            )

    def reaching(self, n_features: Count) -> L20Selector:
        """Return an unfitted copy that will rank this many features, or those ``lam`` allows."""
        return super().reaching(n_features) if self.lam is None else clone(self)

    def _fit(self, data: TrainingData) -> FeatureScores:
        self._own = self._by_size = None
        self.lam_ = 0.0 if self.lam is None else float(self.lam)
        self._interrupted = False
        problem = self._search_problem(data)[0]
        settings = resolve_solver(self.solver, self._solvers)
        n_steps, is_exact = self._n_own(data, data.choices.n_open), self._is_exact()
        passed_over = None
        if is_exact and self.max_correlation is not None:
            data, passed_over = one_of_each(self.max_correlation, data, problem)
            problem = self._search_problem(data)[0]
            n_steps = min(n_steps, data.choices.n_open)
        self._remember(data, problem, exact=is_exact)
        if isinstance(settings, HIHT):
            fit_homotopy = load_entry("sparsieve.solvers", type(settings).__name__)
            return fit_homotopy(self, settings, data, problem)
        return self._fit_supports(settings, data, problem, n_steps, passed_over)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the best set of features of every size.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a 0/1 indicator matrix, or real-valued targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the loss; a weight of 2 counts like two copies of the sample.

        Returns
        -------
        self : object
            The fitted selector. Ctrl-C during the exact search leaves it fitted with the best sets
            found so far, and then raises KeyboardInterrupt.
        """
        super().fit(X, y, sample_weight)
        if self._interrupted:
            raise KeyboardInterrupt
        return self

    def _relative_ridge(self, data: TrainingData) -> float:
        if self._lacks_ridge:
            return 0.0
        return fading_ridge(data) if isinstance(self.ridge, str) else float(self.ridge)

    @property
    def _lacks_ridge(self) -> bool:
        if not isinstance(self.ridge, str):
            return self.ridge == 0
        return isinstance(resolve_solver(self.solver, self._solvers), HIHT)

    def _is_exact(self) -> bool:
        return isinstance(resolve_solver(self.solver, self._solvers), ExactSearch)

    def _search_problem(self, data: TrainingData, **options: Any) -> tuple[Prepared, float]:
        ridge = self._relative_ridge(data)
        n_steps = self._n_own(data, data.choices.n_open)
        options["n_products"] = PRODUCTS_PER_STEP * n_steps if ridge >= LEAST_RIDGE else 0
        problem = self._make_problem(data, squared_loss=True, **options)
        return problem, ridge * data.total_weight

    def _fit_supports(
        self,
        settings: SolverSettings,
        data: TrainingData,
        problem: Prepared,
        n_steps: int,
        passed_over: dict[int, dict[int, float]] | None,
    ) -> FeatureScores:
        stop, n_open = None, data.choices.n_open
        if self.lam is not None:
            stop = price_rule(self.lam_, float(np.vdot(problem.Y, problem.Y)))
        elif self.n_features_to_select is None:
            stop = signal_rule(n_open, problem.Y, data.total_weight, self._relative_ridge(data))
        callback, passing = printer(self.verbose, type(self).__name__), None
        if passed_over is None and (
            passing := make_redundancy(self.max_correlation, data, problem)
        ):
            passed_over = passing.found
        single = data.groups is None or (data.groups.are_single and self.group_costs is None)
        kind = GreedySearch if single or prescribes_signs(self) else GroupGreedySearch
        search = kind(self, data, problem, passing)
        exact = None
        if isinstance(settings, ExactSearch):
            limit, proof = float(settings.time_limit), self._proof(data)
            exact = exact_supports(search, proof, n_steps, stop, limit, callback)
            self._by_size, self._interrupted = exact.supports, exact.interrupted
        else:
            assert isinstance(settings, Greedy)
            result = search.supports(n_steps, stop, int(settings.swaps), callback)
            self._by_size = result.solution
        self._model, self.path_ = self._by_size.model, self._by_size.path
        if isinstance(self._by_size, GroupSupportsBySize):
            self.path_, self.lam_ = self._by_size.path_of_columns(), self._by_size.lam
        count = self._n_worth()
        if count == data.choices.n_always == 0 and self.lam is not None:
            warn_of_no_feature(self.lam_, data.choices.unit)
        if exact is not None:
            result, remedy = exact.result(count, self.tol)
            self._gap = result.optimality
            self._keep_result(result, measure="a proven gap of", remedy=remedy)
        else:
            self._keep_result(result)
        found = self._by_size.scores_by_size(len(self.path_))
        beyond = "their correlation with the target" if prescribes_signs(self) else ""
        return replace(found, n_kept=count, passed_over=passed_over, beyond=beyond)

    def _n_worth(self) -> int:
        """How many features the model uses where no number is asked for."""
        if self.lam is None:
            return len(self.path_)
        return int(np.argmin(np.asarray(self.path_.objective) + self._penalties()))

    def _penalties(self) -> np.ndarray:
        """What the features of every size cost."""
        if self._by_size is None:
            return self.lam_ * np.arange(len(self.path_) + 1)
        return self._by_size.penalties(self.lam_)

    def _model_support(self, n_chosen: int) -> np.ndarray:
        if self._by_size is None:
            return super()._model_support(n_chosen)
        return self._by_size.path.supports[n_chosen]  # sets of different sizes need not be nested

    def _proof(self, data: TrainingData) -> Proof:
        proof = super()._proof(data)
        if self._by_size is None:
            return proof
        return replace(proof, prices=self._by_size.charges(self.lam_))

    def _set_support(self) -> None:
        if self._by_size is not None:
            wanted = self._choices.count(self.n_features_to_select, self._n_kept)
            found = self._by_size.scores_by_size(wanted - self._choices.n_always)
            if not self._has_ranking(found):
                self._set_ranking(found.scores, found.ranking())
        super()._set_support()

    def _has_ranking(self, found: FeatureScores) -> bool:
        """Whether the ranking at hand is this one: a fit has just made that of its longest path."""
        if vars(self).get("_passed_over") or "_feature_groups" in vars(self) or found.order is None:
            return False
        places = np.arange(1, len(found.order) + 1)
        return np.array_equal(self.ranking_[found.order], places) and np.array_equal(
            self.scores_, found.scores
        )

    def _refit(self, n_chosen: int) -> None:
        # No feature may be worth its price: the one that is kept then is not part of the model.
        by_price = self.lam is not None and self.n_features_to_select is None
        by_price = by_price and self._by_size is not None
        count = self._n_worth() if by_price else n_chosen
        size = min(count, len(self.path_))
        solution = self._own
        if solution is None or size < len(self.path_):
            by_size, support = self._by_size, self.path_.supports[size]
            if by_size is not None:
                support = by_size.columns(by_size.path.supports[size])
            solution = self._model.fit(support)
        self._keep_coefficients(solution.coef, solution.intercept)
        self.objective_: float = solution.value + float(self._penalties()[size])
        self.optimality_: float = solution.optimality
        if self.path_.optimality is not None:
            self.optimality_ = float(self.path_.optimality[size])
            if by_price and hasattr(self, "_gap"):  # files of earlier versions have none
                self.optimality_ = self._gap
            self.converged_: bool = bool(self.optimality_ <= self.tol)
