"""Rescaled linear regression, with or without unlabelled samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..._checks import check_flag, check_real
from ...losses import SquaredLoss
from ...penalties import SquaredL21, row_norms
from ...solvers.least_squares.problem import LegacyResult as Result
from ...solvers.least_squares.problem import Problem
from ...solvers.least_squares.rescaled import RescaledRegression
from ..base import FeatureScores, TrainingData
from ..linear import LinearSelector
from ..preparation import Prepared
from ..target import Target
from .exclusive_l21 import print_progress

GAMMA_PER_SAMPLE = 0.1
UNLABELLED = -1
# Labels and coefficients are solved for in turn until the objective settles to this share.
LABEL_ROUNDS, LABEL_CHANGE = 200, 1e-6


class RLSRSelector(LinearSelector):
    """Least squares with a common budget for the weights of all features.

    Minimises ``||XW - Y||^2 + gamma * (sum_j ||w_j||_2)^2``, the rescaled regression with the
    scale factors theta_j = ||w_j|| / sum eliminated (they are ``scores_`` up to their sum). With
    ``semi_supervised=True`` samples labelled -1 take part with soft labels: probabilities over
    the classes that are chosen together with W to minimise the same objective.

    Parameters
    ----------
    gamma : float or None, default=None
        Strength of the penalty; None is 0.1 times the (weighted) number of samples.
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with nonzero coefficients.
    semi_supervised : bool, default=False
        Read the label -1 as "unlabelled", as scikit-learn's semi-supervised estimators do.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept (exact, by centring).
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=10000
        Largest number of coordinate descent sweeps for one l2,1 problem.
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective (for the soft labels at hand).
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y; integer targets look like classes unless told otherwise.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss; not for semi-supervised fits.
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
    coef_ : ndarray of shape (n_outputs, n_features)
        Coefficients in the units of X.
    intercept_ : ndarray of shape (n_outputs,)
        Intercepts.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Soft labels of all samples, for semi-supervised fits.
    gamma_ : float
        The strength used.
    objective_ : float
        Objective of the standardised problem.
    optimality_ : float
        Duality gap relative to it.
    n_iter_ : int
        Number of coordinate descent sweeps.
    history_ : list of float
        Objective after every l2,1 problem, or after every round of soft labels.

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

    def __init__(
        self,
        gamma=None,
        n_features_to_select=None,
        *,
        semi_supervised=False,
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
        self.gamma = gamma
        self.n_features_to_select = n_features_to_select
        self.semi_supervised = semi_supervised
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
        check_real("gamma", self.gamma, minimum=0, strict=True, optional=True)
        check_flag("semi_supervised", self.semi_supervised)
        if self.semi_supervised and self.class_weight is not None:
            raise ValueError(
                "class_weight needs the class of every sample; leave it None with "
                "semi_supervised=True and pass sample_weight instead"
            )

    def _training_data(self, X, y, sample_weight) -> TrainingData:
        data = super()._training_data(X, y, sample_weight)
        if not self.semi_supervised:
            return data
        target = _without_unlabelled(data.target)
        self.classes_ = target.classes
        return replace(data, target=target)

    def _fit(self, data: TrainingData) -> FeatureScores:
        self.gamma_ = GAMMA_PER_SAMPLE * data.total_weight
        if self.gamma is not None:
            self.gamma_ = float(self.gamma)
        hidden = data.target.codes == UNLABELLED if self.semi_supervised else np.zeros(0, bool)
        if hidden.any():
            problem, result = self._fit_soft_labels(data, hidden)
        else:
            problem = self._prepared(data, squared_loss=True)
            result = self._solve(problem)
            if self.semi_supervised:
                self.label_distributions_ = data.target.Y
        self.coef_, self.intercept_ = problem.units.coefficients(result.W)
        self.objective_ = result.objective
        self.optimality_ = result.optimality / max(result.objective, np.finfo(float).tiny)
        self.n_iter_ = max(1, result.n_iter)
        self.history_ = result.history
        if not result.converged:
            self._warn_not_converged("a relative duality gap of", self.optimality_, self.tol)
        norms = row_norms(result.W)
        return FeatureScores(
            norms,
            n_kept=int((norms > 0).sum()),
            ties=result.pull,
            constant=problem.constant,
        )

    def _solve(self, problem: Prepared, W0=None, alpha=None) -> Result:
        solver = RescaledRegression(tol=self.tol, max_iter=self.max_iter)
        equations = Problem(problem.design, problem.Y, SquaredLoss(), SquaredL21(self.gamma_))
        return solver.solve(equations, W0, print_progress if self.verbose else None, alpha)

    def _fit_soft_labels(self, data: TrainingData, hidden: np.ndarray):
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
        problem = self._prepared(start, squared_loss=True, compress=False)
        result = self._solve(problem)
        labels = data.target.Y.astype(np.float64)
        design = data.design.rows(np.flatnonzero(hidden))
        history: list[float] = []
        n_sweeps = result.n_iter
        for _ in range(LABEL_ROUNDS):
            coef, intercept = problem.units.coefficients(result.W)
            labels[hidden] = project_to_simplex(design.matmul(coef.T) + intercept)
            target = replace(data.target, Y=labels.astype(data.target.Y.dtype))
            problem = self._prepared(
                replace(data, target=target), squared_loss=True, compress=False
            )
            alpha = 2.0 * self.gamma_ * float(row_norms(result.W).sum())
            result = self._solve(problem, result.W, alpha)
            n_sweeps += result.n_iter
            history.append(result.objective)
            if len(history) > 1 and history[-2] - history[-1] <= LABEL_CHANGE * history[-2]:
                break
        result.history, result.n_iter = history, n_sweeps
        self.label_distributions_ = labels.astype(data.target.Y.dtype)
        return problem, result


def _without_unlabelled(target: Target) -> Target:
    """The same target with -1 read as "unlabelled" instead of as a class."""
    if target.task != "classification":
        raise ValueError("semi_supervised=True needs one column of class labels, with -1 for none")
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
