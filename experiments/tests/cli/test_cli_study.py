import contextlib
import csv
import os
import subprocess
import sys

import pytest

STUDY = """
name = "small"
ks = [1, 3]
classifiers = ["1nn"]
protocol = { kind = "folds", n_folds = 3 }
datasets = ["wine"]

[[selectors]]
name = "fisher"

[[selectors]]
name = "ridge-forward"
grid = { ridge = [0.1, 1.0] }
tuning = "best-on-test"
"""


@pytest.fixture
def study_file(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_run_status_export(sparsieve, study_file, tmp_path):
    done = sparsieve("study", "run", study_file, "--json")
    assert done.code == 0
    assert "9/9 cells" in done.err
    assert done.json()["computed"] == 9
    assert done.json()["store"] == str(tmp_path / "study.sqlite")
    again = sparsieve("study", "run", study_file, "--json", "-q")
    assert (again.json()["computed"], again.err) == (0, "")

    status = sparsieve("study", "status", study_file)
    assert status.out.splitlines() == [
        "study\tdata set\tselector\tdone\tfailed\trunning\topen",
        "small\twine\tFisherSelector\t3\t0\t0\t0",
        "small\twine\tRidgeForwardSelector (best on test)\t6\t0\t0\t0",
    ]

    out = tmp_path / "scores.csv"
    exported = sparsieve("study", "export", study_file, "-o", out)
    assert (exported.code, exported.err) == (0, f"wrote 18 rows to {out}\n")
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 18
    for row in rows:
        optimistic = row["class"] == "RidgeForwardSelector"
        assert row["tuning"] == ("best-on-test" if optimistic else "none")
        assert 0 <= float(row["accuracy"]) <= 1

    kept = tmp_path / "kept.csv"
    assert sparsieve("study", "export", study_file, "--kept", "-o", kept).code == 0
    with kept.open() as stream:
        features = list(csv.DictReader(stream))
    assert len(features) == 9 * 3
    assert [row["rank"] for row in features[:3]] == ["1", "2", "3"]
    assert "proline" in {row["feature"] for row in features}
    both = sparsieve("study", "export", study_file, "--kept", "--summary", "-o", kept)
    assert (both.code, "exclude each other" in both.err) == (2, True)


def test_a_run_ends_with_who_is_ahead(sparsieve, study_file):
    tables = [study_file.with_name(f"table.{form}") for form in ("tex", "md", "csv")]
    exports = [part for table in tables for part in ("--export", table)]
    done = sparsieve("study", "run", study_file, *exports)
    assert "on wine using 1 and 3 features (scored with nearest neighbour)" in done.err
    first = [table.read_text() for table in tables]
    assert all("FisherSelector" in text for text in first)
    again = sparsieve("study", "report", study_file, *exports)
    assert (again.code, [table.read_text() for table in tables]) == (0, first)
    nothing = sparsieve("study", "report", study_file)
    assert (nothing.code, "give --output report.html or --export" in nothing.err) == (2, True)


NUMBERS = """
name = "numbers"
ks = [2]
regressors = ["ridge"]
classifiers = ["1nn"]
protocol = { kind = "folds", n_folds = 3 }
datasets = ["wine", "diabetes"]
selectors = ["fisher", "ridge-forward"]
"""


def test_numbers_beside_classes(sparsieve, tmp_path):
    file = tmp_path / "numbers.toml"
    file.write_text(NUMBERS)
    done = sparsieve("study", "run", file)
    assert done.code == 0
    assert "data set diabetes: y is read as numbers" in done.err
    assert "FisherSelector is for classes, but the target holds numbers; it is left out" in done.err
    assert " on wine using " in done.err
    assert "the highest mean R² (0.45) on diabetes using 2 features" in done.err
    status = sparsieve("study", "status", file)
    assert "data set wine: y is read as 3 classes" in status.err
    assert "data set diabetes: y is read as numbers" in status.err
    assert sparsieve("study", "status", file, "--json").json()["targets"] == {
        "wine": "3 classes",
        "diabetes": "numbers",
    }
    out = tmp_path / "scores.csv"
    assert sparsieve("study", "export", file, "-o", out).code == 0
    with out.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 3 * 2 + 3
    for row in rows:
        absent = row["accuracy"] if row["task"] == "regression" else row["r2"]
        assert absent in ("", "nan")
    means = tmp_path / "means.csv"
    assert sparsieve("study", "export", file, "--summary", "-o", means).code == 0


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"diabetes"', '{ name = "diabetes", task = "ranking" }', "task of data set"),
        ('"diabetes"', '{ name = "diabetes", task = 3 }', "must be text, got 3"),
        ('regressors = ["ridge"]', 'regressors = ["svm"]', "regressors must be a list"),
        ('kind = "folds"', 'kind = "time", gap = -1', "gap must be at least 0"),
        ('"fisher"', '{ name = "fisher", before = ["os.system"] }', "unknown preprocessor"),
    ],
)  # fmt: skip
def test_settings_that_make_no_sense_get_one_sentence(sparsieve, tmp_path, old, new, message):
    file = tmp_path / "numbers.toml"
    file.write_text(NUMBERS.replace(old, new))
    found = sparsieve("study", "run", file)
    assert (found.code, found.err.count("\n")) == (1, 1)
    assert message in found.err


