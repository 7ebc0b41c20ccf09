"""What ``certify`` proves, against exhaustive search on problems written out by hand."""

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.selectors.certificates import Certificate
from sparsieve.solvers import ExactSearch


def standardised(X, weights):
    mean = np.average(X, axis=0, weights=weights)
    deviation = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    return (X - mean) / np.where(deviation > 0, deviation, 1.0)


def searched(X, Y, weights=None, clip=None, balance=None, always=()):
    """The problem of the docstrings: rows by sqrt of weights, covariates projected out."""
    X = np.asarray(X, dtype=float)
    weights = np.ones(len(X)) if weights is None else weights
    X = standardised(X, weights)
    if clip is not None:
        X = standardised(np.clip(X, -clip, clip), weights)
    Y = Y - np.average(Y, axis=0, weights=weights)
    root = np.sqrt(weights)[:, None]
    X, Y = root * X, root * Y
    if balance is not None:
        Y = Y / balance
    kept = X[:, list(always)]
    if len(always):
        X = X - kept @ np.linalg.lstsq(kept, X, rcond=None)[0]
        Y = Y - kept @ np.linalg.lstsq(kept, Y, rcond=None)[0]
    return X, Y, weights.sum()


def value(X, Y, support, ridge):
    S = X[:, list(support)]
    if not S.shape[1]:
        return float((Y**2).sum())
    solved = np.linalg.solve(S.T @ S + ridge * np.eye(S.shape[1]), S.T @ Y)
    return float((Y**2).sum() - (S.T @ Y * solved).sum())


def check(certificate, selector, X, Y, ridge, always=()):
    """Bounds below the best of all supports, objectives those of the path."""
    free = [j for j in range(X.shape[1]) if j not in always]
    for i, count in enumerate(certificate.n_features):
        k = int(count) - len(always)
        best = min(value(X, Y, s, ridge) for s in combinations(free, k))
        own = value(X, Y, selector.path_.supports[k], ridge)
        assert certificate.objective[i] == pytest.approx(own, rel=1e-5)
        assert certificate.lower_bound[i] <= best * (1 + 1e-6)
        assert certificate.lower_bound[i] >= 0.8 * best  # weaker for less ridge
        assert 0.0 <= certificate.gap[i] < 0.2
        power = float((Y**2).sum())
        possible = power - certificate.lower_bound[i]
        share = (power - own) / possible if possible > 1e-9 * power else 1.0
        assert certificate.share[i] == pytest.approx(share, rel=1e-4)


@pytest.fixture
def genes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 40)
    X = rng.standard_normal((40, 9)) + 0.8 * rng.standard_normal((3, 9))[y]
    X[3, 2] = 40.0  # something to clip
    return X, y


def one_hot(y):
    return (y[:, None] == np.unique(y)).astype(float)


@pytest.mark.parametrize("kind", ["plain", "weights", "covariates", "float32", "sparse"])
def test_forward_selection(genes, kind):
    X, y = genes
    weights, always, given = None, (), X
    if kind == "weights":
        weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    elif kind == "covariates":
        always = (1, 6)
    elif kind == "float32":
        given = X.astype(np.float32)
    elif kind == "sparse":
        X = np.where(X > 0, X, 0.0)
        given = sparse.csr_array(X)
    selector = RidgeForwardSelector(5, always_keep=list(always) or None, ridge=1.0)
    selector.fit(given, y, sample_weight=weights)
    sizes = np.bincount(y, weights=weights)
    certificate = selector.certify(given, y, sample_weight=weights)
    A, B, total = searched(X, one_hot(y), weights, 3.0, sizes**0.25, always)
    assert certificate.n_features.tolist() == list(range(max(1, len(always)), 6))
    check(certificate, selector, A, B, total, always)
    assert selector.certificate_ is certificate


@pytest.mark.parametrize("clip", ["auto", None])
def test_covariates_that_depend_on_each_other(clip):
    """All levels of a category beside an intercept: they say what all but one would."""
    rng = np.random.default_rng(0)
    level = np.append(np.arange(3), rng.choice(3, 57, p=[0.5, 0.45, 0.05]))
    X = np.column_stack([one_hot(level), rng.standard_normal((60, 6))])
    y = X[:, 3] - X[:, 4] + level + rng.standard_normal(60)
    certificates = [
        RidgeForwardSelector(len(kept) + 3, always_keep=kept, clip=clip, ridge=1.0)
        .fit(X, y)
        .certify(X, y)
        for kept in ([0, 1, 2], [0, 1])
    ]
    for name in ("objective", "lower_bound", "gap", "share"):
        with_all, without_one = (getattr(one, name) for one in certificates)
        np.testing.assert_allclose(with_all, without_one, rtol=1e-6, atol=1e-9)
    assert (certificates[0].share[1:] > 0.5).all()


@pytest.mark.parametrize("outputs", [1, 3])
def test_regression(outputs):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((30, 8))
    Y = X[:, :4] @ rng.standard_normal((4, outputs)) + rng.standard_normal((30, outputs))
    selector = L20Selector(4, ridge=0.5).fit(X, Y if outputs > 1 else Y[:, 0])
    certificate = selector.certify(X, Y if outputs > 1 else Y[:, 0])
    A, B, total = searched(X, Y)
    check(certificate, selector, A, B, 0.5 * total)


