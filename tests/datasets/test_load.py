"""Loading by name: embedded sets, the three file formats, and every way to go wrong."""

import copy
import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from sparsieve.app.io import read_table
from sparsieve.datasets import get_data_home, list_datasets, load_dataset
from sparsieve.datasets.load import Dataset

X = np.array([[1.5, 2, 3], [4, 5, 6], [7, 8, 9.25], [0, 1, 0]])
LABELS = np.array([3, -1, 3, 7])
CODES = [1, 0, 1, 2]


@pytest.fixture
def home(tmp_path):
    return tmp_path


def load(name, home, **settings):
    return load_dataset(name, data_home=home, **settings)


# ---------------------------------------------------------------- embedded sets


@pytest.mark.parametrize(
    ("name", "shape", "first_class"),
    [
        ("digits", (1797, 64), "0"),
        ("breast_cancer", (569, 30), "malignant"),
        ("wdbc", (569, 30), "malignant"),
        ("wine", (178, 13), "class_0"),
    ],
)
def test_embedded_sets(name, shape, first_class, home):
    data = load(name, home)
    assert isinstance(data, Dataset)
    assert data.X.shape == shape
    assert data.X.dtype == np.float64
    assert len(set(data.feature_names)) == shape[1]
    assert np.array_equal(np.unique(data.y), np.arange(len(data.class_names)))
    assert data.class_names[0] == data.target_names[0] == first_class
    assert data.name == name
    assert f"{shape[0]} x {shape[1]}" in data.description


def test_an_embedded_set_of_numbers(home):
    data = load("diabetes", home)
    assert (data.X.shape, data.y.dtype, data.class_names) == ((442, 10), np.float64, None)
    assert repr(data) == "<Dataset 'diabetes': 442 samples, 10 features, regression>"
    assert "442 x 10, numbers" in data.description


def test_a_dataset_pickles_and_copies(home):
    data = load("wine", home)
    for other in (pickle.loads(pickle.dumps(data)), copy.deepcopy(data)):
        assert isinstance(other, Dataset)
        assert repr(other) == repr(data) == "<Dataset 'wine': 178 samples, 13 features, 3 classes>"
        assert np.array_equal(other.X, data.X)


def test_names_ignore_case(home):
    assert load("Wine", home).name == "wine"


# ---------------------------------------------------------------- the data folder


