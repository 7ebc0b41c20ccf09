"""LikelihoodForwardSelector with groups, against every set of groups by a general minimiser."""

from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import minimize

from sparsieve import LikelihoodForwardSelector, load, save

# In the order of their first columns; column 4 is in two of them.
GROUPS = {"a": [0, 1], "b": [2, 3, 4], "d": [4, 6, 7], "c": [5]}
KINDS = ["logistic", "poisson", "cox"]


def data(kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 8))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    f = 0.8 * X[:, 0] - 0.5 * X[:, 1] + 0.6 * X[:, 6]
    if kind == "logistic":
        return X, (f + rng.logistic(size=60) > 0).astype(int)
    if kind == "poisson":
        return X, rng.poisson(np.exp(0.6 * f))
    y = np.empty(60, dtype=[("event", "?"), ("time", "f8")])
    y["time"], y["event"] = rng.exponential(np.exp(-f)), rng.random(60) < 0.8
    return X, y


def loss(kind, y, f):
    """The negative log-likelihood, without terms that no model changes."""
    if kind == "logistic":
        return float((np.logaddexp(0.0, f) - y * f).sum())
    if kind == "poisson":
        return float((np.exp(f) - y * f).sum())
    at_risk = [np.logaddexp.reduce(f[y["time"] >= t]) for t in y["time"][y["event"]]]
    return float((at_risk - f[y["event"]]).sum())


def every_set(kind, X, y, ridge, groups=GROUPS):
    """The least objective of every set of groups; a column in two of them counts once."""
    curvature = {
        "logistic": lambda: 60 * y.mean() * (1 - y.mean()),
        "poisson": lambda: y.sum(),
        "cox": lambda: y["event"].sum(),
    }[kind]()
    values, intercept = {}, kind != "cox"
    for size in range(3):
        for some in combinations(range(4), size):
            A = X[:, sorted({j for g in some for j in list(groups.values())[g]})]

            def objective(w, A=A):
                f = A @ w[1:] + intercept * w[0]
                return loss(kind, y, f) + 0.5 * ridge * curvature * w[1:] @ w[1:]

            found = minimize(objective, np.zeros(1 + A.shape[1]), options={"gtol": 1e-7})
            values[some] = found.fun
    return values


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_groups_and_bounds_below_all(kind, seed):
    X, y = data(kind, seed)
    task = {"task": "counts"} if kind == "poisson" else {}
    selector = LikelihoodForwardSelector(2, feature_groups=GROUPS, ridge=1.0, **task).fit(X, y)
    values = every_set(kind, X, y, 1.0)
    least = {k: min(v for some, v in values.items() if len(some) == k) for k in range(3)}
    certificate = selector.certify(X, y)
    perfect = certificate.objective[-1] - selector.path_.objective[-1]
    for k in (1, 2):
        chosen = selector.at(k).group_support_
        some = tuple(np.flatnonzero(chosen).tolist())
        assert selector.path_.objective[k] == pytest.approx(values[some], rel=1e-6)
        own = np.unique(np.concatenate([list(GROUPS.values())[g] for g in some]))
        assert sorted(selector.path_.supports[k].tolist()) == own.tolist()
        assert set(selector.at(k).coef_.nonzero()[1]) == set(own.tolist())
        assert certificate.lower_bound[k - 1] <= least[k] + perfect + 1e-6
    # What is compared are objectives with the price of noise of the same size.
    gain = {some: values[()] - value for some, value in values.items()}
    assert gain[tuple(np.flatnonzero(selector.group_support_))] >= 0.6 * max(gain.values())


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_one_size_are_the_best_ones(kind):
    """Where all prices are about the same, the best set is that of the least objective."""
    X, y = data(kind, 2)
    task = {"task": "counts"} if kind == "poisson" else {}
    groups = {"a": [0, 1], "b": [2, 3], "c": [4, 5], "d": [6, 7]}
    found = LikelihoodForwardSelector(2, feature_groups=groups, ridge=1.0, **task).fit(X, y)
    values = every_set(kind, X, y, 1.0, groups)
    best = min((v, some) for some, v in values.items() if len(some) == 2)
    assert np.flatnonzero(found.group_support_).tolist() == list(best[1])
    assert found.objective_ == pytest.approx(best[0], rel=1e-6)
    single = LikelihoodForwardSelector(2, feature_groups=np.arange(8), **task).fit(X, y)
    plain = LikelihoodForwardSelector(2, **task).fit(X, y)
    np.testing.assert_array_equal(single.support_, plain.support_)
    np.testing.assert_array_equal(single.coef_, plain.coef_)


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_objectives_of_groups_that_overlap_are_those_of_the_coefficients(kind, n):
    """The documented one, also with more columns than samples."""
    X, y = data(kind, 5)
    rng = np.random.default_rng(5)
    X, y = np.hstack([X, rng.standard_normal((60, 30))])[:n], y[:n]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = {"a": range(26), "b": [0, 1, *range(24, 38)], "c": [2, 6, 30]}
    task = {"task": "counts"} if kind == "poisson" else {}
    path = LikelihoodForwardSelector(3, feature_groups=groups, ridge=1.0, **task).fit(X, y)
    certificate = path.certify(X, y)
    assert (certificate.lower_bound <= certificate.objective).all()
    curvature = {
        "logistic": lambda: n * np.mean(y) * (1 - np.mean(y)),
        "poisson": lambda: y.sum(),
        "cox": lambda: y["event"].sum(),
    }[kind]()
    for fitted in (path.at(1), path.at(2)):
        w = fitted.coef_[0]
        value = loss(kind, y, X @ w + fitted.intercept_[0]) + 0.5 * curvature * w @ w
        assert fitted.objective_ == pytest.approx(value, rel=1e-6)


def test_noise_does_not_win_by_its_size():
    X, y = data("logistic", 3)
    noise = np.random.default_rng(0).standard_normal((60, 20))
    wide = np.hstack([X, noise])
    groups = {"signal": [0], "noise": list(range(8, 28))}
    selector = LikelihoodForwardSelector(1, feature_groups=groups).fit(wide, y)
    assert selector.group_names_[selector.group_support_].tolist() == ["signal"]
    stopped = LikelihoodForwardSelector(feature_groups=groups).fit(wide, y)
    assert "noise" not in stopped.group_names_[stopped.group_support_]


def test_covariates_prediction_and_files(tmp_path):
    X, y = data("cox", 4)
    selector = LikelihoodForwardSelector(
        2, feature_groups=GROUPS, always_keep=[5], never_keep=[0, 1]
    ).fit(X, y)
    assert {5} <= set(selector.get_support(indices=True))
    assert not selector.support_[:2].any()
    save(selector, tmp_path / "selector")
    again = load(tmp_path / "selector")
    np.testing.assert_array_equal(
        again.predict_survival(X, [0.5]), selector.predict_survival(X, [0.5])
    )
    np.testing.assert_array_equal(again.at(1).support_, selector.at(1).support_)
    assert "noise of the same size" in selector.score_meaning
