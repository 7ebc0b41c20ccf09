"""mRMR against its formulas written plainly, without anything incremental."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.feature_selection import f_classif, f_regression, mutual_info_classif
from sklearn.metrics import mutual_info_score

from sparsieve import MRMRSelector
from sparsieve.filters.criteria import GroupCorrelation

ALL = ("fcq", "fcd", "mid", "miq", "jmi", "cife", "cmim", "cfs")


def make(seed, n=70, d=12, classes=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d)) + rng.normal(size=(n, d))
    X[:, 1] += 2 * y
    X[:, 2] += np.abs(y - 1)
    X[:, 5] = X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y


# -- plain references ------------------------------------------------------------------------


def entropy(*columns):
    rows = np.stack(columns, axis=1)
    shares = np.unique(rows, axis=0, return_counts=True)[1] / len(rows)
    return -(shares * np.log(shares)).sum()


def conditional(x, y, s):
    """I(x; y | s)."""
    return entropy(x, s) + entropy(y, s) - entropy(s) - entropy(x, y, s)


def uncertainty(a, b):
    return 2 * mutual_info_score(a, b) / (entropy(a) + entropy(b))


def uncertainties(codes, y):
    """Of every two features, and of each with the class in the last row and column."""
    columns = [*codes.T, y]
    return np.array([[uncertainty(a, b) for a in columns] for b in columns])


def merit(members, U):
    """Hall's formula as printed: k mean(r_cf) / sqrt(k + k (k - 1) mean(r_ff))."""
    k = len(members)
    pairs = [U[i, j] for i, j in combinations(members, 2)]
    return k * U[members, -1].mean() / np.sqrt(k + k * (k - 1) * (np.mean(pairs) if pairs else 0))


def plain_best_first(U, patience=5):
    """All sets met so far in one list, opened by merit."""
    met, opened, best, failures = {frozenset(): 0.0}, set(), frozenset(), 0
    while failures < patience and len(opened) < len(met):
        current = max((s for s in met if s not in opened), key=lambda s: met[s])
        opened.add(current)
        if met[current] > met[best] + 1e-12:
            best, failures = current, 0
        elif current:
            failures += 1
        for j in range(len(U) - 1):
            grown = current | {j}
            if grown not in met:
                met[grown] = merit(sorted(grown), U)
    return best, met[best]


def reference(X, y, k, criterion, codes=None):
    d = X.shape[1]
    if criterion[0] == "f":
        score = f_regression if y.dtype.kind == "f" else f_classif
        relevance = score(X, y)[0]
        pairwise = np.abs(np.corrcoef(X.T))
    else:
        relevance = mutual_info_classif(codes, y, discrete_features=True)
        columns = range(d)
        pairwise = np.array(
            [[mutual_info_score(codes[:, i], codes[:, j]) for j in columns] for i in columns]
        )
    if criterion == "cfs":
        U = uncertainties(codes, y)
        relevance = U[:-1, -1]
    path = [int(np.argmax(relevance))]
    while len(path) < k:
        scores = np.full(d, -np.inf)
        for j in set(range(d)) - set(path):
            redundancy = pairwise[j, path].mean()
            x = None if codes is None else codes[:, j]
            scores[j] = {
                "fcq": lambda j=j: relevance[j] / np.mean(np.maximum(pairwise[j, path], 0.001)),
                "fcd": lambda j=j, r=redundancy: relevance[j] - r,
                "mid": lambda j=j, r=redundancy: relevance[j] - r,
                "miq": lambda j=j, r=redundancy: relevance[j] / r,
                "jmi": lambda x=x: sum(
                    entropy(x, codes[:, s]) + entropy(y) - entropy(x, codes[:, s], y) for s in path
                ),
                "cife": lambda j=j, x=x: (
                    relevance[j]
                    + sum(conditional(x, codes[:, s], y) - pairwise[j, s] for s in path)
                ),
                "cfs": lambda j=j: merit([*path, j], U),
                "cmim": lambda x=x: min(conditional(x, y, codes[:, s]) for s in path),
            }[criterion]()
        path.append(int(np.argmax(scores)))
    return path


def std_levels(X):
    low, high = X.mean(axis=0) - X.std(axis=0) / 2, X.mean(axis=0) + X.std(axis=0) / 2
    return np.where(low > X, 0, np.where(high < X, 2, 1))


@pytest.mark.thinned(10)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", ALL)
@pytest.mark.long("against the plain formula, loop by loop")
def test_choices_equal_the_formula(seed, criterion):
    X, y = make(seed)
    selector = MRMRSelector(n_features_to_select=8, criterion=criterion).fit(X, y)
    expected = reference(X, y, 8, criterion, std_levels(X))
    assert_array_equal(selector.path_.features, expected)
    assert_array_equal(selector.ranking_[selector.path_.features], np.arange(1, 9))
    assert_array_equal(np.flatnonzero(selector.support_), np.sort(expected))


