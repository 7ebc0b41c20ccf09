"""``max_correlation``: near copies of kept features are passed over, by every selector."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

import sparsieve
from sparsieve import (
    FisherSelector,
    FStatisticSelector,
    L20Selector,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    SelectorAdapter,
    SelectorCV,
    StabilitySelection,
    load,
    save,
)
from sparsieve.registry import all_methods
from sparsieve.selectors.methods import as_selector


def drawn(seed, n, noise=0.0, classes=False):
    """Three true features, and one that is a copy of the first."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 12))
    X[:, 7] = X[:, 0] + noise * rng.standard_normal(n)
    signal = X[:, 0] + 0.3 * X[:, 1] + 0.3 * X[:, 2] + 0.4 * rng.standard_normal(n)
    return X, np.where(signal > 0, "yes", "no") if classes else signal


def n_displaced(n, n_draws, noise, classes, **settings):
    """In how many draws a feature and its copy are both kept."""
    kept = [
        RidgeForwardSelector(3, **settings).fit(*drawn(seed, n, noise, classes)).support_
        for seed in range(n_draws)
    ]
    return sum(bool(support[0] and support[7]) for support in kept)


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize(("n", "n_draws"), [(150, 20), (5000, 10)])
def test_no_copy_displaces_a_true_feature(n, n_draws, classes, noise):
    assert n_displaced(n, n_draws, noise, classes) == 0
    # A strong ridge rewards copies: they share the penalty.
    strong = {"max_correlation": None, "ridge": 1.0}
    assert n_displaced(n, n_draws, noise, classes, **strong) >= 0.9 * n_draws
    assert n_displaced(n, n_draws, noise, classes, ridge=1.0) == 0


@pytest.fixture(scope="module")
def doubled():
    """Every column twice, in other units; the columns of a pair are j and j + 8."""
    rng = np.random.default_rng(0)
    Z = np.abs(rng.standard_normal((80, 8))) + 0.1
    y = (Z[:, 0] + Z[:, 1] > Z[:, 2] + 0.8).astype(int)
    return np.hstack([Z, 2.0 * Z]), y, Z[:, 0] - Z[:, 1] + 0.3 * rng.standard_normal(80)


def takes_groups(name):
    parameters = as_selector(name).get_params()
    return "feature_groups" in parameters and name != "t-test"  # which takes groups of one


def pairs(selector):
    """The pairs that the kept features are of."""
    return np.flatnonzero(selector.get_support()) % 8


@pytest.mark.thinned(3)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(all_methods()))
def test_every_method_keeps_distinct_features_and_as_many_as_asked(doubled, name, tmp_path):
    X, labels, numbers = doubled
    selector = as_selector(name).set_params(max_correlation=0.99, n_features_to_select=6)
    y = numbers if selector._needs_numbers else labels
    selector.fit(X, y)
    assert sorted(pairs(selector)) == sorted(set(pairs(selector)))
    assert selector.support_.sum() == 6
    four = pairs(selector.at(4))
    assert len(four) == len(set(four)) == 4
    for kept, others in selector.passed_over_.items():
        assert others == [((kept + 8) % 16, pytest.approx(1.0))]
    # When all others are used up, copies follow.
    twelve = clone(selector).set_params(n_features_to_select=12).fit(X, y)
    assert twelve.support_.sum() == 12
    assert set(pairs(twelve)) == set(range(8))
    alone = clone(selector).set_params(n_features_to_select=None).fit(X, y)
    assert len(set(pairs(alone))) == len(pairs(alone))
    save(selector, tmp_path / "fitted.sparsieve")
    again = load(tmp_path / "fitted.sparsieve")
    assert again.passed_over_ == selector.passed_over_
    np.testing.assert_array_equal(again.support_, selector.support_)


