"""No support goes below a certified bound, whatever the data: weights, copies, precision, rank."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.design import standardise as convert


def searched(X, y, weights):
    """Weighted, centred and scaled to unit variance; one output, as L20Selector sees it."""
    share = weights / weights.sum()
    X = X - share @ X
    deviation = np.sqrt(share @ X**2)
    X = X / np.where(deviation > 1e-12, deviation, 1.0)
    root = np.sqrt(weights)[:, None]
    return root * X, root * (y - share @ y)[:, None]


def best_values(X, Y, ridge, most):
    """The least objective of every number of features from 1, all supports tried."""
    gram, cross, power = X.T @ X, X.T @ Y, float((Y**2).sum())

    def value(support):
        index = list(support)
        system = gram[np.ix_(index, index)] + ridge * np.eye(len(index))
        return power - float((cross[index] * np.linalg.solve(system, cross[index])).sum())

    supports = (combinations(range(X.shape[1]), k) for k in range(1, most + 1))
    return np.array([min(map(value, of_size)) for of_size in supports])


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(4, 20)), draw(st.integers(3, 7))
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d))
    X += draw(st.sampled_from([0.0, 10.0]))
    if draw(st.booleans()):  # copies: more features than the rank
        X[:, -1] = X[:, 0]
        X[:, -2] = -2.0 * X[:, 0]
    y = X[:, 0] - X[:, 1] + rng.standard_normal(n)
    spread = draw(st.sampled_from([0.0, 1.0, 3.0]))
    weights = 10.0 ** rng.uniform(-spread, spread, n)
    return X, y, weights


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@settings(max_examples=60, deadline=None)
@given(
    problems(),
    st.sampled_from([1e-3, 0.1, 1.0, 10.0]),
    st.sampled_from(["dense", "float32", "sparse", "lazy", "lazy float32"]),
)
def test_the_bound_is_below_every_support(problem, ridge, kind):
    X, y, weights = problem
    if "float32" in kind:
        X = X.astype(np.float32).astype(float)
    given_X = X.astype(np.float32) if "float32" in kind else X
    given_X = sparse.csr_array(given_X) if kind == "sparse" else given_X
    d = X.shape[1]
    with pytest.MonkeyPatch.context() as patched:
        if "lazy" in kind:  # as large data are: scaled column by column, never copied
            patched.setattr(convert, "MAX_COPY_BYTES", 1)
        selector = L20Selector(d, ridge=ridge, task="regression")
        selector.fit(given_X, y, sample_weight=weights)
        certificate = selector.certify(given_X, y, sample_weight=weights)
    A, B = searched(X, y, weights)
    best = best_values(A, B, ridge * weights.sum(), len(certificate.n_features))
    # What single precision does to the standardised columns themselves.
    slack = 1e-4 if "float32" in kind else 1e-7
    power = float((B**2).sum())
    assert (certificate.lower_bound <= best * (1 + slack) + 1e-9 * power).all()
    assert (certificate.objective >= best * (1 - slack) - 1e-9 * power).all()
    assert (certificate.lower_bound <= certificate.objective).all()
    assert certificate.target_power == pytest.approx(power, rel=slack)


def test_a_certificate_counts_columns_kept_by_request():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal(30)
    certificate = RidgeForwardSelector(4, always_keep=[2, 5]).fit(X, y).certify(X, y)
    assert certificate.n_features.tolist() == [2, 3, 4]
    assert certificate.n_always == 2
    assert certificate.gap[0] == 0.0
    assert certificate.share[0] == 1.0
    assert certificate.sentence(2).startswith("All 2 features are in always_keep")
    assert "only sets with the 2 features of always_keep" in str(certificate)


def test_one_feature_is_spoken_of_as_one():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((30, 6)), rng.standard_normal(30)
    certificate = RidgeForwardSelector(2).fit(X, y).certify(X, y)
    assert certificate.sentence(1).startswith(("This feature explains", "No feature explains"))
