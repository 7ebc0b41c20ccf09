"""Files that are damaged, forged or foreign are refused in one sentence and bounded memory."""

import hashlib
import io
import json
import os
import pickle
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

import sparsieve
from sparsieve import L20Selector, SelectorCV
from sparsieve.persistence import SavedFileError
from sparsieve.persistence.container import packed

X, Y = make_classification(40, 8, random_state=1)
FORMAT_1 = Path(__file__).parent / "format-1.sparsieve"
GOLDEN = Path(__file__).parent / "format-2.sparsieve"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a search with a pipeline and a path inside."""
    path = tmp_path_factory.mktemp("saved") / "one"
    search = SelectorCV(L20Selector(always_keep=[1]), ks=[2, 4], n_repeats=1).fit(X, Y)
    sparsieve.save(search, path)
    return path.read_bytes()


def signed(data: bytes) -> bytes:
    """With the checksum that a forger would put at its end."""
    return data[:-64] + hashlib.sha256(data[:-64]).hexdigest().encode()


def members(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(contents, compression=zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as made:
        for name, content in contents:
            made.writestr(name, content)
        made.comment = b"0" * 64
    return signed(stream.getvalue())


def forged(whole, change) -> bytes:
    """The file with another document."""
    parts = members(whole)
    document = json.loads(parts["selector.json"])
    document = change(document) or document
    parts["selector.json"] = json.dumps(document)
    return archive(parts.items())


def refused(data, tmp_path) -> str:
    path = tmp_path / "bad"
    path.write_bytes(data)
    with pytest.raises(sparsieve.SavedFileError) as caught:
        sparsieve.load(path)
    said = str(caught.value)
    assert said.startswith(f"cannot load {path}: ")
    assert "\n" not in said
    assert len(said) < 400 + len(str(path))
    return said


def loaded_or_refused(data, path):
    path.write_bytes(data)
    try:
        return sparsieve.load(path)
    except (ValueError, OSError):  # anything else fails the test
        return None


@pytest.mark.long("every byte of a file")
def test_any_flipped_byte_and_any_truncation_is_noticed(whole, tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(300):
        place, bit = int(rng.integers(len(whole))), 1 << int(rng.integers(8))
        damaged = bytearray(whole)
        damaged[place] ^= bit
        refused(bytes(damaged), tmp_path)
        refused(whole[: int(rng.integers(len(whole)))], tmp_path)
    refused(whole + b"0", tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long("hundreds of forged files")
def test_forged_bytes_with_a_right_checksum_never_escape(whole, tmp_path):
    rng = np.random.default_rng(1)
    for _ in range(400):
        damaged = bytearray(whole)
        for place in rng.integers(len(whole) - 64, size=int(rng.integers(1, 4))):
            damaged[place] = int(rng.integers(256))
        loaded = loaded_or_refused(signed(bytes(damaged)), tmp_path / "x")
        if loaded is not None:
            assert loaded.transform(X).shape[0] == len(X)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_forged_documents_with_a_right_checksum_never_escape(whole, tmp_path):
    """Every value of the document in turn becomes something else."""
    rng = np.random.default_rng(2)
    strange = [None, -1, 2**70, 1.5, "x", [], {}, [[]], {"tuple": 3}, {"array": ["int64", 0, [9]]}]
    for _ in range(400):

        def change(document):
            node = document["estimator"]
            for _ in range(int(rng.integers(1, 12))):
                keys = list(node) if isinstance(node, dict) else range(len(node))
                if not len(keys):
                    return
                key = keys[int(rng.integers(len(keys)))]
                if not isinstance(node[key], dict | list) or rng.random() < 0.1:
                    break
                node = node[key]
            else:
                return
            node[key] = strange[int(rng.integers(len(strange)))]

        loaded_or_refused(forged(whole, change), tmp_path / "x")


def with_node(node):
    return lambda document: document.update(estimator=node)


def fisher(**fields):
    return {"object": "FisherSelector", "fields": fields}


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = {
    "class": (with_node({"object": "subprocess.Popen", "fields": {"args": "true"}}), "Popen"),
    "class of ours": (with_node({"object": "TrainingData", "fields": {}}), "TrainingData"),
    "method": (with_node(fisher(transform=3)), "has a value for 'transform'"),
    "dunder": (with_node(fisher(__class__=3)), "has a value for '__class__'"),
    "unknown parameter": (with_node(fisher(gamma=3)), "'gamma', which this version"),
    "memory": (
        with_node({"object": "sklearn.Pipeline", "fields": {"steps": [], "memory": "/tmp"}}),
        "could contain code",
    ),
    "no estimator": (with_node([1, 2]), "does not contain an estimator"),
    "unknown kind": (with_node({"pickle": "gASV"}), "'pickle'"),
    "private kind": (with_node({"_pools": 1}), "_pools"),
    "newer": (lambda document: document.update(version=3), "install a newer version"),
    "odd version": (lambda document: document.update(version="1"), "is not marked"),
    "foreign": (lambda document: document.update(format="other"), "is not marked"),
    "list": (lambda document: [1], "does not describe"),
    "array beyond": (
        with_node(fisher(scores_={"array": ["float64", 0, [10**9]]})),
        "larger than the file",
    ),
    "array of huge shape": (
        with_node(fisher(scores_={"array": ["float64", 0, [0, 2**63]]})),
        "array",
    ),
    "negative array": (
        with_node(fisher(scores_={"array": ["float64", -8, [1]]})),
        "impossible size",
    ),
    "object array": (with_node(fisher(scores_={"array": ["object", 0, [1]]})), "array"),
    "wide text": (with_node(fisher(classes_={"text": [10**9, 0, [3]]})), "larger than the file"),
    "sparse bomb": (
        with_node(fisher(x_={"sparse": ["csr", True, [2**40, 2**40], None, None, None]})),
        "cannot load",
    ),
    "wrong shape": (
        with_node(
            fisher(
                n_features_in_=3,
                support_={"array": ["bool", 0, [2]]},
                ranking_={"array": ["int64", 0, [3]]},
                scores_={"array": ["float64", 0, [3]]},
            )
        ),
        "contradict",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_forged_documents_are_refused_for_the_right_reason(name, whole, tmp_path):
    change, said = HOSTILE[name]
    assert said in refused(forged(whole, change), tmp_path)


def test_nesting_has_an_end(whole, tmp_path):
    parts = members(whole)
    text = json.dumps(json.loads(parts["selector.json"]) | {"estimator": None})
    for inner in (DEEP, "[" * 200 + "]" * 200):
        parts["selector.json"] = text.replace("null", inner)
        refused(archive(parts.items()), tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_archives_of_other_kinds_are_refused(whole, tmp_path):
    parts = members(whole)
    bomb = io.BytesIO()
    np.save(bomb, np.zeros(10_000_000))
    objects = io.BytesIO()
    np.save(objects, np.array([{}], dtype=object), allow_pickle=True)
    huge = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        huge, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)}
    )
    cases = [
        [*parts.items(), ("../escaped.npy", b"")],
        [*parts.items(), ("/etc/passwd", b"")],
        [("selector.json", b"{}"), ("selector.json", b"{}")],
        [("selector.json", b"{"), ("float64.npy", parts["float64.npy"])],
        [*(p for p in parts.items() if p[0] != "float64.npy"), ("float64.npy", objects.getvalue())],
        [*(p for p in parts.items() if p[0] != "float64.npy"), ("float64.npy", huge.getvalue())],
        [(f"{i}.npy", b"") for i in range(1000)],
        [("float64.npy", parts["float64.npy"])],
        [],
    ]
    for case in cases:
        refused(archive(case), tmp_path)
    assert "compressed" in refused(
        archive([("selector.json", b"{}"), ("float64.npy", bomb.getvalue())], zipfile.ZIP_DEFLATED),
        tmp_path,
    )
    assert "was not written by sparsieve.save" in refused(
        pickle.dumps(sparsieve.FisherSelector()), tmp_path
    )
    refused(b"", tmp_path)


@pytest.mark.posix
def test_what_is_no_plain_file_is_refused(whole, tmp_path):
    with pytest.raises(FileNotFoundError):
        sparsieve.load(tmp_path / "missing")
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises((sparsieve.SavedFileError, OSError)):
            sparsieve.load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(sparsieve.SavedFileError, match="not a file"):
        sparsieve.load(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(whole)
    with pytest.raises(sparsieve.SavedFileError, match="raise max_bytes"):
        sparsieve.load(tmp_path / "large", max_bytes=1000)
    with open(tmp_path / "sparse file", "wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(sparsieve.SavedFileError, match="raise max_bytes"):
        sparsieve.load(tmp_path / "sparse file")


@pytest.mark.slow
@pytest.mark.posix
def test_refusing_takes_little_memory(whole, tmp_path):
    """A document that is worst for its size, in a process of bounded memory."""
    parts = members(whole)
    empty = "[" + "[]," * (1 << 20) + "[]]"
    parts["selector.json"] = json.dumps({"format": "x"})[:-1] + f', "estimator": {empty}}}'
    (tmp_path / "wide").write_bytes(archive(parts.items()))
    code = f"""
