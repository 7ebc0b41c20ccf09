"""Primal-dual steps on sums of row norms, for a sparse X of which very many features take part.

The problem is a saddle point: with F an orthonormal basis of the free columns,

    min_{W, B} max_M  <M, Y - X W - F B> + alpha sum_j ||w_j||   over ||m_i|| <= s_i,

and the method of Chambolle and Pock (2011) needs nothing but a product with X and one with X' per
step, both sides being simple alone: rows of W shrink, rows of M are cut back to their balls. Steps
are over-relaxed (Condat 2013). Newton's method takes fewer steps, but its equations couple all
features, thousands of dense columns; here memory is that of X and a few arrays of the size of W
and Y. How fast it goes depends on X: where no direction of X is much stronger than the others, as
with many rare features, fifty to a few hundred steps reach a gap of 1e-4.

The lengths of the steps are ``balance`` / ||X|| for W and 1 / (``balance`` ||X||) for M. A good
balance is the ratio of the distances that W and M have to go; it follows the ratio of their moves,
ever less so, since steps converge for any fixed balance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...design import DesignMatrix
from ...penalties import row_norms
from ..base import Result, relative
from .row_norm_problem import RowNormPoint

# Steps between two looks at the gap; one iteration in the count of the caller.
STEPS = 20
RELAXED = 1.8
# The estimate of ||X|| may be too low by its tolerance, a step must not be too long.
NORM_TOL, MARGIN = 1e-2, 1.02
# How far the balance follows, and how fast it stops to. In the first steps it is looked at early.
FOLLOW, FADE, EARLY = 0.7, 0.9, (5, 10)
MOST_AT_ONCE = 20.0


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
        Y, alpha, weights = self.Y, self.alpha, self.weights
        W, B, M = start.W, start.B / self.reach, start.M
        image = self._image(W, B)
        pull, free_pull = self._pull(M)
        distance = float(np.linalg.norm(W)) or float(np.linalg.norm(Y)) / self.norm
        balance = max(distance / max(float(np.linalg.norm(M)), 1e-300), 1e-300)
        follow = FOLLOW
        best: RowNormPoint | None = None
        objective, gap = np.inf, np.inf
        trace: list[float] = []
        n_iter = 0
        for step in range(1, STEPS * max(max_iter, 1) + 1):
            length, dual_length = balance / self.norm, 1.0 / (balance * self.norm)
            newer_W = W + length * pull
            norms = row_norms(newer_W)
            np.maximum(norms, 1e-300, out=norms)
            newer_W *= np.maximum(1.0 - alpha * length / norms, 0.0)[:, None]
            newer_B = B + length * free_pull
            newer_image = self._image(newer_W, newer_B)
            newer_M = image - newer_image
            newer_M -= newer_image
            newer_M += Y
            newer_M *= dual_length
            newer_M += M
            norms = np.maximum(row_norms(newer_M), 1e-300)
            newer_M *= np.minimum(weights / norms, 1.0)[:, None]
            newer_pull, newer_free_pull = self._pull(newer_M)
            if step % STEPS == 0 or step in EARLY:
                value = float(
                    weights @ row_norms(Y - newer_image) + alpha * row_norms(newer_W).sum()
                )
                dual, bound = self._certificate(newer_M, newer_pull, newer_free_pull)
                if best is None or value < objective:
                    objective = value
                    kept = best if best is not None and best.bound > bound else None
                    best = RowNormPoint(
                        newer_W,
                        self.reach * newer_B,
                        dual if kept is None else kept.dual,
                        bound if kept is None else kept.bound,
                        np.empty(0),
                        np.zeros(len(W), dtype=bool),
                    )
                elif bound > best.bound:
                    best = replace(best, dual=dual, bound=bound)
                trace.append(value)
                gap = relative(objective - best.bound, objective)
                n_iter = -(-step // STEPS)
                if gap <= tol or not np.isfinite(value):
                    break
                moved = float(np.linalg.norm(newer_W - W))
                dual_moved = float(np.linalg.norm(newer_M - M))
                if moved > 0 and dual_moved > 0:
                    change = moved / dual_moved / balance
                    balance *= float(np.clip(change, 1 / MOST_AT_ONCE, MOST_AT_ONCE)) ** follow
                if step >= STEPS:
                    follow *= FADE
            # Beyond the new point, and the products with it: they are linear.
            W = _beyond(W, newer_W)
            B = _beyond(B, newer_B)
            M = _beyond(M, newer_M)
            image = _beyond(image, newer_image)
            pull, free_pull = _beyond(pull, newer_pull), _beyond(free_pull, newer_free_pull)
        assert best is not None
        best = replace(best, bound=min(best.bound, objective))
        return Result(best, objective, gap, n_iter, gap <= tol, trace)

    def _image(self, W: np.ndarray, B: np.ndarray) -> np.ndarray:
        image = self.design.matmul(W)
        if len(B):
            image += self.free @ (self.reach * B)
        return image

    def _pull(self, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.design.rmatmul(M), self.reach * (self.free.T @ M)

    def _certificate(
        self, M: np.ndarray, pull: np.ndarray, free_pull: np.ndarray
    ) -> tuple[np.ndarray, float]:
        """A feasible dual point and the bound it gives."""
        along = free_pull / self.reach
        dual = M - self.free @ along
        pulls = row_norms(pull - self.across @ along)
        most = max(
            float((row_norms(dual) / self.weights).max(initial=0.0)),
            float(pulls.max(initial=0.0)) / self.alpha,
            1.0,
        )
        dual /= most
        return dual, float(np.vdot(dual, self.Y))


def _beyond(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Old + RELAXED (new - old), in the memory of ``old``."""
    old *= 1.0 - RELAXED
    old += RELAXED * new
    return old
