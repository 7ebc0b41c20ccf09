"""Files that are damaged, forged or foreign run nothing and are refused in one sentence."""

import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
import skops.io
from sklearn.datasets import make_classification
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

import sparsieve
from sparsieve import FisherSelector, L20Selector, SavedFileError, SelectorCV
from sparsieve.persistence import files

X, Y = make_classification(40, 8, random_state=1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a search with a path inside."""
    path = tmp_path_factory.mktemp("saved") / "one"
    search = SelectorCV(L20Selector(always_keep=[1]), ks=[2, 4], n_repeats=1).fit(X, Y)
    sparsieve.save(search, path)
    return path.read_bytes()


def members(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(contents):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in contents.items():
            made.writestr(name, content)
    return stream.getvalue()


def dumped(estimator, **marks):
    """A file with the marks of ``save`` around anything."""
    known = {"format": files.FORMAT, "sparsieve": "0", "scikit-learn": "0"}
    return skops.io.dumps(known | marks | {"estimator": estimator})


def refused(data, tmp_path):
    path = tmp_path / "bad"
    path.write_bytes(data)
    with pytest.raises(SavedFileError) as caught:
        sparsieve.load(path)
    said = str(caught.value)
    assert said.startswith(f"cannot load {path}: ")
    assert "\n" not in said
    assert len(said) < 400 + len(str(path))
    return said


@pytest.mark.filterwarnings("ignore")
@pytest.mark.long("hundreds of damaged files")
def test_damaged_bytes_are_refused_or_change_nothing(whole, tmp_path):
    rng = np.random.default_rng(0)
    kept = sparsieve.load(_written(whole, tmp_path)).get_support()
    for _ in range(150):
        damaged = bytearray(whole)
        damaged[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        try:
            loaded = sparsieve.load(_written(bytes(damaged), tmp_path))
        except SavedFileError:
            continue
        np.testing.assert_array_equal(loaded.get_support(), kept)
    for size in rng.integers(len(whole), size=50):
        refused(whole[:size], tmp_path)


def _written(data, tmp_path):
    path = tmp_path / "damaged"
    path.write_bytes(data)
    return path


class Runs:
    """What a pickle would run."""

    def __reduce__(self):
        return (print, ("run",))


def test_what_is_no_saved_estimator_is_refused(whole, tmp_path):
    for data in (b"", b"PK", pickle.dumps(FisherSelector()), pickle.dumps(Runs()), whole[:-30]):
        assert "not written by sparsieve.save" in refused(data, tmp_path)
    assert "not written by" in refused(skops.io.dumps(FisherSelector()), tmp_path)
    assert "not written by" in refused(dumped([1, 2]), tmp_path)
    assert "not written by" in refused(dumped(FisherSelector(), format="other"), tmp_path)


def test_types_that_are_not_trusted_are_named_and_not_imported(tmp_path):
    function = FunctionTransformer(func=os.system)
    assert "posix.system" in refused(dumped([FisherSelector(), function]), tmp_path)
    whole = members(dumped(FisherSelector()))
    for kind in ("antigravity.FisherSelector", "subprocess.Popen"):
        module, _, name = kind.rpartition(".")
        schema = whole["schema.json"].decode()
        schema = schema.replace("sparsieve.filters.fisher", module)
        schema = schema.replace('"FisherSelector"', json.dumps(name))
        assert kind in refused(archive(whole | {"schema.json": schema}), tmp_path)
    assert "antigravity" not in sys.modules


def test_forged_schemas_never_escape(whole, tmp_path):
    """Every value of the schema in turn becomes something else."""
    parts = members(whole)
    schema = json.loads(parts["schema.json"])
    rng = np.random.default_rng(2)
    strange = [None, -1, 2**70, 1.5, "x", [], {}, [[]], "builtins", "eval", "../../etc/passwd"]
    for _ in range(200):
        forged = json.loads(parts["schema.json"])
        node = forged
        while True:
            keys = list(node) if isinstance(node, dict) else range(len(node))
            if not keys:
                break
            key = keys[int(rng.integers(len(keys)))]
            if not isinstance(node[key], dict | list) or rng.random() < 0.05:
                node[key] = strange[int(rng.integers(len(strange)))]
                break
            node = node[key]
        path = _written(archive(parts | {"schema.json": json.dumps(forged)}), tmp_path)
        try:
            sparsieve.load(path)
        except SavedFileError:
            continue
    assert schema == json.loads(parts["schema.json"])


def test_nesting_has_an_end(whole, tmp_path):
    parts = members(whole)
    refused(archive(parts | {"schema.json": "[" * 100_000 + "]" * 100_000}), tmp_path)
    opening = (
        '{"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": ['
    )
    deep = opening * 500 + "]}" * 500
    refused(archive(parts | {"schema.json": deep}), tmp_path)


def test_an_archive_that_swells_is_refused(whole, tmp_path):
    parts = members(whole) | {"zeros.npy": bytes(50_000_000)}
    (tmp_path / "swells").write_bytes(archive(parts))
    assert (tmp_path / "swells").stat().st_size < 1_000_000
    with pytest.raises(SavedFileError, match="raise max_bytes"):
        sparsieve.load(tmp_path / "swells", max_bytes=10_000_000)


def test_objects_inside_arrays_are_not_unpickled(whole, tmp_path):
    parts = members(whole)
    objects = io.BytesIO()
    np.save(objects, np.array([Runs()], dtype=object), allow_pickle=True)
    arrays = {name: objects.getvalue() for name in parts if name.endswith(".npy")}
    assert "run" not in refused(archive(parts | arrays), tmp_path)


WRONG = {
    "support_": np.ones(3, dtype=bool),
    "ranking_": np.arange(3),
    "scores_": np.zeros((8, 2)),
    "feature_names_in_": np.array(["a", "b"], dtype=object),
    "n_features_in_": 5,
}


@pytest.mark.parametrize("name", WRONG)
def test_shapes_that_disagree_are_refused(name, tmp_path):
    inside = FisherSelector(2).fit(X, Y)
    setattr(inside, name, WRONG[name])
    search = SelectorCV(FisherSelector(), ks=[2], n_repeats=1).fit(X, Y)
    search.selector_ = inside
    for forged in (inside, search):
        assert "of FisherSelector has the shape" in refused(dumped(forged), tmp_path)


def test_a_place_for_pickles_is_refused_in_both_directions(tmp_path):
    """A pipeline would run what it finds there at its next fit."""
    kept = Pipeline([("few", FisherSelector(2))], memory=str(tmp_path / "pickles"))
    assert "has memory=" in refused(dumped(kept), tmp_path)
    assert "has memory=" in refused(dumped(SelectorCV(estimator=kept)), tmp_path)
    with pytest.raises(TypeError, match=r"set memory=None"):
        sparsieve.save(kept, tmp_path / "x")


@pytest.mark.posix
def test_what_is_no_plain_file_is_refused(whole, tmp_path):
    with pytest.raises(FileNotFoundError):
        sparsieve.load(tmp_path / "missing")
    for path in (tmp_path, Path("/dev/zero")):
        with pytest.raises((SavedFileError, OSError)):
            sparsieve.load(path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SavedFileError, match="not a file"):
        sparsieve.load(tmp_path / "pipe")
    (tmp_path / "large").write_bytes(whole)
    with pytest.raises(SavedFileError, match="raise max_bytes"):
        sparsieve.load(tmp_path / "large", max_bytes=1000)
    with open(tmp_path / "sparse file", "wb") as file:
        file.truncate(8 << 30)
    with pytest.raises(SavedFileError, match="raise max_bytes"):
        sparsieve.load(tmp_path / "sparse file")


def test_another_scikit_learn_is_mentioned(whole, tmp_path):
    parts = members(whole)
    schema = parts["schema.json"].decode()
    older = re.sub(r'(?<=\\")\d+\.\d+\.\d+(\.\w+)?(?=\\")', "1.2.0", schema)
    assert older != schema
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 1\.2\.0"):
        sparsieve.load(_written(archive(parts | {"schema.json": older}), tmp_path))


@pytest.mark.slow
@pytest.mark.posix
def test_refusing_takes_little_memory(tmp_path):
    """A schema that is worst for its size, in a process of bounded memory."""
    path = _written(archive({"schema.json": "[" + "[]," * (1 << 20) + "[]]"}), tmp_path)
    code = f"""
import resource, sparsieve
sparsieve.load
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
try:
    sparsieve.load({str(path)!r})
except ValueError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600)
    assert "cannot load" in done.stdout, done.stderr
