"""Files that were damaged on the way, or made to do harm."""

import contextlib
import gzip
import json
import pathlib
import pickle
import random
import struct
import subprocess
import sys

import numpy as np
import pytest
import scipy
from scipy import sparse
from scipy.io import savemat
from sklearn.utils.fixes import parse_version

import sparsieve
from sparsieve.app.io import DataError, arrays, read_table

X = np.random.default_rng(0).standard_normal((12, 4))
Y = np.arange(12) % 2
NAMES = ["a", "b", "c", "d"]


def write(path, suffix):
    rows = [",".join(map(str, [*values, label])) for values, label in zip(X, Y, strict=True)]
    text = "\n".join([",".join([*NAMES, "y"]), *rows]) + "\n"
    if suffix == ".csv.gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif suffix == ".npz":
        np.savez_compressed(path, X=X, y=Y)
    elif suffix == ".mat":
        cells = np.array(NAMES, dtype=object)
        savemat(path, {"X": sparse.csc_array(X), "y": Y, "feature_names": cells})
    elif suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        columns = {name: X[:, j] for j, name in enumerate(NAMES)}
        parquet.write_table(arrow.table({**columns, "y": Y}), path)
    elif suffix == ".h5ad":
        anndata = pytest.importorskip("anndata")
        anndata.AnnData(X=X, obs={"y": Y}).write_h5ad(path)
    elif suffix == ".svm":
        lines = [
            f"{label} " + " ".join(f"{j + 1}:{value}" for j, value in enumerate(values))
            for values, label in zip(X, Y, strict=True)
        ]
        path.write_text("\n".join(lines))


def mutated(whole: bytes, rng: random.Random) -> bytes:
    changed = bytearray(whole)
    kind = rng.randrange(4)
    place = rng.randrange(len(changed))
    if kind == 0:
        for _ in range(rng.randint(1, 8)):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    elif kind == 1:
        del changed[max(place, 1) :]
    elif kind == 2:
        changed[place:place] = changed[place : place + 50]
    else:
        changed[place : place + 8] = rng.choice([b"\xff" * 8, b"\x7f" * 8, b"99999999", bytes(8)])
    return bytes(changed)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    ("suffix", "times"),
    [(".csv.gz", 40), (".npz", 40), (".mat", 6), (".parquet", 40), (".h5ad", 25), (".svm", 40)],
)
def test_damaged_files_are_read_or_refused_in_a_sentence(tmp_path, suffix, times):
    path = tmp_path / f"data{suffix}"
    write(path, suffix)
    table = read_table(path, "y")
    np.testing.assert_allclose(table.X.toarray() if sparse.issparse(table.X) else table.X, X)
    whole, rng = path.read_bytes(), random.Random(0)
    for _ in range(times):
        path.write_bytes(mutated(whole, rng))
        with contextlib.suppress(DataError, MemoryError):
            read_table(path, "y")


@pytest.mark.parametrize("number", [2**31 - 2, 999_999_999, 2**63 - 1, 10**30])
def test_svmlight_with_absurd_numbers(tmp_path, number):
    path = tmp_path / "data.svm"
    path.write_text(f"1 1:2.0\n0 {number}:1.0\n")
    with pytest.raises(DataError):
        read_table(path)


@pytest.mark.posix
def test_a_reader_that_crashes_takes_nobody_along(tmp_path, monkeypatch):
    path, script = tmp_path / "data.mat", tmp_path / "crash.py"
    write(path, ".mat")
    monkeypatch.setattr(arrays, "_SCRIPT", script)
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(DataError, match=r"data\.mat is not a readable \.mat file: it is damaged"):
        read_table(path)
    script.write_text("print('not json')\n")
    with pytest.raises(DataError, match="it is damaged"):
        read_table(path)
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(arrays, "_SECONDS", 0.2)
    with pytest.raises(DataError, match=r"reading it takes more than 0\.4 s"):
        read_table(path)