def test_without_intercept_and_scaling():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((25, 7)), rng.standard_normal(25)
    selector = L20Selector(3, fit_intercept=False, standardize=False, ridge=1.0).fit(X, y)
    check(selector.certify(X, y), selector, X, y[:, None], 25.0)


def test_the_exact_search_certifies_itself():
    X, y = load_wine(return_X_y=True)
    selector = L20Selector(5, solver=ExactSearch(time_limit=1e9), ridge=1.0).fit(X, y)
    assert selector.converged_
    assert selector.optimality_ <= 1e-9
    assert (selector.certify(X, y).gap <= 1e-9).all()
    A, B, total = searched(X, one_hot(y))
    for k in range(1, 6):
        best = min(combinations(range(13), k), key=lambda s: value(A, B, s, total))
        assert selector.at(k).get_support(indices=True).tolist() == list(best)
    assert "No 5 features explain the training data better" in str(selector.certificate_)


def test_exact_by_price_and_beyond_what_greedy_would_try():
    X, y = load_diabetes(return_X_y=True)
    A, B, total = searched(X, y[:, None])
    for share in (0.001, 0.02):
        lam = share * float((B**2).sum())
        selector = L20Selector(lam=lam, solver="exact", ridge=1.0, task="regression").fit(X, y)
        costs = [
            0.5 * min(value(A, B, s, total) for s in combinations(range(10), k)) + lam * k
            for k in range(11)
        ]
        assert selector.objective_ == pytest.approx(min(costs), rel=1e-8)
        assert selector.support_.sum() == max(int(np.argmin(costs)), 1)


def test_an_exact_search_without_a_ridge_tries_all():
    X, y = load_diabetes(return_X_y=True)
    selector = L20Selector(3, ridge=0, solver="exact", task="regression").fit(X, y)
    A, B, _ = searched(X, y[:, None])
    best = min(combinations(range(10), 3), key=lambda s: value(A, B, s, 1e-12))
    assert selector.get_support(indices=True).tolist() == list(best)
    wide = np.random.default_rng(0).standard_normal((30, 300))
    with pytest.raises(ValueError, match="use a ridge"):
        L20Selector(10, ridge=0, solver="exact").fit(wide, wide[:, 0])


def test_time_is_limited_per_size_and_said(clock):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 150)), rng.standard_normal(60)
    selector = L20Selector(10, ridge=0.1, solver=ExactSearch(time_limit=5))
    with pytest.warns(UserWarning, match="a proven gap of"):
        selector.fit(X, y)
    assert not selector.converged_
    assert 0.0 < selector.optimality_ < 1.0
    assert selector.support_.sum() == 10


def test_an_interrupt_leaves_a_fitted_selector(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 100)), rng.standard_normal(50)

    def interrupting(verbose, owner):
        def show(event):
            if event.n_iter > 3:
                raise KeyboardInterrupt

        return show

    monkeypatch.setattr("sparsieve.selectors.least_squares.l20.printer", interrupting)
    selector = L20Selector(8, ridge=0.1, solver="exact")
    with (
        pytest.warns(UserWarning, match="a proven gap"),
        pytest.raises(KeyboardInterrupt),
    ):
        selector.fit(X, y)
    assert selector.support_.sum() == 8
    assert not selector.converged_


def test_words():
    X, y = load_breast_cancer(return_X_y=True)
    certificate = RidgeForwardSelector(4).fit(X, y).certify(X, y, n_features=[2, 4])
    assert isinstance(certificate, Certificate)
    assert certificate.n_features.tolist() == [2, 4]
    assert "not for accuracy" in str(certificate)
    assert str(certificate).startswith("These 4 features")
    assert certificate.sentence(2).startswith("These 2 features")
    with pytest.raises(ValueError, match="features, not 3; pass that number"):
        certificate.sentence(3)


BAD = {
    "fewer samples": (lambda s, X, y: s.certify(X[:100], y[:100]), "X differs from what|y or"),
    "fewer features": (lambda s, X, y: s.certify(X[:, :5], y), "with 30 features"),
    "other X": (lambda s, X, y: s.certify(X * 1.01, y), "X differs from what"),
    "other y": (lambda s, X, y: s.certify(X, 1 - y), "y or sample_weight differs"),
    "weights": (lambda s, X, y: s.certify(X, y, np.arange(1.0, 1.0 + len(y))), "differs from"),
    "too long": (lambda s, X, y: s.certify(X, y, n_features=9), ">= 9"),
    "no ridge": (
        lambda s, X, y: L20Selector(3, ridge=0).fit(X, y).certify(X, y),
        "without a ridge",
    ),
    "no time": (
        lambda s, X, y: L20Selector(3, solver=ExactSearch(time_limit=0)).fit(X, y),
        "time_limit must be positive",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(case):
    X, y = load_breast_cancer(return_X_y=True)
    selector = RidgeForwardSelector(4).fit(X, y)
    call, message = BAD[case]
    with pytest.raises(ValueError, match=message):
        call(selector, X, y)


def test_pure_noise_and_a_copy_of_the_target():
    rng = np.random.default_rng(0)
    y = rng.standard_normal(50)
    noise = rng.standard_normal((50, 40))
    copied = np.column_stack([noise, y])
    found = RidgeForwardSelector(3).fit(copied, y).certify(copied, y)
    assert found.gap[0] <= 1e-6  # nothing beats the target itself
    certificate = RidgeForwardSelector(3).fit(noise, y).certify(noise, y)
    assert (certificate.share > 0.5).all()
    assert (certificate.share <= 1.0).all()
