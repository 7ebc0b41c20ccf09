"""What the sparse minimax probability machines share: tasks, levels and the joint ranking."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, replace

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from ..._checks import check_choice, check_flag, check_integer, check_real
from ...design import DesignMatrix
from ...solvers.minimax.generation import ConeFailure, InfeasibleError, class_norms
from ...solvers.minimax.machine import accuracy_of, solve_mpm
from ..base import BaseSelector, FeatureScores, TrainingData
from .tasks import (
    MULTI_CLASS,
    LinearPredictor,
    ScaledView,
    TwoClassTask,
    check_ridge,
    two_class_tasks,
    warn_of_column,
)

AUTO_DELTA = 0.8  # share of the best feasible level that delta="auto" asks for
# What the cone solver can be relied on for; an optimality within it is never complained about.
CONE_ACCURACY = 1e-5


@dataclass(frozen=True)
class SolvedTask:
    """A sparse hyperplane with what the selectors report about it."""

    weights: np.ndarray
    offset: float
    objective: float
    optimality: float
    converged: bool
    n_iter: int
    history: list[float]
    tightness: np.ndarray
    accuracy: float  # worst case, of the class that is worse off
    level: float | None = None


class MinimaxSelector(LinearPredictor, ClassifierMixin, BaseSelector):
    """Base of the sparse machines: one task or several, and the joint ranking."""

    _accepts_regression = False
    _auto_ridge_share = 1e-2  # of the mean variance, for a class with few samples

    def _check_parameters(self) -> None:
        check_flag("standardize", self.standardize)
        check_ridge(self.ridge)
        check_choice("multi_class", self.multi_class, MULTI_CLASS)
        check_integer("max_iter", self.max_iter)
        check_real("tol", self.tol, minimum=0, strict=True)

    @abstractmethod
    def _solve(self, task: TwoClassTask) -> SolvedTask:
        """Solve one two-class task."""

    def _training_data(self, X, y, sample_weight) -> TrainingData:
        warn_of_column(y)
        return super()._training_data(X, y, sample_weight)

    def _fit(self, data: TrainingData) -> FeatureScores:
        n_features = data.design.shape[1]
        left = np.flatnonzero(~data.fixed.never)
        design = data.design if len(left) == n_features else data.design.columns(left)
        free = np.flatnonzero(data.fixed.always[left])
        view = ScaledView.of(design, data.sample_weight, self.standardize)
        solved = []
        for task in two_class_tasks(
            view.design,
            data.target.codes,
            self.classes_,
            data.sample_weight,
            self.multi_class,
            self.ridge,
            self._auto_ridge_share,
            free,
        ):
            try:
                answer = self._solve(task)
                weights = _on_first_copies(answer.weights, design, free)
                solved.append(replace(answer, weights=weights))
            except ConeFailure:
                raise RuntimeError(
                    f"the cone solver failed on {task.name(self.classes_)}; raise ridge or lower "
                    "the level asked for"
                ) from None
            self._report(task, solved[-1])
        self._set_hyperplanes(view, [(one.weights, one.offset) for one in solved], design.dtype)
        self.coef_ = _among(left, n_features, self.coef_)
        self.objective_ = float(sum(one.objective for one in solved))
        self.optimality_ = max(one.optimality for one in solved)
        self.n_iter_ = max(one.n_iter for one in solved)
        self.history_ = _summed(one.history for one in solved)
        self.worst_case_accuracy_ = min(one.accuracy for one in solved)
        if solved[0].level is not None:
            levels = np.array([one.level for one in solved])
            self.delta_ = float(levels[0]) if len(levels) == 1 else levels
        if not all(one.converged for one in solved):
            warnings.warn(
                f"{type(self).__name__} stopped after {self.n_iter_} iterations with optimality "
                f"{self.optimality_:.3g} instead of {self.tol:.3g}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=3,
            )
        importance = np.abs([one.weights * view.spread for one in solved])
        importance[:, free] = 0.0
        used = int(np.count_nonzero(importance.any(axis=0)))
        return FeatureScores(
            _among(left, n_features, _rounded((importance / self._lengths[:, None]).max(axis=0))),
            n_kept=used,
            ties=_among(left, n_features, np.max([one.tightness for one in solved], axis=0)),
            constant=_among(left, n_features, view.constant),
        )

    def _report(self, task: TwoClassTask, solved: SolvedTask) -> None:
        if self.verbose:
            print(
                f"[{type(self).__name__}] {task.name(self.classes_)}: objective "
                f"{solved.objective:.6g} with {np.count_nonzero(solved.weights)} features, "
                f"optimality {solved.optimality:.1e} after {solved.n_iter} iterations"
            )


def _among(left: np.ndarray, n_features: int, values: np.ndarray) -> np.ndarray:
    """Values of the features that took part, with zeros for the others."""
    full = np.zeros((*values.shape[:-1], n_features), dtype=values.dtype)
    full[..., left] = values
    return full


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
            first, second = design.dense_columns([i, j]).T
            if np.array_equal(first, second):
                weights[i], weights[j] = weights[i] + weights[j], 0.0
                break
    return weights


def _rounded(scores: np.ndarray) -> np.ndarray:
    """Scores without the digits that the cone solver leaves to chance.

    It shares the weight of equal columns evenly, but only up to its accuracy; rounding lets
    column order decide between them.
    """
    largest = scores.max(initial=0.0)
    return np.round(scores / largest, 6) * largest if largest > 0 else scores


class LevelSelector(MinimaxSelector):
    """Base of the machines that reach a worst-case accuracy ``delta`` with few features."""

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.delta, str):
            check_choice("delta", self.delta, ("auto",))
        else:
            check_real("delta", self.delta, minimum=0, strict=True)
            if self.delta >= 1:
                raise ValueError(f"delta must be below 1, got {self.delta!r}")

    def _solve(self, task: TwoClassTask) -> SolvedTask:
        moments = task.moments
        best = None
        # Without a ridge, more features than samples almost surely separate the classes
        # perfectly: the best level is 1, and need not be computed until the program objects.
        if max(moments.ridges) > 0.0 or moments.n_features <= sum(moments.n_rows) - 2:
            best = solve_mpm(moments)
        level = self._level(task, 1.0 if best is None else best.accuracy)
        if best is not None and level >= best.accuracy * (1.0 - 1e-9):
            return self._dense(task, best, np.arange(moments.n_features), level)
        if np.any(moments.difference[task.free]):
            alone = solve_mpm(moments.restricted(task.free))
            if alone.accuracy >= level * (1.0 - 1e-9):
                return self._dense(task, alone, task.free, level)
        try:
            return self._solve_at(task, level)
        except InfeasibleError:
            if best is not None:
                raise ConeFailure from None
        # The rare case: the difference of the means lies in the span of the spread.
        best = solve_mpm(moments)
        return self._solve_at(task, self._level(task, best.accuracy))

    def _level(self, task: TwoClassTask, best: float) -> float:
        if self.delta == "auto":
            return AUTO_DELTA * best
        if self.delta > best * (1.0 + 1e-9):
            raise ValueError(
                f"delta={self.delta:g} is out of reach for {task.name(self.classes_)}: the largest "
                f"feasible level is {np.floor(best * 1e6) / 1e6:g}; pass a smaller delta, or "
                'delta="auto" for 0.8 of the largest'
            )
        return float(self.delta)

    @abstractmethod
    def _solve_at(self, task: TwoClassTask, level: float) -> SolvedTask:
        """The sparsest hyperplane that reaches this level."""

    @abstractmethod
    def _objective(self, weights: np.ndarray) -> float:
        """What the selector minimises, of the weights that are not free."""

    def _dense(self, task: TwoClassTask, best, support: np.ndarray, level: float) -> SolvedTask:
        """The best machine on all features of ``support`` as the answer.

        On all features, at the largest feasible level, it is the only feasible direction. On
        the free ones, where these reach the level alone, every feasible direction costs nothing,
        and this one is the safest.
        """
        norms = class_norms(task.moments, support, best.weights)
        sides = norms / norms.sum()  # D'w = 1 is divided in proportion to the norms
        factor = 1.0 / sides.min() if sides.min() > 0.0 else 2.0
        weights = np.zeros(task.moments.n_features)
        weights[support] = factor * best.weights
        objective = self._objective(np.delete(weights, task.free))
        return SolvedTask(
            weights,
            factor * best.offset,
            objective,
            best.gap,
            best.gap <= CONE_ACCURACY,
            best.n_iter,
            [objective],
            _pulls(task.moments, support, best.weights, norms),
            best.accuracy,
            level,
        )

    def _finished(self, task, plane, level, *, optimality, converged, n_iter, history):
        return SolvedTask(
            plane.weights,
            plane.offset,
            self._objective(np.delete(plane.weights, task.free)),
            optimality,
            converged,
            n_iter,
            history,
            plane.tightness,
            achieved_accuracy(task.moments, plane.weights, plane.offset),
            level,
        )


def _pulls(moments, support, values, norms) -> np.ndarray:
    """How much every feature outside would change the accuracy of a machine; one on its support.

    At the best machine on some features, the slope of N_1 + N_2 along D'w = 1 vanishes for them.
    """
    slopes = np.zeros(moments.n_features)
    if norms.min() > 0.0:
        first, second = (
            moments.columns(which, support) @ values / norms[which] for which in (0, 1)
        )
        slopes = np.abs(moments.price(first, second) - norms.sum() * moments.difference)
    outside = np.setdiff1d(np.arange(moments.n_features), support)
    pulls = np.ones(moments.n_features)
    largest = slopes[outside].max(initial=0.0)
    pulls[outside] = 0.5 * slopes[outside] / (largest or 1.0)
    return pulls


def achieved_accuracy(moments, weights, offset) -> float:
    """Worst-case accuracy of the hyperplane for the class that is worse off."""
    support = np.flatnonzero(weights)
    values = weights[support]
    norms = class_norms(moments, support, values)
    sides = (
        float(moments.means[0][support] @ values) - offset,
        offset - float(moments.means[1][support] @ values),
    )
    kappas = [
        0.0 if side <= 0.0 else (np.inf if norm == 0.0 else side / norm)
        for side, norm in zip(sides, norms, strict=True)
    ]
    return accuracy_of(min(kappas))


def _summed(histories) -> list[float]:
    """Sum over tasks; a task that is done keeps its last value."""
    histories = list(histories)
    length = max(len(history) for history in histories)
    padded = [list(history) + [history[-1]] * (length - len(history)) for history in histories]
    return [float(total) for total in np.sum(padded, axis=0)]
