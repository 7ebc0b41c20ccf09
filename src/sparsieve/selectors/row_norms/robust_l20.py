"""The robust l2,0 model: few rows under an l2,1 loss (An, Dong and Qin, 2021)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..._checks import check_flag, check_integer, check_real
from ...penalties import row_norms
from ...solvers.base import Path, Result
from ...solvers.row_norms.greedy import RobustGreedy
from ..base import FeatureScores, TrainingData
from ..settings import HasSolver, SolverSettings, resolve_solver
from .base import (
    ModelOnSupports,
    RobustProblem,
    RobustSelector,
    UserModel,
    check_alpha,
    resolve_alpha,
)
from .solvers import IRLS, NmAPG, RobustGreedySearch, solve_penalised

DEFAULT_COUNT = 10
DEFAULT_SHARE = 0.5
# Where a price decides: the first length of a path to try, and how far to look for features that
# pay together though not alone.
FIRST_LENGTH, PATIENCE = 16, 5


@dataclass(eq=False, repr=False, kw_only=True)
class RobustL20Selector(HasSolver, RobustSelector):
    """Keep few features in a regression robust to outliers.

    Minimises ``sum_i s_i ||y_i - x_i W - b|| + alpha * sum_j ||w_j||`` over W with at most K
    nonzero rows, or with the price ``lam`` for every nonzero row. Residuals count by their norm,
    not by its square, so that a sample which does not fit cannot dominate the others. The result
    is the exact optimum on its support; nothing certifies the support itself.

    Supports of different sizes need not be nested. With ``solver="greedy"``, ``at(k)`` for k
    below the number fitted gives the best support of k features that the search met on its way;
    a fit with that k looks at it more thoroughly. With the other solvers it gives the k largest
    rows of the same solution, fitted again.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps as many as ``lam`` says, or 10.
    alpha : float or None, default=None
        Strength of the row penalty. 0 is none at all; None is 0.5 times alpha_max, the largest
        norm of x_j'L where the rows of L are those of the centred target divided by their norms.
    lam : float or None, default=None
        Price of one feature in the objective. Give this (for ``solver="greedy"``) or
        ``n_features_to_select``.
    solver : {"greedy", "irls", "nmapg"} or solver object, default="greedy"
        "greedy" grows and exchanges supports and serves every number of features up to K. The
        other two replace the limit K by a penalty, take the K largest rows and fit again:
        "nmapg" is the published method with its proximal map corrected, "irls" reweighted least
        squares. :class:`RobustGreedySearch`, :class:`NmAPG` and :class:`IRLS` have settings.
    max_iter : int or None, default=None
        Iterations of "irls" (None: 300) and "nmapg" (800), of the final fit for "greedy" (200).
    tol : float, default=1e-6
        Relative duality gap of the final fit on the support; "irls" and "nmapg" end when their
        objective changes by less, relatively.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised.
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates: the others
        are judged by what they add. They count among the ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept: the fit is that without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities, and asks where whole numbers could be either.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's coefficients on standardised columns, relative to the root mean
        square of the centred target; 0 where the model leaves the feature out.
    ranking_ : ndarray of shape (n_features,)
        The support by score, then the others by how much they want to enter.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    alpha_, lam_ : float
        The strength and the price used; ``lam_`` is 0 where no price was given.
    rho_ : float
        Where a penalised problem was solved: the strength of its penalty.
    penalised_objective_ : float
        Where a penalised problem was solved: its objective before the K largest rows were
        taken.
    objective_ : float
        Objective on the standardised data, under the limit or with the price.
    optimality_ : float
        Certified relative duality gap of the fit on the support; for "irls" and "nmapg" the
        relative change of their objective at the end, where that is larger.
    converged_ : bool
        Whether ``optimality_`` came down to ``tol``.
    path_ : Path
        For "greedy": the best support found of every number of features, from none to K, and the
        objectives as compared during the search (a little above the exact ones).
    n_iter_ : int
        Number of features on the path ("greedy") or iterations.
    history_ : list of float
        Objective for every number of features ("greedy") or after every iteration.

    See Also
    --------
    sparsieve.RFSSelector : Robust to outliers as well, by convex norms.
    sparsieve.RPMFSSelector : Robust, with the number of features instead of a strength.
    sparsieve.L20Selector : Prices features one by one, with exact search on request.

    References
    ----------
    N. T. An, P. D. Dong and X. Qin (2021). Robust feature selection via nonconvex
    sparsity-based methods. J. Nonlinear Var. Anal. 5(1).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RobustL20Selector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RobustL20Selector(4, alpha=5.0).fit(X, y)
    >>> selector.transform(X).shape
    (569, 4)
    >>> int((selector.at(2).coef_ != 0).any(axis=0).sum())
    2
    """

    alpha: float | None = None
    lam: float | None = None
    solver: str | RobustGreedySearch | IRLS | NmAPG = "greedy"
    max_iter: int | None = None

    _accepts_foreign: ClassVar[bool] = True
    _work_per_number: ClassVar[float] = 1e4
    _solvers: ClassVar[dict[str, type[SolverSettings]]] = {
        kind.name: kind for kind in (RobustGreedySearch, IRLS, NmAPG)
    }

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_alpha(self.alpha, zero=True)
        check_real("lam", self.lam, minimum=0, strict=True, optional=True)
        check_real("tol", self.tol, minimum=0, strict=True)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter)
        settings = resolve_solver(self.solver, self._solvers)
        if self.lam is None:
            return
        if self.n_features_to_select is not None:
            raise ValueError(
                "lam and n_features_to_select both say how many features to keep; give one of them "
                "and call at(k) for another number"
            )
        if not isinstance(settings, RobustGreedySearch):
            raise ValueError(
                f'lam needs solver="greedy", got solver={self.solver!r}; give '
                "n_features_to_select instead"
            )

    def _takes_foreign(self) -> bool:
        settings = resolve_solver(self.solver, self._solvers)
        few_columns = isinstance(settings, RobustGreedySearch) and settings.compare is None
        return super()._takes_foreign() and few_columns

    def _fit(self, data: TrainingData) -> FeatureScores:
        for name in ("path_", "rho_", "penalised_objective_"):  # of another solver's fit
            self.__dict__.pop(name, None)
        settings = resolve_solver(self.solver, self._solvers)
        problem = self._robust_problem(data)
        self.alpha_ = resolve_alpha(self.alpha, problem, DEFAULT_SHARE)
        self.lam_ = 0.0 if self.lam is None else float(self.lam)
        count = self._n_own(data, DEFAULT_COUNT)
        if isinstance(settings, RobustGreedySearch):
            path, leftover, way = self._search(problem, settings, count)
            self.path_ = path
            if self.lam is not None:
                count = int(np.argmin(np.asarray(path.objective)))
        else:
            path, leftover, way = self._penalised(problem, settings, count)
        self._supports = path.supports
        self._way = way
        self._leftover, self._constant = leftover, problem.constant
        self._model = ModelOnSupports.of(
            problem,
            np.concatenate(self._supports),
            self.alpha_,
            self.tol,
            self._iterations(RobustGreedySearch),
        )
        # Scores and ranking belong to a number of features: `_set_support` finds them.
        nothing = np.zeros(len(problem.constant))
        return FeatureScores(nothing, n_kept=count, constant=problem.constant, complete=False)

    def _search(
        self, problem: RobustProblem, settings: RobustGreedySearch, count: int
    ) -> tuple[Path, np.ndarray, Result]:
        """Supports of up to ``count`` features, or of as many as may pay for themselves."""
        eligible = ~problem.constant
        search = RobustGreedy(problem.data, self.alpha_, eligible)
        # Constant columns can only fill up a support that asks for more than there is.
        most = int(eligible.sum())
        length = min(count, most)
        if self.lam is not None:
            # k features cost at least lam k, more than nothing does beyond this.
            nothing = search.fit(np.empty(0, dtype=np.int64)).objective
            most = min(most, int(nothing / self.lam_) + 1)
            length = min(FIRST_LENGTH, most)
        while True:
            path, pulls = search.path(length)
            objective = np.asarray(path.objective) + self.lam_ * path.n_features
            if self.lam is None or length == most or np.argmin(objective) + PATIENCE <= length:
                break
            length = min(2 * length, most)
        path = replace(path, objective=objective)
        if settings.compare is not None and length:
            path = self._compared(problem, settings.compare, search, path)
        trace = np.asarray(path.objective).tolist()
        return path, pulls, Result(None, trace[-1], 0.0, len(path), True, trace)

    def _compared(
        self, problem: RobustProblem, rival: NmAPG | IRLS, search: RobustGreedy, path: Path
    ) -> Path:
        """The path with the best of its last support, the rival's, and the latter improved."""
        theirs, _, _ = self._penalised(problem, rival, len(path))
        improved, _ = search.improve(search.fit(theirs.features))
        candidates = [path.features, theirs.features, improved.features]
        model = ModelOnSupports.of(
            problem,
            np.concatenate(candidates),
            self.alpha_,
            self.tol,
            RobustGreedySearch.max_iter,
        )
        objectives = [model.fit(features).objective for features in candidates]
        best = int(np.argmin(objectives))
        objective = np.array(path.objective)
        objective[-1] = objectives[best] + self.lam_ * len(path)
        return Path([*path.supports[:-1], candidates[best]], objective)

    def _penalised(
        self, problem: RobustProblem, settings: SolverSettings, count: int
    ) -> tuple[Path, np.ndarray, Result]:
        """Rows of the penalised solution, the longest first; sets what is known of it."""
        assert isinstance(settings, NmAPG | IRLS)
        eligible = ~problem.constant
        k = min(count, int(eligible.sum()))
        found, self.rho_ = solve_penalised(
            problem.data,
            eligible,
            settings,
            k=k,
            alpha=self.alpha_,
            tol=float(self.tol),
            max_iter=self._iterations(type(settings)),
        )
        self.penalised_objective_ = found.objective
        norms = np.where(eligible, row_norms(found.solution.W), -1.0)
        order = np.argsort(-norms, kind="stable")[:k]
        return Path.nested(order), np.maximum(norms, 0.0), found

    def _iterations(self, kind: type[RobustGreedySearch | IRLS | NmAPG]) -> int:
        """``max_iter`` is meant for the solver that was asked for."""
        asked = resolve_solver(self.solver, self._solvers)
        if self.max_iter is not None and isinstance(asked, kind):
            return int(self.max_iter)
        return kind.max_iter

    # -- the model at a number of features ---------------------------------------------------

    def _set_support(self) -> None:
        wanted = self._fixed.count(self.n_features_to_select, self._n_kept)
        size = min(wanted - self._fixed.n_always, len(self._supports) - 1)
        support = self._supports[size]
        fit: Result[UserModel] = self._model.fit(support)
        # Dependent columns may get zero rows; they were chosen all the same.
        ties = self._leftover.astype(np.float64)
        ties[support] += ties.max(initial=0.0) + 1.0
        scores = fit.solution.importances
        found = FeatureScores(scores, len(support), ties=ties, constant=self._constant)
        self._set_ranking(scores, found.ranking())
        super()._set_support()
        self.coef_, self.intercept_ = fit.solution.coef, fit.solution.intercept
        self._keep_result(
            replace(
                self._way,
                solution=None,
                objective=fit.objective + self.lam_ * len(support),
                optimality=max(fit.optimality, self._way.optimality),
                converged=fit.converged and self._way.converged,
            )
        )
