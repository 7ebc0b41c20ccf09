import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from sparsieve import L20Selector, MRMRSelector, RFSSelector, RPMFSSelector
from sparsieve_experiments.papers import Bench, find_preset, published
from sparsieve_experiments.papers.base import LEVELS
from sparsieve_experiments.papers.l20 import claims, sensitivity, work
from sparsieve_experiments.papers.l20.curves import table_row
from sparsieve_experiments.papers.levels import coarser, content, scales
from sparsieve_experiments.papers.planning import plan_of
from sparsieve_experiments.studies.exhibits import Exhibit

L20 = scales("sparsieve_experiments.papers.l20")
TINY = SimpleNamespace(
    most_sets=2,
    n_repeats=2,
    ks=(2, 5),
    sensitivity_ks=(3, 6),
    lams=(1e-2, 1.0, 100.0),
    gammas=(0.1, 10.0),
    compared_lams=(1e-2, 100.0),
    n_trials=2,
    inner_folds=2,
    rpmfs_iterations=50,
    timings=1,
)
SETS = {"Brain": "wine"}


class SmallBench(Bench):
    """A set that comes with scikit-learn under a name of the paper."""

    def datasets(self, printed=None):
        return {name: SETS[name] for name in printed or SETS if name in SETS}

    def missing(self, printed=None):
        return {"Srbct": "no file in the data folder"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """All exhibits by name, and what a second run computes again."""
    patch = pytest.MonkeyPatch()
    patch.setitem(L20, "quick", TINY)
    again = []
    store = tmp_path_factory.mktemp("l20") / "l20.sqlite"
    bench = SmallBench("l20", store, level="quick")
    watched = SmallBench(
        "l20", store, level="quick", on_progress=lambda name, now: again.append(now.computed)
    )
    exhibits = [e for x in find_preset("l20").experiments for e in x.run(bench)]
    resumed = [e for x in find_preset("l20").experiments for e in x.run(watched)]
    patch.undo()
    assert bench.errors == []
    return {e.name: e for e in exhibits}, {e.name: e for e in resumed}, again


def part(repeat=0):
    X, y = load_wine(return_X_y=True)
    *_, split = work.protocol(repeat + 1).splits(y, seed=work.SEED)
    scaler = StandardScaler().fit(X[split.train])
    X = scaler.transform(X)
    return X[split.train], y[split.train], X[split.test], y[split.test]


@pytest.mark.slow
def test_every_table_and_figure_is_there(run):
    exhibits, _, _ = run
    assert list(exhibits) == [
        "Data sets",
        "Rows of l2,1",
        "Figure 1",
        "Table II",
        *(f"Figure {i}" for i in range(2, 9)),
    ]
    for exhibit in exhibits.values():
        assert exhibit.rows
        assert len({tuple(row) for row in exhibit.rows}) == 1
        assert len(exhibit.summary) <= 25
        json.dumps([list(exhibit.rows), list(exhibit.summary)], allow_nan=False)


@pytest.mark.slow
def test_a_second_run_computes_nothing_and_shows_the_same(run):
    exhibits, resumed, again = run
    assert again
    assert not any(again)
    assert {name: e.rows for name, e in exhibits.items()} == {
        name: e.rows for name, e in resumed.items()
    }


@pytest.mark.slow
def test_the_printed_numbers_stand_beside_the_right_rows(run):
    rows = run[0]["Table II"].rows
    assert len(rows) == 2 * 8
    at = {(r["classifier"], r["method"]): r for r in rows}
    # As printed: 88.33 with 100 features, 92.50 with 160, 82.50 without selection.
    assert at["5nn", "l20-FS"]["published"] == 88.33
    assert at["5nn", "l20-FS"]["published_n_features"] == 100
    assert at["softmax", "RFS"]["published"] == 92.5
    assert at["softmax", "RFS"]["published_n_features"] == 160
    assert at["softmax", "baseline"]["published"] == 82.5
    assert at["softmax", "baseline"]["published_n_features"] is None
    for row in rows:
        gap = row["accuracy_best_on_test"] - row["published"]
        assert row["difference"] == pytest.approx(gap, abs=0.006)


def test_a_row_of_the_table_is_that_of_its_data_set():
    def mean(label, k, accuracy):
        return {
            "label": label,
            "classifier": "5nn",
            "method": "mRMR",
            "k": k,
            "n_selected": float(k),
            "accuracy": accuracy,
            "accuracy_sd": 0.01,
            "parameters": "{}",
        }

    lung = "Lung (stand-in lung_203)"
    means = [mean("NCI", 20, 0.9), mean(lung, 60, 0.8), mean(lung, 20, 0.7), mean(lung, 40, 0.8)]
    method = next(m for m in work.methods(TINY) if m.name == "mRMR")
    names = ("accuracy_nested", "accuracy_nested_sd", "n_features_nested")
    nested = {
        (label, "mRMR", "5nn"): dict(zip(names, values, strict=True))
        for label, values in {"NCI": (50.0, None, 20.0), lung: (75.0, 10.0, 30.0)}.items()
    }
    row = table_row(lung, "5nn", method, means, nested)
    assert row["accuracy_best_on_test"] == 80.0
    assert row["n_features_best_on_test"] == 40
    assert row["published"] == 94.09
    assert row["published_n_features"] == 200
    assert row["accuracy_nested"] == 75.0
    assert row["accuracy_nested_sd"] == 10.0
    assert row["n_features_nested"] == 30.0


def test_every_printed_method_and_classifier_has_its_row():
    printed = published("l20_table2")
    assert {m.name for m in work.methods(L20["full"])} == {row["method"] for row in printed}
    assert set(work.CLASSIFIERS.values()) == {row["classifier"] for row in printed}


@pytest.mark.slow
def test_the_table_takes_the_best_mean_over_numbers_and_strengths(run):
    row = next(
        r for r in run[0]["Table II"].rows if (r["classifier"], r["method"]) == ("softmax", "RFS")
    )
    means = {}
    for gamma in TINY.gammas:
        for k in TINY.ks:
            hits = []
            for repeat in range(TINY.n_repeats):
                X, y, X_test, y_test = part(repeat)
                chosen = RFSSelector(k, alpha=gamma).fit(X, y).support_
                classifier = LogisticRegression(max_iter=1000).fit(X[:, chosen], y)
                hits.append(classifier.score(X_test[:, chosen], y_test))
            means[k, gamma] = np.mean(hits)
    best = max(means.values())
    assert row["accuracy_best_on_test"] == pytest.approx(100 * best, rel=1e-3)
    fewest = min(k for (k, _), value in means.items() if value == best)
    assert row["n_features_best_on_test"] == fewest


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_models_of_a_fixed_number_are_fitted_for_every_number(run):
    rows = run[0]["Figure 2"].rows
    for k in TINY.ks:
        (row,) = (r for r in rows if (r["method"], r["k"]) == ("RPMFS", k))
        hits = []
        for repeat in range(TINY.n_repeats):
            X, y, X_test, y_test = part(repeat)
            chosen = RPMFSSelector(k, solver="published", max_iter=TINY.rpmfs_iterations)
            chosen = chosen.fit(X, y).support_
            classifier = KNeighborsClassifier(5).fit(X[:, chosen], y)
            hits.append(classifier.score(X_test[:, chosen], y_test))
        assert row["accuracy"] == pytest.approx(100 * np.mean(hits), rel=1e-3)


@pytest.mark.slow
def test_only_choices_on_test_samples_are_called_so(run):
    labels = {row["method"] for row in run[0]["Figure 3"].rows}
    marked = {label for label in labels if "(best on test)" in label}
    assert marked == {f"{name} (best on test)" for name in ("RFS", "RLSR", "l20-FS")}
    assert labels - marked == {"baseline", "Relief", "mRMR", "RPMFS", "ESFS"}


def test_the_nested_choice_never_sees_the_test_part(monkeypatch):
    setting = {
        "dataset": "wine",
        "selector": "MRMRSelector",
        "parameters": {"criterion": "mid"},
        "grid": {},
        "each_k": False,
        "repeat": 0,
        "ks": [1, 2, 6],
        "classifiers": ["5nn"],
        "inner_folds": 3,
    }
    found = work.nested_choice(setting)
    k = found["n_chosen"]["5nn"]
    X, y, X_test, y_test = part()
    chosen = MRMRSelector(k, criterion="mid").fit(X, y).support_
    classifier = KNeighborsClassifier(5).fit(X[:, chosen], y)
    assert found["accuracy"]["5nn"] == pytest.approx(classifier.score(X_test[:, chosen], y_test))
    # Other test labels change the score, not the choice.
    plain = work._part
    monkeypatch.setattr(work, "_part", lambda s: plain(s)._replace(y_test=plain(s).y_test + 7))
    blind = work.nested_choice(setting)
    assert blind["accuracy"]["5nn"] == 0.0
    assert blind["n_chosen"] == found["n_chosen"]


def homotopy(**parameters):
    return {
        "dataset": "wine",
        "selector": "L20Selector",
        "parameters": {"solver": "published", **parameters},
        "repeat": 1,
        "ks": [4],
    }


def test_a_homotopy_fit_is_that_of_the_selector():
    found = work.homotopy_fit(homotopy(lam=0.5))
    X, y, X_test, y_test = part(1)
    selector = L20Selector(lam=0.5, solver="published").fit(X, y)
    assert found["n_rows"] == int((selector.coef_ != 0).any(axis=0).sum())
    for support, accuracy in (
        (selector.support_, found["accuracy"]),
        (selector.ranking_ <= 4, found["accuracies"][0]),
    ):
        classifier = KNeighborsClassifier(5).fit(X[:, support], y)
        assert accuracy == pytest.approx(classifier.score(X_test[:, support], y_test))


def test_without_rows_the_largest_class_is_guessed():
    found = work.homotopy_fit(homotopy(lam=1e6))
    _, y, _, y_test = part(1)
    assert found["n_rows"] == 0
    assert found["accuracy"] == pytest.approx(np.mean(y_test == np.bincount(y).argmax()))


def test_a_descent_is_the_history_of_the_fit(monkeypatch):
    setting = homotopy(lam=1e-2) | {"parameters": {"lam": 1e-2, "solver": "hiht"}}
    X, y, _, _ = part(1)
    history = L20Selector(lam=1e-2, solver="hiht").fit(X, y).history_
    monkeypatch.setattr(work, "MAX_POINTS", 10)
    found = work.descent(setting)
    assert len(found["iterations"]) <= 10
    assert found["iterations"][0] == 1
    assert found["iterations"][-1] == len(history)
    np.testing.assert_allclose(
        found["objectives"], [history[i - 1] for i in found["iterations"]], rtol=1e-9
    )
    assert found["n_rises"] == sum(b > a * (1 + 1e-9) for a, b in itertools.pairwise(history))


@pytest.mark.slow
def test_seconds_are_measured_for_all_sparse_methods(run):
    rows = run[0]["Figure 7"].rows
    assert {row["method"] for row in rows} >= {"RFS", "RLSR", "RPMFS", "ESFS", "HIHT", "AHIHT"}
    assert all(row["seconds"] > 0 for row in rows)
    assert [row["method"] for row in run[0]["Figure 7"].summary] == [
        row["method"] for row in rows if row["dataset"] == "Brain"
    ]


@pytest.mark.slow
def test_missing_sets_are_in_the_table_of_data_sets(run):
    rows = {row["dataset"]: row for row in run[0]["Data sets"].rows}
    assert rows["Brain"]["n_samples"] == 178  # wine, under a name of the paper
    assert rows["Brain"]["published_n_samples"] == 42
    assert rows["Srbct"]["n_samples"] is None
    assert "not at hand" in rows["Srbct"]["remark"]


@pytest.mark.slow
def test_strengths_without_a_row_are_no_candidates_of_the_paper(run):
    """At lambda 100 W is zero: features would be ranked by correlation."""
    assert work.homotopy_fit(homotopy(lam=100.0))["n_rows"] == 0
    for row in run[0]["Table II"].rows:
        if row["method"] == "l20-FS":
            assert row["strength_best_on_test"] < 100.0
            assert row["rows_of_w"] > 0
            if row["strength_with_empty_w"] is not None:
                assert row["strength_with_empty_w"] == 100.0
        else:
            assert row["rows_of_w"] is row["accuracy_with_empty_w"] is None


@pytest.mark.slow
def test_a_start_that_is_removed_changes_nothing_and_others_are_counted(run):
    rows = run[0]["Figure 5"].rows
    removed = [row for row in rows if row["first_price"] == sensitivity.REMOVES]
    assert all(row["same_rows_as_from_zero"] == row["fits_with_rows"] for row in removed)
    assert {row["first_price"] for row in rows} == set(sensitivity.FIRST_PRICES)
    kept = [row for row in rows if row["init"] == "zero"]
    assert all(row["same_rows_as_from_zero"] == row["fits_with_rows"] for row in kept)


@pytest.mark.slow
def test_cut_fits_are_marked(run, monkeypatch):
    rows = run[0]["Figure 8"].rows
    assert all(row["cut_fits"] == 0 for row in rows)
    assert all(row["steps"] < sensitivity.MAX_STEPS for row in rows)


def test_a_stand_in_serves_unless_the_run_is_quick(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    (tmp_path / "lung_203.npz").touch()
    store = tmp_path / "l20.sqlite"
    assert work.data_sets(Bench("l20", store)) == {"Lung (stand-in lung_203)": "lung_203"}
    quick = Bench("l20", store, level="quick")
    assert work.data_sets(quick) == {}
    for experiment in find_preset("l20").experiments:
        assert not any(exhibit.rows for exhibit in experiment.run(quick))


def test_the_standard_level_has_all_sets_and_methods_of_the_full_one():
    preset = find_preset("l20")
    assumed = ["brain", "breast3", "leukemia_38", "lymphoma_62", "nci_61", "lung_203"]
    plans = {level: plan_of("l20", level, preset.experiments, assumed) for level in LEVELS}
    places = {
        level: {(kind.experiment, kind.dataset, kind.method) for kind in plans[level].kinds}
        for level in LEVELS
    }
    assert places["standard"] == places["full"] > places["quick"]
    assert {kind.dataset for kind in plans["standard"].kinds} == set(assumed)
    assert plans["quick"].cells < plans["standard"].cells < plans["full"].cells


def test_what_is_coarser_is_listed():
    said = find_preset("l20").coarser
    assert set(said) == {"quick", "standard"}
    assert f"{L20['standard'].n_repeats} instead of 10 random splits" in said["standard"]
    assert "3 instead of 6 strengths of RFS and RLSR (0.001, 0.1, 10)" in said["quick"]
    # Every number of a scale that may differ is said.
    words = content("sparsieve_experiments.papers.l20", "levels.toml")["words"]
    assert set(words) == set(vars(L20["full"]))
    assert coarser(vars(L20["full"]), vars(L20["full"]), words) == ""


def test_a_real_gene_set(real_data, tmp_path, monkeypatch):
    X, _ = real_data("leukemia_38")
    found = work.homotopy_fit(homotopy(lam=1e-4) | {"dataset": "leukemia_38", "ks": [100]})
    assert 20 < found["n_rows"] < X.shape[1] / 4
    assert found["accuracies"][0] > 0.7


def test_the_slowest_fast_method_is_compared_with_the_fastest_slow_one():
    seconds = {"RFS": 3, "RPMFS": 1, "AHIHT": 2, "RLSR": 9, "ESFS": 7, "HIHT": 8, "other": 0.1}
    rows = [{"dataset": "a", "method": m, "seconds": s} for m, s in seconds.items()]
    rows += [{"dataset": "b", "method": "RFS", "seconds": 1}]  # lacks the others
    found = {row["method"]: row["seconds"] for row in claims.fast_and_slow(Exhibit("", "", rows))}
    assert found == {"slowest of RFS, RPMFS, AHIHT": 3, "fastest of RLSR, ESFS, HIHT": 7}


def test_lambdas_of_figure_4_are_those_that_leave_rows_on_every_data_set():
    rows = [
        {"dataset": name, "lambda": lam, "line": f"lambda {lam:g}", "n_rows": n}
        for name, counts in {"a": (9, 5, 3, 1), "b": (9, 5, 0, 1)}.items()
        for lam, n in zip((1e-5, 1e-2, 1e-3, 1e-1), counts, strict=True)
    ]
    found = claims.by_lambda(Exhibit("", "", rows))
    assert [row["method"] for row in found] == ["lambda 1e-05", "lambda 0.01"] * 2


@pytest.mark.slow
def test_l21_is_row_sparse_from_its_largest_strength_on(run):
    (row,) = run[0]["Rows of l2,1"].rows
    part = work._scaled(work._part({"dataset": "wine", "repeat": 0}))
    Y = np.eye(3)[np.unique(part.y, return_inverse=True)[1]]
    largest = 2.0 * np.linalg.norm(part.X.T @ (Y - Y.mean(axis=0)), axis=1).max()
    assert row["gamma"] == 10.0 < largest
    assert 0 < row["n_rows"] <= row["n_features"] == 13
    for factor, kept in ((0.999, 1), (1.001, 0)):
        setting = {"dataset": "wine", "gamma": factor * largest}
        assert work.l21_rows(setting)["n_rows"] == kept
    shown, _ = claims.rows_of_l21(Exhibit("", "", [{"gamma": 1e5, "n_rows": 0, "n_features": 9}]))
    assert not shown
