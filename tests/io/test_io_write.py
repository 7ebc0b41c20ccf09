import gzip

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsieve.io import DataError, Table, read_table, write_table


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip(tmp_path, suffix, dtype):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(7, 3)).astype(dtype)
    X[:, 1] = np.round(X[:, 1])
    labels = np.array(["a,b", 'say "hi"', "tab\there", "x", "x", "y", "y"])
    table = Table(X, labels, ("one", "two, 2", "üb"), "label")
    path = tmp_path / f"out{suffix}"
    write_table(path, table.columns())
    back = read_table(path, "label")
    np.testing.assert_array_equal(back.X.astype(dtype), X)
    assert back.feature_names == table.feature_names
    assert back.y.tolist() == labels.tolist()


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    values=st.lists(st.floats(allow_infinity=False), min_size=1, max_size=5),
    names=st.lists(
        st.text(
            st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zs", "Zl", "Zp")),
            min_size=1,
            max_size=5,
        ),
        min_size=2,
        max_size=2,
        unique=True,
    ),
)
def test_any_floats_and_names_survive_csv(tmp_path, values, names):
    columns = {
        names[0]: np.array(values),
        names[1]: np.array(values),
        "the target": np.arange(len(values)),
    }
    path = tmp_path / "out.csv"
    write_table(path, columns)
    back = read_table(path, "the target")
    assert list(back.feature_names) == names
    np.testing.assert_array_equal(back.X[:, 0], values)


def test_whole_numbers_and_missing_values_in_text(tmp_path):
    path = tmp_path / "out.csv"
    write_table(path, {"i": np.array([1.0, 2.0]), "f": np.array([0.5, np.nan])})
    assert path.read_text() == "i,f\n1,0.5\n2,\n"


def test_gzip_output_is_gzip(tmp_path):
    path = tmp_path / "out.csv.gz"
    write_table(path, {"a": np.array([1.0])})
    assert gzip.decompress(path.read_bytes()) == b"a\n1\n"


def test_sparse_and_several_targets():
    X = sparse.csr_matrix(np.eye(3))
    table = Table(X, np.arange(6).reshape(3, 2), ("a", "b", "c"), "y")
    columns = table.select([2, 0]).columns()
    assert list(columns) == ["c", "a", "y0", "y1"]
    np.testing.assert_array_equal(columns["c"], [0, 0, 1])
    np.testing.assert_array_equal(columns["y1"], [1, 3, 5])


def test_feature_named_like_the_target():
    with pytest.raises(DataError, match="both called 'y'"):
        Table(np.eye(2), np.arange(2), ("y", "z"), "y").columns()


def test_refused_outputs(tmp_path):
    columns = {"a": np.array([1.0])}
    with pytest.raises(DataError, match=r"unknown suffix '\.xlsx'; known are \.csv"):
        write_table(tmp_path / "out.xlsx", columns)
    with pytest.raises(DataError, match="does not exist"):
        write_table(tmp_path / "none" / "out.csv", columns)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(DataError, match="it is a folder"):
        write_table(tmp_path / "folder.csv", columns)


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("precious")
    with pytest.raises(ValueError):
        write_table(path, {"a": np.array([1.0]), "b": np.array([1.0, 2.0])})
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
