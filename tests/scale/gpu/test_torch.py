"""Designs on a device pass the suite of all designs; torch's CPU build stands in for one."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sparsieve import on_device  # noqa: E402
from sparsieve.design import as_design, standardise_columns  # noqa: E402
from sparsieve.design.standardise import external_design  # noqa: E402
from sparsieve.design.views import in_double  # noqa: E402
from sparsieve.scale.gpu import _torch_passes as passes  # noqa: E402
from sparsieve.scale.gpu import base as on_device_floor  # noqa: E402
from sparsieve.scale.gpu import host_streaming as streamed  # noqa: E402
from sparsieve.scale.gpu import tensor as tensors  # noqa: E402
from sparsieve.scale.gpu.tensor import (  # noqa: E402
    ScaledTensor,
    TensorDesign,
    TensorRows,
)
from sparsieve.validation.columns import check_same_device  # noqa: E402

if "conformance" not in sys.modules:
    spec = importlib.util.spec_from_file_location(
        "conformance", Path(__file__).parents[2] / "design" / "conformance.py"
    )
    sys.modules["conformance"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["conformance"])
conformance = sys.modules["conformance"]
Maker = conformance.Maker
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def tensor(X, _=None):
    return external_design(torch.from_numpy(np.ascontiguousarray(X)).to(DEVICE))


def by_columns(X, _):
    return external_design(torch.from_numpy(np.ascontiguousarray(X.T)).to(DEVICE).T)


def clipped(X, _):
    return tensor(X).clip_columns(np.full(X.shape[1], -100.0), np.full(X.shape[1], 100.0))


def scaled(X, _):
    n, d = X.shape
    centre, scale, rows = np.linspace(-1, 1, d), np.linspace(1, 2, d), np.linspace(1, 2, n)[:, None]
    base = (X / rows * scale + centre).astype(X.dtype)
    return ScaledTensor(tensor(base), centre, scale, rows[:, 0])


def some_rows(X, _):
    """The rows of X among others, in another order; none of them is copied."""
    n = len(X)
    wide = np.vstack([7.0 * X[:5] + 1.0, X[::-1]]).astype(X.dtype)
    view = tensor(wide).rows(np.arange(n + 4, 4, -1))
    assert isinstance(view, TensorRows)
    return view


def sent(X, _):
    return external_design(on_device(X.copy(), DEVICE, stream=True))


MAKERS = [
    Maker("tensor", tensor),
    Maker("tensor by columns", by_columns),
    Maker("clipped tensor", clipped, standardises=False),
    Maker("scaled tensor", scaled, standardises=False),
    Maker("rows of a tensor", some_rows),
    Maker("streamed", sent),
]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows; the standardised view is made when read."""
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 0)
    for module in (passes, on_device_floor, streamed):
        monkeypatch.setattr(module, "BLOCK_BYTES", 300)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
class TestTensors(conformance.DesignConformance):
    def test_outer(self, design, X, close):
        close(design.outer([3, 1]), X[:, [3, 1]] @ X[:, [3, 1]].T)

    def test_wide_result_in_double(self, design, X):
        """Counts times double-precision weights are added in double precision."""
        R = np.linspace(0.1, 1.0, len(X))[:, None]
        found = design.rmatmul(R)
        assert found.dtype == np.float64
        exact = X.astype(np.float64).T @ R
        np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-6)


def test_small_data_are_standardised_in_a_copy(monkeypatch):
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 1 << 20)
    X, weights = conformance.matrix(dtype=np.float32), np.linspace(0.5, 2.0, 23)
    given = {"centre": True, "scale": True, "sample_weight": weights, "clip": 1.0}
    there, here = (
        standardise_columns(design, **given).design for design in (tensor(X), as_design(X))
    )
    assert isinstance(there, TensorDesign)
    np.testing.assert_allclose(there.dense_columns(range(9)), here.array, atol=1e-6)


def test_views_stay_on_the_device():
    view = standardise_columns(
        tensor(conformance.matrix()), centre=True, scale=True, clip=2.0
    ).design
    assert isinstance(view, ScaledTensor)
    assert isinstance(view.columns([0, 1]), ScaledTensor)
    assert isinstance(view.rows([0, 1]).base, TensorDesign)
    single = standardise_columns(
        tensor(conformance.matrix(dtype=np.float32)), centre=True, scale=True
    )
    twice, R = in_double(single.design), np.linspace(-1.0, 2.0, 23)[:, None]
    assert isinstance(twice, ScaledTensor)
    expected = twice.dense_columns(range(9)).T @ R
    np.testing.assert_allclose(twice.rmatmul(R), expected, rtol=1e-12, atol=1e-12)


