"""Study files of the wrong kind, data that change, and ends in the middle: one sentence each."""

import datetime
import errno
import itertools
import json
import sqlite3

import numpy as np
import pytest

from sparsieve.scoring import Folds
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    Store,
    StoreError,
    StoreReader,
    Study,
    StudyError,
    kept_rows,
    result_rows,
    run_study,
    summarise,
)
from sparsieve_experiments.studies import run as runner
from sparsieve_experiments.studies.compute import compute

GOOD = {"name": "s", "datasets": ["wine"], "selectors": ["fisher"], "ks": [1]}
ODD = (
    3, -1, 2.5, float("nan"), True, "text", "", [], [3], [[]], {}, {"a": 1}, [None], None,
    datetime.date(2026, 1, 1), [{"name": 3}], [{"name": {}}], [{}], 10**40,
    "\x00", ["wine", "wine"],
)  # fmt: skip
PLACES = (
    *itertools.product(
        [None], ["name", "datasets", "selectors", "ks", "classifiers", "metrics", "scoring"]
    ),
    *itertools.product([None], ["zscore", "seed", "protocol", "regressors"]),
    *itertools.product(["protocol"], ["kind", "n_repeats", "train_fraction", "per_class"]),
    *itertools.product(["datasets"], ["name", "file", "target", "drop", "groups", "make"]),
    *itertools.product(["datasets"], ["parameters", "task", "time"]),
    *itertools.product(["selectors"], ["name", "parameters", "grid", "tuning", "inner_folds"]),
    *itertools.product(["selectors"], ["label", "before"]),
)


@pytest.mark.parametrize(("table", "key"), PLACES)
def test_values_of_the_wrong_kind_get_one_sentence(table, key):
    inner = {
        "protocol": {"kind": "splits"},
        "datasets": {"name": "wine"},
        "selectors": {"name": "fisher"},
    }
    for odd in ODD:
        content = dict(GOOD)
        if table is None:
            content[key] = odd
        else:
            changed = {**inner[table], key: odd}
            content[table] = changed if table == "protocol" else [changed]
        try:
            study = Study.from_dict(content)
        except (ValueError, TypeError) as error:
            said = str(error)
            assert "object is not" not in said, said  # Python's words, not ours
            assert "argument" not in said, said
            assert "\n" not in said
            assert len(said) < 400
        else:  # what passes is usable
            assert study.selector_specs
            assert all(isinstance(spec, DatasetSpec) for spec in study.dataset_specs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("datasets = 3", "datasets of a study must be a list, got 3"),
        ('datasets = "wine"', "datasets of a study must be a list, got 'wine'"),
        ("protocol = [1]", "protocol of a study must be a table"),
        ("selectors = [3]", "a selector must be a name or a SelectorSpec, got 3"),
        ('datasets = [{name = "w", file = 3}]', "file of data set 'w' must be text, got 3"),
        ('datasets = [{name = "w", drop = "x"}]', "drop of data set 'w' must be a list of texts"),
        ('selectors = [{name = "l21", grid = {alpha = 1}}]', "grid of selector 'l21' must be a"),
        ("ks = 5", "ks of a study must be a list"),
        ("x = " + "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("seed = " + "9" * 5000, "cannot be read as TOML"),
        ("seed = \x00", "cannot be read as TOML"),
    ],
)  # fmt: skip
def test_a_study_file_of_the_wrong_kind(tmp_path, text, message):
    path = tmp_path / "study.toml"
    keys = ('datasets = ["wine"]', 'selectors = ["fisher"]')
    rest = [line for line in keys if line.split(" ")[0] != text.split(" ")[0]]
    path.write_text("\n".join([text, *rest]))
    with pytest.raises(StudyError, match=message):
        Study.from_toml(path)


@pytest.mark.parametrize("key", ["a.", '"a" . '])
def test_a_study_file_with_an_endlessly_dotted_key_is_refused_soon(tmp_path, key):
    path = tmp_path / "s.toml"
    path.write_text(key * 40_000 + "b = 1")
    with pytest.raises(StudyError, match="nested too deeply"):
        Study.from_toml(path)


def test_a_study_file_without_end_is_not_read_to_its_end():
    with pytest.raises(StudyError, match="larger than 4 MiB"):
        Study.from_toml("/dev/zero")


