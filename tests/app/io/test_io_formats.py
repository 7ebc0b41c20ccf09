import gzip
import sys

import numpy as np
import pytest
import scipy.io
from scipy import sparse

from sparsieve._imports import MissingExtraError, require
from sparsieve.app.io import DataError, read_table, write_table
from sparsieve.app.io.errors import TargetNeededError
from sparsieve.app.io.read import READABLE_SUFFIXES

X = np.array([[1.0, 0.0, 2.5], [0.0, 3.0, 0.0], [4.0, 0.0, 0.5], [0.0, 1.0, 1.0]])
y = np.array([0, 1, 0, 1])


@pytest.fixture
def no_extras(monkeypatch):
    for name in ("pandas", "pyarrow", "pyarrow.csv", "pyarrow.parquet", "anndata"):
        monkeypatch.setitem(sys.modules, name, None)


# -- arrays ------------------------------------------------------------------------------------


def test_npz(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X.astype(np.float32), y=y)
    table = read_table(path)
    assert table.X.dtype == np.float32
    assert table.feature_names == ("x0", "x1", "x2")
    assert table.target_name == "y"
    np.testing.assert_array_equal(table.y, y)


def test_npz_with_names_and_other_target(tmp_path):
    path = tmp_path / "data.npz"
    labels = np.array(["u", "v", "u", "v"])
    np.savez(path, X=X.astype(int), group=labels, feature_names=np.array(["a", "b", "c"]))
    table = read_table(path, "group", drop=["b"])
    assert table.X.dtype == np.float64
    assert table.feature_names == ("a", "c")
    np.testing.assert_array_equal(table.X, X.astype(int)[:, [0, 2]])
    assert table.y.tolist() == labels.tolist()


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ({"X": X}, "no array 'y'; it holds 'X'"),
        ({"Z": X, "y": y}, "no array 'X'; it holds"),
        ({"X": X, "y": y[:2]}, "4 rows but y has 2 values"),
        ({"X": X[0], "y": y}, "rows and columns"),
        ({"X": X.astype(str), "y": y}, "X of data.npz must hold real numbers"),
        ({"X": X, "y": np.array([0, 1, np.nan, 1])}, "missing in 1 row .*row 3"),
        ({"X": X, "y": np.array(["a", None, "b", "b"], dtype=object)}, "pickled"),
    ],
)
def test_bad_npz(tmp_path, arrays, sentence):
    path = tmp_path / "data.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=sentence):
        read_table(path)


def test_pickled_arrays_nobody_asked_for_do_not_matter(tmp_path):
    path = tmp_path / "data.npz"
    np.savez(path, X=X, y=y, history=np.array([{"made": "by hand"}], dtype=object))
    assert read_table(path).X.shape == X.shape


def test_npz_names_its_classes(tmp_path):
    path = tmp_path / "data.npz"
    X, y = np.eye(3), np.array([1, 0, 1])
    np.savez(path, X=X, y=y, class_names=["healthy", "sick"])
    assert read_table(path).y.tolist() == ["sick", "healthy", "sick"]
    np.savez(path, X=X, y=y, class_names=["healthy", "sick", "unheard of"])
    assert read_table(path).y.tolist() == [1, 0, 1]


@pytest.mark.parametrize("name", ["d.npz", "d.mat", "d.svm", "d.parquet", "d.h5ad"])
def test_garbage(tmp_path, name):
    if name == "d.parquet":
        pytest.importorskip("pyarrow")
    if name == "d.h5ad":
        pytest.importorskip("anndata")
    path = tmp_path / name
    path.write_bytes(b"garbage, not at all what the suffix says\n" * 10)
    with pytest.raises(DataError, match="not a readable"):
        read_table(path, "y")


def test_mat(tmp_path):
    path = tmp_path / "data.mat"
    scipy.io.savemat(path, {"X": X, "Y": y[:, None]})
    table = read_table(path)
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, y)


def test_mat_sparse_with_cells_of_text(tmp_path):
    path = tmp_path / "data.mat"
    labels = np.array(["u", "vv", "u", "vv"], dtype=object)
    scipy.io.savemat(path, {"X": sparse.csc_matrix(X), "y": labels})
    table = read_table(path)
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.y.tolist() == labels.tolist()


@pytest.mark.parametrize("zero_based", [True, False])
@pytest.mark.parametrize("suffix", [".svm", ".libsvm", ".svmlight.gz"])
def test_svmlight(tmp_path, zero_based, suffix):
    first = 0 if zero_based else 1
    lines = [
        f"{label} " + " ".join(f"{j + first}:{v}" for j, v in enumerate(row) if v)
        for label, row in zip(y, X, strict=True)
    ]
    text = ("\n".join(lines) + "\n").encode()
    path = tmp_path / f"data{suffix}"
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    table = read_table(path)
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.feature_names == ("x0", "x1", "x2")
    assert table.notes[0].endswith(f"x0 is number {first} in the file")
    np.testing.assert_array_equal(table.y, y)


