"""L0-MPM: the fewest features that reach a worst-case accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._checks import check_choice, check_real
from ...penalties import SURROGATES, surrogate
from ...solvers.base import Result
from ...solvers.minimax.best_subset import MAX_FEATURES, BestSubset
from ...solvers.minimax.column_generation import ConeFailure, InfeasibleError
from ...solvers.minimax.hyperplane import Hyperplane
from ...solvers.minimax.l0_mpm import L0MPM
from ...solvers.minimax.mpm import MPM
from ...solvers.minimax.problem import Minimax
from ...solvers.settings import ExactMinimax, SolverSettings, SurrogateDescent
from ..settings import HasSolver, resolve_solver
from .base import LevelSelector


@dataclass(eq=False, repr=False, kw_only=True)
class L0MPMSelector(HasSolver, LevelSelector):
    """Fewest features (nearly) that keep a worst-case accuracy of ``delta``.

    In short: The fewest features whose accuracy can be guaranteed in the worst case for given means
    and spreads.

    The constraints of ``L1MPMSelector`` with the sum of delta(w_j) as objective, where delta is
    a concave stand-in for counting nonzeros (``1 - exp(-theta |w_j|)`` by default). The steeper it
    is, the closer to counting, and the more the result depends on the first (l1) solution. A
    difference of convex functions: each step is a weighted l1 machine, the first one (from
    w = 0) exactly ``L1MPMSelector``. The objective never rises; the limit is a critical point,
    not always the global optimum. It typically keeps half the features of the l1 machine.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those of nonzero weight.
    delta : float or "auto", default="auto"
        Worst-case accuracy to reach, in (0, 1). "auto" is 0.8 of the largest feasible level.
    surrogate : {"exp", "log", "capped_l1", "scad"}, default="exp"
        The stand-in for counting.
    theta : float, default=5.0
        Steepness of the l0 surrogate.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" adds nothing to a class with more
        samples than features and a hundredth of the mean variance to any other; "ledoit_wolf"
        shrinks by the rule of Ledoit and Wolf, which on gene expression data keeps more features
        and predicts better.
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates: the others
        are judged by what they add. They count among the ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept: the fit is that without them.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: each against the others, or each against each.
    solver : {"surrogate", "exact"} or solver object, default="surrogate"
        "surrogate" is the DC algorithm. "exact", or ``ExactMinimax(time_limit=...)``, searches
        up to 30 features for the fewest that reach ``delta``, and proves that there are no fewer.
    max_iter : int, default=100
        Most steps of the DC algorithm.
    tol : float, default=1e-4
        Stop when a step lowers the objective by less than this share and leaves the support
        as it is.
    verbose : int, default=0
        1 prints every iteration.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        Hyperplanes in the units of X.
    scores_ : ndarray of shape (n_features,)
        The feature's part of the worst-case accuracy (a number between 0 and 1): that accuracy
        shared out by squared standardised weights; with several classes by the largest share in
        any of their machines, of the mean accuracy. Features of zero weight score 0 and are
        ranked by how much a little weight would change the worst-case accuracy.
    ranking_, support_ : ndarray of shape (n_features,)
    delta_ : float or ndarray of shape (n_tasks,)
        The level asked of each task.
    worst_case_accuracy_ : float
        Accuracy guaranteed by the moments, for the class and task that are worst off.
    objective_ : float
        Value of the objective, summed over tasks, on the data as standardised; for the exact
        solver the number of features with a weight in each task, without those of
        ``always_keep``, summed likewise.
    optimality_ : float
        The larger of the last relative decrease and the certified gap of the last step. For the
        exact solver (size - bound) / size: by what share a support could be smaller at most.
    n_iter_ : int
    converged_ : bool
        Whether ``optimality_`` came down to ``tol``.
    history_ : list of float
        Objective after every step, summed over tasks; never increases.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    sparsieve.L1MPMSelector : The convex relative, with absolute weights.
    sparsieve.SMPMSelector : Weighs worst-case accuracy against absolute weights.
    sparsieve.MPMClassifier : The classifier behind it, without selection.
    sparsieve.solvers.ExactMinimax : The fewest features for sure.

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

    def _solve_at(self, task, level, callback) -> Result[Hyperplane]:
        counted = surrogate(self.surrogate, self.theta)
        problem = replace(task.problem(level=level), surrogate=counted)
        if self._counts():
            return self._solve_exactly(task, problem, callback)
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
        restricted = Minimax(task.moments.restricted(support))
        best = self._dense(task, MPM().solve(restricted), support)
        gap = found.optimality
        return Result(
            best.solution, best.objective, gap, found.n_iter, gap <= self.tol, found.trace
        )

    def _keep_result(self, results, **words) -> None:
        if self._counts():
            words = {"measure": "a proven gap of", "remedy": "raise the solver's time_limit"}
        super()._keep_result(results, **words)
