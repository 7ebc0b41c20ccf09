"""Files that were damaged on the way, or made to do harm."""

import contextlib
import gzip
import random

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from sparsieve import _matlab
from sparsieve.io import DataError, read_table

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


def test_a_reader_that_crashes_takes_nobody_along(tmp_path, monkeypatch):
    path, script = tmp_path / "data.mat", tmp_path / "crash.py"
    write(path, ".mat")
    monkeypatch.setattr(_matlab, "_SCRIPT", script)
    script.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    with pytest.raises(DataError, match=r"data\.mat is not a readable \.mat file: it is damaged"):
        read_table(path)
    script.write_text("print('not json')\n")
    with pytest.raises(DataError, match="it is damaged"):
        read_table(path)
    script.write_text("import time\ntime.sleep(60)\n")
    monkeypatch.setattr(_matlab, "_SECONDS", 0.2)
    with pytest.raises(DataError, match=r"reading it takes more than 0\.4 s"):
        read_table(path)


def test_pointers_of_a_matrix_without_entries_may_not_fall(tmp_path):
    """SciPy does not look at them, and crashes when it converts the matrix."""
    path = tmp_path / "X.mat"
    savemat(path, {"X": sparse.csc_array((12, 4)), "y": np.arange(12) % 2})
    pointers = np.array([5, 20, 0, 0, 0, 0, 0], dtype="<i4").tobytes()  # five whole numbers
    falling = np.array([5, 20, 0, 12, 24, 0, 0], dtype="<i4").tobytes()
    content = path.read_bytes()
    assert content.count(pointers) == 1
    path.write_bytes(content.replace(pointers, falling))
    # Older versions of SciPy do look.
    with pytest.raises(DataError, match=r"index pointers of a sparse matrix fall|it is damaged"):
        read_table(path)


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
