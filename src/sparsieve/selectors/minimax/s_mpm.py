"""The machine that holds the l1 norm of the weights against the accuracy: SMPM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..._checks import check_choice
from ..._cost import announce
from ...solvers.base import Callback, Result
from ...solvers.minimax.hyperplane import Hyperplane
from ...solvers.minimax.published_smpm import PublishedSMPM
from ...solvers.minimax.ratio_mpm import SMPM
from .base import MinimaxSelector
from .tasks import TwoClassTask, check_real_or_name

SOLVERS = ("cone", "published")


@dataclass(eq=False, repr=False, kw_only=True)
class SMPMSelector(MinimaxSelector):
    """Best worst-case accuracy with the l1 norm of the weights held against it.

    In short: Worst-case accuracy for given means and spreads, balanced against the size of the
    weights.

    Maximises (D'w - alpha ||w||_1) / (sqrt(w'S_1 w) + sqrt(w'S_2 w)) with D the difference of the
    class means. The ratio does not depend on the length of w, so this is one cone program:

        min sqrt(w'S_1 w) + sqrt(w'S_2 w)  s.t.  D'w - alpha ||w||_1 >= 1,

    which has a solution for alpha below the largest ``|D_j|``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those of nonzero weight.
    alpha : float or "auto", default="auto"
        Strength of the row penalty. "auto" is 0.3 of the largest possible value where every class
        has more samples than there are features, and 0.6 of it otherwise.
    solver : {"cone", "published"}, default="cone"
        "cone" solves the cone program on a few features that grow until no other is worth its
        cost. "published" maximises the ratio itself as a fractional program, by quadratic
        interpolation over a sequence of programs in all features: the same optimum, for
        comparison with published numbers of iterations.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" is nothing for a class with more
        samples than features and a tenth of its mean variance otherwise; "ledoit_wolf" shrinks by
        the rule of Ledoit and Wolf.
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
        Most rounds of adding features, or programs of the published iteration.
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
    alpha_ : float or ndarray of shape (n_tasks,)
        The alpha of each task.
    worst_case_accuracy_ : float
        Accuracy guaranteed by the moments, for the class and task that are worst off.
    objective_ : float
        Value of the cone program (one over the best ratio), summed over tasks.
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
    sparsieve.L1MPMSelector : The convex relative, with absolute weights.
    sparsieve.MPMClassifier : The classifier behind it, without selection.

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
                f"alpha={alpha:g} leaves no feature for {task.name(self.classes_)}: it must be "
                f"below {largest:.6g}, the largest difference of class means; pass a smaller "
                'alpha or "auto"'
            )
        self._asked.append(alpha)
        # Few samples leave very many features with a difference: measured with 1,800 of them.
        work = 0.25 * float((size > alpha).sum()) ** 3
        announce(type(self).__name__, work, "a larger alpha takes less")
        solver = PublishedSMPM if self.solver == "published" else SMPM
        return solver(self.tol, self.max_iter).solve(task.problem(alpha), callback=callback)
