"""Cox's partial likelihood: ties, strata, late entry and weights of samples.

At every time at which somebody dies, the likelihood asks who of those at risk it was. With
v = w exp(f), R those at risk (entry < t <= time, of the same stratum), D those who die at t, m
their number, W their weight, S(A) the sum of v over A and l = 0, ..., m - 1:

    Efron    (W / m) sum_l ln(S(R) - (l / m) S(D)) - sum_D w f
    Breslow  W ln S(R) - sum_D w f

All sums over risk sets are running sums over the samples by falling time, less those who have not
entered yet, so that value, gradient, a product with the Hessian and x'Hx of a column take O(n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .base import COX, Loss, compiled_loss, sample_weights

TIES = ("efron", "breslow")


class Survival(NamedTuple):
    """Times under observation, whether they ended with the event, and who is compared with whom.

    Attributes
    ----------
    time : ndarray of shape (n_samples,)
    event : ndarray of bool of shape (n_samples,)
    entry : ndarray of shape (n_samples,) or None
        When observation began; somebody is at risk after it, up to ``time``. None: from the start.
    strata : ndarray of int of shape (n_samples,) or None
        Those with equal numbers are compared with each other.
    """

    time: np.ndarray
    event: np.ndarray
    entry: np.ndarray | None = None
    strata: np.ndarray | None = None


class RiskSets:
    """Who is at risk when: the order of samples and blocks of deaths that the kernels walk along.

    Attributes
    ----------
    places : tuple of ndarray
        ``order``, ``entry_order`` and ``blocks``, as :mod:`._cox_kernels` describes them.
    low, high, dies : ndarray of shape (n_samples,)
        The blocks at which a sample is at risk, and the one in which it dies.
    weight : ndarray of shape (n_blocks,)
        Weight of every term of a block.
    times, strata : ndarray of shape (n_blocks,)
        When a block is, and in which stratum; blocks without terms end every stratum.
    labels : ndarray
        What the user calls the strata.
    """

    high: np.ndarray
    low: np.ndarray

    def __init__(self, survival: Survival, weights: np.ndarray, ties: str):
        time, event = survival.time, np.asarray(survival.event, dtype=bool)
        n = len(time)
        entry = np.full(n, -np.inf) if survival.entry is None else survival.entry
        strata = np.zeros(n, dtype=np.int64)
        self.labels: np.ndarray = np.zeros(1, dtype=np.int64)
        if survival.strata is not None:
            self.labels, strata = np.unique(survival.strata, return_inverse=True)
        values, codes = np.unique(np.concatenate([[-np.inf], time, entry]), return_inverse=True)
        # One number for stratum and time: it grows with strata and with falling times.
        width = len(values) + 1
        falling = width - 2 - codes.astype(np.int64)
        key, entry_key = (strata * width + part for part in (falling[1 : n + 1], falling[n + 1 :]))
        order = np.lexsort((event, key))
        entry_order = np.argsort(entry_key, kind="stable")
        ends = np.arange(strata.max() + 1) * width + width - 1
        keys, counts = np.unique(np.concatenate([key[event], ends]), return_counts=True)
        counts[np.isin(keys, ends)] = 0
        begins = keys // width * width
        end = np.searchsorted(key[order], keys, side="right")
        late = entry_key[entry_order]
        blocks = np.column_stack(
            [
                np.searchsorted(key[order], begins),
                end,
                end - counts,
                np.searchsorted(late, begins),
                np.searchsorted(late, keys, side="right"),
                counts if ties == "efron" else np.minimum(counts, 1),
            ]
        )
        self.places: tuple[np.ndarray, np.ndarray, np.ndarray] = (
            order,
            entry_order,
            np.ascontiguousarray(blocks),
        )
        self.low, self.high = np.searchsorted(keys, key), np.searchsorted(keys, entry_key)
        self.dies: np.ndarray = np.where(event, self.low, -1)
        died = np.bincount(self.low[event], weights[event], len(keys))
        self.weight: np.ndarray = died / np.maximum(blocks[:, 5], 1)
        self.times: np.ndarray = values[np.clip(width - 2 - keys % width, 0, None)]
        self.strata: np.ndarray = keys // width
        self.of_sample = strata


class CoxState:
    """What the likelihood knows at one vector of linear predictors."""

    at_risk: np.ndarray
    dying: np.ndarray

    def __init__(self, loss: Cox, f: np.ndarray):
        from ._cox_kernels import block_terms, later_sums, risk_sums

        risk = loss.risk
        blocks = risk.places[2]
        tops = np.full(risk.of_sample.max() + 1, -np.inf)
        np.maximum.at(tops, risk.of_sample, f)
        self.f: np.ndarray = f - tops[risk.of_sample]  # what is common to a stratum does not matter
        with np.errstate(under="ignore"):
            self.v: np.ndarray = loss.weights * np.exp(self.f)
        self.at_risk, self.dying = np.zeros(len(blocks)), np.zeros(len(blocks))
        risk_sums(self.v, *risk.places, self.at_risk, self.dying)
        self.terms: np.ndarray = np.zeros((len(blocks), 6))
        block_terms(self.at_risk, self.dying, blocks, risk.weight, self.terms)
        self.value: float = float(self.terms[:, 0].sum() - loss.observed @ self.f)
        sums = np.zeros(len(blocks))
        later_sums(self.terms[:, 1].copy(), blocks, sums)
        along = sums[risk.low] - sums[risk.high] - (risk.dies >= 0) * self.terms[risk.dies, 2]
        self.h: np.ndarray = self.v * along


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

    has_intercept = False

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
        order, _, blocks = self.risk.places
        if not (blocks[self.risk.high, -1] > 0).any():  # nobody enters late
            sets = (order, np.ascontiguousarray(blocks[:, [0, 1, 2, 5]]), self.risk.weight)
            self.compiled = compiled_loss(COX, self.observed, self.weights, blocks=sets)
        self._latest: tuple[np.ndarray, CoxState] | None = None

    def _at(self, F: np.ndarray) -> CoxState:
        """What is known at F, remembered for the next question about it."""
        f = np.ascontiguousarray(F[:, 0], dtype=np.float64)
        if self._latest is None or not np.array_equal(self._latest[0], f):
            self._latest = (f.copy(), CoxState(self, f))
        return self._latest[1]

    def value(self, F: np.ndarray) -> float:
        """The negative log partial likelihood."""
        return self._at(F).value

    def gradient(self, F: np.ndarray) -> np.ndarray:
        """Minus the martingale residuals, times the weights."""
        return (self._at(F).h - self.observed)[:, None]

    def curvature(self, F: np.ndarray) -> np.ndarray:
        """The diagonal matrix that the Hessian is below."""
        return self._at(F).h[:, None]

    def hessian_product(self, F: np.ndarray, V: np.ndarray) -> np.ndarray:
        from ._cox_kernels import hessian_products

        state, risk = self._at(F), self.risk
        columns = np.asarray(V.reshape(len(V), -1), dtype=np.float64, order="F")
        out = np.empty_like(columns, order="F")
        sets = (*risk.places, risk.low, risk.high, risk.dies)
        hessian_products(columns, state.v, state.h, *sets, state.terms, out)
        return out.reshape(V.shape)

    def quadratic_forms(self, F: np.ndarray, X: np.ndarray) -> np.ndarray:
        """The numbers x'Hx of all columns of X, in one reading."""
        from ._cox_kernels import quadratic_forms

        state = self._at(F)
        out = np.empty(X.shape[1])
        quadratic_forms(np.asfortranarray(X), state.v, state.h, *self.risk.places, state.terms, out)
        return out

    def dual_value(self, F: np.ndarray, t: float) -> float:
        """The dual objective at the dual point -t times the gradient."""
        from ._cox_kernels import divergence

        state, risk = self._at(F), self.risk
        return -float(
            divergence(
                state.f,
                state.v,
                float(t),
                self.weights,
                *risk.places,
                risk.weight,
                state.at_risk,
                state.dying,
            )
        )

    def null(self) -> tuple[np.ndarray, float]:
        """No intercept, and the value without any feature."""
        return np.zeros(1), self.value(np.zeros((len(self.weights), 1)))

    def baseline_hazard(self, F: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Breslow's estimator: times of deaths, cumulative hazard at f = 0, strata.

        Rows are in order of strata and times. With ``ties="efron"`` its terms are Efron's.
        """
        state, risk = self._at(F), self.risk
        dying = risk.places[2][:, 5] > 0
        strata, times = risk.strata[dying], risk.times[dying]
        shift = (np.ravel(F) - state.f)[np.unique(risk.of_sample, return_index=True)[1]]
        with np.errstate(under="ignore", over="ignore"):
            jumps = state.terms[dying, 1] * np.exp(-shift[strata])
        order = np.lexsort((times, strata))
        strata, times, jumps = strata[order], times[order], jumps[order]
        cumulative = np.empty_like(jumps)
        for stratum in np.unique(strata):
            of_it = strata == stratum
            cumulative[of_it] = np.cumsum(jumps[of_it])
        return times, cumulative, risk.labels[strata]
