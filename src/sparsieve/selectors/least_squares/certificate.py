"""How far a selection is from the best possible one of its size."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_integer
from ..._saved import Floats, Ints, Maybe, Savable
from ...solvers.base import Path
from ...solvers.least_squares.accuracy import least_objective
from ...solvers.least_squares.bounds import BoundSearch
from ...validation.training_data import TrainingData
from ..preparation import Prepared
from .proof import Proof, doubled, feature_digest, target_digest

# Relative accuracy to which the relaxation behind a bound is solved.
ACCURACY = 1e-4
# A relative gap below this is stated as a number, not by the share that is explained for sure.
SMALL = 1e-6
# Column statistics that differ by more than this are those of other data.
ALIKE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}


@dataclass(frozen=True)
class Certificate(Savable):
    """Proven bounds on how close selections are to the best of the same size.

    All values are of ``||Y - XW||^2 + ridge * n * ||W||^2`` on the data as prepared for the search
    (standardised, clipped, balanced, covariates projected out). The bounds concern this training
    objective, not accuracy on new data.

    Attributes
    ----------
    n_features : ndarray
        Numbers of features, including those of ``always_keep``.
    objective : ndarray
        Objective of the selection of that size.
    lower_bound : ndarray
        Proven lower bound on the objective of every selection of that size, rounding errors
        included.
    gap : ndarray
        Largest possible improvement as a fraction of the objective: ``(objective - lower_bound) /
        objective``; 0 where an exact search has proven, rounding errors included, that no other
        selection is better. Objectives below machine precision (relative to the target) are
        replaced by machine precision.
    share : ndarray
        Proven minimum of what the selection explains, as a fraction of what the best one of its
        size explains.
    target_power : float
        The objective with the features of ``always_keep`` only.
    n_always : int
        Number of features in ``always_keep``; only selections that contain them are compared.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.ExactSearch : Branch and bound: finds the best set, with proof.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> certificate = RidgeForwardSelector(n_features_to_select=2).fit(X, y).certify(X, y)
    >>> certificate.n_features
    array([1, 2])
    >>> bool((certificate.lower_bound <= certificate.objective).all())
    True
    """

    n_features: Annotated[Ints, "sizes"]
    objective: Annotated[Floats, "sizes"]
    lower_bound: Annotated[Floats, "sizes"]
    gap: Annotated[Floats, "sizes"]
    share: Annotated[Floats, "sizes"]
    target_power: float
    n_always: int = 0
    unit: ClassVar[str] = "feature"  # what n_features counts

    def sentence(self, n_features: int | None = None) -> str:
        """Say in one sentence what is proven for one number of features, by default the largest."""
        if len(self.n_features) == 0:
            return f"No {self.unit} was selected, so there is nothing to prove."
        where = -1
        if n_features is not None:
            places = np.flatnonzero(self.n_features == n_features)
            if len(places) == 0:
                raise ValueError(
                    f"this certificate covers {self.n_features[0]} to {self.n_features[-1]} "
                    f"{self.unit}s, not {n_features}; pass that number to certify"
                )
            where = int(places[0])
        count, share = int(self.n_features[where]), float(self.share[where])
        if count == self.n_always:
            return f"All {count} {self.unit}s are in always_keep, so there was nothing to choose."
        alone = count == 1
        features = self.unit if alone else f"{count} {self.unit}s"
        gap = float(self.gap[where])
        if gap <= SMALL:
            more = f" by more than {upwards(gap)} of the objective" if gap > 0.0 else ""
            return (
                f"No {features} explain{'s' * alone} the training data better than "
                f"{'this one' if alone else 'these'}{more}{self._beside()} (proven for the fit to "
                "the training data, not for accuracy on new data)."
            )
        return (
            f"{'This' if alone else 'These'} {features} explain{'s' * alone} at least "
            f"{np.floor(1000 * share) / 10:.1f} % of what the best {features} "
            f"could{self._beside()} (proven for the fit to the training data, not for accuracy on "
            "new data)."
        )

    def _beside(self) -> str:
        if self.n_always == 0:
            return ""
        return f", counting only sets with the {self.n_always} features of always_keep"

    def __str__(self) -> str:
        return self.sentence()

    def as_dict(self) -> dict[str, Any]:
        """Return the values as a dict of lists, ready for JSON."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}


class GroupCertificate(Certificate):
    """The same for groups of features; :class:`L20Selector` adds their prices to objectives."""

    unit = "feature group"


def upwards(share: float) -> str:
    """A small number in two digits that is not less."""
    digits = f"{share:.1e}"
    if float(digits) < share:
        digits = f"{share * 1.1:.1e}"
    return digits.replace("e-0", "e-")


