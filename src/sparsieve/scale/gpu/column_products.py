"""Inner products of all columns with a few of them, which are read a block at a time."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

# Blocks whose products are kept.
KEPT_BLOCKS = 4


class ColumnProducts:
    """X'x of the columns x that a search asks for, one after the other.

    With a large X a product with many columns takes as long as one with a single column. So the
    columns that will most likely be asked for next are read along with one that is asked for.
    """

    def __init__(self, design: Any) -> None:
        self.design = design
        self.at_once: int = min(design.columns_at_once, design.shape[1])
        self.n_reads: int = 0
        self._held: OrderedDict[int, Any] = OrderedDict()
        self._dtype = getattr(torch, design.dtype.name)

    def of(self, feature: int, promise: Any) -> Any:
        """The products with a feature, as a tensor in the precision of the design.

        ``promise`` says of every feature, by a tensor of scores, how soon it may be asked for.
        """
        if feature not in self._held:
            self._read(feature, promise)
        return self._held[feature]

    def _read(self, feature: int, promise: Any) -> None:
        features = [feature]
        places: Any = slice(feature, feature + 1)
        if self.at_once > 1:
            promise = promise.clone()
            known = torch.tensor([feature, *self._held], device=promise.device)
            promise[known] = -torch.inf
            others = promise.topk(self.at_once - 1).indices
            places = torch.cat([known[:1], others])
            features += others.tolist()
        columns = self.design.column_block(places).to(self._dtype)
        products = self.design.project(columns).T
        self.n_reads += 1
        for j, product in zip(features, products, strict=True):
            self._held[j] = product
        while len(self._held) > KEPT_BLOCKS * self.at_once:
            self._held.popitem(last=False)  # the oldest are the least likely to be asked for still
