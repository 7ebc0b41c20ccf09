"""What the sparse minimax probability machines share: tasks, levels and the joint ranking."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..._checks import check_choice, check_flag, check_integer, check_real
from ..._saved import Floats, Maybe
from ...design import DesignMatrix
from ...design.standardise import Standardisation
from ...selectors.base import BaseSelector, FeatureScores, TrainingData
from ...selectors.margins import MarginPredictions, class_pairs, machine_view, shared_out
from ...selectors.preparation import Units
from ...solvers.base import Callback, Result, printer
from .solvers.column_generation import ConeFailure, InfeasibleError
from .solvers.moments import SampleGroup, TwoClassMoments
from .solvers.mpm import MPM
from .solvers.problem import Hyperplane, Minimax, class_norms

MULTI_CLASS = ("ovr", "ovo")
RIDGES = ("auto", "ledoit_wolf")


def check_real_or_name(name: str, value: Any, names: Sequence[str], **limits: Any) -> None:
    """Refuse anything but a number within the limits or one of ``names``."""
    if isinstance(value, str):
        check_choice(name, value, names)
    else:
        check_real(name, value, **limits)


def check_machine(estimator: Any) -> None:
    """Refuse bad values of the parameters that all machines have."""
    check_real_or_name("ridge", estimator.ridge, RIDGES, minimum=0)
    check_choice("multi_class", estimator.multi_class, MULTI_CLASS)
    check_integer("max_iter", estimator.max_iter)
    check_real("tol", estimator.tol, minimum=0, strict=True)


@dataclass(frozen=True)
class TwoClassTask:
    """One class (or several) against another; weights of the features in ``free`` cost nothing."""

    positive: int
    negative: int | None  # None: all the others
    moments: TwoClassMoments
    free: np.ndarray

    def problem(self, cost: float = 1.0, level: float = 0.0) -> Minimax:
        """The task with one cost for all features that are not free."""
        costs = np.full(self.moments.n_features, cost)
        costs[self.free] = 0.0
        return Minimax(self.moments, costs, level)

    def name(self, classes: np.ndarray) -> str:
        """For messages."""
        first = repr(classes.tolist()[self.positive])
        if self.negative is None:
            return f"class {first} against the rest"
        return f"class {first} against class {classes.tolist()[self.negative]!r}"


def two_class_tasks(
    estimator: Any,
    data: TrainingData,
    view: DesignMatrix,
    auto_share: float = 1e-2,
    free: ArrayLike = (),
) -> Iterator[TwoClassTask]:
    """The tasks one after the other, so that only one set of factors is held at a time."""
    codes, classes, sample_weight = data.target.codes, estimator.classes_, data.sample_weight
    for positive, negative in class_pairs(len(classes), estimator.multi_class):
        others = codes != positive if negative is None else codes == negative
        first = SampleGroup.from_rows(np.flatnonzero(codes == positive), sample_weight)
        second = SampleGroup.from_rows(np.flatnonzero(others), sample_weight)
        moments = TwoClassMoments(view, first, second, estimator.ridge, auto_share)
        task = TwoClassTask(positive, negative, moments, np.asarray(free, dtype=np.int64))
        typical_size = float(np.sqrt(np.max(moments.variances)))
        if not np.abs(moments.difference).max() > 1e-12 * typical_size:
            raise ValueError(
                f"the class means of X are identical for {task.name(classes)}; a minimax "
                "probability machine separates classes by their means, so use another method"
            )
        yield task


def keep_planes(
    estimator: Any,
    data: TrainingData,
    view: Standardisation,
    results: Iterable[Result[Hyperplane]],
    dtype: DTypeLike,
) -> tuple[np.ndarray, np.ndarray]:
    """Translate the hyperplanes found on ``view`` into the units of the user.

    The estimator keeps all but the weights: the intercepts, the worst-case accuracy, and what
    margins of several tasks are divided by before they are compared (one for one task).

    Returns
    -------
    coef : ndarray of shape (n_tasks, n_features)
        Of sign(coef'x + intercept).
    sizes : ndarray of shape (n_tasks, n_features)
        Absolute weights of standardised features, of several tasks divided likewise.
    """
    planes: list[Hyperplane] = [result.solution for result in results]
    offsets = np.array([plane.offset for plane in planes])
    W = np.column_stack([plane.weights for plane in planes])
    units = Units(view.centre, view.scale, -offsets, None, fit_intercept=True)
    coef, intercept = units.coefficients(W)
    spread = np.sqrt(view.design.column_moments(data.sample_weight)[1])
    sizes = np.abs(W.T) * np.where(view.constant, 0.0, spread)
    lengths = np.ones(1) if len(planes) == 1 else np.linalg.norm(sizes, axis=1)
    estimator._lengths = lengths = np.where(lengths > 0.0, lengths, 1.0)
    estimator.intercept_ = intercept.astype(dtype)
    estimator.worst_case_accuracy_ = min(plane.accuracy for plane in planes)
    return coef.astype(dtype), sizes / lengths[:, None]


ZERO_SPREAD_TOL = 1e-9  # along w, relative to the distance of the means
AUTO_DELTA = 0.8  # share of the best feasible level that delta="auto" asks for


@dataclass(eq=False, repr=False, kw_only=True)
class MinimaxSelector(MarginPredictions, BaseSelector):
    """Base of the sparse machines: one task or several, and the joint ranking."""

    ridge: float | str = "auto"
    standardize: bool = True
    multi_class: str = "ovr"
    verbose: int = 0

    _purposes: ClassVar[tuple[str, ...]] = ("panel",)
    _adjusts_for_kept: ClassVar[bool] = True
    _accepts_regression: ClassVar[bool] = False
    _auto_ridge_share: ClassVar[float] = 1e-2  # of the mean variance, for a class of few samples
    _score_meaning: ClassVar[str] = (
        "The feature's share of the worst-case accuracy (between 0 and 1), divided among the "
        "features in proportion to their squared standardised weights; with several classes, in "
        "proportion to the largest share in any of the models."
    )

    _remedy: ClassVar[str] = "increase delta"
    _asks: ClassVar[str] = "delta_"  # attribute of what was asked of every task

    max_iter: int
    tol: float

    worst_case_accuracy_: Maybe[float] = field(init=False)

    def _check_parameters(self) -> None:
        check_flag("standardize", self.standardize)
        check_machine(self)

    # Multiplications that a task takes at least, measured with 100 and 400 classes.
    _work_per_task: ClassVar[float] = 1.4e7
    _takes_less: ClassVar[str] = "fewer classes are faster"

    def _work(self, data: TrainingData) -> float:
        assert data.target.classes is not None
        return self._work_per_task * len(class_pairs(len(data.target.classes), self.multi_class))

    @abstractmethod
    def _solve(self, task: TwoClassTask, callback: Callback | None) -> Result[Hyperplane]:
        """Solve one two-class task."""

    def _fit(self, data: TrainingData) -> FeatureScores:
        design, spread = data.allowed_design, data.fixed.spread
        free = np.flatnonzero(data.fixed.always[data.fixed.candidates])
        view = machine_view(design, data.sample_weight, self.standardize)
        results = self._results(data, design, view.design, free, self._auto_ridge_share)
        coef, sizes = keep_planes(self, data, view, results, design.dtype)
        self.coef_: np.ndarray = spread(coef)
        self._keep_result(results)
        sizes[:, free] = 0.0
        shares = _round_scores(sizes.max(axis=0))
        accuracy = float(np.mean([result.solution.accuracy for result in results]))
        slopes, alone = np.max(self._slopes, axis=0)
        del self._slopes
        return FeatureScores(
            spread(shared_out(accuracy, shares)),
            n_kept=int(np.count_nonzero(sizes.any(axis=0))),
            ties=(spread(slopes), spread(alone)),
            constant=spread(view.constant),
            beyond="how much a small weight would change the worst-case accuracy",
            remedy=self._remedy,
        )

    def _results(
        self,
        data: TrainingData,
        design: DesignMatrix,
        view: DesignMatrix,
        free: np.ndarray,
        auto_ridge_share: float,
    ) -> list[Result[Hyperplane]]:
        """Solve all tasks on ``view``, which is ``design`` as the machines see it."""
        results, self._slopes, self._asked = [], [], list[float]()
        for task in two_class_tasks(self, data, view, auto_ridge_share, free):
            show = printer(self.verbose, type(self).__name__, task.name(self.classes_))
            try:
                result = self._solve(task, show)
            except ConeFailure:
                raise RuntimeError(
                    f"the cone solver failed for {task.name(self.classes_)}; increase ridge or "
                    "lower delta"
                ) from None
            plane = result.solution
            weights = _on_first_copies(plane.weights, design, free)
            self._slopes.append(_accuracy_slopes(task.moments, weights))
            results.append(replace(result, solution=replace(plane, weights=weights)))
        setattr(self, self._asks, self._asked[0] if len(results) == 1 else np.array(self._asked))
        del self._asked
        return results


def _on_first_copies(weights: np.ndarray, design: DesignMatrix, free: np.ndarray) -> np.ndarray:
    """The same machine with the weight of a column (unless free) moved to its first exact copy.

    How a sparse machine shares weight between equal columns is left to chance; its predictions
    do not depend on it, and no norm of the weights grows by putting all on one.
    """
    means, variances = design.column_moments()
    weights = weights.copy()
    for j in np.setdiff1d(np.flatnonzero(weights), free):
        alike = (means[:j] == means[j]) & (variances[:j] == variances[j])
        for i in np.flatnonzero(alike):
            first, second = design.dense_columns([int(i), int(j)]).T
            if np.array_equal(first, second):
                weights[i], weights[j] = weights[i] + weights[j], 0.0
                break
    return weights


def _round_scores(scores: np.ndarray) -> np.ndarray:
    """Scores without the digits that the cone solver leaves to chance.

    It shares the weight of equal columns evenly, but only up to its accuracy; rounding lets
    column order decide between them.
    """
    largest = scores.max(initial=0.0)
    return np.round(scores / largest, 6) * largest if largest > 0 else scores


@dataclass(eq=False, repr=False, kw_only=True)
class LevelSelector(MinimaxSelector):
    """Base of the machines that reach a worst-case accuracy ``delta`` with few features."""

    delta: float | str = "auto"

    delta_: Maybe[float | Floats] = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real_or_name("delta", self.delta, ("auto",), minimum=0, strict=True)
        if not isinstance(self.delta, str) and self.delta >= 1:
            raise ValueError(f"delta must be below 1, got {self.delta!r}")

    def _solve(self, task: TwoClassTask, callback: Callback | None) -> Result[Hyperplane]:
        moments = task.moments
        best = None
        # Without a ridge, more features than samples almost surely separate the classes
        # perfectly: the best level is 1, and need not be computed until the program objects.
        few = moments.n_features <= sum(moments.n_rows) - 2
        if few or max(moments.ridges) > 0.0 or self._counts():
            best = MPM().solve(Minimax(moments))
        reach = 1.0 if best is None else best.solution.accuracy
        level = self._level(task, reach)
        self._asked.append(level)
        if best is not None and level >= reach * (1.0 - 1e-9) and not self._counts():
            return self._dense(task, best, np.arange(moments.n_features))
        if np.any(moments.difference[task.free]):
            alone = MPM().solve(Minimax(moments.restrict(task.free)))
            if alone.solution.accuracy >= level * (1.0 - 1e-9):
                return self._dense(task, alone, task.free)
        try:
            return self._solve_level(task, level, callback)
        except InfeasibleError:
            if best is not None:
                raise ConeFailure from None
        # The rare case: the difference of the means lies in the span of the spread.
        best = MPM().solve(Minimax(moments))
        self._asked[-1] = self._level(task, best.solution.accuracy)
        return self._solve_level(task, self._asked[-1], callback)

    def _level(self, task: TwoClassTask, best: float) -> float:
        if isinstance(self.delta, str):  # "auto"
            return AUTO_DELTA * best
        if self.delta > best * (1.0 + 1e-9):
            raise ValueError(
                f"delta={self.delta:g} cannot be reached for {task.name(self.classes_)}: the "
                f"largest feasible level is {np.floor(best * 1e6) / 1e6:g}; pass a smaller delta, "
                'or delta="auto" for 0.8 times the largest'
            )
        return float(self.delta)

    def _counts(self) -> bool:
        """Whether the number of features itself is minimised, so that not all need take part."""
        return False

    @abstractmethod
    def _solve_level(
        self, task: TwoClassTask, level: float, callback: Callback | None
    ) -> Result[Hyperplane]:
        """The sparsest hyperplane that reaches this level."""

    @abstractmethod
    def _objective(self, weights: np.ndarray) -> float:
        """What the selector minimises, of the weights that are not free."""

    def _dense(
        self, task: TwoClassTask, best: Result[Hyperplane], support: np.ndarray
    ) -> Result[Hyperplane]:
        """The best machine on all features of ``support`` as the answer.

        On all features, at the largest feasible level, it is the only feasible direction. On
        the free ones, where these reach the level alone, every feasible direction costs nothing,
        and this one is the safest.
        """
        plane = best.solution
        norms = class_norms(task.moments, support, plane.weights)
        sides = norms / norms.sum()  # D'w = 1 is divided in proportion to the norms
        factor = 1.0 / sides.min() if sides.min() > 0.0 else 2.0
        weights = np.zeros(task.moments.n_features)
        weights[support] = factor * plane.weights
        return replace(
            best,
            solution=replace(plane, weights=weights, offset=factor * plane.offset),
            objective=(objective := self._objective(np.delete(weights, task.free))),
            converged=best.optimality <= self.tol,
            trace=[objective],
        )


def _accuracy_slopes(
    moments: TwoClassMoments, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What ranks features without weight: functions of the machine, not of how it was found.

    The first is by how much a little weight of a feature lowers (N_1 + N_2) / D'w, on which the
    worst-case accuracy depends, relative to itself and for weights of length one. The second is
    what a feature reaches alone, for machines that leave nothing to gain.
    """
    support = np.flatnonzero(weights)
    values = weights[support]
    norms = class_norms(moments, support, values)
    gain = float(moments.difference[support] @ values)
    spreads = [np.sqrt(v + r) for v, r in zip(moments.variances, moments.ridges, strict=True)]
    slopes = np.zeros(moments.n_features)
    if gain > 0.0 and norms.max() > ZERO_SPREAD_TOL * gain:
        slopes -= norms.sum() / gain * moments.difference
        units, lost = [np.zeros(rows) for rows in moments.n_rows], np.zeros(moments.n_features)
        for which in (0, 1):
            if norms[which] > ZERO_SPREAD_TOL * gain:
                units[which] = moments.columns(which, support) @ values / norms[which]
            else:  # a class without spread along w gets some from any other feature
                lost += spreads[which]
        slopes = np.maximum(np.abs(slopes + moments.rmatmul(*units)) - lost, 0.0)
        slopes *= np.linalg.norm(values) / norms.sum()
        slopes[support] = slopes.max()
    size, spread = np.abs(moments.difference), sum(spreads)
    alone = np.divide(size, spread, out=np.where(size > 0.0, np.inf, 0.0), where=spread > 0.0)
    return slopes, alone
