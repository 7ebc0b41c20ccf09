"""ReliefF beside X on a device: rounded distances find who is close, exact ones decide."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sparsieve.filters.relieff import nearest_samples  # noqa: E402
from sparsieve.filters.relieff_features import features_in_memory  # noqa: E402
from sparsieve.scale.gpu import _filters as filters  # noqa: E402
from sparsieve.scale.gpu import _torch_passes as passes  # noqa: E402

ERROR = 1e-3


def _exact(X, places, per_unit):
    Z = X.double() * per_unit
    return torch.cdist(Z[places], Z, p=1.0)


def _near(X, places, per_unit):
    """Every distance is wrong by up to the error that is admitted."""
    exact = _exact(X, places, per_unit)
    generator = torch.Generator().manual_seed(1)
    wrong = 2.0 * torch.rand(exact.shape, generator=generator, dtype=torch.float64) - 1.0
    return exact * (1.0 + ERROR * wrong), ERROR


def _of_pairs(X, first, second, per_unit):
    return ((X[first].double() - X[second].double()).abs() * per_unit).sum(dim=1)


@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("n_queries", [60, 25])
@pytest.mark.parametrize("n_neighbors", [1, 4, 100])
def test_the_neighbours_are_those_on_the_host(rounded, n_queries, n_neighbors, monkeypatch, rng):
    # Values with few digits, so that many samples are at the same distance.
    X = rng.integers(0, 4, (60, 12)).astype(np.float32)
    X[:, 3] = 1.0
    groups = np.sort(rng.integers(0, 3, 60))
    groups[-1] = 3  # a sample alone in its group
    queries = np.sort(rng.permutation(60)[:n_queries])
    if rounded:
        kernels = SimpleNamespace(near_distances=_near, pair_distances=_of_pairs)
        monkeypatch.setattr(passes, "choose_kernels", lambda X, dtype: kernels)
    at_once = 60 if n_queries == 60 else 10
    monkeypatch.setattr(filters, "STRIP_BYTES", 8 * 60 * at_once)
    host = features_in_memory(X, np.zeros(12, dtype=bool), groups)
    expected = nearest_samples(host, groups, queries, n_neighbors, None)
    span = np.ptp(X, axis=0)
    per_unit = torch.from_numpy(np.where(span > 0, 1.0 / np.where(span > 0, span, 1), 0.0)).double()
    there = filters.DeviceFeatures(
        torch.from_numpy(X), per_unit, host.order, 60, queries, ordinary=True
    )
    np.testing.assert_array_equal(there.nearest(groups, n_neighbors), expected)


def test_the_precise_distances_serve_columns_of_odd_units(rng):
    from sparsieve.scale.gpu.tensor import TensorDesign

    X = rng.standard_normal((20, 5)).astype(np.float32)
    for factor, ordinary in ((1.0, True), (1e-25, False), (1e32, False)):
        scaled = X.copy()
        scaled[:, 2] *= np.float32(factor)
        design = TensorDesign(torch.from_numpy(scaled))
        found = filters.on_device(design, np.zeros(5, dtype=bool), np.arange(20))
        assert found.ordinary is ordinary
