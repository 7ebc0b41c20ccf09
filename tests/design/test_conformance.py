"""All designs pass the same suite; a new kind adds one line."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import DenseDesign, SparseDesign
from sparsieve.design.views import ClippedDense, Deflated, Scaled
from sparsieve.scale.cluster.arrays import DaskDesign
from sparsieve.scale.files.arrays import FileDesign, MappedArray


def _sibling(name):
    """Import a module that lies beside this one, whatever the import mode of pytest."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


conformance = _sibling("conformance")
Maker = conformance.Maker


def wide(X):
    """Bounds that clip nothing."""
    return np.full(X.shape[1], -100.0), np.full(X.shape[1], 100.0)


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return FileDesign(MappedArray(np.load(tmp_path / "X.npy", mmap_mode="r")), block_rows=5)


def chunked(X, _):
    array = pytest.importorskip("dask.array").from_array(X, chunks=(5, 4))
    return DaskDesign(array).ready()


def scaled(X, _):
    n, d = X.shape
    centre, scale, rows = np.linspace(-1, 1, d), np.linspace(1, 2, d), np.linspace(1, 2, n)[:, None]
    base = (X / rows * scale + centre).astype(X.dtype)
    return Scaled(DenseDesign(base), centre, scale, rows[:, 0])


def with_direction_removed(X, _):
    left, right = np.linspace(-1, 1, len(X))[:, None], np.linspace(1, 2, X.shape[1])[None]
    base = SparseDesign(sparse.csr_array((X + left @ right).astype(X.dtype)))
    return Deflated(base, left, right, np.zeros(X.shape[1], dtype=bool))


MAKERS = [
    Maker("dense C", lambda X, _: DenseDesign(np.ascontiguousarray(X))),
    Maker("dense F", lambda X, _: DenseDesign(np.asfortranarray(X))),
    Maker("csr", lambda X, _: SparseDesign(sparse.csr_array(X))),
    Maker("csc", lambda X, _: SparseDesign(sparse.csc_matrix(X))),
    # Views of other designs that stand for X: what they are views of is standardised beforehand.
    Maker("scaled", scaled, standardises=False),
    Maker("clipped", lambda X, _: ClippedDense(DenseDesign(X), *wide(X)), standardises=False),
    Maker("deflated", with_direction_removed, standardises=False),
    Maker("mapped file", mapped, counts_passes=True),
    Maker("dask", chunked, counts_passes=True),
]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.name)
class TestDesigns(conformance.DesignConformance):
    pass
