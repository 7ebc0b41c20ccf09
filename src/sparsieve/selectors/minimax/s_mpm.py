"""The machine that holds the l1 norm of the weights against the accuracy: SMPM."""

from __future__ import annotations

import numpy as np

from ..._checks import check_choice, check_real
from ...solvers.minimax.generation import noise
from ...solvers.minimax.ratio import RatioMachine
from ..base import FeatureScores, TrainingData
from .base import CONE_ACCURACY, MinimaxSelector, SolvedTask, achieved_accuracy
from .tasks import TwoClassTask


class SMPMSelector(MinimaxSelector):
    """Best worst-case accuracy with the l1 norm of the weights held against it.

    Maximises (D'w - lam ||w||_1) / (sqrt(w'S_1 w) + sqrt(w'S_2 w)) with D the difference of the
    class means. The ratio does not depend on the length of w, so this is one cone program:

        min sqrt(w'S_1 w) + sqrt(w'S_2 w)  s.t.  D'w - lam ||w||_1 >= 1,

    which has a solution for lam below the largest ``|D_j|``.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those of nonzero weight.
    lam : float or "auto", default="auto"
        Price of the weights. "auto" is 0.3 of the largest possible value where every class has
        more samples than there are features, and 0.6 of it otherwise.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of the covariances. "auto" is nothing for a class with more
        samples than features and a tenth of its mean variance otherwise;
        "ledoit_wolf" shrinks by the rule of Ledoit and Wolf.
    standardize : bool, default=True
        Scale features to unit variance first. Without it the result depends on their units.
    always_keep, never_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates, and columns
        that are never kept; see :class:`RidgeForwardSelector`.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: each against the others, or each against each.
    max_iter : int, default=200
        Most rounds of adding features.
    tol : float, default=1e-7
        Relative duality gap to reach.
    verbose : int, default=0
        Print a line per task.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        Hyperplanes in the units of X.
    scores_ : ndarray of shape (n_features,)
        Absolute standardised weights; for several classes see ``L1MPMSelector``.
    ranking_, support_ : ndarray of shape (n_features,)
    lam_ : float or ndarray of shape (n_tasks,)
        The price used for each task.
    worst_case_accuracy_ : float
        Accuracy guaranteed by the moments, for the class and task that are worst off.
    objective_ : float
        Value of the cone program (one over the best ratio), summed over tasks.
    optimality_ : float
        Certified relative gap over all features (the worst of the tasks).
    n_iter_ : int
    history_ : list of float
        Objective after every round.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import SMPMSelector
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> SMPMSelector().fit(X, y).transform(X).shape
    (569, 6)
    """

    _auto_ridge_share = 0.1

    def __init__(
        self,
        n_features_to_select=None,
        *,
        lam="auto",
        ridge="auto",
        standardize=True,
        always_keep=None,
        never_keep=None,
        multi_class="ovr",
        max_iter=200,
        tol=1e-7,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.lam = lam
        self.ridge = ridge
        self.standardize = standardize
        self.always_keep = always_keep
        self.never_keep = never_keep
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.lam, str):
            check_choice("lam", self.lam, ("auto",))
        else:
            check_real("lam", self.lam, minimum=0)

    def _fit(self, data: TrainingData) -> FeatureScores:
        self._lams: list[float] = []
        found = super()._fit(data)
        self.lam_ = self._lams[0] if len(self._lams) == 1 else np.array(self._lams)
        del self._lams
        return found

    def _solve(self, task: TwoClassTask) -> SolvedTask:
        moments = task.moments
        size = np.abs(moments.difference)
        largest = float((size * task.penalised).max())
        if self.lam == "auto":
            enough = min(group.size for group in moments.groups) > moments.n_features
            lam = (0.3 if enough else 0.6) * largest
        else:
            lam = float(self.lam)
        if lam >= largest and not size[task.free].any():
            raise ValueError(
                f"lam={lam:g} leaves no feature for {task.name(self.classes_)}: it must be below "
                f"{largest:.6g}, the largest difference of class means; pass a smaller lam or "
                '"auto"'
            )
        self._lams.append(lam)
        machine = RatioMachine(moments, lam * task.penalised, self.tol, self.max_iter)
        plane = machine.solve()
        return SolvedTask(
            plane.weights,
            plane.offset,
            plane.objective,
            plane.gap,
            plane.gap <= max(self.tol, CONE_ACCURACY, noise(moments)),
            plane.n_rounds,
            plane.history,
            plane.tightness,
            achieved_accuracy(moments, plane.weights, plane.offset),
        )
