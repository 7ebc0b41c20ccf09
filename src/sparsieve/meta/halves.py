"""Stability selection on halves of the samples: runs, and bounds on what they keep by mistake.

Complementary halves of the samples, or of the groups that they come in. A run on one half keeps q
of p features. Call those with a chance of at most theta = q / p to be kept by one run the unlikely
ones: noise is among them unless the selector prefers it to chance. All bounds are on the expected
number of unlikely features whose share of runs reaches the threshold tau, over B complementary
pairs of half-samples (Meinshausen and Bühlmann 2010; Shah and Samworth 2013). Features per run,
threshold and expected false positives: two of them determine the third.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from sklearn.utils.validation import check_consistent_length

from .._checks import warn_user
from .._sklearn import check_method_params
from ..scoring.outcomes import read_ranking
from ..validation.columns import FixedColumns, take_rows
from ..validation.containers import plain_vector
from ..validation.target import Target
from .base import redraw_seeds
from .trials import is_learnable

# Counts are multiples of 1/B; this keeps rounding from pushing a threshold to the next one.
_ROUNDING = 1e-9


def worst_case_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """q^2 / ((2 tau - 1) p): no assumption at all.

    Examples
    --------
    >>> from sparsieve.meta.halves import worst_case_bound
    >>> worst_case_bound(10, 1000, 0.75, 50)
    0.2
    """
    return q**2 / ((2 * threshold - 1) * p)


def unimodal_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Shah and Samworth's second theorem.

    Assumes that for every unlikely feature the share of pairs in which both halves keep it has
    a unimodal distribution.

    Examples
    --------
    >>> from sparsieve.meta.halves import unimodal_bound
    >>> round(unimodal_bound(10, 1000, 0.75, 50), 4)
    0.102
    """
    theta, step = q / p, 1 / (2 * n_pairs)
    worst = worst_case_bound(q, p, threshold, n_pairs)
    if theta > 1 / np.sqrt(3) or threshold <= min(0.5 + theta**2, 0.5 + step + 0.75 * theta**2):
        return worst
    if threshold <= 0.75:
        left = 2 * threshold - 1 - step
        factor = 1 / (2 * left) if left > 0 else np.inf
    else:
        factor = 4 * (1 - threshold + step) / (1 + 2 * step)
    return float(min(worst, factor * q**2 / p))


def r_concave_bound(q: int, p: int, threshold: float, n_pairs: int) -> float:
    """Shah and Samworth's third bound, usually much the smallest.

    Assumes that for every unlikely feature the share of pairs in which both halves keep it is
    -1/2-concave and the share of half-samples that keep it is -1/4-concave.

    Examples
    --------
    >>> from sparsieve.meta.halves import r_concave_bound
    >>> round(r_concave_bound(10, 1000, 0.75, 50), 4)
    0.0239
    """
    theta = q / p
    both = np.ceil((2 * threshold - 1) * n_pairs - _ROUNDING)
    either = np.ceil(2 * threshold * n_pairs - _ROUNDING)
    tail = min(
        r_concave_tail(theta**2, int(both), n_pairs, -1 / 2),
        r_concave_tail(theta, int(either), 2 * n_pairs, -1 / 4),
    )
    return float(min(worst_case_bound(q, p, threshold, n_pairs), p * tail))


BOUNDS = {
    "worst_case": worst_case_bound,
    "unimodal": unimodal_bound,
    "r_concave": r_concave_bound,
}


@lru_cache(maxsize=1024)
def r_concave_tail(mean: float, count: int, n: int, r: float) -> float:
    """Largest P(X >= count / n) of an r-concave X on 0, 1/n, ..., 1 with this mean, r < 0.

    f is r-concave when f^r is convex. The worst f has f^r linear as far as it reaches: it is
    proportional to (a + i)^(1/r) for i <= k, with what is left over at k + 1. The mean ties
    that leftover to a and k, which gives

        P(X >= t) = 1 - (k + 1 - n mean) sum_{i < t} f_i / sum_{i <= k} (k + 1 - i) f_i

    for a between the values at which the leftover is nothing and a full step of the sequence.
    Returns 1 where the uniform distribution on 0, ..., t already has too small a mean.

    Examples
    --------
    >>> from sparsieve.meta.halves import r_concave_tail
    >>> r_concave_tail(0.2, 1, 10, -0.5)
    1.0
    >>> r_concave_tail(0.01, 5, 10, -0.5) < 0.01
    True
    """
    target = mean * n
    first = int(np.ceil(2 * target)) + 1
    if count < first or first > n:
        return 1.0
    if count > n:
        return 0.0
    ends = {k: _log_start(k, target, 1 / r) for k in range(first, n + 1)}

    def tail(log_a, k):
        i = np.arange(k + 1)
        f = np.power(1 + i / np.exp(np.atleast_1d(log_a))[:, None], 1 / r)
        return 1 - (k + 1 - target) * f[:, :count].sum(axis=1) / (f @ (k + 1.0 - i))

    largest = float(tail(ends[n], n)[0])
    for k in range(max(first, count - 1), n):
        grid = np.linspace(ends[k + 1], ends[k], 33)
        top = int(np.argmax(tail(grid, k)))
        around = grid[max(top - 1, 0)], grid[min(top + 1, 32)]
        found = minimize_scalar(
            lambda log_a, k=k: -float(tail(log_a, k)[0]),
            bounds=around,
            method="bounded",
            options={"xatol": 1e-10},
        )
        largest = max(largest, float(tail(grid[top], k)[0]), -float(found.fun))
    return float(np.clip(largest, 0.0, 1.0))


