"""Which numbers of features a search tries."""

import numpy as np
import pytest

from sparsieve import FisherSelector, LikelihoodForwardSelector, SelectorCV, compare
from sparsieve.datasets import make_survival
from sparsieve.meta.trials import most_to_try, numbers_to_try
from sparsieve.validation.survival import as_survival
from sparsieve.validation.target import Target, encode_target


def classes(*sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    return encode_target(y, task="classification", dtype=np.dtype(float), owner="a test")


def times(n_events, n_samples):
    event = np.arange(n_samples) < n_events
    y = as_survival((np.arange(1.0, n_samples + 1), event))
    return Target("survival", np.empty((n_samples, 0)), events=y)


@pytest.mark.parametrize(
    ("target", "selector", "most"),
    [
        (times(70, 120), FisherSelector(), 14),
        (times(70, 120), LikelihoodForwardSelector(), 14),
        (times(20, 500), FisherSelector(), 10),
        (times(2000, 9000), FisherSelector(), 100),
        (classes(500, 100), FisherSelector(), 100),
        (classes(500, 100), LikelihoodForwardSelector(), 20),
        (classes(50, 50, 50), LikelihoodForwardSelector(), 20),
        (Target("counts", np.ones((200, 1))), LikelihoodForwardSelector(), 40),
    ],
)
def test_samples_carry_so_many(target, selector, most):
    assert most_to_try([selector], target) == most
    assert most_to_try([selector], target, np.full(50, 4)) <= max(10, len(target.Y) // 8)


def test_groups_have_half_as_many_columns_as_there_are_samples():
    assert most_to_try([FisherSelector()], classes(75, 75), np.full(125, 4)) == 18
    assert most_to_try([FisherSelector()], classes(75, 75), np.full(5, 100)) == 10
    assert most_to_try([FisherSelector()], classes(75, 75), np.ones(125)) == 75


def test_the_selector_that_goes_furthest_counts():
    both = [FisherSelector(), LikelihoodForwardSelector()]
    assert most_to_try(both, classes(60, 60)) == 100


def test_what_is_always_kept_comes_on_top():
    assert numbers_to_try("auto", 500, 4, most=10)[[0, -1]].tolist() == [4, 14]
    assert numbers_to_try("auto", 500, 95, most=10)[-1] == 100
    assert numbers_to_try("auto", 500, 200, most=10).tolist() == [200]
    assert numbers_to_try([3, 300], 500, most=10).tolist() == [3, 300]  # as asked


def test_searches_and_comparisons_follow():
    data = make_survival(n_samples=90, n_features=60, random_state=0)
    X, y = data.X, data.y
    events = int(as_survival(y)["event"].sum())
    assert events < 500
    last = max(10, events // 5)
    search = SelectorCV(LikelihoodForwardSelector(), cv=3, n_repeats=1).fit(X, y)
    assert search.ks_[-1] == last
    methods = ["likelihood-l21", "likelihood-forward"]
    found = compare(X, y, methods, cv=2, n_repeats=1, task="survival")
    assert found.ks[-1] == last
