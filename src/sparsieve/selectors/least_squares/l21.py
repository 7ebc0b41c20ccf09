"""Multi-task least squares with the l2,1 penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...penalties import L21
from ..base import TrainingData
from ..preparation import Prepared
from .row_penalty import GroupModel, RowModel, RowPenaltySelector


@dataclass(eq=False, repr=False, kw_only=True)
class L21Selector(RowPenaltySelector):
    """Least squares with a penalty on the norms of the coefficient rows.

    In short: Chooses features together by shrinking the useless ones to zero (group lasso); a safe
    convex model.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2``: a feature is used for all outputs or
    for none. Solved to a duality gap by coordinate descent on working sets with Newton steps in
    the row norms.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients.
        When it is given and ``alpha`` is not, features are ranked by the strength at which they
        enter the model on a path of falling ``alpha``, and ``coef_`` is the solution where
        enough have entered.
    alpha : float or None, default=None
        Strength of the row penalty. None follows the path if ``n_features_to_select`` is given
        and is a tenth of the smallest strength that keeps nothing otherwise.
    fit_intercept : bool, default=True
        Fit an intercept that is not penalised.
    standardize : bool, default=True
        Scale columns to unit variance inside the fit; constant columns are left alone.
    max_iter : int, default=10000
        Largest number of coordinate descent sweeps for one strength.
    tol : float, default=1e-6
        The duality gap to reach, relative to the objective.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept and never penalised, such as known covariates: the others
        are judged by what they add. They count among the ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept: the fit is that without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities, and asks where whole numbers could be either.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes in the loss.
    verbose : int, default=0
        1 prints every iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together, see :class:`~sparsieve.RidgeForwardSelector`.
        The penalty is then ``alpha * sum_g c_g ||W_g||`` over the groups, and
        ``n_features_to_select`` counts groups. Overlapping groups have copies of the coefficients
        that they share.
    group_weights : dict or array-like of shape (n_groups,), default=None
        The factor c_g of every group, by name or in the order of ``group_names_``. None
        is the square root of the rank of the group's columns, so that large groups enter no
        sooner than small ones.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        After a path the strength at which the feature entered, relative to the smallest one
        that keeps nothing; for those left out their correlation with the residual at the end, on
        the same scale. For a given ``alpha`` norms of standardised coefficients: the row norms on
        standardised columns, divided by the root mean square of the centred target.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by the gradient of the loss at their zero coefficients.
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
        Its duality gap relative to the objective.
    converged_ : bool
        Whether that is at most ``tol``.
    n_iter_ : int
        Number of sweeps.
    history_ : list of float
        Objective after every round of the working set (of the last strength).
    path_ : Path
        The features in order of entry and the strengths at which they entered, when a path was
        followed. At most as many as entered can be asked of ``at``.

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.LInfSelector : A penalty on the largest coefficient of every row.
    sparsieve.ExclusiveL21Selector : Few features, and for every feature few of the classes.

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

    feature_groups: Any = None
    group_weights: Any = None

    def _penalty(self, alpha: float) -> L21:
        return L21(alpha)

    def _model(self, data: TrainingData, problem: Prepared) -> RowModel:
        groups = data.groups
        if groups is None or (groups.are_single and self.group_weights is None):
            if self.group_weights is not None:
                raise ValueError("group_weights are for feature_groups, which are not given")
            return RowModel(self, problem)
        weights = None
        if self.group_weights is not None:
            weights = groups.values("group_weights", self.group_weights)
        return GroupModel(self, problem, groups, ~data.choices.either, weights)