@pytest.mark.long("starts processes")
def test_pointers_of_a_matrix_without_entries_may_not_fall(tmp_path):
    """SciPy does not look at them, and crashes when it converts the matrix."""
    path = tmp_path / "X.mat"
    savemat(path, {"X": sparse.csc_array((12, 4)), "y": np.arange(12) % 2})
    pointers = np.array([5, 20, 0, 0, 0, 0, 0], dtype="<i4").tobytes()  # five whole numbers
    falling = np.array([5, 20, 0, 12, 24, 0, 0], dtype="<i4").tobytes()
    content = path.read_bytes()
    assert content.count(pointers) == 1
    path.write_bytes(content.replace(pointers, falling))
    refused = pytest.raises(
        DataError, match=r"index pointers of a sparse matrix decrease|it is damaged"
    )
    # SciPy 1.15 turns the pointers into places by itself: that fails, or there are none.
    is_old = parse_version(scipy.__version__) < parse_version("1.16")
    with contextlib.suppress(DataError) if is_old else refused:
        assert read_table(path).X.nnz == 0


@pytest.mark.long("starts processes")
def test_a_sparse_matrix_that_points_outside_itself_is_refused(tmp_path):
    """Found by `make fuzz`: converting it to CSR took the process down."""
    matrix = sparse.csc_array(X)
    matrix.indices[5] = 2**30
    savemat(tmp_path / "forged.mat", {"X": matrix, "y": Y})
    with pytest.raises(DataError, match=r"forged.mat is not a readable .mat file"):
        read_table(tmp_path / "forged.mat")


def _linked(h5py, file, secret):
    with h5py.File(secret.with_suffix(".h5"), "w") as other:
        other["X"] = X
    file["X"] = h5py.ExternalLink(str(secret.with_suffix(".h5")), "X")


def _external(h5py, file, secret):
    file.create_dataset("X", X.shape, dtype="u1", external=[(str(secret), 0, X.size)])


def _virtual(h5py, file, secret):
    with h5py.File(secret.with_suffix(".h5"), "w") as other:
        other["X"] = X
    layout = h5py.VirtualLayout(X.shape, "f8")
    layout[:] = h5py.VirtualSource(str(secret.with_suffix(".h5")), "X", X.shape)
    file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize("suffix", [".h5", ".h5ad"])
@pytest.mark.parametrize("made", [_linked, _external, _virtual])
def test_hdf5_files_cannot_have_other_files_read(tmp_path, made, suffix):
    h5py = pytest.importorskip("h5py")
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(X.size)))
    path = tmp_path / f"data{suffix}"
    if suffix == ".h5ad":
        write(path, suffix)
    with h5py.File(path, "a") as file:
        if "X" in file:
            del file["X"]
        else:
            file["y"] = np.arange(len(X)) % 2
        made(h5py, file, secret)
    with pytest.raises(DataError, match="another file, which could be any file"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("x_shape", "n", "sentence"),
    [
        ((12, 10**11), 12, "100000000000 columns; at most"),
        ((12, 4), 10**12, "has 12 rows but y has 1000000000000 values"),
    ],
)
@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
def test_stores_that_declare_more_than_they_hold(tmp_path, suffix, x_shape, n, sentence):
    path = tmp_path / f"data{suffix}"
    if suffix == ".h5":
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.create_dataset("X", x_shape, dtype="f8", chunks=(12, 4))
            file.create_dataset("y", (n,), dtype="f8", chunks=(12,))
    else:
        zarr = pytest.importorskip("zarr")
        group = zarr.open_group(str(path), mode="w")
        group.create_array("X", shape=x_shape, dtype="f8", chunks=(12, 4))
        group.create_array("y", shape=(n,), dtype="f8", chunks=(12,))
    with pytest.raises(DataError, match=sentence):
        read_table(path, "y")


