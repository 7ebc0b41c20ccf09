"""The convex machines: L1-MPM reaches a worst-case accuracy, S-MPM weighs it against the norm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..._checks import check_choice
from ..._cost import announce
from ..._saved import Floats, Maybe
from ...solvers.base import Callback, Result
from .base import LevelSelector, MinimaxSelector, TwoClassTask, check_real_or_name
from .solvers.l1_mpm import L1MPM
from .solvers.problem import Hyperplane
from .solvers.published import PublishedSMPM
from .solvers.ratio_mpm import SMPM


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


SOLVERS = ("cone", "published")


@dataclass(eq=False, repr=False, kw_only=True)
class SMPMSelector(MinimaxSelector):
    """Best worst-case accuracy with an l1 penalty on the weights.

    In short: Maximises guaranteed accuracy for the given class means and covariances, with an l1
    penalty.

    Maximises (D'w - alpha ||w||_1) / (sqrt(w'S_1 w) + sqrt(w'S_2 w)) with D the difference of the
    class means. The ratio does not depend on the length of w, so this is one cone program:

        min sqrt(w'S_1 w) + sqrt(w'S_2 w)  s.t.  D'w - alpha ||w||_1 >= 1,

    which has a solution for alpha below the largest ``|D_j|``.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with a nonzero weight.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    alpha : float or "auto", default="auto"
        Strength of the row penalty. "auto" means 0.3 times the largest possible value if every
        class has more samples than there are features, and 0.6 times otherwise.
    solver : {"cone", "published"}, default="cone"
        "cone" solves the cone program on a small set of features, which grows until no other
        feature can improve it. "published" maximises the ratio itself by quadratic interpolation
        over a sequence of programs in all features. The optimum is the same; use it to compare
        numbers of iterations with the paper.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" adds nothing to a class with more samples
        than features and a tenth of its mean variance to any other; "ledoit_wolf" uses Ledoit-Wolf
        shrinkage.
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
        Maximum number of rounds of adding features, or of programs for "published".
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
    alpha_ : float or ndarray of shape (n_tasks,)
        The alpha of each task.
    worst_case_accuracy_ : float
        Guaranteed accuracy, given the estimated means and covariances: the smallest over classes
        and tasks.
    objective_ : float
        Value of the cone program (one over the best ratio), summed over tasks.
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
    sparsieve.L1MPMSelector : The convex counterpart, with an l1 norm.
    sparsieve.MPMClassifier : The minimax classifier on all features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import SMPMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SMPMSelector().fit(X, y).transform(X).shape
    (569, 6)
    """

    alpha: float | str = "auto"
    solver: str = "cone"
    max_iter: int = 200
    tol: float = 1e-6

    _auto_ridge_share: ClassVar[float] = 0.1
    _remedy: ClassVar[str] = "lower alpha"
    _asks: ClassVar[str] = "alpha_"

    alpha_: Maybe[float | Floats] = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_real_or_name("alpha", self.alpha, ("auto",), minimum=0)

    def _solve(self, task: TwoClassTask, callback: Callback | None) -> Result[Hyperplane]:
        moments = task.moments
        size = np.abs(moments.difference)
        largest = float(np.delete(size, task.free).max(initial=0.0))
        if isinstance(self.alpha, str):
            enough = min(group.size for group in moments.groups) > moments.n_features
            alpha = (0.3 if enough else 0.6) * largest
        else:
            alpha = float(self.alpha)
        if alpha >= largest and not size[task.free].any():
            raise ValueError(
                f"alpha={alpha:g} leaves no feature for {task.name(self.classes_)}; pass an alpha "
                f'below {largest:.6g}, the largest difference of class means, or "auto"'
            )
        self._asked.append(alpha)
        # Few samples leave very many features with a difference: measured with 1,800 of them.
        work = 0.25 * float((size > alpha).sum()) ** 3
        announce(type(self).__name__, work, "a larger alpha is faster")
        solver = PublishedSMPM if self.solver == "published" else SMPM
        return solver(self.tol, self.max_iter).solve(task.problem(alpha), callback=callback)
