"""Products with single columns, read along with others that may be asked for."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sparsieve import L20Selector, MRMRSelector  # noqa: E402
from sparsieve.scale.gpu import tensor as tensors  # noqa: E402
from sparsieve.scale.gpu._torch_passes import KEPT_BLOCKS, ColumnProducts  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@pytest.fixture
def blocks(monkeypatch):
    """X counts as one on a device, and as a large one: products are taken with five columns."""
    monkeypatch.setattr(tensors.TensorDesign, "in_memory", lambda self: None)
    made = tensors.TensorDesign.__init__

    def large(self, *given, **options):
        made(self, *given, **options)
        self.columns_at_once = 5

    monkeypatch.setattr(tensors.TensorDesign, "__init__", large)
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 0)


@pytest.mark.parametrize("at_once", [1, 4, 40])
def test_products_are_those_of_one_column(rng, at_once):
    X = rng.standard_normal((30, 40))
    design = tensors.TensorDesign(torch.from_numpy(X).to(DEVICE))
    design.columns_at_once = at_once
    products = ColumnProducts(design)
    promise = torch.from_numpy(rng.random(40)).to(DEVICE)
    promise[:3] = torch.nan  # what is no number must not keep out what is asked for
    for j in (5, 3, 39, 5, *range(40), 0):
        found = products.feature_products(j, promise).cpu().numpy()
        np.testing.assert_allclose(found, X.T @ X[:, j], rtol=1e-12, atol=1e-12)
        assert len(products._held) <= KEPT_BLOCKS * at_once
    assert products.n_reads == 1 if at_once == 40 else products.n_reads > 1


@pytest.mark.parametrize(
    "selector",
    [MRMRSelector(12), MRMRSelector(12, criterion="fcd"), L20Selector(12, solver="greedy")],
    ids=lambda selector: type(selector).__name__,
)
def test_searches_choose_the_same_from_blocks(rng, blocks, selector):
    X = rng.standard_normal((60, 200))
    y = rng.integers(0, 3, 60)
    X[:, :9] += 0.6 * rng.standard_normal((3, 9))[y]
    X[:, 9:15] = X[:, :6] + 0.3 * X[:, 9:15]
    here = selector.fit(X, y)
    ranking, scores = here.ranking_, here.scores_
    there = selector.fit(torch.from_numpy(X).to(DEVICE), y)
    np.testing.assert_array_equal(there.ranking_ <= 12, ranking <= 12)
    np.testing.assert_allclose(there.scores_, scores, rtol=1e-8, atol=1e-10)
