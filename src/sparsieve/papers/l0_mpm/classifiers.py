"""The minimax probability machine, linear or with a kernel."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator

from ..._checks import check_choice
from ...design import as_design
from ...penalties import SURROGATES
from ...selectors.fitted import keep_result
from ...selectors.margins import MarginPredictions, machine_view
from ...validation.training_data import training_data
from .base import LevelSelector, check_machine, keep_planes, two_class_tasks
from .convex import L1MPMSelector
from .selector import L0MPMSelector
from .similarities import SimilarityMargins, check_kernel
from .solvers.mpm import MPM


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


# Few samples are regularisation enough; this only keeps the cones well conditioned. Anything much
# larger puts levels such as 0.9 out of reach for wide kernels.
AUTO_RIDGE_SHARE = 1e-6
SOLVERS = ("surrogate", "published")


@dataclass(eq=False, repr=False)
class SparseKernelMPMClassifier(SimilarityMargins, BaseEstimator):
    """Kernel classifier with a given worst-case accuracy that uses few training samples.

    ``L0MPMSelector`` (or ``L1MPMSelector``) applied to the vectors (k(x, x_1), ..., k(x, x_n)) of
    similarities to the training samples: it selects samples, not features, so this is a classifier
    without ``transform``. With a strictly positive definite kernel and a small ridge nearly every
    delta is feasible; it then says little about new samples and is best chosen by cross-validation.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "laplacian"}, default="rbf"
        Similarity of two samples.
    delta : float or "auto", default="auto"
        Worst-case accuracy to reach, in (0, 1). "auto" uses 0.8 times the largest feasible value.
    norm : {"l0", "l1"}, default="l0"
        Minimise an approximation of the number of samples, or the l1 norm of their weights.
    surrogate : {"exp", "log", "capped_l1", "scad"}, default="exp"
        Function used in place of the number of nonzero weights (``norm="l0"`` only).
    theta : float, default=5.0
        Steepness of the l0 surrogate; larger values come closer to counting features.
    ridge : float, "auto" or "ledoit_wolf", default="auto"
        Added to the diagonal of both covariances. "auto" adds a millionth of the mean variance of
        the similarities, for numerical stability; "ledoit_wolf" uses Ledoit-Wolf shrinkage.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the "poly", "rbf", "sigmoid" and "laplacian" kernels; a Gaussian of width
        sigma has gamma = 1 / (2 sigma^2).
    degree : int, default=3
        Degree of the "poly" kernel.
    coef0 : float, default=0.0
        Constant term of the "poly" and "sigmoid" kernels.
    standardize : bool, default=True
        Scale columns to unit variance before fitting; constant columns are left unchanged. The
        columns here are the similarities, so that weights do not depend on the width of the kernel;
        the features are used unscaled.
    multi_class : {"ovr", "ovo"}, default="ovr"
        Strategy for more than two classes, one-vs-rest or one-vs-one.
    solver : {"surrogate", "published"}, default="surrogate"
        "surrogate" is the DC algorithm with weighted l1 steps. "published" takes the steps that the
        paper prints for features, with weights of samples in their place, as it says
        (``norm="l0"`` only).
    max_iter : int, default=100
        Maximum number of steps of the DC algorithm, or of rounds for ``norm="l1"``.
    tol : float, default=1e-4
        Stop when the relative decrease of the objective and the relative duality gap are at most
        this; "published" stops when a step lowers the objective by less than this, or moves the
        hyperplane by less than this.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Indices of the training samples in use (of duplicates, the first).
    support_vectors_ : array of shape (n_support, n_features)
        These samples.
    dual_coef_ : ndarray of shape (n_tasks, n_support)
        Their weights.
    intercept_ : ndarray of shape (n_tasks,)
    delta_, worst_case_accuracy_, objective_, optimality_, n_iter_, converged_, history_
        As in ``L0MPMSelector``.
    classes_ : ndarray of shape (n_classes,)

    See Also
    --------
    sparsieve.MPMClassifier : The minimax classifier on all features.
    sparsieve.L0MPMSelector : Fewest features that reach a given worst-case accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sparsieve import SparseKernelMPMClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)[:200]
    >>> machine = SparseKernelMPMClassifier(gamma=0.01).fit(X, y[:200])
    >>> len(machine.support_) < 50
    True
    """

    kernel: str = "rbf"
    _: KW_ONLY
    delta: float | str = "auto"
    norm: str = "l0"
    surrogate: str = "exp"
    theta: float = 5.0
    ridge: float | str = "auto"
    gamma: float | str = "scale"
    degree: int = 3
    coef0: float = 0.0
    standardize: bool = True
    multi_class: str = "ovr"
    solver: str = "surrogate"
    max_iter: int = 100
    tol: float = 1e-4

    _accepts_regression: ClassVar[bool] = False
    _scale_free: ClassVar[bool] = False  # similarities are standardised, features are not

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Sample weights in the means and covariances; samples with weight 0 are ignored.

        Returns
        -------
        self : object
        """
        check_kernel(self.kernel, self.gamma, self.degree, self.coef0, optional=False)
        check_choice("norm", self.norm, ("l0", "l1"))
        check_choice("surrogate", self.surrogate, [name for name in SURROGATES if name != "l1"])
        check_choice("solver", self.solver, SOLVERS)
        if self.norm == "l1" and self.solver != SOLVERS[0]:
            raise ValueError(
                'the published steps are those of norm="l0"; with norm="l1" leave solver at '
                f"{SOLVERS[0]!r}"
            )
        inner = self._inner()
        inner._check_parameters()
        data = training_data(self, X, y, sample_weight)
        design = as_design(self._kernel_features(data))
        view = machine_view(design, data.sample_weight, self.standardize)
        inner.classes_ = self.classes_
        none = np.empty(0, dtype=np.int64)
        results = inner._results(data, design, view.design, none, AUTO_RIDGE_SHARE)
        coef, _ = keep_planes(self, data, view, results, design.dtype)
        self._keep_support(coef, np.flatnonzero(coef.any(axis=0)), data.rows)
        self.delta_: float | np.ndarray = inner.delta_
        keep_result(self, results)
        return self

    def _inner(self) -> LevelSelector:
        """The machine on the similarities, with what it has in common with this one."""
        kind = L1MPMSelector if self.norm == "l1" else L0MPMSelector
        own = self.get_params()
        return kind(**{name: own[name] for name in kind().get_params() if name in own})
