"""The published method for exactly k rows, for many problems at a time on one device.

The iteration is that of :mod:`sparsieve.papers.baselines.solvers.top_k_alm`. All problems of a part
share one inverse matrix, and all problems the weight of the constraints, which grows the same way
for everybody. A problem whose copies agree is put aside; it iterates on with the others, unheeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian
from sparsieve.solvers.robust.problem import RobustRegression

from .batched_data import BatchedFit, Repeated, Stacked, at_work, longest, pieces, stacked

WORKING_COPIES = 16  # arrays of the size of (W, XW) that an iteration may hold


def batched_top_k(
    solver: TopKLagrangian,
    parts: Sequence[RobustRegression],
    ks: Sequence[int],
    device: torch.device,
) -> list[list[BatchedFit]]:
    """Every k on every part at once: what came of part and k.

    The solver is one of :meth:`TopKLagrangian.published`: Y as it is, a given weight of W = V.
    """
    if solver.scaled or solver.copy_weight is None:
        raise ValueError("batches are for the published method; use TopKLagrangian.published")
    n, d = max(len(part.Y) for part in parts), parts[0].design.shape[1]
    c = max(part.Y.shape[1] for part in parts)
    part_bytes = 8.0 * (n * d + 3 * min(n, d) ** 2)
    working = 8.0 * WORKING_COPIES * c * (n + d)
    found: list[list[BatchedFit]] = [[] for _ in parts]
    for few, some in pieces(len(parts), len(ks), part_bytes, working, device):
        with at_work(device, f"for TopK on {len(parts[few])} matrices of {n} x {d}"):
            data = stacked(parts[few], device)
            eligible = np.stack([part.design.column_sq_norms() > 0 for part in parts[few]])
            fits = _solved(solver, data, ks[some], data.tensor(eligible, torch.bool))
        for place, these in enumerate(fits):
            found[few.start + place] += these
    return found


class _State(NamedTuple):
    """Where all problems stand, and what was found where they have ended."""

    W: torch.Tensor
    image: torch.Tensor  # X W
    free: torch.Tensor
    gap_E: torch.Tensor  # multipliers divided by mu
    gap_V: torch.Tensor
    image_gap: torch.Tensor  # X gap_V
    mu: torch.Tensor
    done: torch.Tensor
    agreed: torch.Tensor
    features: torch.Tensor
    objective: torch.Tensor
    n_iter: torch.Tensor


def _solved(
    solver: TopKLagrangian, data: Stacked, ks: Sequence[int], eligible: torch.Tensor
) -> list[list[BatchedFit]]:
    run = _Run(solver, data, ks, eligible)
    now = run.start()
    repeated = Repeated(run.step, now)
    while not bool(now.done.all()):
        now = repeated(now)
    found = (now.features, now.objective, now.n_iter, now.agreed)
    return [
        [
            BatchedFit(int(k), np.flatnonzero(chosen), float(value), int(count), bool(end))
            for k, chosen, value, count, end in zip(ks, *part, strict=True)
        ]
        for part in zip(*(each.cpu().numpy() for each in found), strict=True)
    ]


class _Run:
    """What does not change."""

    def __init__(
        self, solver: TopKLagrangian, data: Stacked, ks: Sequence[int], eligible: torch.Tensor
    ):
        self.solver, self.data, self.eligible = solver, data, eligible[:, None]
        self.system = _RidgeSystem(data, float(solver.copy_weight or 0.0))
        self.k, self.most = data.tensor([ks], torch.int64), max(ks)

    def start(self) -> _State:
        """The ridge regression."""
        shape = (len(self.data.Y), self.k.shape[1])
        W, image, free = (
            each.expand(-1, shape[1], -1, -1) for each in self.system.solve(self.data.Y)
        )
        no = torch.zeros(shape, dtype=torch.bool, device=W.device)
        return _State(
            W,
            image,
            free,
            gap_E=torch.zeros_like(image),
            gap_V=torch.zeros_like(W),
            image_gap=torch.zeros_like(image),
            mu=W.new_tensor(self.solver.mu),
            done=no,
            agreed=no,
            features=no[..., None].expand(*shape, self.data.n_features),
            objective=W.new_zeros(shape),
            n_iter=no.to(torch.int64),
        )

    def step(self, now: _State) -> _State:
        """One iteration."""
        solver, Y = self.solver, self.data.Y
        E = _shrink_rows(Y - now.image - now.free - now.gap_E, 1.0 / now.mu)
        candidate = now.W + now.gap_V
        norms = torch.linalg.vector_norm(candidate, dim=2)
        rows, _ = longest(norms.where(self.eligible, -1.0), self.k, self.most)
        V = candidate.mul_(rows[:, :, None])
        image_of_V = self.data.images(V)
        image_of_goal = image_of_V - now.image_gap  # of V - gap_V
        step, image_of_step, free = self.system.solve(Y - E - now.gap_E - image_of_goal)
        # W = V - gap_V + step, so that the multipliers become gap_V + W - V = step.
        W = (V - now.gap_V).add_(step)
        image = image_of_goal + image_of_step
        apart = torch.linalg.vector_norm(W - V, dim=(2, 3))
        agreed = apart <= solver.tol * torch.linalg.vector_norm(V, dim=(2, 3))
        off = torch.linalg.vector_norm(Y - image_of_V - free, dim=2)
        n_iter = now.n_iter + ~now.done
        return _State(
            W,
            image,
            free,
            gap_E=(E - Y + image + free + now.gap_E) / solver.growth,
            gap_V=step / solver.growth,
            image_gap=image_of_step / solver.growth,
            mu=now.mu * solver.growth,
            done=now.done | agreed | (n_iter >= solver.max_iter),
            agreed=torch.where(now.done, now.agreed, agreed),
            features=torch.where(now.done[..., None], now.features, rows),
            objective=torch.where(now.done, now.objective, (self.data.weights * off).sum(-1)),
            n_iter=n_iter,
        )


class _RidgeSystem:
    """min sum_i s_i ||t_i - x_i U - b||^2 + weight ||U||^2 for many T, by one inverse a part.

    The weight keeps the inverse as harmless as a factorisation would be.
    """

    def __init__(self, data: Stacked, weight: float):
        self.data, self.weight = data, weight
        self.root = data.weights.sqrt()[:, :, None]
        self.total = data.weights.sum(-1)[..., None, None]
        weighted = data.X * data.weights.sqrt().mT
        self.wide = data.X.shape[2] >= data.X.shape[1]
        matrix = torch.bmm(weighted, weighted.mT) if self.wide else torch.bmm(weighted.mT, weighted)
        matrix.diagonal(dim1=1, dim2=2).add_(weight)
        self.inverse = torch.cholesky_inverse(torch.linalg.cholesky(matrix))

    def solve(self, T: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """U, X U and b."""
        free = (self.data.weights[:, :, None] * T).sum(-1, keepdim=True) / self.total
        scaled = (T - free).mul_(self.root)
        if not self.wide:
            U = self._inverted(self.data.gradients(scaled.mul_(self.root)))
            return U, self.data.images(U), free
        dual = self._inverted(scaled)
        # (D D' + weight) dual = scaled with D = root X and U = D' dual: no product is needed.
        image = (scaled - self.weight * dual) / self.root.where(self.root > 0, 1.0)
        return self.data.gradients(dual.mul_(self.root)), image, free

    def _inverted(self, T: torch.Tensor) -> torch.Tensor:
        parts, problems, outputs, length = T.shape
        flat = T.reshape(parts, problems * outputs, length)
        return torch.bmm(flat, self.inverse).view(T.shape)


def _shrink_rows(R: torch.Tensor, threshold: torch.Tensor) -> torch.Tensor:
    norms = torch.linalg.vector_norm(R, dim=2, keepdim=True)
    return R * torch.where(norms > threshold, 1.0 - threshold / norms, 0.0)
