"""The experiments of the l0-MPM paper on small sets that come with scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import matthews_corrcoef
from sklearn.preprocessing import StandardScaler

from sparsieve import L0MPMSelector, MPMClassifier
from sparsieve.datasets import load_dataset
from sparsieve.scoring import Folds
from sparsieve_experiments.papers import Bench, find_preset
from sparsieve_experiments.papers.base import LEVELS
from sparsieve_experiments.papers.l0_mpm import figures, work
from sparsieve_experiments.papers.l0_mpm.tables import largest_mcc
from sparsieve_experiments.papers.levels import scales
from sparsieve_experiments.papers.numbers import published

MPM = scales("sparsieve_experiments.papers.l0_mpm")


class SmallBench(Bench):
    """A bench where one small set goes by the name of Spam and of Sonar."""

    def datasets(self, printed=None):
        return {"Spam": "breast_cancer", "Sonar": "breast_cancer"}

    def missing(self, printed=None):
        return {"Ionosphere": "no checked copy is at hand"}


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """Does experiments in small, and once more to see that nothing is computed twice."""
    store = tmp_path_factory.mktemp("mpm") / "store.sqlite"

    def run(*wanted):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(figures, "ALPHAS", (50.0, 0.1))
            patch.setattr(figures, "DELTAS", (0.9, 0.1))
            patch.setattr(figures, "SHARES", (0.8, 0.2))
            patch.setitem(MPM, "quick", SimpleNamespace(**vars(MPM["quick"]) | {"widths": (8.0,)}))
            patch.setattr(figures, "KERNEL_SETS", ("Spam",))
            patch.setattr(figures, "N_REPEATS", 2)
            patch.setattr(figures, "SYNTHETIC_ALPHAS", (1.0, 10.0))
            patch.setattr(figures, "SYNTHETIC_DELTAS", (0.5, 0.9))
            bench = SmallBench("l0-mpm", store, level="quick")
            found = {exhibit.name: exhibit for part in wanted for exhibit in part(bench)}
            computed: list = []
            again = SmallBench(
                "l0-mpm", store, level="quick", on_progress=lambda _, now: computed.append(now)
            )
            for part in wanted:
                list(part(again))
        assert computed
        assert all(now.computed == 0 for now in computed), "a resumed run computes nothing"
        assert bench.errors == []
        return found

    return run


@pytest.fixture(scope="module")
def exhibits(small_run):
    return small_run(*(experiment.run for experiment in find_preset("l0-mpm").experiments))


class PlanningBench(Bench):
    """A bench that has some of the paper's sets and notes what it is asked for."""

    def datasets(self, printed=None):
        return {"Sonar": "sonar", "Spam": "spambase", "Madelon": "madelon"}

    def jobs(self, name, function, settings):
        self.errors.extend(f"{name}: {setting}" for setting in settings)
        return []


def planned(level, tmp_path):
    """What all experiments ask for, without computing or loading anything."""
    bench = PlanningBench("l0-mpm", tmp_path / "store.sqlite", level)
    for experiment in find_preset("l0-mpm").experiments:
        assert all(exhibit.note for exhibit in experiment.run(bench))
    return set(bench.errors)


def test_every_level_can_be_planned(tmp_path):
    quick, standard, full = (planned(level, tmp_path) for level in LEVELS)
    for dataset in ("sonar", "spambase", "madelon"):
        for method in ("MPM", "L1-MPM", "L0-MPM", "S-MPM"):
            for jobs in (standard, full):
                mine = [job for job in jobs if f"'{dataset}'" in job and f"'{method}'" in job]
                assert any(job.startswith("l0-mpm linear") for job in mine)
                kernels = any(job.startswith("l0-mpm kernels") for job in mine)
                assert kernels == (dataset != "spambase" and method != "S-MPM")
    # Where features are selected L0-MPM takes the printed steps; kernels take ours, as is said,
    # and both where the two are compared.
    for job in full:
        if "'L0-MPM'" in job and not job.startswith("l0-mpm printed kernels"):
            assert ("'published'" in job) != job.startswith("l0-mpm kernels"), job
    assert len(quick) < len(standard) < len(full)
    told = find_preset("l0-mpm").coarser
    assert set(told) == {"quick", "standard"}
    assert "4 instead of 7 widths of the Gaussian kernel (0.125, 0.5, 2, 8)" in told["standard"]


def linear_setting(**changes):
    setting = {
        "dataset": "breast_cancer",
        "n_rows": 200,
        "draw": 0,
        "n_folds": 10,
        "method": "L0-MPM",
        "solver": "published",
        "alpha": 5.0,
        "level": ["share", 0.8],
    }
    return {**setting, **changes}


def test_folds_against_a_plain_recomputation():
    result = work.try_linear(linear_setting())
    data = load_dataset("breast_cancer")
    rows = np.random.default_rng(0).choice(len(data.y), 200, replace=False)
    X, y = data.X[rows], data.y[rows]
    for fold in list(Folds(10).splits(y, seed=0))[:2]:
        scaler = StandardScaler().fit(X[fold.train])
        train, test = scaler.transform(X[fold.train]), scaler.transform(X[fold.test])
        reach = MPMClassifier().fit(train, y[fold.train]).worst_case_accuracy_
        machine = L0MPMSelector(delta=0.8 * reach, solver="published")
        machine.fit(train, y[fold.train])
        predicted = machine.predict(test)
        assert result["reach"][fold.fold] == pytest.approx(reach)
        assert result["accuracy"][fold.fold] == np.mean(predicted == y[fold.test])
        assert result["mcc"][fold.fold] == pytest.approx(matthews_corrcoef(y[fold.test], predicted))
        assert result["n_kept"][fold.fold] == machine.support_.sum()
    assert len(result["accuracy"]) == 10


