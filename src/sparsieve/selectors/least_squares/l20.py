"""The l2,0 model: least squares with a price on every feature."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_integer, check_real
from ...penalties import row_norms
from ...solvers.least_squares.homotopy_iht import HomotopyIHT, starting_lam
from ..base import FeatureScores, TrainingData
from ..path import SelectionPath
from ..preparation import Prepared
from ..row_norms.base import RobustSelector
from ..row_norms.base import SupportModel as RobustSupportModel
from .ending import noise_rule, price_rule
from .l20_search import robust_supports, squared_supports
from .support_models import (
    RobustModel,
    SquaredModel,
    SupportModel,
    SupportOrder,
    SupportSolution,
)

LOSSES = ("squared", "l21")
SOLVERS = ("greedy", "hiht", "ahiht")
INITS = ("zero", "gaussian", "uniform")
# Ridge relative to the number of samples, for feature sets that predict well.
RIDGE = 1.0
# Without `lam` the homotopy ends at this share of where it starts; when more features are asked
# for than that keeps, it goes on down to the second share.
LAM_SHARE, LOWEST_SHARE = 1e-3, 1e-6
# l2,1 loss: what is kept when nothing is asked for, and iterations of the fit on a support.
ROBUST_COUNT, ROBUST_ITERATIONS = 10, 200


class L20Selector(RobustSelector):
    """Few features that explain the target best, priced one by one.

    The model is ``1/2 ||XW - Y||^2 + lam * (number of nonzero rows of W)``, plus
    ``ridge * n / 2 * ||W||^2`` where a ridge is asked for.

    ``solver="greedy"`` adds the best feature again and again, exchanges selected features for
    better ones as long as that lowers the objective, and walks back down the same way; the best
    support of every size is kept. One run serves every number of features (:meth:`at`) and
    every ``lam``. Up to 32 features it also exchanges two for two, which finds the best of all
    supports nearly always; on larger problems the number of exchanges is bounded by ``swaps``.
    The search is at least as good as forward selection at every size: with ``swaps=0`` it *is*
    forward selection, and with the default ridge it is the search of
    :class:`RidgeForwardSelector` with exchanges but without that selector's clipping and class
    balance.

    ``solver="hiht"`` and ``solver="ahiht"`` are homotopy iterative hard thresholding, plain and
    accelerated, as published by Sun and Yu. They rank features by the row norms of one W.

    ``loss="l21"`` replaces the squared loss by the sum of residual norms, which outliers do not
    dominate: ``sum_i ||x_i W + b - y_i|| + lam * (number of nonzero rows of W)``. It has the
    greedy solver only, whose supports are searched with the reweighted problem and whose
    coefficients are then solved to a duality gap.

    Parameters
    ----------
    lam : float or None, default=None
        Price of a feature in the objective. Give this or ``n_features_to_select``. With neither,
        the greedy solver keeps adding features as long as each explains more than the best of
        as many columns of noise would be expected to, and the homotopy ends at 0.001 of the
        price at which it starts; the l2,1 loss keeps ten.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep.
    loss : {"squared", "l21"}, default="squared"
        See above.
    solver : {"greedy", "hiht", "ahiht"}, default="greedy"
        See above.
    ridge : float or "auto", default="auto"
        Ridge relative to the (weighted) number of samples; 0 is the exact l2,0 problem. "auto"
        is 1 for the greedy solver, because the better optimum of the bare problem is not the
        better feature set, and 0 for the homotopy, as published, and for the l2,1 loss.
    swaps : int or "auto", default="auto"
        Greedy solver: largest number of exchanges between two changes of the size; each doubles
        as a wider search, over the ``4 * swaps`` features that are cheapest to drop. "auto" is
        1. Problems of up to 32 features are always searched thoroughly, unless this is 0.
        The l2,1 loss has exchanges of its own.
    init : {"zero", "gaussian", "uniform"}, default="zero"
        Homotopy: initial W. The random ones have entries of order ``1 / sqrt(n_features)``, so
        that predictions are of order one.
    L_0 : float or "auto", default="auto"
        Homotopy: initial step constant. "auto" is 1 for "hiht" and the square of the spectral
        norm of X for "ahiht". The result depends on it.
    lambda_0 : float or "auto", default="auto"
        Homotopy: where the price starts; "auto" is where the first feature enters.
    eta : float, default=1e-3
        Homotopy: coefficient of the sufficient decrease.
    growth : float, default=2.0
        Homotopy: factor on the step constant when a step is refused.
    rho : float, default=0.9
        Homotopy: factor on the price from one stage to the next.
    max_iter : int, default=10000
        Homotopy: largest number of steps.
    tol : float, default=1e-6
        Homotopy: a stage of "hiht" ends when L ||dW||^2 is at most this share of the objective.
        l2,1 loss: relative duality gap of the coefficients.
    fit_intercept : bool, default=True
        Centre X and Y: the exact unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance. Constant columns are left alone.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    random_state : int, RandomState instance or None, default=None
        Seed of the random initialisations.
    verbose : int, default=0
        1 prints every step.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Greedy: for selected features the objective at the size before their place in the
        support, for the others what they would gain next. Homotopy: row norms of W.
    ranking_ : ndarray of shape (n_features,)
        The selected features come first. Supports of different sizes need not be nested: the
        ranking belongs to the number of features kept, and ``at`` returns one for its own.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    path_ : SelectionPath
        The support of every size and, for the greedy solver, its objective.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients on the kept features in the units of X: the least squares (or ridge) fit on
        them. The homotopy gives its own W at the number of features it keeps itself.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    lam_ : float
        Price of a feature that was used; 0 where none was.
    objective_ : float
        Value of the model at ``coef_`` on the standardised data, the price included.
    optimality_ : float
        Homotopy: the last L ||dW||^2 relative to the objective. Greedy: how well the fit on the
        support is solved, 0 for the squared loss and a relative duality gap for the l2,1 loss;
        nothing certifies the support itself.
    n_iter_ : int
        Steps of the homotopy, or length of the path.
    history_ : list of float
        Objective after every step of the homotopy; for the greedy solver that of every size.

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

    def __init__(
        self,
        lam=None,
        n_features_to_select=None,
        *,
        loss="squared",
        solver="greedy",
        ridge="auto",
        swaps="auto",
        init="zero",
        L_0="auto",
        lambda_0="auto",
        eta=1e-3,
        growth=2.0,
        rho=0.9,
        max_iter=10_000,
        tol=1e-6,
        fit_intercept=True,
        standardize=True,
        always_keep=None,
        never_keep=None,
        task="auto",
        class_weight=None,
        random_state=None,
        verbose=0,
    ):
        self.lam = lam
        self.n_features_to_select = n_features_to_select
        self.loss = loss
        self.solver = solver
        self.ridge = ridge
        self.swaps = swaps
        self.init = init
        self.L_0 = L_0
        self.lambda_0 = lambda_0
        self.eta = eta
        self.growth = growth
        self.rho = rho
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.task = task
        self.class_weight = class_weight
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("loss", self.loss, LOSSES)
        check_choice("solver", self.solver, SOLVERS)
        if self.loss == "l21":
            self._check_robust()
        check_choice("init", self.init, INITS)
        check_real("lam", self.lam, minimum=0, strict=True, optional=True)
        if self.lam is not None and self.n_features_to_select is not None:
            raise ValueError(
                "lam and n_features_to_select both say how many features to keep; give one of them "
                "and call at(k) for another number"
            )
        if not _is_auto(self.ridge):
            check_real("ridge", self.ridge, minimum=0)
        if not _is_auto(self.swaps):
            check_integer("swaps", self.swaps, minimum=0)
        if self.solver == "greedy" and self.init != "zero":
            raise ValueError(
                f'init={self.init!r} is for solver="hiht" and "ahiht"; the greedy solver starts '
                "from no features"
            )
        for name in ("L_0", "lambda_0"):
            if not _is_auto(getattr(self, name)):
                check_real(name, getattr(self, name), minimum=0, strict=True)
        check_real("eta", self.eta, minimum=0, strict=True)
        check_real("growth", self.growth, minimum=1)
        check_real("rho", self.rho, minimum=0, strict=True)
        if self.growth <= 1:
            raise ValueError(f"growth must be greater than 1, got {self.growth!r}")
        if self.rho >= 1:
            raise ValueError(f"rho must be less than 1, got {self.rho!r}")

    def _check_robust(self) -> None:
        if self.solver != "greedy":
            raise ValueError(f'loss="l21" needs solver="greedy", got solver={self.solver!r}')
        if not _is_auto(self.swaps):
            raise ValueError('swaps is for loss="squared"; loss="l21" has exchanges of its own')
        if not _is_auto(self.ridge) and self.ridge != 0:
            raise ValueError(
                f'ridge={self.ridge!r} is for loss="squared"; use RobustL20Selector(gamma=...) for '
                "a regularised model with an l2,1 loss"
            )

    def _fit(self, data: TrainingData) -> FeatureScores:
        # What the homotopy itself ends with, where the fit on a support is not asked for.
        self._own: SupportSolution | None = None
        self._order: SupportOrder | None = None
        self.lam_ = 0.0 if self.lam is None else float(self.lam)
        if self.loss == "l21":
            return self._fit_robust(data)
        problem = self._prepared(data, squared_loss=True)
        auto = RIDGE if self.solver == "greedy" else 0.0
        ridge = (auto if _is_auto(self.ridge) else float(self.ridge)) * data.total_weight
        fit = self._fit_greedy if self.solver == "greedy" else self._fit_homotopy
        found = fit(data, problem, ridge)
        self._model: SupportModel = SquaredModel.of(problem, self._union(), ridge)
        return found

    # -- greedy --------------------------------------------------------------------------

    def _fit_greedy(self, data: TrainingData, problem: Prepared, ridge: float):
        stop, n_open = None, data.fixed.n_open
        if self.lam is not None:
            stop = price_rule(float(self.lam), float(np.vdot(problem.Y, problem.Y)))
        elif self.n_features_to_select is None:
            stop = noise_rule(n_open, problem.Y.shape[1], ridge + data.total_weight)
        order = squared_supports(
            problem,
            ridge=ridge,
            n_steps=self._n_own(data, n_open),
            stop=stop,
            n_swaps=1 if _is_auto(self.swaps) else int(self.swaps),
            verbose=self.verbose,
        )
        return self._keep_path(order)

    def _fit_robust(self, data: TrainingData) -> FeatureScores:
        problem = self._robust_problem(data)
        order = robust_supports(
            problem,
            count=self._n_own(data, ROBUST_COUNT),
            lam=None if self.lam is None else self.lam_,
            verbose=self.verbose,
        )
        found = self._keep_path(order)
        self._model = RobustModel(
            RobustSupportModel.of(problem, self._union(), 0.0, self.tol, ROBUST_ITERATIONS)
        )
        return found

    def _keep_path(self, order: SupportOrder) -> FeatureScores:
        """Keep the supports of all sizes and say how many features the model itself keeps."""
        self._order, self.path_ = order, order.path
        objectives = np.asarray(order.path.objective)
        self.history_ = objectives.tolist()
        self.n_iter_ = max(1, len(order.path))
        count = len(order.path)
        if self.lam is not None:
            count = int(np.argmin(objectives + self.lam_ * np.arange(len(objectives))))
        return FeatureScores(order.scores(count), n_kept=count, constant=order.constant)

    # -- homotopy ------------------------------------------------------------------------

    def _fit_homotopy(self, data: TrainingData, problem: Prepared, ridge: float):
        design, Y = problem.design, problem.Y
        correlation = design.rmatmul(Y)
        constant = self._first_constant(design, ridge)
        start = starting_lam(correlation, constant)
        first = start if _is_auto(self.lambda_0) else float(self.lambda_0)
        if self.lam is None:
            self.lam_ = LAM_SHARE * first
        solver = HomotopyIHT(
            lam=max(self.lam_, np.finfo(np.float64).tiny),
            accelerated=self.solver == "ahiht",
            ridge=ridge,
            first_constant=constant,
            first_lam=first,
            sufficient=float(self.eta),
            growth=float(self.growth),
            decay=float(self.rho),
            tol=float(self.tol),
            max_iter=self.max_iter,
            wanted_rows=min(self._n_own(data, 0), int((~problem.constant).sum())),
            lowest_lam=LOWEST_SHARE * first,
        )
        outcome = solver.solve(design, Y, self._initial(problem), _watch if self.verbose else None)
        result = outcome.result
        if not result.converged:
            self._warn_not_converged("relative squared step", result.optimality, self.tol)
        self.lam_ = min(self.lam_, outcome.lam)
        self.history_ = result.history
        self.n_iter_ = max(1, result.n_iter)
        scores = row_norms(result.W)
        found = FeatureScores(
            scores,
            n_kept=int((scores > 0).sum()),
            ties=outcome.gradient_norms,
            constant=problem.constant,
        )
        order = np.argsort(found.ranking(), kind="stable")[: int((scores > 0).sum())]
        self.path_ = SelectionPath(order, strength=outcome.entered[order])
        coef, intercept = problem.units.coefficients(result.W)
        value = result.objective - outcome.lam * len(order)
        self._own = SupportSolution(coef, intercept, value, result.optimality)
        return found

    def _first_constant(self, design, ridge: float) -> float:
        if not _is_auto(self.L_0):
            return float(self.L_0)
        if self.solver == "hiht":
            return 1.0
        # The estimate approaches the norm from below.
        return (1.0 + 1e-3) * design.spectral_norm(rng=0) ** 2 + ridge

    def _initial(self, problem: Prepared):
        if self.init == "zero":
            return None
        rng = check_random_state(self.random_state)
        usable = ~problem.constant
        shape = int(usable.sum()), problem.Y.shape[1]
        W = np.zeros((len(usable), shape[1]))
        W[usable] = (
            rng.standard_normal(shape) if self.init == "gaussian" else rng.uniform(-1, 1, shape)
        )
        return W / np.sqrt(max(shape[0], 1))

    # -- supports ------------------------------------------------------------------------

    def reaching(self, n_features):
        """Return an unfitted copy whose fit goes so far; with a price, as far as that goes."""
        return super().reaching(n_features) if self.lam is None else clone(self)

    def _union(self) -> np.ndarray:
        """All features that are in a support of some size."""
        supports = self.path_.supports
        return self.path_.features if supports is None else np.unique(np.concatenate(supports))

    def _set_support(self) -> None:
        if self._order is not None:
            wanted = self._fixed.count(self.n_features_to_select, self._n_kept)
            count = wanted - self._fixed.n_always
            self._set_ranking(self._order.scores(count), self._order.ranking(count))
        super()._set_support()

    def _refit(self, n_chosen: int) -> None:
        support = self.path_.support(n_chosen)
        solution = self._own
        if solution is None or len(support) < len(self.path_):
            solution = self._model.fit(support)
        self.coef_, self.intercept_ = solution.coef, solution.intercept
        self.objective_ = solution.value + self.lam_ * len(support)
        self.optimality_ = solution.optimality


def _is_auto(value) -> bool:
    return isinstance(value, str) and value == "auto"


def _watch(info) -> None:
    print(f"lam {info['lam']:.4g}: {info['n_active']} rows, objective {info['objective']:.6g}")