def test_dots_in_values_are_no_keys(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        f'datasets = ["wine"]\nselectors = ["fisher"]\nks = [1]  # {"." * 99}\n'
        f'protocol = {{kind = "splits", train_fraction = 0.{"5" * 90}}}\n'
    )
    assert Study.from_toml(path).ks == [1]


def test_too_many_cells_are_refused_before_they_are_made(tmp_path):
    study = Study("s", ["wine"], ["fisher"], Folds(5, 10**9), ks=[1])
    with pytest.raises(StudyError, match="a study may have 1,000,000 selections"):
        run_study(study, tmp_path / "s.sqlite")


@pytest.mark.parametrize(
    "parameters", [{"n_samples": "many"}, {"n_samples": 10**13}, {"n_samples": 1e400}]
)
def test_data_that_cannot_be_made_are_skipped(tmp_path, parameters):
    bad = DatasetSpec("bad", make="make_shared_features", parameters=parameters)
    summary = run_study(Study("s", ["wine", bad], ["fisher"], Folds(2), ks=[1]), tmp_path / "s.db")
    assert summary.done == 2
    assert summary.skipped["bad"]


# -- data that change ------------------------------------------------------------------------


def write(path, shift):
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal() + shift * (i % 2)},{rng.normal()},{i % 2}" for i in range(30)]
    path.write_text("\n".join(["a,b,y", *lines]))


def test_data_that_change_while_a_study_runs_are_not_stored_as_the_old_ones(tmp_path):
    file, path = tmp_path / "mine.csv", tmp_path / "s.sqlite"
    write(file, 0.0)
    spec = DatasetSpec("mine", file=str(file), target="y")
    study = Study("s", [spec, "wine"], ["fisher"], Folds(2), ks=[1], classifiers=["1nn"])
    old = spec.load().fingerprint
    changed = []

    def change(progress):
        if not changed:
            changed.append(progress)
            write(file, 9.0)

    summary = run_study(study, path, on_progress=change)
    assert summary.done == 2
    assert "changed while the study was running" in summary.skipped["mine"]
    again = run_study(study, path)
    assert (again.done, again.skipped) == (4, {})
    with StoreReader(path) as store:
        mine = [row for row in result_rows(store) if row["dataset"] == "mine"]
    assert {row["fingerprint"] for row in mine} == {spec.load().fingerprint}
    assert old not in {row["fingerprint"] for row in mine}
    assert min(row["accuracy"] for row in mine) > 0.9


# -- ends in the middle ----------------------------------------------------------------------


def small(**changes):
    settings = {"protocol": Folds(4), "ks": [1, 4], "classifiers": ["1nn"], **changes}
    return Study("small", ["wine"], ["fisher"], **settings)


def test_a_disk_that_fills_up_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    finish, finished = Store.finish, []

    def full(self, key, result):
        if len(finished) == 2:
            pages = self._connection.execute("PRAGMA page_count").fetchone()[0]
            self._connection.execute(f"PRAGMA max_page_count = {pages}")
            result = {**result, "padding": "x" * 10**6}
        finished.append(key)
        return finish(self, key, result)

    monkeypatch.setattr(Store, "finish", full)
    with pytest.raises(StoreError, match=r"cannot be written \(database or disk is full\)"):
        run_study(small(), path)
    monkeypatch.undo()
    with StoreReader(path) as store:
        assert store.counts("small") == {"open": 2, "running": 0, "done": 2, "failed": 0}
    assert run_study(small(), path).computed == 2


def test_no_space_for_temporary_files(tmp_path, monkeypatch):
    calls = []

    def full(key, *arguments):
        calls.append(key)
        if len(calls) == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        return compute(key, *arguments)

    path = tmp_path / "s.sqlite"
    monkeypatch.setattr(runner, "compute", full)
    with pytest.raises(StudyError, match="no space left for temporary files"):
        run_study(small(), path)
    monkeypatch.undo()
    assert run_study(small(), path).computed == 2


def test_no_lock_file_can_be_made(tmp_path):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.plan("s", {"a": {}})
    (tmp_path / "s.sqlite-owners").write_text("in the way")
    with Store(path) as store, pytest.raises(StoreError, match="no lock file can be made"):
        store.claim("a")


