"""The l2,0 model on groups of features, against all sets of groups one by one."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import gamma

import sparsieve
from sparsieve import L20Selector
from sparsieve.design import as_design
from sparsieve.solvers import ExactSearch, Greedy
from sparsieve.solvers.engines.group_products import noise_gains

LABELS = np.array(list("aabccccddeffg"))
GROUPS = {name: np.flatnonzero(name == LABELS).tolist() for name in "abcdefg"}
OVERLAP = {**GROUPS, "a": [0, 1, 3, 4], "d": [2, 7, 8]}


def not_nested():
    """The third column is the best one, the first two together are the best two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + X[:, 1]
    X[:, 2] = y + 0.4 * X[:, 2]
    return X, y


NOT_NESTED = not_nested()


def make(seed, n=40, relevant="ce", noise=1.0, n_outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS)))
    columns = np.isin(LABELS, list(relevant))
    Y = X[:, columns] @ rng.normal(size=(columns.sum(), n_outputs))
    return X, np.squeeze(Y + noise * rng.normal(size=Y.shape))


def value(X, Y, columns, ridge):
    """Half of ||Y - XW||^2 + ridge n ||W||^2 at its best, by the normal equations."""
    Z, Y = (X - X.mean(axis=0)) / X.std(axis=0), np.reshape(Y, (len(X), -1))
    Y, Z = Y - Y.mean(axis=0), Z[:, np.unique(columns)]
    H = Z @ np.linalg.pinv(Z.T @ Z + ridge * len(X) * np.eye(Z.shape[1])) @ Z.T
    return 0.5 * float(np.vdot(Y, Y - H @ Y))


def all_sets(X, Y, groups, costs, lam, ridge, sizes):
    """{names: objective} of every set of groups."""
    return {
        some: value(X, Y, np.concatenate([[], *(groups[g] for g in some)]).astype(int), ridge)
        + lam * sum(costs[g] for g in some)
        for k in sizes
        for some in combinations(groups, k)
    }


