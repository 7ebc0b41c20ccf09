"""Multi-task least squares with the l2,1 penalty."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..._checks import format_names
from ...penalties import GROUP_PENALTIES, L21, GroupPenalty
from ...solvers.paths.signed import SignedL1, SignedLeastSquares
from ..base import Columns, TrainingData
from ..fitted import GAP, STATIONARITY
from ..groups import check_weights, column_signs, prescribes_signs
from .row_penalty import GroupModel, RowModel, RowPenaltySelector


@dataclass(eq=False, repr=False, kw_only=True)
class L21Selector(RowPenaltySelector):
    """Least squares with an l2,1 (group lasso) penalty on the coefficient rows.

    In short: Group lasso: shrinks the coefficients of uninformative features to zero; a convex
    model.

    Minimises ``||XW - Y||^2 + alpha * sum_j ||w_j||_2``: a feature is used for all outputs or for
    none. Solved by coordinate descent on working sets, with Newton steps in the row norms, until
    the duality gap is small.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients. If it is
        given and ``alpha`` is not, ``alpha`` is decreased along a path, features are ranked by the
        value at which they enter the model, and ``coef_`` is the solution at which enough features
        have entered.
    penalty : {"l21", "mcp", "sparse-group"} or penalty object, default="l21"
        "mcp", the minimax concave penalty, shrinks large coefficients less, and those of strong
        features not at all; the model is not convex, and the strength falls in steps to ``alpha``.
        "sparse-group" also makes rows within groups zero: ``coef_`` shows which, while ``support_``
        has whole groups. Pass :class:`~sparsieve.penalties.MCP` or
        :class:`~sparsieve.penalties.SparseGroup` to change their settings.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    nonnegative : bool, list of int or str, or mask, default=False
        Columns whose coefficients must not be negative; True means all of them. With two classes
        they speak for the second one. Covariates of ``always_keep`` may have any sign. Not for
        several columns of y, more classes, or ``feature_groups``.
    alpha : float or None, default=None
        Strength of the penalty. If None, a path of decreasing strengths is followed when
        ``n_features_to_select`` is given; otherwise alpha is a tenth of alpha_max, the smallest
        strength at which no feature is kept.
    fit_intercept : bool, default=True
        Fit an unpenalised intercept.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged.
    max_iter : int, default=10000
        Maximum number of coordinate descent sweeps for one strength.
    tol : float, default=1e-6
        Stop when ``optimality_`` is at most this.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    verbose : int, default=0
        1 prints a line per iteration.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups.
    group_weights : dict or array-like of shape (n_groups,), default=None
        The factor c_g of every group in the penalty ``alpha * sum_g c_g ||W_g||``, by name or in
        the order of ``group_names_``. None is the square root of the rank of the group's columns,
        so that large groups enter no sooner than small ones.

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
        Duality gap relative to ``objective_``; for a penalty that is not convex the residual of its
        stationarity conditions, relative to ``alpha_``.
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
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
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

    penalty: str | GroupPenalty = "l21"
    nonnegative: bool | Columns = False
    feature_groups: Any = None
    group_weights: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._penalty(1.0).check()
        if prescribes_signs(self) and type(self._penalty(1.0)) is not L21:
            raise ValueError(f'nonnegative needs penalty="l21", got penalty={self.penalty!r}')

    def _penalty(self, alpha: float) -> GroupPenalty:
        if isinstance(self.penalty, GroupPenalty):
            return replace(self.penalty, alpha=alpha)
        if not isinstance(self.penalty, str) or self.penalty not in GROUP_PENALTIES:
            raise ValueError(
                f"penalty must be one of {format_names(GROUP_PENALTIES)} or an object such as "
                f"MCP(gamma=3.0), got {self.penalty!r}"
            )
        return GROUP_PENALTIES[self.penalty](alpha)

    def _measure(self) -> str:
        return GAP if self._penalty(1.0).is_convex else STATIONARITY

    def _path_model(self, data: TrainingData) -> RowModel:
        if prescribes_signs(self):
            check_weights(self)
            return SignedModel(self, data)
        groups = data.groups
        single = groups is None or (groups.are_single and self.group_weights is None)
        if single and hasattr(self._penalty(1.0), "dual_bound"):
            check_weights(self)
            return RowModel(self, data)
        return GroupModel(self, data)


class SignedModel(RowModel):
    """The problem of one output, with coefficients that must not be negative."""

    def __init__(self, selector: L21Selector, data: TrainingData) -> None:
        super().__init__(selector, data)
        signs = column_signs(selector, data, self.problem.Y.shape[1], self.problem.units)
        self.penalty: Any = SignedL1(1.0, signs)
        self.equations: Any = replace(self.equations, penalty=self.penalty)
        self.solver: Any = SignedLeastSquares(selector.tol, selector.max_iter)
