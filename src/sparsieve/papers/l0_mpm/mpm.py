"""The minimax probability machine, linear or with a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ...design import as_design
from ...selectors.fitted import keep_result
from ...selectors.margins import MarginPredictions, machine_view
from ...validation.training_data import training_data
from .similarities import SimilarityMargins, check_kernel
from .solvers.mpm import MPM
from .tasks import check_machine, keep_planes, two_class_tasks


@dataclass(eq=False, repr=False)
class MPMClassifier(SimilarityMargins, BaseEstimator):
    """Classifier with the best worst-case accuracy, given class means and covariances.

    Whatever the distributions of the two classes, as long as they have the estimated means and
    covariances, a new sample is classified correctly with probability at least
    ``worst_case_accuracy_``. With D the difference of the class means, the machine minimises
    sqrt(w'S_1 w) + sqrt(w'S_2 w) subject to D'w = 1.

    Several classes are compared by margins divided by the norm of the weights (one-vs-rest), or by
    votes (one-vs-one).

    Without a ridge the result does not depend on the units of the features; with one, scale them
    first (for example with ``StandardScaler``).

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian"} or None, default=None
        None gives a linear classifier on the features; a kernel gives a linear classifier on the
        similarities (k(x, x_1), ..., k(x, x_n)) to the (distinct) training samples.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" adds nothing to a class with more samples
        than features and a hundredth of the mean variance to any other (whose covariance would be
        singular and the bound meaningless); "ledoit_wolf" uses Ledoit-Wolf shrinkage towards a
        multiple of the identity.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the "poly", "rbf", "sigmoid" and "laplacian" kernels: 1 / (n_features
        X.var()), 1 / n_features, or the number itself.
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant term of the "poly" and "sigmoid" kernels.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Strategy for more than two classes, one-vs-rest or one-vs-one.
    max_iter : int, default=100
        Maximum number of Newton iterations.
    tol : float, default=1e-6
        Stop when the proven relative gap is at most this.

    Attributes
    ----------
    worst_case_accuracy_ : float
        Guaranteed accuracy; for several classes the smallest over tasks.
    coef_, intercept_ : ndarray of shape (n_tasks, n_features) and (n_tasks,)
        Hyperplanes (without a kernel), scaled to D'w = 1.
    support_, support_vectors_, dual_coef_ : ndarray
        With a kernel: the distinct training samples and their weights (n_tasks, n_support).
    classes_ : ndarray of shape (n_classes,)
    objective_ : float
        sqrt(w'S_1 w) + sqrt(w'S_2 w), summed over tasks.
    optimality_ : float
        Proven relative gap to the optimum (the largest over tasks).
    n_iter_ : int
    converged_ : bool
        Whether ``optimality_`` reached ``tol``.
    history_ : list of float
        Objective after every iteration, summed over tasks.

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.
    sparsieve.SparseKernelMPMClassifier : Sparse kernel classifier of the same family.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sparsieve import MPMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> machine = MPMClassifier().fit(X, y)
    >>> print(f"{machine.worst_case_accuracy_:.3f} {machine.score(X, y):.3f}")
    0.775 0.979
    """

    kernel: str | None = None
    _: KW_ONLY
    ridge: float | str = "auto"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    multi_class: str = "ovr"
    max_iter: int = 100
    tol: float = 1e-6

    _accepts_regression: ClassVar[bool] = False

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the means and covariances; a weight of 2 counts like two copies of the
            sample.

        Returns
        -------
        self : object
        """
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, optional=True)
        check_machine(self)
        data = training_data(self, X, y, sample_weight)
        design = data.design
        if self.kernel is not None:
            design = as_design(self._kernel_features(data))
        view = machine_view(design, data.sample_weight, standardize=False)
        solver = MPM(self.tol, self.max_iter)
        tasks = two_class_tasks(self, data, view.design)
        results = [solver.solve(task.problem()) for task in tasks]
        coef, _ = keep_planes(self, data, view, results, data.design.dtype)
        if self.kernel is None:
            self.coef_ = coef
        else:
            self._keep_support(coef, slice(None), data.rows)
        keep_result(self, results)
        return self

    def _margins(self, X) -> np.ndarray:
        kind = MarginPredictions if self.kernel is None else SimilarityMargins
        return kind._margins(self, X)