def test_hdf5_references_to_what_no_link_leads_to_are_not_followed(tmp_path):
    """Categories are read by reference, and nothing that a link does not lead to is looked at."""
    h5py = pytest.importorskip("h5py")
    path, secret = tmp_path / "data.h5ad", tmp_path / "secret"
    write(path, ".h5ad")
    secret.write_bytes(b"one line of a secret file, of 32")
    with h5py.File(path, "a") as file:
        hidden = file.create_dataset("zzz", (2,), dtype="S16", external=[(str(secret), 0, 32)])
        obs = file["obs"]
        obs.attrs["encoding-version"] = "0.1.0"
        del obs["y"]
        obs["y"] = Y.astype(np.int8)
        obs["y"].attrs["categories"] = hidden.ref
    whole = path.read_bytes()
    root = whole.rindex(b"SNOD", 0, whole.index(b"zzz\0") + 1000)  # of the last names in the root
    (count,) = struct.unpack_from("<H", whole, root + 6)
    path.write_bytes(whole[: root + 6] + struct.pack("<H", count - 1) + whole[root + 8 :])
    with h5py.File(path) as file:
        assert "zzz" not in file
        assert file[file["obs/y"].attrs["categories"]][0] == b"one line of a se"
    with pytest.raises(DataError, match="'obs/y' refers to a dataset without a name, which could"):
        read_table(path, "y")


