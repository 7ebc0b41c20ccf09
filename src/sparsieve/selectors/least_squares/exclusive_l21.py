"""Exclusive l2,1: features that belong to some of the classes only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_choice, check_integer, check_real
from ...losses import SquaredLoss
from ...penalties import ExclusiveL21, row_norms
from ...solvers.least_squares.alm import ExclusiveALM
from ...solvers.least_squares.block_cd import BlockCD
from ...solvers.least_squares.problem import LegacyResult as Result
from ...solvers.least_squares.problem import Problem
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..preparation import Prepared

SOLVERS = ("block_cd", "alm")
ALPHA_SHARE = 0.3  # of the strength at which nothing is left
BETA_PER_SAMPLE = 0.001
# How often and how far to look for a wanted number of nonzeros.
SPARSITY_TRIALS, SPARSITY_RANGE = 40, 1e8


@dataclass(frozen=True)
class ClassHeatmap:
    """Which kept feature speaks for which class, ready to be drawn.

    Attributes
    ----------
    features : ndarray of shape (n_shown,)
        Kept features, those of the first class first, the strongest of a class first.
    names : list of str
        Their names.
    classes : ndarray of shape (n_outputs,)
        Class labels, or numbers of the outputs.
    values : ndarray of shape (n_outputs, n_shown)
        Coefficients of the standardised features.
    """

    features: np.ndarray
    names: list[str]
    classes: np.ndarray
    values: np.ndarray


class ExclusiveSelector(LinearSelector):
    """Base of the exclusive models: selections per class, and coefficients as a heat map."""

    def _strengths(self, problem: Prepared, weight: float) -> tuple[float, float]:
        """(alpha, beta) to solve for."""
        raise NotImplementedError

    def _solve(self, problem: Prepared, penalty, tol: float, W0=None) -> Result:
        raise NotImplementedError

    def _fit(self, data: TrainingData) -> FeatureScores:
        # No compression of the outputs: the l1 part is not invariant under rotations.
        problem = self._prepared(data, squared_loss=True, compress=False)
        alpha, beta = self._strengths(problem, data.total_weight)
        if self.target_sparsity is None:
            result = self._solve(problem, ExclusiveL21(alpha, beta), self.tol)
        else:
            wanted = self._wanted_nonzeros(data.fixed.n_open * problem.Y.shape[1])
            alpha, beta, result = self._match_sparsity(problem, alpha, beta, wanted)
        share_among_copies(problem.design, result.W)
        self._keep(result, alpha, beta, problem)
        norms = row_norms(result.W)
        pull = row_norms(problem.design.rmatmul(problem.Y - problem.design.matmul(result.W)))
        return FeatureScores(
            norms, n_kept=int((norms > 0).sum()), ties=pull, constant=problem.constant
        )

    def _keep(self, result: Result, alpha: float, beta: float, problem: Prepared) -> None:
        self._W = problem.units.completed(result.W)
        self.coef_, self.intercept_ = problem.units.coefficients(result.W)
        self.beta_ = beta
        self.objective_ = result.objective
        self.optimality_ = result.optimality / max(result.objective, np.finfo(float).tiny)
        self.n_iter_ = max(1, result.n_iter)
        self.history_ = result.history
        if not result.converged:
            self._warn_not_converged("a relative duality gap of", self.optimality_, self.tol)

    def _match_sparsity(self, problem: Prepared, alpha: float, beta: float, wanted: int):
        """Scale both strengths until about as many entries are nonzero as wanted."""
        low, high = 1.0 / SPARSITY_RANGE, SPARSITY_RANGE
        scale, best, W = 1.0, None, None
        closest = float("inf")
        for _ in range(SPARSITY_TRIALS):
            trial = ExclusiveL21(scale * alpha, scale * beta)
            result = self._solve(problem, trial, self.tol, W)
            W = result.W
            miss = int(np.count_nonzero(W)) - wanted
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
                    f"target_sparsity as a share must be at most 1, got {wanted!r}; pass an "
                    "integer to ask for a number of nonzeros"
                )

    # -- per class -----------------------------------------------------------------------

    def at(self, n_features, per_class=False):
        """Return this selection at another number of features, without refitting.

        Parameters
        ----------
        n_features : int, float or None
            A number, a fraction, or None for what the model itself keeps.
        per_class : bool, default=False
            Count features per class (per output): every class keeps those with its largest
            coefficients, as many as it has nonzero ones at most, and ``support_`` is their
            union.

        Returns
        -------
        selector : object of the same class
            A fitted copy that differs in ``support_`` and ``support_per_class_``.
        """
        check_is_fitted(self)
        other = super().at(n_features)
        if per_class:
            count = self._fixed.count(n_features, self._n_kept)
            other.support_per_class_ = self._largest_per_class(count)
            other.support_ = other.support_per_class_.any(axis=0)
        return other

    def _largest_per_class(self, count: int) -> np.ndarray:
        magnitudes = np.abs(self._W.T)
        sortable = np.where(self._fixed.always, np.inf, magnitudes)
        order = np.argsort(-sortable, axis=1, kind="stable")[:, :count]
        kept = np.zeros(magnitudes.shape, dtype=bool)
        np.put_along_axis(kept, order, True, axis=1)
        return kept & (magnitudes > 0)

    def _refit(self, n_selected: int) -> None:
        self.support_per_class_ = (self._W.T != 0) & self.support_

    @property
    def heatmap_(self) -> ClassHeatmap:
        """The kept features against the classes."""
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


class ExclusiveL21Selector(ExclusiveSelector):
    """Few features, and for every feature few of the classes.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2 + beta * sum_j ||w_j||_1^2``. The first
    penalty drops whole features; the second lets the classes compete for each feature that is
    left, so that it stays with those it helps most. What it is for is telling which feature
    belongs to which class (``support_per_class_``, ``heatmap_``); as a plain selector the
    accuracy of its features falls as ``beta`` grows.

    Parameters
    ----------
    alpha : float or None, default=None
        Strength of the penalty on row norms; None is 0.3 of the strength that keeps nothing.
    beta : float or None, default=None
        Strength of the exclusive penalty; None is 0.001 times the (weighted) number of samples.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with nonzero coefficients.
    solver : {"block_cd", "alm"}, default="block_cd"
        "block_cd" is block coordinate descent with the exact joint proximal map, working sets
        and Newton steps, stopped on the duality gap. "alm" is the augmented Lagrangian method
        as published, started from zero; it stops short of the optimum in general, and a
        ``ConvergenceWarning`` says so when its duality gap exceeds ``tol``.
    target_sparsity : int, float or None, default=None
        Wanted number of nonzero coefficients (or share of all): ``alpha`` and ``beta`` are then
        scaled together, only their ratio counts.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept (exact, by centring).
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=10000
        Largest number of sweeps, or of iterations of "alm".
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints the objective as it falls.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of the coefficients of the standardised problem.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    support_per_class_ : ndarray of shape (n_outputs, n_features)
        Which kept feature has a nonzero coefficient for which class.
    heatmap_ : ClassHeatmap
        The kept features against the classes, in an order worth drawing.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    alpha_, beta_ : float
        The strengths used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to it.
    n_iter_ : int
        Number of sweeps or iterations.
    history_ : list of float
        Objective after every round or iteration.

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

    def __init__(
        self,
        alpha=None,
        beta=None,
        n_features_to_select=None,
        *,
        solver="block_cd",
        target_sparsity=None,
        fit_intercept=True,
        standardize=True,
        max_iter=10_000,
        tol=1e-6,
        always_keep=None,
        never_keep=None,
        task="auto",
        class_weight=None,
        verbose=0,
    ):
        self.alpha = alpha
        self.beta = beta
        self.n_features_to_select = n_features_to_select
        self.solver = solver
        self.target_sparsity = target_sparsity
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.max_iter = max_iter
        self.tol = tol
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.task = task
        self.class_weight = class_weight
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)
        check_real("beta", self.beta, minimum=0, optional=True)

    def _strengths(self, problem: Prepared, weight: float) -> tuple[float, float]:
        alpha, beta = self.alpha, self.beta
        if alpha is None:
            correlation = 2.0 * problem.design.rmatmul(problem.Y)
            alpha = ALPHA_SHARE * ExclusiveL21(1.0, 0.0).critical_strength(correlation)
            alpha = max(alpha, np.finfo(float).tiny)
        return float(alpha), BETA_PER_SAMPLE * weight if beta is None else float(beta)

    def _solve(self, problem: Prepared, penalty, tol: float, W0=None) -> Result:
        equations = Problem(problem.design, problem.Y, SquaredLoss(), penalty)
        watch = print_progress if self.verbose else None
        if self.solver == "alm":
            result = ExclusiveALM(max_iter=self.max_iter).solve(equations, W0, watch)
            result.converged = result.optimality <= tol * result.objective
            return result
        return solve_to_relative_gap(equations, tol, self.max_iter, W0, watch)

    def _keep(self, result, alpha, beta, problem) -> None:
        super()._keep(result, alpha, beta, problem)
        self.alpha_ = alpha


def solve_to_relative_gap(equations: Problem, tol: float, max_iter: int, W0, watch) -> Result:
    """Block coordinate descent to a gap relative to the objective instead of to ||Y||^2."""
    power = float(np.vdot(equations.Y, equations.Y))
    result = BlockCD(tol=tol, max_iter=max_iter).solve(equations, W0, watch)
    small = tol * result.objective
    if result.optimality <= small or not result.converged or equations.design.dtype != np.float64:
        return result
    finer = BlockCD(tol=0.9 * small / power, max_iter=max_iter)
    again = finer.solve(equations, result.W, watch)
    again.n_iter += result.n_iter
    again.history = result.history + again.history
    again.converged = again.optimality <= small
    return again


def share_among_copies(design, W: np.ndarray) -> None:
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


def print_progress(info) -> None:
    """Print what a solver reports."""
    gap = f"  gap {info['optimality']:.3g}" if "optimality" in info else ""
    print(f"objective {info['objective']:.8g}{gap}")