class Certifiable:
    """Mixin of selectors that search least squares with a ridge: ``certify``."""

    path_: Path
    certificate_: Maybe[Certificate]
    n_features_in_: int
    _seen: tuple

    @abstractmethod
    def _searched(self, data: TrainingData, **options: Any) -> tuple[Prepared, float]:
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
        all selections of the same size. The bound comes from a convex relaxation; it is tight for
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
        These 3 features explain at least 99... % of what the best 3 features could (proven ...).
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
        is_same = self._check_same(data, proof.problem if is_double else self._searched(data)[0])
        n_always, groups = data.choices.n_always, data.groups
        sizes = np.array(self._sizes(n_features, n_always), dtype=np.int64)
        search, own = proof.search, sizes - n_always
        reached = [np.ravel(search.value(self._chosen_at(int(k)))) for k in own]
        objective, low, high = np.reshape(reached, (len(own), 3)).T
        bound = np.minimum(_bounds(search, own), low)
        scale = np.maximum(high, least_objective(search.power))
        gap = np.where(own == 0, 0.0, (high - bound) / scale)
        if self.path_.optimality is not None and is_same:
            # An exact search has proven more.
            proven = np.asarray(self.path_.optimality)[own]
            bound = np.maximum(bound, low - proven * scale)
            gap = np.minimum(gap, proven)
        with np.errstate(divide="ignore", invalid="ignore"):
            possible = search.power - bound
            share = np.where(possible > 0, (search.power - objective) / possible, 1.0)
        # What is not proven is not said to be all, by rounding of the share either.
        share = np.where(gap > 0.0, np.minimum(share, 1.0 - 2.0**-53), 1.0)
        kind = Certificate if groups is None else GroupCertificate
        self.certificate_ = kind(
            *(sizes, objective, bound, gap, np.clip(share, 0.0, 1.0), search.power, n_always),
        )
        return self.certificate_

    def _chosen_at(self, n_chosen: int) -> np.ndarray:
        """The features, or groups, that the model chose itself where it chose this many."""
        groups = vars(self).get("_feature_groups")
        if groups is None:
            return self.path_.supports[n_chosen]
        best = np.argsort(self.group_ranking_, kind="stable")  # type: ignore[attr-defined]
        return best[self._choices.n_always :][:n_chosen]  # type: ignore[attr-defined]

    def _proof(self, data: TrainingData) -> Proof:
        """The problem that was searched as proofs need it."""
        problem, ridge = self._searched(doubled(data), keep_spent=True)
        return Proof(data, problem, ridge, self._proves_plain)

    @abstractmethod
    def _relative_ridge(self) -> float: ...

    def _is_exact(self) -> bool:
        """Whether the search itself proves what it finds."""
        return False

    def _check_certifiable(self) -> None:
        if self._relative_ridge() == 0.0 and not self._is_exact():
            raise ValueError(
                f"{type(self).__name__} was fitted without a ridge, for which there is no bound; "
                'fit it with ridge=1.0, or use L20Selector(solver="exact")'
            )

    def _remember(self, data: TrainingData, problem: Prepared, *, exact: bool = False) -> None:
        """Keep, at fit time, what tells whether ``certify`` is given the same data.

        Of an exact search, whose proofs ``certify`` goes on from, all values of X count.
        """
        self.__dict__.pop("certificate_", None)  # of an earlier fit
        digest = feature_digest(data) if exact else None
        units = problem.units
        self._seen = (units.centre, units.scale, target_digest(data), digest, self._asked(data))

    def _asked(self, data: TrainingData) -> str:
        """What the problem depends on beside the data."""
        asked = (
            self._relative_ridge() * data.total_weight,
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
        tolerance = ALIKE[np.dtype(problem.design.dtype)]
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
        known, now = (*self._seen, None)[3], None  # files of earlier versions have no digest
        if known is not None and (now := feature_digest(data)) is not None and now != known:
            raise ValueError(
                "X differs from what the selector was fitted on (in some values or in the order "
                "of rows); pass the same X as to fit"
            )
        asked = (*self._seen, None, None)[4]
        return now is not None and asked == self._asked(data)

    def _sizes(self, n_features: int | Sequence[int] | None, n_always: int) -> list[int]:
        last = len(self.path_) + n_always
        if n_features is None:
            return list(range(max(1, n_always), last + 1))
        several = [n_features] if isinstance(n_features, int | np.integer) else list(n_features)
        for size in several:
            check_integer("n_features", size, minimum=max(1, n_always))
            if size > last:
                raise ValueError(
                    f"n_features={size} exceeds the {last} features of the path; fit with "
                    f"n_features_to_select >= {size}"
                )
        return sorted({int(size) for size in several})


def _bounds(search: BoundSearch, sizes: np.ndarray) -> np.ndarray:
    most = int(sizes.max(initial=0))
    best = np.zeros(most + 1)
    best[0] = search.power
    for k in sizes[(sizes > 0) & search.has_ridge]:
        found = search.solve(int(k), tol=ACCURACY).solution.dual.bounds(most, search.ridge)
        best[: len(found)] = np.maximum(best[: len(found)], found)
    return best[sizes]
