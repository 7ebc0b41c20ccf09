"""Data through a pipe."""

import gzip
import io

import pytest


class Pipe(io.TextIOWrapper):
    def __init__(self, data: bytes):
        super().__init__(io.BytesIO(data), encoding="utf-8")


@pytest.fixture
def piped(monkeypatch):
    return lambda data: monkeypatch.setattr("sys.stdin", Pipe(data))


SELECT = ("-t", "kind", "-k", 2, "-m", "fisher", "-n")


def test_a_pipe_gives_what_the_file_gives(sparsieve, flowers, piped):
    for form, pack in (("csv", bytes), (".CSV", bytes), ("csv.gz", gzip.compress)):
        piped(pack(flowers.read_bytes()))
        result = sparsieve("select", "-", *SELECT, "--format", form)
        assert (result.code, result.out) == (0, "t\nq\n")


def test_what_cannot_be_read_is_refused_in_words(sparsieve, flowers, piped, monkeypatch):
    piped(flowers.read_bytes())
    result = sparsieve("select", "-", *SELECT)
    assert result.code == 2
    assert "say with --format what standard input holds: csv, tsv" in result.err
    result = sparsieve("select", "-", *SELECT, "--format", "docx")
    assert (result.code, "unknown --format 'docx'" in result.err) == (2, True)
    piped(b"")
    result = sparsieve("select", "-", *SELECT, "--format", "csv")
    assert (result.code, "standard input.csv is empty" in result.err) == (1, True)
    terminal = Pipe(b"")
    monkeypatch.setattr(terminal, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", terminal)
    result = sparsieve("select", "-", *SELECT, "--format", "csv")
    assert (result.code, "pipe data into it" in result.err) == (2, True)