@pytest.mark.parametrize("criterion", ["fcq", "fcd"])
def test_regression(criterion):
    X, _ = make(7)
    target = X[:, 0] + X[:, 3] ** 2
    selector = MRMRSelector(n_features_to_select=6, criterion=criterion).fit(X, target)
    assert_array_equal(selector.path_.features, reference(X, target, 6, criterion))
    assert_allclose(selector.relevance_, f_regression(X, target)[0])


@pytest.mark.parametrize("criterion", ["mid", "jmi", "cmim"])
def test_information_with_numbers_is_that_with_their_levels(criterion):
    X, _ = make(7)
    target = X[:, 0] + X[:, 3] ** 2
    edges = np.quantile(target, [0.2, 0.4, 0.6, 0.8], method="inverted_cdf")
    levels = (edges[:, None] < target).sum(axis=0)
    of_numbers = MRMRSelector(6, criterion=criterion).fit(X, target)
    of_levels = MRMRSelector(6, criterion=criterion, task="classification").fit(X, levels)
    assert_array_equal(of_numbers.path_.features, of_levels.path_.features)
    assert_array_equal(of_numbers.scores_, of_levels.scores_)


def table_of_one_category(seed=0, n=150):
    """A category of six labels that matters, one of three that does not, and six numbers."""
    rng = np.random.default_rng(seed)
    city, kind, X = rng.integers(0, 6, n), rng.integers(0, 3, n), rng.standard_normal((n, 6))
    amount = np.array([2.0, -2.0, 1.0, -1.0, 0.0, 0.0])[city] + X[:, 0] + rng.standard_normal(n)
    columns = np.hstack([X, np.eye(6)[city], np.eye(3)[kind]])
    groups = {"city": list(range(6, 12)), "kind": [12, 13, 14]}
    return columns, amount, city, groups


@pytest.mark.parametrize("criterion", ["fcq", "fcd", "cfs", "mid", "cmim"])
def test_columns_of_a_category_count_once(criterion):
    X, amount, city, groups = table_of_one_category()
    for target in (amount, amount > 0):
        selector = MRMRSelector(2, criterion=criterion, feature_groups=groups).fit(X, target)
        if criterion != "fcq":  # which divides by correlations that are small by chance
            assert set(selector.group_names_[selector.group_support_]) == {"city", "x0"}
            assert selector.support_.sum() == 7
        assert selector.at(1).group_support_.sum() == 1
        alone = MRMRSelector(6, criterion=criterion).fit(X, target)
        each = MRMRSelector(6, criterion=criterion, feature_groups=np.arange(15)).fit(X, target)
        assert_array_equal(alone.path_.features, each.path_.features)
    if criterion in ("fcq", "fcd"):
        # The analysis of variance of a category is the regression on its columns.
        relevance = MRMRSelector(2, criterion=criterion, feature_groups=groups)
        relevance = relevance.fit(X, amount).relevance_
        expected = f_classif(amount[:, None], city)[0][0]
        assert_allclose(relevance[6:12], expected)
        assert_allclose(relevance[:6], f_regression(X[:, :6], amount)[0])


def test_redundancy_of_groups_is_that_of_their_canonical_correlations():
    X, amount, _, groups = table_of_one_category()
    X[:, 1] = amount + 0.2 * X[:, 1]
    data = MRMRSelector(feature_groups=groups)._training_data(X, amount, None)
    criterion = GroupCorrelation(data, data.groups, "fcd")
    places = [data.groups.names.index(name) for name in ("x1", "kind", "city")]
    found = criterion.with_others(places[2])[places]
    centred = X - X.mean(axis=0)
    parts = (slice(1, 2), 1), (slice(12, 15), 2), (slice(6, 12), 5)
    columns = [np.linalg.svd(centred[:, some])[0][:, :rank] for some, rank in parts]
    expected = [np.linalg.svd(one.T @ columns[2])[1] for one in columns]
    assert_allclose(found, [np.sqrt((s**2).mean()) for s in expected])


def test_the_path_is_nested_and_complete():
    X, y = make(1)
    for criterion in ALL:
        whole = MRMRSelector(n_features_to_select=12, criterion=criterion).fit(X, y)
        part = MRMRSelector(n_features_to_select=4, criterion=criterion).fit(X, y)
        assert_array_equal(whole.path_.features[:4], part.path_.features)
        assert_array_equal(whole.at(4).support_, part.support_)
        assert_array_equal(np.sort(whole.ranking_), np.arange(1, 13))
        assert_array_equal(np.sort(part.ranking_), np.arange(1, 13))


@pytest.mark.parametrize("criterion", ALL)
def test_scores_are_those_at_entry_whatever_the_length(criterion):
    X, y = make(1)
    long = MRMRSelector(6, criterion=criterion).fit(X, y)
    short = MRMRSelector(3, criterion=criterion).fit(X, y)
    first = short.path_.features
    assert_array_equal(short.scores_[first], long.scores_[first])
    assert_array_equal(long.scores_[long.path_.features], long.path_scores_)
    assert_allclose(long.path_scores_[0], long.relevance_.max())
    left = np.argsort(long.ranking_)[6:]
    assert (np.diff(long.scores_[left]) <= 0).all()
    with pytest.raises(ValueError, match="fit with n_features_to_select >= 7"):
        long.at(7)