def test_a_level_out_of_reach_has_no_scores():
    result = work.try_linear(linear_setting(level=["delta", 0.99]))
    assert result["accuracy"] == [None] * 10
    assert max(result["reach"]) < 0.99


def test_synthetic_data_are_as_described():
    X, y = work.draw_synthetic(np.random.default_rng(0), 20000)
    assert X.shape == (20000, 1000)
    centred = y[:, None] * X[:, :12]
    np.testing.assert_allclose(centred.mean(axis=0), [*range(-1, -11, -1), 0, 0], atol=0.05)
    np.testing.assert_allclose(centred.std(axis=0), 1.0, atol=0.05)


def test_one_feature_is_enough_for_the_synthetic_data():
    setting = {"method": "L0-MPM", "alpha": 10.0, "delta": 0.9, "repeat": 3}
    result = work.try_synthetic(setting)
    assert result["n_kept"] == result["n_relevant"] == 1
    assert result["accuracy"] > 0.999


def test_largest_correlation_against_counting():
    for n, n_positive, wrong in ((30, 9, 4), (40, 25, 12), (20, 10, 0)):
        best = -1.0
        for missed in range(max(0, wrong - (n - n_positive)), min(wrong, n_positive) + 1):
            truth = np.repeat([1, 0], [n_positive, n - n_positive])
            predicted = truth.copy()
            predicted[:missed] = 0
            predicted[n_positive : n_positive + wrong - missed] = 1
            best = max(best, matthews_corrcoef(truth, predicted))
        assert largest_mcc(1 - wrong / n, n_positive / n) == pytest.approx(best, abs=0.01)


@pytest.mark.slow
def test_everything_the_paper_shows_is_there(exhibits):
    assert list(exhibits) == [
        "Data sets",
        "Table 1",
        "Theorem 1",
        "Table 2",
        "Figures 2, 3 and 4",
        "Table 3",
        "Table 4",
        "Figure 5",
        "Tables 5, 6 and 7",
        "Figures 6 and 7",
        "Figures 6 and 7, every width",
        "Figure 8",
        "Section 4.2",
        "Figure 9",
        "Section 4.2, draw by draw",
    ]
    for exhibit in exhibits.values():
        assert exhibit.rows
        assert all(set(row) == set(exhibit.columns) for row in exhibit.rows), exhibit.name
        assert len(exhibit.summary or exhibit.rows) <= 25


@pytest.mark.slow
def test_published_numbers_stand_in_their_rows(exhibits):
    printed = {(row["dataset"], row["method"]): row for row in published("l0mpm_tables3_5_6_7")}
    for row in exhibits["Table 3"].rows:
        theirs = printed[row["dataset"], row["method"].split(",")[0]]
        assert row["published_accuracy"] == theirs["tsa"]
        assert row["published_mcc"] == theirs["mcc"]
    for row in exhibits["Tables 5, 6 and 7"].rows:
        theirs = printed[row["dataset"], row["method"].split(",")[0]]
        assert row["published_iterations"] == theirs["iterations"]
    spam = {(row["alpha"], row["delta"]): row for row in exhibits["Table 2"].rows}
    assert spam[50.0, 0.9]["published"] == 3.7
    assert spam[50.0, 0.9]["feasible_folds"] == 0
    assert spam[50.0, 0.9]["n_features"] is None
    assert spam[0.1, 0.1]["published"] == 2.0


@pytest.mark.slow
def test_ranks_of_table_4(exhibits):
    accuracy = {
        (row["dataset"], row["method"]): row["accuracy"] for row in exhibits["Table 3"].rows
    }
    labels = {
        "MPM": "MPM",
        "L1-MPM": "L1-MPM, 0.95 of the best level",
        "L0-MPM": "L0-MPM, 0.95 of the best level",
    }
    rows = [row for row in exhibits["Table 4"].rows if row["dataset"] == "Spam"]
    ours = {row["method"]: accuracy["Spam", labels[row["method"]]] for row in rows}
    for row in rows:
        above = sum(value > ours[row["method"]] for value in ours.values())
        equal = sum(value == ours[row["method"]] for value in ours.values())
        assert row["rank"] == above + (equal + 1) / 2
    # The printed averages 1.83, 2.0 and 1.72 do not follow from the printed ranks.
    printed = [r for r in published("l0mpm_table4") if r["dataset"] != "Average"]
    means = [
        np.mean([r["rank"] for r in printed if r["method"] == m])
        for m in ("MPM", "L1-MPM", "L0-MPM")
    ]
    assert means == pytest.approx([2.17, 1.89, 1.94], abs=0.005)
    assert "(2.17, 1.89, 1.94)" in exhibits["Table 4"].note


@pytest.mark.slow
def test_more_level_more_features(small_run):
    rows = small_run(figures.spam)["Figures 2, 3 and 4"].rows
    kept = {(row["alpha"], row["share"]): row["n_features"] for row in rows}
    assert kept[50.0, 0.8] >= kept[50.0, 0.2]


def test_printed_delta_is_out_of_reach_on_sonar(real_data):
    real_data("sonar")
    result = work.try_linear(
        {
            "dataset": "sonar",
            "n_rows": None,
            "draw": 0,
            "n_folds": 10,
            "method": "L0-MPM",
            "solver": "published",
            "alpha": 5.0,
            "level": ["delta", 0.9],
        }
    )
    assert max(result["reach"]) < 0.7
    assert result["accuracy"] == [None] * 10
