import numpy as np
import pytest

from sparsieve_experiments.papers.base import Bench
from sparsieve_experiments.papers.data import described
from sparsieve_experiments.papers.fingerprints import fingerprint_of


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))

    def written(*labels):
        rows = "".join(f"{place}.5,{label}\n" for place, label in enumerate(labels))
        (tmp_path / "mine.csv").write_text("a,target\n" + rows)

    return written


def test_a_changed_file_is_noticed(write):
    write(0, 0, 1)
    first = fingerprint_of("mine")
    assert fingerprint_of("mine") == first
    write(0, 0, 1, 1)
    assert fingerprint_of("mine") not in (first, "unreadable")


def test_what_cannot_be_read_is_left_to_the_reader(write, tmp_path):
    assert fingerprint_of("nothing of that name") == "unreadable"
    (tmp_path / "mine.csv").write_bytes(b"\xff\xfe")
    assert fingerprint_of("mine") == "unreadable"


def test_a_bench_computes_anew_from_changed_data(write, tmp_path):
    bench = Bench("l20", tmp_path / "store.sqlite")
    shares = []
    for labels in ((0, 0, 0, 1), (0, 1, 0, 1, 0, 1), (0, 0, 0, 1)):
        write(*labels)
        (row,) = bench.jobs("largest", described, [{"dataset": "mine"}])
        shares.append(row["largest_class_percent"])
    assert np.allclose(shares, [75.0, 50.0, 75.0])
