"""Multi-task least squares with the l2,1 penalty."""

from __future__ import annotations

import numpy as np

from ..._checks import check_integer, check_real
from ...losses import SquaredLoss
from ...penalties import L21, row_norms
from ...solvers.least_squares.block_cd import BlockCD
from ...solvers.least_squares.problem import LegacyResult as Result
from ...solvers.least_squares.problem import Problem
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..path import RegularisationPath, SelectionPath
from ..preparation import Prepared

PATH_RATIO = 0.9  # from one strength to the next when only a number of features is asked for
PATH_END = 1e-3  # weakest strength of that path, relative to the strongest
DEFAULT_SHARE = 0.1  # of the largest useful strength, when nothing is asked for


class L21Selector(LinearSelector):
    """Least squares with a penalty on the norms of the coefficient rows.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2``: a feature is used for all outputs or
    for none. Solved to a duality gap by coordinate descent on working sets with Newton steps in
    the row norms.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with nonzero coefficients.
        When it is given and ``alpha`` is not, features are ranked by the strength at which they
        enter the model on a path of falling ``alpha``, and ``coef_`` is the solution where
        enough have entered.
    alpha : float or None, default=None
        Strength of the penalty. None follows the path if ``n_features_to_select`` is given and
        is a tenth of the smallest strength that keeps nothing otherwise.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept (exact, by centring).
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=10000
        Largest number of coordinate descent sweeps for one strength.
    tol : float, default=1e-6
        The duality gap to reach, relative to the sum of squares of the (centred) target.
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
        Row norms of the coefficients of the standardised problem; after a path the strength at
        which each feature entered, or would have.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    alpha_ : float
        The strength that ``coef_`` belongs to.
    objective_ : float
        Its objective.
    optimality_ : float
        Its duality gap relative to the sum of squares of the target.
    n_iter_ : int
        Number of sweeps.
    history_ : list of float
        Objective after every round of the working set (of the last strength).
    path_ : SelectionPath
        Order of entry, when a path was followed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import L21Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = L21Selector(n_features_to_select=4).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 0,  6, 11, 12])
    >>> L21Selector(alpha=100.0).fit(X, y).optimality_ < 1e-6
    True
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        alpha=None,
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
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
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
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._prepared(data, squared_loss=True)
        largest = _largest_strength(problem)
        if self.alpha is None and self.n_features_to_select is not None and largest > 0:
            return self._follow_path(problem, largest, self._n_own(data, 1))
        alpha = DEFAULT_SHARE * largest if self.alpha is None else float(self.alpha)
        result = next(self._solve(problem, [alpha]))
        self._keep(result, alpha, problem)
        norms = row_norms(result.W)
        return FeatureScores(
            norms,
            n_kept=int((norms > 0).sum()),
            ties=result.pull,
            constant=problem.constant,
        )

    def _follow_path(self, problem: Prepared, largest: float, count: int) -> FeatureScores:
        """Lower the strength until ``count`` features have been in the model."""
        steps = int(np.ceil(np.log(PATH_END) / np.log(PATH_RATIO)))
        alphas = largest * PATH_RATIO ** np.arange(1, steps + 1)
        entry = np.zeros(problem.design.shape[1])
        before, pull = largest, np.zeros(0)
        for alpha, result in zip(alphas, self._solve(problem, alphas), strict=True):
            new = (entry == 0) & result.W.any(axis=1)
            # Within a step features enter in the order of how hard they pulled before it.
            entry[new] = np.clip(pull[new], alpha, before) if len(pull) else before
            before, pull = alpha, result.pull
            if (entry > 0).sum() >= count or not result.converged:
                break
        self._keep(result, float(alpha), problem)
        order = np.lexsort((np.arange(len(entry)), -entry))[: int((entry > 0).sum())]
        self.path_ = SelectionPath(order, strength=entry[order])
        # What never entered pulls at most as hard as the last strength.
        scores = np.where(entry > 0, entry, np.minimum(pull, np.nextafter(alpha, 0)))
        return FeatureScores(scores, n_kept=len(order), constant=problem.constant)

    def _solve(self, problem: Prepared, alphas):
        solver = BlockCD(tol=self.tol, max_iter=self.max_iter)
        return solver.path(
            Problem(problem.design, problem.Y, SquaredLoss(), L21(0.0)),
            (L21(float(alpha)) for alpha in alphas),
            callback=_print_progress if self.verbose else None,
        )

    def _keep(self, result: Result, alpha: float, problem: Prepared) -> None:
        self.coef_, self.intercept_ = problem.units.coefficients(result.W)
        self.alpha_ = alpha
        self.objective_ = result.objective
        power = float(np.vdot(problem.Y, problem.Y))
        self.optimality_ = result.optimality / power if power > 0 else 0.0
        self.n_iter_ = max(1, result.n_iter)
        self.history_ = result.history
        if not result.converged:
            self._warn_not_converged("a relative duality gap of", self.optimality_, self.tol)

    def path(self, X, y, *, alphas=None, n_alphas=50, ratio=0.01, sample_weight=None):
        """Solve for many strengths, each from the last, to ``tol`` each.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`.
        alphas : array-like or None, default=None
            Strengths in falling order; None takes ``n_alphas`` of them, evenly spaced in
            logarithm from the smallest that keeps nothing down to ``ratio`` times it.
        n_alphas : int, default=50
            Number of strengths.
        ratio : float, default=0.01
            Last strength relative to the first.

        Returns
        -------
        path : RegularisationPath
            Strengths, coefficients in the units of X, objectives, duality gaps and numbers of
            features.
        """
        self._check_parameters()
        check_integer("n_alphas", n_alphas)
        check_real("ratio", ratio, minimum=0, strict=True)
        problem = self._prepared(self._training_data(X, y, sample_weight), squared_loss=True)
        if alphas is None:
            largest = _largest_strength(problem)
            alphas = np.geomspace(largest, ratio * largest, n_alphas)
        alphas = np.asarray(alphas, dtype=np.float64)
        if alphas.ndim != 1 or len(alphas) == 0 or not (alphas > 0).all():
            raise ValueError("alphas must be a list of positive numbers")
        if (np.diff(alphas) > 0).any():
            raise ValueError("alphas must come in falling order, the strongest first")
        path = RegularisationPath()
        power = max(float(np.vdot(problem.Y, problem.Y)), np.finfo(float).tiny)
        for alpha, result in zip(alphas, self._solve(problem, alphas), strict=True):
            coef, intercept = problem.units.coefficients(result.W)
            path.append(float(alpha), coef, intercept, result.objective, result.optimality / power)
            if not result.converged:
                self._warn_not_converged(
                    f"alpha={alpha:.3g}: a gap of", result.optimality / power, self.tol
                )
        return path


def _largest_strength(problem: Prepared) -> float:
    """The smallest strength at which every coefficient is zero."""
    return L21(1.0).critical_strength(2.0 * problem.design.rmatmul(problem.Y))


def _print_progress(info) -> None:
    print(
        f"objective {info['objective']:.8g}  gap {info['optimality']:.3g}  "
        f"features {info['n_active']}"
    )
