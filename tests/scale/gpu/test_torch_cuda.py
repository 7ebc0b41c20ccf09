"""Kernels on a CUDA device against double precision; skipped without one."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("no CUDA device", allow_module_level=True)
pytest.importorskip("triton")

from sparsieve.scale.gpu import _torch_passes as passes  # noqa: E402
from sparsieve.scale.gpu import _triton_kernels as kernels  # noqa: E402

SHAPES = [(1000, 5003), (20011, 300), (5, 7), (129, 4097)]


def data(shape, seed=0):
    generator = torch.Generator("cuda").manual_seed(seed)
    X = torch.randn(shape, device="cuda", generator=generator) + 3.0
    low = X.mean(dim=0) - 1.0
    return X, low, low + 2.2


def clipped(X, low, high, clip):
    return torch.clamp(X, low, high).double() if clip else X.double()


def close(found, exact, tol):
    error = (found.double() - exact).abs().max() / exact.abs().max()
    assert error < tol, f"relative error {float(error):.2e}"


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_passes(shape, clip):
    X, low, high = data(shape)
    bounds = (low, high) if clip else (None, None)
    exact = clipped(X, low, high, clip)
    for width in (1, 3, 10, 17, 40):
        U = torch.randn((shape[0], width), device="cuda")
        close(kernels.multiply_columns(X, U, *bounds), exact.T @ U.double(), 2e-6)
        W = torch.randn((shape[1], width), device="cuda")
        close(kernels.multiply_rows(X, W, *bounds), exact @ W.double(), 2e-6)
    weights = torch.rand(shape[0], device="cuda", dtype=torch.float64)
    weights[::3] = 0.0
    for w in (None, weights):
        mean, variance = kernels.moments(X, w, *bounds)
        share = torch.ones_like(weights) if w is None else w
        own = share @ exact / share.sum()
        close(mean, own, 1e-13)
        close(variance, share @ (exact - own) ** 2 / share.sum(), 1e-12)


def test_distances():
    for shape in ((70, 1003), (300, 5000)):
        X, low, high = data(shape)
        per_unit = 1.0 / (high - low).double()
        Z = X.double() * per_unit
        exact = torch.cdist(Z, Z, p=1.0)
        for count in (33, shape[0]):
            places = torch.randperm(shape[0], device="cuda")[:count].sort().values
            found, error = passes.absolute_distances(X, places, per_unit, single=False)
            assert error == 0.0
            close(found, exact[places], 1e-13)
            found, error = passes.absolute_distances(X, places, per_unit, single=True)
            apart = exact[places] > 0
            assert ((found - exact[places]).abs() / exact[places])[apart].max() < error
        first, second = torch.randint(0, shape[0], (2, 501), device="cuda")
        close(passes.pair_distances(X, first, second, per_unit), exact[first, second], 1e-13)


def test_moments_of_some_rows():
    for shape in SHAPES[:2]:
        X, low, high = data(shape)
        rows = torch.arange(3, shape[0], 4, device="cuda")
        weights = torch.rand(len(rows), device="cuda", dtype=torch.float64)
        for w in (None, weights):
            found = kernels.moments(X, w, low, high, rows)
            exact = kernels.moments(X[rows].contiguous(), w, low, high)
            for one, other in zip(found, exact, strict=True):
                close(one, other, 1e-13)


def test_sums_over_pairs():
    X, _, _ = data((70, 1003))
    first, second = torch.randint(0, 70, (2, 501), device="cuda")
    weights = torch.randn(501, device="cuda", dtype=torch.float64)
    exact = weights @ (X.double()[first] - X.double()[second]).abs()
    close(kernels.pair_sums(X, first, second, weights), exact, 1e-13)


def test_missing_values_show_in_the_moments():
    X, low, high = data((100, 50))
    X[3, 7] = float("nan")
    mean, _ = kernels.moments(X, None, low, high)
    assert torch.isnan(mean).sum() == 1
