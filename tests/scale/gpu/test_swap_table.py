"""The table of exchanges beside X against the one on the host."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sparsieve.design import as_design  # noqa: E402
from sparsieve.scale.gpu import _swap_table as swap_table  # noqa: E402
from sparsieve.scale.gpu.tensor import TensorDesign  # noqa: E402
from sparsieve.solvers.searches.swap_table import HostTable, TabledSupport  # noqa: E402


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("replayed", [False, True])
def test_every_change_is_the_same(ridge, replayed, monkeypatch, rng):
    X, Y = rng.standard_normal((40, 60)), rng.standard_normal((40, 3))
    X[:, 7] = X[:, 8]
    candidates = np.ones(60, dtype=bool)
    candidates[:3] = False
    there = TensorDesign(torch.from_numpy(X))
    n_replays = []
    if replayed:  # a recording is played on the same tensors

        def recorded(function):
            function()
            return lambda: (n_replays.append(1), function())

        monkeypatch.setattr(swap_table, "record_graph", recorded)
        monkeypatch.setattr(swap_table, "RECORDED_AFTER", 2)
        there.can_record = True
    one = TabledSupport(as_design(X), Y, ridge, candidates, 8, 4)
    other = TabledSupport(there, Y, ridge, candidates, 8, 4)
    assert isinstance(one.table, HostTable)
    assert isinstance(other.table, swap_table.DeviceTable)

    def compare():
        for mine, theirs in zip(one._search(), other._search(), strict=True):
            assert mine[:-1] == theirs[:-1]
            np.testing.assert_allclose(mine[-1], theirs[-1], rtol=1e-9)
        np.testing.assert_allclose(one.gains(), other.gains(), rtol=1e-7, atol=1e-9)

    compare()
    for feature in (5, 7, 20, 33, 41, 59, 12):
        for support in (one, other):
            support.add(feature)
        compare()
    while one.order:
        feature = one.cheapest()
        assert feature == other.cheapest()
        for support in (one, other):
            support.remove(feature)
        compare()
    assert bool(n_replays) == replayed
