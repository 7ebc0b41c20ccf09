import csv
import gzip
import os
import stat
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparsieve.app.io import DataError, Table, read_table, write_table


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


@pytest.mark.slow
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


def test_long_tables_are_written_in_parts(tmp_path, monkeypatch):
    path = tmp_path / "out.csv"
    values = np.array([1.0, 2.0, 3.0, 4.5, 5.0])  # a column with a fraction keeps its points
    columns = {"f": values, "i": np.floor(values), "t": np.array(list("abcde"))}
    write_table(path, columns)
    whole = path.read_text()
    monkeypatch.setattr("sparsieve.app.io.write._ROWS", 2)
    write_table(path, columns)
    assert path.read_text() == whole == "f,i,t\n1.0,1,a\n2.0,2,b\n3.0,3,c\n4.5,4,d\n5.0,5,e\n"


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


# -- as a careful cp -----------------------------------------------------------------------------

ONE = {"a": np.array([1.0])}


@pytest.mark.posix
def test_the_mode_of_a_replaced_file_stays_and_a_new_one_follows_the_mask(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")
    path.chmod(0o600)
    write_table(path, ONE)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    mask = os.umask(0o027)
    try:
        write_table(tmp_path / "new.csv", ONE)
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.csv").stat().st_mode) == 0o640


@pytest.mark.posix
def test_links_are_written_through(tmp_path):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "out.csv", tmp_path / "link.csv"
    target.write_text("old")
    link.symlink_to(target)
    write_table(link, ONE)
    assert link.is_symlink()
    assert target.read_text() == "a\n1\n"
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "real" / "new.csv")
    write_table(tmp_path / "dangling.csv", ONE)
    assert (tmp_path / "real" / "new.csv").read_text() == "a\n1\n"
    (tmp_path / "nowhere.csv").symlink_to(tmp_path / "none" / "new.csv")
    with pytest.raises(DataError, match="none does not exist"):
        write_table(tmp_path / "nowhere.csv", ONE)


@pytest.mark.posix
def test_planted_links_are_not_followed(tmp_path, monkeypatch):
    """Whatever the name of the scratch file is, a link of that name is left alone."""
    from sparsieve import _files

    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(_files.secrets, "token_hex", lambda n: "known")
    (tmp_path / ".known.part").symlink_to(victim)
    with pytest.raises(DataError, match="File exists"):
        write_table(tmp_path / "out.csv", ONE)
    assert victim.read_text() == "precious"


def test_scratch_names_cannot_be_foreseen(tmp_path):
    from sparsieve._files import replacing

    names = set()
    for _ in range(5):
        with replacing(tmp_path / "out.csv") as scratch:
            names.add(scratch.name)
    assert len(names) == 5
    assert not any(str(os.getpid()) in name and "out" in name for name in names)


@pytest.mark.posix
def test_pipes_are_written_to(tmp_path):
    path = tmp_path / "pipe.csv"
    os.mkfifo(path)
    read = []
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_table(path, ONE)
    reader.join(10)
    assert read == ["a\n1\n"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_folder_that_may_not_be_written_to_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)
    with pytest.raises(DataError, match=r"the folder .* may not be written to"):
        write_table(tmp_path / "out.csv", ONE)
    monkeypatch.undo()

    def refused(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(DataError, match=r"the folder .* may not be written to"):
        write_table(tmp_path / "out.csv", ONE)


def test_names_too_long_and_of_any_bytes(tmp_path):
    with pytest.raises(DataError, match="File name too long"):
        write_table(tmp_path / ("x" * 300 + ".csv"), ONE)
    path = tmp_path / "\udcff\udcfe.csv"
    write_table(path, ONE)
    assert path.read_text() == "a\n1\n"
    long = tmp_path / ("y" * 250 + ".csv")  # the scratch file must not be longer than that
    write_table(long, ONE)
    assert long.read_text() == "a\n1\n"


def test_formulas_are_escaped_on_request(tmp_path):
    path = tmp_path / "out.csv"
    columns = {
        "=cmd()": np.array([-1.5, 2.0]),
        "label": np.array(["@SUM(A1)", "plain"]),
        "+x": np.array(["-1+1", "\tx"]),
    }
    write_table(path, columns, escape_formulas=True)
    assert path.read_text() == "'=cmd(),label,'+x\n-1.5,'@SUM(A1),'-1+1\n2.0,plain,'\tx\n"
    write_table(path, columns)
    assert path.read_text().startswith("=cmd(),label,+x\n")


@given(st.lists(st.text("'=+-@\t\rx", max_size=4), min_size=1, max_size=6, unique=True))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_escaped_names_and_labels_stay_apart(tmp_path, names):
    path = tmp_path / "out.csv"
    columns = {name: np.array(names) for name in names}
    write_table(path, columns, escape_formulas=True)
    with open(path, newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert len(set(header)) == len(names) == len(rows)
    assert len({row[0] for row in rows}) == len(names)
    for text in (*header, *rows[0]):
        assert not text.startswith(("=", "+", "-", "@", "\t", "\r"))
    for text, written in zip(names, header, strict=True):
        assert written in (text, f"'{text}")


def test_a_name_that_looks_escaped(tmp_path):
    path = tmp_path / "out.csv"
    columns = {"=x": np.array([1.0]), "'=x": np.array([2.0]), "'t": np.array([3.0])}
    write_table(path, columns, escape_formulas=True)
    assert path.read_text() == "'=x,''=x,'t\n1,2,3\n"