def masked_steps(X, Y, ridge, limit, n_steps):
    """Forward selection by refitting every candidate that is no near copy, in plain NumPy."""
    n = len(X)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = Y - Y.mean(axis=0)
    R = np.abs(np.corrcoef(X.T))
    order = []
    for _ in range(n_steps):
        best, least = None, np.inf
        for j in set(range(X.shape[1])) - set(order):
            if (R[j, order] >= limit).any():
                continue
            S = [*order, j]
            W = np.linalg.solve(X[:, S].T @ X[:, S] + ridge * n * np.eye(len(S)), X[:, S].T @ Y)
            value = ((Y - X[:, S] @ W) ** 2).sum() + ridge * n * (W**2).sum()
            if value < least:
                best, least = j, value
        order.append(best)
    return order


@pytest.mark.parametrize("ridge", [1.0, "auto"])
def test_the_search_is_the_one_among_distinct_features(ridge):
    X, y = load_breast_cancer(return_X_y=True)
    y = y.astype(float)[:, None] + 0.5  # numbers
    expected = masked_steps(X, y, 30 / (3 * 569) if ridge == "auto" else ridge, 0.9, 6)
    settings = {"clip": None, "max_correlation": 0.9, "task": "regression"}
    selector = RidgeForwardSelector(6, ridge=ridge, **settings)
    assert selector.fit(X, y[:, 0]).path_.features.tolist() == expected
    R = np.abs(np.corrcoef(X.T))
    for kept, others in selector.passed_over_.items():
        for j, r in others:
            assert abs(r) == pytest.approx(R[kept, j])
            assert abs(r) >= 0.9


def test_exchanges_bring_no_copy_back(doubled):
    X, _, y = doubled
    noise = np.random.default_rng(1).standard_normal((80, 30))
    for wide in (X, np.hstack([X, noise])):  # the swept and the tabled search
        for k in range(1, 7):
            selector = L20Selector(k, max_correlation=0.99, ridge=0.1).fit(wide, y)
            for support in selector.path_.supports:
                inside = [int(j) % 8 for j in support if j < 16]
                assert len(inside) == len(set(inside))


