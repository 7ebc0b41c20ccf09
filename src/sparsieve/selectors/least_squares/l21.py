"""Multi-task least squares with the l2,1 penalty."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import sparse

from ..._checks import check_integer, check_real
from ...penalties import L21, L1Inf
from ...solvers.base import Path, Result, printer
from ...solvers.least_squares.block_cd import BlockCD
from ...solvers.least_squares.problem import LeastSquares, Rows
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..preparation import Prepared
from .scores import GAP, NORM_MEANING, row_norm_scores

PATH_RATIO = 0.9  # from one strength to the next when only a number of features is asked for
PATH_END = 1e-3  # weakest strength of that path, relative to the strongest
DEFAULT_SHARE = 0.1  # of the largest useful strength, when nothing is asked for


@dataclass(eq=False, repr=False, kw_only=True)
class L21Selector(LinearSelector):
    """Least squares with an l2,1 (group lasso) penalty on the coefficient rows.

    In short: Group lasso: shrinks the coefficients of uninformative features to zero; a convex
    model.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2``: a feature is used for all outputs or for
    none. Solved by coordinate descent on working sets, with Newton steps in the row norms, until
    the duality gap is small.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients. If it is
        given and ``alpha`` is not, ``alpha`` is decreased along a path, features are ranked by the
        value at which they enter the model, and ``coef_`` is the solution at which enough features
        have entered.
    alpha : float or None, default=None
        Strength of the row penalty. If None, a path of decreasing strengths is followed when
        ``n_features_to_select`` is given; otherwise alpha is a tenth of alpha_max, the smallest
        strength at which no feature is kept.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of coordinate descent sweeps for one strength.
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates. The other
        features are judged by what they add to these. They count towards ``n_features_to_select``
        and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; where whole numbers could be either, it raises an
        error that asks you to choose.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        After a path: the penalty strength at which the feature entered, relative to alpha_max; for
        features that did not enter, their correlation with the final residual on the same scale.
        For a given ``alpha``: the norm of the feature's standardised coefficients, relative to the
        root mean square of the centred target.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Features with zero coefficients are ranked by the
        gradient of the loss.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercept of every output.
    alpha_ : float
        Penalty strength at which ``coef_`` was computed.
    objective_ : float
        Objective at ``coef_``.
    optimality_ : float
        Duality gap relative to ``objective_``.
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    n_iter_ : int
        Number of sweeps.
    history_ : list of float
        Objective after every round of the working set (for the last strength).
    path_ : Path
        Features in the order in which they entered, with the strengths at which they did (only when
        a path was followed). :meth:`at` accepts at most this many features.

    See Also
    --------
    sparsieve.L20Selector : l2,0-penalised least squares, greedy or exact.
    sparsieve.LInfSelector : A penalty on the largest coefficient of every row.
    sparsieve.ExclusiveL21Selector : Few features, each used for few classes.

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

    alpha: float | None = None
    max_iter: int = 10_000
    tol: float = 1e-6
    task: str = "auto"
    verbose: int = 0

    _accepts_external: ClassVar[bool] = True
    # Where the nonzero rows are the selection, go on until the gap tells which they are.
    _decides_zeros: ClassVar[bool] = True

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if self.alpha is not None or self.n_features_to_select is None:
            return NORM_MEANING
        return (
            "Penalty strength at which the feature entered the model, relative to the smallest "
            "strength that keeps no feature; for features that did not enter, their correlation "
            "with the final residual."
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._prepared(data, squared_loss=True)
        correlation = self._correlation_at_zero(problem)
        largest = float(correlation.max(initial=0.0))
        if self.alpha is None and self.n_features_to_select is not None and largest > 0:
            return self._follow_path(problem, correlation, self._n_own(data, 1))
        alpha = DEFAULT_SHARE * largest if self.alpha is None else float(self.alpha)
        decided = self._decides_zeros and self.n_features_to_select is None
        result = next(self._solve(problem, [alpha], decided))
        self._keep(result, alpha, problem)
        return row_norm_scores(result, problem, data, remedy="lower alpha")

    def _follow_path(self, problem: Prepared, correlation: np.ndarray, count: int) -> FeatureScores:
        """Lower the strength until ``count`` features have been in the model."""
        largest = float(correlation.max())
        steps = int(np.ceil(np.log(PATH_END) / np.log(PATH_RATIO)))
        alphas = largest * PATH_RATIO ** np.arange(1, steps + 1)
        entry = np.zeros(len(correlation))
        order: list[int] = []
        before = largest
        for alpha, result in zip(alphas, self._solve(problem, alphas, decided=True), strict=True):
            new = np.flatnonzero((entry == 0) & result.solution.W.any(axis=1))
            # Within a step features enter in the order of their correlation before it.
            new = new[np.lexsort((new, -correlation[new]))]
            entry[new] = np.clip(correlation[new], alpha, before)
            order += new.tolist()
            before, correlation = alpha, result.solution.correlation
            if len(order) >= count or not result.converged:
                break
        self._keep(result, float(alpha), problem)
        self.path_ = Path.nested(order, strength=np.append(largest, entry[order]))
        # The correlation of what never entered is at most the last strength.
        scores = np.where(entry > 0, entry, np.minimum(correlation, np.nextafter(alpha, 0)))
        return FeatureScores(
            scores / largest,
            n_kept=len(order),
            order=self.path_.features,
            constant=problem.constant,
            complete=False,
        )

    def _solve(
        self, problem: Prepared, alphas: Iterable[float], decided: bool = False
    ) -> Iterator[Result[Rows]]:
        return BlockCD(tol=self.tol, max_iter=self.max_iter, decided=decided).path(
            LeastSquares(problem.design, problem.Y, L21(1.0)),  # every strength brings its own
            (self._penalty(float(alpha)) for alpha in alphas),
            callback=printer(self.verbose, type(self).__name__),
        )

    def _penalty(self, alpha: float) -> L21 | L1Inf:
        return L21(alpha)

    def _correlation_at_zero(self, problem: Prepared) -> np.ndarray:
        """The strength at which every feature would enter where all coefficients are zero."""
        G = 2.0 * problem.design.rmatmul(problem.Y)
        return self._penalty(1.0).dual_norms(G).astype(np.float64, copy=False)

    def _keep(self, result: Result[Rows], alpha: float, problem: Prepared) -> None:
        self.coef_, self.intercept_ = problem.units.coefficients(result.solution.W)
        self.alpha_ = alpha
        self._keep_result(result, measure=GAP)

    def path(self, X, y, *, alphas=None, n_alphas=50, ratio=0.01, sample_weight=None) -> Path:
        """Compute the solutions for a sequence of penalty strengths, each started from the previous
        one.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`.
        alphas : array-like or None, default=None
            Strengths in decreasing order. None uses ``n_alphas`` values, log-spaced from alpha_max
            (the smallest strength at which no feature is kept) down to ``ratio`` times alpha_max.
        n_alphas : int, default=50
            Number of strengths.
        ratio : float, default=0.01
            Last strength, relative to alpha_max.

        Returns
        -------
        path : Path
            The empty selection at alpha_max, followed by one selection per strength, with
            coefficients in the units of X, objectives and relative duality gaps.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import L21Selector
        >>> path = L21Selector().path(*load_wine(return_X_y=True), n_alphas=4)
        >>> path.n_features
        array([ 0,  6,  9, 11, 12])
        """
        self._check_parameters()
        check_integer("n_alphas", n_alphas)
        check_real("ratio", ratio, minimum=0, strict=True)
        problem = self._prepared(self._training_data(X, y, sample_weight), squared_loss=True)
        largest = float(self._correlation_at_zero(problem).max(initial=0.0))
        if alphas is None:
            alphas = np.geomspace(largest, ratio * largest, n_alphas + 1)[1:]
        alphas = np.asarray(alphas, dtype=np.float64)
        if alphas.ndim != 1 or len(alphas) == 0 or not (alphas > 0).all():
            raise ValueError("alphas must be a list of positive numbers")
        if (np.diff(alphas) > 0).any():
            raise ValueError("alphas must be in decreasing order, the largest first")
        n_features, n_outputs = problem.design.shape[1], problem.Y.shape[1]
        nothing = np.zeros((n_features, n_outputs), dtype=problem.design.dtype)
        power = float(np.vdot(problem.Y, problem.Y))
        results = list(self._solve(problem, alphas))
        # A path is no fit: it warns like one, and leaves no attributes behind.
        copy.copy(self)._keep_result(results, measure=GAP)
        solutions = [nothing, *(result.solution.W for result in results)]
        models = [problem.units.coefficients(W) for W in solutions]
        return Path(
            supports=[np.flatnonzero(W.any(axis=1)) for W in solutions],
            objective=np.array([power, *(result.objective for result in results)]),
            strength=np.append(largest, alphas),
            optimality=np.array([0.0, *(result.optimality for result in results)]),
            coefs=[sparse.csc_array(coef) for coef, _ in models],
            intercepts=[intercept for _, intercept in models],
        )
