"""One fit and one path for all selectors with a penalty of any strength."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._beside import largest, read_entries, to_numpy
from .._checks import check_integer, check_real
from ..solvers.base import Callback, Path, Result, printer
from ..solvers.paths.engine import PathEngine
from ..validation.feature_groups import FeatureGroups
from .fitted import GAP
from .linear import LinearSelector, TrainingData
from .ranked import FeatureScores

PATH_RATIO = 0.9  # from one strength to the next when only a number of features is asked for
PATH_END = 1e-3  # weakest strength of that path, relative to the strongest
DEFAULT_SHARE = 0.1  # of the largest useful strength, when nothing is asked for

ENTRY_MEANING = (
    "Penalty strength at which the feature entered the model, relative to the smallest "
    "strength that keeps no feature; for features that did not enter, their correlation "
    "with the final residual."
)


class StrengthModel(ABC):
    """A penalised problem for any strengths, on features or on groups of them."""

    selector: Any
    solver: PathEngine
    equations: Any  # what the solver solves
    constant: np.ndarray
    groups: FeatureGroups | None = None
    is_convex: bool = True

    @abstractmethod
    def at_zero(self) -> Any:
        """The strength at which every feature or group would enter where all have no weight.

        An array beside X, as the ``correlation`` of a solution is.
        """

    @property
    def printer(self) -> Callback | None:
        """What says how far a solver is."""
        return printer(self.selector.verbose, type(self.selector).__name__)

    def solve(
        self, alphas: Iterable[float], decided: bool = False, enough: int | None = None
    ) -> Iterator[Result[Any]]:
        """One result per strength, with the ``correlation`` of every feature or group.

        Nothing need be solved ahead of a strength at which ``enough`` of them have weight.
        """
        solver = replace(self.solver, decided=decided)
        return solver.path(self.equations, alphas, callback=self.printer, enough=enough)

    def nonzero_units(self, result: Result[Any]) -> np.ndarray:
        """The features or groups that have weight."""
        return np.flatnonzero(result.solution.norms > 0)

    @abstractmethod
    def scores(self, result: Result[Any]) -> FeatureScores:
        """What a solution says about every feature or group."""

    @abstractmethod
    def null_model(self) -> tuple[float, Any]:
        """Objective and solution without any features."""

    @abstractmethod
    def features(self, solution: Any) -> np.ndarray:
        """The features with weight."""

    @abstractmethod
    def coefficients(self, solution: Any) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) in the units of X."""


def follow_path(
    model: StrengthModel, correlation: Any, count: int
) -> tuple[Result[Any], float, Path, FeatureScores]:
    """Lower the strength until ``count`` features have been in the model.

    ``correlation`` has the strength at which every feature would enter where all are zero. What is
    returned is the last result, its strength, and the path on which features (or groups) entered,
    with the largest useful strength and that at which each did.
    """
    top = largest(correlation)
    steps = int(np.ceil(np.log(PATH_END) / np.log(PATH_RATIO)))
    alphas = top * PATH_RATIO ** np.arange(1, steps + 1)
    entry = np.zeros(len(correlation))
    order: list[int] = []
    before = top
    for alpha, result in zip(alphas, model.solve(alphas, True, count), strict=True):
        weighted = model.nonzero_units(result)
        new = weighted[entry[weighted] == 0]
        if len(new):
            # Within a step features enter in the order of their correlation before it.
            strengths = read_entries(correlation, new)
            entry[new] = np.clip(strengths, alpha, before)
            new = new[np.lexsort((new, -strengths))]
        order += new.tolist()
        before, correlation = alpha, result.solution.correlation
        if len(order) >= count or not result.converged:
            break
    # The correlation of what never entered is at most the last strength.
    scores = np.minimum(to_numpy(correlation), np.nextafter(alpha, 0))
    scores[order] = entry[order]
    scores /= top
    found = FeatureScores(
        scores,
        n_kept=len(order),
        order=np.array(order, dtype=np.int64),
        constant=model.constant,
        complete=False,
    )
    path = entry_path(model.groups, order, strength=np.append(top, entry[order]))
    return result, float(alpha), path, found


def strength_path(alpha: float, largest: float) -> np.ndarray:
    """Strengths that fall from the largest useful one to this one, at most as fast as a path's.

    What a solver finds for a penalty that is not convex depends on where it begins.
    """
    if not 0.0 < alpha < largest:
        return np.array([alpha or 1.0])
    steps = int(np.ceil(np.log(alpha / largest) / np.log(PATH_RATIO)))
    return np.geomspace(largest, alpha, steps + 1)[1:]


def entry_path(
    groups: FeatureGroups | None, order: Sequence[int] | np.ndarray, **along: Any
) -> Path:
    """The path on which features, or all features of a group at once, enter in this order."""
    if groups is None:
        return Path.from_order(order, **along)
    supports = [np.arange(0)]
    for g in order:
        new = groups.columns[g]
        supports.append(np.append(supports[-1], new[~np.isin(new, supports[-1])]))
    return Path(supports, **along)


