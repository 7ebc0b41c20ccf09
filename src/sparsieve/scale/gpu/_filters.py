"""Filters beside an X on a device: minimum redundancy and ReliefF."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from ...filters._relieff_kernels import SPLIT
from ...filters.criteria import DIGITS, Correlation
from . import _torch_passes as passes
from ._torch_passes import ColumnProducts
from .tensor import TensorDesign

# Exponents of the powers of ten that scores are rounded to.
SMALLEST, LARGEST = -307, 308


class DeviceCorrelation(Correlation):
    """The same with its sums on the device; a step reads two numbers back."""

    def __init__(self, design: Any, total_weight: float, relevance: np.ndarray, kind: str):
        super().__init__(design, total_weight, relevance, kind)
        self._relevance = design.on_device(relevance, np.float64)
        self.sum = torch.zeros_like(self._relevance)
        self._columns = ColumnProducts(design)
        powers = [10.0**exponent for exponent in range(SMALLEST, LARGEST + 1)]
        self._powers = design.on_device(np.array(powers))
        self._open: torch.Tensor | None = None
        self._promise = self._relevance

    def _products(self, picked: int) -> torch.Tensor:
        return self._columns.feature_products(picked, self._promise).double()

    def scores(self) -> np.ndarray:
        """The score of every feature."""
        return self._against_redundancy(self._relevance).cpu().numpy()

    def best(self, free: np.ndarray, started: bool) -> tuple[int, float]:
        """The best of the features that are free, and its score."""
        if self._open is None:
            self._open = self._columns.design.on_device(free)
        scores = self._against_redundancy(self._relevance) if started else self._relevance
        self._promise = torch.where(self._open, self._round_scores(scores), -torch.inf)
        best = torch.argmax(self._promise, keepdim=True)
        self._open.index_fill_(0, best, False)
        place, score = torch.cat([best.double(), scores[best]]).tolist()
        return int(place), score

    def _round_scores(self, scores: torch.Tensor) -> torch.Tensor:
        """To as many digits of the largest as the host compares; nothing is read back."""
        finite = torch.isfinite(scores)
        largest = torch.where(finite, scores.abs(), 0.0).max()
        exponent = torch.ceil(torch.log10(largest)) - DIGITS
        place = (exponent - SMALLEST).clamp(0, len(self._powers) - 1)  # 0 where all scores are
        step = self._powers[place.long()]
        return torch.where(finite & (largest > 0.0), torch.round(scores / step) * step, scores)


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
    if not isinstance(design, TensorDesign) or not design.is_resident:
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
