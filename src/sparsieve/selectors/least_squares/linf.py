"""Multi-task least squares with the l1,inf penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...penalties import L1Inf
from .row_penalty import RowPenaltySelector


@dataclass(eq=False, repr=False, kw_only=True)
class LInfSelector(RowPenaltySelector):
    """Least squares with a penalty on the largest coefficient of every row.

    In short: Like l21, but penalises only the largest weight of a feature: favours features that
    matter to many classes.

    Minimises ``||XW - Y||^2 + alpha * sum_j max_k |w_jk|``. As with the l2,1 norm, a feature is
    used for all outputs or for none. Only its largest coefficient is penalised, and the others are
    free up to that size, so features that matter to many outputs enter before those that matter to
    one. Solved by block coordinate descent on working sets, with the exact proximal map and
    extrapolation, until the duality gap is small. With one output, or two classes, it is the lasso.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients (a
        smaller ``tol`` identifies these more reliably). If it is given and ``alpha`` is not,
        ``alpha`` is decreased along a path, features are ranked by the value at which they enter
        the model, and ``coef_`` is the solution at which enough features have entered.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
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
    sparsieve.L21Selector : Least squares with an l2,1 (group lasso) penalty.

    References
    ----------
    B. A. Turlach, W. N. Venables, S. J. Wright (2005). Simultaneous variable selection.
    Technometrics 47, 349-363.

    A. Quattoni, X. Carreras, M. Collins, T. Darrell (2009). An efficient projection for l1,inf
    regularization. International Conference on Machine Learning 26, 857-864.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import LInfSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = LInfSelector(n_features_to_select=4).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 0,  9, 11, 12])
    >>> LInfSelector(alpha=100.0).fit(X, y).optimality_ < 1e-6
    True
    """

    _invariant_to_rotations: ClassVar[bool] = False  # the maximum norms of the rows are not
    _decides_zeros: ClassVar[bool] = False  # with hundreds of rows the last digits take long

    def _penalty(self, alpha: float) -> L1Inf:
        return L1Inf(alpha)
