"""The robust l2,0 model: few rows under an l2,1 loss (An, Dong and Qin, 2021)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..._checks import check_choice, check_flag, check_integer, check_real
from ...penalties import row_norms
from ...penalties.top_k import TopKGap, largest
from ...solvers.row_norms.greedy import RobustGreedy
from ...solvers.row_norms.irls import ReweightedLeastSquares
from ...solvers.row_norms.nmapg import STEP_CONSTANTS, NonmonotoneAPG, PenalisedFit
from ...solvers.row_norms.problem import RobustData
from ..base import FeatureScores, TrainingData
from .base import RobustProblem, RobustSelector, SupportModel

DEFAULT_COUNT = 10
DEFAULT_SHARE = 0.5
SOLVERS = ("greedy", "irls", "nmapg")
DEFAULT_ITERATIONS = {"greedy": 200, "irls": 300, "nmapg": 800}


@dataclass(frozen=True)
class SupportPath:
    """The best supports found for 1, 2, ... features; they need not be nested.

    Attributes
    ----------
    supports : list of ndarray
        ``supports[k - 1]`` are the indices of k features.
    objective : ndarray of shape (n_steps,)
        Objectives on them, as compared during the search (a little above the exact ones).
    """

    supports: list[np.ndarray]
    objective: np.ndarray

    def __len__(self) -> int:
        return len(self.supports)


class RobustL20Selector(RobustSelector):
    """Keep at most K features in a regression robust to outliers.

    Minimises ``sum_i s_i ||y_i - x_i W - b|| + gamma * sum_j ||w_j||`` over W with at most K
    nonzero rows. The result always has at most K nonzero rows and is the exact optimum on its
    support.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        K, as a number or a fraction of the features; None is 10 (or all, if there are fewer).
    gamma : float or None, default=None
        Strength of the row norms. None is 0.5 times gamma_max, the largest norm of x_j'L where
        the rows of L are those of the centred target divided by their norms.
    solver : {"greedy", "irls", "nmapg"}, default="greedy"
        "greedy" grows and exchanges supports and serves every number of features up to K, see
        :meth:`at`. The other two replace the limit K by the penalty
        ``rho * (sum of all but the K largest ||w_j||)``, take the K largest rows and fit again:
        "nmapg" is the published method (smoothing and nonmonotone accelerated proximal
        gradient, with the proximal map corrected), "irls" reweighted least squares.
    rho : float, "auto" or None, default=None
        Strength of that penalty, for "irls" and "nmapg" (and for ``compare``). "auto" and None
        are the smallest known to be exact, ``max_j sum_i s_i |x_ij| - gamma``; smaller ones are
        common.
    compare : bool, default=False
        With ``solver="greedy"``: run "nmapg" as well, try to improve its support by exchanges,
        and keep the best; the objective is then never above that of "nmapg".
    mu : float or None, default=None
        Smoothing of "nmapg": fixed (Algorithm 1 of the paper), or None for a sequence that
        falls from 1 by a factor of ten every 200 iterations (Algorithm 2).
    step_constant : {"printed", "spectral"}, default="printed"
        Step constant of "nmapg": (||X||_F^2 + d gamma) / mu as printed, or the smaller and
        sufficient (||X||_2^2 + gamma) / mu.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised and does not count as a row.
    standardize : bool, default=True
        Scale columns to unit variance. Constant columns are left alone.
    tol : float, default=1e-6
        Relative duality gap of the final fit on the support; "irls" ends when its objective
        falls by less, "nmapg" when its objective changes by less than a tenth of it.
    max_iter : int or None, default=None
        Iterations of "irls" (None: 300) and "nmapg" (800), of the final fit for "greedy" (200).
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints progress.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W on the standardised data.
    ranking_ : ndarray of shape (n_features,)
        The support by row norm, then the others by how much they want to enter.
    support_ : ndarray of shape (n_features,)
        Mask of the K kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    gamma_, rho_ : float
        The strengths used; ``rho_`` only where a penalised problem was solved.
    objective_ : float
        Objective on the standardised data, under the limit.
    penalised_objective_ : float
        Where a penalised problem was solved: its objective before the K largest rows were
        taken.
    optimality_ : float
        How far the fit on the support is from stationary, as its certified relative duality
        gap: zero exactly at the optimum on that support.
    path_ : SupportPath
        For "greedy": the best support found for every number of features up to K.
    n_iter_ : int
        Supports tried by "greedy", iterations of the others.
    history_ : ndarray
        Objective for every number of features ("greedy") or after every iteration.

    References
    ----------
    N. T. An, P. D. Dong and X. Qin (2021). Robust feature selection via nonconvex
    sparsity-based methods. J. Nonlinear Var. Anal. 5(1).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RobustL20Selector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RobustL20Selector(n_features_to_select=4, gamma=5.0).fit(X, y)
    >>> selector.transform(X).shape
    (569, 4)
    >>> int((selector.at(2).coef_ != 0).any(axis=0).sum())
    2
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        gamma=None,
        solver="greedy",
        rho=None,
        compare=False,
        mu=None,
        step_constant="printed",
        fit_intercept=True,
        standardize=True,
        tol=1e-6,
        max_iter=None,
        always_keep=None,
        never_keep=None,
        task="auto",
        class_weight=None,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.gamma = gamma
        self.solver = solver
        self.rho = rho
        self.compare = compare
        self.mu = mu
        self.step_constant = step_constant
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.task = task
        self.class_weight = class_weight
        self.verbose = verbose

    def _check_parameters(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_flag("standardize", self.standardize)
        check_flag("compare", self.compare)
        check_choice("solver", self.solver, SOLVERS)
        check_choice("step_constant", self.step_constant, STEP_CONSTANTS)
        check_real("gamma", self.gamma, minimum=0, strict=True, optional=True)
        check_real("tol", self.tol, minimum=0, strict=True)
        check_real("mu", self.mu, minimum=0, strict=True, optional=True)
        if self.max_iter is not None:
            check_integer("max_iter", self.max_iter)
        if self.compare and self.solver != "greedy":
            raise ValueError(
                f'compare=True adds the published solver to solver="greedy", got '
                f"solver={self.solver!r}; leave compare=False"
            )
        if self.rho is None or (isinstance(self.rho, str) and self.rho == "auto"):
            automatic = True
        else:
            automatic = False
            check_real("rho", self.rho, minimum=0, strict=True)
        if self.rho is not None and self.solver == "greedy" and not self.compare:
            raise ValueError(
                f'solver="greedy" keeps the limit itself and has no use for rho, got '
                f'rho={self.rho!r}; leave rho=None or choose solver="irls" or "nmapg"'
            )
        if not (self.solver == "nmapg" or self.compare):
            if self.mu is not None:
                raise ValueError(
                    f'mu smooths solver="nmapg" only, got mu={self.mu!r} with '
                    f"solver={self.solver!r}; leave mu=None"
                )
            if self.step_constant != "printed":
                raise ValueError(
                    f'step_constant belongs to solver="nmapg", got {self.step_constant!r} with '
                    f"solver={self.solver!r}; leave it alone"
                )
        self._automatic_rho = automatic

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._robust_problem(data)
        eligible = ~problem.constant
        count = self._n_own(data, DEFAULT_COUNT)
        # Constant columns can only fill up a support that asks for more than there is.
        k = min(count, int(eligible.sum()))
        self.gamma_ = self._strength(problem, DEFAULT_SHARE)
        if self.solver == "greedy":
            ties = self._fit_greedy(problem, eligible, k)
        else:
            ties = self._fit_penalised(problem, eligible, k)
        self._fit_support(k)
        chosen = self._supports[k]
        scores = self._fitted_norms.copy()
        ties = ties.astype(np.float64)
        ties[chosen] = ties.max(initial=0.0) + 1.0
        return FeatureScores(scores, n_kept=count, ties=ties, constant=problem.constant)

    # -- solvers --------------------------------------------------------------------------

    def _fit_greedy(self, problem: RobustProblem, eligible, k: int) -> np.ndarray:
        search = RobustGreedy(problem.data, self.gamma_, eligible)
        path = search.path(k, _print_size if self.verbose else None)
        supports, objectives = list(path.supports), list(path.objectives)
        if self.compare and supports:
            supports[-1], objectives[-1] = self._compared(
                problem, eligible, k, search, supports[-1]
            )
        self.path_ = SupportPath(supports, np.array(objectives))
        self.history_ = np.array(objectives)
        self.n_iter_ = search.n_fits
        self._keep(problem, {len(support): support for support in supports})
        return path.pulls

    def _compared(self, problem: RobustProblem, eligible, k: int, search: RobustGreedy, support):
        """The best of the support found, that of the published solver, and the latter improved."""
        published = self._penalised(problem, eligible, k, "nmapg")
        theirs = largest(np.where(eligible, row_norms(published.W), -1.0), k)
        improved, _ = search.improve(search.fit(theirs))
        candidates = [support, theirs, improved.features]
        model = SupportModel.of(
            problem, np.concatenate(candidates), self.gamma_, self.tol, DEFAULT_ITERATIONS["greedy"]
        )
        objectives = [model.fit(features).fit.objective for features in candidates]
        best = int(np.argmin(objectives))
        return candidates[best], objectives[best]

    def _fit_penalised(self, problem: RobustProblem, eligible, k: int) -> np.ndarray:
        found = self._penalised(problem, eligible, k, self.solver)
        if not found.converged:
            self._stopped_early = True
            wanted = self.tol if self.solver == "irls" else 0.1 * self.tol
            self._warn_unfinished(
                "its objective still changing by a share of", abs(found.change), wanted
            )
        self.n_iter_ = found.n_iter
        self.history_ = np.array(found.history)
        norms = np.where(eligible, row_norms(found.W), -1.0)
        order = np.argsort(-norms, kind="stable")[:k]
        self._keep(problem, {size: order[:size] for size in range(1, k + 1)})
        return np.maximum(norms, 0.0)

    def _penalised(self, problem: RobustProblem, eligible, k: int, solver: str) -> PenalisedFit:
        """Solve the penalised problem and set ``rho_`` and ``penalised_objective_``."""
        self.rho_ = (
            exact_strength(problem.data, self.gamma_) if self._automatic_rho else float(self.rho)
        )
        penalty = TopKGap(k, self.rho_, self.gamma_)
        callback = _print_iteration if self.verbose else None
        if solver == "irls":
            irls = ReweightedLeastSquares(max_iter=self._iterations(solver), tol=self.tol)
            found = irls.solve(problem.data, penalty, eligible, callback)
        else:
            apg = NonmonotoneAPG(
                mu=None if self.mu is None else float(self.mu),
                max_iter=self._iterations(solver),
                tol=0.1 * self.tol,
                step_constant=self.step_constant,
            )
            found = apg.solve(problem.data, penalty, callback, int(eligible.sum()))
        self.penalised_objective_ = found.objective
        return found

    def _iterations(self, solver: str) -> int:
        if self.max_iter is None or self.solver != solver:
            return DEFAULT_ITERATIONS[solver]
        return int(self.max_iter)

    def _warn_unfinished(self, measure: str, reached: float, wanted: float) -> None:
        warnings.warn(
            f"{type(self).__name__} stopped after {self._iterations(self.solver)} iterations with "
            f"{measure} {reached:.3g} instead of {wanted:.3g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=5,
        )

    # -- the fit on a support -------------------------------------------------------------

    def _keep(self, problem: RobustProblem, supports: dict[int, np.ndarray]) -> None:
        self._supports = {0: np.empty(0, dtype=np.int64), **supports}
        self._model = SupportModel.of(
            problem,
            np.concatenate(list(self._supports.values())),
            self.gamma_,
            self.tol,
            self._iterations("greedy"),
        )

    def _refit(self, n_selected: int) -> None:
        size = min(n_selected, max(self._supports))
        if size != self._fitted_size:
            self._fit_support(size)
        if size == n_selected:
            self._rank_first(self._supports[size])

    def _fit_support(self, size: int) -> None:
        """Solve on the support of this size, to the end."""
        fitted = self._model.fit(self._supports[size])
        if not fitted.fit.converged:
            self._warn_unfinished("a relative duality gap of", fitted.fit.optimality, self.tol)
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.objective_ = fitted.fit.objective
        self.optimality_ = fitted.fit.optimality
        self._fitted_norms = fitted.norms
        self._fitted_size = size

    def _rank_first(self, support: np.ndarray) -> None:
        """Put a support of another size at the top of the ranking, by row norm."""
        first = support[np.lexsort([support, -self._fitted_norms[support]])]
        rest = np.argsort(self.ranking_, kind="stable")
        rest = rest[~np.isin(rest, first)]
        ranking = np.empty_like(self.ranking_)
        ranking[np.concatenate([first, rest])] = np.arange(1, len(ranking) + 1)
        self._set_ranking(self._fitted_norms, ranking)
        self.support_ = self.ranking_ <= len(support) + self._fixed.n_always


def exact_strength(data: RobustData, gamma: float) -> float:
    """max_j sum_i s_i |x_ij| - gamma: from here on the penalty enforces the limit exactly."""
    n_samples, n_features = data.design.shape
    largest_sum = 0.0
    step = max(1, (8 << 20) // (8 * n_samples))
    for start in range(0, n_features, step):
        block = data.design.dense_columns(np.arange(start, min(start + step, n_features)))
        largest_sum = max(largest_sum, float((data.weights @ np.abs(block)).max()))
    return max(largest_sum - gamma, 0.0)


def _print_size(n_features: int, objective: float) -> None:
    print(f"{n_features} features: objective {objective:.6g}")


def _print_iteration(info: dict) -> None:
    print(f"iteration {info['n_iter']}: penalised objective {info['objective']:.6g}")