def noise_costs(X, groups, ridge, n_outputs=1.0):
    """What one group in so many of noise would gain, relative to a column."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)

    def quantile(h):
        freedom = len(X) - 1
        mean = h.sum()
        variance = 2 * ((h**2).sum() - mean**2 / freedom) / (n_outputs + 2 / freedom)
        return gamma.isf(1 / len(groups), mean**2 / variance, scale=variance / mean)

    found = {}
    for name, columns in groups.items():
        s = np.linalg.svd(Z[:, columns], compute_uv=False) ** 2
        found[name] = quantile(s / (s + ridge * len(X))) / quantile(np.array([1 / (1 + ridge)]))
    return found


def kept(selector):
    return tuple(sorted(selector.group_names_[selector.group_support_]))


@pytest.mark.parametrize("groups", [GROUPS, OVERLAP], ids=["apart", "overlapping"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_the_best_groups_of_every_number(seed, groups, solver):
    X, Y = make(seed, n_outputs=1 + seed % 2)
    fitted = L20Selector(5, feature_groups=groups, solver=solver, ridge=1.0).fit(X, Y)
    n_outputs = 1.0
    if Y.ndim > 1:
        S = (Y - Y.mean(axis=0)).T @ (Y - Y.mean(axis=0))
        n_outputs = np.trace(S) ** 2 / np.vdot(S, S)
    costs = noise_costs(X, groups, 1.0, n_outputs)
    for k in range(1, 6):
        values = all_sets(X, Y, groups, costs, fitted.lam_, 1.0, [k])
        best = min(values, key=values.get)
        smaller = fitted.at(k)
        assert kept(smaller) == best
        assert smaller.objective_ == pytest.approx(values[best], rel=1e-9)
        union = np.unique(np.concatenate([groups[g] for g in best]))
        np.testing.assert_array_equal(np.flatnonzero(smaller.support_), union)
        assert set(np.flatnonzero(np.any(np.atleast_2d(smaller.coef_) != 0, axis=0))) == set(union)
        if solver == "exact":
            assert smaller.optimality_ == 0.0


@pytest.mark.parametrize("ridge", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_a_price_for_every_group(ridge, solver):
    X, y = make(4)
    costs = dict(zip("abcdefg", [1.0, 5.0, 2.0, 0.5, 1.0, 8.0, 3.0], strict=True))
    for lam in (0.2, 1.0, 4.0):
        fitted = L20Selector(
            lam=lam, feature_groups=GROUPS, group_costs=costs, ridge=ridge, solver=solver
        ).fit(X, y)
        values = all_sets(X, y, GROUPS, costs, lam, ridge, range(8))
        best = min(values, key=values.get)
        assert kept(fitted) == best
        assert fitted.objective_ == pytest.approx(values[best], rel=1e-9)
        if solver == "exact":
            assert fitted.optimality_ <= 1e-9


@pytest.mark.parametrize("costs", [None, "given"])
@pytest.mark.parametrize("groups", [GROUPS, OVERLAP], ids=["apart", "overlapping"])
def test_branching_on_the_relaxation_of_groups(monkeypatch, groups, costs):
    """Neither trying all sets nor the bound of all columns together."""
    monkeypatch.setattr("sparsieve.solvers.exact.branch_and_bound.MAX_ENUMERATED", 0)
    monkeypatch.setattr("sparsieve.solvers.exact.branch_and_bound.LEAPS_MAX_FEATURES", 0)
    X, y = make(5, n=30, noise=2.0)
    given = noise_costs(X, groups, 1.0)
    if costs is not None:
        given = dict(zip("abcdefg", [1.0, 5.0, 2.0, 0.5, 1.0, 8.0, 3.0], strict=True))
        costs = given
    settings = {"feature_groups": groups, "group_costs": costs, "ridge": 1.0}
    fitted = L20Selector(4, solver=ExactSearch(), **settings).fit(X, y)
    for k in range(1, 5):
        values = all_sets(X, y, groups, given, fitted.lam_, 1.0, [k])
        smaller = fitted.at(k)
        assert kept(smaller) == min(values, key=values.get)
        assert smaller.optimality_ == 0.0
    priced = L20Selector(lam=1.0, solver="exact", **settings).fit(X, y)
    values = all_sets(X, y, groups, given, 1.0, 1.0, range(8))
    assert priced.objective_ == pytest.approx(min(values.values()), rel=1e-9)
    assert priced.optimality_ <= 1e-9


@pytest.mark.parametrize("groups", [GROUPS, OVERLAP], ids=["apart", "overlapping"])
@pytest.mark.parametrize("swaps", [0, 1])
def test_certificates_against_all_sets(groups, swaps):
    X, y = make(6, n=30, noise=2.0)
    settings = {"feature_groups": groups, "ridge": 1.0}
    fitted = L20Selector(4, solver=Greedy(swaps=swaps), **settings).fit(X, y)
    certificate = fitted.certify(X, y)
    costs = noise_costs(X, groups, 1.0)
    for k in range(1, 5):
        values = all_sets(X, y, groups, costs, fitted.lam_, 1.0, [k])
        best = 2.0 * min(values.values())
        assert certificate.lower_bound[k - 1] <= best * (1 + 1e-12)
        assert certificate.lower_bound[k - 1] >= 0.8 * best
        own = 2.0 * values[kept(fitted.at(k))]
        assert certificate.objective[k - 1] == pytest.approx(own, rel=1e-10)
    proven = L20Selector(4, solver="exact", **settings).fit(X, y).certify(X, y)
    assert (proven.gap == 0.0).all()
    assert "No 4 feature groups explain" in proven.sentence()


def test_the_bound_with_prices_is_that_of_the_relaxation():
    """Indicators of groups between 0 and 1 and their prices, solved by cones."""
    import cvxpy as cp

    X, y = make(9, n=30, noise=2.0)
    costs = np.array([1.0, 5.0, 2.0, 0.5, 1.0, 8.0, 3.0])
    fitted = L20Selector(3, feature_groups=LABELS, group_costs=costs, ridge=1.0).fit(X, y)
    certificate = fitted.certify(X, y)
    Z, y0 = (X - X.mean(axis=0)) / X.std(axis=0), y - y.mean()
    for k in (1, 2, 3):
        w, z, t = cp.Variable(len(LABELS)), cp.Variable(7), cp.Variable(7)
        limits = [z >= 0, z <= 1, cp.sum(z) == k]
        limits += [
            cp.quad_over_lin(w[GROUPS[name]], z[g]) <= t[g] for g, name in enumerate("abcdefg")
        ]
        goal = cp.sum_squares(y0 - Z @ w) + len(y) * cp.sum(t) + 2 * fitted.lam_ * (costs @ z)
        found = cp.Problem(cp.Minimize(goal), limits).solve(solver=cp.CLARABEL)
        assert certificate.lower_bound[k - 1] == pytest.approx(found, rel=1e-3)
        assert certificate.lower_bound[k - 1] <= found * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["greedy", "exact"])
@pytest.mark.parametrize("how", [{"n_features_to_select": 4}, {"lam": 0.5}, {}])
def test_groups_of_one_are_no_groups(solver, how):
    X, y = make(1, relevant="bd")
    plain = L20Selector(solver=solver, **how).fit(X, y)
    single = L20Selector(solver=solver, feature_groups=list("abcdefghijklm"), **how).fit(X, y)
    for name in ("scores_", "ranking_", "support_", "coef_", "objective_", "optimality_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(single, name))
    np.testing.assert_array_equal(single.group_support_, single.support_)
    np.testing.assert_array_equal(plain.certify(X, y).gap, single.certify(X, y).gap)


def test_costs_of_single_features():
    X, y = make(2)
    X = X[:, :9]
    costs = np.random.default_rng(0).uniform(0.5, 4.0, size=9)
    fitted = L20Selector(
        lam=0.4, feature_groups=range(9), group_costs=costs, solver="exact", ridge=0.1
    ).fit(X, y)
    groups = {str(j): [j] for j in range(9)}
    values = all_sets(X, y, groups, dict(zip(groups, costs, strict=True)), 0.4, 0.1, range(10))
    best = min(values, key=values.get)
    assert np.flatnonzero(fitted.support_).tolist() == [int(j) for j in best]
    assert fitted.objective_ == pytest.approx(values[best], rel=1e-9)


@pytest.mark.parametrize(("seed", "equal"), [(854, False), (196, True), (524, True)])
def test_sets_larger_than_the_greedy_one_are_searched(seed, equal):
    """The price of a group counts once where it is decided how many groups may be worth it."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.choice([6, 10, 20])), int(rng.choice([3, 4, 5, 6]))
    X = rng.standard_normal((n, d))
    y = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    lam, costs = float(rng.choice([0.03, 0.1, 0.3, 1.0, 3.0])), rng.choice([0.5, 1.0, 3.0, 8.0], d)
    ridge, costs = float(rng.choice([0.01, 0.1, 1.0])), np.ones(d) if equal else costs
    settings = {"feature_groups": range(d), "group_costs": costs, "task": "regression"}
    fitted = L20Selector(lam=lam, solver="exact", ridge=ridge, **settings).fit(X, y)
    groups = {str(j): [j] for j in range(d)}
    values = all_sets(X, y, groups, dict(zip(groups, costs, strict=True)), lam, ridge, range(d + 1))
    best = min(values, key=values.get)
    assert fitted.objective_ == pytest.approx(values[best], rel=1e-9)
    assert kept(fitted) == best
    assert fitted.optimality_ == 0.0


