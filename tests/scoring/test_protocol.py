import numpy as np
import pytest

from sparsieve.scoring import Folds, RepeatedSplits

Y = np.repeat([0, 1, 2], [12, 21, 33])
GROUPS = np.arange(len(Y)) // 3
PROTOCOLS = [
    RepeatedSplits(0.7, 4),
    RepeatedSplits("2/3", 4, per_class=True),
    RepeatedSplits(0.5, 4, grouped=True),
    Folds(3, 2),
    Folds(3, 2, grouped=True),
]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_every_split_is_a_partition_and_repeats_differ(protocol):
    splits = list(protocol.splits(Y, GROUPS, seed=1))
    for split in splits:
        together = np.sort(np.concatenate([split.train, split.test]))
        np.testing.assert_array_equal(together, np.arange(len(Y)))
        if protocol.grouped:
            assert not set(GROUPS[split.train]) & set(GROUPS[split.test])
    assert len({split.train.tobytes() for split in splits}) == len(splits)
    assert len({(split.repeat, split.fold) for split in splits}) == len(splits)


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=str)
def test_the_seed_decides(protocol):
    def drawn(seed):
        return [split.train.tolist() for split in protocol.splits(Y, GROUPS, seed=seed)]

    assert drawn(3) == drawn(3) != drawn(4)


def test_folds_cover_every_sample_once():
    splits = list(Folds(5, 2).splits(Y, seed=0))
    tested = np.concatenate([split.test for split in splits])
    np.testing.assert_array_equal(np.bincount(tested), 2)


def test_sizes():
    for split in RepeatedSplits("2/3", 5, per_class=True).splits(Y, seed=0):
        assert np.bincount(Y[split.train]).tolist() == [8, 14, 22]
    for split in RepeatedSplits(0.5, 5).splits(Y, seed=0):
        assert len(split.train) == 33
        assert np.bincount(Y[split.train]).tolist() in ([6, 10, 17], [6, 11, 16])


def test_a_class_of_one_sample_trains():
    labels = np.array([0] * 6 + [1] * 6 + [2])
    for split in RepeatedSplits(0.5, 3, per_class=True).splits(labels, seed=0):
        assert 12 in split.train


@pytest.mark.parametrize("fraction", [0, 1, 1.5, "3/2", "two thirds", True, None])
def test_bad_fractions(fraction):
    with pytest.raises(ValueError, match="train_fraction must lie between 0 and 1"):
        RepeatedSplits(fraction)


def test_bad_protocols():
    with pytest.raises(ValueError, match="n_folds must be at least 2"):
        Folds(1)
    with pytest.raises(ValueError, match="exclude each other"):
        RepeatedSplits(per_class=True, grouped=True)
    with pytest.raises(ValueError, match="needs groups"):
        list(Folds(3, grouped=True).splits(Y, seed=0))
