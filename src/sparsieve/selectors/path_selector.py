"""One fit and one path for all selectors with a penalty of any strength."""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .._beside import largest
from .._checks import check_real
from ..solvers.base import Path, Result
from .convergence import GAP
from .feature_scores import FeatureScores
from .linear import LinearSelector, TrainingData
from .strengths import (
    DEFAULT_SHARE,
    ENTRY_MEANING,
    StrengthModel,
    follow_path,
    given_strengths,
    pack_coefficients,
    strength_path,
)


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
        self.__dict__.pop("path_", None)  # of an earlier fit
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
