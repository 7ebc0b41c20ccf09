"""Robust feature selection (Nie, Huang, Cai and Ding, 2010)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import check_integer, check_real
from ...penalties import row_norms
from ...solvers.row_norms.problem import RobustFit, RowNormRegression
from ..base import FeatureScores, TrainingData
from .base import RobustProblem, RobustSelector

DEFAULT_SHARE = 0.3


@dataclass(frozen=True)
class RFSPath:
    """RFS models for falling strengths.

    Attributes
    ----------
    gammas : ndarray of shape (n_gammas,)
        Strengths, in the order solved.
    features : list of ndarray
        Indices of the nonzero rows at every strength.
    coefs : list of ndarray of shape (n_outputs, n_nonzero)
        Their coefficients in the units of X.
    intercepts : ndarray of shape (n_gammas, n_outputs)
        Intercepts.
    objectives, gaps : ndarray of shape (n_gammas,)
        Objectives and their certified relative duality gaps.
    """

    gammas: np.ndarray
    features: list[np.ndarray]
    coefs: list[np.ndarray]
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray

    @property
    def n_features(self) -> np.ndarray:
        """Number of nonzero rows at every strength."""
        return np.array([len(features) for features in self.features])

    def __len__(self) -> int:
        return len(self.gammas)


class RFSSelector(RobustSelector):
    """Keep the features with the largest rows in a sparse regression robust to outliers.

    Minimises ``sum_i s_i ||y_i - x_i W - b|| + gamma * sum_j ||w_j||`` over W and b, with s_i
    the sample weights. Residuals count by their norm, not by its square, so that a sample
    which does not fit cannot dominate the others; the row norms make whole rows of W exactly
    zero. The problem is convex and is solved to a certified duality gap.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep: the largest rows, then those closest to
        entering. None keeps the nonzero rows.
    gamma : float or None, default=None
        Strength of the penalty. None is 0.3 times gamma_max, the largest norm of x_j'L where
        the rows of L are those of the centred target divided by their norms.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised (exactly: it is not the mean for this loss).
    standardize : bool, default=True
        Scale columns to unit variance. Constant columns are left alone.
    tol : float, default=1e-6
        Relative duality gap to reach.
    max_iter : int, default=200
        Largest number of interior-point iterations.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints every round.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Row norms of W on the standardised data.
    ranking_ : ndarray of shape (n_features,)
        By row norm; equal rows (the zero ones) by how close they are to entering.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    gamma_ : float
        The strength used.
    objective_ : float
        Objective on the standardised data.
    optimality_ : float
        Certified relative duality gap: the objective exceeds the optimum by at most this
        share of itself.
    n_iter_ : int
        Interior-point iterations.
    history_ : ndarray
        Objective after every iteration, on the features considered at that time.

    References
    ----------
    F. Nie, H. Huang, X. Cai and C. Ding (2010). Efficient and robust feature selection via
    joint l2,1-norms minimization. NIPS 23.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import RFSSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = RFSSelector(n_features_to_select=4).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 7, 20, 21, 27])
    >>> selector.optimality_ <= 1e-6
    True
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        gamma=None,
        fit_intercept=True,
        standardize=True,
        tol=1e-6,
        max_iter=200,
        always_keep=None,
        never_keep=None,
        task="auto",
        class_weight=None,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.gamma = gamma
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.task = task
        self.class_weight = class_weight
        self.verbose = verbose

    def _fit(self, data: TrainingData) -> FeatureScores:
        problem = self._robust_problem(data)
        self.gamma_ = self._strength(problem, DEFAULT_SHARE)
        fit = self._solver(problem).solve(self.gamma_)
        if not fit.converged:
            self._warn_not_converged("a relative duality gap of", fit.optimality, self.tol)
        self.coef_, self.intercept_ = problem.in_user_units(fit.W, fit.free)
        self.objective_ = fit.objective
        self.optimality_ = fit.optimality
        self.n_iter_ = fit.n_iter
        self.history_ = np.array(fit.history)
        scores = row_norms(fit.W)
        return FeatureScores(
            scores,
            n_kept=int((scores > 0).sum()),
            ties=fit.pulls,
            constant=problem.constant,
        )

    def path(self, X, y, gammas=None, *, n_gammas=20, ratio=0.01, sample_weight=None) -> RFSPath:
        """Models for a sequence of strengths, each started from the last.

        Parameters
        ----------
        X, y, sample_weight
            Training data, as in :meth:`fit`.
        gammas : array-like or None, default=None
            Strengths; best in falling order. None takes ``n_gammas`` of them, geometrically
            spaced from gamma_max down to ``ratio`` times gamma_max.
        n_gammas : int, default=20
            Number of strengths where ``gammas`` is None.
        ratio : float, default=0.01
            Smallest strength relative to gamma_max where ``gammas`` is None.

        Returns
        -------
        path : RFSPath
            Strengths, nonzero rows, coefficients, objectives and gaps.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import RFSSelector
        >>> X, y = load_wine(return_X_y=True)
        >>> RFSSelector().path(X, y, n_gammas=4).n_features
        array([ 2,  9, 12, 13])
        """
        self._check_parameters()
        problem = self._robust_problem(self._training_data(X, y, sample_weight))
        if gammas is None:
            check_integer("n_gammas", n_gammas)
            check_real("ratio", ratio, minimum=0, strict=True)
            top = problem.data.reference_strength() or 1.0
            gammas = top * np.geomspace(1.0, ratio, n_gammas)
        gammas = np.asarray(gammas, dtype=np.float64).ravel()
        for gamma in gammas:
            check_real("gammas", float(gamma), minimum=0, strict=True)
        solver = self._solver(problem)
        fits: list[RobustFit] = []
        for gamma in gammas:
            fits.append(solver.solve(float(gamma)))
            if not fits[-1].converged:
                self._warn_not_converged("a relative duality gap of", fits[-1].optimality, self.tol)
        models = [problem.in_user_units(fit.W, fit.free) for fit in fits]
        features = [np.flatnonzero(coef.any(axis=0)) for coef, _ in models]
        return RFSPath(
            gammas,
            features,
            [coef[:, rows] for (coef, _), rows in zip(models, features, strict=True)],
            np.array([intercept for _, intercept in models]),
            np.array([fit.objective for fit in fits]),
            np.array([fit.optimality for fit in fits]),
        )

    def _solver(self, problem: RobustProblem) -> RowNormRegression:
        return RowNormRegression(
            problem.data,
            ~problem.constant,
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            callback=_print_round if self.verbose else None,
        )


def _print_round(info: dict) -> None:
    print(
        f"{info['n_active']} features considered: objective {info['objective']:.6g}, "
        f"relative gap {info['optimality']:.2g}"
    )
