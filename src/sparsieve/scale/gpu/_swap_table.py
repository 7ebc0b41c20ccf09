"""The table of exchanges beside an X on a device: a change reads a column and four numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from ...device import out_of_memory
from ...solvers.searches.forward_scores import (
    MIN_RESIDUAL_SHARE,
    MIN_ROWS_PER_COLUMN_HELD,
    RANK_TOL,
)
from ...solvers.searches.swap_table import Changes
from ._forward import record_graph
from ._torch_passes import ColumnProducts, exactly

# Searches that are done one operation at a time before they are worth a recording: those of few
# places, while the support is small, are never as many.
RECORDED_AFTER = 8


class DeviceTable:
    """The same as ``HostTable``, with features in the last axis of its tensors.

    The products q = X'v with what is new of a column, v = x - X_S z, are X'x - X'X_S z: the first
    are taken with blocks of promising columns, and X'X_S is kept. Where so little of the column is
    new that the difference would lose too many digits, X is read.
    """

    def __init__(
        self, design: Any, Y: np.ndarray, ridge: float, candidates: np.ndarray, n_steps: int
    ):
        n_samples = design.shape[0]
        self.design, self.ridge = design, float(ridge)
        self._dtype = getattr(torch, np.dtype(design.dtype).name)
        with out_of_memory(design.device, "for the table of exchanges"):
            self._C = design.project(design.on_device(Y, design.dtype)).T.contiguous()
            norms = design.device_sq_norms().to(self._dtype)
            self._nu = norms.clone()
            spent = norms * RANK_TOL[np.dtype(design.dtype)] if ridge == 0 else norms * 0.0
            open_ = design.on_device(candidates) & (norms > 0)
            self._least = torch.where(open_, spent, torch.inf)
            self._own_least = self._least.clone()
            self._Z = self._rows(n_steps + 1)
            # X'X_S, unless it would take a good part of the memory of X.
            kept = 2 * MIN_ROWS_PER_COLUMN_HELD * (n_steps + 1) <= n_samples
            self._G = self._rows(n_steps + 1) if kept and design.columns_at_once > 1 else None
        self._products = ColumnProducts(design)
        self._min_share = MIN_RESIDUAL_SHARE[np.dtype(design.dtype)]
        self._squares_of: float = 0.0  # ||x||^2 of the column that was asked for last
        self._promise = self._gains()
        # The last answer of a search; what searches for some places are told, and their recordings.
        self._answer = torch.tensor(
            [0.0, -1.0, -torch.inf, -1.0], dtype=torch.float64, device=self._C.device
        )
        self._asked: dict[int, Any] = {}
        self._n_searches: dict[int, int] = {}
        self._replay: dict[int, Callable[[], None]] = {}

    def read_column(self, feature: int, size: int) -> tuple[np.ndarray, np.ndarray]:
        column = self.design.column_block(slice(feature, feature + 1))[:, 0]
        both = torch.cat([column, self._Z[:size, feature].double()]).cpu().numpy()
        column = both[: len(both) - size].copy()
        self._squares_of = float(column @ column)
        return column, both[len(both) - size :].copy()

    def enter(
        self, feature: int, v: np.ndarray, pivot: float, r: np.ndarray, z: np.ndarray
    ) -> None:
        k = len(z)
        numbers = self._to_device(np.concatenate([z, r]))
        z_there, r_there = numbers[:k], numbers[k:]
        with exactly():
            q = self._product(feature, v, z_there)
            scaled = q / pivot
            self._C.addr_(r_there, q, alpha=-1.0)
            self._nu.addcmul_(q, scaled, value=-1.0)
            if k:
                self._Z[:k].addr_(z_there, scaled, alpha=-1.0)
            self._Z[k] = scaled
        self._least[feature] = torch.inf

    def _product(self, feature: int, v: np.ndarray, z: Any) -> Any:
        """X'v of what is new of a feature."""
        if self._G is None:
            return self._pass(v)
        own = self._products.feature_products(feature, self._promise)
        k = len(z)
        self._G[k] = own
        if float(v @ v) < self._min_share * self._squares_of:
            return self._pass(v)
        return torch.addmv(own, self._G[:k].T, z, alpha=-1.0) if k else own

    def _pass(self, v: np.ndarray) -> Any:
        return self.design.project(self._to_device(v)[:, None])[:, 0]

    def leave(self, feature: int, place: int, h: float, w: np.ndarray, row: np.ndarray) -> None:
        last = len(row)
        numbers = self._to_device(np.concatenate([row, w]) / h)
        z = self._Z[place].clone()
        self._C.addr_(numbers[last:], z)
        self._nu.addcmul_(z, z / h)
        self._Z[place] = self._Z[last]
        if self._G is not None:
            self._G[place] = self._G[last]
        if last:
            self._Z[:last].addr_(numbers[:last], z, alpha=-1.0)
        self._least[feature] = self._own_least[feature]

    def shut(self, features: np.ndarray, is_shut: bool) -> None:
        places = self.design.on_device(features, np.int64)
        self._least[places] = torch.inf if is_shut else self._own_least[places]

    def gains(self) -> np.ndarray:
        return self._gains().double().cpu().numpy()

    def _gains(self) -> Any:
        squares = (self._C * self._C).sum(dim=0)
        return torch.where(self._nu > self._least, squares / (self._nu + self.ridge), 0.0)

    def best_changes(
        self, places: np.ndarray, W: np.ndarray, h: np.ndarray, costs: np.ndarray
    ) -> Changes:
        n_features = self._C.shape[1]
        # All that the search is told goes there at once; it is the same search every time.
        told = np.column_stack([W, h, costs, places]).astype(self.design.dtype)
        with exactly():
            if len(told) not in self._asked:
                size = (len(told), told.shape[1])
                self._asked[len(told)] = torch.zeros(size, dtype=self._dtype, device=self._C.device)
            asked = self._asked[len(told)]
            asked.copy_(torch.from_numpy(told))
            search: Callable[[], None] = partial(self._search, asked)
            if self.design.can_record and self._n_searches.get(len(told), 0) >= RECORDED_AFTER:
                if len(told) not in self._replay:
                    self._replay[len(told)] = record_graph(search)
                else:
                    self._replay[len(told)]()
            else:
                search()
        self._n_searches[len(told)] = self._n_searches.get(len(told), 0) + 1
        gain, feature, decrease, place = self._answer.tolist()
        out, into = divmod(int(place), n_features)
        exchange = (out, into, decrease) if decrease > -np.inf else (-1, -1, -np.inf)
        return (int(feature), gain), exchange

    def _search(self, asked: Any) -> None:
        """Write the best gain and its feature, the best decrease and its place to the answer.

        Nothing here asks the device for anything, so that it can be recorded.
        """
        squares = (self._C * self._C).sum(dim=0)
        gains = squares / (self._nu + self.ridge)
        self._promise.copy_(gains.masked_fill_(~(self._nu > self._least), 0.0))
        found = [*torch.max(self._promise, dim=0)]
        if len(asked):
            n_outputs = len(self._C)
            W, h, costs = asked[:, :n_outputs], asked[:, -3, None], asked[:, -2, None]
            Z = self._Z.index_select(0, asked[:, -1].long())
            share = Z / h
            left = torch.addcmul(self._nu, share, Z)
            # ||c + share w||^2 of every feature that enters and every place that is left.
            lengths = (W * W).sum(dim=1, keepdim=True)
            power = torch.addmm(share * lengths, W, self._C, alpha=2.0).mul_(share).add_(squares)
            decrease = power.div_(left + self.ridge).sub_(costs)
            decrease.masked_fill_(left <= self._least, -torch.inf)
            found += [*torch.max(decrease.view(-1), dim=0)]
        else:
            self._answer[2].fill_(-torch.inf)
        for place, number in enumerate(found):
            self._answer[place] = number

    def _to_device(self, array: np.ndarray) -> Any:
        return self.design.on_device(array, self.design.dtype)

    def _rows(self, count: int) -> Any:
        size = (count, self.design.shape[1])
        return torch.zeros(size, dtype=self._dtype, device=self.design.device)
