"""Softmax regression at its optimum, against a general solver of the objective as it is written."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp, softmax
from sklearn.linear_model import LogisticRegression

from sparsieve.scoring.softmax import MAX_SAMPLES, SoftmaxRegression


def log_loss(w, X, y, weights, C):
    """Log loss and ridge, gradient and Hessian; two classes have one column of coefficients."""
    n, m = len(X), y.max() + 1
    Z = np.hstack([np.ones((n, 1)), X])
    columns = np.eye(m)[:, 1:] if m == 2 else np.eye(m)  # classes by columns of coefficients
    W = w.reshape(Z.shape[1], -1)
    F = Z @ W @ columns.T
    P, ridge = softmax(F, axis=1), np.full(W.shape, 1.0 / C)
    ridge[0] = 0.0
    value = weights @ (logsumexp(F, axis=1) - F[np.arange(n), y]) + 0.5 * np.sum(ridge * W**2)
    G = Z.T @ (weights[:, None] * (P - np.eye(m)[y])) @ columns + ridge * W
    bends = np.einsum("ik,kl->ikl", P, np.eye(m)) - np.einsum("ik,il->ikl", P, P)
    bends = np.einsum("i,ka,ikl,lb->iab", weights, columns, bends, columns)
    H = np.einsum("ij,iab,il->jalb", Z, bends, Z).reshape(w.size, w.size)
    return value, G.ravel(), H + np.diag(ridge.ravel())


def reference(X, y, weights, C):
    """Coefficients with intercepts first, by a trust region to the last digits."""
    start = np.zeros((X.shape[1] + 1) * (1 if y.max() == 1 else y.max() + 1))
    found = minimize(
        lambda w: log_loss(w, X, y, weights, C)[0],
        start,
        jac=lambda w: log_loss(w, X, y, weights, C)[1],
        hess=lambda w: log_loss(w, X, y, weights, C)[2],
        method="trust-exact",
        options={"gtol": 1e-12, "maxiter": 200},
    )
    _, slope, H = log_loss(found.x, X, y, weights, C)
    # Values no longer tell where their rounding begins: a step of Newton's method without them.
    w = found.x - np.linalg.lstsq(H, slope, rcond=1e-12)[0]
    return w.reshape(X.shape[1] + 1, -1)


def problem(n, d, m, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % m
    X = rng.normal(size=(n, d))
    X[:, :m] += 2.0 * np.eye(m)[y][:, : min(m, d)]
    return X, y, rng.integers(1, 4, n).astype(float), rng.normal(size=(50, d))


def between(W, new):
    """Points on the lines between new ones, 1e-7 beside where the likeliest class changes."""
    found = []
    for a, b in zip(new[::2], new[1::2], strict=True):
        direction = b - a
        for _ in range(60):
            middle = (a + b) / 2
            side = label(W, middle) == label(W, a)
            a, b = (middle, b) if side else (a, middle)
        found += [a - 1e-7 * direction, a + 1e-7 * direction]
    return np.array(found)


def label(W, x):
    f = W[0] + x @ W[1:]
    return int(f[0] > 0) if len(f) == 1 else int(f.argmax())


@pytest.mark.parametrize(
    ("n", "d", "m"), [(20, 30, 4), (40, 30, 2), (18, 12, 3), (90, 6, 3), (60, 5, 2)]
)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [1.0, 20.0])
def test_the_optimum_is_that_of_a_general_solver(n, d, m, weighted, C):
    X, y, weights, new = problem(n, d, m)
    found = SoftmaxRegression(C).fit(X, y, weights if weighted else None)
    weights = weights if weighted else np.ones(n)
    W = reference(X, y, weights, C)
    own = np.vstack([found.intercept_, found.coef_.T])
    value, slope, _ = log_loss(own.ravel(), X, y, weights, C)
    at_zero = np.abs(log_loss(np.zeros(own.size), X, y, weights, C)[1]).max()
    assert np.abs(slope).max() <= 1e-9 * at_zero
    assert value == pytest.approx(log_loss(W.ravel(), X, y, weights, C)[0], rel=1e-12)
    near = np.vstack([new, between(W, new)])
    np.testing.assert_array_equal(found.predict(near), [label(W, x) for x in near])


def test_labels_weights_of_zero_and_single_precision():
    X, y, weights, new = problem(30, 50, 3)
    names = np.array(["c", "a", "b"])[y]
    weights[::4] = 0.0
    found = SoftmaxRegression().fit(X, names, weights)
    alone = SoftmaxRegression().fit(X[weights > 0], names[weights > 0], weights[weights > 0])
    np.testing.assert_allclose(found.coef_, alone.coef_, atol=1e-12)
    assert set(found.predict(new)) == {"a", "b", "c"}
    small = SoftmaxRegression().fit(X.astype(np.float32), names, weights)
    assert small.coef_.dtype == small.predict_proba(new.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(small.coef_, found.coef_, atol=1e-6)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("d", [1, 40])
def test_equally_likely_classes_give_the_first(m, d):
    """Every sample is there once in every class, so that no class is likelier than another."""
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(7, d)), rng.normal(size=(30, d))
    y = np.repeat(np.arange(m), 7)
    found = SoftmaxRegression().fit(np.tile(X, (m, 1)), y)
    np.testing.assert_allclose(found.predict_proba(new), 1.0 / m, atol=1e-12)
    assert not found.predict(new).any()


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0}])
@pytest.mark.parametrize("m", [2, 4])
@pytest.mark.parametrize("alike", [False, True])
def test_many_samples_end_at_the_optimum_too(m, alike, class_weight):
    """Also where columns are nearly copies; weights of classes are those asked for."""
    X, y, weights, new = problem(MAX_SAMPLES + 150, 6, m)
    if alike:
        X = np.hstack([X, X[:, :3] + 1e-3 * np.random.default_rng(1).normal(size=(len(X), 3))])
        new = np.hstack([new, new[:, :3]])
    found = SoftmaxRegression(2.0, class_weight).fit(X, y, weights)
    shares = np.ones(m)
    if class_weight == "balanced":
        shares = weights.sum() / (m * np.bincount(y, weights))
    elif class_weight is not None:
        shares[0] = 3.0
    W = reference(X, y, weights * shares[y], 2.0)
    F = W[0] + new @ W[1:]
    expected = softmax(np.hstack([np.zeros_like(F), F]) if m == 2 else F, axis=1)
    np.testing.assert_allclose(found.predict_proba(new), expected, atol=2e-5)


def test_what_is_left_to_scikit_learn():
    X, y, _, new = problem(MAX_SAMPLES + 1, 200, 3)
    plain = LogisticRegression(tol=1e-6, max_iter=1000)
    for given in (X, csr_array(X)):
        np.testing.assert_array_equal(
            SoftmaxRegression().fit(given, y).predict_proba(new),
            plain.fit(given, y).predict_proba(new),
        )
    with pytest.raises(ValueError, match="2 classes"):
        SoftmaxRegression().fit(X, np.zeros(len(X)))


def test_columns_far_from_scale_still_end_at_the_optimum():
    X, y, _, _ = problem(30, 60, 3)
    for factor in (1e-6, 1e4):
        found = SoftmaxRegression().fit(factor * X, y)
        own = np.vstack([found.intercept_, found.coef_.T]).ravel()
        slope = log_loss(own, factor * X, y, np.ones(len(X)), 1.0)[1]
        at_zero = np.abs(log_loss(np.zeros(own.size), factor * X, y, np.ones(len(X)), 1.0)[1])
        assert np.abs(slope).max() <= 1e-6 * at_zero.max()
