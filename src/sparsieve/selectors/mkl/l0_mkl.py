"""One kernel per feature, and few of them: l0 multiple kernel learning."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_integer, check_real
from ...design import standardised
from ...kernels import CallableKernel, FeatureKernel, KernelBank, feature_kernel
from ...kernels.functions import KERNELS
from ...penalties import SURROGATES, surrogate
from ...solvers.mkl.model import AlternatingMKL, MKLModel, MKLResult
from ...solvers.mkl.published import PaperMKLModel
from ..base import BaseSelector, FeatureScores, TrainingData, warn_not_converged
from ..margins import MarginPredictions, class_signs, joint_scores
from .kernel_choice import choose_kernel
from .kernel_machine import FittedKernelMachine

FORMULATIONS = ("shift", "paper")


class MKLSelector(MarginPredictions, BaseSelector):
    """Base of selectors with one kernel per feature."""

    _accepts_regression = False
    # One kernel per feature makes dense columns of sparse ones.
    _accepts_sparse = False

    def _check_parameters(self) -> None:
        self._check_kernel()
        check_real("lambda1", self.lambda1, minimum=0, strict=True)
        check_real("lambda2", self.lambda2, minimum=0, strict=True)
        check_flag("standardize", self.standardize)
        check_integer("n_init", self.n_init)
        check_real("max_memory", self.max_memory, minimum=0)
        check_integer("max_iter", self.max_iter)
        check_real("tol", self.tol, minimum=0, strict=True)

    def _check_kernel(self) -> None:
        check_real("gamma", self.gamma, minimum=0, strict=True, optional=True)
        check_real("coef0", self.coef0, optional=True)
        check_integer("degree", self.degree)
        if callable(self.kernel) or self.kernel == "auto":
            for name in ("gamma", "coef0"):
                if getattr(self, name) is not None:
                    raise ValueError(
                        f'{name} belongs to the kernels "sigmoid", "rbf" and "poly"; leave it None '
                        f"with kernel={self.kernel!r}"
                    )
        else:
            check_choice("kernel", self.kernel, (*KERNELS, "auto"))

    # What the two models differ in ----------------------------------------------------------

    def _surrogate(self):
        raise NotImplementedError

    def _largest_weight(self) -> float:
        raise NotImplementedError

    def _model(self, bank: KernelBank, y: np.ndarray) -> MKLModel:
        model = PaperMKLModel if self.formulation == "paper" else MKLModel
        return model(
            bank,
            y,
            float(self.lambda1),
            float(self.lambda2),
            self._surrogate(),
            self._largest_weight(),
        )

    # Fitting --------------------------------------------------------------------------------

    def _fit(self, data: TrainingData) -> FeatureScores:
        self.kernel_ = self._chosen_kernel(data)
        bank, view = self._bank(data, self.kernel_)
        self._centre, self._scale = view.centre, view.scale
        results: list[MKLResult] = []
        self._machines: list[FittedKernelMachine] = []
        for y in class_signs(data.target):
            model = self._model(bank, y)
            result = self._best_of_starts(model)
            results.append(result)
            self._machines.append(FittedKernelMachine.of(model, result))
        n_features = data.design.shape[1]
        weights = np.array([result.weights.dense(n_features) for result in results])
        self._keep_certificates(results)
        # A feature without weight ranks by what it would gain as the next one.
        gains = [result.gains / max(np.abs(result.gains).max(), 1e-300) for result in results]
        return FeatureScores(
            joint_scores(weights),
            n_kept=max(1, int(weights.any(axis=0).sum())),
            ties=np.mean(gains, axis=0),
            constant=view.constant,
        )

    def _chosen_kernel(self, data: TrainingData) -> FeatureKernel:
        if isinstance(self.kernel, str) and self.kernel == "auto":
            kernel, self.kernel_scores_ = choose_kernel(self, data)
            return kernel
        return feature_kernel(self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree)

    def _bank(self, data: TrainingData, kernel: FeatureKernel):
        view = standardised(
            data.design,
            centre=self.standardize,
            scale=self.standardize,
            sample_weight=data.sample_weight,
            weight_rows=False,
        )
        columns = view.design.dense_columns(np.arange(view.design.shape[1]))
        values = np.ascontiguousarray(columns.T, dtype=np.float64)
        if isinstance(kernel, CallableKernel):
            kernel.check(values[:50, :50].ravel()[:100])
        bank = KernelBank(
            values,
            kernel,
            data.sample_weight,
            centred=self.formulation == "shift",
            max_memory=int(self.max_memory),
        )
        return bank, view

    def _best_of_starts(self, model: MKLModel) -> MKLResult:
        solver = AlternatingMKL(max_iter=self.max_iter, tol=self.tol)
        report = _print_round if self.verbose else None
        best = solver.solve(model, callback=report)
        rng = check_random_state(self.random_state) if self.n_init > 1 else None
        for _ in range(self.n_init - 1):
            start = rng.standard_exponential(model.bank.n_features)  # type: ignore[union-attr]
            start[rng.uniform(size=len(start)) > 0.2] = 0.0  # type: ignore[union-attr]
            if not start.any():
                start[:] = 1.0
            other = solver.solve(model, start, callback=report)
            if other.objective < best.objective:
                best = other
        return best

    def _keep_certificates(self, results: list[MKLResult]) -> None:
        self.objective_ = float(sum(result.objective for result in results))
        self.optimality_ = float(max(result.optimality for result in results))
        self.n_iter_ = max(result.n_iter for result in results)
        histories = [result.history for result in results]
        self.history_ = histories[0] if len(histories) == 1 else histories
        if not all(result.converged for result in results):
            warn_not_converged(self, "a stationarity residual of", self.optimality_)

    # The fitted machines --------------------------------------------------------------------

    def _refit(self, n_chosen: int) -> None:
        machines = [machine.at(self.support_) for machine in self._machines]
        self._used = machines
        n_features = len(self.ranking_)
        self.kernel_weights_ = np.array([m.weights.dense(n_features) for m in machines])
        self.dual_coef_ = np.array([m.beta for m in machines])
        self.intercept_ = np.array([m.intercept for m in machines])

    def _margins(self, X) -> np.ndarray:
        margins = np.empty((X.shape[0], len(self._used)))
        for k, machine in enumerate(self._used):
            features = machine.weights.features
            values = (X[:, features] - self._centre[features]) / self._scale[features]
            margins[:, k] = machine.margins(np.ascontiguousarray(values.T, dtype=np.float64))
        return margins


def _print_round(report) -> None:
    print(
        f"{report['n_active']} features, objective {report['objective']:.6g}, "
        f"stationarity {report['optimality']:.2g}"
    )


class L0MKLSelector(MKLSelector):
    """Non-linear selection: an SVM with one kernel per feature that keeps few of the kernels.

    The decision function is ``f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + b``. Weights d_m >= 0
    under a surrogate of their number decide which features take part, so a feature may act
    through any function of itself that its kernel can express: a threshold, a bump, a parabola.

    **What it cannot see.** One kernel per feature makes f a *sum of functions of single
    features*. A pure interaction, such as the exclusive or of two signs, looks like noise to
    every such sum, and its features are not found.

    Several classes get one model each against the rest. The joint score of a feature is the
    mean over classes of d_m divided by the largest of that class: the scale of a margin says
    nothing about how much its class matters, so the best feature of every class counts the same.

    Parameters
    ----------
    n_features_to_select : int, float or None, default=None
        Number or fraction of features to keep; None keeps those with a weight.
    kernel : {"sigmoid", "rbf", "poly", "auto"} or callable, default="sigmoid"
        Kernel of two numbers: tanh(gamma u v + coef0) (indefinite), exp(-gamma (u - v)^2),
        (gamma u v + coef0)^degree, or a function of two arrays that broadcast against each other.
        "auto" chooses by cross-validation on the training data among sigmoid (gamma 0.1 and 1,
        coef0 -0.01), rbf (gamma 0.1 and 1) and poly (degree 2): accuracy first, then the loss.
    gamma, coef0 : float or None, default=None
        As in scikit-learn. None means 0.1 and -0.01 for "sigmoid", 1 for "rbf", 1 and 1 for
        "poly".
    degree : int, default=2
        Of "poly".
    lambda1 : float, default=1.0
        Strength of the regulariser of the coefficients.
    lambda2 : float, default=0.1
        Price of a feature.
    surrogate : {"capped_l1", "exp", "log", "scad", "l1"}, default="capped_l1"
        What stands in for counting the weights that are not zero.
    theta : float, default=5.0
        Steepness of the surrogate; "l1" does not look at it. On d <= 1 / theta the capped l1 is
        the plain l1 norm, so with d_max = 1 only theta > 1 makes a difference.
    d_max : float or None, default=None
        Largest weight; None is 1 for ``formulation="shift"`` and no limit for "paper".
    formulation : {"shift", "paper"}, default="shift"
        "shift" minimises ``lambda1 sum_m d_m beta'(K_m + tau_m I)beta + lambda2 sum_m delta(d_m) +
        sum_i max(0, 1 - y_i f(x_i))^2`` over 0 <= d <= d_max, with K_m centred and tau_m what
        makes it positive semidefinite: bounded below, while f still uses the kernel as it is.
        "paper" is the published objective, without centring, tau and d_max. It is unbounded
        below for indefinite kernels; as soon as an iterate shows that, fit stops with an
        ``UnboundedObjectiveError`` (an ArithmeticError).
    standardize : bool, default=True
        Scale every feature to mean zero and unit variance.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes.
    n_init : int, default=1
        Number of starts: the mean of all kernels, then random mixtures. The best is kept;
        the problem is not convex.
    max_memory : float, default=2.56e8
        Bytes that kernel matrices may take. Kernels that have no short separable expansion are
        held if all fit, and evaluated block by block again and again if not.
    max_iter : int, default=200
        Most rounds of weights and coefficients.
    tol : float, default=1e-3
        Largest violation of the first-order conditions of weights and coefficients, relative to
        the largest pull of the loss on a feature.
    random_state : int, RandomState or None, default=None
        Of the random starts; nothing else is random.
    verbose : int, default=0
        1 prints every round.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Kernel weights; for several classes the joint score.
    ranking_ : ndarray of shape (n_features,)
        By score; features without weight by what they would gain as the next one.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    kernel_weights_ : ndarray of shape (1 or n_classes, n_features)
        d of every model. With fewer features than the model uses (see :meth:`at`) the others
        are zero and the coefficients are solved again.
    dual_coef_ : ndarray of shape (1 or n_classes, n_samples)
        beta of every model, one for each training sample of nonzero weight.
    intercept_ : ndarray of shape (1 or n_classes,)
        b of every model.
    kernel_ : object
        The kernel used; ``kernel_(u, v)`` evaluates it.
    kernel_scores_ : dict
        Cross-validated accuracy of every candidate (only for ``kernel="auto"``).
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    objective_ : float
        Objective of the model as fitted, summed over the models.
    optimality_ : float
        Largest violation of the first-order conditions, see ``tol``; the largest of the models.
    n_iter_ : int
        Rounds; the most of any model.
    history_ : list of float
        Objective after the first weight step and after every round, never rising; a list of
        such lists for several classes.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import L0MKLSelector
    >>> from sparsieve.datasets import make_nonlinear_additive
    >>> data = make_nonlinear_additive(200, 30, n_relevant=2, random_state=0)
    >>> selector = L0MKLSelector(kernel="rbf", n_features_to_select=2).fit(data.X, data.y)
    >>> bool((selector.get_support(indices=True) == np.sort(data.relevant)).all())
    True
    """

    def __init__(
        self,
        n_features_to_select=None,
        *,
        kernel="sigmoid",
        gamma=None,
        coef0=None,
        degree=2,
        lambda1=1.0,
        lambda2=0.1,
        surrogate="capped_l1",
        theta=5.0,
        d_max=None,
        formulation="shift",
        standardize=True,
        class_weight=None,
        n_init=1,
        max_memory=2.56e8,
        max_iter=200,
        tol=1e-3,
        random_state=None,
        verbose=0,
    ):
        self.n_features_to_select = n_features_to_select
        self.kernel = kernel
        self.gamma = gamma
        self.coef0 = coef0
        self.degree = degree
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.surrogate = surrogate
        self.theta = theta
        self.d_max = d_max
        self.formulation = formulation
        self.standardize = standardize
        self.class_weight = class_weight
        self.n_init = n_init
        self.max_memory = max_memory
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("surrogate", self.surrogate, SURROGATES)
        check_choice("formulation", self.formulation, FORMULATIONS)
        check_real("theta", self.theta, minimum=0, strict=True)
        check_real("d_max", self.d_max, minimum=0, strict=True, optional=True)

    def _surrogate(self):
        return surrogate(self.surrogate, self.theta)

    def _largest_weight(self) -> float:
        if self.d_max is not None:
            return float(self.d_max)
        return 1.0 if self.formulation == "shift" else np.inf