def test_attributes_that_no_annotated_data_have_are_not_read(tmp_path):
    """Found by `make fuzz`: one changed bit made a list of a text, and reading it a crash."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "data.h5ad"
    write(path, ".h5ad")
    with h5py.File(path, "a") as file:
        letters = np.empty(1, dtype=object)
        letters[0] = np.frombuffer(b"array", dtype=np.uint8)
        file["obs/y"].attrs.create("encoding-type", letters, dtype=h5py.vlen_dtype(np.uint8))
    with pytest.raises(DataError, match="'encoding-type' of 'obs/y' is a list of any length"):
        read_table(path, "y")


# -- Zarr: what decodes a chunk is named in the metadata, and can be pickle ----------------------


class _Planted:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def _zarr(path, version):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(path, mode="w", zarr_format=version)
    group.create_array("X", data=X)
    group.create_array("y", data=Y)
    names = group.create_array("feature_names", shape=(4,), dtype=str)
    names[:] = NAMES
    return path / "feature_names" / {2: ".zarray", 3: "zarr.json"}[version]


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_groups_are_read(tmp_path, version):
    _zarr(tmp_path / "data.zarr", version)
    table = read_table(tmp_path / "data.zarr")
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, Y)
    assert table.feature_names == tuple(NAMES)


@pytest.mark.parametrize(
    "given",
    [
        {"filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]},
        {"compressor": {"id": "pickle"}},
        {"dtype": "<f8", "filters": [{"id": "pickle"}]},
    ],
)
def test_no_pickle_in_a_zarr_array_is_run(tmp_path, monkeypatch, given):
    """numcodecs before 0.16.6 unpickles whatever metadata say is a pickle, later ones if asked."""
    metadata = _zarr(tmp_path / "data.zarr", 2)
    monkeypatch.setattr("numcodecs.pickles.ALLOW_UNSAFE_PICKLE_DECODE", True, raising=False)
    found = json.loads(metadata.read_text()) | {"compressor": None} | given
    metadata.write_text(json.dumps(found))
    (metadata.parent / "0").write_bytes(pickle.dumps(_Planted(tmp_path / "planted")))
    with pytest.raises(DataError, match=r"'feature_names' of data.zarr is not read.* 'pickle'"):
        read_table(tmp_path / "data.zarr")
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize(
    ("version", "given", "sentence"),
    [
        (2, {"filters": [{"id": "vlen-utf8"}, {"id": "json2"}]}, "codec 'json2'"),
        (2, {"dtype": [["a", "<f8"]]}, "data type .* neither numbers nor text"),
        (2, {"dtype": "<M8[ns]"}, "data type '<M8"),
        (3, {"data_type": {"name": "structured", "configuration": {}}}, "data type 'structured'"),
        (3, {"codecs": [{"name": "somebody.codec"}]}, "codec 'somebody.codec'"),
        (3, {"codecs": ["numcodecs.pickle"]}, "codec 'numcodecs.pickle'"),
        (
            3,
            {
                "codecs": [
                    {
                        "name": "sharding_indexed",
                        "configuration": {
                            "chunk_shape": [4],
                            "codecs": [{"name": "bytes"}, {"name": "inner"}],
                            "index_codecs": [],
                        },
                    }
                ]
            },
            "codec 'inner'",
        ),
        (3, {"storage_transformers": [{"name": "any"}]}, "storage transformers"),
        (3, {"attributes": {"long": "x" * 2_000_000}}, "metadata take more"),
        (3, {"codecs": 3}, "cannot be read"),
    ],
)
def test_zarr_arrays_are_stored_in_known_ways(tmp_path, version, given, sentence):
    metadata = _zarr(tmp_path / "data.zarr", version)
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | given))
    with pytest.raises(DataError, match=sentence):
        read_table(tmp_path / "data.zarr")


@pytest.mark.parametrize("place", ["X/c/0/0", "X/c", "X", "X/zarr.json"])
@pytest.mark.posix
def test_zarr_folders_cannot_have_other_files_read(tmp_path, place):
    _zarr(tmp_path / "data.zarr", 3)
    inside, outside = tmp_path / "data.zarr" / place, tmp_path / "outside"
    inside.rename(outside)
    inside.symlink_to(outside)
    with pytest.raises(DataError, match="link to another file, which could be any file"):
        read_table(tmp_path / "data.zarr")


# -- sizes and shapes that a file only claims ----------------------------------------------------


def test_filters_of_hdf5_are_known_ones(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "data.h5"
    with h5py.File(path, "w") as file:
        file["X"], file["y"] = X, Y
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk((2,))
        plan.set_filter(40000, h5py.h5z.FLAG_OPTIONAL)
        kind, space = h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple((2,))
        h5py.h5d.create(file.id, b"other", kind, space, plan)
    with pytest.raises(DataError, match="'other' is stored with the unknown filter 40000"):
        read_table(path)


@pytest.mark.parametrize("suffix", [".csv.gz", ".svm.gz"])
@pytest.mark.long("data large enough to reach a limit")
def test_text_that_inflates_beyond_the_memory_limit_is_refused(tmp_path, suffix):
    path = tmp_path / f"data{suffix}"
    first, line = {".csv.gz": (b"a,b,y\n", b"1,2,0\n"), ".svm.gz": (b"", b"1 1:2\n")}[suffix]
    for bomb in (first + line * 400_000, first + b"1" * 2_000_000):  # rows, and one long line
        path.write_bytes(gzip.compress(bomb))
        with sparsieve.set_memory("1MB"), pytest.raises(DataError, match="inflates to more than"):
            read_table(path, "y")


def test_a_parquet_file_of_more_rows_than_fit_is_refused(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    write(tmp_path / "data.parquet", ".parquet")
    monkeypatch.setattr("sparsieve.app.io.errors.machine_memory", lambda: 300)
    with pytest.raises(DataError, match=r"data.parquet would take .* of memory, but this machine"):
        read_table(tmp_path / "data.parquet", "y")


@pytest.mark.parametrize("suffix", [".h5", ".h5ad", ".npz", ".zarr"])
def test_arrays_that_do_not_fit_are_refused_before_they_are_read(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"data{suffix}"
    if suffix == ".h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["X"], file["y"] = X, Y
    elif suffix == ".zarr":
        _zarr(path, 3)
    else:
        write(path, suffix)
    assert read_table(path, "y").X.shape == X.shape
    monkeypatch.setattr("sparsieve.app.io.errors.machine_memory", lambda: 90)
    with pytest.raises(DataError, match=f"data{suffix} would take .* but this machine has"):
        read_table(path, "y")


@pytest.mark.parametrize("name", ["y", "feature_names"])
@pytest.mark.parametrize("suffix", [".h5", ".zarr"])
def test_texts_that_are_declared_to_be_endless_are_not_read(tmp_path, suffix, name):
    path = tmp_path / f"data{suffix}"
    arrays = {"X": X, "y": Y, name: np.zeros({"y": 12}.get(name, 4), dtype="S100000")}
    if suffix == ".h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.update(arrays)
    else:
        group = pytest.importorskip("zarr").open_group(path, mode="w", zarr_format=2)
        for key, array in arrays.items():
            group.create_array(key, data=array)
    with pytest.raises(DataError, match=f"{name} of data{suffix} declares texts of 100000 bytes"):
        read_table(path)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.long("data large enough to reach a limit")
@pytest.mark.posix
def test_one_long_text_in_every_row_of_a_parquet_file(tmp_path, missing):
    """Of a kilobyte sixty gigabytes would become."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path, codes = tmp_path / "data.parquet", np.zeros(3000, dtype=np.int32)
    codes = arrow.array(codes, mask=np.arange(3000) == 7 if missing else None)
    texts = arrow.DictionaryArray.from_arrays(codes, arrow.array(["x" * 20_000_000]))
    parquet.write_table(arrow.table({"a": np.zeros(3000), "y": texts}), path, compression="zstd")
    assert path.stat().st_size < 5000
    code = f"""if True:
        import resource
        from sparsieve.app.io import DataError, read_table
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        for target in ("y", "a"):
            try:
                read_table({str(path)!r}, target)
            except DataError as error:
                print(error)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    first, second = done.stdout.splitlines()
    assert ("is missing in 1 row" if missing else "holds a text of 20000000 characters") in first
    assert "has a text column besides the target: 'y'" in second


@pytest.mark.parametrize("shape", [(13, 4), (12, 5), (12,)])
def test_the_matrix_of_annotated_data_must_match_its_names(tmp_path, shape):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "data.h5ad"
    write(path, ".h5ad")
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = np.ones(shape)
    with pytest.raises(DataError, match=r"X of data.h5ad has \d+ |not a readable"):
        read_table(path, "y")


@pytest.mark.parametrize("values", [X.astype(complex), X.astype("S")])
def test_the_matrix_of_annotated_data_must_hold_real_numbers(tmp_path, values):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "data.h5ad"
    write(path, ".h5ad")
    with h5py.File(path, "a") as file:
        del file["X"]
        file["X"] = values
    with pytest.raises(DataError, match="must hold real numbers, but its dtype is"):
        read_table(path, "y")


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.array(3), "not a column"),
        (np.zeros((12, 2, 2)), "not a column"),
        (np.zeros((12, 0)), "not a column"),
        (np.zeros(12, dtype=[("a", "f8")]), "not a column"),
        (np.zeros(12, dtype=complex), "not a column"),
        (np.array([b"\xff"] * 12), "not UTF-8"),
    ],
)
def test_targets_that_are_no_columns_of_numbers_or_text(tmp_path, y, sentence):
    np.savez(tmp_path / "data.npz", X=X, y=y)
    with pytest.raises(DataError, match=f"target 'y' of data.npz is .*{sentence}"):
        read_table(tmp_path / "data.npz")


def test_one_long_label_does_not_make_all_others_as_long(tmp_path):
    """In an array of text, a file of 200 kB would take gigabytes."""
    rows = "".join(f"{j},ill\n" for j in range(100))
    (tmp_path / "data.csv").write_text(f"a,y\n{rows}1,{'x' * 5000}\n")
    with pytest.raises(DataError, match=r"'y' of data.csv holds a text of 5000 characters"):
        read_table(tmp_path / "data.csv", "y")


def test_an_archive_under_the_name_of_an_array(tmp_path):
    np.save(tmp_path / "y.npy", Y)
    np.savez(tmp_path / "X.npz", X=X)
    (tmp_path / "X.npz").rename(tmp_path / "X.npy")
    with pytest.raises(DataError, match=r"X.npy is an .npz file"):
        read_table(tmp_path / "X.npy", "y.npy")
