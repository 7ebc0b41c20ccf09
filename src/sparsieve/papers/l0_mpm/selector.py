"""L0-MPM: the fewest features that reach a worst-case accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, surrogate
from ...selectors.settings import HasSolver, resolve_solver
from ...solvers.base import Result
from ...solvers.published import ExactMinimax, MinimaxDC, SurrogateDescent
from ...solvers.settings import SolverSettings
from .base import LevelSelector
from .solvers.column_generation import ConeFailure, InfeasibleError
from .solvers.l0_mpm import L0MPM, MAX_FEATURES, BestSubset
from .solvers.mpm import MPM
from .solvers.problem import Hyperplane, Minimax
from .solvers.published import PublishedL0MPM


@dataclass(eq=False, repr=False, kw_only=True)
class L0MPMSelector(HasSolver, LevelSelector):
    """Fewest features that reach a worst-case accuracy of ``delta``, approximately or exactly.

    In short: Few features that reach a guaranteed accuracy for any distributions with the given
    class means and covariances.

    The constraints of ``L1MPMSelector`` with the sum of delta(w_j) as objective, where delta is a
    concave approximation of the number of nonzeros (``1 - exp(-theta |w_j|)`` by default). The
    steeper it is, the closer it comes to counting, and the more the result depends on the first
    (l1) solution. This is a difference of convex functions: each step solves a weighted l1 problem,
    the first one (from w = 0) exactly that of ``L1MPMSelector``. The objective never increases; the
    limit is a critical point, not always the global optimum. It typically keeps half as many
    features as ``L1MPMSelector``.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    delta : float or "auto", default="auto"
        Worst-case accuracy to reach, in (0, 1). "auto" uses 0.8 times the largest feasible value.
    surrogate : {"exp", "log", "capped_l1", "scad"}, default="exp"
        Function used in place of the number of nonzero weights.
    theta : float, default=5.0
        Steepness of the l0 surrogate; larger values come closer to counting features.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" adds nothing to a class with more samples
        than features and a hundredth of the mean variance to any other; "ledoit_wolf" uses
        Ledoit-Wolf shrinkage, which on gene expression data keeps more features and predicts
        better.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Strategy for more than two classes, one-vs-rest or one-vs-one.
    solver : {"surrogate", "published", "exact"} or solver object, default="surrogate"
        "surrogate" is the DC algorithm with weighted l1 steps. "published", or ``MinimaxDC(...)``,
        takes the steps of the paper, cone programs over all features in which a weight that changes
        its sign costs more.
        "exact", or ``ExactMinimax(time_limit=...)``, works on up to 30 features, and proves that no
        smaller set reaches ``delta``.
    max_iter : int, default=100
        Maximum number of steps of the DC algorithm.
    tol : float, default=1e-4
        Stop when a step lowers the objective by less than this fraction and does not change the
        selected features; "published" has a stop of its own.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        Hyperplanes, in the units of X.
    scores_ : ndarray of shape (n_features,)
        The feature's share of the worst-case accuracy (between 0 and 1), divided among the features
        in proportion to their squared standardised weights; with several classes, the mean accuracy
        divided in proportion to the largest share in any of the models. Features with zero weight
        score 0 and are ranked by how much a small weight would change the worst-case accuracy.
    ranking_, support_ : ndarray of shape (n_features,)
    delta_ : float or ndarray of shape (n_tasks,)
        Worst-case accuracy required in each task.
    worst_case_accuracy_ : float
        Guaranteed accuracy, given the estimated means and covariances: the smallest over classes
        and tasks.
    objective_ : float
        Objective on the standardised data, summed over tasks; for the exact solver, the number of
        features with a nonzero weight (without those of ``always_keep``), summed over tasks.
    optimality_ : float
        The larger of the last relative decrease and the proven gap of the last step. For the
        published solver the smaller of the last decrease and the last move; for the exact
        solver (size - bound) / size, the largest fraction by which a set could be smaller.
    n_iter_ : int
    converged_ : bool
        Whether ``optimality_`` reached ``tol``, or epsilon of the published solver.
    history_ : list of float
        Objective after every step, summed over tasks; it never increases.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    sparsieve.L1MPMSelector : The convex counterpart, with an l1 norm.
    sparsieve.SMPMSelector : Trades worst-case accuracy against the l1 norm of the weights.
    sparsieve.MPMClassifier : The minimax classifier on all features.
    sparsieve.solvers.ExactMinimax : Finds the fewest features, with proof.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L0MPMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = L0MPMSelector(delta=0.7).fit(X, y)
    >>> selector.get_support(indices=True)
    array([20, 21, 27])
    """

    surrogate: str = "exp"
    theta: float = 5.0
    solver: str | SolverSettings = "surrogate"
    max_iter: int = 100
    tol: float = 1e-4

    _solvers: ClassVar[Mapping[str, type[SolverSettings]]] = {
        "surrogate": SurrogateDescent,
        "published": MinimaxDC,
        "exact": ExactMinimax,
    }
    _work_per_task: ClassVar[float] = 5e7

    def _check_parameters(self) -> None:
        super()._check_parameters()
        resolve_solver(self.solver, self._solvers)
        check_choice("surrogate", self.surrogate, [name for name in SURROGATES if name != "l1"])
        check_real("theta", self.theta, minimum=0, strict=True)

    def _objective(self, weights) -> float:
        if self._counts():
            return float(np.count_nonzero(weights))
        return surrogate(self.surrogate, self.theta).total(weights)

    def _solve_level(self, task, level, callback) -> Result[Hyperplane]:
        counted = surrogate(self.surrogate, self.theta)
        problem = replace(task.problem(level=level), surrogate=counted)
        if self._counts():
            return self._solve_exactly(task, problem, callback)
        settings = resolve_solver(self.solver, self._solvers)
        if isinstance(settings, MinimaxDC):
            published = PublishedL0MPM(self.max_iter, float(settings.epsilon))
            return published.solve(problem, callback=callback)
        return L0MPM(self.max_iter, self.tol).solve(problem, callback=callback)

    def _counts(self) -> bool:
        return isinstance(resolve_solver(self.solver, self._solvers), ExactMinimax)

    def _solve_exactly(self, task, problem, callback) -> Result[Hyperplane]:
        settings = resolve_solver(self.solver, self._solvers)
        assert isinstance(settings, ExactMinimax)
        start = None
        if task.moments.n_features <= MAX_FEATURES:
            # At the largest feasible level there may be no interior for the cone solver.
            with suppress(ConeFailure, InfeasibleError):
                start = L0MPM(self.max_iter, self.tol).solve(problem)
        found = BestSubset(float(settings.time_limit)).solve(problem, start, callback)
        support = found.solution.support
        restricted = Minimax(task.moments.restrict(support))
        best = self._dense(task, MPM().solve(restricted), support)
        gap = found.optimality
        return Result(
            best.solution, best.objective, gap, found.n_iter, gap <= self.tol, found.trace
        )

    def _keep_result(self, results, **words) -> None:
        if self._counts():
            words = {"measure": "a proven gap of", "remedy": "raise the solver's time_limit"}
        super()._keep_result(results, **words)
