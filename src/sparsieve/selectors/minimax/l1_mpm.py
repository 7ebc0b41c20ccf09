"""L1-MPM: the least absolute weights that reach a worst-case accuracy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...solvers.base import Result
from ...solvers.minimax.hyperplane import Hyperplane
from ...solvers.minimax.l1_mpm import L1MPM
from .base import LevelSelector


@dataclass(eq=False, repr=False, kw_only=True)
class L1MPMSelector(LevelSelector):
    """Least absolute weights that keep a worst-case accuracy of ``delta``.

    In short: As l0-mpm, with small weights instead of few: quicker, keeps more features.

    With class means mu_1, mu_2, covariances S_1, S_2 and kappa = sqrt(delta / (1 - delta)) the
    selector solves

        min ||w||_1  s.t.  mu_1'w - b >= max(kappa sqrt(w'S_1 w), 1),
                           b - mu_2'w >= max(kappa sqrt(w'S_2 w), 1),

    so that each class lies on its side of w'x = b with probability at least ``delta``, whatever
    its distribution. Features outside the support carry no weight. The solution is certified:
    ``optimality_`` bounds its relative distance to the optimum over all features.

    Several classes are several two-class tasks. Their weights are compared after dividing each
    task's (standardised) weights by their length, because that is how the tasks' margins are
    compared when predicting: a feature ranks by the largest share it has in any task. A feature
    that decides one task alone thus ranks before one that helps a little everywhere.

    The largest feasible level is 1 where the classes can be separated without spread, as with
    fewer samples than features and no ridge.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those of nonzero weight.
    delta : float or "auto", default="auto"
        Worst-case accuracy to reach, in (0, 1). "auto" is 0.8 of the largest feasible level.
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
    max_iter : int, default=200
        Most rounds of adding features.
    tol : float, default=1e-6
        Relative duality gap to reach.
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
        Sum of the absolute weights of standardised features, summed over tasks.
    optimality_ : float
        Certified relative gap over all features (the worst of the tasks).
    n_iter_ : int
    converged_ : bool
        Whether ``optimality_`` came down to ``tol``.
    history_ : list of float
        Objective after every round, summed over tasks.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that keep a worst-case accuracy.
    sparsieve.SMPMSelector : Weighs worst-case accuracy against absolute weights.
    sparsieve.MPMClassifier : The classifier behind it, without selection.

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

    def _solve_at(self, task, level, callback) -> Result[Hyperplane]:
        problem = task.problem(level=level)
        return L1MPM(self.tol, self.max_iter).solve(problem, callback=callback)
