"""Names of classes, the order of samples and the order of features make no difference.

The data have no ties, and several classes, correlated columns and columns of noise, so that nothing
is decided by a wide margin.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from sparsieve import all_selectors

# Draw samples class by class in the order in which they come, or columns by their places.
DRAW = {
    "BoostedTreesSelector": {"classes", "features"},
    "PermutationSelector": {"samples", "classes"},
    "SelectorCV": {"samples"},
    "ShadowSelector": {"samples"},
    "StabilitySelection": {"samples", "classes"},
}
# Of features with the same score the first ones are kept: those that no cut tells apart (zero),
# those of the same mean rank, and those whose shuffling costs as many samples.
TIES = {"InfoGainSelector", "EnsembleSelector", "PermutationSelector"}
NEEDS_SAMPLES = {"UDFSSelector"}
FEW = {"n_subsamples": 10, "max_rounds": 10, "n_repeats": 1, "random_state": 0}
CHANGES = ("classes", "samples", "features")


def make(seed, n_samples, n_features, n_classes):
    rng = np.random.default_rng([seed, n_samples, n_classes])
    y = rng.permutation(np.arange(n_samples) % n_classes)
    means = rng.normal(size=(n_classes, n_features)) * (rng.random(n_features) < 0.5)
    common = rng.normal(size=(n_samples, 4)) @ rng.normal(size=(4, n_features))
    signal = 1.5 if n_classes == 2 else 0.8  # two classes that can be separated, others that not
    X = signal * means[y] + 0.5 * common + rng.normal(size=(n_samples, n_features))
    X *= np.exp(0.5 * rng.normal(size=n_features))
    return X - X.min(axis=0) + 0.1, y  # positive, for those that count


def changed(change, X, y, rng):
    """(X, y, which column of X every new one is) after a change without meaning."""
    columns = np.arange(X.shape[1])
    if change == "classes":
        names = np.array(["mid", "a", "zz", "k", "b"])[: y.max() + 1]
        return X, rng.permutation(names)[y], columns
    if change == "samples":
        order = rng.permutation(len(y))
        return X[order], y[order], columns
    columns = rng.permutation(X.shape[1])
    return X[:, columns], y, columns


def selector(name, count):
    estimator = all_selectors()[name]()
    known = estimator.get_params(deep=False)
    wanted = {**FEW, "n_features_to_select": count}
    return estimator.set_params(**{key: value for key, value in wanted.items() if key in known})


def check(name, count, seed, shape, n_classes):
    X, y = make(seed, *shape, n_classes)
    wanted = selector(name, count).fit(X, y)
    rng = np.random.default_rng(seed)
    for change in CHANGES:
        if change in DRAW.get(name, ()):
            continue
        other, labels, columns = changed(change, X, y, rng)
        found = clone(wanted).fit(other, labels)
        scores, support = np.empty(len(columns)), np.empty(len(columns), dtype=bool)
        scores[columns], support[columns] = found.scores_, found.support_
        finite = np.isfinite(wanted.scores_)
        size = np.abs(wanted.scores_[finite]).max()
        assert_allclose(scores, wanted.scores_, rtol=0, atol=1e-3 * size, err_msg=change)
        differing = support != wanted.support_
        if name in TIES:
            last = wanted.scores_[wanted.support_].min()
            differing &= np.abs(wanted.scores_ - last) > 1e-12 * size
        assert not differing.any(), (change, np.flatnonzero(differing))


def params(cases):
    """One test for every selector and case."""
    for name in all_selectors():
        for case in cases:
            if name in NEEDS_SAMPLES and case[2][0] < case[2][1]:
                continue
            count, seed, (n, d), c = case
            yield pytest.param(name, *case, id=f"{name}-{count}-{seed}-{n}x{d}-{c}")


TALL, WIDE = (60, 12), (30, 50)
QUICK = [(4, 0, TALL, 3), (None, 1, TALL, 5), (4, 3, WIDE, 2), (9, 5, WIDE, 2)]
ALL = [
    (count, seed, shape, c)
    for count in (4, 9, None)
    for seed in range(3, 6)
    for shape in (TALL, WIDE)
    for c in (2, 3, 5)
]


@pytest.mark.thinned(15)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "count", "seed", "shape", "n_classes"), list(params(QUICK)))
def test_what_makes_no_difference(name, count, seed, shape, n_classes):
    check(name, count, seed, shape, n_classes)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "count", "seed", "shape", "n_classes"), list(params(ALL)))
def test_what_makes_no_difference_on_more_data(name, count, seed, shape, n_classes):
    check(name, count, seed, shape, n_classes)


# Zeros and ones: many ties, and models that leave features at zero.
LAYOUTS = {
    "Fortran": np.asfortranarray,
    "CSR": sparse.csr_array,
    "CSC": sparse.csc_array,
    "float32": lambda X: X.astype(np.float32),
}
DENSE_ONLY = {"InfFSSelector", "PermutationSelector"}


def zeros_and_ones(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, (60, 10)).astype(float)
    return X, (X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(60) > 1).astype(int)


@pytest.mark.thinned(7)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", list(all_selectors()))
def test_the_layout_of_x_makes_no_difference(name):
    many = name in ("L0SVMSelector", "ExactPenaltySVMSelector")
    for seed in range(30 if many else 3):
        X, y = zeros_and_ones(seed)
        wanted = selector(name, 3).fit(X, y)
        for layout, changed_to in LAYOUTS.items():
            if name in DENSE_ONLY and layout in ("CSR", "CSC"):
                continue
            found = clone(wanted).fit(changed_to(X), y)
            assert (found.support_ == wanted.support_).all(), (layout, seed)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["L0SVMSelector", "ExactPenaltySVMSelector"])
def test_true_features_are_kept_about_as_often_as_by_the_f_statistic(name):
    kept = dict.fromkeys((name, "FStatisticSelector"), 0)
    for seed in range(40):
        X, y = zeros_and_ones(100 + seed)
        for one in kept:
            kept[one] += selector(one, 3).fit(X, y).support_[:2].all()
    assert kept[name] >= kept["FStatisticSelector"] - 2
