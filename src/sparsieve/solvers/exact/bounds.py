"""Proven lower bounds on what any k features can reach, for every k at once.

For least squares with a ridge, every matrix A gives, with s_j = ||x_j'A||^2 and whatever support
S of at most k features (weak duality, maximised over the scale of A),

    min_W ||Y - X_S W||^2 + ridge ||W||^2  >=  <A, Y>^2 / (||A||^2 + (k largest s_j) / ridge).

One product X'A therefore bounds all k. The relaxation says which A is best for a given k; however
badly it was solved, what is computed here from its A is a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...design import DesignMatrix, in_double
from ...penalties import row_norms
from ..base import Result, relative
from .relaxation import GramProblem, Relaxed, relax
from .support_values import EPS, Accuracy, GroupValues, SupportValues, Values

# Features taken into the working set at a time, at least, and rounds of growing it.
MIN_ADDED, MAX_ROUNDS = 10, 60


@dataclass(frozen=True)
class DualPoint:
    """A matrix A and what one product with X says about it, rounding errors included.

    Attributes
    ----------
    agreement : float
        At most <A, Y>.
    power : float
        At least ||A||^2.
    squares : ndarray of shape (n_features,)
        At least ||x_j'A||^2; zero for features that may not be used. Where groups of features are
        chosen, one number per group: their sum.
    prices : ndarray of shape (n_groups,) or None
        What every group adds to the objective.
    """

    agreement: float
    power: float
    squares: np.ndarray
    prices: np.ndarray | None = None

    def bounds(self, n_most: int, ridge: float) -> np.ndarray:
        """Lower bounds for 0, 1, ..., n_most features."""
        n_most = min(n_most, len(self.squares))
        if self.prices is not None:
            free = np.ones(len(self.squares), dtype=bool)
            none, places = np.arange(0), np.arange(n_most + 1)
            scales = self.scales(none, free, n_most, ridge)
            return np.max(
                [self.price_bounds(t, none, free, places, ridge)[0] for t in scales], axis=0
            )
        largest = np.sort(self.squares)[::-1][:n_most]
        sums = np.concatenate([[0.0], np.cumsum(largest)])
        sums *= 1.0 + (n_most + 8) * EPS
        return self.bound(sums / ridge)

    def scales(self, inside: np.ndarray, free: np.ndarray, left: int, ridge: float) -> list[float]:
        """Factors of A that are worth trying; with prices none is best for all."""
        assert self.prices is not None
        worth = np.where(free, self.squares / ridge - self.prices, -np.inf)
        first = np.argsort(-worth, kind="stable")[:left]
        charge = (float(self.squares[inside].sum()) + float(self.squares[first].sum())) / ridge
        best = self.agreement / max(self.power + charge, EPS)
        return [0.0, 1.0, max(best, 0.0)]

    def price_bounds(
        self,
        scale: float,
        inside: np.ndarray,
        free: np.ndarray,
        left: np.ndarray | int,
        ridge: float,
    ) -> tuple[Any, np.ndarray]:
        """Lower bounds of fit and prices with the units inside and ``left`` of the free ones.

        Returns them, and what each unit is worth: bounds rise by the differences of these.
        """
        assert self.prices is not None
        worth = scale**2 * self.squares / ridge * (1.0 + 8 * EPS) - self.prices
        sums = np.concatenate([[0.0], np.cumsum(np.sort(worth[free])[::-1])])
        left = np.minimum(left, len(sums) - 1)
        fit = 2.0 * scale * self.agreement - scale**2 * self.power
        size = 2.0 * scale * abs(self.agreement) + scale**2 * self.power
        size += float(np.abs(worth).sum())
        slack = (len(worth) + 64) * EPS * size
        return fit - float(worth[inside].sum()) - sums[left] - slack, worth

    def bound(self, charge: np.ndarray) -> np.ndarray:
        """The lower bound where the features that may be used cost this much together."""
        if not (self.agreement > 0.0 and self.power > 0.0):
            return np.zeros_like(charge)
        return self.agreement**2 / ((self.power + charge) * (1.0 + 16 * EPS))


def dual_point(
    A: np.ndarray,
    product: np.ndarray,
    known: BoundSearch | SupportValues,
    *,
    weights: np.ndarray,
    features: np.ndarray,
    more: np.ndarray | float = 0.0,
) -> DualPoint:
    """What A and X'A say for sure.

    Parameters
    ----------
    known : Y, and ``errors`` and ``target_error``, by which x_j'A and <A, Y> may be wrong, relative
        to the norm of A, or to what A is made of where that is larger.
    weights, features : A = Y - X_S W.
    more : what x_j'A may be wrong by beside that.
    """
    Y, accuracy = known.Y, known.accuracy
    reach, share = 0.0, 0.0
    if accuracy.from_products:
        reach = accuracy.target + float(row_norms(weights) @ accuracy.columns[features])
        share = accuracy.relative
    n_samples, n_outputs = A.shape
    length = float(np.linalg.norm(A)) * (1.0 + n_samples * n_outputs * EPS)
    reach = max(reach, length)
    size = np.sqrt(np.einsum("ij,ij->i", product, product)) * (1.0 + (n_outputs + 4) * EPS)
    squares = (size + known.errors * reach + more) ** 2 * (1.0 + accuracy.relative)
    slack = (n_samples * n_outputs + 16) * EPS * float(np.linalg.norm(Y))
    agreement = float(np.vdot(A, Y)) - (slack + known.target_error) * reach
    return DualPoint(agreement, length**2 * (1.0 + 4 * EPS) + share * reach**2, squares)


@dataclass(frozen=True)
class RelaxedSupport:
    """A solution of the relaxation, and the dual point that certifies its bounds."""

    relaxed: Relaxed
    dual: DualPoint


class BoundSearch:
    """Bounds for falling or growing k on one problem, each solved from the last.

    Parameters
    ----------
    design, Y : the centred problem that was searched, without unpenalised columns.
    ridge : penalty on the squared coefficients; bounds need a positive one.
    eligible : mask of the features that may be used.
    accuracy : how far the problem may be from the one that it stands for.
    groups : columns of every group, where k counts groups; None where it counts features.
    prices : what every feature, or every group, adds to the objective; not negative. One number for
        all stays beside values and bounds, which compare sets of one size; one number per group is
        part of them. Who compares sizes adds ``size_costs``, which is nothing in the second case.
    """

    choices: np.ndarray

    groups: Sequence[np.ndarray] | None
    dearest: float

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        ridge: float,
        eligible: np.ndarray | None = None,
        accuracy: Accuracy | None = None,
        groups: Sequence[np.ndarray] | None = None,
        prices: np.ndarray | float = 0.0,
    ):
        self.design: DesignMatrix = in_double(design)
        self.Y = np.asarray(Y, dtype=np.float64)
        self.ridge: float = float(ridge)
        self.accuracy: Accuracy = (
            Accuracy.from_data(self.design, self.Y) if accuracy is None else accuracy
        )
        n_samples, n_features = design.shape
        self.eligible: np.ndarray = (
            np.ones(n_features, dtype=bool) if eligible is None else eligible
        )
        magnitudes = self.design.column_magnitudes()
        # |fl(x'a) - x'a| <= gamma_n |x|'|a|, whatever the order of summation; twice for safety.
        self.errors: np.ndarray = 2.0 * (n_samples + 32) * EPS * magnitudes
        # A ridge that vanishes beside the columns gives no bound, and no numbers either.
        self.has_ridge: bool = self.ridge > (EPS * float(magnitudes.max(initial=0.0))) ** 2
        self.power: float = float(np.vdot(self.Y, self.Y))
        share = self.accuracy.relative if self.accuracy.from_products else 1.0
        self.errors += share * self.accuracy.columns
        self.target_error: float = share * self.accuracy.target
        removed = self.accuracy.removed
        products = self.design.rmatmul(np.hstack([self.Y, removed]))
        self.cross: np.ndarray = np.ascontiguousarray(products[:, : self.Y.shape[1]])
        offsets = products[:, self.Y.shape[1] :]
        self._offsets = np.sqrt(np.einsum("ij,ij->i", offsets, offsets)) + self.errors
        self.groups = groups
        self._each: float = float(prices) if np.ndim(prices) == 0 else 0.0
        self.prices: np.ndarray | None = None if np.ndim(prices) == 0 else np.asarray(prices)
        self.choices, self.dearest = self.eligible, 0.0  # what may be chosen: features or groups
        if groups is not None:
            self.choices = np.array([len(some) > 0 for some in groups])
        if self.prices is not None:
            # With discounts in place of prices more groups are never worse, as with features.
            self.dearest = float(self.prices.max(initial=0.0))
            self.prices = np.where(self.choices, self.prices, self.dearest)
        self.unit = "feature" if groups is None else "feature group"
        self.units: np.ndarray = np.empty(
            0, dtype=np.int64
        )  # features or groups of the working set
        self.features: np.ndarray = np.empty(0, dtype=np.int64)  # their columns
        self.columns: np.ndarray = np.empty((len(self.Y), 0), order="F")
        self.gram: np.ndarray = np.empty((0, 0))
        self.z: np.ndarray = np.empty(0)
        self.last: DualPoint | None = None

    def solve(self, k: int, *, tol: float) -> Result[RelaxedSupport]:
        """The relaxation for k features to a relative gap of ``tol``, from the last solution."""
        trace: list[float] = []
        if len(self.units) == 0:
            alone = np.einsum("ij,ij->i", self.cross, self.cross)
            alone = self._sum_groups(np.where(self.eligible, alone, 0.0))
            if self.prices is not None:
                alone = alone + self.ridge * self._discounts
            self._add_units(self._strongest(alone, 2 * k))
        for _ in range(MAX_ROUNDS):
            problem = GramProblem(
                self.gram,
                self.cross[self.features],
                self.power,
                self.ridge,
                self._numbers(),
                None if self.prices is None else self._discounts[self.units],
            )
            found = relax(problem, self.z, float(k), tol=0.3 * tol)
            found.value += self.dearest * k
            self.z = found.z
            dual = self.last = self.certify(found.weights)
            bound = float(dual.bounds(k, self.ridge)[-1])
            trace.append(found.value)
            if found.value - bound <= tol * max(found.value, EPS * self.power):
                break
            entering = self._violating(found, self._charges(dual))
            if len(entering) == 0:
                break
            self._add_units(entering)
        self._forget(self._charges(dual), k)
        optimality = relative(found.value - bound, found.value, EPS * self.power)
        solution = RelaxedSupport(found, dual)
        return Result(solution, found.value, optimality, len(trace), optimality <= tol, trace)

    def values(self, features: np.ndarray) -> SupportValues:
        """What supports out of these features, or groups, reach."""
        if self.groups is not None:
            groups = [self.groups[int(g)] for g in features]
            prices = np.zeros(len(groups)) if self.prices is None else self.prices[features]
            return GroupValues(
                *(self.design, self.Y, self.ridge, self.accuracy, groups, prices, self.dearest)
            )
        columns = self.design.dense_columns(features)
        return SupportValues(columns, self.Y, self.ridge, self.accuracy, features)

    def value(self, support: np.ndarray) -> Values:
        """What these features reach."""
        return self.values(support).evaluate(np.arange(len(support))[None])

    def size_costs(self, sizes: np.ndarray | int) -> Any:
        """What sets of these sizes cost beside their values."""
        return self._each * np.asarray(sizes, dtype=np.float64)

    def inside(self, support: np.ndarray) -> float:
        """What the value of these features, or groups, holds of prices."""
        return 0.0 if self.prices is None else float(self.prices[support].sum())

    def cheapest(self) -> np.ndarray:
        """The least that 0, 1, 2, ... of them cost, all of them at most."""
        each = np.full(int(self.choices.sum()), self._each)
        if self.prices is not None:
            each = np.sort(self.prices[self.choices])
        return np.concatenate([[0.0], np.cumsum(each)])

    def certify(self, weights: np.ndarray) -> DualPoint:
        """A = Y - X_S W with one product over all features."""
        A = self.Y - self.columns @ weights
        along = float(np.linalg.norm(self.accuracy.removed.T @ A))
        along += (len(A) + 16) * EPS * float(np.linalg.norm(A))
        offset = float(np.linalg.norm(self.accuracy.removed.T @ self.Y))
        found = dual_point(
            A,
            self.design.rmatmul(A),
            self,
            weights=weights,
            features=self.features,
            more=along * self._offsets,
        )
        return DualPoint(
            found.agreement - along * offset * (1.0 + 16 * EPS),
            found.power,
            self._sum_groups(np.where(self.eligible, found.squares, 0.0)),
            self.prices,
        )

    @property
    def _discounts(self) -> np.ndarray:
        assert self.prices is not None
        return self.dearest - self.prices

    def _charges(self, dual: DualPoint) -> np.ndarray:
        """The squares as the relaxation has them: with discounts."""
        if self.prices is None:
            return dual.squares
        return dual.squares + self.ridge * self._discounts

    def _sum_groups(self, squares: np.ndarray) -> np.ndarray:
        """One number per feature added up within groups, upwards."""
        if self.groups is None:
            return squares
        return np.array(
            [float(squares[some].sum()) * (1.0 + (len(some) + 4) * EPS) for some in self.groups]
        )

    def _numbers(self) -> np.ndarray | None:
        """The place of the unit of every column of the working set."""
        if self.groups is None:
            return None
        return np.repeat(np.arange(len(self.units)), [len(self.groups[int(g)]) for g in self.units])

    def _violating(self, found: Relaxed, squares: np.ndarray) -> np.ndarray:
        """Features outside the working set that violate their optimality condition most."""
        outside = squares.copy()
        outside[self.units] = 0.0
        entering = self._strongest(outside, max(MIN_ADDED, len(self.units) // 4))
        return entering[outside[entering] > found.multiplier(1e-9)]

    def _strongest(self, squares: np.ndarray, count: int) -> np.ndarray:
        count = min(max(count, MIN_ADDED), len(squares))
        chosen = np.argpartition(-squares, count - 1)[:count]
        return np.sort(chosen[squares[chosen] > 0.0])

    def _add_units(self, units: np.ndarray) -> None:
        features = units
        if self.groups is not None:
            features = np.concatenate([units[:0], *(self.groups[int(g)] for g in units)])
        new = self.design.dense_columns(features)
        across = self.columns.T @ new
        self.gram = np.block([[self.gram, across], [across.T, new.T @ new]])
        self.columns = np.asfortranarray(np.hstack([self.columns, new]))
        self.units = np.concatenate([self.units, units])
        self.features = np.concatenate([self.features, features])
        self.z = np.concatenate([self.z, np.zeros(len(units))])

    def _forget(self, squares: np.ndarray, k: int) -> None:
        """Keep the working set small: what is unused and squares little goes."""
        used = self.z > 0.0
        most = 2 * int(used.sum()) + 2 * MIN_ADDED + k
        if len(self.units) <= most:
            return
        rank = np.where(used, np.inf, squares[self.units])
        keep = np.sort(np.argsort(-rank, kind="stable")[:most])
        numbers = self._numbers()
        columns = keep if numbers is None else np.flatnonzero(np.isin(numbers, keep))
        self.units, self.z = self.units[keep], self.z[keep]
        self.features = self.features[columns]
        self.columns = np.asfortranarray(self.columns[:, columns])
        self.gram = self.gram[np.ix_(columns, columns)]
