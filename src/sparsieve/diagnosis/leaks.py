"""Single columns that look like the target, or whose gaps do.

A column may be measured well or be the target itself. What is called a leak is better than a
very good measurement would be, also than the best of many: classes that lie six standard
deviations apart, values that repeat the classes but for a few exceptions, ranks that repeat those
of the target. What noise of the same size would show is not mentioned either.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from .columns import CHANCE, chunks, full_columns, pair_chance, read_column

ERRORS = 0.02  # share of wrong entries that a copy of the target may have
HONEST_ERRORS = 0.15  # the same of the best feature of two values that is none
AGREEMENT = 0.86  # Cohen's kappa of a copy with errors
SAME_CORRELATION = 0.999  # above it a column and the target, or two columns, are the same
_MIN_RATIO = 3.0  # by which factor a leak is better than the best column that is none
# The same at areas under the curve of 0.99, as good as measurements get, and of 0.999.
_DISTANCE_AT_AUC_99, _DISTANCE_AT_AUC_999 = 3.29, 4.37
_SAMPLES = 2000  # looked at first; what passes is looked at in all samples


@dataclass(frozen=True)
class Leak:
    """A column, how many of its values contradict the target, and where it is missing."""

    column: int
    n_exceptions: int = 0
    n_present: int = 0
    gaps: str = ""  # where the gaps are, if they are what gives the target away


@lru_cache(maxsize=256)
def n_errors_allowable(n_samples: int) -> int:
    """How many errors a copy may have.

    The largest number that a share of ``ERRORS`` leaves, at a level of 1 %, as long as a feature
    with a share of ``HONEST_ERRORS`` shows no more in less than 4.5 % of all tables; one at least.

    Examples
    --------
    >>> from sparsieve.diagnosis.leaks import n_errors_allowable
    >>> n_errors_allowable(40), n_errors_allowable(60), n_errors_allowable(1000)
    (1, 4, 31)
    """
    copy = int(stats.binom.ppf(0.99, n_samples, ERRORS))
    feature = int(stats.binom.ppf(0.045, n_samples, HONEST_ERRORS)) - 1
    return max(1, min(copy, feature))


# -- classes -----------------------------------------------------------------------------------


class _Facts(NamedTuple):
    """One value per column; of the classes where there is a first axis."""

    separated: np.ndarray  # whether every class has an interval of its own
    distance: np.ndarray  # smallest between means of neighbouring classes, in standard deviations
    exceptions: np.ndarray  # values other than the usual one of their class
    kappa: np.ndarray  # agreement of the usual values with the classes
    present: np.ndarray

    @staticmethod
    def from_rows(values: np.ndarray, bounds: np.ndarray) -> _Facts:
        """Of rows sorted by class, which begin and end at the bounds."""
        there = ~np.isnan(values)
        parts = [slice(a, b) for a, b in pairwise(bounds)]
        present = np.array([there[part].sum(axis=0) for part in parts])
        low = np.array([np.fmin.reduce(values[part], axis=0) for part in parts])
        high = np.array([np.fmax.reduce(values[part], axis=0) for part in parts])
        order = np.argsort(low, axis=0)
        low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
        filled = np.where(there, values, 0.0)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            means = np.array([filled[part].sum(axis=0) for part in parts]) / present
            squares = sum(
                (np.where(there[part], values[part] - mean, 0.0) ** 2).sum(axis=0)
                for part, mean in zip(parts, means, strict=True)
            )
            n_present = present.sum(axis=0)
            within = np.sqrt(squares / (n_present - len(parts)))
            steps = np.diff(np.sort(means, axis=0), axis=0).min(axis=0)
            # A difference in the last digits of constants is none.
            within = np.maximum(within, 1e-12 * np.abs(means).max(axis=0))
            distance = np.where(steps > 0, steps / within, 0.0)
            usual = _usual(values, parts)
            wrong = n_present - sum(
                (values[part] == one).sum(axis=0) for part, one in zip(parts, usual, strict=True)
            )
            distinct = (np.diff(np.sort(usual, axis=0), axis=0) > 0).all(axis=0)
            by_chance = sum(
                count * (values == one).sum(axis=0)
                for count, one in zip(present, usual, strict=True)
            )
            expected = by_chance / n_present**2
            kappa = 1.0 - (wrong / n_present) / (1.0 - expected)
        return _Facts(
            np.logical_and((present > 0).all(axis=0), (high[:-1] < low[1:]).all(axis=0)),
            np.nan_to_num(distance, nan=0.0, posinf=np.inf),
            np.where(distinct, wrong, n_present),
            np.where(distinct, np.nan_to_num(kappa, nan=0.0), 0.0),
            present,
        )


def _usual(values: np.ndarray, parts: list[slice]) -> np.ndarray:
    """The value that more than half of a class have, if there is one: its median."""
    middle = []
    for part in parts:
        ranked = np.sort(values[part], axis=0)  # gaps come last
        last = np.maximum((~np.isnan(ranked)).sum(axis=0) - 1, 0)
        middle.append(np.take_along_axis(ranked, (last // 2)[None], axis=0)[0])
    return np.array(middle)


def class_leaks(X: Any, columns: np.ndarray, codes: np.ndarray) -> list[Leak]:
    """Columns that repeat the classes, but for gaps and a few exceptions."""
    counts = np.bincount(codes)
    # Two classes of such a column cannot both hold a zero, or be zero for the most part.
    columns = full_columns(X, columns, 0.4 * (len(codes) - counts.max()))
    if not len(columns):
        return []
    order = np.argsort(codes, kind="stable")
    bounds = np.append(0, np.cumsum(counts))
    share = max(20, _SAMPLES // len(counts))
    rng = np.random.default_rng(0)
    some = [rng.permutation(order[a:b])[:share] for a, b in pairwise(bounds)]
    sampled = np.concatenate(some)
    facts = _facts(X, columns, sampled, np.append(0, np.cumsum([len(part) for part in some])))
    likely = facts.separated | (facts.exceptions <= 2 * n_errors_allowable(len(sampled)))
    far = facts.distance[~likely].max(initial=0.0)
    wrong = (facts.exceptions[~likely] / facts.present[:, ~likely].sum(axis=0)).min(initial=1.0)
    columns, facts = columns[likely], _Facts(*(field[..., likely] for field in facts))
    if not len(columns):
        return []
    if len(sampled) < len(codes):
        facts = _facts(X, columns, order, bounds)
    return _judge_columns(columns, facts, X.shape[1], far, wrong)


def _judge_columns(
    columns: np.ndarray, facts: _Facts, n_features: int, far: float, wrong: float
) -> list[Leak]:
    """Those that are beyond chance, beyond measuring and beyond all others.

    ``far`` and ``wrong`` are the largest distance and the smallest share of exceptions of other
    columns: where some come near, the best of many is no wonder.
    """
    n_present = facts.present.sum(axis=0)
    noise = [
        _by_chance(present, 0 if apart else int(exceptions)) + math.log(n_features)
        for present, apart, exceptions in zip(
            facts.present.T, facts.separated, facts.exceptions, strict=True
        )
    ]
    possible = np.array(noise) < math.log(CHANCE)
    few = np.array([n_errors_allowable(int(n)) for n in n_present])
    alike = possible & (facts.exceptions <= few) & (facts.kappa >= AGREEMENT)
    freedom = np.maximum(n_present - len(facts.present), 1)
    surely = facts.distance * np.maximum(1.0 - 3.0 / np.sqrt(2.0 * freedom), 0.0)
    clear = possible & facts.separated & (surely > 6.0)
    seldom = possible & facts.separated
    seldom &= [_seldom_separates(tuple(sorted(present))) for present in facts.present.T]
    far = max(far, facts.distance[~(alike | clear | seldom)].max(initial=0.0))
    wrong = min(wrong, (facts.exceptions / n_present)[~alike].min(initial=1.0))
    found = alike & (_MIN_RATIO * np.maximum(facts.exceptions, 1) <= wrong * n_present)
    found |= (clear & (facts.distance > _find_gap(facts.distance[clear & ~alike], far))) | (
        seldom & (far < _DISTANCE_AT_AUC_99)
    )
    exceptions = np.where(facts.separated, 0, facts.exceptions)
    facts_found = zip(columns[found], exceptions[found], n_present[found], strict=True)
    leaks = [Leak(int(column), int(wrong), int(present)) for column, wrong, present in facts_found]
    return sorted(leaks, key=_clearest_first)


def _clearest_first(leak: Leak) -> tuple[int, int]:
    return leak.n_exceptions, leak.column


def _find_gap(distances: np.ndarray, far: float) -> float:
    """The distance beyond which columns stand out from all others; infinite if none do."""
    falling = np.append(np.sort(distances)[::-1], far)
    jumps = np.flatnonzero(falling[:-1] > _MIN_RATIO * falling[1:])
    return float(falling[jumps[-1] + 1]) if len(jumps) else np.inf


def _facts(X: Any, columns: np.ndarray, rows: np.ndarray, bounds: np.ndarray) -> _Facts:
    parts = [_Facts.from_rows(values, bounds) for _, values in chunks(X, columns, rows)]
    return _Facts(*(np.concatenate(one, axis=-1) for one in zip(*parts, strict=True)))


def _by_chance(counts: np.ndarray, n_exceptions: int) -> float:
    """Logarithm of how likely noise sorts the samples into these classes, in any order of them."""
    n_samples, n_classes = int(counts.sum()), len(counts)
    ways = special.gammaln(n_samples + 1) - special.gammaln(np.asarray(counts) + 1).sum()
    wrong = np.arange(n_exceptions + 1)
    choices = special.gammaln(n_samples + 1) - special.gammaln(wrong + 1)
    choices = choices - special.gammaln(n_samples - wrong + 1) + wrong * np.log(n_classes - 1)
    return float(math.lgamma(n_classes + 1) + special.logsumexp(choices) - ways)


@lru_cache(maxsize=256)
def _seldom_separates(counts: tuple[int, ...]) -> bool:
    """Whether a normal measurement with an area under the curve of 0.999 rarely separates them."""
    one, two = counts[-2:]
    x = np.linspace(-6.0, 6.0 + _DISTANCE_AT_AUC_999, 2001)
    density = one * stats.norm.pdf(x) * stats.norm.cdf(x) ** (one - 1)
    chance = np.trapezoid(density * stats.norm.sf(x - _DISTANCE_AT_AUC_999) ** two, x)
    return bool(chance < 0.01)


# -- gaps --------------------------------------------------------------------------------------


def gap_leaks(
    X: Any, columns: np.ndarray, codes: np.ndarray | None, Y: np.ndarray, classes: Any
) -> list[Leak]:
    """Columns that are missing where the target is of one kind, but for a few exceptions."""
    found = []
    n_samples = X.shape[0]
    judge = _among_classes(codes, classes) if codes is not None else _among_numbers(Y)
    for some, values in chunks(X, columns, np.arange(n_samples)):
        missing = np.isnan(values)
        wrong, kappa, size, where = judge(missing)
        for j in np.flatnonzero((wrong <= n_errors_allowable(n_samples)) & (kappa >= AGREEMENT)):
            # How likely gaps that are three times as frequent in one part fill it.
            noise = stats.binom.logcdf(int(wrong[j]), n_samples, 0.25) + math.log(len(columns))
            if codes is None:  # the border may be anywhere
                noise += math.log(n_samples)
            if noise < math.log(CHANCE) and size[j] >= 5:
                found.append(Leak(int(some[j]), int(wrong[j]), n_samples, where(int(j))))
    return found


Judge = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray, Callable[[int], str]]]


def _among_classes(codes: np.ndarray, classes: Any) -> Judge:
    counts = np.bincount(codes)

    def judge(missing: np.ndarray) -> Any:
        gaps = np.array([missing[codes == k].sum(axis=0) for k in range(len(counts))])
        mostly = 2 * gaps > counts[:, None]
        wrong = np.minimum(gaps, counts[:, None] - gaps).sum(axis=0)
        size = (mostly * counts[:, None]).sum(axis=0)
        wrong = np.where((size > 0) & (size < len(codes)), wrong, len(codes))

        def where(j: int) -> str:
            return f"is {' or '.join(str(label) for label in np.asarray(classes)[mostly[:, j]])}"

        return wrong, _kappa(wrong, size, gaps.sum(axis=0), len(codes)), size, where

    return judge


def _among_numbers(Y: np.ndarray) -> Judge:
    n_samples = len(Y)

    def judge(missing: np.ndarray) -> Any:
        best = np.full(missing.shape[1], n_samples)
        size, high = np.zeros_like(best), np.zeros(len(best), dtype=bool)
        total = missing.sum(axis=0)
        for y in Y.T:
            order = np.argsort(y, kind="stable")
            borders = np.flatnonzero(np.diff(y[order]) > 0) + 1
            if not len(borders):
                continue
            below = np.cumsum(missing[order], axis=0)[borders - 1]
            # Missing above the border: gaps below it and values above it contradict.
            above = below + (n_samples - borders[:, None]) - (total - below)
            for wrong, upper in ((above, True), (n_samples - above, False)):
                least = wrong.min(axis=0)
                at = borders[wrong.argmin(axis=0)]
                better = least < best
                best = np.where(better, least, best)
                size = np.where(better, n_samples - at if upper else at, size)
                high = np.where(better, upper, high)

        def where(j: int) -> str:
            return "is high" if high[j] else "is low"

        return best, _kappa(best, size, total, n_samples), size, where

    return judge


def _kappa(wrong: np.ndarray, size: np.ndarray, marked: np.ndarray, n: int) -> np.ndarray:
    """Cohen's agreement of two divisions of n samples in two."""
    expected = (size * marked + (n - size) * (n - marked)) / n**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(1.0 - (wrong / n) / (1.0 - expected), nan=0.0)