def test_summary_and_parquet_from_the_store_itself(sparsieve, study_file, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    store = tmp_path / "elsewhere.sqlite"
    sparsieve("study", "run", study_file, "--store", store)
    out = tmp_path / "means.parquet"
    assert sparsieve("study", "export", store, "--summary", "-o", out).code == 0
    rows = parquet.read_table(out).to_pylist()
    assert len(rows) == 2 * 2
    assert {(row["selector"], row["tuning"]) for row in rows} == {
        ("FisherSelector", "none"),
        ("RidgeForwardSelector (best on test)", "best-on-test"),
    }
    assert all(row["n_splits"] == 3 for row in rows)


def test_failures_and_skipped_data_are_told(sparsieve, study_file):
    content = STUDY.replace('["wine"]', '["wine", { name = "gone", file = "gone.csv" }]')
    study_file.write_text(content.replace("[0.1, 1.0]", "[0.1, -1.0]"))
    done = sparsieve("study", "run", study_file)
    assert done.code == 1
    assert "3 failed: sparsieve study status tells why" in done.err
    assert "skipped data set gone: file" in done.err
    status = sparsieve("study", "status", study_file)
    assert "failed 3x: RidgeForwardSelector (best on test) on wine: ValueError" in status.err
    assert sparsieve("study", "status", study_file, "--json").json()["failures"][0]["times"] == 3
    assert sparsieve("study", "run", study_file, "--json").json()["computed"] == 0
    retried = sparsieve("study", "run", study_file, "--json", "--retry-failed")
    assert retried.json()["computed"] == 3


def test_the_exit_code_tells_the_state_of_the_study(sparsieve, study_file, monkeypatch):
    from sparsieve_experiments import studies

    def unreadable(*_):
        raise studies.StoreError("the store cannot be read at this moment")

    with monkeypatch.context() as patch:
        patch.setattr(studies, "standings", unreadable)
        done = sparsieve("study", "run", study_file)
    assert done.code == 0
    assert "9 of 9 cells done" in done.err
    assert "the methods cannot be compared: the store cannot be read" in done.err
    for elsewhere, code in ((2, 0), (0, 1)):
        found = studies.RunSummary(total=9, done=7, failed=0, computed=7, elsewhere=elsewhere)
        monkeypatch.setattr(studies, "run_study", lambda *_, found=found, **__: found)
        ended = sparsieve("study", "run", study_file)
        assert ended.code == code
        assert ("2 still open: run it again" in ended.err) == (elsewhere == 0)


def test_bad_usage_and_bad_files_get_one_sentence(sparsieve, study_file, tmp_path):
    missing = sparsieve("study", "run", tmp_path / "no.toml")
    assert (missing.code, missing.err.count("\n")) == (1, 1)
    assert "does not exist" in missing.err
    broken = tmp_path / "broken.toml"
    broken.write_text("ks = [1,")
    assert "cannot be read as TOML" in sparsieve("study", "run", broken).err
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(STUDY.replace("fisher", "fischer"))
    found = sparsieve("study", "run", wrong)
    assert (found.code, found.err) == (
        1,
        "error: wrong.toml: unknown selector 'fischer'; did you mean 'FisherSelector'? sparsieve "
        "methods lists them all\n",
    )
    early = sparsieve("study", "status", study_file)
    assert (early.code, "there is no store" in early.err) == (1, True)
    assert sparsieve("study", "export", study_file, "-o", tmp_path / "x.doc").code == 2
    assert sparsieve("study", "run", study_file, "--jobs", 0).code == 2
    assert sparsieve("study", "run", study_file, "-j", 2, "--cluster", "tcp://x:1").code == 2
    assert not (tmp_path / "study.sqlite").exists()


def test_a_cluster_without_dask(sparsieve, study_file, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = sparsieve("study", "run", study_file, "--cluster", "tcp://127.0.0.1:8786")
    assert done.code == 1
    assert "distributed is needed to run a study on a cluster (--cluster)" in done.err
    assert "sparsieve[dask]" in done.err


@pytest.mark.slow
def test_progress_on_a_terminal(study_file):
    """A pseudo-terminal as stderr gets the bar."""
    pty = pytest.importorskip("pty")
    main, end = pty.openpty()
    arguments = [sys.executable, "-m", "sparsieve.app.cli", "study", "run", str(study_file)]
    process = subprocess.Popen(arguments, stderr=end)
    os.close(end)
    shown = b""
    with contextlib.suppress(OSError):  # how Linux says that the other end is closed
        while part := os.read(main, 4096):
            shown += part
    os.close(main)
    assert process.wait(60) == 0
    shown = shown.decode()
    assert "9/9" in shown
    assert "left" in shown


def test_help_names_the_commands(sparsieve):
    text = sparsieve("study", "--help").out
    assert all(command in text for command in ("run", "status", "export"))


@pytest.mark.long("runs a study")
def test_other_packages_run_only_where_that_is_allowed(sparsieve, tmp_path):
    file = tmp_path / "guests.toml"
    file.write_text(
        'datasets = ["wine"]\nks = [2]\nclassifiers = ["svm"]\n'
        'selectors = ["sklearn.feature_selection:SelectKBest"]\n'
        'protocol = { kind = "folds", n_folds = 2 }\n'
    )
    refused = sparsieve("study", "run", file)
    assert refused.code == 1
    assert "code of another package" in refused.err
    assert "add --allow-import" in refused.err
    assert sparsieve("study", "run", file, "--allow-import").code == 0
    assert "SelectKBest" in sparsieve("study", "status", file).out  # which imports nothing
