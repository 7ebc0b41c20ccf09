"""Studies of numbers, alone and beside classes."""

import json

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from sparsieve import RidgeForwardSelector
from sparsieve.scoring import Folds, RepeatedSplits, TimeOrdered
from sparsieve.scoring.protocol import derive_seed
from sparsieve_experiments.studies import (
    DatasetSpec,
    SelectorSpec,
    StoreReader,
    Study,
    StudyError,
    result_rows,
    run_study,
    score_table,
    standings,
    study_curves,
    summarise,
)
from sparsieve_experiments.studies.targets import read_target, read_times


def numbers(n_samples=45, seed=0, outputs=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 8))
    y = 100 * X[:, :outputs] + 50 * X[:, 3:4] + 20 * rng.standard_normal((n_samples, outputs))
    return {"X": X, "y": y[:, 0] if outputs == 1 else y}


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """A study with classes, numbers and two columns of numbers."""
    path = tmp_path_factory.mktemp("mixed") / "study.sqlite"
    study = Study(
        "mixed",
        [
            "wine",
            DatasetSpec("one", data=numbers()),
            DatasetSpec("two", data=numbers(seed=1, outputs=2), task="regression"),
        ],
        ["ridge-forward", SelectorSpec("l21", grid={"alpha": [0.1, 1e6]}), "fisher", "AllFeatures"],
        Folds(3),
        ks=[1, 2],
        classifiers=["svm"],
    )
    return study, path, run_study(study, path)


@pytest.fixture(scope="module")
def rows(mixed):
    with StoreReader(mixed[1]) as store:
        return result_rows(store)


@pytest.mark.slow
def test_nothing_fails_and_what_was_decided_is_said(mixed):
    study, path, summary = mixed
    assert (summary.failed, summary.skipped, summary.done) == (0, {}, 3 * (4 + 3 + 3))
    assert summary.notes == [
        "data set one: y is read as numbers",
        "data set one: FisherSelector is for classes, but the target holds numbers; it is left "
        "out there",
        "data set two: FisherSelector is for classes, but the target holds numbers; it is left "
        "out there",
    ]
    again = run_study(study, path)
    assert (again.computed, again.done) == (0, summary.done)


def test_one_cell_by_hand(rows):
    data = numbers()
    seed = derive_seed(0, "split", 0)
    train, test = list(KFold(3, shuffle=True, random_state=seed).split(data["X"]))[1]
    scaler = StandardScaler().fit(data["X"][train])
    Z, Z_test = scaler.transform(data["X"][train]), scaler.transform(data["X"][test])
    kept = RidgeForwardSelector(2, task="regression").fit(Z, data["y"][train]).get_support()
    guess = Ridge().fit(Z[:, kept], data["y"][train]).predict(Z_test[:, kept])
    (row,) = [
        row
        for row in rows
        if (row["dataset"], row["selector"], row["classifier"], row["k"], row["fold"])
        == ("one", "RidgeForwardSelector", "ridge", 2, 1)
    ]
    assert row["task"] == "regression"
    assert row["r2"] == pytest.approx(r2_score(data["y"][test], guess))
    assert row["mae"] == pytest.approx(mean_absolute_error(data["y"][test], guess))
    assert row["spearman"] == pytest.approx(spearmanr(data["y"][test], guess)[0])
    assert "accuracy" not in row


def test_accuracies_and_r_squared_are_never_averaged(rows):
    classes, quantities = standings(rows)
    assert (classes.task, classes.metric, classes.datasets) == (
        "classification",
        "accuracy",
        ["wine"],
    )
    assert (quantities.task, quantities.metric) == ("regression", "r2")
    assert quantities.datasets == ["one", "two"]
    assert "the highest mean R² (0." in str(quantities)
    assert "on one and two using 1 and 2 features (scored with ridge" in str(quantities)
    means = [m for m in summarise(rows) if m["k"] == 2]
    assert all(("accuracy" in mean) == (mean["task"] == "classification") for mean in means)