def test_no_column_is_paid_for_twice():
    """A second group with the same columns brings nothing, and shrinks nothing less."""
    groups = {"a": [0], "b": [1], "c": [0], "d": [1], "e": [0, 1]}
    costs = {"a": 0.5, "b": 0.5, "c": 0.4, "d": 0.4, "e": 1.0}
    for seed in (6, 19, 21):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, 2)) + 3.0 * rng.standard_normal((12, 1))
        y = X[:, 0] - X[:, 1] + 0.2 * rng.standard_normal(12)
        lam = 0.07 * float(np.vdot(y - y.mean(), y - y.mean()))
        settings = {"feature_groups": groups, "group_costs": costs, "ridge": 0.1}
        fitted = L20Selector(lam=lam, solver="exact", **settings).fit(X, y)
        values = all_sets(X, y, groups, costs, lam, 0.1, range(6))
        best = min(values, key=values.get)
        assert len(best) <= 2
        assert kept(fitted) == best
        assert fitted.objective_ == pytest.approx(values[best], rel=1e-9)
        assert fitted.optimality_ <= 1e-9


def test_certificates_of_sets_that_are_not_nested():
    """What is certified for a number is the set of that number, also where groups are single."""
    X, y = NOT_NESTED
    plain = L20Selector(2, solver="exact", ridge=0.01).fit(X, y)
    single = L20Selector(2, solver="exact", ridge=0.01, feature_groups=range(3)).fit(X, y)
    assert not set(plain.path_.supports[1]) <= set(plain.path_.supports[2])
    certificates = [one.certify(X, y) for one in (plain, single)]
    values = [2.0 * value(X, y, [j], 0.01) for j in range(3)]
    for certificate in certificates:
        assert certificate.objective[0] == pytest.approx(min(values), rel=1e-9)
        assert certificate.lower_bound[0] <= min(values) * (1 + 1e-12)