# -- files with extras -------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_parquet(tmp_path, dtype):
    pytest.importorskip("pyarrow")
    path = tmp_path / "data.parquet"
    columns = {"a": X[:, 0].astype(dtype), "b": X[:, 1].astype(dtype)}
    write_table(path, {**columns, "label": np.array(["u", "v", "u", "v"])})
    table = read_table(path, "label")
    assert table.X.dtype == dtype
    assert table.feature_names == ("a", "b")
    np.testing.assert_array_equal(table.X, X[:, :2])
    assert table.y.tolist() == ["u", "v", "u", "v"]


def test_parquet_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {"a": [1, 2, 3], "flag": [True, False, True], "name": ["p", "q", "r"], "b": [1.5, None, 2]},
        index=["s1", "s2", "s3"],
    )
    frame["label"] = pd.Categorical(["u", "v", "u"])
    path = tmp_path / "data.parquet"
    frame.to_parquet(path)
    with pytest.raises(DataError, match="text column besides the target: 'name'"):
        read_table(path, "label")
    table = read_table(path, "label", drop=["name"])
    assert table.feature_names == ("a", "flag", "b")
    np.testing.assert_array_equal(table.X, [[1, 1, 1.5], [2, 0, np.nan], [3, 1, 2]])
    assert table.y.tolist() == ["u", "v", "u"]
    assert any("index" in note for note in table.notes)
    frame["label"] = ["u", None, "u"]
    frame.to_parquet(path)
    with pytest.raises(DataError, match=r"missing in 1 row .*row 2"):
        read_table(path, "label", drop=["name"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_h5ad(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    pd = pytest.importorskip("pandas")
    path = tmp_path / "cells.h5ad"
    obs = pd.DataFrame({"cell_type": pd.Categorical(list("TBTB")), "n": [1, 2, 3, 4]})
    obs.index = obs.index.astype(str)
    data = anndata.AnnData(form(X.astype(np.float32)), obs=obs)
    data.var_names = ["CD3E", "MS4A1", "LYZ"]
    data.write_h5ad(path)
    table = read_table(path, "cell_type", drop=["MS4A1"])
    assert sparse.issparse(table.X) == (form is not np.asarray)
    assert table.X.dtype == np.float32
    dense = table.X.toarray() if sparse.issparse(table.X) else table.X
    np.testing.assert_array_equal(dense, X[:, [0, 2]])
    assert table.feature_names == ("CD3E", "LYZ")
    assert table.y.tolist() == list("TBTB")
    with pytest.raises(DataError, match="did you mean 'cell_type'"):
        read_table(path, "celltype")
    with pytest.raises(TargetNeededError, match="'cell_type', 'n'"):
        read_table(path)


def test_core_formats_need_no_extras(tmp_path, no_extras):
    (tmp_path / "d.csv").write_text("a,b,y\n1,2,0\n3,4,1\n")
    np.savez(tmp_path / "d.npz", X=X, y=y)
    scipy.io.savemat(tmp_path / "d.mat", {"X": X, "y": y})
    (tmp_path / "d.svm").write_text("0 1:2\n1 2:3\n")
    for name in ("d.csv", "d.npz", "d.mat", "d.svm"):
        assert read_table(tmp_path / name, "y").X.shape[0] >= 2


@pytest.mark.parametrize("suffix", [".parquet", ".h5ad"])
def test_missing_extra_says_how_to_install_it(tmp_path, no_extras, suffix):
    path = tmp_path / f"d{suffix}"
    path.write_bytes(b"anything")
    with pytest.raises(MissingExtraError, match=r"pip install 'sparsieve\[data\]'"):
        read_table(path, "y")


def test_require_is_an_import_error():
    with pytest.raises(ImportError, match="no_such_thing is needed to fly"):
        require("no_such_thing.wings", extra="data", purpose="fly")


# -- paths -------------------------------------------------------------------------------------


def test_paths(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        read_table(tmp_path / "none.csv", "y")
    with pytest.raises(DataError, match="is a folder"):
        read_table(tmp_path, "y")
    strange = tmp_path / "data.docx"
    strange.write_bytes(b"1")
    with pytest.raises(DataError, match=r"unknown suffix '\.docx'") as caught:
        read_table(strange, "y")
    assert all(suffix in str(caught.value) for suffix in READABLE_SUFFIXES)
    empty = tmp_path / "empty.npz"
    empty.touch()
    with pytest.raises(DataError, match=r"empty\.npz is empty"):
        read_table(empty)
