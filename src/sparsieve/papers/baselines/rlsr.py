"""Rescaled linear regression, with or without unlabelled samples.

The optimality conditions of ||XW - Y||^2 + alpha t(W)^2 with t(W) = sum_j ||w_j|| are those of
the l2,1 problem of strength 2 alpha t(W). The norm t of the l2,1 solution falls as its strength
grows, so the strength that reproduces itself is the only root of an increasing function. It is
bracketed and found by secant steps, each l2,1 problem starting from the last; the duality gap of
the squared problem itself says when to stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..._checks import check_choice, check_flag, check_real
from ...penalties import L21, SquaredL21, critical_strength, row_norms
from ...selectors.base import FeatureScores, TrainingData
from ...selectors.fitted import GAP
from ...selectors.least_squares.row_penalty import NORM_MEANING, row_norm_scores
from ...selectors.linear import LinearSelector
from ...selectors.preparation import Prepared
from ...solvers.base import Callback, Event, FewRows, LeastSquares, Result, Rows, printer, relative
from ...solvers.paths.block_cd import BlockCD
from ...validation.target import Target
from .solvers.published_rlsr import PublishedAlternation

SOLVERS = ("root", "published")
ALPHA_PER_SAMPLE = 0.1
UNLABELLED = -1
# Labels and coefficients are solved for in turn until the objective settles to this share.
LABEL_ROUNDS, LABEL_CHANGE = 200, 1e-6


@dataclass(eq=False, repr=False, kw_only=True)
class RLSRSelector(LinearSelector):
    """Rescaled least squares: features share a common weight budget.

    In short: Least squares in which all features share a weight budget; features with the largest
    share are kept.

    Minimises ``||XW - Y||^2 + alpha * (sum_j ||w_j||_2)^2``, the rescaled regression with the scale
    factors theta_j = ||w_j|| / sum eliminated (they are ``scores_`` up to their sum). With
    ``semi_supervised=True``, samples labelled -1 get soft labels: class probabilities chosen
    together with W to minimise the same objective.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    alpha : float or None, default=None
        Strength of the row penalty. None means 0.1 times the (weighted) number of samples.
    solver : {"root", "published"}, default="root"
        "root" searches for the l2,1 problem with the same solution. "published" alternates between
        the scale factors and W as in the paper; it converges slowly, leaves no coefficient exactly
        zero, and issues a ``ConvergenceWarning`` if its duality gap still exceeds ``tol``.
    semi_supervised : bool, default=False
        Treat the label -1 as "unlabelled", as scikit-learn's semi-supervised estimators do. Cannot
        be combined with ``class_weight``, which needs the class of every sample.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of coordinate descent sweeps per l2,1 problem, or of alternations.
    tol : float, default=1e-6
        Stop when the relative duality gap (for the current soft labels) is at most this.
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
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Soft labels of all samples, for semi-supervised fits.
    alpha_ : float
        Penalty strength used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to ``objective_``.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of coordinate descent sweeps, or of alternations.
    history_ : list of float
        Objective after every l2,1 problem or alternation, or after every round of soft labels.

    See Also
    --------
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.
    sparsieve.RFSSelector : Convex regression robust to outliers.

    References
    ----------
    X. Chen, F. Nie, G. Yuan and J. Z. Huang, "Semi-supervised feature selection via rescaled
    linear regression", IJCAI 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RLSRSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> RLSRSelector(n_features_to_select=3).fit(X, y).transform(X).shape
    (178, 3)
    >>> y[::2] = -1  # hide half of the labels
    >>> RLSRSelector(n_features_to_select=3, semi_supervised=True).fit(X, y).classes_
    array([0, 1, 2])
    """

    alpha: float | None = None
    solver: str = "root"
    semi_supervised: bool = False
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    verbose: int = 0

    _accepts_device: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = NORM_MEANING

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)
        check_flag("semi_supervised", self.semi_supervised)
        if self.semi_supervised and self.class_weight is not None:
            raise ValueError(
                "class_weight needs the class of every sample; leave it None with "
                "semi_supervised=True and pass sample_weight instead"
            )

    def _training_data(self, X: Any, y: Any, sample_weight: Any) -> TrainingData:
        data = super()._training_data(X, y, sample_weight)
        if not self.semi_supervised:
            return data
        target = _drop_unlabelled_class(data.target)
        self.classes_: Any = target.classes
        return replace(data, target=target)

    def _fit(self, data: TrainingData) -> FeatureScores:
        self.alpha_: float = ALPHA_PER_SAMPLE * data.total_weight
        if self.alpha is not None:
            self.alpha_ = float(self.alpha)
        hidden = data.target.codes == UNLABELLED if self.semi_supervised else np.zeros(0, bool)
        if hidden.any():
            problem, result = self._fit_soft_labels(data, hidden)
        else:
            problem = self._make_problem(data, squared_loss=True)
            result = self._solve(problem)
            if self.semi_supervised:
                self.label_distributions_: np.ndarray = data.target.Y
        self._keep_coefficients(*problem.units.coefficients(result.solution.W))
        published = self.solver == "published"
        stalls = "(the published iteration stalls) " if published else ""
        self._keep_result(result, measure=stalls + GAP)
        return row_norm_scores(result, problem, data.total_weight, remedy="lower alpha")

    def _solve(self, prepared: Prepared, start: Result[Rows] | None = None) -> Result[Rows]:
        kind = PublishedAlternation if self.solver == "published" else RescaledRegression
        problem = LeastSquares(prepared.design, prepared.Y, SquaredL21(self.alpha_))
        watch = printer(self.verbose, type(self).__name__)
        return kind(tol=self.tol, max_iter=self.max_iter).solve(problem, start, watch)

    def _fit_soft_labels(
        self, data: TrainingData, hidden: np.ndarray
    ) -> tuple[Prepared, Result[Rows]]:
        """Alternate between W and the labels of the hidden samples.

        The objective is convex in both together, so the alternation ends at its minimum.
        """
        labelled = np.flatnonzero(~hidden)
        weights = data.sample_weight
        start = replace(
            data,
            design=data.design.rows(labelled),
            target=data.target.rows(labelled),
            sample_weight=None if weights is None else weights[labelled],
        )
        problem = self._make_problem(start, squared_loss=True, compress=False)
        result = self._solve(problem)
        labels = data.target.Y.astype(np.float64)
        design = data.design.rows(np.flatnonzero(hidden))
        trace: list[float] = []
        n_sweeps = result.n_iter
        for _ in range(LABEL_ROUNDS):
            coef, intercept = problem.units.coefficients(result.solution.W)
            labels[hidden] = project_to_simplex(
                design.matmul(coef.T * np.reshape(design.unit, (-1, 1))) + intercept
            )
            target = replace(data.target, Y=labels.astype(data.target.Y.dtype))
            problem = self._make_problem(
                replace(data, target=target), squared_loss=True, compress=False
            )
            result = self._solve(problem, result)
            n_sweeps += result.n_iter
            trace.append(result.objective)
            if len(trace) > 1 and not trace[-2] - trace[-1] > LABEL_CHANGE * trace[-2]:
                break
        self.label_distributions_ = labels.astype(data.target.Y.dtype)
        return problem, replace(result, trace=trace, n_iter=n_sweeps)


def _drop_unlabelled_class(target: Target) -> Target:
    """The same target with -1 read as "unlabelled" instead of as a class."""
    if target.task != "classification":
        raise ValueError(
            "semi_supervised=True needs y to be one column of class labels, with -1 "
            "for unlabelled samples"
        )
    if UNLABELLED not in target.classes.tolist():
        return target
    place = target.classes.tolist().index(UNLABELLED)
    kept = np.delete(np.arange(len(target.classes)), place)
    if len(kept) < 2:
        raise ValueError(
            f"y has only {len(kept)} class among its labelled samples; at least 2 are needed"
        )
    codes = np.full(len(target.codes), UNLABELLED)
    for new, old in enumerate(kept):
        codes[target.codes == old] = new
    return Target(target.task, target.Y[:, kept], target.classes[kept], codes)


def project_to_simplex(V: np.ndarray) -> np.ndarray:
    """The nearest probabilities to every row of V."""
    ordered = -np.sort(-V, axis=1)
    count = np.arange(1, V.shape[1] + 1)
    excess = (np.cumsum(ordered, axis=1) - 1.0) / count
    place = (ordered > excess).sum(axis=1) - 1
    return np.maximum(V - excess[np.arange(len(V)), place][:, None], 0.0)


# Strengths tried before the l2,1 problems are solved more sharply, and how often that is done.
MAX_ITER_ROOT, MAX_TIGHTENINGS = 25, 5
# Share of the wanted gap that the l2,1 problems may leave.
INNER_SHARE = 0.05


@dataclass(frozen=True)
class RescaledRegression:
    """Minimise ||XW - Y||^2 + alpha (sum_j ||w_j||)^2.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Maximum number of coordinate descent sweeps for one l2,1 problem.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    def solve(
        self,
        problem: LeastSquares,
        start: Result[Rows] | Result[FewRows] | None = None,
        callback: Callback | None = None,
    ) -> Result[Rows]:
        """Solve from a warm start."""
        penalty = problem.require_penalty(SquaredL21, "RescaledRegression")
        largest = critical_strength(2.0 * problem.design.rmatmul(problem.Y))
        if largest == 0:
            return problem.nothing()
        guess = None
        if start is not None:
            guess = 2.0 * penalty.alpha * float(row_norms(start.solution.W).sum())
        search = _RootSearch(penalty.alpha, largest, guess)
        trace: list[float] = []
        n_sweeps = 0
        best: Result[Rows] | None = None
        bound = 0.0
        inner_tol = INNER_SHARE * self.tol
        for _ in range(MAX_TIGHTENINGS):
            solver = BlockCD(tol=inner_tol, max_iter=self.max_iter)
            for inner in solver.path(replace(problem, penalty=L21(1.0)), search.strengths(), start):
                n_sweeps += inner.n_iter
                start, W = inner, inner.solution.W
                rows, value, own_bound = problem.assess(W)
                search.learn(float(row_norms(W).sum()))
                trace.append(value)
                bound = max(bound, own_bound)
                if best is None or value < best.objective:
                    best = Result(rows, value, np.inf, n_sweeps, False, trace)
                optimality = relative(best.objective - bound, best.objective, problem.floor)
                best = replace(
                    best, optimality=optimality, n_iter=n_sweeps, converged=optimality <= self.tol
                )
                stop = callback is not None and callback(Event(n_sweeps, value, optimality))
                done = best.converged or stop or not (inner.converged and np.isfinite(value))
                if done:
                    search.done = True
            assert best is not None  # a search has at least one strength
            if done:
                break
            # The root is as sharp as the l2,1 solutions allow: sharpen those.
            inner_tol *= 0.1
            search = _RootSearch(penalty.alpha, largest, search.strength)
        assert best is not None
        return best


