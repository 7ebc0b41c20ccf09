"""Paths as pickles, copies and files."""

from __future__ import annotations

import copy
import pickle

import numpy as np

from sparsieve.solvers.base import Path


def test_nested_paths_are_stored_once():
    """Prefixes of one array are one array in a pickle and in a file, not a triangle of them."""
    order = np.arange(3000)[::-1]  # a view, as a search that removes features leaves it
    path = Path.from_order(order, objective=np.arange(3001.0))
    for copied in (pickle.loads(pickle.dumps(path)), copy.copy(path), copy.deepcopy(path)):
        assert len(pickle.dumps(copied)) < 100_000
        assert (copied.supports[7] == order[:7]).all()
        assert (copied.objective == path.objective).all()
    crossing = Path([np.array([], dtype=int), np.array([3]), np.array([2, 5])])
    assert pickle.loads(pickle.dumps(crossing)).supports[1].tolist() == [3]