def test_an_interrupt_in_the_middle_of_writing_leaves_a_whole_store(tmp_path, monkeypatch):
    path = tmp_path / "s.sqlite"
    with Store(path) as store:
        store.plan("s", {"a": {}, "b": {}})

        class Interrupted(dict):
            def items(self):
                yield "c", {}
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            store.plan("s", Interrupted())
        assert list(store.states("s")) == ["a", "b"]
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    connection.close()


# -- what results say ------------------------------------------------------------------------


def test_results_name_features_and_count_all_features_truly(tmp_path):
    path = tmp_path / "s.sqlite"
    selectors = ["AllFeatures", "fisher"]
    study = Study("s", ["wine"], selectors, Folds(2), ks=[1, 4], classifiers=["1nn", "svm"])
    run_study(study, path)
    with StoreReader(path) as store:
        rows, kept = result_rows(store), kept_rows(store)
    baseline = [row for row in rows if row["class"] == "AllFeatures"]
    assert {(row["k"], row["n_selected"]) for row in baseline} == {(13, 13)}
    assert len(baseline) == 2 * 2  # folds and classifiers, not numbers of features as well
    assert {row["k"] for row in rows if row["class"] != "AllFeatures"} == {1, 4}
    fisher = next(row for row in rows if row["class"] == "FisherSelector")
    names = np.array(DatasetSpec("wine").load().feature_names)
    assert json.loads(fisher["features"]) == names[json.loads(fisher["feature_indices"])].tolist()
    assert "flavanoids" in json.loads(fisher["features"])
    long = [row for row in kept if row["selector"] == "FisherSelector" and row["fold"] == 0]
    assert [row["rank"] for row in long] == [1, 2, 3, 4]
    assert [row["feature"] for row in long] == json.loads(fisher["features"])


def test_warnings_of_fits_reach_the_results(tmp_path):
    path = tmp_path / "s.sqlite"
    hasty = SelectorSpec("RFSSelector", {"max_iter": 1}, label="hasty")
    run_study(Study("s", ["wine"], [hasty, "fisher"], Folds(2), ks=[3]), path)
    with StoreReader(path) as store:
        rows = result_rows(store)
    assert all("stopped after" in row["warnings"] for row in rows if row["selector"] == "hasty")
    for mean in summarise(rows):
        assert mean["n_warned"] == (2 if mean["selector"] == "hasty" else 0)
        assert bool(mean["warnings"]) == (mean["selector"] == "hasty")


SOLVERS = """
ks = [2]
classifiers = ["1nn"]
protocol = { kind = "folds", n_folds = 2 }
datasets = ["wine"]
[[selectors]]
name = "l20"
parameters = { solver = "hiht", solver__decay = 0.8, lam = 0.01 }
[[selectors]]
name = "l20"
label = "chosen"
parameters = { lam = 0.01 }
grid = { solver = ["hiht", "published"], solver__decay = [0.5, 0.9] }
"""


@pytest.mark.long("runs a study")
def test_settings_of_a_solver(tmp_path):
    file, path = tmp_path / "solvers.toml", tmp_path / "solvers.sqlite"
    file.write_text(SOLVERS)
    assert run_study(Study.from_toml(file), path).failed == 0
    with StoreReader(path) as store:
        chosen = [cell["result"]["chosen"] for cell in store.cells("solvers")]
    assert [set(found) for found in chosen] == [set(), {"solver", "solver__decay"}] * 2
    file.write_text(SOLVERS.replace("solver__decay = 0.8", "solver__hurry = 0.8"))
    with pytest.raises(StudyError, match="hurry") as caught:
        Study.from_toml(file)
    assert "\n" not in str(caught.value)


def test_patients_of_a_file_stay_apart(tmp_path):
    """Patients 7 and 007, or 1.5 and 1.50, are two, and times are numbers however written."""
    for first, second in (("7", "007"), ("1.5", "1.50")):
        rows = [f"{i},{(first, second)[i % 2]},0{i},{'xy'[i // 2 % 2]}\n" for i in range(6)]
        (tmp_path / "d.csv").write_text("a,patient,week,kind\n" + "".join(rows))
        file = str(tmp_path / "d.csv")
        spec = DatasetSpec("mine", file=file, target="kind", groups="patient", time="week")
        data = spec.load()
        assert data.groups.tolist() == [first, second] * 3
        assert data.times.tolist() == list(range(6))
