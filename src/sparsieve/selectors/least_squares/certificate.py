"""How far a selection is from the best possible one of its size."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._saved import Maybe
from ...solvers.base import Path
from ...solvers.exact.bounds import BoundSearch
from ...solvers.exact.support_values import least_objective
from ...validation.training_data import TrainingData
from ..certificates import Certificate, certified_sizes, make_certificate
from ..groups import prescribes_signs
from ..preparation import Prepared
from .l20_exact import Proof, feature_digest, target_digest, to_double

# Relative accuracy to which the relaxation behind a bound is solved.
BOUND_TOL = 1e-4
# Column statistics that differ by more than this are those of other data.
SAME_COLUMN_TOL = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}


class Certifiable:
    """Mixin of selectors that search least squares with a ridge: ``certify``."""

    path_: Path
    certificate_: Maybe[Certificate]
    n_features_in_: int
    _seen: tuple

    @abstractmethod
    def _search_problem(self, data: TrainingData, **options: Any) -> tuple[Prepared, float]:
        """The problem that was searched, and its absolute ridge; options as ``prepare`` takes."""

    _proves_plain: ClassVar[bool] = True  # whether columns are standardised, and nothing else

    def certify(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_features: int | Sequence[int] | None = None,
    ) -> Certificate:
        """Prove how close the selection is to the best one of the same size.

        The objective of every selection on the path is compared with a lower bound that holds for
        all selections of the same size, also those with near copies that ``max_correlation`` passes
        over. The bound comes from a convex relaxation; it is tight for
        the default ridge (gaps of a few per cent) and weak for a small one. After an exact search
        on the same data, its bounds are used as well. The proof concerns the training objective,
        not accuracy on new data.

        Parameters
        ----------
        X, y, sample_weight : as given to ``fit``
            The data the selector was fitted on.
        n_features : int, list of int or None, default=None
            Numbers of features to certify; None means every number on the path.

        Returns
        -------
        certificate : Certificate
            Objective, lower bound, gap and share for every number of features; also stored as
            ``certificate_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sparsieve import RidgeForwardSelector
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> selector = RidgeForwardSelector(n_features_to_select=3).fit(X, y)
        >>> print(selector.certify(X, y))
        These 3 features explain at least 96... % of what the best 3 features could (proven ...).
        """
        check_is_fitted(self)
        self._check_certifiable()
        if getattr(X, "shape", (0, self.n_features_in_))[1:] != (self.n_features_in_,):
            raise ValueError(
                f"certify needs the X passed to fit, with {self.n_features_in_} features, but got "
                f"shape {X.shape}"
            )
        # A copy: validation sets attributes of the estimator that it is done for.
        data = copy.copy(self)._training_data(X, y, sample_weight)  # type: ignore[attr-defined]
        proof = self._proof(data)
        # Columns of float32 may be constant in their own precision and not in double.
        is_double = data.design.dtype == np.float64
        is_same = self._check_same(
            data, proof.problem if is_double else self._search_problem(data)[0]
        )
        n_always, groups = data.choices.n_always, data.groups
        sizes = certified_sizes(n_features, n_always, len(self.path_))
        search, own = proof.search, sizes - n_always
        reached = [np.ravel(search.value(self._model_support(int(k)))) for k in own]
        objective, low, high = np.reshape(reached, (len(own), 3)).T
        bound = np.minimum(_bounds(search, own), low)
        scale = np.maximum(high, least_objective(search.power))
        gap = np.where(own == 0, 0.0, (high - bound) / scale)
        if self.path_.optimality is not None and is_same:
            # An exact search has proven more.
            proven = np.asarray(self.path_.optimality)[own]
            bound = np.maximum(bound, low - proven * scale)
            gap = np.minimum(gap, proven)
        self.certificate_ = make_certificate(
            groups is not None, sizes, objective, bound, gap, search.power, n_always
        )
        return self.certificate_

    def _model_support(self, n_chosen: int) -> np.ndarray:
        """The features, or groups, that the model chose itself where it chose this many."""
        groups = vars(self).get("_feature_groups")
        if groups is None:
            return self.path_.supports[n_chosen]
        best = np.argsort(self.group_ranking_, kind="stable")  # type: ignore[attr-defined]
        return best[self._choices.n_always :][:n_chosen]  # type: ignore[attr-defined]

    def _proof(self, data: TrainingData) -> Proof:
        """The problem that was searched as proofs need it."""
        problem, ridge = self._search_problem(to_double(data), keep_spent=True)
        return Proof(data, problem, ridge, self._proves_plain, self._clip_limit())

    def _clip_limit(self) -> float | None:
        """The number of standard deviations that values are moved to."""
        return None

    @abstractmethod
    def _relative_ridge(self, data: TrainingData) -> float: ...

    @property
    @abstractmethod
    def _lacks_ridge(self) -> bool:
        """Whether the problem has no ridge, whatever the data."""

    def _is_exact(self) -> bool:
        """Whether the search itself proves what it finds."""
        return False

    def _check_certifiable(self) -> None:
        if prescribes_signs(self):
            raise ValueError(
                f"{type(self).__name__} cannot prove anything about coefficients of prescribed "
                "signs; fit it without nonnegative"
            )
        if self._lacks_ridge and not self._is_exact():
            raise ValueError(
                f"{type(self).__name__} was fitted without a ridge, for which there is no bound; "
                'fit it with ridge=1.0, or use L20Selector(solver="exact")'
            )

    def _remember(self, data: TrainingData, problem: Prepared, *, exact: bool = False) -> None:
        """Keep, at fit time, what tells whether ``certify`` is given the same data.

        Of an exact search, whose proofs ``certify`` goes on from, all values of X count.
        """
        digest = feature_digest(data) if exact else None
        units = problem.units
        self._seen = (
            units.centre,
            units.scale,
            target_digest(data),
            digest,
            self._problem_key(data),
        )

    def _problem_key(self, data: TrainingData) -> str:
        """What the problem depends on beside the data."""
        asked = (
            self._relative_ridge(data) * data.total_weight,
            self.fit_intercept,  # type: ignore[attr-defined]
            self.standardize,  # type: ignore[attr-defined]
            np.flatnonzero(data.fixed.always).tolist(),
            np.flatnonzero(data.fixed.never).tolist(),
            *([] if data.groups is None else [[c.tolist() for c in data.groups.columns]]),
        )
        return repr(asked)

    def _check_same(self, data: TrainingData, problem: Prepared) -> bool:
        """Refuse other data; whether X and all settings are the same for sure.

        Only then what an exact search has proven holds.
        """
        centre, scale, digest = self._seen[:3]
        if digest != target_digest(data):
            raise ValueError(
                "y or sample_weight differs from what the selector was fitted on; pass the same "
                "data as to fit"
            )
        tolerance = SAME_COLUMN_TOL[np.dtype(problem.design.dtype)]
        units = problem.units
        same = len(centre) == len(units.centre) and bool(
            (np.abs(centre - units.centre) <= tolerance * (np.abs(scale) + np.abs(centre))).all()
            and (np.abs(scale - units.scale) <= tolerance * np.abs(scale)).all()
        )
        if not same:
            raise ValueError(
                "X differs from what the selector was fitted on (its columns have different "
                "means or variances); pass the same X as to fit"
            )
        known, now = self._seen[3], None
        if known is not None and (now := feature_digest(data)) is not None and now != known:
            raise ValueError(
                "X differs from what the selector was fitted on (in some values or in the order "
                "of rows); pass the same X as to fit"
            )
        return now is not None and self._seen[4] == self._problem_key(data)


def _bounds(search: BoundSearch, sizes: np.ndarray) -> np.ndarray:
    most = int(sizes.max(initial=0))
    best = np.zeros(most + 1)
    best[0] = search.power
    for k in sizes[(sizes > 0) & search.has_ridge]:
        found = search.solve(int(k), tol=BOUND_TOL).solution.dual.bounds(most, search.ridge)
        best[: len(found)] = np.maximum(best[: len(found)], found)
    return best[sizes]