def test_the_lowest_error_leads_and_units_are_not_averaged(rows):
    found = standings(rows, metric="mae")
    assert [standing.datasets for standing in found] == [["one"], ["two"]]
    for standing in found:
        assert standing.means[standing.best] == min(standing.means.values())
        assert all(gap.mean >= 0 for gap in standing.gaps.values())
        assert "the lowest mean absolute error (" in str(standing)
    table = score_table(rows, classifier="ridge", k=2, metric="mae")
    assert table.datasets == ["one", "two"]
    assert (table.scores < 0).all()
    # An alpha that keeps nothing useful is not what inner folds choose.
    assert {json.loads(row["chosen"]).get("alpha") for row in rows} == {None, 0.1}


def test_best_on_test_takes_the_lowest_error(tmp_path):
    path = tmp_path / "s.sqlite"
    spec = SelectorSpec("ridge-forward", grid={"never_keep": [[0], []]}, tuning="best-on-test")
    data = DatasetSpec("d", data=numbers())
    run_study(Study("s", [data], [spec], Folds(2), ks=[1], scoring=["mae"]), path)
    with StoreReader(path) as store:
        means = summarise(result_rows(store))
    assert {mean["parameters"] for mean in means} == {'{"never_keep": []}'}


def test_reports_and_pictures(mixed, rows, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("vl_convert")
    from sparsieve_experiments.report import study_report

    report = study_report(mixed[1])
    assert "4 methods" not in report.headline
    assert "On data sets with classes, " in report.headline
    assert "the highest mean R² (" in report.headline
    titles = [section.title for section in report.sections]
    assert "Scores (classes)" in titles
    assert "Scores (numbers)" in titles
    charts = [block.title for section in report.sections for block in section.blocks]
    assert "R² over the number of features" in charts
    report.save(tmp_path / "report.html")
    display = study_curves(rows, dataset="two", classifier="ridge")
    assert display.ax_.get_ylabel() == "R², mean"
    display = study_curves(
        rows, dataset="two", classifier="svr", metric="mae", selectors=["RidgeForwardSelector"]
    )
    assert display.score_name == "mean absolute error, lower is better"
    with pytest.raises(ValueError, match="metric 'accuracy' is not in the study; it has 'r2'"):
        study_curves(rows, dataset="two", classifier="ridge", metric="accuracy")


# -- how y is read --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "names", "task", "read_as"),
    [
        (np.arange(30) % 3, None, None, "3 classes"),
        (np.linspace(20, 80, 30).round(), None, None, "numbers"),
        (np.arange(30), np.arange(20, 50).astype(str), None, "numbers"),  # codes of ages
        (np.arange(30) % 3, np.array(["a", "b", "c"]), None, "3 classes"),
        (np.linspace(0, 1, 30), None, None, "numbers"),
        (np.arange(30) % 3, None, "regression", "numbers"),
        (np.arange(30), None, "classification", "30 classes"),
        (np.where(np.arange(30) % 2, 0.5, 1.5), None, None, "numbers"),
        (np.ones((30, 2)), None, None, "2 columns of numbers"),
        (np.arange(30.0)[:, None] / 7, None, None, "numbers"),
        (["x", "y"] * 15, None, None, "2 classes"),
    ],
)
def test_the_target_is_read_as_its_values_say(y, names, task, read_as):
    assert read_target(y, names, task, "data set 'd'").read_as == read_as


