"""The published method for exactly k rows, for many problems at a time on one device.

The iteration is that of :mod:`.lagrangian`. All problems of a part share one inverse matrix, and
all problems the weight of the constraints, which grows the same way for everybody. A problem
whose copies agree is put aside; it iterates on with the others, unheeded.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from ...device import out_of_memory
from .batched_data import LOOK_EVERY, BatchedFit, Stacked, longest, pieces, stacked
from .lagrangian import TopKLagrangian
from .problem import RobustData

WORKING_COPIES = 16  # arrays of the size of (W, XW) that an iteration may hold


def batched_top_k(
    solver: TopKLagrangian, parts: Sequence[RobustData], ks: Sequence[int], device: torch.device
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
        data = stacked(parts[few], device)
        with torch.no_grad(), out_of_memory(device, f"for {len(ks)} problems a part"):
            eligible = np.stack([part.design.column_sq_norms() > 0 for part in parts[few]])
            fits = _solved(solver, data, ks[some], data.tensor(eligible, torch.bool))
        for place, these in enumerate(fits):
            found[few.start + place] += these
    return found


def _solved(
    solver: TopKLagrangian, data: Stacked, ks: Sequence[int], eligible: torch.Tensor
) -> list[list[BatchedFit]]:
    Y, weights = data.Y, data.weights
    system = _RidgeSystem(data, float(solver.copy_weight or 0.0))
    k = data.tensor([ks], torch.int64)
    W, image, free = (each.expand(-1, len(ks), -1, -1) for each in system.solve(Y))
    gap_E, gap_V, image_gap = (torch.zeros_like(each) for each in (image, W, image))
    done = torch.zeros((len(Y), len(ks)), dtype=torch.bool, device=Y.device)
    features = torch.zeros((len(Y), len(ks), data.n_features), dtype=torch.bool, device=Y.device)
    objective, n_iter = W.new_zeros(done.shape), torch.zeros_like(done, dtype=torch.int64)
    mu = solver.mu
    for iteration in range(1, solver.max_iter + 1):
        R = Y - image - free - gap_E
        E = _shrink_rows(R, 1.0 / mu)
        candidate = W + gap_V
        norms = torch.linalg.vector_norm(candidate, dim=2)
        rows, _ = longest(norms.where(eligible[:, None], -1.0), k, max(ks))
        V = candidate.mul_(rows[:, :, None])
        image_of_V = data.images(V)
        image_of_goal = image_of_V - image_gap  # of V - gap_V
        step, image_of_step, free = system.solve(Y - E - gap_E - image_of_goal)
        # W = V - gap_V + step, so that the multipliers become gap_V + W - V = step.
        W = (V - gap_V).add_(step)
        image = image_of_goal + image_of_step
        gap_E = (E - Y + image + free + gap_E) / solver.growth
        apart = torch.linalg.vector_norm(W - V, dim=(2, 3))
        agreed = apart <= solver.tol * torch.linalg.vector_norm(V, dim=(2, 3))
        loss = (weights * torch.linalg.vector_norm(Y - image_of_V - free, dim=2)).sum(-1)
        features = torch.where(done[..., None], features, rows)
        objective = torch.where(done, objective, loss)
        n_iter += ~done
        done = done | agreed
        if iteration % LOOK_EVERY == 0 and bool(done.all()):
            break
        mu *= solver.growth
        gap_V, image_gap = step / solver.growth, image_of_step / solver.growth
    results = (each.cpu().numpy() for each in (features, objective, n_iter, done))
    return [
        [
            BatchedFit(int(k), np.flatnonzero(chosen), float(value), int(count), bool(end))
            for k, chosen, value, count, end in zip(ks, *part, strict=True)
        ]
        for part in zip(*results, strict=True)
    ]


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
            U = self._inverted(self.data.pulls(scaled.mul_(self.root)))
            return U, self.data.images(U), free
        dual = self._inverted(scaled)
        # (D D' + weight) dual = scaled with D = root X and U = D' dual: no product is needed.
        image = (scaled - self.weight * dual) / self.root.where(self.root > 0, 1.0)
        return self.data.pulls(dual.mul_(self.root)), image, free

    def _inverted(self, T: torch.Tensor) -> torch.Tensor:
        parts, problems, outputs, length = T.shape
        flat = T.reshape(parts, problems * outputs, length)
        return torch.bmm(flat, self.inverse).view(T.shape)


def _shrink_rows(R: torch.Tensor, threshold: float) -> torch.Tensor:
    norms = torch.linalg.vector_norm(R, dim=2, keepdim=True)
    return R * torch.where(norms > threshold, 1.0 - threshold / norms, 0.0)
