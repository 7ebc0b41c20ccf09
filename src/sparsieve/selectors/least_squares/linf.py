"""Multi-task least squares with the l1,inf penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...penalties import L1Inf
from .row_penalty import RowPenaltySelector


@dataclass(eq=False, repr=False, kw_only=True)
class LInfSelector(RowPenaltySelector):
    """Least squares with a penalty on the largest coefficient of every row.

    In short: As l21, but a feature pays only for its largest weight: favours features that matter
    to many classes alike.

    Minimises ``||XW - Y||^2 + alpha * sum_j max_k |w_jk|``. As with the l2,1 norm a feature is
    used for all outputs or for none, but once it pays for its largest coefficient the others are
    free up to that size: features that matter to many outputs alike enter before those that
    matter to one. Solved to a duality gap by block coordinate descent on working sets, with the
    exact proximal map (magnitudes cut at a level) and extrapolation. With one output, and with
    two classes, it is the lasso.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep. None keeps those with nonzero coefficients (a
        smaller ``tol`` tells more surely which these are). When it is given and ``alpha`` is
        not, features are ranked by the strength at which they enter the model on a path of
        falling ``alpha``, and ``coef_`` is the solution where enough have entered.
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
    sparsieve.L21Selector : The convex relative: a penalty on the norms of the rows.

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