@pytest.mark.parametrize("criterion", ALL)
def test_weights_repeat_samples(criterion):
    X, y = make(2)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    selector = MRMRSelector(n_features_to_select=7, criterion=criterion)
    weighted = selector.fit(X, y, sample_weight=weights).path_.features
    repeated = selector.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).path_.features
    assert_array_equal(weighted, repeated)


@pytest.mark.parametrize("criterion", ALL)
def test_order_and_sparse(criterion):
    X, y = make(3)
    X[np.abs(X) < 0.3] = 0.0
    selector = MRMRSelector(n_features_to_select=7, criterion=criterion)
    path = selector.fit(X, y).path_.features
    assert_array_equal(selector.fit(sparse.csr_array(X), y).path_.features, path)
    rows, columns = (np.random.default_rng(0).permutation(k) for k in X.shape)
    assert_array_equal(selector.fit(X[rows], y[rows]).path_.features, path)
    assert_array_equal(columns[selector.fit(X[:, columns], y).path_.features], path)


def test_copies_are_not_picked_second():
    X, y = make(4)
    for criterion in ("fcq", "mid", "cmim"):
        first = MRMRSelector(1, criterion=criterion).fit(X, y).path_.features[0]
        doubled = np.c_[X, X[:, first], -2 * X[:, first] + 1]
        path = MRMRSelector(2, criterion=criterion).fit(doubled, y).path_.features
        assert path[0] == first
        assert path[1] < X.shape[1]


def test_constant_and_useless_columns_come_last():
    X, y = make(5)
    useless = np.where(np.arange(len(y)) % 2, 1.0, 0.0)
    y = np.repeat([0, 1], 35)
    useless = np.tile([0.0, 1.0], 35)
    useless[[34, 69]] = 0.0
    X = np.c_[np.full(70, 0.1), useless, X]
    assert f_classif(useless[:, None], y)[0] == 0
    for criterion in ALL:
        selector = MRMRSelector(14, criterion=criterion).fit(X, y)
        assert selector.ranking_[0] == 14
        assert selector.ranking_[1] == 13
        assert 1 not in selector.path_.features
        assert np.isfinite(selector.scores_).all()


def test_a_perfect_feature_comes_first():
    X, y = make(6)
    X[:, 9] = y + 0.1
    for criterion in ALL:
        path = MRMRSelector(5, criterion=criterion).fit(X, y).path_.features
        assert path[0] == 9
        assert len(set(path)) == 5


def test_bad_parameters():
    X, y = make(0)
    wide = np.random.default_rng(0).standard_normal((300, 7))
    of_all = {"criterion": "mid", "discretize": "frequency", "feature_groups": {"all": [*range(7)]}}
    with pytest.raises(ValueError, match="group 'all' have 300 different combinations of levels"):
        MRMRSelector(**of_all).fit(wide, wide[:, 0] > 0)
    with pytest.raises(ValueError, match="criterion must be one of 'fcq', 'fcd', 'mid'"):
        MRMRSelector(criterion="f").fit(X, y)
    with pytest.raises(ValueError, match="criterion='jmi' needs one column of y, but there are 2"):
        MRMRSelector(criterion="jmi").fit(X, X[:, :2])
    with pytest.raises(ValueError, match=r"needs criterion=.cfs., got criterion"):
        MRMRSelector(search="best-first").fit(X, y)
    with pytest.raises(ValueError, match="finds the number of features itself"):
        MRMRSelector(3, criterion="cfs", search="best-first").fit(X, y)


@pytest.mark.parametrize("seed", range(4))
def test_best_first_finds_what_a_plain_search_finds(seed):
    X, y = make(seed, d=8)
    U = uncertainties(std_levels(X), y)
    selector = MRMRSelector(criterion="cfs", search="best-first").fit(X, y)
    expected, value = plain_best_first(U)
    assert set(selector.path_.features) == expected
    assert_allclose(selector.path_scores_[-1], value)
    every = max(
        merit(list(members), U) for k in range(1, 9) for members in combinations(range(8), k)
    )
    assert value <= every + 1e-12
    # The forward path stops at its own best set, which is no better.
    forward = MRMRSelector(criterion="cfs").fit(X, y)
    assert forward.path_scores_[-1] == forward.path_scores_.max() <= value + 1e-12
    assert forward.support_.sum() == len(forward.path_.features)


def test_cfs_of_numbers_uses_correlations():
    X, _ = make(7)
    target = X[:, 0] + X[:, 3] ** 2
    R = np.abs(np.corrcoef(np.c_[X, target].T))

    def value(members):
        k, inner = len(members), R[np.ix_(members, members)]
        return R[members, -1].sum() / np.sqrt(inner.sum()) if k else 0.0

    path = MRMRSelector(5, criterion="cfs").fit(X, target)
    chosen: list[int] = []
    for _ in range(5):
        chosen.append(max(set(range(12)) - set(chosen), key=lambda j: value([*chosen, j])))
    assert_array_equal(path.path_.features, chosen)
    assert_allclose(path.path_scores_[-1], value(chosen))
