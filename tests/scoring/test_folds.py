"""Folds that overlap; calls on a Dask cluster whose workers die with the data."""

import numpy as np
import pytest
from sklearn.utils.parallel import delayed

from sparsieve.scoring import folds as _cross_validation
from sparsieve.scoring.folds import make_folds, one_by_one, overlap, torn_groups

distributed = pytest.importorskip("distributed")


class DaskDistributedBackend:
    """Has the name of joblib's."""


@pytest.fixture
def forgetful(monkeypatch):
    """A joblib that loses its data with every second result; calls are noted."""
    done = []

    class Parallel:
        def __init__(self, **_):
            pass

        def __call__(self, tasks):
            for count, (function, arguments, named) in enumerate(tasks):
                if count == 2:
                    raise distributed.client.FutureCancelledError("key", "already forgotten")
                done.append(arguments[0])
                yield function.function(*arguments, **named)

    monkeypatch.setattr(
        _cross_validation, "get_active_backend", lambda: (DaskDistributedBackend(), 2)
    )
    monkeypatch.setattr(_cross_validation, "Parallel", Parallel)
    return done


def test_what_is_missing_is_done_again_and_nothing_twice(forgetful):
    assert list(one_by_one((delayed(abs)(-i) for i in range(7)), 2)) == list(range(7))
    assert forgetful == [-i for i in range(7)]


def test_workers_that_always_die_are_given_up(forgetful, monkeypatch):
    monkeypatch.setattr(_cross_validation, "MAX_LOST_WORKERS", 1)
    with pytest.raises(RuntimeError, match="died with the data 2 times and nothing was fitted"):
        list(one_by_one((delayed(abs)(-i) for i in range(7)), 2))


def test_overlapping_folds_are_named():
    every = np.arange(12)
    assert overlap(make_folds(every % 2, 3, seed=0), 12) == ""
    assert overlap([(every < 6, every >= 6)], 12) == ""  # by mask
    folds = [(every[:6], every[6:]), (every[:8], every[6:]), (every, every)]
    assert overlap(folds, 12).startswith("fold 1 of cv is trained on 2 of the 6 samples")
    assert "trained on 12 of the 12 samples" in overlap([(every, every)], 12)
    assert "trained on 1 of the 1 samples" in overlap([(every, [3, 3])], 12)
    assert "trained on 1 of the 3 samples" in overlap([([-1], [0, 1, 11])], 12)  # from the end


def test_groups_on_both_sides_of_a_fold_are_counted():
    codes = np.arange(12) // 3
    assert torn_groups([(np.arange(6), np.arange(6, 12))], codes) == ""
    said = torn_groups([(codes < 2, codes > 1), (np.arange(7), np.arange(7, 12))], codes)
    assert said.startswith("fold 1 of cv has samples of 1 of its 2 test groups")