def test_codes_stand_for_their_numbers():
    target = read_target(np.array([2, 0, 1]), np.array(["20", "35", "70"]), "regression", "d")
    assert target.y.tolist() == [70.0, 20.0, 35.0]


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        (["a", "b"] * 9, "regression", "is to be read as numbers .* but its target holds"),
        (["1", "2"] * 9, "regression", "its target holds text"),
        (np.linspace(0, 1, 20), "classification", 'with fractions; set task = "regression"'),
        (np.ones((9, 2)), "classification", "2 target columns; classes are read from one"),
        ([1.0, np.nan, 2.5], "regression", "missing or infinite values"),
        ([None, 1, "a"], None, "a target must be a column of numbers or text"),
        (np.zeros((2, 2, 2)), None, "a target must be a column of numbers or text"),
        (np.ones(7), None, "has 20 rows, but y has 7 values"),
    ],
)
def test_targets_that_cannot_be_read_get_one_sentence(y, task, message):
    spec = DatasetSpec("d", data={"X": np.zeros((20, 2)), "y": y}, task=task)
    with pytest.raises(ValueError, match=message) as caught:
        spec.load()
    assert "\n" not in str(caught.value)


# -- groups and time ------------------------------------------------------------------------


def table_file(path, n=80):
    rng = np.random.default_rng(5)
    lines = ["a,b,patient,day,first,second"]
    for i in range(n):
        a, b = rng.standard_normal(2)
        day = f"2026-{3 - i // 28:02d}-{28 - i % 28:02d}"  # the latest first
        lines.append(f"{a:.4f},{b:.4f},p{i // 4},{day},{3 * a:.4f},{a - b:.4f}")
    path.write_text("\n".join(lines))


def test_a_file_with_two_targets_groups_and_times(tmp_path):
    table_file(tmp_path / "t.csv")
    spec = DatasetSpec(
        "t", str(tmp_path / "t.csv"), ["first", "second"], groups="patient", time="day"
    )
    data = spec.load()
    assert (data.X.shape, data.y.shape, data.task) == ((80, 2), (80, 2), "regression")
    assert data.feature_names.tolist() == ["a", "b"]
    assert np.allclose(data.y[:, 0], 3 * data.X[:, 0], atol=1e-3)
    assert (
        data.fingerprint
        != DatasetSpec("t", str(tmp_path / "t.csv"), ["first", "second"], drop=["patient", "day"])
        .load()
        .fingerprint
    )
    # Groups that a data set names are kept together whatever the protocol says.
    for protocol in (Folds(3), RepeatedSplits(0.5, 3), TimeOrdered(3)):
        study = Study("s", [spec], ["ridge-forward"], protocol, ks=[1])
        for cell in study.cells(data):
            train, test = cell.split.train, cell.split.test
            assert not set(data.groups[train]) & set(data.groups[test])
            if isinstance(protocol, TimeOrdered):
                assert data.times[train].max() < data.times[test].min()
    with pytest.raises(StudyError, match="names groups, which mix classes; leave out per_class"):
        Study("s", [spec], ["ridge-forward"], RepeatedSplits(per_class=True), ks=[1]).cells(data)
    tuned = SelectorSpec("ridge-forward", grid={"ridge": [0.1, 1.0]}, inner_folds=2)
    summary = run_study(
        Study("s", [spec], [tuned], TimeOrdered(2), ks=[1], regressors=["ridge"]),
        tmp_path / "s.sqlite",
    )
    assert (summary.done, summary.failed) == (2, 0)


def test_arrays_of_an_npz_file(tmp_path):
    made = numbers(30, outputs=2)
    np.savez(tmp_path / "d.npz", **made, who=np.arange(30) // 5, when=np.arange(30)[::-1])
    spec = DatasetSpec("d", str(tmp_path / "d.npz"), groups="who", time="when")
    data = spec.load()
    assert (data.y.shape, data.groups.shape, data.times[0]) == ((30, 2), (30,), 29)
    study = Study("s", [spec], ["ridge-forward"], Folds(9), ks=[1])
    with pytest.raises(ValueError, match="9 folds need at least 9 groups, but there are 6"):
        study.cells(data)


def test_times_that_cannot_be_ordered():
    with pytest.raises(StudyError, match="must be numbers or dates such as 2026-01-31, got"):
        read_times(["9/11/2001", "3/4/1999"], "data set 'd'")
    with pytest.raises(StudyError, match="some times of data set 'd' are missing"):
        read_times([1.0, np.nan], "data set 'd'")
