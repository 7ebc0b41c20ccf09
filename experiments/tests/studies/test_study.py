import json
import os
import pickle
import sqlite3

import numpy as np
import pytest

from sparsieve.datasets.load import Dataset
from sparsieve.scoring import Folds, RepeatedSplits, TimeOrdered
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    Store,
    Study,
    StudyError,
    result_rows,
    run_study,
    score_table,
    summarise,
)
from sparsieve_experiments.studies import run as runner
from sparsieve_experiments.studies.compute import compute

# What two computations of one cell need not have in common.
MEASURED = ("seconds", "cell_seconds", "peak_mib", "memory_source", "machine")


def small_study(**changes):
    settings = {
        "name": "small",
        "datasets": ["wine"],
        "selectors": ["fisher", SelectorSpec("ridge-forward", {"ridge": 0.1})],
        "protocol": Folds(3),
        "ks": [1, 4],
        "classifiers": ["1nn", "svm"],
    }
    return Study(**{**settings, **changes})


def results_of(store_path, name="small"):
    with Store(store_path) as store:
        return {
            cell["key"]: {k: v for k, v in cell["result"].items() if k not in MEASURED}
            for cell in store.cells(name, states=["done"])
        }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_results_as_rows_means_and_a_table(path):
    run_study(small_study(datasets=["wine", "breast_cancer"]), path)
    with Store(path) as store:
        rows = result_rows(store)
    assert len(rows) == 2 * 2 * 3 * 2 * 2
    first = rows[0]
    assert (first["dataset"], first["selector"], first["k"]) == ("wine", "FisherSelector", 1)
    assert 0 < first["accuracy"] <= 1
    assert first["tuning"] == "none"
    assert first["seconds"] > 0
    for name in ("sparsieve_version", "numpy_version", "machine", "finished_at", "seed"):
        assert first[name]
    means = summarise(rows)
    assert len(means) == 2 * 2 * 2 * 2
    same = [r for r in rows if all(r[n] == means[0][n] for n in ("dataset", "selector", "k"))]
    same = [r["accuracy"] for r in same if r["classifier"] == means[0]["classifier"]]
    assert means[0]["accuracy"] == pytest.approx(np.mean(same))
    assert means[0]["accuracy_sd"] == pytest.approx(np.std(same, ddof=1))
    table = score_table(rows, classifier="svm", k=4)
    assert table.datasets == ["wine", "breast_cancer"]
    assert table.selectors == ["FisherSelector", "RidgeForwardSelector(ridge=0.1)"]
    assert table.scores.shape == (2, 2)


@pytest.mark.long("runs a study")
def test_nothing_is_computed_twice_and_an_extension_only_adds(path, monkeypatch):
    assert run_study(small_study(), path).computed == 6
    monkeypatch.setattr(runner, "compute", None)  # would fail if called
    again = run_study(small_study(), path)
    assert (again.computed, again.done, again.total) == (0, 6, 6)
    monkeypatch.undo()
    wider = run_study(small_study(datasets=["wine", "breast_cancer"]), path)
    assert (wider.computed, wider.done) == (6, 12)
    assert run_study(small_study(seed=1), path).computed == 6


@pytest.mark.slow
def test_results_do_not_depend_on_jobs_or_order(path, tmp_path):
    run_study(small_study(), path)
    parallel = tmp_path / "parallel.sqlite"
    reordered = small_study(selectors=list(reversed(small_study().selectors)))
    run_study(reordered, parallel, n_jobs=2)
    assert results_of(path) == results_of(parallel)


def test_all_selectors_see_the_same_splits_but_have_their_own_seeds():
    study = small_study()
    cells = study.cells(study.datasets[0].load())
    by_fold = {}
    for cell in cells:
        by_fold.setdefault(cell.spec["fold"], set()).add(cell.split.train.tobytes())
    assert all(len(trains) == 1 for trains in by_fold.values())
    assert len({cell.spec["seed"] for cell in cells}) == len(cells)


def test_a_failure_is_no_result_and_is_retried_on_request(path, monkeypatch):
    bad = SelectorSpec("ridge-forward", {"ridge": -1.0}, label="bad")
    study = small_study(selectors=["fisher", bad])
    first = run_study(study, path)
    assert (first.done, first.failed, first.computed) == (3, 3, 6)
    with Store(path) as store:
        failed = store.cells("small", states=["failed"])
        assert failed[0]["error"] == "ValueError: ridge must be at least 0, got -1.0"
        assert "Traceback" in failed[0]["traceback"]
        assert {row["selector"] for row in result_rows(store)} == {"FisherSelector"}
    assert run_study(study, path).computed == 0
    assert run_study(study, path, retry_failed=True).computed == 3

    def mended(key, spec, *arguments):
        return compute(key, {**spec, "parameters": {}}, *arguments)

    monkeypatch.setattr(runner, "compute", mended)
    assert run_study(study, path, retry_failed=True).done == 6


