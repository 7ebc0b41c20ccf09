"""Cox's partial likelihood: ties, strata, late entry and weights of samples.

At every time at which somebody dies, the likelihood asks who of those at risk it was. With
v = w exp(f), R those at risk (entry < t <= time, of the same stratum), D those who die at t, m
their number, W their weight, S(A) the sum of v over A and l = 0, ..., m - 1:

    Efron    (W / m) sum_l ln(S(R) - (l / m) S(D)) - sum_D w f
    Breslow  W ln S(R) - sum_D w f

All sums over risk sets are running sums over the samples by falling time, so that value, gradient,
a product with the Hessian and x'Hx of a column take O(n); those who enter late take O(ln n) each.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from .base import CoxData, Loss, sample_weights
from .risk_sums import (
    LOG_LEVEL,
    MAX_STRATA,
    least_terms,
    sums_at_risk,
    sums_of_blocks,
    sums_of_terms,
)

TIES = ("efron", "breslow")
# Logarithms of risks that are further than this below the largest one of a stratum are cut off.
MAX_DISTANCE = 1e15
# Of a sum of squares: what rounding leaves where a sum as large is subtracted.
CANCELLED = 1e-13


class Survival(NamedTuple):
    """Times under observation, whether they ended with the event, and who is compared with whom.

    Attributes
    ----------
    time : ndarray of shape (n_samples,)
    event : ndarray of bool of shape (n_samples,)
    entry : ndarray of shape (n_samples,) or None
        When observation began; somebody is at risk after it, up to ``time``. None: from the start.
    strata : ndarray of shape (n_samples,) or None
        Labels of one kind; those with equal ones are compared with each other.
    """

    time: np.ndarray
    event: np.ndarray
    entry: np.ndarray | None = None
    strata: np.ndarray | None = None


class Rows(NamedTuple):
    """Samples and blocks in the order in which the compiled sums go through them.

    A block is a time at which somebody of a stratum dies. Blocks are in order of strata and falling
    times, with one without terms at the end of every stratum.

    Attributes
    ----------
    order : ndarray of shape (n_samples,)
        The samples by strata and falling times, those who die at a time last. All that follows is
        in this order.
    start, dies : ndarray of shape (n_samples,)
        The first block at which a sample is at risk and lives, and the one in which it dies, or -1.
    at_once : ndarray of bool of shape (n_samples,)
        Whether a sample is at risk from the first death of its stratum on.
    late : ndarray of shape (n_pairs, 2)
        The others, each with the nodes of the tree over blocks that make up those at which it is
        at risk and lives: node k has the children 2k and 2k + 1, and block b is node n_blocks + b.
    blocks : ndarray of shape (n_blocks, 4)
        Where those begin and end whose time is not before the block's, where those begin who die
        in it, and its terms: Efron has one per death, Breslow one per block.
    """

    order: np.ndarray
    start: np.ndarray
    dies: np.ndarray
    at_once: np.ndarray
    late: np.ndarray
    blocks: np.ndarray


class RiskSets:
    """Who is at risk when.

    Attributes
    ----------
    rows : Rows
    weight : ndarray of shape (n_blocks,)
        Weight of every term of a block.
    times, strata : ndarray of shape (n_blocks,)
        When a block is, and in which stratum.
    firsts : ndarray of shape (n_strata,)
        Where strata begin in the order of ``rows``.
    """

    def __init__(self, survival: Survival, weights: np.ndarray, ties: str):
        time, event = survival.time, np.asarray(survival.event, dtype=bool)
        n = len(time)
        entry = np.full(n, -np.inf) if survival.entry is None else survival.entry
        strata = np.zeros(n, dtype=np.int64)
        if survival.strata is not None:
            strata = np.unique(survival.strata, return_inverse=True)[1]
        values, codes = np.unique(np.concatenate([[-np.inf], time, entry]), return_inverse=True)
        # One number for stratum and time: it grows with strata and with falling times.
        width = len(values) + 1
        falling = width - 2 - codes.astype(np.int64)
        key, entry_key = (strata * width + part for part in (falling[1 : n + 1], falling[n + 1 :]))
        order = np.lexsort((event, key))
        key, entry_key, event, strata = key[order], entry_key[order], event[order], strata[order]
        ends = np.arange(strata[-1] + 1) * width + width - 1
        keys, counts = np.unique(np.concatenate([key[event], ends]), return_counts=True)
        counts[np.isin(keys, ends)] = 0
        first = np.searchsorted(key, keys // width * width)
        end = np.searchsorted(key, keys, side="right")
        n_terms = counts if ties == "efron" else np.minimum(counts, 1)
        low, stop = np.searchsorted(keys, key), np.searchsorted(keys, entry_key)
        at_once = stop == np.searchsorted(keys, ends)[strata]
        start, late = low + event, np.flatnonzero(~at_once)
        self.rows: Any = Rows(
            order,
            start,
            np.where(event, low, -1),
            at_once,
            _nodes(late, start[late], stop[late], len(keys)),
            np.column_stack([first, end, end - counts, n_terms]),
        )
        died = np.bincount(low[event], weights[order][event], len(keys))
        self.weight: np.ndarray = died / np.maximum(n_terms, 1)
        self.times: np.ndarray = values[np.clip(width - 2 - keys % width, 0, None)]
        self.strata: np.ndarray = keys // width
        self.firsts: np.ndarray = np.searchsorted(strata, np.arange(len(ends)))

    def tops(self, level: np.ndarray) -> np.ndarray:
        """The largest level at risk in every block."""
        rows, n_blocks = self.rows, len(self.weight)
        if not level.any():
            return np.zeros(n_blocks, dtype=np.int64)
        tree = np.full(2 * n_blocks, level.min())
        np.maximum.at(tree, rows.late[:, 1], level[rows.late[:, 0]])
        for depth in range(1, int(2 * n_blocks).bit_length()):
            nodes = np.arange(1 << depth, min(2 << depth, 2 * n_blocks))
            tree[nodes] = np.maximum(tree[nodes], tree[nodes >> 1])
        found = tree[n_blocks:]
        for begin, stop in zip(self.firsts, [*self.firsts[1:], len(level)], strict=True):
            own = np.maximum.accumulate(np.where(rows.at_once, level, level.min())[begin:stop])
            mine = np.flatnonzero((rows.blocks[:, 0] == begin) & (rows.blocks[:, 3] > 0))
            found[mine] = np.maximum(found[mine], own[rows.blocks[mine, 1] - 1 - begin])
        deaths = rows.dies >= 0
        np.maximum.at(found, rows.dies[deaths], level[deaths])
        return found


def _nodes(samples: np.ndarray, start: np.ndarray, stop: np.ndarray, n_blocks: int) -> np.ndarray:
    """Pairs of samples and nodes that make up the blocks from start to before stop."""
    found = [np.empty((0, 2), dtype=np.int64)]
    left, right = start + n_blocks, stop + n_blocks
    while (left < right).any():
        inside = left < right
        for odd, nodes in ((inside & (left & 1 > 0), left), (inside & (right & 1 > 0), right - 1)):
            found.append(np.column_stack([samples[odd], nodes[odd]]))
        left, right = (left + 1) >> 1, right >> 1
    return np.ascontiguousarray(np.concatenate(found))


class CoxState:
    """What the likelihood knows at one vector of linear predictors, in the order of ``Rows``.

    Attributes
    ----------
    f, shift : ndarray of shape (n_samples,)
        Predictors less the shift of their stratum, which does not matter, and that shift.
    v, level : ndarray of shape (n_samples,)
        The risks w exp(f): numbers of very different size, see :mod:`._cox_kernels`.
    top, others, dying : ndarray of shape (n_blocks,)
        The largest level at risk, and sums of risks over those at risk who live and who die.
    terms : ndarray of shape (6, n_blocks)
        Sums over the terms of a block.
    h : ndarray of shape (n_samples,)
        Expected deaths.
    value : float
        Of the loss.
    """

    others: np.ndarray
    dying: np.ndarray

    def __init__(self, risk: RiskSets, weights: np.ndarray, f: np.ndarray):
        rows, n_blocks = risk.rows, len(risk.weight)
        f, weights = f[rows.order], weights[rows.order]
        logs = f + np.log(weights)
        sizes = np.diff(np.append(risk.firsts, len(f)))
        self.shift: np.ndarray = np.repeat(np.maximum.reduceat(logs, risk.firsts), sizes)
        self.f: np.ndarray = f - self.shift
        logs = np.maximum(logs - self.shift, -MAX_DISTANCE)
        self.level: np.ndarray = np.ceil(logs / LOG_LEVEL).astype(np.int64)
        self.v: np.ndarray = np.exp(logs - LOG_LEVEL * self.level)
        self.top: np.ndarray = risk.tops(self.level)
        few = len(risk.firsts) <= MAX_STRATA and rows.at_once.all()
        self._is_plain = bool(few and not self.level.any())
        self.others, self.dying = self._sums_at_risk(risk)
        deaths = rows.dies >= 0
        places = rows.dies[deaths]
        largest = np.full(n_blocks, -np.inf)
        np.maximum.at(largest, places, self.f[deaths])
        away = self.f[deaths] - largest[places]
        logs = np.bincount(places, weights[deaths] * np.exp(away), n_blocks)
        np.log(logs, out=logs, where=logs > 0.0)
        sums = (self.others, self.dying, largest + logs, self.top)
        self.terms: np.ndarray = sums_of_terms(*sums, risk)
        self.value: float = float(self.terms[0].sum() + weights[deaths] @ (logs[places] - away))
        self.h: np.ndarray = self._sums_of_blocks(risk)

    def _sums_at_risk(self, risk: RiskSets) -> tuple[np.ndarray, np.ndarray]:
        if self._is_plain:
            return sums_at_risk(self.v, risk)
        from ._cox_kernels import risk_sums

        others, dying = np.zeros((2, len(risk.weight)))
        risk_sums(self.v, self.level, self.top, risk.rows, others, dying)
        return others, dying

    def _sums_of_blocks(self, risk: RiskSets) -> np.ndarray:
        if self._is_plain:
            return sums_of_blocks(self.terms[1], self.terms[2], self.v, risk)
        from ._cox_kernels import block_sums

        h = np.empty_like(self.v)
        block_sums(self.terms[1], self.terms[2], self.v, self.level, self.top, risk.rows, h)
        return h


class Cox(Loss):
    """Cox's partial likelihood.

    Parameters
    ----------
    survival : Survival
    weights : ndarray of shape (n_samples,), optional
        Case weights; a weight of 2 counts like two copies of a sample, except that Efron's
        correction takes the deaths of a time for as many as there are rows.
    ties : {"efron", "breslow"}
        How deaths at the same time are treated.
    """

    survival: Survival
    ties: str

    task: ClassVar[str] = "survival"
    has_intercept = False

    @classmethod
    def from_target(cls, target: Any, weights: np.ndarray | None, settings: Any) -> Self:
        return cls(target.survival, weights, settings.ties)

    def __init__(
        self, survival: Survival, weights: np.ndarray | None = None, ties: str = "efron"
    ) -> None:
        self.weights: np.ndarray = sample_weights(weights, len(survival.time))
        self.survival, self.ties = survival, ties
        self.observed: np.ndarray = self.weights * np.asarray(survival.event, dtype=np.float64)
        if not self.observed.any():
            raise ValueError(
                "no sample has the event, so nothing can be learnt about when it happens; check "
                "which value marks an event"
            )
        self.risk: RiskSets = RiskSets(survival, self.weights, ties)
        rows = self.risk.rows
        if rows.at_once.all():
            blocks = np.ascontiguousarray(rows.blocks)
            self.compiled: Any = CoxData(
                self.observed, self.weights, rows.order, blocks, self.risk.weight
            )
        self._latest: tuple[np.ndarray, CoxState] | None = None

    def _cached_quantities(self, F: np.ndarray) -> CoxState:
        """What is known at F, remembered for the next question about it."""
        f = np.ascontiguousarray(F[:, 0], dtype=np.float64)
        if self._latest is None or not np.array_equal(self._latest[0], f):
            self._latest = (f.copy(), CoxState(self.risk, self.weights, f))
        return self._latest[1]

    def _expected_deaths(self, F: np.ndarray) -> np.ndarray:
        """Expected deaths, in the order of the samples."""
        h = np.empty(len(self.weights))
        h[self.risk.rows.order] = self._cached_quantities(F).h
        return h

    def value(self, F: np.ndarray) -> float:
        """The negative log partial likelihood."""
        return self._cached_quantities(F).value if np.isfinite(F).all() else float("inf")

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """Minus the martingale residuals, times the weights."""
        return (self._expected_deaths(F) - self.observed)[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        """The diagonal matrix that the Hessian is below."""
        return self._expected_deaths(F)[:, None]

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        from ._cox_kernels import hessian_products

        state, rows = self._cached_quantities(F), self.risk.rows
        columns = np.asarray(V.reshape(len(V), -1), dtype=np.float64, order="F")
        out = np.empty_like(columns, order="F")
        risks = (state.v, state.level, state.top, rows, state.h, state.terms)
        hessian_products(columns, *risks, out)
        return out.reshape(V.shape)

    def hessian(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        """X'H(F)X; no diagonal entry is less than what rounding may have left of it."""
        H = super().hessian(F, X)
        h = self._expected_deaths(F)
        away = X - h @ X / h.sum()
        H[np.diag_indices_from(H)] += CANCELLED * (h @ away**2)
        return H

    def quadratic_forms(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The numbers x'Hx of all columns of X, in one reading."""
        from ._cox_kernels import quadratic_forms

        state, rows = self._cached_quantities(F), self.risk.rows
        out = np.empty(X.shape[1])
        risks = (state.v, state.level, state.top, rows, state.h, state.terms)
        quadratic_forms(np.asfortranarray(X), *risks, out)
        return out

    def dual_value(self, F: np.ndarray, t: float) -> float:
        """The dual objective at the dual point -t times the gradient."""
        if t == 0.0:  # the least value, by predictors that tell who dies when
            n_terms, weight = self.risk.rows.blocks[:, 3], self.risk.weight
            return float(least_terms(n_terms, weight).sum())
        if self.compiled is not None:
            from .expansion import CompiledExpansion

            here = CompiledExpansion(self, F)
            if np.isfinite(here.value):
                return here.dual_value(t)
        from ._cox_kernels import divergence

        state, rows = self._cached_quantities(F), self.risk.rows
        given = (state.f, float(t), self.weights[rows.order], self.risk.weight)
        risks = (state.v, state.level, state.top, rows, state.others, state.dying)
        return -float(divergence(*given, *risks))

    def null(self) -> tuple[np.ndarray, float]:
        """No intercept, and the value without any feature."""
        return np.zeros(1), self.value(np.zeros((len(self.weights), 1)))

    def log_baseline_hazard(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Breslow's estimator: times of deaths, log of the cumulative hazard at f = 0, strata.

        Strata are numbered in the order of their labels, and rows are in order of strata and times.
        With ``ties="efron"`` its terms are Efron's.
        """
        state, risk = self._cached_quantities(F), self.risk
        dying = risk.rows.blocks[:, -1] > 0
        strata, times = risk.strata[dying], risk.times[dying]
        shift = state.shift[risk.firsts][strata] + LOG_LEVEL * state.top[dying]
        jumps = np.log(state.terms[1, dying]) - shift
        order = np.lexsort((times, strata))
        strata, times, jumps = strata[order], times[order], jumps[order]
        cumulative = np.empty_like(jumps)
        for stratum in np.unique(strata):
            own = strata == stratum
            cumulative[own] = np.logaddexp.accumulate(jumps[own])
        return times, cumulative, strata
