"""ReliefF beside an X on a device: distances and sums of differences, by tiles of samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy import sparse

from ..design.gpu import _torch_passes as passes
from ..design.gpu.tensor import TensorDesign


@dataclass(frozen=True)
class DeviceFeatures:
    """As ``_Features`` of ``relieff`` for numeric columns without missing values.

    ``order`` are the columns that vary; the others have no weight in a distance.
    """

    X: torch.Tensor
    per_unit: torch.Tensor
    order: np.ndarray
    n_samples: int
    incomplete: None = None

    def scaled(self, samples: Any) -> torch.Tensor:
        """These samples as they are; differences are scaled when they are added."""
        return self.X[samples] if isinstance(samples, slice) else self.X[torch.as_tensor(samples)]

    def distances(self, rows: torch.Tensor, columns: torch.Tensor, same: bool) -> np.ndarray:
        """Sums of scaled differences."""
        with passes.exactly():
            return passes.absolute_distances(rows, columns, self.per_unit).cpu().numpy()

    def pair_sums(self, pairs: sparse.csr_array, n_jobs: int | None) -> np.ndarray:
        """Sum over pairs of samples of weight * difference, for every varying column."""
        entries = pairs.tocoo()
        first, second = (torch.as_tensor(c.astype(np.int64)) for c in entries.coords)
        first, second = first.to(self.X.device), second.to(self.X.device)
        weights = torch.as_tensor(entries.data).to(self.X.device)
        with passes.exactly():
            total = passes.pair_sums(self.X, first, second, weights)
        return (total * self.per_unit).cpu().numpy()[self.order]


def on_device(design: Any, discrete: np.ndarray) -> DeviceFeatures:
    """The features of a design on a device."""
    if not isinstance(design, TensorDesign) or design.tensor.device != design.device:
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
    return DeviceFeatures(X, per_unit, order, design.shape[0])