def test_an_interrupted_run_gives_its_claims_back(path, monkeypatch):
    calls = []

    def interrupted(key, *arguments):
        calls.append(key)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return compute(key, *arguments)

    monkeypatch.setattr(runner, "compute", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(small_study(), path)
    with Store(path) as store:
        assert store.counts("small") == {"open": 4, "running": 0, "done": 2, "failed": 0}
    assert run_study(small_study(), path).computed == 4


@pytest.mark.long("runs a study")
def test_tuning_is_labelled_wherever_it_shows(path):
    grid = {"ridge": [0.01, 100.0]}
    study = small_study(
        selectors=[
            SelectorSpec("ridge-forward", grid=grid),
            SelectorSpec("ridge-forward", grid=grid, tuning="best-on-test", label="paper"),
        ]
    )
    assert run_study(study, path).total == 3 + 3 * 2
    with Store(path) as store:
        rows = result_rows(store)
    optimistic = [row for row in rows if row["selector"] == "paper (best on test)"]
    assert {row["tuning"] for row in optimistic} == {"best-on-test"}
    assert {row["parameters"] for row in optimistic} == {'{"ridge": 0.01}', '{"ridge": 100.0}'}
    nested = [row for row in rows if row["selector"] == "RidgeForwardSelector (tuned)"]
    assert {row["tuning"] for row in nested} == {"inner-cv"}
    assert all(json.loads(row["chosen"])["ridge"] in grid["ridge"] for row in nested)

    means = [m for m in summarise(rows) if m["classifier"] == "svm" and m["k"] == 4]
    (best,) = [mean for mean in means if mean["tuning"] == "best-on-test"]
    candidates = {}
    for row in optimistic:
        if row["classifier"] == "svm" and row["k"] == 4:
            candidates.setdefault(row["parameters"], []).append(row["accuracy"])
    assert best["accuracy"] == max(np.mean(scores) for scores in candidates.values())
    assert "paper (best on test)" in score_table(rows, classifier="svm", k=4).selectors


def test_groups_stay_together_and_truth_is_scored(path, rng):
    from sparsieve.datasets.synthetic.classes import make_shared_features

    made = make_shared_features(60, 20, n_relevant=3, random_state=0)
    data = Dataset(name="patients", X=made.X, y=made.y, relevant=made.relevant)
    data["patient"] = np.arange(60) // 3
    spec = DatasetSpec("patients", data=data, groups="patient")
    study = small_study(datasets=[spec], protocol=RepeatedSplits(0.5, 3, grouped=True), ks="own")
    for cell in study.cells(spec.load()):
        train, test = data["patient"][cell.split.train], data["patient"][cell.split.test]
        assert not set(train) & set(test)
    assert run_study(study, path).done == 6
    with Store(path) as store:
        assert all(0 <= row["recall"] <= 1 for row in result_rows(store))
        assert all(row["k"] is None and row["n_selected"] > 0 for row in result_rows(store))


def test_data_sets_that_are_not_there_are_skipped_with_the_reason(path, tmp_path):
    missing = DatasetSpec("mine", file=str(tmp_path / "no.csv"), target="y")
    summary = run_study(small_study(datasets=["wine", missing]), path)
    assert summary.done == 6
    assert "does not exist" in summary.skipped["mine"]
    with pytest.raises(StudyError, match="no data set can be used"):
        run_study(small_study(datasets=[missing]), path)


def test_the_fingerprint_follows_the_data():
    X, y = np.arange(12.0).reshape(6, 2), np.arange(6) % 2
    base = DatasetSpec("d", data={"X": X, "y": y}).load().fingerprint
    assert DatasetSpec("d", data={"X": X.copy(order="F"), "y": y}).load().fingerprint == base
    changed = X.copy()
    changed[3, 1] += 1e-12
    assert DatasetSpec("d", data={"X": changed, "y": y}).load().fingerprint != base
    assert DatasetSpec("d", data={"X": X, "y": 1 - y}).load().fingerprint != base


def graded(names, relevant):
    """A study whose encoder finds its column by name."""
    rng = np.random.default_rng(0)
    grade, age = rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    data = {
        "X": np.column_stack([grade, age, rng.normal(size=60)]).astype(float),
        "y": (grade > 0).astype(int),
        "feature_names": names,
        "relevant": relevant,
    }
    encoded = SelectorSpec("fisher", before=[{"name": "OneHotEncoder", "columns": ["grade"]}])
    return small_study(
        datasets=[DatasetSpec("mine", data=data)], selectors=[encoded, "fisher"], ks=[1]
    )


@pytest.mark.long("runs a study")
def test_results_of_other_names_or_other_relevant_features_are_not_taken_over(path, tmp_path):
    first = graded(["grade", "age", "c"], np.array([0]))
    run_study(first, path)
    assert run_study(first, path).computed == 0
    for number, (names, relevant) in enumerate(
        [(["age", "grade", "c"], [0]), (["age", "grade", "c"], [2]), (["a", "grade", "c"], [2])]
    ):
        changed = graded(names, np.array(relevant))
        again = run_study(changed, path)
        assert again.computed == again.done == 6
        assert again.notes == [
            "6 finished cells were of other data, other settings or another version: computed again"
        ]
        fresh = tmp_path / f"fresh{number}.sqlite"
        run_study(changed, fresh)
        assert results_of(path) == results_of(fresh)
        with Store(path) as store:
            rows = result_rows(store)
            kept = {row["features"] for row in rows if row["selector"] == "FisherSelector"}
            assert kept == {json.dumps([names[0]])}
            told = {row["precision"] for row in rows if row["selector"] == "FisherSelector"}
            assert told == {float(relevant == [0])}


def test_cells_of_a_version_that_left_names_out_of_the_key_are_computed_again(path):
    run_study(small_study(), path)
    old = sqlite3.connect(path)
    with old:
        old.execute("UPDATE plan SET key = 'old' || key")
        old.execute(
            "UPDATE cells SET key = 'old' || key, spec = json_remove(spec, '$.description')"
        )
    old.close()
    again = run_study(small_study(), path)
    assert again.computed == again.done == again.total == 6
    [note] = again.notes
    assert note == (
        "6 finished cells were written by a version that did not notice when names or relevant "
        "features changed: computed again"
    )
    assert run_study(small_study(), path).notes == []


@pytest.mark.parametrize(
    "groups",
    [
        [f"p{i // 4}" for i in range(40)],
        [i // 4 if i < 20 else None for i in range(40)],
        [np.datetime64("2026-01-01") + i // 4 for i in range(40)],
        [0.5 * (i // 4) for i in range(40)],
    ],
)
def test_groups_given_as_objects_are_known_again_by_their_values(path, rng, groups):
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2

    def study(values):
        # Objects of their own, as another process would have.
        copied = np.array(pickle.loads(pickle.dumps(values)), dtype=object)
        data = Dataset(name="mine", X=X, y=y, groups=copied)
        return small_study(datasets=[DatasetSpec("mine", data=data)])

    assert run_study(study(groups), path).computed == 6
    assert run_study(study(groups), path).computed == 0
    changed = [*groups[:-1], groups[0]]
    assert run_study(study(changed), path).computed == 6


def test_whether_groups_are_kept_together_is_in_the_key(path, rng):
    """In order of time nothing else tells the two apart."""
    data = Dataset(name="mine", X=rng.normal(size=(40, 3)), y=np.arange(40) % 2,
                   groups=np.arange(40) // 3)  # fmt: skip
    together = DatasetSpec("mine", data=data, groups="groups")
    for spec in (DatasetSpec("mine", data=data), together):
        study = small_study(datasets=[spec], protocol=TimeOrdered(3))
        assert run_study(study, path).computed == 6


def test_a_file_with_groups(tmp_path, path, rng):
    file = tmp_path / "patients.csv"
    lines = [
        f"{rng.normal():.4f},{i % 2 + rng.normal() / 9:.4f},p{i // 4},{'sick' if i % 2 else 'well'}"
        for i in range(40)
    ]
    file.write_text("\n".join(["a,b,patient,state", *lines]))
    (tmp_path / "study.toml").write_text(
        """
        ks = [1]
        classifiers = ["1nn"]
        protocol = { kind = "folds", n_folds = 3, grouped = true }
        datasets = [{ name = "mine", file = "patients.csv", target = "state", groups = "patient" }]
        selectors = ["fisher"]
        """
    )
    study = Study.from_toml(tmp_path / "study.toml")
    data = study.datasets[0].load()
    assert data.X.shape == (40, 2)
    assert len(set(data.groups)) == 10
    assert run_study(study, path).done == 3
    with Store(path) as store:
        assert np.mean([row["accuracy"] for row in result_rows(store)]) > 0.9


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kss": [1]}, "a study has no setting 'kss'; did you mean 'ks'"),
        ({"selectors": ["fischer"]}, "unknown selector 'fischer'; did you mean 'FisherSelector'"),
        ({"selectors": [{"name": "fisher", "parameters": {"a": 1}}]}, "has no parameter 'a'"),
        (
            {"selectors": [{"name": "fisher", "parameters": {"n_features_to_select": 3}}]},
            "ks of the study says",
        ),
        ({"selectors": [{"name": "fisher", "tuning": "inner-cv"}]}, "needs a grid"),
        (
            {"selectors": [{"name": "l21", "grid": {"alpha": [1]}, "tuning": "none"}]},
            "a grid needs",
        ),
        ({"selectors": ["fisher", "FisherSelector"]}, "'FisherSelector' is listed twice"),
        ({"selectors": [{"parameters": {}}]}, "a selector needs a name"),
        ({"datasets": []}, "at least one data set"),
        ({"datasets": [{"name": "x", "make": "make_noise"}]}, "make must be one of"),
        ({"datasets": [{"name": "x", "target": "y"}]}, "belong to a file"),
        ({"protocol": {"kind": "loo"}}, "kind of the protocol must be one of"),
        ({"protocol": {"kind": "folds", "train_fraction": 0.5}}, "no setting 'train_fraction'"),
        ({"classifiers": ["tree"]}, "unknown: 'tree'"),
        ({"ks": []}, "ks is empty"),
        ({"seed": -1}, "seed must be at least 0"),
    ],
)
def test_bad_definitions_get_one_sentence(changes, message):
    content = {"name": "s", "datasets": ["wine"], "selectors": ["fisher"], "ks": [1]}
    with pytest.raises(ValueError, match=message):
        Study.from_dict({**content, **changes})


def test_a_cluster_without_dask_gets_a_hint(path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'sparsieve\[dask\]'"):
        run_study(small_study(), path, cluster="tcp://127.0.0.1:1")


@pytest.mark.slow
def test_a_dask_cluster_gives_the_same_results(path, tmp_path):
    distributed = pytest.importorskip("distributed")
    run_study(small_study(), path)
    remote = tmp_path / "remote.sqlite"
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        run_study(small_study(), remote, cluster=cluster.scheduler_address)
    assert results_of(path) == results_of(remote)


def deadly(key, spec, *arguments):
    if spec["fold"] == 1:
        os._exit(1)
    return compute(key, spec, *arguments)


@pytest.mark.slow  # starts processes again and again
def test_a_dying_worker_fails_cells_not_the_study(path, monkeypatch):
    monkeypatch.setattr(runner, "compute", deadly)
    study = small_study(protocol=Folds(8), selectors=["fisher"])
    summary = run_study(study, path, n_jobs=2)
    assert summary.failed >= 1
    assert summary.done + summary.failed == 8
    with Store(path) as store:
        errors = {cell["error"] for cell in store.cells("small", states=["failed"])}
    assert errors == {"a worker process died, perhaps for lack of memory"}
    monkeypatch.undo()
    assert run_study(study, path, retry_failed=True).done == 8


def test_one_selector_under_two_names_is_refused():
    # They would share their cells, and one name would vanish from the results.
    twice = [SelectorSpec("fisher"), SelectorSpec("fisher", label="another")]
    with pytest.raises(StudyError, match="'another' and 'FisherSelector' are the same selector"):
        Study("twice", ["wine"], twice)


def test_two_plans_under_one_name_are_told_apart(path):
    """Another version, say, at work on the same store: its plan takes the place of this one."""
    made = [
        DatasetSpec(
            name,
            make="make_shared_features",
            parameters={"n_samples": 40, "n_features": 20, "n_relevant": 2, "random_state": seed},
        )
        for name, seed in (("one", 0), ("two", 1), ("two", 2))
    ]
    first = Study("same", made[:2], ["fisher"], Folds(2), ks=[1], classifiers=["1nn"])
    other = Study("same", made[::2], ["fisher"], Folds(3), ks=[1], classifiers=["1nn"])

    def meanwhile(progress):
        if progress.computed == 1:
            run_study(other, path)

    with pytest.raises(StudyError, match="another run has planned other cells for 'same'"):
        run_study(first, path, on_progress=meanwhile)
    again = run_study(first, path)
    assert (again.computed, again.done, again.total) == (2, 4, 4)  # what was finished is kept
    run_study(other, path)
    assert run_study(first, path).notes == []  # nothing was computed again


def test_selectors_of_a_study_may_keep_groups(path):
    groups = {"phenols": [5, 6, 7], "colour": [9, 10]}
    study = small_study(
        selectors=[SelectorSpec("f-statistic", {"feature_groups": groups}), "fisher"], ks=[1, 2]
    )
    assert study.selectors[0].label == "FStatisticSelector(2 feature groups)"
    run_study(study, path)
    with Store(path) as store:
        cells = list(store.cells("small", states=["done"]))
    grouped = [
        set(cell["result"]["features"])
        for cell in cells
        if cell["spec"]["label"] == "FStatisticSelector(2 feature groups)"
    ]
    assert len(grouped) == 3
    for group in groups.values():
        assert all(len(found & set(group)) in (0, len(group)) for found in grouped)
    assert any(len(found) > 2 for found in grouped)
