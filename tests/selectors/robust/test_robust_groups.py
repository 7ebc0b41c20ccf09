"""Groups of features under an l2,1 loss, against convex references and all sets of groups."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import sparsieve
from sparsieve import RFSSelector, RobustL20Selector

LABELS = np.array(list("aabccccddeffg"))
GROUPS = {name: np.flatnonzero(name == LABELS).tolist() for name in "abcdefg"}
OVERLAP = {**GROUPS, "a": [0, 1, 3, 4], "d": [2, 7, 8]}
WEIGHTS = dict(zip("abcdefg", [1.0, 2.0, 1.5, 0.7, 1.0, 3.0, 0.9], strict=True))


def make(seed, n=40, relevant="ce", n_outputs=2, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, len(LABELS)))
    columns = np.isin(LABELS, list(relevant))
    Y = X[:, columns] @ rng.normal(size=(columns.sum(), n_outputs))
    Y += noise * rng.standard_t(2, size=Y.shape)
    return X, np.squeeze(Y)


def convex(X, Y, groups, factors, alpha, sample_weight=None):
    """(objective, coefficients of X) of the convex problem on latent copies."""
    Z, Y = (X - X.mean(axis=0)) / X.std(axis=0), np.reshape(Y, (len(X), -1))
    s = np.ones(len(X)) if sample_weight is None else sample_weight
    parts = {g: cp.Variable((len(columns), Y.shape[1])) for g, columns in groups.items()}
    b = cp.Variable((1, Y.shape[1]))
    R = Y - sum(Z[:, groups[g]] @ parts[g] for g in groups) - np.ones((len(X), 1)) @ b
    goal = s @ cp.norm(R, 2, axis=1)
    goal += alpha * sum(factors[g] * cp.norm(parts[g], "fro") for g in groups)
    found = cp.Problem(cp.Minimize(goal)).solve(
        solver=cp.CLARABEL, tol_gap_rel=1e-10, tol_gap_abs=1e-10, tol_feas=1e-10
    )
    W = np.zeros((X.shape[1], Y.shape[1]))
    for g, columns in groups.items():
        np.add.at(W, columns, parts[g].value)
    return found, (W / X.std(axis=0)[:, None]).T


def kept(selector):
    return set(selector.group_names_[selector.group_support_])


@pytest.mark.parametrize("groups", [GROUPS, OVERLAP], ids=["apart", "overlapping"])
@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("given", [False, True])
def test_rfs_against_a_cone_solver(groups, n_outputs, given):
    X, Y = make(n_outputs, n_outputs=n_outputs)
    fitted = RFSSelector(
        feature_groups=groups, group_weights=WEIGHTS if given else None, tol=1e-8
    ).fit(X, Y)
    factors = WEIGHTS if given else {g: np.sqrt(len(groups[g])) for g in groups}
    value, coef = convex(X, Y, groups, factors, fitted.alpha_)
    assert fitted.objective_ == pytest.approx(value, rel=1e-6)
    assert fitted.optimality_ <= 1e-8
    np.testing.assert_allclose(fitted.coef_, coef, atol=2e-4 * np.abs(coef).max())
    union = {j for g in kept(fitted) for j in groups[g]}
    assert 0 < len(kept(fitted)) < 7
    assert set(np.flatnonzero(fitted.support_)) == union
    assert set(np.flatnonzero(fitted.coef_.any(axis=0))) == union


@pytest.mark.parametrize("selector", [RFSSelector(), RobustL20Selector(4)], ids=["rfs", "l20"])
def test_groups_of_one_are_no_groups(selector):
    X, Y = make(1)
    plain, single = clone(selector).fit(X, Y), clone(selector)
    single.set_params(feature_groups=list("abcdefghijklm")).fit(X, Y)
    for name in ("scores_", "ranking_", "support_", "coef_", "objective_", "optimality_"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(single, name))
    np.testing.assert_array_equal(single.group_support_, single.support_)


def test_a_growing_set_of_groups_gives_the_same(monkeypatch):
    X, Y = make(3, n=60)
    whole = RFSSelector(feature_groups=OVERLAP, tol=1e-8).fit(X, Y)
    for name, value in (("ALL_COLUMNS", 0), ("INITIAL_COLUMNS", 1), ("ADD_COLUMNS", 1)):
        monkeypatch.setattr(f"sparsieve.solvers.robust.group_working_set.{name}", value)
    grown = RFSSelector(feature_groups=OVERLAP, tol=1e-8).fit(X, Y)
    assert grown.optimality_ <= 1e-8
    assert grown.objective_ == pytest.approx(whole.objective_, rel=1e-7)
    assert kept(grown) == kept(whole)


def test_a_path_of_strengths():
    X, Y = make(4)
    path = RFSSelector(feature_groups=OVERLAP, tol=1e-8).path(X, Y, n_alphas=4)
    for place, alpha in enumerate(path.strength[1:], 1):
        factors = {g: np.sqrt(len(columns)) for g, columns in OVERLAP.items()}
        value, _ = convex(X, Y, OVERLAP, factors, alpha)
        assert path.objective[place] == pytest.approx(value, rel=1e-6)
        assert path.optimality[place] <= 1e-8
    assert path.n_features[0] == 0 < path.n_features[-1]


def all_sets(X, Y, groups, factors, alpha, k):
    return {
        some: convex(X, Y, {g: groups[g] for g in some}, factors, alpha)[0]
        for some in combinations(groups, k)
    }


@pytest.mark.parametrize("groups", [GROUPS, OVERLAP], ids=["apart", "overlapping"])
def test_few_groups_against_all_sets(groups):
    X, Y = make(5)
    fitted = RobustL20Selector(2, feature_groups=groups, alpha=2.0, tol=1e-8).fit(X, Y)
    factors = {g: np.sqrt(len(columns)) for g, columns in groups.items()}
    values = all_sets(X, Y, groups, factors, 2.0, 2)
    assert kept(fitted) == set(min(values, key=values.get))
    assert fitted.objective_ == pytest.approx(min(values.values()), rel=1e-6)
    union = {j for g in kept(fitted) for j in groups[g]}
    assert set(np.flatnonzero(fitted.support_)) == union
    one = fitted.at(1)
    alone = all_sets(X, Y, groups, factors, 2.0, 1)
    assert one.objective_ == pytest.approx(alone[tuple(kept(one))], rel=1e-6)


def test_a_price_per_group_and_no_penalty():
    X, Y = make(6)
    values = {}
    for k in range(1, 4):
        values |= all_sets(X, Y, GROUPS, dict.fromkeys(GROUPS, 1.0), 0.0, k)
    best = min(values, key=lambda some: values[some] + 8.0 * len(some))
    fitted = RobustL20Selector(lam=8.0, alpha=0.0, feature_groups=GROUPS, tol=1e-8).fit(X, Y)
    assert kept(fitted) == set(best)
    assert fitted.objective_ == pytest.approx(values[best] + 8.0 * len(best), rel=1e-6)


@pytest.mark.parametrize(
    "selector", [RFSSelector(2, tol=1e-8), RobustL20Selector(2, tol=1e-8)], ids=["rfs", "l20"]
)
def test_saved_weighted_sparse_and_in_another_order(selector, tmp_path):
    X, Y = make(7, n=60)
    selector = clone(selector).set_params(feature_groups=LABELS.tolist())
    fitted = clone(selector).fit(X, Y)
    sparsieve.save(fitted, tmp_path / "groups.sparsieve")
    loaded = sparsieve.load(tmp_path / "groups.sparsieve")
    np.testing.assert_array_equal(loaded.at(1).coef_, fitted.at(1).coef_)
    assert loaded.group_names_.tolist() == fitted.group_names_.tolist()
    order = np.random.default_rng(0).permutation(len(LABELS))
    moved = clone(selector).set_params(feature_groups=LABELS[order].tolist()).fit(X[:, order], Y)
    assert kept(moved) == kept(fitted)
    np.testing.assert_allclose(moved.coef_, fitted.coef_[:, order], atol=1e-4)
    weights = np.random.default_rng(0).integers(1, 4, size=len(Y))
    weighted = clone(selector).set_params(alpha=5.0).fit(X, Y, sample_weight=weights)
    copied = clone(selector).set_params(alpha=5.0)
    copied.fit(X.repeat(weights, 0), Y.repeat(weights, 0))
    assert weighted.objective_ == pytest.approx(copied.objective_, rel=1e-7)
    assert kept(weighted) == kept(copied)
    X[np.abs(X) < 0.5] = 0.0
    dense, thin = (clone(selector).fit(A, Y) for A in (X, sparse.csr_array(X)))
    assert kept(dense) == kept(thin)
    assert dense.objective_ == pytest.approx(thin.objective_, rel=1e-7)
    fixed = clone(selector).set_params(always_keep=[2], never_keep=[9]).fit(X, Y)
    assert "b" in kept(fixed)
    assert "e" not in kept(fixed)


@pytest.mark.parametrize(
    "selector", [RFSSelector(2), RobustL20Selector(2), RobustL20Selector(2, alpha=0.0)]
)
def test_copies_and_columns_without_information(selector):
    X, Y = make(8, n=80, relevant="c")
    X[:, LABELS == "b"] = 3.0
    X[:, 0] = 0.0
    X = np.hstack((X, X[:, LABELS == "c"]))
    labels = [*LABELS, *["copy"] * 4]
    fitted = clone(selector).set_params(feature_groups=labels).fit(X, Y)
    assert np.isfinite(fitted.coef_).all()
    assert sorted(fitted.group_ranking_) == list(range(1, 9))
    assert fitted.group_ranking_[1] == 8
    assert {"c", "copy"} & kept(fitted.at(1))


def test_outliers_do_not_hide_a_group():
    X, y = make(9, n=100, n_outputs=1, relevant="c")
    y[:8] += 100.0
    for selector in (RFSSelector(1), RobustL20Selector(1)):
        assert kept(selector.set_params(feature_groups=LABELS).fit(X, y)) == {"c"}


def test_what_cannot_be_done_is_said():
    X, Y = make(0)
    for selector in (
        RFSSelector(2, solver="published"),
        RobustL20Selector(2, solver="irls"),
        RobustL20Selector(2, solver="nmapg"),
    ):
        with pytest.raises(ValueError, match="cannot keep feature groups together"):
            clone(selector).set_params(feature_groups=LABELS).fit(X, Y)
    with pytest.raises(ValueError, match="group_weights are for feature_groups"):
        RFSSelector(group_weights=[1.0]).fit(X, Y)
