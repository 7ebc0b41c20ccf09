"""The account of forward selection beside an X on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .candidates import CandidateBlocks


class DeviceBlocks(CandidateBlocks):
    """As ``CandidateBlocks``, with everything beside X."""

    def _room(self, n_rows):
        size = (n_rows, self.design.shape[1])
        return torch.empty(size, dtype=self._dtype(), device=self.design.device)

    def _promising(self, scores, n_columns):
        return scores.topk(min(n_columns, len(scores))).indices.cpu().numpy()

    def _columns(self, places):
        there = torch.as_tensor(places, device=self.design.device)
        return self.design.column_block(there).to(self._dtype())

    def _pass(self, U):
        self.passes += 1
        return self.design.project(U if torch.is_tensor(U) else self.design.on_device(U)).T

    def _combined(self, product, h, length):
        if len(h):
            product = torch.addmv(product, self._taken[: len(h)].T, h, alpha=-1)
        return product / length

    def _dtype(self):
        return getattr(torch, np.dtype(self.design.dtype).name)


class DeviceFeatures:
    """As ``_Features`` of ``forward``, with every array of length n_features on the device."""

    def __init__(
        self, design: Any, R: np.ndarray, ridge: float, eligible: np.ndarray | None, n_steps: int
    ):
        from .forward import SPENT

        self.design, self.ridge = design, ridge
        self.C = design.project(design.on_device(R)).T.contiguous()  # an output in every row
        self.squares = (self.C * self.C).sum(dim=0)
        norms = design.squares_there().to(self.C.dtype)
        self.residual = norms.clone()
        self.open = norms > 0
        if eligible is not None:
            self.open &= design.on_device(eligible)
        self.spent = SPENT[np.dtype(design.dtype)] * norms
        self.score = torch.zeros_like(norms)
        self.blocks = DeviceBlocks.if_they_pay(design, n_steps)

    def winner(self) -> tuple[int, float]:
        """The feature that gains most, and how much."""
        if self.ridge == 0:
            self.open &= self.residual > self.spent
        score = self.squares / (self.residual + self.ridge)
        self.score = torch.where(self.open, score, 0.0).clamp_(min=0.0)
        best, place = torch.max(self.score, dim=0)
        # One transfer instead of two: a double holds every index exactly.
        gain, j = torch.stack([best.double(), place.double()]).tolist()
        return int(j), gain

    def pull(self) -> float:
        """Mean of ||x'R||^2 / nu over the features that are open."""
        return float((self.squares[self.open] / self.residual[self.open]).mean())

    def correlations(self, j: int) -> np.ndarray:
        """Products of a feature with what is left of the outputs."""
        return self.C[:, j].cpu().numpy()

    def column(self, j: int) -> np.ndarray:
        """A feature, in the memory of the host."""
        return self.design.dense_columns([j])[:, 0]

    def take(self, j: int, new: Any, refresh: bool) -> None:
        """Close a feature and take its direction out of all others."""
        # One transfer, before the pass; everything after it is queued while the pass runs.
        parts = [new.responses, new.v if self.blocks is None else new.along]
        both = self.design.on_device(np.concatenate(parts))
        responses, rest = both[: len(new.responses)], both[len(new.responses) :]
        if self.blocks is None:
            p = self.design.project(rest[:, None])[:, 0]
        else:
            p = self.blocks.product(j, new._replace(along=rest), self.score)
        along = responses @ self.C
        self.C.addr_(responses, p, alpha=-1.0)
        if refresh:
            self.squares = (self.C * self.C).sum(dim=0)
        else:
            power = float(np.vdot(new.responses, new.responses))
            self.squares += p * (p * power - 2.0 * along)
        self.residual -= p * p
        self.open[j].fill_(False)  # an assignment would wait for the device

    def scores(self) -> np.ndarray:
        """What each feature would gain if it came next."""
        return self.score.double().cpu().numpy()