class _RootSearch:
    """The root of s - 2 alpha t(s), which lies between 0 and the largest strength s."""

    def __init__(self, alpha: float, largest: float, guess: float | None):
        self.alpha = alpha
        self.low, self.high = 0.0, largest
        self.low_value: float | None = None
        self.high_value = largest  # nothing is left there: t = 0
        self.strength = guess if guess is not None and 0 < guess < largest else 0.3 * largest
        self.last = 0.0
        self.left = MAX_ITER_ROOT
        self.done = False

    def strengths(self) -> Iterator[float]:
        """Strengths to try, each chosen when the last has been learnt from."""
        while not self.done:
            yield self.strength

    def learn(self, t: float) -> None:
        """Move the bracket and choose the next strength."""
        value = self.strength - 2.0 * self.alpha * t
        self.left -= 1
        if value == 0 or self.left == 0 or not np.isfinite(value):
            self.done = True
            return
        tried = self.strength
        # Illinois: an end that stays twice counts half, so that the other one moves as well.
        if value > 0:
            if self.last > 0 and self.low_value is not None:
                self.low_value *= 0.5
            self.high, self.high_value = self.strength, value
        else:
            if self.last < 0:
                self.high_value *= 0.5
            self.low, self.low_value = self.strength, value
        self.last = value
        if self.low_value is None:
            # The fixed point map jumps below the root; halfway in logarithm is safer.
            self.strength = max(np.sqrt(self.strength * 2.0 * self.alpha * t), 0.01 * self.strength)
        else:
            step = self.high_value - self.low_value
            self.strength = (self.low * self.high_value - self.high * self.low_value) / step
        self.strength = float(self.strength)
        if abs(self.strength - tried) <= 1e-12 * tried:
            self.done = True