def _log_start(k: int, target: float, power: float) -> float:
    """The log a for which the weights (a + i)^power on 0, ..., k have this mean."""
    i = np.arange(k + 1)

    def excess(log_a):
        f = np.power(1 + i / np.exp(log_a), power)
        return (i @ f) / f.sum() - target

    return float(brentq(excess, -100.0, 40.0, xtol=1e-12))


_TRIES = 100


@dataclass(frozen=True)
class SampleUnits:
    """What is halved: samples, or groups of them.

    Attributes
    ----------
    codes : ndarray or None
        Class of every unit, that of most of its samples; None for numbers.
    members : ndarray or None
        Unit of every sample; None where each is one of its own.
    n_units : int
    labels : ndarray or None
        Class of every sample.
    """

    codes: np.ndarray | None
    members: np.ndarray | None
    n_units: int
    labels: np.ndarray | None

    @classmethod
    def from_target(cls, target: Target, groups: Any = None) -> SampleUnits:
        """Samples, or their groups; refuses what leaves one class in a half."""
        n_samples, labels = len(target.Y), target.codes
        if groups is None:
            if labels is None:
                return cls(None, None, n_samples, None)
            counts = np.bincount(labels)
            if (counts >= 2).sum() < 2:
                raise ValueError(
                    "StabilitySelection splits the samples into halves, so at least two classes "
                    "of y need two samples each"
                )
            if not _in_proportion(counts) and n_samples > 4:
                warn_user(
                    "some classes of y are too small to be split evenly, so the halves are not "
                    "stratified by class"
                )
            return cls(labels, None, n_samples, labels)
        groups = np.asarray(plain_vector("groups", groups))
        if groups.ndim != 1:
            raise ValueError(f"groups must have one entry per sample, got shape {groups.shape}")
        check_consistent_length(target.Y, groups)
        names, members = np.unique(groups, return_inverse=True)
        if len(names) < 4:
            raise ValueError(
                f"StabilitySelection splits the groups into halves, but there are {len(names)}; "
                "give at least 4, or leave groups out"
            )
        if labels is None:
            return cls(None, members, len(names), None)
        table = np.zeros((len(names), len(target.classes)), dtype=np.int64)
        np.add.at(table, (members, labels), 1)
        if ((table > 0).sum(axis=0) >= 2).sum() < 2:
            raise ValueError(
                "StabilitySelection splits the groups into halves, so at least two classes of y "
                "need samples in two groups each"
            )
        return cls(table.argmax(axis=1), members, len(names), labels)

    def halves(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Samples of two disjoint halves of as many units, the classes in proportion."""
        if self.members is None:
            return self._learnable(rng)
        for _ in range(_TRIES):
            first, second = (
                np.flatnonzero(np.isin(self.members, units)) for units in self._dealt(rng)
            )
            if self.labels is None or all(
                len(np.unique(self.labels[half])) > 1 for half in (first, second)
            ):
                return first, second
        raise ValueError(
            "groups cannot be split into halves that both contain two classes of y; merge some "
            "groups"
        )

    def _learnable(self, rng: Any) -> tuple[np.ndarray, np.ndarray]:
        """Halves of the samples with two classes in both, one of them with two samples."""
        codes = self.codes
        if codes is None or _in_proportion(np.bincount(codes)):
            return self._dealt(rng)
        for _ in range(_TRIES):
            halves = self._dealt(rng, by_class=False)
            if all(is_learnable(np.bincount(codes[half])) for half in halves):
                return halves
        return self._dealt(rng)  # as far apart as they are, for selectors that need no more

    def _dealt(self, rng: Any, by_class: bool = True) -> tuple[np.ndarray, np.ndarray]:
        order = rng.permutation(self.n_units)
        if self.codes is not None and by_class:
            # Sort by class, classes in random order, and deal like cards.
            place = rng.permutation(self.codes.max() + 1)
            order = order[np.argsort(place[self.codes[order]], kind="stable")]
        order = order[: self.n_units // 2 * 2]
        return np.sort(order[::2]), np.sort(order[1::2])


def run_pair(
    selector: Any,
    X: Any,
    y: Any,
    units: SampleUnits,
    fit_params: dict[str, Any],
    q: int,
    fixed: FixedColumns,
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """(the q best features, or groups, of either half in order, sum of the two rankings)."""
    rng = np.random.RandomState(seed)
    tops, ranks = [], np.zeros(1, dtype=np.int64)
    for half in units.halves(rng):
        model = redraw_seeds(selector, rng)
        given = check_method_params(y, fit_params, indices=half)
        model.fit(take_rows(X, half), y[half], **given)
        ranking = read_ranking(model, fixed.n_always + q)
        best = np.argsort(ranking)
        tops.append(best[~fixed.either[best]][:q])
        ranks = ranks + ranking
    return np.array(tops), ranks


def _in_proportion(counts: np.ndarray) -> bool:
    """Whether halves with the classes in proportion have two samples of some class each."""
    return bool(counts.max() > 3 or (counts == 3).sum() > 1)


DEFAULT_THRESHOLD = 0.75


@dataclass(frozen=True)
class Halving:
    """What the settings of stability selection depend on.

    Attributes
    ----------
    bound : callable
        ``bound(q, p, threshold, n_pairs)``, one of :data:`~sparsieve.meta.halves.BOUNDS`.
    n_open : int
        Features, or groups of them, that may be selected: p.
    n_pairs : int
        Pairs of halves.
    unit : str
        What is selected, for messages: "feature" or "feature group".
    """

    bound: Callable[..., float]
    n_open: int
    n_pairs: int
    unit: str

    def settings(
        self, q: int | None, threshold: float | None, allowed: float | None
    ) -> tuple[int, float]:
        """(features per run, threshold) from what was given; ``allowed`` are false positives.

        Examples
        --------
        >>> from sparsieve.meta.halves import BOUNDS
        >>> from sparsieve.meta.halves import Halving
        >>> Halving(BOUNDS["worst_case"], 1000, 50, "feature").settings(None, None, 0.2)
        (10, 0.75)
        """
        p, unit = self.n_open, self.unit
        if q is not None:
            if q > p:
                raise ValueError(
                    f"n_features_per_run={q} is larger than the {p} {unit}s of X; pass at most {p}"
                )
            if threshold is not None or allowed is None:
                return int(q), threshold or DEFAULT_THRESHOLD
            return int(q), self._smallest_threshold(q, allowed)
        threshold = threshold or DEFAULT_THRESHOLD
        limit = 1.0 if allowed is None else allowed
        # A single feature per run is the least there is.
        q = _largest(lambda q: self._bound(q, threshold) <= limit, p)
        if q == 0 and allowed is not None:
            raise ValueError(
                f"expected_false_positives={allowed} cannot be guaranteed at threshold "
                f"{threshold:.3g} with {p} {unit}s: even one {unit} per run gives a bound of "
                f"{self._bound(1, threshold):.3g}; increase one of them"
            )
        return max(q, 1), threshold

    def _bound(self, q: int, threshold: float) -> float:
        return self.bound(q, self.n_open, threshold, self.n_pairs)

    def _smallest_threshold(self, q: int, allowed: float) -> float:
        # Shares of runs are multiples of 1 / (2 n_pairs); count from 1 downwards.
        def threshold(steps):
            return 1 - steps / (2 * self.n_pairs)

        if self._bound(q, 1.0) > allowed:
            raise ValueError(
                f"expected_false_positives={allowed} cannot be guaranteed with {q} {self.unit}s "
                f"per run out of {self.n_open}: even a threshold of 1 gives a bound of "
                f"{self._bound(q, 1.0):.3g}; lower n_features_per_run"
            )
        last = self.n_pairs - 1
        return threshold(_largest(lambda s: self._bound(q, threshold(s)) <= allowed, last))


def _largest(holds: Callable[[int], bool], upper: int) -> int:
    """Largest of 0, ..., upper for which ``holds``, given that it holds up to some point."""
    return bisect_left(range(1, upper + 1), True, key=lambda number: not holds(number))
