"""The minimax probability machine, linear or with a kernel."""

from __future__ import annotations

import warnings

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from ..._checks import check_choice, check_integer, check_real
from ...design import as_design
from ...solvers.minimax.machine import solve_mpm
from ..input import training_data
from .kernels import KernelPredictor, check_kernel
from .tasks import (
    MULTI_CLASS,
    LinearPredictor,
    ScaledView,
    check_ridge,
    two_class_tasks,
)


class MPMClassifier(LinearPredictor, KernelPredictor, ClassifierMixin, BaseEstimator):
    """The hyperplane with the best worst-case accuracy, given class means and covariances.

    Whatever the distributions of the two classes, as long as they have the estimated means and
    covariances, a new sample is classified correctly with probability at least
    ``worst_case_accuracy_``. With D the difference of the class means, the machine minimises
    sqrt(w'S_1 w) + sqrt(w'S_2 w) subject to D'w = 1.

    Without a ridge the machine does not depend on the units of the features; with one, scale
    them first (for example with ``StandardScaler``).

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian"} or None, default=None
        None separates the features linearly; a kernel separates the vectors
        (k(x, x_1), ..., k(x, x_n)) of similarities to the (distinct) training samples.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of the covariances. "auto" adds nothing to a class with more
        samples than features and a hundredth of the mean variance to any other (its covariance
        would be singular and the bound an illusion); "ledoit_wolf" shrinks each covariance
        towards a multiple of the identity by the rule of Ledoit and Wolf.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the "poly", "rbf", "sigmoid" and "laplacian" kernels: 1 / (n_features
        X.var()), 1 / n_features, or the number itself.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant term of the "poly" and "sigmoid" kernels.
    multi_class : {"ovr", "ovo"}, default="ovr"
        More than two classes: each against the others, compared by margins divided by the
        length of the weights; or each against each, by votes.
    max_iter : int, default=100
        Most Newton iterations.
    tol : float, default=1e-9
        Certified relative gap to reach.

    Attributes
    ----------
    worst_case_accuracy_ : float
        The bound; for several classes that of the worst task.
    coef_, intercept_ : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        Hyperplanes (without a kernel), scaled to D'w = 1.
    support_, support_vectors_, dual_coef_ : ndarray
        With a kernel: the distinct training samples and their weights (n_tasks, n_support).
    classes_ : ndarray of shape (n_classes,)
    objective_ : float
        sqrt(w'S_1 w) + sqrt(w'S_2 w), summed over tasks.
    optimality_ : float
        Certified relative gap (the worst of the tasks).
    n_iter_ : int
    history_ : list of float
        Objective after every iteration of the longest task.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import MPMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = MPMClassifier().fit(X, y)
    >>> print(f"{machine.worst_case_accuracy_:.3f} {machine.score(X, y):.3f}")
    0.775 0.979
    """

    def __init__(
        self,
        kernel=None,
        *,
        ridge="auto",
        gamma="scale",
        degree=3,
        coef0=0.0,
        multi_class="ovr",
        max_iter=100,
        tol=1e-9,
    ):
        self.kernel = kernel
        self.ridge = ridge
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multi_class = multi_class
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X, y, sample_weight=None):
        """Find the hyperplane.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights in the means and covariances; a weight of two counts as the sample twice.

        Returns
        -------
        self : object
        """
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, optional=True)
        check_ridge(self.ridge)
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_integer("max_iter", self.max_iter)
        check_real("tol", self.tol, minimum=0, strict=True)
        data = training_data(self, X, y, sample_weight, accept_regression=False)
        design = data.design
        if self.kernel is not None:
            design = as_design(self._kernel_features(data))
        view = ScaledView.of(design, data.sample_weight, standardize=False)
        planes = [
            solve_mpm(task.moments, tol=self.tol, max_iter=self.max_iter)
            for task in two_class_tasks(
                view.design,
                data.target.codes,
                self.classes_,
                data.sample_weight,
                self.multi_class,
                self.ridge,
            )
        ]
        self._set_hyperplanes(
            view, [(plane.weights, plane.offset) for plane in planes], data.design.dtype
        )
        if self.kernel is not None:
            self._keep_support(self.coef_, slice(None), data.rows)
            del self.coef_
        self.worst_case_accuracy_ = min(plane.accuracy for plane in planes)
        self.objective_ = float(sum(plane.objective for plane in planes))
        self.optimality_ = max(plane.gap for plane in planes)
        self.n_iter_ = max(plane.n_iter for plane in planes)
        self.history_ = max((plane.history for plane in planes), key=len)
        # Rounding in ill-conditioned covariances limits what can be certified.
        if self.optimality_ > max(self.tol, 1e-5):
            warnings.warn(
                f"MPMClassifier stopped after {self.n_iter_} iterations with optimality "
                f"{self.optimality_:.3g} instead of {self.tol:.3g}; raise max_iter, tol or ridge",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def _margins(self, X):
        predictor = LinearPredictor if self.kernel is None else KernelPredictor
        return predictor._margins(self, X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
