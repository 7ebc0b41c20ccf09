"""The robust l2,0 model: few rows under an l2,1 loss (An, Dong and Qin, 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from ..._checks import check_flag, check_integer, check_real, warn_user
from ..._saved import Bools, Floats, Ints
from ...penalties import row_norms
from ...selectors.base import DEFAULT_COUNT, FeatureScores, TrainingData
from ...selectors.near_copies import one_of_each
from ...selectors.robust.base import (
    ModelOnSupports,
    RobustProblem,
    RobustSelector,
    UserModel,
    resolve_alpha,
)
from ...selectors.settings import HasSolver, check_price, resolve_solver
from ...solvers.base import Path, Result
from ...solvers.robust.irls import ReweightedLeastSquares
from ...solvers.settings import IRLS, NmAPG, RobustGreedySearch, SolverSettings
from .greedy import GreedyExchange, SupportPath
from .published import chosen_rho, is_first_step, limit_path, nmapg, over_limits

DEFAULT_SHARE = 0.5
# Where lam decides: the first length of a path to try, and how far to look for features that
# pay together though not alone.
FIRST_LENGTH, N_NO_IMPROVEMENT = 16, 5


@dataclass(eq=False, repr=False, kw_only=True)
class RobustL20Selector(HasSolver, RobustSelector):
    """Regression robust to outliers, with a limit or penalty on the number of features.

    In short: Like rfs, with a limit or penalty on the number of features.

    Minimises ``sum_i s_i ||y_i - x_i W - b|| + alpha * sum_j ||w_j||`` over W with at most K
    nonzero rows, or with a penalty ``lam`` for every nonzero row. Residuals enter by their norm,
    not its square, so that outliers cannot dominate. The coefficients are optimal for the selected
    features; the choice of features is not proven to be optimal.

    Sets of different sizes need not be nested. With ``solver="greedy"``, ``at(k)`` for k below the
    number fitted gives the best set of k features met during the search; a new fit with that k
    searches more thoroughly. With "published" it gives the solution for the next limit that was
    solved, with "irls" the k largest rows of the same solution, refitted.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the number determined by ``lam``, or 10.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of near copies only the one most correlated with the target may be chosen here.
    alpha : float or None, default=None
        Strength of the row penalty. 0 means no penalty; None means 0.5 times alpha_max, the largest
        norm of x_j'L where the rows of L are those of the centred target divided by their norms,
        and 0.1 for "published", as in the paper.
    lam : float or None, default=None
        Penalty per selected feature in the objective. Give either this (for ``solver="greedy"``) or
        ``n_features_to_select``.
    solver : {"greedy", "irls", "published"} or solver object, default="greedy"
        "greedy" adds and swaps features and covers every number of features up to K. The other two
        replace the limit K by a penalty, take the K largest rows and refit: "published" (or
        "nmapg", its algorithm) is the method of the paper at the paper's settings, with the
        proximal map corrected; "irls" is reweighted least squares. Pass a
        :class:`RobustGreedySearch`, :class:`NmAPG` or :class:`IRLS` object to change settings.
    max_iter : int or None, default=None
        Maximum number of iterations. None means 300 for "irls", what the paper says for
        "published", and 200 for the final fit of "greedy".
    tol : float, default=1e-6
        Relative duality gap to reach in the final fit; predictions deserve a smaller one, such as
        1e-9. "irls" stops when the relative change of its objective is at most this, and
        ``converged_`` also says whether the last change of "published", which has a stop of its
        own, was.
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

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Norm of the feature's standardised coefficients, relative to the root mean square of the
        centred target; 0 if the feature is not used.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features that were not selected are ranked by their
        correlation with the residual directions.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    alpha_, lam_ : float
        Penalties used; ``lam_`` is 0 if ``lam`` was not given.
    rho_ : float
        Strength of the penalty, if a penalised problem was solved.
    penalised_objective_ : float
        Objective of the penalised problem, if one was solved, before the K largest rows were taken.
    objective_ : float
        Objective on the standardised data, including ``lam`` if it was given.
    optimality_ : float
        Proven relative duality gap of the fit on the selected features; for "irls" and "published"
        the last relative change of their objective, if that is larger.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    path_ : Path
        For "greedy": the best set found for every number of features from 0 to K, and the
        objectives compared during the search (slightly above the exact ones).
    n_iter_ : int
        Number of features on the path ("greedy") or of iterations.
    history_ : list of float
        Objective for every number of features ("greedy") or after every iteration.

    See Also
    --------
    sparsieve.RFSSelector : Convex regression robust to outliers.
    sparsieve.RPMFSSelector : Robust regression with a given number of features.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.

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

    _work_per_number: ClassVar[float] = 1e4
    _solvers: ClassVar[dict[str, type[SolverSettings]]] = {
        "greedy": RobustGreedySearch,
        "irls": IRLS,
        "published": NmAPG,
        "nmapg": NmAPG,  # by the name of its algorithm
    }

    lam_: float = field(init=False)
    _model: Annotated[ModelOnSupports, "features"] = field(init=False)
    _supports: Sequence[Annotated[Ints, "*"]] = field(init=False)
    _way: Result = field(init=False)
    _leftover: Annotated[Floats, "units"] = field(init=False)
    _constant: Annotated[Bools, "units"] = field(init=False)

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_real("alpha", self.alpha, minimum=0, optional=True)
        check_price(self)
        check_real("tol", self.tol, minimum=0, strict=True)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter)
        settings = resolve_solver(self.solver, self._solvers)
        if self.lam is not None and not isinstance(settings, RobustGreedySearch):
            raise ValueError(
                f'lam needs solver="greedy", got solver={self.solver!r}; give '
                "n_features_to_select instead"
            )

    @property
    def _accepts_external(self) -> bool:  # type: ignore[override]
        settings = resolve_solver(self.solver, self._solvers)
        return isinstance(settings, RobustGreedySearch) and settings.compare is None

    def _fit(self, data: TrainingData) -> FeatureScores:
        for name in ("path_", "rho_", "penalised_objective_"):  # of another solver's fit
            self.__dict__.pop(name, None)
        settings = resolve_solver(self.solver, self._solvers)
        problem, passed_over = self._robust_problem(data), None
        constant = problem.constant
        count = self._n_own(data, DEFAULT_COUNT)
        if self.max_correlation is not None:
            data, passed_over = one_of_each(self.max_correlation, data, problem.data)
            problem = self._robust_problem(data)
        alpha = settings.alpha if isinstance(settings, NmAPG) and self.alpha is None else self.alpha
        self.alpha_: float = resolve_alpha(alpha, problem.data.alpha_max, DEFAULT_SHARE)
        problem = replace(problem, data=replace(problem.data, alpha=self.alpha_))
        self.lam_ = 0.0 if self.lam is None else float(self.lam)
        if isinstance(settings, RobustGreedySearch):
            found = self._search(problem, settings, count)
            self.path_: Path = found.solution.path
            if self.lam is not None:
                count = int(np.argmin(np.asarray(self.path_.objective)))
        else:
            found = self._rank_by_penalty(problem, settings, count)
        self._supports = found.solution.path.supports
        self._leftover = found.solution.correlations
        self._constant = constant
        way: Result = found
        self._way = replace(way, solution=None)  # a fitted selector stays small
        limits = float(self.tol), self._iterations(RobustGreedySearch())
        self._model = ModelOnSupports.from_features(
            problem, np.concatenate(self._supports), *limits
        )
        # Scores and ranking belong to a number of features: `_set_support` finds them.
        nothing = np.zeros(len(self._constant))
        return FeatureScores(
            nothing,
            n_kept=count if passed_over is None else min(count, len(self._supports) - 1),
            constant=self._constant,
            complete=False,
            passed_over=passed_over,
        )

    def _search(
        self, problem: RobustProblem, settings: RobustGreedySearch, count: int
    ) -> Result[SupportPath]:
        """Supports of up to ``count`` features, or of as many as may pay for themselves."""
        # Constant columns can only fill up a support that asks for more than there is.
        most, search = len(problem.data.features), GreedyExchange()
        length = min(count, most)
        if self.lam is not None:
            # k features cost at least lam k, more than nothing does beyond this.
            nothing = search.solve(replace(problem.data, k=0)).objective
            most = min(most, int(nothing / self.lam_) + 1)
            length = min(FIRST_LENGTH, most)
        while True:
            found = search.solve(replace(problem.data, k=length))
            path = found.solution.path
            objective = np.asarray(path.objective) + self.lam_ * path.n_features
            enough = np.argmin(objective) + N_NO_IMPROVEMENT <= length
            if self.lam is None or length == most or enough:
                break
            length = min(2 * length, most)
        path = replace(path, objective=objective)
        if settings.compare is not None and length:
            path = self._improve_last_support(problem, settings.compare, path)
        trace = np.asarray(path.objective).tolist()
        solution = replace(found.solution, path=path)
        return replace(found, solution=solution, objective=trace[-1], trace=trace)

    def _improve_last_support(
        self, problem: RobustProblem, rival: NmAPG | IRLS, path: Path
    ) -> Path:
        """The path with the best of its last support, the rival's, and the latter improved."""
        theirs = self._rank_by_penalty(problem, rival, len(path))
        improved = GreedyExchange().solve(problem.data, theirs)
        candidates = [path.features, *(r.solution.path.features for r in (theirs, improved))]
        model = ModelOnSupports.from_features(
            problem, np.concatenate(candidates), self.tol, RobustGreedySearch.max_iter
        )
        objectives = [model.fit(features).objective for features in candidates]
        best = int(np.argmin(objectives))
        objective = np.array(path.objective)
        objective[-1] = objectives[best] + self.lam_ * len(path)
        return Path([*path.supports[:-1], candidates[best]], objective)

    def _rank_by_penalty(
        self, problem: RobustProblem, settings: SolverSettings, count: int
    ) -> Result[SupportPath]:
        """Rows of the penalised solution, the longest first; sets what is known of it."""
        assert isinstance(settings, NmAPG | IRLS)
        k, max_iter = min(count, len(problem.data.features)), self._iterations(settings)
        share = settings.rho_share if isinstance(settings, NmAPG) else 1.0
        self.rho_: float = chosen_rho(problem.data, settings.rho, float(share))
        data = replace(problem.data, rho=self.rho_)
        found: Result[Any]
        if isinstance(settings, NmAPG):
            solver, supports = nmapg(settings, max_iter), [np.empty(0, dtype=np.int64)]
            for limit, found in over_limits(solver, data, limit_path(settings, k)):
                order = _longest(found, problem.constant)[:limit]
                supports += [order[:size] for size in range(len(supports), limit + 1)]
            path = Path(supports)
            if is_first_step(data, solver.mu or solver.mu_start, path.features):
                warn_user(
                    f"rho={self.rho_:.3g} is so large that the {k} features are those of the first "
                    "step, the most correlated with the target, as by a filter; pass "
                    "NmAPG(rho_share=0.01) or a smaller rho"
                )
            # It stops by its own rule: whether it is stationary is another question.
            found = replace(found, converged=found.optimality <= self.tol)
        else:
            found = ReweightedLeastSquares(max_iter, float(self.tol)).solve(replace(data, k=k))
            path = Path.from_order(_longest(found, problem.constant)[:k])
        self.penalised_objective_: float = found.objective
        norms = np.where(problem.constant, 0.0, row_norms(found.solution.W))
        way: Result[Any] = found
        return replace(way, solution=SupportPath(path, norms))

    def _iterations(self, settings: RobustGreedySearch | IRLS | NmAPG) -> int:
        """``max_iter`` is meant for the solver that was asked for."""
        asked = resolve_solver(self.solver, self._solvers)
        if self.max_iter is not None and type(asked) is type(settings):
            return int(self.max_iter)
        return settings.max_iter

    # -- the model at a number of features ---------------------------------------------------

    def _set_support(self) -> None:
        wanted = self._choices.count(self.n_features_to_select, self._n_kept)
        size = min(wanted - self._choices.n_always, len(self._supports) - 1)
        support = self._supports[size]
        fit: Result[UserModel] = self._model.fit(support)
        # Dependent columns may get zero rows; they were chosen all the same.
        ties = self._leftover.astype(np.float64)
        ties[support] += ties.max(initial=0.0) + 1.0
        scores = fit.solution.importances
        found = FeatureScores(scores, len(support), ties=ties, constant=self._constant)
        self._set_ranking(scores, found.ranking())
        super()._set_support()
        self._keep_fit(fit, self._way, self.lam_ * len(support))


def _longest(found: Result[Any], constant: np.ndarray) -> np.ndarray:
    """All features by the norms of their rows, constant columns last."""
    norms = np.where(constant, -1.0, row_norms(found.solution.W))
    return np.argsort(-norms, kind="stable")
