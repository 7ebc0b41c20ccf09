"""Likelihoods with X on a device: the choice of the host, in float32 and float64.

Where there is no CUDA device, torch's CPU build stands in for one.
"""

import numpy as np
import pytest
from sklearn.base import clone

torch = pytest.importorskip("torch")

from sparsieve import LikelihoodForwardSelector, LikelihoodL21Selector, SelectorCV  # noqa: E402
from sparsieve.scale.gpu import tensor as tensors  # noqa: E402
from sparsieve.scale.gpu.base import ScaledTensor  # noqa: E402
from sparsieve.scale.gpu.tensor import TensorDesign  # noqa: E402
from sparsieve.solvers.searches import likelihood_neighbours  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LOSSES = ("logistic", "multinomial", "poisson", "negative-binomial", "cox", "huber")


@pytest.fixture(autouse=True)
def device_path(monkeypatch):
    """Also a tensor in the memory of the host counts as one on a device, and is not copied."""
    monkeypatch.setattr(tensors.TensorDesign, "in_memory", lambda self: None)
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 0)


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 60))


def target(X, loss, rng):
    f = X[:, 3] - X[:, 8] + 0.7 * X[:, 20]
    if loss == "cox":
        times = rng.exponential(np.exp(-f)).round(1) + 0.1
        rows = [(t < 1.5, min(t, 1.5)) for t in times]
        return np.array(rows, dtype=[("event", "?"), ("time", "f8")])
    return {
        "logistic": (f + rng.logistic(size=len(X)) > 0).astype(int),
        "multinomial": np.digitize(f + 0.5 * X[:, 40], [-1, 1]),
        "poisson": rng.poisson(np.exp(0.4 * f)),
        "negative-binomial": rng.poisson(np.exp(0.4 * f)),
        "huber": f,
    }[loss]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kind", [LikelihoodForwardSelector, LikelihoodL21Selector])
def test_the_same_choice(kind, loss, X, rng):
    y = target(X, loss, rng)
    for dtype, rtol in ((np.float64, 1e-6), (np.float32, 1e-4)):
        selector, given = kind(4, loss=loss), X.astype(dtype)
        here = clone(selector).fit(given, y)
        there = clone(selector).fit(torch.from_numpy(given).to(DEVICE), y)
        np.testing.assert_array_equal(there.support_, here.support_)
        np.testing.assert_array_equal(there.ranking_[there.support_], here.ranking_[here.support_])
        np.testing.assert_allclose(there.scores_, here.scores_, rtol=rtol, atol=rtol)
        assert there.objective_ == pytest.approx(here.objective_, rel=rtol)
        assert there.coef_.dtype == dtype
        assert all(not torch.is_tensor(value) for value in vars(there).values())


@pytest.mark.parametrize(
    "given", [{"always_keep": [5]}, {"feature_groups": [i // 2 for i in range(60)]}]
)
@pytest.mark.parametrize("kind", [LikelihoodForwardSelector, LikelihoodL21Selector])
def test_covariates_and_groups(kind, given, X, rng):
    y = target(X, "logistic", rng)
    here = kind(3, **given).fit(X, y)
    there = kind(3, **given).fit(torch.from_numpy(X).to(DEVICE), y)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-6, atol=1e-9)


def test_cox_with_many_samples(X, rng, monkeypatch):
    y, there = target(X, "cox", rng), torch.from_numpy(X).to(DEVICE)
    found = LikelihoodForwardSelector(3).fit(there, y)
    monkeypatch.setattr(likelihood_neighbours, "MAX_HESSIAN", 1)
    fetched = LikelihoodForwardSelector(3).fit(there, y)
    np.testing.assert_allclose(fetched.scores_, found.scores_, rtol=1e-8, atol=1e-12)


def test_the_host_reads_few_numbers_in_a_step(X, rng, monkeypatch):
    """Products with X stay beside it: the host asks for columns of the working set alone."""

    def refused(self, *args):
        raise AssertionError("an array with an entry per feature was fetched")

    for kind in (TensorDesign, ScaledTensor):
        for name in ("rmatmul", "column_moments", "column_sq_norms"):
            monkeypatch.setattr(kind, name, refused)
    y = target(X, "logistic", rng)
    for kind in (LikelihoodForwardSelector, LikelihoodL21Selector):
        assert kind(3).fit(torch.from_numpy(X).to(DEVICE), y).support_.sum() == 3


def test_what_comes_after_a_fit(X, rng):
    y, there = target(X, "logistic", rng), torch.from_numpy(X).to(DEVICE)
    fitted = LikelihoodForwardSelector(3, ridge=1.0).fit(there, y)
    here = LikelihoodForwardSelector(3, ridge=1.0).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(there), here.predict_proba(X), rtol=1e-6)
    found, expected = fitted.certify(there, y), here.certify(X, y)
    np.testing.assert_allclose(found.lower_bound, expected.lower_bound, rtol=1e-6)
    path = LikelihoodL21Selector().path(there, y, n_alphas=3)
    np.testing.assert_array_equal(
        path.n_features, LikelihoodL21Selector().path(X, y, n_alphas=3).n_features
    )


def test_folds(X, rng):
    y = target(X, "cox", rng)
    search = SelectorCV(LikelihoodL21Selector(), ks=[1, 3], cv=2, n_repeats=1)
    here, there = clone(search).fit(X, y), search.fit(torch.from_numpy(X).to(DEVICE), y)
    assert there.best_k_ == here.best_k_
    np.testing.assert_array_equal(there.support_, here.support_)


def bad_inputs(X, rng):
    y = target(X, "logistic", rng)
    missing, endless = X.copy(), X.copy()
    missing[3, 4] = np.nan
    endless[3, 4], endless[5, 6] = np.nan, np.inf
    none = target(X, "cox", rng)
    none["event"] = False
    yield {}, missing, y
    yield {}, endless, y
    yield {"task": "counts"}, X, y - 1
    yield {}, X, X[:, 0]
    yield {}, X, none
    yield {}, X, np.zeros(len(X), dtype=int)


@pytest.mark.parametrize("kind", [LikelihoodForwardSelector, LikelihoodL21Selector])
def test_bad_input_gets_the_words_of_the_host(kind, X, rng):
    for params, given, y in bad_inputs(X, rng):
        said = []
        for matrix in (given, torch.from_numpy(given).to(DEVICE)):
            with pytest.raises(ValueError) as caught:
                kind(**params).fit(matrix, y)
            said.append(str(caught.value))
        assert said[0] == said[1]