import resource, sparsieve
sparsieve.load
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
try:
    sparsieve.load({str(tmp_path / "wide")!r})
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert "is not marked as a saved estimator" in done.stdout, done.stderr


def test_an_older_format_is_refused_in_one_sentence():
    with pytest.raises(
        SavedFileError, match=r"of format 1 and was written .* save it again"
    ) as caught:
        sparsieve.load(FORMAT_1)
    assert "\n" not in str(caught.value)


@pytest.mark.needs_sklearn("1.8", "the file holds a model of scikit-learn 1.9")
def test_format_2_can_still_be_loaded():
    """A file written when this format was new; it must load for ever, or say why not."""
    search = sparsieve.load(GOLDEN)
    assert search.best_k_ in search.ks_
    assert search.selector_.always_keep == [1]
    assert search.get_support()[1]
    assert search.score(X, Y) > 0.8


def test_parameters_newer_than_the_file_have_their_defaults(tmp_path, whole):
    def forget(document):
        document["estimator"]["fields"].pop("verbose")

    (tmp_path / "old").write_bytes(forged(whole, forget))
    assert sparsieve.load(tmp_path / "old").verbose == 0


def test_another_scikit_learn_is_mentioned(tmp_path, whole):
    def older(document):
        document["scikit-learn"] = "1.2.0"

    (tmp_path / "old").write_bytes(forged(whole, older))
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 1\.2\.0"):
        sparsieve.load(tmp_path / "old")


def test_a_list_of_members_of_any_length_is_not_read(tmp_path, monkeypatch):
    """Their number stands in two places, and Python's reader goes by neither but by the length."""
    whole = packed({"format": "x"}, {})[:-64]
    end = whole.rindex(b"PK\x05\x06")
    first = struct.unpack_from("<I", whole, end + 16)[0]
    many = whole[first:end] * 1000
    finish = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(many), first, 64)
    monkeypatch.setattr("zipfile.ZipFile", None)  # it would read them all
    for last in (finish, finish + b"x"):
        forged = whole[:first] + many + last
        path = tmp_path / "forged"
        path.write_bytes(forged + hashlib.sha256(forged).hexdigest().encode())
        with pytest.raises(SavedFileError, match=r"unexpected members|extra data at its end"):
            sparsieve.load(path)