def test_data_home_in_order_of_preference(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert get_data_home(tmp_path) == tmp_path
    assert get_data_home("~/data") == Path.home() / "data"
    assert get_data_home() == tmp_path / "named"
    monkeypatch.setenv("SPARSIEVE_DATA", "")
    assert get_data_home() == tmp_path / "cache" / "sparsieve"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert get_data_home() == Path.home() / ".cache" / "sparsieve"


def test_environment_names_the_folder(monkeypatch, home):
    np.savez(home / "mine.npz", X=X, y=LABELS)
    monkeypatch.setenv("SPARSIEVE_DATA", str(home))
    assert load_dataset("mine").X.shape == (4, 3)


def test_listing(home):
    before = {row.name: row.status for row in list_datasets(data_home=home / "nowhere")}
    assert (before["digits"], before["coil20"], before["gli_85"]) == (
        "embedded",
        "missing",
        "unavailable",
    )
    savemat(home / "GLI_85.mat", {"X": X, "Y": LABELS})
    savemat(home / "lymphoma.mat", {"X": X, "Y": LABELS})
    np.savez(home / "Mine.npz", X=X, y=LABELS)
    (home / "notes.txt").write_text("not data")
    rows = {row.name: row for row in list_datasets(data_home=home)}
    assert set(rows) - set(before) == {"Mine"}
    assert rows["Mine"].n_samples is None
    for name, file in [
        ("gli_85", "GLI_85.mat"),
        ("lymphoma_96", "lymphoma.mat"),
        ("Mine", "Mine.npz"),
    ]:
        assert (rows[name].status, rows[name].path) == ("present", home / file)
    with pytest.raises(ValueError, match=r"paper must be one of 'robust-l20', .*, got 'l21'"):
        list_datasets(paper="l21")


def test_a_public_name_counts_for_mat_files_only(home):
    (home / "lymphoma.csv").write_text("a,b,target\n1,2,x\n3,4,y\n")
    rows = {row.name: row.status for row in list_datasets(data_home=home)}
    assert rows["lymphoma_96"] == "missing"
    assert rows["lymphoma"] == "present"
    assert load("lymphoma", home).X.shape == (2, 2)


def test_npz_before_mat_before_csv(home):
    (home / "mine.csv").write_text("a,b,target\n1,2,x\n3,4,y\n")
    assert load("mine", home).X.shape == (2, 2)
    savemat(home / "mine.mat", {"X": X, "Y": LABELS})
    assert load("mine", home).X.shape == (4, 3)
    np.savez(home / "mine.npz", X=X[:3], y=LABELS[:3])
    assert load("mine", home).X.shape == (3, 3)


# ---------------------------------------------------------------- round trips


def test_npz_round_trip(home):
    np.savez(
        home / "mine.npz",
        X=X.astype(np.uint8),
        y=np.array(CODES),
        class_names=["low", "mid", "high"],
        feature_names=["a", "b", "c"],
        weight=np.ones(4),
    )
    data = load("mine", home)
    assert data.X.dtype == np.float64
    assert np.array_equal(data.X, np.floor(X))
    assert data.y.tolist() == CODES
    assert data.class_names.tolist() == ["low", "mid", "high"]
    assert data.feature_names.tolist() == ["a", "b", "c"]
    assert data.weight.tolist() == [1, 1, 1, 1]
    assert (data.name, data.description) == ("mine", "file mine.npz")


@pytest.mark.parametrize("dtype", [np.float32, ">f4", "<f4"])
def test_single_precision_stays(home, dtype):
    np.savez(home / "mine.npz", X=X.astype(dtype), y=LABELS)
    assert load("mine", home).X.dtype == np.float32


def test_npz_without_names_is_encoded(home):
    np.savez(home / "mine.npz", X=X, y=LABELS)
    data = load("mine", home)
    assert data.y.tolist() == CODES
    assert data.class_names.tolist() == ["-1", "3", "7"]
    assert data.feature_names.tolist() == ["x0", "x1", "x2"]


def test_fractions_mean_regression(home):
    np.savez(home / "mine.npz", X=X, y=[0.5, 1.0, 2.0, 3.0])
    data = load("mine", home)
    assert data.class_names is None
    assert data.y.tolist() == [0.5, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(("data_key", "label_key"), [("X", "Y"), ("X", "y"), ("fea", "gnd")])
def test_mat_round_trip(home, data_key, label_key):
    savemat(home / "mine.mat", {data_key: X, label_key: LABELS[:, None].astype(np.int16)})
    data = load("mine", home)
    assert np.array_equal(data.X, X)
    assert data.y.tolist() == CODES
    assert data.class_names.tolist() == ["-1", "3", "7"]


def test_mat_with_text_labels_and_sparse_data(home):
    labels = np.array(["b", "aa", "b", "c"], dtype=object)
    savemat(home / "mine.mat", {"X": sparse.csc_array(X), "Y": labels})
    data = load("mine", home)
    assert sparse.issparse(data.X)
    assert data.X.dtype == np.float64
    assert np.array_equal(data.X.toarray(), X)
    assert data.y.tolist() == [1, 0, 1, 2]
    assert data.class_names.tolist() == ["aa", "b", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "a,b,outcome\n1.5,2,no\n3,4,yes\n",
        "a,target,b\n1.5,no,2\n3,yes,4\n",
        "Class,a,b\nno,1.5,2\nyes,3,4\n",
        "\ufeffa,b,label\r\n1.5,2,no\r\n\r\n3,4,yes\r\n",
        ",a,b,label\n0,1.5,2,no\n1,3,4,yes\n",
        "a,b,label\nr1,1.5,2,no\nr2,3,4,yes\n",
        "a;b;label\n1,5;2;no\n3;4;yes\n",
    ],
    ids=["last", "target", "class", "bom, crlf and blank line", "data frame index", "R", "comma"],
)
def test_csv_layouts(home, text):
    (home / "mine.csv").write_text(text, newline="", encoding="utf-8")
    data = load("mine", home)
    assert data.X.tolist() == [[1.5, 2], [3, 4]]
    assert data.y.tolist() == [0, 1]
    assert data.class_names.tolist() == ["no", "yes"]
    assert data.feature_names.tolist() == ["a", "b"]


def test_csv_missing_cells_and_number_labels(home):
    (home / "mine.csv").write_text("a,b,target\n1,,2\n?,4,-1\n NA ,6,2\n")
    data = load("mine", home)
    assert np.array_equal(data.X, [[1, np.nan], [np.nan, 4], [np.nan, 6]], equal_nan=True)
    assert data.y.tolist() == [1, 0, 1]
    assert data.class_names.tolist() == ["-1", "2"]


def test_csv_with_numbers_for_names_behind_a_data_frame_index(home):
    (home / "mine.csv").write_text(",0,1,2\na,1,2,x\nb,3,4,y\n")
    data = load("mine", home)
    assert data.feature_names.tolist() == ["0", "1"]
    assert data.class_names.tolist() == ["x", "y"]


def test_csv_is_read_as_read_table_reads_it(home):
    text = "a,b,c,label\n1,TRUE,,007\n2,false,n/a,7\n1e3,true,-.5,007\n"
    (home / "mine.csv").write_text(text)
    data, table = load("mine", home), read_table(home / "mine.csv", target="label")
    assert np.array_equal(data.X, table.X, equal_nan=True)
    assert data.feature_names.tolist() == list(table.feature_names)
    assert data.class_names[data.y].tolist() == table.y.tolist() == ["007", "7", "007"]


# ---------------------------------------------------------------- what can go wrong


def test_unknown_name_suggests_the_nearest(home):
    with pytest.raises(ValueError, match=r"did you mean 'coil20'\? .*list_datasets\(\) lists all"):
        load("coil_20", home)
    np.savez(home / "experiment.npz", X=X, y=LABELS)
    with pytest.raises(ValueError, match="did you mean 'experiment'"):
        load("experimant", home)
    with pytest.raises(ValueError, match=r"unknown data set 'zzzzzzzz', and no .*; sparsieve"):
        load("zzzzzzzz", home)
    with pytest.raises(ValueError, match=r"unknown data set '\.\./experiment'"):
        load("../experiment", home / "deeper")
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        load(3, home)


def test_missing_set_says_where_and_what(home):
    with pytest.raises(FileNotFoundError) as caught:
        load("coil20", home)
    message = str(caught.value)
    assert str(home) in message
    assert "github.com/jundongl/scikit-feature @ 48cffad, skfeature/data/COIL20.mat" in message
    assert "coil20.npz, coil20.mat, coil20.csv" in message
    assert "\n" not in message


def test_unavailable_set_gives_the_reason_and_the_stand_in(home):
    with pytest.raises(FileNotFoundError, match=r"no exact copy could .*'lung_203'"):
        load("lung", home)


def test_wrong_checksum_is_refused_unless_told(home):
    np.savez(home / "colon.npz", X=X, y=LABELS)
    with pytest.raises(ValueError, match=r"colon\.npz' is not the registered .*verify=False"):
        load("colon", home)
    assert load("colon", home, verify=False).X.shape == (4, 3)
    with pytest.raises(ValueError, match="verify must be True or False, got 'no'"):
        load("colon", home, verify="no")


@pytest.mark.long("starts processes")
def test_wrong_shape_is_refused_unless_told(home):
    savemat(home / "Carcinom.mat", {"X": X, "Y": LABELS})
    with pytest.raises(ValueError, match=r"4 x 3 values and 3 classes, .* 174 x 9182, 11 classes"):
        load("carcinom", home)
    assert load("carcinom", home, verify=False).name == "carcinom"


def refused(home, message, name="mine"):
    with pytest.raises(ValueError, match=message) as caught:
        load(name, home)
    text = str(caught.value)
    assert text.startswith(f"cannot load '{home / name}")
    assert "\n" not in text


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".csv"])
def test_empty_file(home, suffix):
    (home / f"mine{suffix}").touch()
    refused(home, "the file is empty")


