"""Groups that share columns, against the documented objective on the union of their columns."""

from itertools import combinations

import numpy as np
import pytest

from sparsieve import L20Selector, RidgeForwardSelector

PLAIN = {"clip": None, "class_balance": 0.0, "max_correlation": None}


def fitted_on(X, y, columns, ridge):
    """1/2 ||XW - Y||^2 + ridge n / 2 ||W||^2 at its best, on columns of unit variance."""
    Z = ((X - X.mean(axis=0)) / X.std(axis=0))[:, sorted(columns)]
    y, strength = y - y.mean(), ridge * len(X)
    left = y - Z @ (Z.T @ np.linalg.solve(Z @ Z.T + strength * np.eye(len(y)), y))
    return 0.5 * float(left @ y)  # as Y'R is at the best W


def formula(X, y, fitted, ridge):
    """The same at the coefficients of a selector."""
    W, left = fitted.coef_.ravel() * X.std(axis=0), y - X @ fitted.coef_.ravel()
    left = left - fitted.intercept_[0]
    return 0.5 * float(left @ left) + 0.5 * ridge * len(X) * float(W @ W)


def drawn(seed):
    """Data of a few columns, and groups by name that share some of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 5))
    y = X @ rng.standard_normal(5) + 0.5 * rng.standard_normal(30)
    lists = [sorted(rng.choice(5, int(rng.integers(2, 4)), replace=False)) for _ in range(4)]
    groups = {f"g{i}": [int(j) for j in some] for i, some in enumerate(lists)}
    alone = set(range(5)) - set().union(*groups.values())
    costs = rng.choice([0.5, 1.0, 3.0], len(groups) + len(alone))
    return X, y, groups, groups | {f"x{j}": [j] for j in alone}, costs


@pytest.mark.parametrize("ridge", [0.1, 1.0])
@pytest.mark.parametrize("equal", [False, True])
@pytest.mark.parametrize("by_price", [False, True])
def test_exact_search_against_all_sets(ridge, equal, by_price):
    for seed in range(8):
        X, y, groups, every, costs = drawn(seed)
        prices = dict(zip(every, np.ones_like(costs) if equal else costs, strict=True))
        how = {"lam": 1.5} if by_price else {"n_features_to_select": 2}
        fitted = L20Selector(
            **how, solver="exact", ridge=ridge, feature_groups=groups, group_costs=prices
        ).fit(X, y)
        totals = {
            some: fitted_on(X, y, set().union(*(every[g] for g in some)), ridge)
            + fitted.lam_ * sum(prices[g] for g in some)
            for size in (range(5) if by_price else [2])
            for some in combinations(every, size)
        }
        assert fitted.optimality_ <= 1e-9  # some groups have the same columns together
        assert fitted.objective_ == pytest.approx(min(totals.values()), rel=1e-9)
        paid = fitted.lam_ * sum(prices[g] for g in fitted.group_names_[fitted.group_support_])
        assert fitted.objective_ - paid == pytest.approx(formula(X, y, fitted, ridge), rel=1e-9)


@pytest.mark.parametrize(("n", "ridge"), [(12, 0.01), (12, 1.0), (40, 0.01), (40, 1.0)])
def test_objectives_are_those_of_the_coefficients(n, ridge):
    """Also of groups with more columns than samples."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 60))
        groups = {
            f"g{i}": rng.choice(60, int(rng.integers(2, 25)), replace=False).tolist()
            for i in range(7)
        }
        y = X[:, groups["g0"] + groups["g1"]].sum(axis=1) + 0.5 * rng.standard_normal(n)
        settings = {"feature_groups": groups, "ridge": ridge}
        for path in (
            RidgeForwardSelector(3, **settings, **PLAIN).fit(X, y),
            L20Selector(3, **settings).fit(X, y),
        ):
            for fitted in (path.at(1), path.at(2), path):
                best = fitted_on(X, y, np.flatnonzero(fitted.support_), ridge)
                assert formula(X, y, fitted, ridge) == pytest.approx(best, rel=1e-8)
                found = fitted.objective_
                if isinstance(fitted, L20Selector):
                    found -= float(fitted._penalties()[int(fitted.group_support_.sum())])
                else:
                    found *= 0.5  # documented without the half
                assert found == pytest.approx(best, rel=1e-8)


def test_a_group_inside_others_is_passed_over():
    """It has nothing to add, and others come next."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 6))
    y = X[:, :3].sum(axis=1) + 0.1 * rng.standard_normal(50)
    groups = {"ab": [0, 1, 2], "a": [0, 1]}
    found = RidgeForwardSelector(3, feature_groups=groups, **PLAIN).fit(X, y)
    names = np.asarray(found.group_names_)[found.group_support_].tolist()
    assert "ab" in names
    assert "a" not in names
    assert len(names) == 3
    assert found.support_.sum() == 5
