"""ReliefF beside an X on a device: distances and sums of differences, by tiles of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from ...filters._relieff_kernels import SPLIT
from . import _torch_passes as passes
from .tensor import TensorDesign

# Distances of queries to all samples that are held at a time.
STRIP_BYTES = 1 << 30
# Spans of columns whose differences, and their units, single precision can hold.
SPAN_LIMITS = 1e-20, 1e30


@dataclass(frozen=True)
class DeviceFeatures:
    """As ``Features`` of ``relieff_features`` for numeric columns without missing values.

    ``order`` are the columns that vary; the others have no weight in a distance.
    """

    X: torch.Tensor
    per_unit: torch.Tensor
    order: np.ndarray
    n_samples: int
    queries: np.ndarray
    ordinary: bool  # whether differences and units are well inside the range of single precision
    incomplete: None = None

    def nearest(self, groups: np.ndarray, n_neighbors: int) -> np.ndarray:
        """The nearest samples of every query in every group, as ``nearest_samples`` gives them."""
        height = max(1, STRIP_BYTES // (8 * self.n_samples))
        codes = torch.as_tensor(groups).to(self.X.device)
        members = [torch.nonzero(codes == g)[:, 0] for g in range(int(groups.max()) + 1)]
        queries = torch.as_tensor(self.queries.astype(np.int64)).to(self.X.device)
        found = [
            self._nearest(queries[start : start + height], codes, members, n_neighbors)
            for start in range(0, len(queries), height)
        ]
        return torch.cat(found).cpu().numpy()

    def _nearest(self, queries: Any, codes: Any, members: list[Any], n_neighbors: int) -> Any:
        """Of some queries; distances with rounding errors find who is close, exact ones decide."""
        n_queries = len(queries)
        with passes.exactly():
            distances, error = passes.absolute_distances(
                self.X, queries, self.per_unit, self.ordinary
            )
            distances[torch.arange(n_queries, device=queries.device), queries] = torch.inf
            if error > 0:
                distances = self._exact_where_close(
                    distances, error, queries, codes, members, n_neighbors
                )
        shifted = SPLIT * distances
        keys = torch.where(distances < torch.inf, shifted - (shifted - distances), torch.inf)
        count = min(n_neighbors, max(len(own) for own in members))
        nearest = torch.full((n_queries, len(members), count), -1, device=queries.device)
        for g, own in enumerate(members):
            rising = torch.sort(keys[:, own], dim=1, stable=True)
            size = min(count, len(own))
            places = own[rising.indices[:, :size]]
            is_one = rising.values[:, :size] < torch.inf
            nearest[:, g, :size] = torch.where(is_one, places, -1)
        return nearest

    def _exact_where_close(
        self,
        distances: Any,
        error: float,
        queries: Any,
        codes: Any,
        members: list[Any],
        n_neighbors: int,
    ) -> Any:
        """Distances in double precision of all that may be neighbours; the others are infinite."""
        limits = torch.stack(
            [
                distances[:, own].topk(min(n_neighbors, len(own)), largest=False).values[:, -1]
                for own in members
            ],
            dim=1,
        )
        # A neighbour is at most this far away, with the errors of its distance and of the limit.
        limits = limits * (1.0 + 3.0 * error) + 1e-15 * self.X.shape[1]
        close = (distances <= limits[:, codes]) & (distances < torch.inf)
        slots, others = close.nonzero().T
        own = queries[slots]
        # A pair that is close both ways is looked at once.
        low, high = torch.minimum(own, others), torch.maximum(own, others)
        pairs, where = torch.unique(low * self.n_samples + high, return_inverse=True)
        first, second = pairs // self.n_samples, pairs % self.n_samples
        exact = passes.pair_distances(self.X, first, second, self.per_unit)
        decided = torch.full_like(distances, torch.inf)
        decided[slots, others] = exact[where]
        return decided

    def pair_sums(self, pairs: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        """Sum over pairs of samples of weight * difference, for every varying column."""
        entries = pairs.tocoo()
        first, second = (torch.as_tensor(c.astype(np.int64)) for c in entries.coords)
        first, second = first.to(self.X.device), second.to(self.X.device)
        weights = torch.as_tensor(entries.data).to(self.X.device)
        with passes.exactly():
            total = passes.pair_sums(self.X, first, second, weights)
        return (total * self.per_unit).cpu().numpy()[self.order]


def on_device(design: Any, discrete: np.ndarray, queries: np.ndarray) -> DeviceFeatures:
    """The features of a design on a device."""
    if not isinstance(design, TensorDesign) or not design.is_there:
        raise TypeError(
            "ReliefFSelector compares every sample with all others and needs all of X on the "
            "device; use fewer features or samples"
        )
    if discrete.any():
        raise ValueError(
            "discrete_features are not supported for X on a device; pass X.cpu().numpy()"
        )
    X = design.tensor
    low, high = X.amin(dim=0), X.amax(dim=0)
    span = high.double() - low.double()
    missing = int((~torch.isfinite(span)).sum())
    if missing:
        raise ValueError(
            f"Input X contains NaN or infinite values in {missing} column{'s' * (missing != 1)}, "
            "which are not supported on a device; impute them or pass X.cpu().numpy()"
        )
    varies = span > 0
    per_unit = torch.where(varies, 1.0 / span, 0.0)
    order = torch.nonzero(varies)[:, 0].cpu().numpy()
    odd = varies & ((span < SPAN_LIMITS[0]) | (span > SPAN_LIMITS[1]))
    return DeviceFeatures(X, per_unit, order, design.shape[0], queries, not bool(odd.any()))
