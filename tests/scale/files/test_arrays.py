"""X in files: the same selection as in memory, few passes, little memory, clear sentences."""

import os
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sparsieve import (
    ChiSquareSelector,
    FDRSelector,
    FisherSelector,
    FStatisticSelector,
    L20Selector,
    L21Selector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
    RidgeForwardSelector,
    RobustL20Selector,
    SVMRFESelector,
    TTestSelector,
    set_memory,
)
from sparsieve.design import external_design
from sparsieve.design.blocks import lazy_gram as condense
from sparsieve.scale.files import arrays as files
from sparsieve.scale.files import tables
from sparsieve.scale.files.arrays import FileDesign


@pytest.fixture(autouse=True)
def tiny_blocks(monkeypatch):
    """Several blocks of a few rows, and nothing loaded as a whole."""
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 30 * 17)
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 20)
    with set_memory("1MB"):
        yield


@pytest.fixture
def counts():
    rng = np.random.default_rng(3)
    X = rng.poisson(1.0, (120, 30)).astype(np.float64)
    X[:, 11] = 4.0  # constant
    y = (X[:, 3] + X[:, 10] - X[:, 20] + rng.standard_normal(120) > 1).astype(int)
    y[X[:, 5] > 2] = 2
    return X, y, rng.integers(0, 3, 120).astype(float)


def mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def hdf5(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    file = h5py.File(tmp_path / "X.h5", "w")
    return file.create_dataset("X", data=X, chunks=(8, 10), compression="gzip")


def zarr_array(X, tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        str(tmp_path / "X.zarr"), shape=X.shape, dtype=X.dtype, chunks=(9, 30)
    )
    array[:] = X
    return array


def annotated(X, tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sparse.csr_matrix(X)).write_h5ad(tmp_path / "X.h5ad")
    return anndata.read_h5ad(tmp_path / "X.h5ad", backed="r")


def parquet(X, tmp_path):
    pytest.importorskip("pyarrow")
    import pyarrow
    import pyarrow.parquet as pq

    columns = {f"g{j}": column for j, column in enumerate(X.T)}
    pq.write_table(pyarrow.table(columns), tmp_path / "X.parquet", row_group_size=50)
    return pq.ParquetFile(tmp_path / "X.parquet")


KINDS = [mapped, hdf5, zarr_array, annotated, parquet]
SELECTORS = [
    RidgeForwardSelector(6),
    L20Selector(5),
    L21Selector(5),
    FStatisticSelector(5),
    TTestSelector(5),
    FisherSelector(5, generalized=True),
    MRMRSelector(4),
    RFSSelector(4),
    FDRSelector(n_features_to_select=4),
]


def assert_same(found, due):
    np.testing.assert_array_equal(found.support_, due.support_)
    np.testing.assert_allclose(found.scores_, due.scores_, rtol=1e-7, atol=1e-9)
    if hasattr(due, "objective_"):
        assert found.objective_ == pytest.approx(due.objective_, rel=1e-6)
    if hasattr(due, "coef_"):
        np.testing.assert_allclose(found.coef_, due.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("make", KINDS, ids=lambda make: make.__name__)
def test_every_kind_of_file_gives_what_the_array_gives(make, counts, tmp_path):
    X, y, _ = counts
    stored = make(X, tmp_path)
    for selector in (RidgeForwardSelector(6), FStatisticSelector(5), ChiSquareSelector(3)):
        due = selector.fit(X, y)
        kept = due.transform(X)
        due = {name: np.copy(getattr(due, name)) for name in ("support_", "scores_")}
        found = selector.fit(stored, y)
        np.testing.assert_array_equal(found.support_, due["support_"])
        np.testing.assert_allclose(found.scores_, due["scores_"], rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(found.transform(stored), kept)
        assert found.n_passes_ == (2 if type(selector) is RidgeForwardSelector else 1)
    if make in (annotated, parquet):
        assert found.feature_names_in_[1] in ("1", "g1")


@pytest.mark.parametrize("condensing", [True, False])
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_selectors_agree(selector, condensing, counts, tmp_path, monkeypatch):
    X, y, weights = counts
    if not condensing:
        monkeypatch.setattr(condense, "MAX_FEATURES", 0)
    stored = mapped(X, tmp_path)
    takes_weights = type(selector) is not TTestSelector
    for given in (None, weights) if takes_weights else (None,):
        due = clone(selector).fit(X, y, given)
        found = clone(selector).fit(stored, y, given)
        assert_same(found, due)
        assert not hasattr(due, "n_passes_")


@pytest.mark.slow
def test_options_that_need_more_than_products(counts, tmp_path):
    X, y, _ = counts
    stored = mapped(X, tmp_path)
    due = RidgeForwardSelector(6, always_keep=[1, 2], never_keep=[3], class_weight="balanced")
    found = RidgeForwardSelector(6, always_keep=[1, 2], never_keep=[3], class_weight="balanced")
    assert_same(found.fit(stored, y), due.fit(X, y))
    assert found.find_substitutes(stored, threshold=0.2) == {
        feature: [(j, pytest.approx(r)) for j, r in others]
        for feature, others in due.find_substitutes(X, threshold=0.2).items()
    }
    certificate, other = found.certify(stored, y), due.certify(X, y)
    # Inner products of files are known less well, and the proven gap allows for it.
    assert (certificate.gap >= other.gap - 1e-9).all()
    np.testing.assert_allclose(certificate.gap, other.gap, atol=1e-3)
    real = X[:, 3] - 2.0 * X[:, 7]
    assert_same(RidgeForwardSelector().fit(stored, real), RidgeForwardSelector().fit(X, real))
    assert_same(RobustL20Selector(3).fit(stored, real), RobustL20Selector(3).fit(X, real))


def test_float32_stays_and_integers_are_read(counts, tmp_path):
    X, y, _ = counts
    single = RidgeForwardSelector(6).fit(mapped(X.astype(np.float32), tmp_path), y)
    assert single.coef_.dtype == np.float32
    due = RidgeForwardSelector(6).fit(X, y)
    np.testing.assert_array_equal(single.support_, due.support_)
    whole = RidgeForwardSelector(6).fit(mapped(X.astype(np.uint8), tmp_path), y)
    np.testing.assert_allclose(whole.scores_, due.scores_)


class Counting:
    """A matrix that knows how much of it was asked for, and when."""

    feature_names, is_sparse, chunk_rows = None, False, 1

    def __init__(self, X):
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.row_bytes = X.shape[1] * X.itemsize
        self.largest = self.passes = 0

    def check(self):
        pass

    def blocks(self, rows):
        self.passes += 1
        for start in range(0, len(self.X), rows):
            block = self.X[start : start + rows].copy()
            self.largest = max(self.largest, len(block))
            yield block


def test_never_more_than_a_block_and_as_many_passes_as_said(counts, monkeypatch):
    X, y, _ = counts
    source = Counting(X)
    selector = RidgeForwardSelector(6).fit(FileDesign(source), y)
    assert source.passes == selector.n_passes_ == 2
    assert source.largest <= 17
    monkeypatch.setattr(condense, "MAX_FEATURES", 0)
    source = Counting(X)
    selector = RidgeForwardSelector(6).fit(FileDesign(source), y)
    assert source.passes == selector.n_passes_ <= 6 + 4  # one per feature, not two
    assert source.largest <= 17


def test_small_data_are_read_once(counts):
    X, y, _ = counts
    source = Counting(X)
    design = FileDesign(source, block_rows=20, hold=True)
    RidgeForwardSelector(3).fit(design, y)
    assert source.passes == 1
    assert design.passes == 2


def test_what_fits_the_limit_is_loaded(counts, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LOAD_SHARE", 4)
    X, y, _ = counts
    assert external_design(mapped(X, tmp_path)) is None
    assert not hasattr(RidgeForwardSelector(3).fit(hdf5(X, tmp_path), y), "n_passes_")


def test_many_samples_take_a_byte_each_beside_the_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 17)
    n_samples = 400_000
    X = np.random.default_rng(0).standard_normal((n_samples, 4), dtype=np.float32)
    y = (np.arange(n_samples) % 3).astype(np.int8)
    X[:, 1] += y
    stored = mapped(X, tmp_path)
    del X
    for selector in (RidgeForwardSelector(2), FStatisticSelector(2), FisherSelector(2)):
        selector.fit(stored[:1000], y[:1000])  # whatever is loaded and compiled once
        tracemalloc.start()
        selector.fit(stored, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert selector.get_support()[1]
        # Codes of the classes, and the half of a million labels that are sorted together.
        assert peak < n_samples * (1 + 8) + (1 << 21)


def test_single_precision_keeps_six_digits_of_many_equal_values(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "BLOCK_BYTES", 1 << 20)
    rng = np.random.default_rng(0)
    X = (rng.random((60_000, 8)) < 0.3).astype(np.float32)
    y = X[:, 2] + X[:, 5] + rng.standard_normal(60_000) > 0.5
    due = RidgeForwardSelector(4).fit(X.astype(np.float64), y)
    found = RidgeForwardSelector(4).fit(mapped(X, tmp_path), y)
    np.testing.assert_array_equal(found.support_, due.support_)
    assert found.objective_ == pytest.approx(due.objective_, rel=1e-6)


@pytest.mark.parametrize(
    "view",
    [
        lambda X: np.asfortranarray(X),
        lambda X: X.astype(">f8"),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(np.int8),
        lambda X: X > 1,
    ],
    ids=["Fortran", "big-endian", "half", "int8", "truths"],
)
def test_any_layout_of_an_npy_file(view, counts, tmp_path):
    X, y, _ = counts
    stored = mapped(view(X), tmp_path)
    for selector in (RidgeForwardSelector(4), FStatisticSelector(4)):
        due = clone(selector).fit(np.asarray(view(X), dtype=np.float64), y)
        assert_same(clone(selector).fit(stored, y), due)
        some = stored[5::2, ::3]
        due = clone(selector).fit(np.asarray(some, dtype=np.float64), y[5::2])
        assert_same(clone(selector).fit(some, y[5::2]), due)


@pytest.mark.parametrize("order", ["C", "F"])
def test_parts_of_a_mapped_file_are_read_and_not_mapped(order, tmp_path):
    X = mapped(np.asarray(np.random.default_rng(0).standard_normal((40, 9)), order=order), tmp_path)
    views = [X, X[3:], X[::2], X[::-1], X[::-7, 1:8:3], X[:, ::-2], X[1::20], X[5:30, 2:3]]
    for view in [*views, X.T, X[::3].T]:
        source = files.MappedArray(view)
        assert source.path is not None
        np.testing.assert_array_equal(np.vstack(list(source.blocks(4))), view)
    with open(tmp_path / "X.npy", "r+b") as file:  # mapped, this would end the process
        file.truncate(1500)
    for view in (X, X[::2], X[:, ::2]):
        source = files.MappedArray(view)
        with pytest.raises(ValueError, match="cut short"):
            list(source.blocks(4))


def test_a_block_is_a_whole_chunk_where_that_fits(counts, tmp_path, monkeypatch):
    X, _, _ = counts
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 30 * 5)  # chunks have 9 rows
    assert FileDesign(files.ChunkedArray(zarr_array(X, tmp_path), "X")).block_rows == 9
    monkeypatch.setattr(files, "CHUNK_SHARE", 1 << 20)
    assert FileDesign(files.ChunkedArray(zarr_array(X, tmp_path / "2"), "X")).block_rows == 5


def test_chunks_beyond_all_memory_are_refused(counts, tmp_path, monkeypatch):
    """Of a chunk no part can be had; a Zarr array may be one chunk of any size."""
    monkeypatch.setattr(files, "machine_memory", lambda: 8 * 30 * 9 - 1)
    with pytest.raises(ValueError, match=r"X is stored in chunks .* in smaller chunks"):
        files.ChunkedArray(zarr_array(counts[0], tmp_path), "X")


def test_large_row_groups_of_parquet_are_read_in_parts(counts, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    X, y, _ = counts
    file = parquet(X, tmp_path)
    due = FStatisticSelector(4).fit(X, y)
    monkeypatch.setattr(tables, "memory_limit", lambda: 1000)
    with pytest.warns(UserWarning, match="row group of the Parquet file takes"):
        found = FStatisticSelector(4).fit(file, y)
    assert_same(found, due)
    rows = tables.ParquetRows(tables.open_parquet(str(tmp_path / "X.parquet")))
    assert_same(FStatisticSelector(4).fit(FileDesign(rows), y), due)
    import pyarrow.dataset

    with pytest.raises(TypeError, match="FileSystemDataset of pyarrow"):
        FStatisticSelector(4).fit(pyarrow.dataset.dataset(tmp_path / "X.parquet"), y)


# -- what can be wrong -------------------------------------------------------------------------


def test_values_that_are_no_numbers_are_named(counts, tmp_path):
    X, y, _ = counts
    X[50, 7] = np.nan
    for selector in (RidgeForwardSelector(3), FStatisticSelector(3), L20Selector(3)):
        with pytest.raises(ValueError, match=r"NaN or infinite values in 1 column \(7\)"):
            selector.fit(mapped(X, tmp_path), y)
    with pytest.raises(ValueError, match=r"NaN or infinite values in 1 column \('g7'\)"):
        RidgeForwardSelector(3).fit(parquet(X, tmp_path), y)


@pytest.mark.filterwarnings("error")
def test_columns_too_small_or_too_large_to_square_are_named(counts, tmp_path):
    X, y, _ = counts
    for size in (1e-300, 1e-160, 1e200):
        odd = X.copy()
        odd[:, 3] *= size
        for selector in (RidgeForwardSelector(3), FStatisticSelector(3)):
            with pytest.raises(ValueError, match=r"squares are no numbers in 1 column \(3\)"):
                selector.fit(mapped(odd, tmp_path), y)


def test_a_file_that_takes_the_place_of_another_of_the_same_size_and_time(counts, tmp_path):
    X, y, _ = counts
    design = external_design(mapped(X, tmp_path))
    path, other = tmp_path / "X.npy", tmp_path / "other.npy"
    np.save(other, X[::-1].copy())
    now = path.stat()
    os.utime(other, ns=(now.st_atime_ns, now.st_mtime_ns))
    assert other.stat().st_size == now.st_size
    other.replace(path)
    with pytest.raises(ValueError, match="has changed since it was opened"):
        RidgeForwardSelector(3).fit(design, y)


def test_files_that_change_or_end(counts, tmp_path):
    X, y, _ = counts
    stored = mapped(X, tmp_path)
    design = external_design(stored)
    with open(tmp_path / "X.npy", "r+b") as file:
        file.truncate(2000)
    with pytest.raises(ValueError, match="has changed since it was opened"):
        RidgeForwardSelector(3).fit(design, y)
    design.source.state = files.file_state(str(tmp_path / "X.npy"))
    with pytest.raises(ValueError, match="cut short"):
        design.column_moments()
    (tmp_path / "X.npy").unlink()
    with pytest.raises(ValueError, match="no longer exists"):
        design.column_moments()
    dataset = hdf5(X, tmp_path)
    design = external_design(dataset)
    dataset.file.close()
    with pytest.raises(ValueError, match="closed"):
        design.column_moments()
    with pytest.raises(ValueError, match="closed"):
        RidgeForwardSelector(3).fit(dataset, y)


def test_wrong_shapes_and_selectors_that_cannot(counts, tmp_path):
    X, y, _ = counts
    with pytest.raises(ValueError, match="1 dimension"):
        RidgeForwardSelector(3).fit(mapped(X.ravel(), tmp_path), y)
    with pytest.raises(TypeError, match="real numbers"):
        RidgeForwardSelector(3).fit(mapped(X.astype("U3"), tmp_path), y)
    with pytest.raises(ValueError, match="120 samples, but y has 119"):
        RidgeForwardSelector(3).fit(mapped(X, tmp_path), y[:-1])
    with pytest.raises(TypeError, match=r"SVMRFESelector needs X in memory.*RidgeForwardSelector"):
        SVMRFESelector(3).fit(hdf5(X, tmp_path), y)
    with pytest.raises(TypeError, match=r"ReliefFSelector needs X in memory.*pass n_samples"):
        ReliefFSelector(3).fit(hdf5(X, tmp_path), y)
    ReliefFSelector(3).fit(mapped(X, tmp_path), y)  # a mapped array is an array, too
    fitted = FStatisticSelector(3).fit(mapped(X, tmp_path), y)
    with pytest.raises(ValueError, match="expecting 30 features"):
        fitted.transform(hdf5(X[:, :12], tmp_path))
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(sparse.csc_matrix(X)).write_h5ad(tmp_path / "c.h5ad")
    with pytest.raises(ValueError, match="stored by columns"):
        FStatisticSelector(3).fit(anndata.read_h5ad(tmp_path / "c.h5ad", backed="r"), y)


@pytest.mark.parametrize("limit", ["much", "2 apples", 17, -1, True, 2.5])
def test_limits_that_are_none(limit):
    with pytest.raises(ValueError, match="amount of memory"):
        set_memory(limit)


@pytest.mark.parametrize("selector", [RidgeForwardSelector(3), L20Selector(3)])
def test_passes_for_few_columns_where_they_cost_less(selector, counts, tmp_path, monkeypatch):
    X, y, weights = counts
    due = clone(selector).fit(X, y, weights)
    monkeypatch.setattr(condense, "PASS_COST", 1)
    monkeypatch.setattr(condense, "MIN_PASS", 0)
    found = clone(selector).fit(mapped(X, tmp_path), y, weights)
    assert_same(found, due)
    assert found.n_passes_ > 2  # with all inner products there are two