def test_copies_of_covariates_explain_no_more():
    """Without an intercept, beside large means, rounding leaves more of a copy than elsewhere."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((9, 4)) * [1e-3, 1e-3, 100.0, 1.0] + [3.0, -1.0, 0.0, 0.0]
    X[:, 3] = X[:, 0]
    y = 4000.0 + rng.standard_normal(9)
    settings = {"fit_intercept": False, "ridge": 0, "always_keep": [0], "task": "regression"}
    fitted = L20Selector(2, feature_groups=[0, 1, 1, 1], group_costs=[1.0, 1e-12], **settings)
    fitted.set_params(solver="exact").fit(X, y)
    rest = y - X[:, :3] @ np.linalg.lstsq(X[:, :3], y, rcond=None)[0]
    assert fitted.objective_ == pytest.approx(0.5 * rest @ rest, rel=1e-6)
    assert np.abs(fitted.coef_).max() < 1e5


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_groups_of_which_covariates_explain_a_column(form):
    """What is left of a copy of a covariate is rounding, and no reason to leave its group out."""
    groups = {"kept": [0], "good": [1, 2], "copy": [2], "other": [3]}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 4)) + rng.standard_normal((30, 1))
        X[:, 2] = -X[:, 0]
        y = X[:, 1] + 0.3 * rng.standard_normal(30)
        fitted = L20Selector(2, feature_groups=groups, always_keep=[0], solver="exact", ridge=0)
        fitted.fit(form(X), y)
        assert kept(fitted) == ("good", "kept")
        A = np.column_stack([np.ones(30), X[:, :2]])
        rest = y - A @ np.linalg.lstsq(A, y, rcond=None)[0]
        assert 2.0 * fitted.path_.objective[1] == pytest.approx(rest @ rest, rel=1e-9)
        assert fitted.optimality_ == 0.0


def test_covariates_may_leave_no_freedom():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((4, 6)), rng.standard_normal(4)
    fitted = L20Selector(4, feature_groups=[0, 1, 2, 3, 3, 4], always_keep=[0, 1, 2]).fit(X, y)
    assert np.isfinite(fitted.coef_).all()


def test_equal_costs_are_the_problem_without_prices():
    X, y = make(3, noise=3.0)
    settings = {"group_costs": np.ones(7), "solver": "exact", "ridge": 1.0}
    fitted = L20Selector(2, feature_groups=GROUPS, **settings)
    values = all_sets(X, y, GROUPS, dict.fromkeys(GROUPS, 0.0), 0.0, 1.0, [2])
    assert kept(fitted.fit(X, y)) == min(values, key=values.get)


def test_order_of_columns_and_groups_does_not_matter():
    X, y = make(7, relevant="cf")
    order = np.random.default_rng(1).permutation(len(LABELS))
    fitted = L20Selector(3, feature_groups=LABELS).fit(X, y)
    moved = L20Selector(3, feature_groups=LABELS[order]).fit(X[:, order], y)
    assert set(kept(fitted)) == set(kept(moved))
    np.testing.assert_allclose(moved.coef_, fitted.coef_[:, order], atol=1e-10)
    assert moved.objective_ == pytest.approx(fitted.objective_)
    by_name = dict(zip(moved.group_names_, moved.group_scores_, strict=True))
    np.testing.assert_allclose(
        fitted.group_scores_, [by_name[name] for name in fitted.group_names_], atol=1e-10
    )


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_copies_and_columns_without_information(ridge):
    X, y = make(8, n=100, relevant="c")
    X[:, LABELS == "b"] = 3.0
    X[:, 0] = 0.0
    X = np.hstack((X, X[:, LABELS == "c"]))
    labels = [*LABELS, *["copy"] * 4]
    fitted = L20Selector(3, feature_groups=labels, ridge=ridge).fit(X, y)
    assert np.isfinite(fitted.coef_).all()
    assert sorted(fitted.group_ranking_) == list(range(1, 9))
    assert fitted.group_ranking_[1] == 8
    chosen = {"c", "copy"} & set(kept(fitted.at(1)))
    assert len(chosen) == 1
    if ridge == 0.0:
        assert len({"c", "copy"} & set(kept(fitted))) == 1


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_prices_are_what_one_in_so_many_groups_of_noise_gains(ridge):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 40))
    X -= X.mean(axis=0)
    groups = [np.arange(1), np.arange(1, 4), np.arange(4, 14), np.arange(14, 40), np.arange(0)]
    Y = rng.normal(size=(60, 20_000))
    Y -= Y.mean(axis=0)
    noise = np.einsum("ij,ij->j", Y, Y) / 59
    limits, _ = noise_gains(as_design(X), groups, 60 * ridge, Y[:, :1], usual=60, freedom=59)
    for columns, limit in zip(groups[:-1], limits[:-1], strict=True):
        A = X[:, columns]
        H = A @ np.linalg.solve(A.T @ A + 60 * ridge * np.eye(A.shape[1]), A.T)
        gains = np.einsum("ij,ij->j", Y, H @ Y) / noise
        assert np.mean(gains > limit) == pytest.approx(1 / 4, abs=0.04)


def test_large_groups_of_noise_win_no_more_often():
    sizes = np.array([1, 2, 5, 10, 20, 50])
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng, winners = np.random.default_rng(0), []
    for _ in range(40):
        X, y = rng.normal(size=(120, len(labels))), rng.normal(size=120)
        fitted = L20Selector(1, feature_groups=labels).fit(X, y)
        winners.append(int(np.argmin(fitted.group_ranking_)))
    share = np.bincount(winners, minlength=len(sizes)) / 40
    assert share.max() < 0.4
    assert (share > 0.02).all()


def test_one_good_column_and_one_good_group_among_noise():
    rng = np.random.default_rng(5)
    labels = np.array(["good", *["large"] * 20, *np.repeat(np.arange(10), 20).astype(str)])
    hits = 0
    for _ in range(10):
        X = rng.normal(size=(200, len(labels)))
        y = 0.7 * X[:, 0] + 0.3 * X[:, 1:21].sum(axis=1) + rng.normal(size=200)
        hits += set(kept(L20Selector(2, feature_groups=labels).fit(X, y))) == {"good", "large"}
    assert hits >= 9


@pytest.mark.parametrize("solver", ["greedy", "exact"])
def test_saved_fixed_weighted_and_sparse(tmp_path, solver):
    X, y = make(10, n=60, relevant="cf")
    settings = {"feature_groups": OVERLAP, "solver": solver}
    fitted = L20Selector(4, always_keep=[9], never_keep=[12], **settings).fit(X, y)
    assert {"e"} <= set(kept(fitted))
    assert "g" not in kept(fitted)
    sparsieve.save(fitted, tmp_path / "groups.sparsieve")
    loaded = sparsieve.load(tmp_path / "groups.sparsieve")
    for k in (2, 4):
        np.testing.assert_array_equal(loaded.at(k).coef_, fitted.at(k).coef_)
        assert kept(loaded.at(k)) == kept(fitted.at(k))
    np.testing.assert_array_equal(loaded.certify(X, y).gap, fitted.certify(X, y).gap)
    weights = np.random.default_rng(0).integers(1, 4, size=len(y))
    weighted = L20Selector(3, **settings).fit(X, y, sample_weight=weights)
    copied = L20Selector(3, **settings).fit(X.repeat(weights, 0), y.repeat(weights))
    assert kept(weighted) == kept(copied)
    np.testing.assert_allclose(weighted.coef_, copied.coef_, atol=1e-9)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = (L20Selector(3, **settings).fit(A, y) for A in (X, sparse.csr_array(X)))
    assert kept(dense) == kept(thin)
    np.testing.assert_allclose(dense.coef_, thin.coef_, atol=1e-10)
    assert dense.objective_ == pytest.approx(thin.objective_)


def test_what_cannot_be_done_is_said():
    X, y = make(0)
    with pytest.raises(ValueError, match="cannot keep feature groups together"):
        L20Selector(2, feature_groups=LABELS, solver="hiht").fit(X, y)
    with pytest.raises(ValueError, match="group_costs needs feature_groups"):
        L20Selector(2, group_costs=[1.0]).fit(X, y)
    with pytest.raises(ValueError, match="group_costs has no value for 'g'"):
        L20Selector(2, feature_groups=LABELS, group_costs=dict.fromkeys("abcdef", 1.0)).fit(X, y)
    with pytest.warns(UserWarning, match="too large for any feature"):
        empty = L20Selector(lam=1e6, feature_groups=LABELS).fit(X, y)
    assert not empty.coef_.any()
    assert empty.group_support_.sum() == 1
