"""``sparsieve select --memory``: files whose features are not loaded."""

import numpy as np
import pytest

from sparsieve import memory
from sparsieve.scale.files import arrays as files


@pytest.fixture(autouse=True)
def nothing_fits(monkeypatch):
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 20)
    monkeypatch.setattr("sparsieve.app.io.stored.LOAD_SHARE", 1 << 20)
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 6 * 10)
    monkeypatch.setattr(memory, "_limit", None)  # what the option sets ends with the test


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    kinds = np.array(["rose", "tulip", "lily"])[np.arange(45) % 3]
    X = rng.normal(size=(45, 6))
    X[:, 1] += 4 * (kinds == "rose")
    X[:, 4] += 8 * (kinds == "lily")
    return X, kinds


def stored(suffix, X, kinds, folder):
    path = folder / f"flowers{suffix}"
    if suffix == ".npy":
        np.save(path, X)
        np.save(folder / "kinds.npy", kinds)
        return path, "kinds.npy"
    if suffix == ".h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file["X"], file["kind"] = X, kinds.astype("S")
            file["feature_names"] = list("abcdef")
    elif suffix == ".zarr":
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group(str(path), mode="w")
        group.create_array("X", data=X)
        group.create_array("kind", data=np.unique(kinds, return_inverse=True)[1])
    elif suffix == ".parquet":
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcdef")).assign(kind=kinds)
        frame.to_parquet(path, row_group_size=20)
    else:
        anndata = pytest.importorskip("anndata")
        made = anndata.AnnData(X)
        made.var_names, made.obs["kind"] = list("abcdef"), kinds
        made.write_h5ad(path)
    return path, "kind"


@pytest.mark.parametrize("suffix", [".npy", ".h5", ".zarr", ".parquet", ".h5ad"])
def test_large_files(suffix, sparsieve, data, tmp_path):
    path, target = stored(suffix, *data, tmp_path)
    result = sparsieve(
        "select", path, "-t", target, "-k", 2, "-n", "--memory", "2MB", "-o", tmp_path / "out.csv"
    )
    assert result.code == 0, result.err
    names = ["e", "b"] if suffix in (".h5", ".parquet", ".h5ad") else ["x4", "x1"]
    assert result.out.split() == names
    assert "read the features 2 times" in result.err
    written = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1, usecols=(0, 1))
    np.testing.assert_allclose(written, data[0][:, [4, 1]])


def test_dropped_columns_and_missing_values(sparsieve, data, tmp_path):
    X, kinds = data
    X[30, 2] = np.nan
    path, target = stored(".parquet", X, kinds, tmp_path)
    options = ("-t", target, "-k", 1, "-n", "--memory", "2MB")
    result = sparsieve("select", path, *options)
    assert result.code == 1
    assert "NaN or infinite values in 1 column ('c')" in result.err
    assert sparsieve("select", path, *options, "--drop", "c", "--drop", "e").out.split() == ["b"]


def test_rows_with_gaps_are_left_out_of_a_large_file(sparsieve, data, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, kinds = data
    path, target = stored(".parquet", X, kinds, tmp_path)
    frame = pandas.read_parquet(path).assign(donor=[f"p{i // 3}" for i in range(45)])
    frame.drop(index=[4, 40]).to_parquet(path, row_group_size=20)
    options = ("-t", target, "--groups", "donor", "-k", 2, "--memory", "2MB", "-o")
    assert sparsieve("select", path, *options, tmp_path / "expected.csv").code == 0
    frame.loc[4, "kind"], frame.loc[40, "donor"] = None, None
    frame.to_parquet(path, row_group_size=20)
    refused = sparsieve("select", path, *options, tmp_path / "no.csv")
    assert "target 'kind' of flowers.parquet is missing in 1 row" in refused.err
    result = sparsieve("select", path, *options, tmp_path / "found.csv", "--drop-unlabelled")
    assert ", 43 samples (2 left out)" in result.err
    assert "read the features 2 times" in result.err
    assert (tmp_path / "found.csv").read_text() == (tmp_path / "expected.csv").read_text()


def test_what_needs_memory_says_so(sparsieve, data, tmp_path):
    path, target = stored(".h5ad", *data, tmp_path)
    start = ("select", path, "-t", target, "--memory", "2MB")
    for options in (("--null", 3), ("-k", "auto"), ("--report", tmp_path / "r.html")):
        result = sparsieve(*start, *options)
        assert result.code == 2
        assert f"{options[0]}" in result.err
        assert "in memory" in result.err
    result = sparsieve(*start, "-m", "relieff")
    assert result.code == 1
    assert "ReliefFSelector needs X in memory" in result.err
    result = sparsieve(*start[:-1], "lots")
    assert result.code == 2
    assert "--memory must be an amount" in result.err
    assert sparsieve("select", tmp_path / "none.npy", "-t", "y.npy").code == 1


def test_npy_needs_a_second_file_with_as_many_values(sparsieve, data, tmp_path):
    X, kinds = data
    path, _ = stored(".npy", X, kinds[:-1], tmp_path)
    assert "45 rows but kinds has 44 values" in sparsieve("select", path, "-t", "kinds.npy").err
    assert sparsieve("select", path).code == 2
    assert "'other.npy' does not exist" in sparsieve("select", path, "-t", "other.npy").err
    other = tmp_path / "elsewhere" / "y.npy"
    assert f"'{other}' does not exist" in sparsieve("select", path, "-t", other).err
    other.parent.mkdir()
    np.save(other, kinds)
    options = ("-k", 2, "-n", "--memory", "2MB")
    for named in (other, "elsewhere/y.npy"):  # as it is, or seen from beside X
        assert sparsieve("select", path, "-t", named, *options).out.split() == ["x4", "x1"]


@pytest.mark.parametrize(
    "labels", [[1, 2, 3], [0.5, 1.5, 2.5], [True, False, True], ["a", "b", ""]]
)
def test_labels_of_parquet_are_what_they_were(labels):
    pyarrow = pytest.importorskip("pyarrow")
    from sparsieve.app.io.binary import plain_values

    column = pyarrow.chunked_array([labels, labels[::-1]])
    found = plain_values(column)
    np.testing.assert_array_equal(found, np.array([*labels, *labels[::-1]]))
    assert plain_values(pyarrow.chunked_array([[*labels, None]])) == [*labels, None]
