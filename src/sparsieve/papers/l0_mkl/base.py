"""What the selectors with one kernel per feature share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ..._checks import check_choice, check_flag, check_integer, check_real
from ..._cost import announce
from ..._saved import Floats, Savable
from ...memory import check_memory
from ...penalties import Surrogate
from ...selectors.base import BaseSelector, ClassWeight, FeatureScores, RandomState, TrainingData
from ...selectors.margins import MarginPredictions, class_signs, machine_view
from ...selectors.settings import HasSolver, resolve_solver
from ...solvers.base import Callback, Result, printer
from ...solvers.published import AlternatingDC, ShiftedAlternation
from ...solvers.settings import SolverSettings
from .alternating_dca import AlternatingMKL, MKLModel, SparseKernelMachine
from .bank import KernelBank
from .kernel_choice import choose_kernel
from .kernel_svm import KernelMachine
from .kernel_weights import KernelWeights
from .kernels import KERNELS, CallableKernel, FeatureKernel, feature_kernel
from .published import PublishedMKL, PublishedMKLModel
from .starts import N_FIXED_STARTS, fixed_starts

BIAS_ROUNDING = 1e-12


@dataclass(frozen=True)
class FittedKernelMachine(Savable):
    """f(x) = sum_m d_m sum_i beta_i k(x_im, x_m) + intercept.

    ``model`` is the problem on the used features alone, of which there are few; ``weights``
    names features of the whole data, in the order of the model's bank.
    """

    model: Annotated[MKLModel, "samples", "features"]
    weights: Annotated[KernelWeights, "features"]
    beta: Annotated[Floats, "samples"]
    intercept: float

    @classmethod
    def from_model(cls, model: MKLModel, found: SparseKernelMachine) -> FittedKernelMachine:
        """Keep what the machine needs of the model."""
        small = replace(model, bank=_part(model.bank, found.weights.features))
        return cls._assemble(small, found.weights, KernelMachine(found.u, found.weights.bias))

    def among(self, places: np.ndarray) -> FittedKernelMachine:
        """The same with its features at these places of wider data."""
        weights = replace(self.weights, features=places[self.weights.features])
        return replace(self, weights=weights)

    def restrict(self, support: np.ndarray) -> FittedKernelMachine:
        """Without the unselected features, the coefficients solved again for the others.

        The published method keeps its coefficients: solved again, they might have no end.
        """
        kept = np.flatnonzero(support[self.weights.features])
        if len(kept) == len(self.weights.d):
            return self
        model = replace(self.model, bank=_part(self.model.bank, kept))
        weights = replace(
            self.weights, features=self.weights.features[kept], d=self.weights.d[kept]
        )
        if isinstance(model, PublishedMKLModel):
            return replace(self, model=model, weights=weights)
        inside = replace(weights, features=np.arange(len(kept)))
        return self._assemble(model, weights, model.coefficients(inside).solution)

    @classmethod
    def _assemble(
        cls, model: MKLModel, weights: KernelWeights, machine: KernelMachine
    ) -> FittedKernelMachine:
        """Coefficients of the plain kernel: its coefficients sum to zero where it was centred."""
        beta = model.bank.roots * machine.u
        # Margins are of the order of one: a smaller bias is zero, and its sign is rounding.
        bias = machine.bias if abs(machine.bias) > BIAS_ROUNDING else 0.0
        fitted = cls(model, weights, beta, bias)
        if not model.bank.centred:
            return fitted
        plain = fitted.margins(model.bank.values) - bias
        mean = float(np.average(plain, weights=model.bank.weights))
        return replace(fitted, intercept=bias - mean)

    def margins(self, values: np.ndarray) -> np.ndarray:
        """Values of f for samples given by their used features, one per row."""
        everything = np.arange(len(self.weights.d))
        return self.intercept + self.model.bank.cross(everything, self.weights.d, values, self.beta)


def _part(bank: KernelBank, features: np.ndarray) -> KernelBank:
    """The bank of a few features."""
    return KernelBank(
        bank.values[features],
        bank.kernel,
        bank.weights,
        centred=bank.centred,
        max_memory=bank.max_memory,
    )


# Features in the working set and Newton steps over a fit, as measured on data of many kinds.
TYPICAL_WORKING_SET, TYPICAL_NEWTON_STEPS = 30, 20


@dataclass(eq=False, repr=False, kw_only=True)
class MKLSelector(HasSolver, MarginPredictions, BaseSelector):
    """Base of selectors with one kernel per feature."""

    kernel: str | Callable[[Any, Any], Any] = "sigmoid"
    gamma: float | None = None
    coef0: float | None = None
    degree: int = 2
    lambda1: float = 1.0
    lambda2: float = 0.1
    solver: str | SolverSettings = "alternating"
    standardize: bool = True
    class_weight: ClassWeight = None
    n_init: int = 1
    max_memory: float = 2.56e8
    max_iter: int = 200
    tol: float = 1e-3
    random_state: RandomState = None
    verbose: int = 0

    _solvers: ClassVar[Mapping[str, type[SolverSettings]]] = {
        "alternating": ShiftedAlternation,
        "published": AlternatingDC,
    }
    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear",)
    _accepts_regression: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "How much the feature contributes to the margin of 1: half the difference between the "
        "two class means of its term in the decision function (with several classes, the mean "
        "over the one-vs-rest models); 0 for unused features."
    )

    kernel_: FeatureKernel = field(init=False)
    kernel_weights_: Annotated[Floats, "outputs", "features"] = field(init=False)
    dual_coef_: Annotated[Floats, "outputs", "samples"] = field(init=False)
    _centre: Annotated[Floats, "features"] = field(init=False)
    _scale: Annotated[Floats, "features"] = field(init=False)
    _machines: Annotated[list[FittedKernelMachine], "outputs"] = field(init=False)
    _used: Annotated[list[FittedKernelMachine], "outputs"] = field(init=False)

    def _check_parameters(self) -> None:
        self._check_kernel()
        check_real("lambda1", self.lambda1, minimum=0, strict=True)
        check_real("lambda2", self.lambda2, minimum=0, strict=True)
        resolve_solver(self.solver, self._solvers)
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
                        f'{name} applies only to the kernels "sigmoid", "rbf" and "poly"; leave '
                        f"it None with kernel={self.kernel!r}"
                    )
        else:
            check_choice("kernel", self.kernel, (*KERNELS, "auto"))

    # What the two models differ in ----------------------------------------------------------

    @abstractmethod
    def _surrogate(self) -> Surrogate:
        """What stands in for the number of kernels."""

    @abstractmethod
    def _largest_weight(self) -> float:
        """Upper limit of the kernel weights."""

    # Fitting --------------------------------------------------------------------------------

    def _fit(self, data: TrainingData) -> FeatureScores:
        fixed = data.fixed
        inside = replace(data, design=data.allowed_design)
        self.kernel_ = self._chosen_kernel(inside)
        bank, view = self._bank(inside, self.kernel_)
        self._centre, self._scale = fixed.spread(view.centre), fixed.spread(view.scale, 1)
        signs = class_signs(data.target)
        announce(
            type(self).__name__,
            len(signs) * (N_FIXED_STARTS + self.n_init - 1) * _work(bank),
            "fewer samples or features are faster",
        )
        results: list[Result[SparseKernelMachine]] = []
        self._machines = []
        for y in signs:
            model = self._model(bank, y)
            result = self._best_of_starts(model)
            results.append(result)
            machine = FittedKernelMachine.from_model(model, result.solution)
            self._machines.append(machine.among(fixed.candidates))
        self._keep_result(results, measure="a stationarity residual of")
        found = [result.solution for result in results]
        used = np.unique(np.concatenate([one.weights.features for one in found]))
        # A feature without weight ranks by what it would gain as the next one, behind those that
        # the machine uses, even if only to correct others.
        gains = [one.gains / max(np.abs(one.gains).max(), 1e-300) for one in found]
        ties = np.mean(gains, axis=0)
        ties[used] = np.inf
        return FeatureScores(
            fixed.spread(np.mean([np.maximum(one.contributions, 0.0) for one in found], axis=0)),
            n_kept=len(used),
            ties=fixed.spread(ties),
            constant=fixed.spread(view.constant),
            beyond="how much the objective would fall if each were added next",
            remedy="lower lambda2",
        )

    def _model(self, bank: KernelBank, y: np.ndarray) -> MKLModel:
        model = PublishedMKLModel if self._uses_published_solver() else MKLModel
        return model(
            bank,
            y,
            float(self.lambda1),
            float(self.lambda2),
            self._surrogate(),
            self._largest_weight(),
        )

    def _chosen_kernel(self, data: TrainingData) -> FeatureKernel:
        if isinstance(self.kernel, str) and self.kernel == "auto":
            kernel, scores = choose_kernel(self, data)
            self.kernel_scores_: dict[str, float] = scores
            return kernel
        return feature_kernel(self.kernel, gamma=self.gamma, coef0=self.coef0, degree=self.degree)

    def _bank(self, data: TrainingData, kernel: FeatureKernel):
        n_samples, n_features = data.design.shape
        check_memory(
            f"{type(self).__name__} needs dense columns of X, which",
            3 * 8 * n_samples * n_features,
            "reduce the number of features first, for example with FisherSelector",
        )
        scale = self.standardize
        view = machine_view(data.design, data.sample_weight, scale, scale, dtype=None)
        columns = view.design.dense_columns(np.arange(view.design.shape[1]))
        values = np.ascontiguousarray(columns.T, dtype=np.float64)
        if isinstance(kernel, CallableKernel):
            kernel.check(values[:50, :50].ravel()[:100])
        bank = KernelBank(
            values,
            kernel,
            data.sample_weight,
            centred=not self._uses_published_solver(),
            max_memory=int(self.max_memory),
        )
        if self._uses_published_solver() or bank.ranks.max() >= n_samples:
            check_memory(
                f"{type(self).__name__} needs kernel matrices of n_samples x n_samples, which",
                4 * 8 * n_samples**2,
                "use fewer samples, or a smoother kernel (smaller gamma)",
            )
        return bank, view

    def _best_of_starts(self, model: MKLModel) -> Result[SparseKernelMachine]:
        settings = resolve_solver(self.solver, self._solvers)
        solver: Any = AlternatingMKL(self.max_iter, self.tol)
        if isinstance(settings, AlternatingDC):
            limits = int(settings.T), float(settings.epsilon), float(settings.threshold)
            solver = PublishedMKL(self.max_iter, self.tol, *limits)
        best: Result[SparseKernelMachine] | None = None
        for number, start in enumerate(self._starts(model), 1):
            found = solver.solve(model, start, self._printer(f"start {number}"))
            # Starts that end at the same point differ by rounding: the first of them counts.
            if best is None or found.objective < best.objective - 1e-6 * abs(best.objective):
                best = found
        assert best is not None
        return best

    def _uses_published_solver(self) -> bool:
        return isinstance(resolve_solver(self.solver, self._solvers), AlternatingDC)

    def _printer(self, note: str) -> Callback | None:
        return printer(self.verbose, type(self).__name__, note)

    def _starts(self, model: MKLModel) -> Iterator[Result[SparseKernelMachine] | None]:
        """Those of every fit, then random mixtures of kernels."""
        if isinstance(model, PublishedMKLModel):
            yield None
        else:
            show = self._printer("start 2, plainly")
            yield from fixed_starts(model, int(self.max_iter) // 2, show)
        rng = check_random_state(self.random_state)
        for _ in range(self.n_init - 1):
            mixture = rng.standard_exponential(model.bank.n_features)
            mixture[rng.uniform(size=len(mixture)) > 0.2] = 0.0
            if not mixture.any():
                mixture[:] = 1.0
            yield SparseKernelMachine.from_weights(mixture)

    # The fitted machines --------------------------------------------------------------------

    def _refit(self, n_chosen: int) -> None:
        machines = [machine.restrict(self.support_) for machine in self._machines]
        self._used = machines
        n_features = len(self.ranking_)
        self.kernel_weights_ = np.array([m.weights.dense(n_features) for m in machines])
        self.dual_coef_ = np.array([m.beta for m in machines])
        self.intercept_: np.ndarray = np.array([m.intercept for m in machines])

    def _margins(self, X) -> np.ndarray:
        margins = np.empty((X.shape[0], len(self._used)))
        for k, machine in enumerate(self._used):
            features = machine.weights.features
            values = X[:, features]
            values = values.toarray() if sparse.issparse(values) else values
            values = (values - self._centre[features]) / self._scale[features]
            margins[:, k] = machine.margins(np.ascontiguousarray(values.T, dtype=np.float64))
        return margins


def _work(bank: KernelBank) -> float:
    """Multiplications that a machine may take."""
    n_features, n_samples = bank.values.shape
    rank = min(float(n_samples), float(bank.ranks.mean()) * min(TYPICAL_WORKING_SET, n_features))
    return TYPICAL_NEWTON_STEPS * (n_samples * rank**2 + 50.0 * n_features * n_samples)
