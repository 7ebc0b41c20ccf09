"""L1-MPM: the least absolute weights that reach a worst-case accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.base import Result
from .base import LevelSelector
from .solvers.hyperplane import Hyperplane
from .solvers.l1_mpm import L1MPM


@dataclass(eq=False, repr=False, kw_only=True)
class L1MPMSelector(LevelSelector):
    """Smallest l1 norm of the weights that reaches a worst-case accuracy of ``delta``.

    In short: Like l0-mpm, with an l1 norm instead of a count: faster, keeps more features.

    With class means mu_1, mu_2, covariances S_1, S_2 and kappa = sqrt(delta / (1 - delta)) the
    selector solves

        min ||w||_1  s.t.  mu_1'w - b >= max(kappa sqrt(w'S_1 w), 1),
                           b - mu_2'w >= max(kappa sqrt(w'S_2 w), 1),

    so that each class lies on its side of w'x = b with probability at least ``delta``, whatever its
    distribution. ``optimality_`` is a proven bound on the relative distance to the optimum over all
    features.

    Several classes are split into two-class tasks. The (standardised) weights of each task are
    divided by their norm, as the margins are for predictions, and a feature is ranked by its
    largest share in any task. A feature that decides a single task therefore ranks before one that
    helps a little everywhere.

    The largest feasible delta is 1 if some direction separates the classes with zero variance, for
    example with fewer samples than features and no ridge.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    delta : float or "auto", default="auto"
        Worst-case accuracy to reach, in (0, 1). "auto" uses 0.8 times the largest feasible value.
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
    max_iter : int, default=200
        Maximum number of rounds of adding features.
    tol : float, default=1e-6
        Stop when the relative duality gap is at most this.
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
        Sum of the absolute weights of standardised features, summed over tasks.
    optimality_ : float
        Proven relative gap to the optimum over all features (the largest over tasks).
    n_iter_ : int
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every round, summed over tasks.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.
    sparsieve.SMPMSelector : Trades worst-case accuracy against the l1 norm of the weights.
    sparsieve.MPMClassifier : The minimax classifier on all features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import L1MPMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> selector = L1MPMSelector().fit(X, y)
    >>> selector.transform(X).shape
    (569, 3)
    """

    max_iter: int = 200
    tol: float = 1e-6

    def _objective(self, weights) -> float:
        return float(np.abs(weights).sum())

    def _solve_level(self, task, level, callback) -> Result[Hyperplane]:
        problem = task.problem(level=level)
        return L1MPM(self.tol, self.max_iter).solve(problem, callback=callback)