@pytest.mark.parametrize("suffix", [".npz", ".mat", ".csv"])
def test_binary_garbage(home, suffix):
    (home / f"mine{suffix}").write_bytes(bytes(range(256)) * 20)
    refused(home, rf"mine\{suffix} is not")


@pytest.mark.thinned(3)
@pytest.mark.parametrize("suffix", [".npz", ".mat"])
@pytest.mark.parametrize("kept", [0.2, 0.5, 0.9, 0.99])
def test_truncated_file(home, suffix, kept):
    path = home / f"mine{suffix}"
    values = np.random.default_rng(0).normal(size=(40, 30))
    if suffix == ".npz":
        np.savez_compressed(path, X=values, y=np.arange(40) % 3)
    else:
        savemat(path, {"X": values, "Y": np.arange(40) % 3}, do_compression=True)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content))])
    refused(home, "truncated|damaged|not|found")


def test_every_flipped_byte_gives_a_sentence_or_data(home):
    path = home / "mine.npz"
    np.savez(path, X=X, y=LABELS)
    content = path.read_bytes()
    sentences = []
    for position in range(0, len(content), 3):
        flipped = bytearray(content)
        flipped[position] ^= 0xFF
        path.write_bytes(flipped)
        try:
            load("mine", home)
        except ValueError as error:
            sentences.append(str(error))
    assert len(sentences) > 50
    assert all(text.startswith("cannot load ") and "\n" not in text for text in sentences)


