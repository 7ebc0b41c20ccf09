"""The registry: consistent in itself, and with the files where they are at hand."""

import hashlib
import os
import re
from pathlib import Path

import numpy as np
import pytest

from sparsieve.datasets import list_datasets, load_dataset
from sparsieve.datasets.load import PAPERS, registry

ROWS = list(registry().values())


def data_folder():
    named = os.environ.get("SPARSIEVE_DATA")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "data"


def test_rows_are_complete():
    assert len({row.name for row in ROWS}) == len(ROWS)
    for row in ROWS:
        assert re.fullmatch(r"[a-z0-9_]+", row.name)
        assert row.n_samples > row.n_classes
        assert row.n_classes >= 2 or row.name == "diabetes"  # a target of numbers
        assert row.n_features > 1
        assert row.kind
        assert row.origin
        assert set(row.papers) <= set(PAPERS)
        assert all(row.papers.values())
        assert re.fullmatch(r"([0-9a-f]{64})?", row.sha256)
        assert row.name not in row.stand_in.split()
        assert row.status in ("embedded", "missing", "unavailable")
        assert (row.status == "unavailable") == bool(row.unavailable)
        assert (row.status == "missing") <= bool(row.sha256), row.name


def test_stand_ins_are_obtainable_and_have_the_same_samples():
    stand_ins = {row.name: row.stand_in for row in ROWS if row.stand_in}
    assert stand_ins == {
        "colon": "colon_raw",
        "lung": "lung_203",
        "carcinom": "carcinoma_174",
        "tumor14": "tumor14_190",
    }
    for name, other in stand_ins.items():
        # Another version of data that can be had serves where only that one is at hand.
        assert registry()[name].status == ("missing" if name == "colon" else "unavailable")
        assert registry()[other].status == "missing"
        assert registry()[name].n_samples == registry()[other].n_samples


@pytest.mark.parametrize(
    ("paper", "count"),
    [("robust-l20", 9), ("l20", 8), ("exclusive-l21", 12), ("l0-mkl", 11), ("l0-mpm", 8)],
)
def test_every_set_of_every_paper_is_there(paper, count):
    rows = list_datasets(paper=paper)
    assert len(rows) == count
    assert len({row.papers[paper] for row in rows}) == count


def test_checksums_differ():
    sums = [row.sha256 for row in ROWS if row.sha256]
    assert len(set(sums)) == len(sums)


def test_unavailable_sets_say_why():
    gli = registry()["gli_85"]
    assert (gli.n_samples, gli.n_features, gli.status) == (85, 22283, "unavailable")
    assert gli.unavailable == "no exact copy could be obtained"


@pytest.mark.parametrize("row", [row for row in ROWS if row.sha256], ids=lambda row: row.name)
def test_files_are_what_the_registry_says(row):
    path = data_folder() / f"{row.name}.npz"
    if not path.is_file():
        pytest.skip(f"{row.name}.npz is not in the data folder")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == row.sha256
    data = load_dataset(row.name, data_home=data_folder())
    assert data.X.shape == (row.n_samples, row.n_features)
    assert data.X.dtype == np.float64
    assert np.array_equal(np.unique(data.y), np.arange(row.n_classes))
    assert len(data.class_names) == row.n_classes
    assert len(data.feature_names) == row.n_features
    assert np.isfinite(data.X).all()
    assert data.name == row.name
    assert row.kind in data.description


def test_wdbc_is_the_set_of_scikit_learn():
    path = data_folder() / "wdbc.npz"
    if not path.is_file():
        pytest.skip("wdbc.npz is not in the data folder")
    data = load_dataset("wdbc")
    with np.load(path) as file:
        assert np.array_equal(file["X"], data.X)
        assert np.array_equal(file["y"], data.y)
        assert np.array_equal(file["feature_names"], data.feature_names)


def test_extra_arrays_of_a_file_are_kept():
    if not (data_folder() / "wobc.npz").is_file():
        pytest.skip("wobc.npz is not in the data folder")
    data = load_dataset("wobc", data_home=data_folder())
    assert data.X_all.shape == (699, 9)
    assert np.isnan(data.X_all).sum() == 16
