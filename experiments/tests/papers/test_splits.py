import numpy as np
import pytest

from sparsieve.scoring.protocol import Folds
from sparsieve_experiments.papers import published
from sparsieve_experiments.papers.splits import FirstFolds, PaperSplits, protocol_from

# Data set of the paper, sizes of its classes, size of the test part behind the printed numbers.
L20_SETS = [
    ("Brain", (10, 10, 10, 4, 8), 12),
    ("Breast3", (18, 44, 33), 31),
    ("Leukemia", (27, 11), 12),
    ("Lymphoma", (42, 9, 11), 20),
    ("NCI", (9, 5, 7, 8, 8, 9, 6, 9), 18),
]
L0_MKL_SETS = [
    ("ALLAML", (47, 25), 35),
    ("Leukemia", (47, 25), 35),
    ("Central_Nervous_System", (21, 39), 29),
    ("Dbworld", (35, 29), 31),
    ("Colon", (40, 22), 31),
    ("Lung_Cancer", (150, 31), 90),
    ("Isolet", (60, 60), 60),
    ("Glioma", (14, 7), 10),
]


@pytest.mark.parametrize(
    ("share", "sizes", "n_test"),
    [("2/3", sizes, n_test) for _, sizes, n_test in L20_SETS]
    + [(share, sizes, n_test) for _, sizes, n_test in L0_MKL_SETS for share in ("1/2", 0.5)],
)
def test_every_class_gives_what_its_training_share_leaves_over(share, sizes, n_test):
    y = np.repeat(np.arange(len(sizes)), sizes)
    rest = 3 if share == "2/3" else 2
    found = list(PaperSplits(share, 3).splits(y, seed=0))
    assert len(found) == 3
    for split in found:
        assert np.bincount(y[split.test], minlength=len(sizes)).tolist() == [
            size // rest for size in sizes
        ]
        assert len(split.test) == n_test
        assert sorted([*split.train, *split.test]) == list(range(len(y)))
    assert not np.array_equal(found[0].test, found[1].test)


def misfits(accuracies, n_test, n_repeats=10):
    """How many printed accuracies are no mean of this many splits of this many samples."""
    possible = 100 * np.arange(n_test * n_repeats + 1) / (n_test * n_repeats)
    return sum(np.min(np.abs(possible - value)) > 0.0051 for value in accuracies)


@pytest.mark.parametrize(("name", "sizes", "n_test"), L20_SETS)
def test_printed_accuracies_fit_these_sizes(name, sizes, n_test):
    printed = [row["accuracy"] for row in published("l20_table2") if row["dataset"] == name]
    assert len(printed) == 16
    assert misfits(printed, n_test) <= 1  # two of the 80 fit no size: misprints
    rounded = sum(size - round(2 * size / 3) for size in sizes)
    assert rounded != n_test
    assert misfits(printed, rounded) >= 10


def test_decimals_are_exact():
    # In doubles 0.1 x 10 rounds up to more than one.
    y = np.repeat([0, 1], 10)
    assert [len(s.train) for s in PaperSplits(0.1, 1).splits(y, seed=0)] == [2]


def test_the_protocol_survives_as_plain_data():
    protocol = PaperSplits("2/3", 4)
    assert protocol.as_dict()["kind"] == "paper-splits"
    assert protocol_from(protocol.as_dict()) == protocol


def test_first_folds_are_folds_of_the_whole_protocol():
    y = np.arange(30) % 3
    whole = {(s.repeat, s.fold): s.test.tolist() for s in Folds(5, 2).splits(y, seed=1)}
    protocol = protocol_from(FirstFolds(5, 2, n_first=3).as_dict())
    found = {(s.repeat, s.fold): s.test.tolist() for s in protocol.splits(y, seed=1)}
    assert len(found) == protocol.n_splits == 6
    assert found == {place: test for place, test in whole.items() if place[1] < 3}