def test_header_that_asks_for_too_much_memory(home):
    array = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        array, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**7)}
    )
    with zipfile.ZipFile(home / "mine.npz", "w") as archive:
        archive.writestr("X.npy", array.getvalue())
    with pytest.raises((ValueError, MemoryError), match=r"^cannot load .*"):
        load("mine", home)


def test_pickled_objects_are_refused(home):
    np.savez(home / "mine.npz", X=X, y=np.array(["a", "b", None, "c"], dtype=object))
    refused(home, r"the array 'y' of mine.npz holds pickled Python objects, .*save it again")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, r"lacks the array 'y'; it holds 'X'"),
        ({"data": X}, r"lacks the arrays 'X', 'y'; it holds 'data'"),
        ({"X": X, "y": LABELS[:3]}, "X has 4 rows but y has 3 labels"),
        ({"X": X[0], "y": LABELS}, r"X must be a non-empty 2D array, .*got shape \(3,\)"),
        ({"X": X[:, :0], "y": LABELS}, r"X must be a non-empty 2D array, .*got shape \(4, 0\)"),
        ({"X": X.astype(str), "y": LABELS}, "X must contain real numbers, got dtype <U"),
        ({"X": X, "y": [0, np.nan, 1, 1]}, "the target has missing or infinite values"),
        ({"X": X, "y": LABELS * 1j}, "the target must contain numbers or text, got dtype complex"),
        ({"X": X, "y": LABELS, "class_names": ["a", "b"]}, "y must hold integers from 0 to 1"),
        ({"X": X, "y": LABELS, "feature_names": ["a"]}, "X has 3 columns but 1 feature names"),
        ({"X": X, "y": LABELS, "self": LABELS}, "truncated or damaged .*'self'"),
        ({"X": X, "y": LABELS, "feature_names": [b"\xff"] * 3}, "truncated or damaged"),
    ],
)
def test_npz_with_wrong_content(home, arrays, message):
    np.savez(home / "mine.npz", **arrays)
    refused(home, message)


def test_npz_that_is_a_single_array(home):
    with (home / "mine.npz").open("wb") as handle:
        np.save(handle, X)
    refused(home, "mine.npz is not a readable .npz file")


@pytest.mark.long("starts processes")
def test_mat_with_wrong_content(home):
    savemat(home / "mine.mat", {"A": X, "B": LABELS})
    refused(home, r"looked for X/Y, .*but the file holds 'A', 'B'")
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124) + b"\x00\x02IM"
    (home / "mine.mat").write_bytes(header + bytes(512))
    refused(home, "version 7.3 .* -v7")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,target\n", "mine.csv has column names but no rows"),
        ("a b target\n1 2 x\n", "no comma, semicolon or tab in its first line"),
        ("1,2,3\n4,5,6\n", "the first row holds numbers; a header row"),
        ("a,a,target\n1,2,x\n", "duplicate column names: 'a'"),
        ("a,b,target\n1,2,x\n3,y\n", "line 3 has 2 fields but the first line has 3"),
        ("a,b,target\n1,red,x\n3,4,y\n", r"column 'b' holds text \('red'\)"),
        ("a,b,target\n1,2,x\n3,4,\n", "target column 'target' has empty cells"),
        ("a,b,target\n1,2,0\n3,4,nan\n", "target column 'target' has empty cells"),
        ("a,b,target\n1,2,0\n3,4,?\n", "target column 'target' has empty cells"),
        ("a,b,target\n1,2,0\n3,4,inf\n", "the target has missing or infinite values"),
        (",target\n0,x\n1,y\n", "no column besides the target 'target'"),
        # in an array of text all cells would be as long
        (f"a,b,target\n1,2,x\n3,4,{'y' * 2000}\n", "'target' of .* text of 2000 characters"),
    ],
)
def test_csv_with_wrong_content(home, text, message):
    (home / "mine.csv").write_text(text)
    refused(home, message)


def test_an_unnamed_first_column_of_values_is_kept(home):
    (home / "mine.csv").write_text(",a,target\n0.5,1,x\n1.5,2,y\n")
    with pytest.warns(UserWarning, match=r"first column of mine.csv has no name and is called x0"):
        found = load("mine", home)
    assert found.feature_names.tolist() == ["x0", "a"]
    assert found.X.tolist() == [[0.5, 1.0], [1.5, 2.0]]


@pytest.mark.slow
def test_importing_stays_light():
    code = (
        "import sys, sklearn.base; before = set(sys.modules); import sparsieve.datasets as d; "
        "d.list_datasets(); new = set(sys.modules) - before; "
        "print(sorted(n for n in new if n.split('.')[0] == 'pandas' or n.startswith('scipy.io') "
        "or n.startswith('sklearn.datasets')))"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"
