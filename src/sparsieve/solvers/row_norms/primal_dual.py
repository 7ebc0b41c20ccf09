"""Primal-dual steps on sums of row norms, for a sparse X of which very many features take part.

The problem is a saddle point: with F an orthonormal basis of the free columns,

    min_{W, B} max_M  <M, Y - X W - F B> + alpha sum_j ||w_j||   over ||m_i|| <= s_i,

and the method of Chambolle and Pock (2011) needs nothing but a product with X and one with X' per
step, both sides being simple alone: rows of W shrink, rows of M are cut back to their balls.
Newton's method takes fewer steps, but its equations couple all features, thousands of dense
columns; here memory is that of X and a few arrays of the size of W and Y. How fast it goes depends
on X: where no direction of X is much stronger than the others, as with many rare features, fifty to
a few hundred steps reach a gap of 1e-4.

The lengths of the steps are ``balance`` / ||X|| for W and 1 / (``balance`` ||X||) for M. A good
balance is the ratio of the distances that W and M have to go.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...design import DesignMatrix
from ...penalties import row_norms
from ..base import Result
from .row_norm_problem import BestSoFar, RowNormPoint

# Steps between two looks at the gap; one iteration in the count of the caller.
STEPS, EARLY = 20, (5, 10)
# The estimate of ||X|| may be too low by its tolerance, a step must not be too long.
NORM_TOL, MARGIN = 1e-2, 1.02
RELAXED = 1.8
# How far the balance follows, how fast it stops to, and the largest change.
FOLLOW, FADE, MOST_AT_ONCE = 0.7, 0.9, 20.0
# Anchored steps start anew when moves have become so much shorter, when they grow again after
# becoming a bit shorter, or when this share of all steps was taken since.
MUCH, A_BIT, SHARE, AT_LEAST = 0.2, 0.8, 0.36, 20

TINY = 1e-300


@dataclass(frozen=True)
class SaddlePoint:
    """Where to start: coefficients, those on the free basis, and the dual point."""

    W: np.ndarray
    B: np.ndarray
    M: np.ndarray


class PrimalDual:
    """Minimise sum_i s_i ||y_i - x_i W - f_i B|| + alpha sum_j ||w_j|| with products alone.

    Parameters
    ----------
    design : DesignMatrix
        The penalised columns, in double precision.
    Y, weights, free : ndarray
        Target, the s_i, and an orthonormal basis of the columns that are not penalised.
    alpha : float
    """

    def __init__(
        self,
        design: DesignMatrix,
        Y: np.ndarray,
        weights: np.ndarray,
        free: np.ndarray,
        alpha: float,
    ):
        self.design, self.Y, self.weights, self.alpha = design, Y, weights, alpha
        self.free = free
        self.across = design.rmatmul(free) if free.shape[1] else np.zeros((design.shape[1], 0))
        norm = float(design.spectral_norm(rng=0, tol=NORM_TOL))
        norm = max(norm, float(np.sqrt(np.finfo(float).tiny)))
        # The free columns take part with the same norm, so that one length of step serves all:
        # ||[X, norm F]||^2 <= norm^2 + norm ||X'F||.
        self.reach = norm
        self.norm = MARGIN * float(np.sqrt(norm**2 + norm * np.linalg.norm(self.across)))

    def run(self, tol: float, max_iter: int, start: SaddlePoint) -> Result[RowNormPoint]:
        """Go on until the relative duality gap is at most ``tol``."""
        Y = self.Y
        W, B, M = start.W, start.B / self.reach, start.M
        now = _Place(W, B, M, self._image(W, B), *self._pull(M))
        distance = float(np.linalg.norm(W)) or float(np.linalg.norm(Y)) / self.norm
        balance = max(distance / max(float(np.linalg.norm(M)), TINY), TINY)
        pace: _Relaxed | _Anchored
        pace = _Anchored(now, balance) if Y.shape[1] == 1 else _Relaxed(balance)
        best = BestSoFar()
        n_iter = 0
        for step in range(1, STEPS * max(max_iter, 1) + 1):
            following = self._step(now, pace.balance)
            look = step % STEPS == 0 or step in EARLY
            if look:
                value = float(
                    self.weights @ row_norms(Y - following.image)
                    + self.alpha * row_norms(following.W).sum()
                )
                dual, bound = self._certificate(following)
                # No multipliers: other methods do not start from here.
                nothing = np.empty(0), np.zeros(len(W), dtype=bool)
                B = self.reach * following.B
                best.see(value, RowNormPoint(following.W, B, dual, bound, *nothing))
                n_iter = -(-step // STEPS)
                if best.relative_gap <= tol or not np.isfinite(value):
                    break
            now = pace.go_on(now, following, self.norm, look)
        return best.result(n_iter, tol)

    def _step(self, now: _Place, balance: float) -> _Place:
        length, dual_length = balance / self.norm, 1.0 / (balance * self.norm)
        W = now.W + length * now.pull
        W *= np.maximum(1.0 - self.alpha * length / np.maximum(row_norms(W), TINY), 0.0)[:, None]
        B = now.B + length * now.free_pull
        image = self._image(W, B)
        M = now.image - image
        M -= image
        M += self.Y
        M *= dual_length
        M += now.M
        M *= np.minimum(self.weights / np.maximum(row_norms(M), TINY), 1.0)[:, None]
        return _Place(W, B, M, image, *self._pull(M))

    def _image(self, W: np.ndarray, B: np.ndarray) -> np.ndarray:
        image = self.design.matmul(W)
        if len(B):
            image += self.free @ (self.reach * B)
        return image

    def _pull(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.design.rmatmul(M), self.reach * (self.free.T @ M)

    def _certificate(self, at: _Place) -> tuple[np.ndarray, float]:
        """A feasible dual point and the bound it gives."""
        along = at.free_pull / self.reach
        dual = at.M - self.free @ along
        pulls = row_norms(at.pull - self.across @ along)
        most = max(
            float((row_norms(dual) / self.weights).max(initial=0.0)),
            float(pulls.max(initial=0.0)) / self.alpha,
            1.0,
        )
        dual /= most
        return dual, float(np.vdot(dual, self.Y))


@dataclass(frozen=True)
class _Place:
    """The unknowns and the products with them, which are linear."""

    W: np.ndarray
    B: np.ndarray
    M: np.ndarray
    image: np.ndarray
    pull: np.ndarray
    free_pull: np.ndarray

    def moved_to(self, new: _Place, length: float) -> _Place:
        """Self + length (new - self), in the memory of this one."""
        for mine, other in zip(vars(self).values(), vars(new).values(), strict=True):
            mine *= 1.0 - length
            mine += length * other
        return self

    def copy(self) -> _Place:
        return _Place(*(part.copy() for part in vars(self).values()))


class _Relaxed:
    """Go beyond every new point (Condat 2013).

    The balance follows the ratio of the moves of W and M, ever less so, since steps converge for
    any fixed balance.
    """

    def __init__(self, balance: float):
        self.balance = balance
        self._follow = FOLLOW
        self._looks = 0

    def go_on(self, old: _Place, new: _Place, norm: float, look: bool) -> _Place:
        if look:
            moved = float(np.linalg.norm(new.W - old.W)), float(np.linalg.norm(new.M - old.M))
            self.balance = _following(self.balance, *moved, self._follow)
            self._looks += 1
            if self._looks > len(EARLY):
                self._follow *= FADE
        return old.moved_to(new, RELAXED)


class _Anchored:
    """Reflect at every new point, then go some way back to an anchor, which is renewed.

    The method is that of Lu and Yang (2024). With one output the problem is a linear program,
    where plain steps go round in circles.
    """

    def __init__(self, start: _Place, balance: float):
        self.balance = balance
        self._anchor = start.copy()
        self._steps = self._all_steps = 0
        self._first = self._last = np.inf

    def go_on(self, old: _Place, new: _Place, norm: float, look: bool) -> _Place:
        dW, dB, dM = new.W - old.W, new.B - old.B, new.M - old.M
        # How far a step goes, in the norm in which steps never get longer.
        square = norm * (
            (np.vdot(dW, dW) + np.vdot(dB, dB)) / self.balance + self.balance * np.vdot(dM, dM)
        ) - 2.0 * np.vdot(dM, new.image - old.image)
        move = float(np.sqrt(max(square, 0.0)))
        self._all_steps += 1
        if self._steps == 0:
            self._first = move
        anew = self._steps > 0 and (
            move <= MUCH * self._first
            or (move <= A_BIT * self._first and move > self._last)
            or self._steps >= max(SHARE * self._all_steps, AT_LEAST)
        )
        self._last = move
        if anew:
            far = float(np.linalg.norm(new.W - self._anchor.W))
            dual_far = float(np.linalg.norm(new.M - self._anchor.M))
            self.balance = _following(self.balance, far, dual_far, 0.5)
            self._anchor, self._steps = new, 0
            return new.copy()  # which moves on, while the best point may be the other
        self._steps += 1
        share = self._steps / (self._steps + 1.0)
        return old.moved_to(new, 2.0).moved_to(self._anchor, 1.0 - share)


def _following(balance: float, moved: float, dual_moved: float, share: float) -> float:
    """The balance on its way to the ratio of two distances."""
    if not (moved > 0 and dual_moved > 0):
        return balance
    change = moved / dual_moved / balance
    return balance * float(np.clip(change, 1 / MOST_AT_ONCE, MOST_AT_ONCE)) ** share