def test_sorting_keeps_the_order_of_equals(rng):
    scores = rng.choice([0.0, -0.0, 1.0, -np.inf, np.nan], 5000)
    second = rng.choice([0.5, 1.0, 1.0 + 1e-12, np.inf], 5000)
    X = conformance.matrix()
    for first in (None, np.array([40, 7])):
        for last in (None, scores == 1.0):
            for ties in ((), (second,), (second, scores**2)):
                expected = as_design(X).rank_scores(scores, first, last, ties)
                found = tensor(X).rank_scores(scores, first, last, ties)
                np.testing.assert_array_equal(found, expected)


def test_users_settings_do_not_matter_and_stay():
    X = conformance.matrix((40, 30), np.float32)
    design, R = tensor(X), np.ones((40, 2), dtype=np.float32)
    exact = X.T @ R
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            np.testing.assert_allclose(design.rmatmul(R), exact, rtol=1e-5, atol=1e-5)
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision(before)


@pytest.mark.parametrize(
    ("X", "kind", "words"),
    [
        (torch.ones(3, 2, requires_grad=True), TypeError, r"needs a gradient; pass X\.detach"),
        (torch.ones(3, 2).to_sparse(), TypeError, r"sparse tensor .*to_dense"),
        (torch.ones(3, 2, dtype=torch.complex64), ValueError, "Complex data not supported"),
        (torch.ones(3, 2, device="meta"), TypeError, "without values"),
        (torch.ones(3), ValueError, "2D array"),
        (torch.ones(1, 2), ValueError, "at least 2 samples"),
    ],
    ids=["gradient", "sparse", "complex", "meta", "1D", "one sample"],
)
def test_what_is_refused(X, kind, words):
    with pytest.raises(kind, match=words):
        external_design(X)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_converted_with_a_word(dtype):
    with pytest.warns(UserWarning, match="not precise enough.* float32"):
        assert external_design(torch.ones(3, 2, dtype=dtype)).dtype == np.float32
    assert external_design(torch.ones(3, 2, dtype=torch.int8)).dtype == np.float64


def test_missing_values_are_named():
    X = torch.ones(4, 3)
    X[1, 2] = float("nan")
    with pytest.raises(ValueError, match=r"contains NaN values: 1 value in 1 column \(2\)"):
        external_design(X).column_moments()
    with pytest.raises(ValueError, match=r"contains NaN values: 1 value in 1 column \(2\)"):
        external_design(X).column_moments(np.ones(4))
    for size in (1e30, 1e-30):
        X[:, 2] = size
        with pytest.raises(ValueError, match=r"1 column \(2\) .*too large or too small"):
            external_design(X).column_moments()


def test_moving_to_a_device():
    X = np.arange(6, dtype=np.int32).reshape(3, 2)
    assert on_device(X, "cpu").dtype == torch.float64
    frozen = np.ones((3, 2), dtype=np.float32)
    frozen.setflags(write=False)
    assert on_device(frozen, "cpu").dtype == torch.float32
    with pytest.raises(TypeError, match="real numbers"):
        on_device(np.array([["a"]]), "cpu")
    with pytest.raises(ValueError, match="device must be a name"):
        on_device(X, "gpu?")
    if not torch.cuda.is_available():
        with pytest.raises(RuntimeError, match="finds no CUDA device"):
            on_device(X)


def test_tensors_on_different_devices():
    X, y = torch.ones(3, 2), torch.ones(3, device="meta")
    with pytest.raises(ValueError, match=r"X is on cpu but y is on meta; pass y\.to"):
        check_same_device(X, {"y": y})
    check_same_device(np.ones((3, 2)), {"y": y})  # a target alone is simply fetched


def test_a_full_device_is_one_sentence():
    from sparsieve.device import out_of_memory

    with (
        pytest.raises(MemoryError, match=r"too little memory for X: 2\.00 GiB needed, .* free"),
        out_of_memory(torch.device("cpu"), "for X"),
    ):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 ...")


def test_without_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"pip install 'sparsieve\[torch\]'"):
        on_device(np.ones((2, 2)))
