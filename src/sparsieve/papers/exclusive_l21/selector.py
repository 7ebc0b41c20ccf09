"""Exclusive l2,1: features that belong to some of the classes only."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_integer, check_real
from ..._saved import Bools, Floats, Maybe
from ...design import DesignMatrix
from ...penalties import ExclusiveL21, critical_strength
from ...selectors.base import Count, FeatureScores, TrainingData
from ...selectors.fitted import GAP
from ...selectors.least_squares.row_penalty import NORM_MEANING, row_norm_scores
from ...selectors.linear import LinearSelector
from ...selectors.preparation import Prepared
from ...selectors.settings import HasSolver, resolve_solver
from ...solvers.base import LeastSquares, Result, printer
from ...solvers.paths.block_cd import BlockCD
from ...solvers.published import ALM, BlockDescent
from ...solvers.settings import SolverSettings
from .dual_newton import ProximalDualNewton
from .published import ExclusiveALM

ALPHA_SHARE = 0.3  # of the strength at which nothing is left
BETA_PER_SAMPLE = 0.001
# How often and how far to look for a wanted number of nonzeros.
SPARSITY_TRIALS, SPARSITY_RANGE = 40, 1e8


@dataclass(frozen=True)
class ClassHeatmap:
    """Coefficients of the selected features for every class, ready to plot.

    Attributes
    ----------
    features : ndarray of shape (n_shown,)
        Selected features, sorted by class and then by size of the coefficient.
    names : list of str
        Their names.
    classes : ndarray of shape (n_outputs,)
        Class labels, or output numbers.
    values : ndarray of shape (n_outputs, n_shown)
        Coefficients of the standardised features.

    See Also
    --------
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.
    sparsieve.ExclusiveLassoSelector : Classes compete for every feature.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExclusiveL21Selector
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> heatmap = ExclusiveL21Selector(n_features_to_select=3).fit(X, y).heatmap_
    >>> heatmap.values.shape == (len(heatmap.classes), len(heatmap.names))
    True
    """

    features: np.ndarray
    names: list[str]
    classes: np.ndarray
    values: np.ndarray


@dataclass(eq=False, repr=False, kw_only=True)
class ExclusiveSelector(LinearSelector):
    """Base of the exclusive models: selections per class, and coefficients as a heat map."""

    beta: float | None = None
    target_sparsity: int | float | None = None
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    verbose: int = 0

    _accepts_external: ClassVar[bool] = True
    _invariant_to_rotations: ClassVar[bool] = False  # the l1 norms of the rows are not
    _score_meaning: ClassVar[str] = NORM_MEANING

    support_per_class_: Maybe[Annotated[Bools, "*", "features"]] = field(init=False)
    _W: Annotated[Floats, "features", "outputs"] = field(init=False)

    @abstractmethod
    def _strengths(self, problem: Prepared, weight: float) -> tuple[float, float]:
        """(alpha, beta) to solve for."""

    def _start(self, problem: LeastSquares) -> Result[Any] | None:
        """Where the solver starts; None is zero."""
        return None

    @abstractmethod
    def _solver(self, problem: LeastSquares) -> BlockCD | ExclusiveALM | ProximalDualNewton:
        """What solves this problem."""

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._make_problem(data, squared_loss=True)
        alpha, beta = self._strengths(problem, data.total_weight)
        if self.target_sparsity is None:
            result = self._solve(problem, ExclusiveL21(alpha, beta))
        else:
            wanted = self._wanted_nonzeros(data.fixed.n_open * problem.Y.shape[1])
            alpha, beta, result = self._match_sparsity(problem, alpha, beta, wanted)
        W = result.solution.W
        share_among_copies(problem.design, W)
        self._W = problem.units.add_covariates(W)
        self._keep_coefficients(*problem.units.coefficients(W))
        self.beta_: float = beta
        if hasattr(self, "alpha"):  # the exclusive lasso has none
            self.alpha_: float = alpha
        self._keep_result(result, measure=GAP)
        return row_norm_scores(result, problem, data.total_weight, remedy="lower the penalty")

    def _solve(
        self, prepared: Prepared, penalty: ExclusiveL21, start: Result[Any] | None = None
    ) -> Result[Any]:
        problem = LeastSquares(prepared.design, prepared.Y, penalty)
        start = self._start(problem) if start is None else start
        watch = printer(self.verbose, type(self).__name__)
        return self._solver(problem).solve(problem, start, watch)

    def _match_sparsity(self, problem: Prepared, alpha: float, beta: float, wanted: int):
        """Scale both strengths until about as many entries are nonzero as wanted."""
        low, high = 1.0 / SPARSITY_RANGE, SPARSITY_RANGE
        scale, best, result = 1.0, None, None
        closest = float("inf")
        for _ in range(SPARSITY_TRIALS):
            trial = ExclusiveL21(scale * alpha, scale * beta)
            result = self._solve(problem, trial, result)
            miss = int(np.count_nonzero(result.solution.W)) - wanted
            if abs(miss) < closest:
                best, closest = (trial.alpha, trial.beta, result), abs(miss)
            if miss == 0 or high / low < 1.0 + 1e-6:
                break
            low, high = (scale, high) if miss > 0 else (low, scale)
            # The first steps look for a bracket, the others halve it.
            if high == SPARSITY_RANGE or low == 1.0 / SPARSITY_RANGE:
                scale = min(max(scale * (4.0 if miss > 0 else 0.25), low), high)
            else:
                scale = float(np.sqrt(low * high))
        return best

    def _wanted_nonzeros(self, total: int) -> int:
        wanted = self.target_sparsity
        assert wanted is not None
        if isinstance(wanted, (int, np.integer)):
            if wanted > total:
                raise ValueError(
                    f"target_sparsity={wanted} is more than the {total} coefficients of the model"
                )
            return int(wanted)
        return max(1, round(float(wanted) * total))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        wanted = self.target_sparsity
        if isinstance(wanted, (int, np.integer)) and not isinstance(wanted, bool):
            check_integer("target_sparsity", wanted)
        else:
            check_real("target_sparsity", wanted, minimum=0, strict=True, optional=True)
            if wanted is not None and wanted > 1:
                raise ValueError(
                    f"target_sparsity as a fraction must be at most 1, got {wanted!r}; pass an "
                    "integer for a number of nonzero coefficients"
                )

    # -- per class -----------------------------------------------------------------------

    def at(self, n_features: Count, per_class: bool = False) -> Self:
        """Return this selection at another number of features, without refitting.

        Parameters
        ----------
        n_features : int, float or None
            A number, a fraction, or None for the number that the model itself keeps.
        per_class : bool, default=False
            Count features per class (or output): every class keeps the features with its largest
            nonzero coefficients, and ``support_`` is their union.

        Returns
        -------
        selector : object of the same class
            A fitted copy with another ``support_`` and ``support_per_class_``.
        """
        check_is_fitted(self)
        other = super().at(n_features)
        if per_class:
            count = self._fixed.count(n_features, self._n_kept)
            other.support_per_class_ = self._largest_per_class(count)
            other.support_ = np.asarray(other.support_per_class_.any(axis=0))
        return other

    def _largest_per_class(self, count: int) -> np.ndarray:
        magnitudes = np.abs(self._W.T)
        sortable = np.where(self._fixed.always, np.inf, magnitudes)
        order = np.argsort(-sortable, axis=1, kind="stable")[:, :count]
        kept = np.zeros(magnitudes.shape, dtype=bool)
        np.put_along_axis(kept, order, True, axis=1)
        return kept & (magnitudes > 0)

    def _refit(self, n_chosen: int) -> None:
        self.support_per_class_ = (self._W.T != 0) & self.support_

    @property
    def heatmap_(self) -> ClassHeatmap:
        """Coefficients of the selected features by class."""
        check_is_fitted(self)
        kept = np.flatnonzero(self.support_)
        values = self._W[kept].T * self.support_per_class_[:, kept]
        magnitudes = np.abs(values)
        owner = np.argmax(magnitudes, axis=0)
        order = np.lexsort((kept, -magnitudes.max(axis=0, initial=0.0), owner))
        kept, values = kept[order], values[:, order]
        names = getattr(self, "feature_names_in_", None)
        labels = [f"x{j}" for j in kept] if names is None else [str(names[j]) for j in kept]
        classes = getattr(self, "classes_", np.arange(len(values)))
        return ClassHeatmap(kept, labels, classes, values)


@dataclass(eq=False, repr=False, kw_only=True)
class ExclusiveL21Selector(HasSolver, ExclusiveSelector):
    """Few features, each used for few classes.

    In short: Few features in total, each used for few classes: finds markers of single classes in
    one model.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2 + beta * sum_j ||w_j||_1^2``. The first
    penalty drops whole features; the second makes the classes compete for each remaining feature,
    so that it is used for the classes it helps most. Use it to find out which features belong to
    which class (``support_per_class_``, ``heatmap_``); the accuracy of the selected features
    decreases as ``beta`` grows.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    alpha : float or None, default=None
        Strength of the row penalty. None means 0.3 times alpha_max, the smallest strength at which
        no feature is kept.
    beta : float or None, default=None
        Strength of the exclusive penalty. None is 0.001 times the (weighted) number of samples.
    solver : {"block_cd", "published"} or solver object, default="block_cd"
        "block_cd" is block coordinate descent with the exact joint proximal map, working sets and
        Newton steps, stopped on the duality gap. "published", or ``ALM(...)`` with settings, is the
        augmented Lagrangian method of the paper, started from zero; it usually stops before the
        optimum, and issues a ``ConvergenceWarning`` when its duality gap exceeds ``tol``.
    target_sparsity : int, float or None, default=None
        Desired number (or fraction) of nonzero coefficients. ``alpha`` and ``beta`` are then scaled
        together, so that only their ratio matters.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of sweeps, or of iterations of "published".
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
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
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        centred target.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero coefficients are ranked by the
        gradient of the loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    support_per_class_ : ndarray of shape (n_outputs, n_features)
        Mask of the selected features with a nonzero coefficient, for every class.
    heatmap_ : ClassHeatmap
        Coefficients of the selected features by class, sorted for plotting.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    alpha_, beta_ : float
        Penalty strengths used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to ``objective_``.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of sweeps or iterations.
    history_ : list of float
        Objective after every round or iteration.

    See Also
    --------
    sparsieve.ExclusiveLassoSelector : Classes compete for every feature.
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.

    References
    ----------
    D. Ming and C. Ding, "Robust flexible feature selection via exclusive L21 regularization",
    IJCAI 2019.

    Examples
    --------
    >>> from sparsieve import ExclusiveL21Selector
    >>> from sparsieve.datasets import make_class_exclusive
    >>> data = make_class_exclusive(random_state=0)
    >>> selector = ExclusiveL21Selector(beta=50.0).fit(data.X, data.y)
    >>> own = selector.at(5, per_class=True).support_per_class_
    >>> [sorted(set(data.relevant_per_class[k]) - set(own[k].nonzero()[0])) for k in range(4)]
    [[], [], [], []]
    """

    alpha: float | None = None
    solver: str | SolverSettings = "block_cd"

    _purposes: ClassVar[tuple[str, ...]] = ("panel", "markers")
    _solvers: ClassVar[Mapping[str, type[SolverSettings]]] = {
        "block_cd": BlockDescent,
        "published": ALM,
    }

    def _check_parameters(self) -> None:
        super()._check_parameters()
        resolve_solver(self.solver, self._solvers)
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)
        check_real("beta", self.beta, minimum=0, optional=True)

    def _strengths(self, problem: Prepared, weight: float) -> tuple[float, float]:
        alpha, beta = self.alpha, self.beta
        if alpha is None:
            largest = critical_strength(2.0 * problem.design.rmatmul(problem.Y))
            alpha = max(ALPHA_SHARE * largest, np.finfo(float).tiny)
        return float(alpha), BETA_PER_SAMPLE * weight if beta is None else float(beta)

    def _solver(self, problem: LeastSquares) -> BlockCD | ExclusiveALM:
        settings = resolve_solver(self.solver, self._solvers)
        if isinstance(settings, ALM):
            return alm(settings, tol=self.tol, max_iter=self.max_iter)
        return BlockCD(tol=self.tol, max_iter=self.max_iter)

    def _start(self, problem: LeastSquares) -> Result[Any] | None:
        settings = resolve_solver(self.solver, self._solvers)
        if isinstance(settings, ALM) and settings.init == "gaussian":
            shape = problem.design.shape[1], problem.Y.shape[1]
            return problem.make_result(
                np.random.default_rng(settings.random_state).standard_normal(shape)
            )
        return None


def alm(settings: ALM, *, tol: float, max_iter: int) -> ExclusiveALM:
    """The published solver with these settings."""
    return ExclusiveALM(
        growth=float(settings.rho),
        change=float(settings.epsilon_1),
        split=float(settings.epsilon_2),
        max_iter=max_iter,
        tol=tol,
        first=None if settings.nu is None else float(settings.nu),
    )


def share_among_copies(design: DesignMatrix, W: np.ndarray) -> None:
    """Give copies of a column the mean of their rows, in place.

    The objective does not notice permutations of copies, so by convexity the mean is never
    worse; without it the solver's last digits would decide between them.
    """
    lengths = design.column_sq_norms()
    norms, group, count = np.unique(lengths, return_inverse=True, return_counts=True)
    for g in np.flatnonzero((count > 1) & (norms > 0)):
        members = np.flatnonzero(group == g)
        columns = design.dense_columns(members)
        copies = members[(columns == columns[:, :1]).all(axis=0)]
        if len(copies) > 1 and W[copies].any():
            W[copies] = W[copies].mean(axis=0)