def pack_coefficients(coef: np.ndarray) -> sparse.csc_array:
    """Coefficients of shape (n_outputs, n_features) without their zeros."""
    used = np.flatnonzero(coef.any(axis=0))
    some = coef[:, used].T
    places, outputs = np.nonzero(some)
    ends = np.cumsum(np.bincount(places, minlength=len(used)))
    made = sparse.csc_array(coef.shape, dtype=coef.dtype)
    made.data, made.indices = some[places, outputs], outputs.astype(made.indices.dtype)
    # The number of entries before every feature: it changes after those in use only.
    gaps = np.diff(used, prepend=-1, append=coef.shape[1])
    made.indptr = np.repeat(np.append(0, ends).astype(made.indptr.dtype), gaps)
    return made


def given_strengths(alphas: Any, largest: float, n_alphas: int, ratio: float) -> np.ndarray:
    """The strengths of a path that the user asks for, checked; None is log-spaced ones.

    Where no feature says anything about y, ``largest`` is 0, and every strength keeps none.
    """
    check_integer("n_alphas", n_alphas)
    check_real("ratio", ratio, minimum=0, maximum=1, strict=True)
    if alphas is None:
        top = largest if ratio * largest > 0 else 1.0
        alphas = np.geomspace(top, ratio * top, n_alphas + 1)[1:]
    alphas = np.asarray(alphas, dtype=np.float64)
    if alphas.ndim != 1 or len(alphas) == 0 or not (alphas > 0).all():
        raise ValueError("alphas must be a list of positive numbers")
    if (np.diff(alphas) > 0).any():
        raise ValueError("alphas must be in decreasing order, the largest first")
    return alphas


class PathSelector(LinearSelector):
    """Base of selectors whose model is a :class:`.strengths.StrengthModel`."""

    alpha: float | None

    # Where what has weight is the selection, go on until the gap tells what that is.
    _decides_zeros: ClassVar[bool] = True

    @abstractmethod
    def _path_model(self, data: TrainingData) -> StrengthModel:
        """The penalised problem of some data."""

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        along_path = self.alpha is None and self.n_features_to_select is not None
        return ENTRY_MEANING if along_path else self._score_meaning

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("alpha", self.alpha, minimum=0, strict=True, optional=True)

    def _measure(self) -> str:
        """What the solver stops on, for warnings."""
        return GAP

    def _keep(self, model: Any, result: Result[Any], alpha: float) -> None:
        self._keep_coefficients(*model.coefficients(result.solution))
        self.alpha_ = alpha
        self._keep_result(result, measure=self._measure())

    def _fit(self, data: TrainingData) -> FeatureScores:
        model = self._path_model(data)
        entering = model.at_zero()
        top = largest(entering)
        if self.alpha is None and self.n_features_to_select is not None and top > 0:
            count = self._n_own(data, 1)
            result, alpha, path, scores = follow_path(model, entering, count)
            self._keep(model, result, alpha)
            self.path_: Path = path
            return scores
        alpha = DEFAULT_SHARE * top if self.alpha is None else float(self.alpha)
        decided = self._decides_zeros and self.n_features_to_select is None
        # A target that no feature says anything about has no largest strength.
        wanted = [alpha or 1.0] if model.is_convex else strength_path(alpha, top)
        *_, result = model.solve(wanted, decided)
        self._keep(model, result, alpha)
        return model.scores(result)

    def path(
        self,
        X: Any,
        y: Any,
        *,
        alphas: ArrayLike | None = None,
        n_alphas: int = 50,
        ratio: float = 0.01,
        sample_weight: ArrayLike | None = None,
    ) -> Path:
        """Compute the solutions for a sequence of penalty strengths, each started from the previous
        one.

        Parameters
        ----------
        X, y, sample_weight : as for :meth:`fit`.
        alphas : array-like or None, default=None
            Strengths in decreasing order. None uses ``n_alphas`` values, log-spaced from alpha_max
            (the smallest strength at which no feature is kept) down to ``ratio`` times alpha_max.
        n_alphas : int, default=50
            Number of strengths.
        ratio : float, default=0.01
            Last strength, relative to alpha_max.

        Returns
        -------
        path : Path
            The empty selection at alpha_max, followed by one selection per strength, with
            coefficients in the units of X, objectives and what ``optimality_`` is.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from sparsieve import L21Selector
        >>> path = L21Selector().path(*load_wine(return_X_y=True), n_alphas=4)
        >>> path.n_features
        array([ 0,  6,  9, 11, 12])
        """
        self._check_parameters()
        data = self._training_data(X, y, sample_weight)
        # A path is no fit: it warns like one, and leaves no results behind.
        return copy.copy(self)._path(data, alphas, n_alphas, ratio)

    def _path(
        self, data: TrainingData, alphas: ArrayLike | None, n_alphas: int, ratio: float
    ) -> Path:
        model = self._path_model(data)
        top = largest(model.at_zero())
        alphas = given_strengths(alphas, top, n_alphas, ratio)
        results = list(model.solve(alphas))
        self._keep_result(results, measure=self._measure())
        objective, nothing = model.null_model()
        solutions = [nothing, *(result.solution for result in results)]
        models = [(pack_coefficients(coef), b) for coef, b in map(model.coefficients, solutions)]
        return Path(
            [model.features(one) for one in solutions],
            objective=np.array([objective, *(result.objective for result in results)]),
            strength=np.append(top, alphas),
            optimality=np.array([0.0, *(result.optimality for result in results)]),
            coefs=[coef for coef, _ in models],
            intercepts=[intercept for _, intercept in models],
        )