# -- numbers -----------------------------------------------------------------------------------


def number_leaks(X: Any, columns: np.ndarray, Y: np.ndarray) -> list[Leak]:
    """Columns that repeat one of several targets or its order, up to gaps and a few exceptions."""
    n_samples = len(Y)
    if n_samples < 4 or pair_chance(n_samples, SAME_CORRELATION) * X.shape[1] > CHANCE:
        return []
    ties = max(np.unique(y, return_counts=True)[1].max() for y in Y.T)
    columns = full_columns(X, columns, n_samples - ties - n_errors_allowable(n_samples))
    most = int(np.clip(20_000_000 // max(1, len(columns)), 200, _SAMPLES))
    rows = np.sort(np.random.default_rng(0).permutation(n_samples)[:most])
    y, y_ranks = _standard(Y[rows]), _standard(stats.rankdata(Y[rows], axis=0))
    candidates: list[tuple[float, int, int]] = []
    for some, values in chunks(X, columns, rows):
        gaps = np.isnan(values)
        if gaps.any():
            values = np.where(gaps, _usual(values, [slice(None)]), values)
        # What is put into gaps takes its share of the correlation.
        there = np.sqrt(1.0 - gaps.mean(axis=0))[:, None]
        alike = np.abs(_standard(values).T @ y) / there
        in_order = np.abs(_standard(stats.rankdata(values, axis=0)).T @ y_ranks) / there
        level = np.maximum(alike, in_order)
        for j, k in zip(*np.nonzero((alike > 0.99) | (in_order > 0.7)), strict=True):
            candidates.append((-level[j, k], int(some[j]), int(k)))
    found: dict[int, Leak] = {}
    for _, column, output in sorted(candidates)[:200]:
        x = read_column(X, column)
        there = ~np.isnan(x)
        wrong = _exceptions(x[there], Y[there, output])
        if wrong is not None and column not in found:
            found[column] = Leak(column, wrong, int(there.sum()))
    return sorted(found.values(), key=_clearest_first)


def _exceptions(x: np.ndarray, y: np.ndarray) -> int | None:
    """How many values contradict that x repeats y or its order; None if too many do."""
    n = len(x)
    if n < 4:
        return None
    if _correlation(x, y) > _level(n):
        return 0
    if n < 30:
        return None
    x_ranks, y_ranks = stats.rankdata(x), stats.rankdata(y)
    if _correlation(x_ranks, y_ranks) > _level(n):
        return 0
    if np.dot(x_ranks - x_ranks.mean(), y_ranks) < 0:
        y_ranks = n + 1 - y_ranks
    off = np.abs(x_ranks - y_ranks)
    kept = np.argsort(off, kind="stable")[: n - n_errors_allowable(n)]
    x, y = x[kept], y[kept]
    level = _level(len(kept))
    if max(_correlation(x, y), _correlation(stats.rankdata(x), stats.rankdata(y))) <= level:
        return None
    return max(1, int((off > 2.0 * off[kept].max() + 2.0).sum()))


def _level(n_samples: int) -> float:
    """What a very good measurement does not reach, by Fisher's transformation."""
    reached = math.atanh(0.99) + 4.0 / math.sqrt(max(n_samples - 3, 1))
    return math.tanh(max(math.atanh(SAME_CORRELATION), reached))


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    return abs(float(_standard(x[:, None])[:, 0] @ _standard(y[:, None])[:, 0]))


def _standard(values: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and norm 1; constants become 0."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        centred = values - values.mean(axis=0)
        return np.nan_to_num(centred / np.linalg.norm(centred, axis=0), nan=0.0, posinf=0.0)