def test_the_exact_search_ranges_over_one_of_each(doubled):
    X, _, y = doubled
    selector = L20Selector(3, solver="exact", max_correlation=0.99).fit(X, y)
    assert selector.optimality_ == 0.0
    n = len(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    c = y - y.mean()

    def value(S):
        S = list(S)
        W = np.linalg.solve(Z[:, S].T @ Z[:, S] + n * np.eye(len(S)), Z[:, S].T @ c)
        return ((c - Z[:, S] @ W) ** 2).sum() + n * (W**2).sum()

    best = min(combinations(range(8), 3), key=value)
    assert set(pairs(selector)) == set(best)


def test_likelihoods_pass_over_copies_in_exchanges_too(doubled):
    X, y, _ = doubled
    time = np.exp(X[:, 0] - X[:, 1] + 0.1 * np.random.default_rng(0).standard_normal(80))
    events = np.array([(True, t) for t in time], dtype=[("event", "?"), ("time", "f8")])
    for target in (y, events):
        selector = LikelihoodForwardSelector(5, max_correlation=0.99).fit(X, target)
        for support in selector.path_.supports:
            assert len({int(j) % 8 for j in support}) == len(support)
        assert len(selector.path_) == 5


def test_covariates_weights_sparse_single_precision_and_files(doubled, tmp_path):
    X, _, y = doubled
    kept = RidgeForwardSelector(4, always_keep=[0]).fit(X, y)
    assert kept.support_[0]
    assert not kept.support_[8]
    assert len(set(pairs(kept))) == 4
    both = RidgeForwardSelector(4, always_keep=[0, 8]).fit(X, y)
    assert both.support_[[0, 8]].all()
    weights = np.arange(80) % 3
    weighted = RidgeForwardSelector(4, max_correlation=0.6).fit(X, y, sample_weight=weights)
    repeated = RidgeForwardSelector(4, max_correlation=0.6).fit(
        np.repeat(X, weights, axis=0), np.repeat(y, weights)
    )
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    plain = RidgeForwardSelector(5).fit(X, y)
    thin = RidgeForwardSelector(5).fit(sparse.csr_array(X), y)
    single = RidgeForwardSelector(5, max_correlation=1.0).fit(X.astype(np.float32), y)
    np.save(tmp_path / "X.npy", X)
    filed = RidgeForwardSelector(5).fit(np.load(tmp_path / "X.npy", mmap_mode="r"), y)
    for one in (thin, single, filed):
        np.testing.assert_array_equal(one.support_, plain.support_)
    assert single.coef_.dtype == np.float32
    without = RidgeForwardSelector(6, fit_intercept=False).fit(X, y)
    assert len(set(pairs(without))) == 6


def test_constant_columns_and_single_features():
    X = np.column_stack([np.arange(20.0), np.zeros(20), np.ones(20)])
    y = np.arange(20.0) + 0.5
    assert RidgeForwardSelector(3).fit(X, y).ranking_.tolist() == [1, 2, 3]
    assert FStatisticSelector(1, max_correlation=0.9).fit(X[:, :1], y).support_.all()
    # Copies come before columns that say nothing.
    X = np.column_stack([X, -X[:, 0]])
    found = FStatisticSelector(2, max_correlation=1).fit(X, y)
    assert found.ranking_.tolist() == [1, 3, 4, 2]
    assert found.passed_over_ == {}
    assert found.at(1).passed_over_ == {0: [(3, pytest.approx(-1.0))]}


def test_groups_that_a_kept_group_explains_are_passed_over():
    rng = np.random.default_rng(0)
    city = rng.integers(0, 6, 200)
    region = city // 3
    other = rng.integers(0, 3, 200)
    X = np.hstack([np.eye(6)[city], np.eye(2)[region], np.eye(3)[other], np.eye(6)[city]])
    y = np.array([0.0, 0.3, 0.6, 3.0, 3.3, 3.6])[city] + 0.2 * other + rng.standard_normal(200)
    groups = ["city"] * 6 + ["region"] * 2 + ["other"] * 3 + ["copy"] * 6
    # Where the region is kept first, its cities still say more than it does.
    first = RidgeForwardSelector(2, feature_groups=groups, always_keep=[6]).fit(X, y)
    assert set(first.group_names_[first.group_support_]) & {"city", "copy"}
    # Where the city is, its region and its copy say nothing more.
    last = RidgeForwardSelector(2, feature_groups=groups, always_keep=[0]).fit(X, y)
    assert set(last.group_names_[last.group_support_]) == {"city", "other"}
    for cls in (RidgeForwardSelector, L20Selector, FStatisticSelector):
        found = cls(3, feature_groups=groups, max_correlation=0.99).fit(X, y)
        assert not {"city", "copy"} <= set(found.group_names_[found.group_support_])


TAKE_GROUPS = [name for name in sorted(all_methods()) if takes_groups(name)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("always", [None, [9]], ids=["alone", "beside covariates"])
@pytest.mark.parametrize("name", TAKE_GROUPS)
def test_every_method_keeps_distinct_groups(doubled, name, always):
    """Single columns beside a group of two and its copy in another order."""
    X, labels, numbers = doubled
    walk = np.random.default_rng(2).random((80, 2)).cumsum(axis=1)
    X, groups = np.hstack([X, walk, walk[:, ::-1]]), [*range(16), 16, 16, 17, 17]
    selector = as_selector(name).set_params(
        max_correlation=0.99, n_features_to_select=7, feature_groups=groups, always_keep=always
    )
    selector.fit(X, numbers if selector._needs_numbers else labels)
    for k in (7, 3):
        kept = np.flatnonzero(selector.at(k).group_support_)
        assert len(kept) == len({16 if j >= 16 else j % 8 for j in kept.tolist()}) == k
        assert always is None or 9 in kept


@pytest.mark.parametrize("task", ["survival", "counts", "classification"])
def test_likelihoods_pass_over_copies_of_groups(doubled, task):
    """As with one text column in a table of survival times, by default."""
    X, labels, numbers = doubled
    y = {"classification": labels, "counts": np.round(np.exp(numbers)).astype(int)}.get(task)
    if y is None:
        y = np.array([(True, t) for t in np.exp(numbers)], dtype=[("event", "?"), ("time", "f8")])
    city = np.eye(3)[np.arange(80) % 3]
    X, groups = np.hstack([X, city]), [*map(str, range(16)), *["city"] * 3]
    selector = LikelihoodForwardSelector(7, task=task, feature_groups=groups, max_correlation=0.99)
    for support in selector.fit(X, y).path_.supports:
        units = {j % 8 if j < 16 else "city" for j in support.tolist()}
        assert len(units) == sum(j < 16 for j in support) + (support >= 16).any()
    for kept, others in selector.passed_over_.items():
        assert others == [(str((int(kept) + 8) % 16), pytest.approx(1.0))]


def test_wrappers_pass_it_on_or_look_at_the_ranking(doubled):
    X, y, _ = doubled
    search = SelectorCV(FisherSelector(), ks=[4], n_repeats=1, max_correlation=0.99).fit(X, y)
    assert search.selector_.max_correlation == 0.99
    assert len(set(pairs(search))) == 4
    assert set(search.passed_over_) <= set(search.get_support(indices=True))
    stable = StabilitySelection(FisherSelector(), n_features_to_select=4, n_subsamples=4)
    assert len(set(pairs(stable.set_params(max_correlation=0.99).fit(X, y)))) == 4
    guest = SelectorAdapter(lambda X, y: np.arange(16.0), max_correlation=0.99)
    guest.set_params(n_features_to_select=5).fit(X, y)
    assert sorted(guest.get_support(indices=True)) == [11, 12, 13, 14, 15]
    assert sorted(guest.at(2).get_support(indices=True)) == [14, 15]


@pytest.mark.parametrize("limit", [0, -0.5, 1.5, "much", True, np.nan])
def test_other_values_are_refused(doubled, limit):
    for selector in (FisherSelector(max_correlation=limit), SelectorCV(max_correlation=limit)):
        with pytest.raises(ValueError, match="max_correlation must be above 0 and at most 1"):
            selector.fit(*doubled[:2])


def test_the_front_doors(doubled):
    X, y, _ = doubled
    for method in ("ridge-forward", "fisher", FStatisticSelector):
        selected = sparsieve.select(X, y, k=6, method=method, check=False)
        assert selected.selector.max_correlation == 0.99
        assert len({int(name[1:]) % 8 for name in selected.features}) == 6
        assert all(selected.table["substitutes"].str.contains("1.00", regex=False))
    own = sparsieve.select(X, y, k=6, method=FisherSelector(), check=False)
    assert len(set(pairs(own.selector))) < 6
    asked = sparsieve.select(X, y, k=6, method=FisherSelector(), max_correlation=0.99, check=False)
    assert len(set(pairs(asked.selector))) == 6
    off = sparsieve.select(X, y, k=6, max_correlation=None, check=False)
    assert len(set(pairs(off.selector))) < 6
    methods = ["fisher", ("mine", FisherSelector())]
    found = sparsieve.compare(X, y, methods, ks=[6], n_repeats=1)
    kept = {name: set(result.chosen[6] % 8) for name, result in found.methods.items()}
    assert len(kept["fisher"]) == 6 > len(kept["mine"])
    with pytest.raises(ValueError, match="max_correlation"):
        sparsieve.select(X, y, k=3, max_correlation="high")


def test_without_an_intercept_the_correlation_is_the_same():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((100, 6))
    X = np.column_stack([Z + 1.0, 2.0 - Z[:, 0]])
    y = Z[:, 0] + 3.0 + 0.1 * rng.standard_normal(100)
    weights = rng.integers(0, 3, 100)
    selector = RidgeForwardSelector(4, fit_intercept=False, ridge=0.01)
    assert selector.fit(X, y).passed_over_ == {0: [(6, pytest.approx(-1.0))]}
    found = selector.fit(X, y, sample_weight=weights)
    again = clone(selector).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert found.path_.features.tolist() == again.path_.features.tolist()
    for one in (found, again):
        assert one.passed_over_ == {0: [(6, pytest.approx(-1.0))]}
