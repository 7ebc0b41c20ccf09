"""Least squares on a few features without the samples, and when a path of supports should end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from scipy import linalg

from ..._saved import Floats, Ints, Savable
from ...design import as_design
from ...solvers.base import LeastSquares
from ...solvers.engines.group_products import have_shared_columns, solved_blocks
from ...solvers.exact.support_values import rounding
from ...solvers.paths.signed import signed_minimum
from ...solvers.searches.forward import EndRule, Standing
from ...solvers.searches.forward_scores import RANK_TOL
from ...solvers.searches.signed_forward import order_by_gain
from ...validation.training_data import TrainingData
from ..preparation import Prepared, Units

# More columns than this, and than rows, are not factorised.
MAX_FACTORISED_COLUMNS = 1000


@dataclass(frozen=True)
class SupportFit(Savable):
    """Coefficients in the units of the user, value of the loss, and how well it was solved."""

    coef: Annotated[Floats, "outputs", "features"]
    intercept: Annotated[Floats, "outputs"]
    value: float
    optimality: float


@dataclass(frozen=True)
class SupportLeastSquares(Savable):
    """1/2 ||XW - Y||^2 + ridge/2 ||W||^2 on any support out of ``features``; exact.

    Keeps the triangular factor of these columns, which carries all that least squares needs:
    with X_U = QR, ||Y - X_U W||^2 = ||Q'Y - R W||^2 + ||Y - QQ'Y||^2. Solving on columns of R
    is as accurate as on columns of X, which normal equations would not be. ``signs`` may prescribe
    those of coefficients, of one output: 1 or -1, and 0 for any.
    """

    features: Annotated[Ints, "seen"]
    factor: Annotated[Floats, "rows", "seen"]
    target: Annotated[Floats, "rows", "columns"]
    outside: float
    ridge: float
    dtype: np.dtype
    units: Annotated[Units, "features"]
    signs: Annotated[Floats, "seen"] | None = field(default=None, kw_only=True)

    @classmethod
    def factorise(
        cls,
        problem: Prepared,
        features: np.ndarray,
        ridge: float,
        signs: np.ndarray | None = None,
    ) -> SupportLeastSquares:
        """Factorise these columns of a problem."""
        columns = problem.design.dense_columns(features).astype(np.float64)
        Y = problem.Y.astype(np.float64)
        Q, R = linalg.qr(columns, mode="economic", overwrite_a=True, check_finite=False)
        target = Q.T @ Y
        outside = Y - Q @ target
        rest = float(np.vdot(outside, outside))
        own = None if signs is None else signs[features]
        parts = features, R, target, rest, ridge, problem.design.dtype, problem.units
        return cls(*parts, signs=own)

    def fit(self, support: np.ndarray) -> SupportFit:
        """The best coefficients on ``support``."""
        rows, value = self.solve(support)
        W = np.zeros((len(self.units.scale), rows.shape[1]), dtype=self.dtype)
        W[support] = rows
        coef, intercept = self.units.coefficients(W, np.unique(support))
        return SupportFit(coef, intercept, 0.5 * value, 0.0)

    def solve(self, support: np.ndarray) -> tuple[np.ndarray, float]:
        """Coefficients on ``support`` and ||Y - X_S W||^2 + ridge ||W||^2."""
        A, B = self.factor[:, self._places(support)], self.target
        k = len(support)
        if self.signs is not None:
            H, b = A.T @ A + self.ridge * np.eye(k), A.T @ B[:, 0]
            signs = self.signs[self._places(support)]
            w = signed_minimum(H, b, np.zeros(k), signs, np.zeros(k))
            rest = B[:, 0] - A @ w
            return w[:, None], self.outside + float(rest @ rest + self.ridge * w @ w)
        if self.ridge and k > max(len(A), MAX_FACTORISED_COLUMNS):  # by the kernel of the rows
            W = A.T @ linalg.solve(A @ A.T + self.ridge * np.eye(len(A)), B, assume_a="pos")
            rest = B - A @ W
            return W, self.outside + float(np.vdot(rest, rest) + self.ridge * np.vdot(W, W))
        if self.ridge:
            A = np.vstack([A, np.sqrt(self.ridge) * np.eye(k)])
            B = np.vstack([B, np.zeros((k, B.shape[1]))])
        W = np.zeros((0, B.shape[1]))
        if k:  # what rounding alone leaves of a column that depends on others explains nothing
            W = linalg.lstsq(A, B, cond=rounding(len(A)), lapack_driver="gelsy")[0]
        residual = B - A @ W
        return W, self.outside + float(np.vdot(residual, residual))

    def entry(self, support: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forward selection among ``support``, then among ``others``: features and gains.

        Gains are decreases of ||Y - X_S W||^2 + ridge ||W||^2. What has nothing to add gains 0.
        """
        features = np.concatenate([support, others])
        A = self.factor[:, self._places(features)]
        if self.signs is not None:
            problem = LeastSquares(as_design(A), self.target, ridge=self.ridge)
            stages = np.split(np.arange(len(features)), [len(support)])
            places, gained = order_by_gain(problem, self.signs[self._places(features)], stages)
            return features[places], gained
        C = A.T @ self.target
        # The Gram matrix of what the features selected so far leave of all.
        G = A.T @ A + self.ridge * np.eye(len(features))
        spent = RANK_TOL[np.dtype(np.float64)] * G.diagonal()
        waiting = np.ones(len(features), dtype=bool)
        order, gains = np.empty(len(features), dtype=np.int64), np.zeros(len(features))
        for t in range(len(features)):
            nu = G.diagonal()
            gain = np.full(len(features), -1.0)
            some = waiting.copy()
            if t < len(support):
                some[len(support) :] = False
            gain[some] = 0.0
            some &= nu > spent
            gain[some] = np.einsum("ij,ij->i", C[some], C[some]) / nu[some]
            j = int(np.argmax(gain))
            order[t], gains[t], waiting[j] = j, gain[j], False
            if gain[j] > 0:
                g, r = G[j] / nu[j], C[j].copy()
                G -= np.outer(g, G[j])
                C -= np.outer(g, r)
        return features[order], gains

    def entry_of_groups(
        self, groups: Sequence[np.ndarray], n_first: int, prices: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same with groups of columns: the ``n_first`` first ones, then the others.

        What counts is the gain beyond the price. A column of several groups enters with the first.
        """
        parts = [self.factor[:, self._places(some)] for some in groups]
        overlap = have_shared_columns(groups)
        if not overlap:  # of a group with more columns than rows a triangular factor says as much
            parts = [A if len(A) >= A.shape[1] else np.linalg.qr(A.T)[1].T for A in parts]
        A = np.hstack([self.factor[:, :0], *parts])
        C = A.T @ self.target
        G = A.T @ A + self.ridge * np.eye(A.shape[1])
        ends = np.cumsum([0, *(part.shape[1] for part in parts)])
        spent = RANK_TOL[np.dtype(np.float64)] * float(G.diagonal().max(initial=0.0))
        waiting = list(range(len(groups)))
        order, excess = np.empty(len(groups), dtype=np.int64), np.empty(len(groups))
        for t in range(len(groups)):
            best, most, solved = -1, -np.inf, (C, G)
            for g in waiting:
                at = slice(ends[g], ends[g + 1])
                right = np.hstack((C[at], G[at]))
                found = solved_blocks(
                    G[None, at, at], right[None], np.array([spent]), regular=False
                )[0]
                by_C, by_G = found[:, : C.shape[1]], found[:, C.shape[1] :]
                worth = float(np.vdot(C[at], by_C)) - float(prices[g])
                if worth > most and (t >= n_first or g < n_first):
                    best, most, solved = g, worth, (by_C, by_G)
            at = slice(ends[best], ends[best + 1])
            across = G[:, at].copy()
            C, G = C - across @ solved[0], G - across @ solved[1]
            if overlap:
                again = np.flatnonzero(np.isin(np.concatenate(groups), groups[best]))
                C[again], G[again], G[:, again] = 0.0, 0.0, 0.0
                G[again, again] = 1.0
            order[t], excess[t] = best, most
            waiting.remove(best)
        return order, excess

    def _places(self, features: np.ndarray) -> np.ndarray:
        order = np.argsort(self.features, kind="stable")
        return order[np.searchsorted(self.features, features, sorter=order)]


# With less of a ridge, inner products would lose the digits of columns that depend on each other.
LEAST_RIDGE = 1e-8
# Features that do not pay for themselves may still pay together: look this far ahead.
MAX_TIED_NODES = 5
# A feature that explains less of the target than this is not worth looking at.
MIN_GAIN_SHARE = 0.002


def fading_ridge(data: TrainingData, independent: float = 1.0) -> float:
    """How strong a ridge d open columns of n samples need, relative to n: min(1, d / 3n).

    If all columns mattered alike, the best strength would be the expected noise over the expected
    signal of a column, d (1 - R2) / R2 in all, and d / 3 at an R2 of three quarters. Many samples
    outweigh it, so that of correlated columns those are found that matter; with d >= 3 n it is 1,
    which keeps a search from following noise. Samples count by their weight, and for the share of
    them that is ``independent``.
    """
    return min(1.0, data.fixed.n_open / (3.0 * data.total_weight * independent))


def signal_rule(n_features: int, Y: np.ndarray, total_weight: float, ridge: float) -> EndRule:
    """Go on while the features left out, taken together, say more than noise would.

    Single features soon gain no more than the best of many columns of noise, and yet prediction
    goes on improving as more of them are added, each of which repeats a little of the signal. So
    this looks at all columns that are left: for noise the mean of ||x'R||^2 / nu is ||R||^2 over
    the n - 1 - df degrees of freedom that the ridge fit leaves, with a relative standard
    deviation of sqrt(2 / (d c)) for d columns and c outputs. The path also ends at a feature that
    adds less than ``MIN_GAIN_SHARE`` to the share of the target explained. ``ridge`` is relative to
    ``total_weight``.
    """
    power = float(np.vdot(Y, Y))
    level = 1.0 + np.sqrt(2.0 / (max(n_features, 1) * Y.shape[1]))

    def stop(now: Standing) -> bool:
        if now.n_selected == 0:
            return False
        freedom = total_weight - 1.0 - now.freedom
        is_noise = now.mean_gain * freedom <= level * now.residual
        return is_noise or (1.0 + ridge) * now.gain < MIN_GAIN_SHARE * power

    return stop


def price_rule(lam: float, start: float) -> EndRule:
    """End the path once no longer support can pay for itself.

    A support of k features costs at least lam * k, so beyond the best value so far nothing can
    be gained; and the path also ends when several features in a row cost more than they gain.
    """
    state = {"objective": 0.5 * start, "best": 0.5 * start, "unpaid": 0}

    def stop(now: Standing) -> bool:
        state["best"] = min(state["best"], state["objective"] + lam * now.n_selected)
        state["unpaid"] = 0 if 0.5 * now.gain > lam else state["unpaid"] + 1
        state["objective"] -= 0.5 * now.gain
        return lam * (now.n_selected + 1) >= state["best"] or state["unpaid"] > MAX_TIED_NODES

    return stop
