"""The experiments of the exclusive l2,1 paper on small data, against recomputations."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_wine
from sklearn.feature_selection import f_classif
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsieve import ExclusiveL21Selector, L21Selector
from sparsieve.scoring.protocol import Folds
from sparsieve_experiments.papers import Bench, find_preset, reproduce
from sparsieve_experiments.papers.base import LEVELS
from sparsieve_experiments.papers.exclusive_l21 import claims, comparison
from sparsieve_experiments.papers.exclusive_l21.comparison import compare_fold, compared
from sparsieve_experiments.papers.exclusive_l21.methods import METHODS
from sparsieve_experiments.papers.exclusive_l21.solutions import (
    OPTIMUM,
    STARTS,
    convergence,
    find_optimum,
    illustrated,
    run_alm,
    squared_l1_minimum,
)
from sparsieve_experiments.papers.judging import judge_all
from sparsieve_experiments.papers.planning import plan_of
from sparsieve_experiments.studies.exhibits import Exhibit


class SmallBench(Bench):
    """Two sets that come with scikit-learn under printed names."""

    def datasets(self, printed=None):
        return {"Yale": "wine", "Glioma": "breast_cancer"}

    def missing(self, printed=None):
        return {"TOX": "not at hand"}


@pytest.fixture
def bench(tmp_path):
    return SmallBench("exclusive-l21", tmp_path / "small.sqlite", level="quick")


@pytest.fixture
def wine_fold():
    X, y = load_wine(return_X_y=True)
    split = list(Folds(5).splits(y, seed=0))[1]
    scaler = StandardScaler().fit(X[split.train])
    return (
        scaler.transform(X[split.train]),
        y[split.train],
        scaler.transform(X[split.test]),
        y[split.test],
    )


def setting(method, counts, dataset="wine"):
    return {
        "dataset": dataset,
        "label": "Yale",
        "method": method,
        "fold": 1,
        "n_folds": 5,
        "counts": counts,
        "seed": 0,
    }


def test_filter_per_class_and_shared(wine_fold):
    X, y, X_test, y_test = wine_fold
    found = compare_fold(setting("F-statistic", [2, 5, 50]))
    assert found["features"] == [2, 5]  # there are 13 columns
    for i, m in enumerate([2, 5]):
        tops = [np.argsort(-f_classif(X, y == k)[0], kind="stable")[:m] for k in range(3)]
        margins, votes = [], np.zeros((len(y_test), 3))
        for k, top in enumerate(tops):
            machine = SVC(kernel="linear", C=1.0).fit(X[:, top], y == k)
            margins.append(machine.decision_function(X_test[:, top]))
            said = SVC(kernel="linear", C=1.0).fit(X[:, top], y).predict(X_test[:, top])
            votes[np.arange(len(said)), said] += 1
        right = np.mean(np.argmax(margins, axis=0) == y_test)
        assert found["margin"][i] == pytest.approx(100 * right)
        assert found["majority"][i] == pytest.approx(100 * np.mean(votes.argmax(1) == y_test))
        assert found["features_used"][i] == len(set(np.concatenate(tops)))
        top = np.argsort(-f_classif(X, y)[0], kind="stable")[:m]
        alone = SVC(kernel="linear", C=1.0).fit(X[:, top], y)
        assert found["equal_budget"][i] == pytest.approx(100 * alone.score(X_test[:, top], y_test))


def test_models_have_the_sparsity_of_l21(wine_fold):
    X, y, X_test, y_test = wine_fold
    Y = np.eye(3)[y] - np.eye(3)[y].mean(axis=0)
    largest = 2 * np.linalg.norm(X.T @ Y, axis=1).max()
    shared = L21Selector(alpha=0.1 * largest).fit(X, y)
    level = np.count_nonzero(np.abs(shared.coef_) > 1e-12)
    found = compare_fold(setting("l2,1", [4]))
    assert found["model"]["nonzeros"] == found["model"]["common_level"] == level
    top = np.argsort(-shared.scores_)[:4]
    right = SVC(kernel="linear").fit(X[:, top], y).score(X_test[:, top], y_test)
    assert found["equal_budget"] == [pytest.approx(100 * right)]
    own = np.argsort(-np.abs(shared.coef_), axis=1)[:, :4]  # columns are standardised
    assert found["features_used"] == [len(set(own.ravel()))]
    exclusive = compare_fold(setting("exclusive l2,1 (beta = alpha)", [4]))["model"]
    assert abs(exclusive["nonzeros"] - level) <= 2
    assert exclusive["beta"] == pytest.approx(exclusive["alpha"])
    # The exclusive lasso drops no feature.
    assert compare_fold(setting("exclusive lasso", [4]))["model"]["features_kept"] == 13


@pytest.mark.slow
def test_figure_2_and_its_resumption(bench, monkeypatch):
    monkeypatch.setattr(comparison, "N_FOLDS", 3)
    exhibits = {exhibit.name: exhibit for exhibit in compared(bench)}
    assert not bench.errors
    rows = exhibits["Figure 2"].rows
    # Wine has room for 10 features per class only, breast cancer for 20.
    assert len(rows) == 3 * len(METHODS)
    assert {row["method"] for row in rows} == set(METHODS)
    assert all(row["folds"] == 3 for row in rows)
    one = next(
        row for row in rows if row["dataset"] == "Yale" and row["method"] == "exclusive lasso"
    )
    folds = [
        compare_fold({**setting("exclusive lasso", [10]), "n_folds": 3, "fold": fold})["margin"][0]
        for fold in range(3)
    ]
    assert one["accuracy_percent"] == pytest.approx(np.mean(folds), abs=0.05)
    assert one["accuracy_sd"] == pytest.approx(np.std(folds, ddof=1), abs=0.01)
    assert all(0 < row["features_used"] <= 3 * row["features_per_class"] for row in rows)
    equal = exhibits["Figure 2, equal budget"]
    assert len(equal.rows) == len(rows)
    assert len(equal.summary) == len(METHODS)
    assert len(exhibits["Figure 2, sparsity"].rows) == 2 * 4

    def fail(title, progress):
        assert progress.computed == 0

    again = SmallBench(bench.paper, bench.store, level="quick", on_progress=fail)
    assert compared(again)[0] == exhibits["Figure 2"]


def test_convergence_of_the_published_method():
    place = {"dataset": "wine", "alpha": 1.0, "beta": 1.0}
    run = run_alm({**place, "start": "zero", "seed": 0, "max_iter": 1000})
    X, y = load_wine(return_X_y=True)
    published = ExclusiveL21Selector(alpha=1.0, beta=1.0, solver="published", tol=1.0).fit(X, y)
    assert run["final"] == pytest.approx(published.objective_, rel=1e-9)
    np.testing.assert_allclose(run["objective"], published.history_, rtol=1e-4)
    assert run["stopped"]
    assert run["split"][-1] <= 1e-5 < max(run["split"])
    best = find_optimum({**place, "tol": 1e-4})
    exact = ExclusiveL21Selector(alpha=1.0, beta=1.0).fit(X, y)
    assert best["optimum"] == pytest.approx(exact.objective_, rel=2e-4)
    assert best["gap"] <= 1e-4
    cut = run_alm({**place, "start": "random", "seed": 0, "max_iter": 3})
    assert not cut["stopped"]
    assert len(cut["objective"]) == 3
    assert cut["objective"][0] > run["objective"][0]


def test_figure_1(bench):
    (exhibit,) = convergence(bench)
    assert not bench.errors
    assert len(exhibit.summary) == 2 * len(STARTS)
    for end in exhibit.summary:
        mine = [
            row
            for row in exhibit.rows
            if row["dataset"] == end["dataset"] and row["method"] == end["method"]
        ]
        assert [row["iteration"] for row in mine] == list(range(1, end["iterations"] + 1))
        assert end["relative_excess"] >= -1e-4
        flat = end["iterations_to_look_flat"]
        values = np.array([row["objective"] for row in mine])
        assert (np.abs(values[flat - 1 :] / values[-1] - 1) <= 0.0101).all()
    level = [row["objective"] for row in exhibit.rows if row["method"] == OPTIMUM]
    assert len(level) == 4
    assert level[0] == level[1] == exhibit.summary[0]["optimum"]
    shown, said = claims.iterations(exhibit)
    assert not shown
    assert "iterations; excess up to" in said


def test_illustration(bench):
    (exhibit,) = illustrated(bench)
    found = {row["method"]: row for row in exhibit.rows}
    assert found["l2,1"]["nonzeros"] == found["exclusive lasso"]["nonzeros"] == 12
    assert found["l2,1"]["features_of_some_classes"] == 0
    assert found["exclusive lasso"]["features_kept"] == 7
    assert found["exclusive l2,1"]["nonzeros"] == 15
    assert claims.twelve(exhibit) == (False, "l2,1: 12, exclusive lasso: 12, exclusive l2,1: 15")


def test_claims_follow_the_rows():
    noise = dict(zip("abcd", (0.2, -0.2, 0.1, -0.1), strict=True))

    def judged(values):
        rows = [
            {
                "dataset": name,
                "method": method,
                "features_per_class": k,
                "accuracy_majority_percent": value + noise[name] * (method == METHODS[5]),
                "accuracy_percent": 50.0,  # another reading
                "folds": 3,
            }
            for name in noise
            for k in (10, 20)
            for method, value in zip(METHODS, values, strict=True)
        ]
        found = judge_all(
            find_preset("exclusive-l21").claims("standard"), [Exhibit("Figure 2", "", rows)]
        )
        return {one.claim: one for one in found}

    found = judged([50, 51, 52, 60, 55, 66, 40])
    best = found["exclusive l2,1 (beta = alpha) is the most accurate"]
    assert (best.verdict, best.measured) == (
        "held",
        "exclusive l2,1 (beta = alpha) 66, l2,1 60",
    )
    assert found["exclusive l2,1 (beta = 10 alpha) is the most accurate"].verdict == "did not hold"
    lead = found["exclusive l2,1 (beta = alpha) leads by 5 points at 10 and 20 features"]
    assert (lead.verdict, lead.difference) == ("held", 6.0)
    assert best.counted == "best on 4 of 4 data sets (claimed: all)"
    margin = "exclusive l2,1 (beta = alpha) is the most accurate, largest margin instead of votes"
    assert (found[margin].verdict, found[margin].reported) == ("did not hold", "another reading")
    models = found["Sparse models are more accurate than filters"]
    assert models.difference == pytest.approx((60 + 55 + 66 + 40) / 4 - 51)
    assert found["mRMR is the best filter"].verdict == "held"
    assert judged([50, 51, 52, 60, 55, 64, 40])[lead.claim].verdict == "did not hold"


def test_without_any_data(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path / "nothing"))
    reproduction = reproduce("exclusive-l21", tmp_path / "none.sqlite", level="quick")
    assert not reproduction.errors
    assert {"Yale", "TOX", "Tumor-14"} <= set(reproduction.missing)
    shown = {exhibit.name: exhibit for exhibit in reproduction.exhibits}
    assert len(shown["Equation 2"].rows) == 3
    assert set(shown) == {"Equation 2", "Section 4.1", "Theorems 5 and 6"}
    assert {c.verdict for c in reproduction.claims if c.printed_in == "Figure 2"} == {"cannot tell"}


def test_stand_ins_are_labelled(bench, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    (tmp_path / "lung_203.npz").touch()
    full = Bench(bench.paper, bench.store)
    found = full.at_hand()
    assert found["Lung (stand-in lung_203)"] == "lung_203"


def test_preset_names_its_exhibits():
    preset = find_preset("exclusive-l21")
    names = [experiment.name for experiment in preset.experiments]
    assert names == ["table 1", "equation 2", "section 4", "figure 1", "figure 2"]
    assert "2019" in preset.citation


def test_the_standard_level_has_all_sets_and_methods_of_the_full_one():
    preset = find_preset("exclusive-l21")
    assumed = ["warppie10p", "yale", "isolet", "yaleb", "glioma", "cnae9", "lung_203"]
    plans = {level: plan_of(preset.paper, level, preset.experiments, assumed) for level in LEVELS}
    places = {
        level: {(kind.experiment, kind.dataset, kind.method) for kind in plans[level].kinds}
        for level in LEVELS
    }
    assert places["standard"] == places["full"] > places["quick"]
    assert {kind.dataset for kind in plans["standard"].kinds} == {*assumed, ""}
    cells = {
        (level, kind.dataset, kind.method): kind.cells
        for level in LEVELS
        for kind in plans[level].kinds
    }
    assert cells["full", "yaleb", "mRMR"] == cells["quick", "yale", "mRMR"] == 5
    assert cells["standard", "yaleb", "mRMR"] == 2  # a standard error needs two


def test_majority_votes_are_held_where_asked():
    often = compare_fold(setting("F-statistic", [2, 5]))
    once = compare_fold({**setting("F-statistic", [2, 5]), "majority_counts": [5]})
    assert once["majority"] == [None, often["majority"][1]]
    assert {**once, "majority": often["majority"]} == often


def test_what_is_coarser_is_listed():
    preset = find_preset("exclusive-l21")
    said = preset.coarser
    assert "4 instead of 8 numbers of features (10, 20, 40, 80)" in said["standard"]
    assert "fewer folds on some data sets (ISOLET: 2" in said["standard"]
    assert "3 data sets in Figure 2 (Yale, Glioma, CNAE-9)" in said["quick"]


def test_real_data(real_data):
    real_data("glioma")
    found = compare_fold(setting("exclusive l2,1 (beta = alpha)", [10], "glioma"))
    model = found["model"]
    assert abs(model["nonzeros"] - model["common_level"]) <= 0.05 * model["common_level"]
    assert found["margin"][0] > 25


@pytest.mark.parametrize("lam", [0.05, 1.0, 40.0])
def test_the_explicit_solution_is_that_of_a_general_minimiser(lam):
    rng = np.random.default_rng(0)
    for size in (1, 3, 7):
        a = rng.normal(size=size)

        def objective(parts, a=a):  # w = positive part less negative part
            plus, minus = np.split(parts, 2)
            total = (plus + minus).sum()
            slope = 2.0 * (plus - minus - a)
            value = ((plus - minus - a) ** 2).sum() + lam * total**2
            return value, np.r_[slope, -slope] + 2.0 * lam * total

        found = minimize(
            objective, np.ones(2 * size), jac=True, bounds=[(0, None)] * 2 * size, tol=1e-14
        )
        ours = squared_l1_minimum(a, lam)
        assert ((ours - a) ** 2).sum() + lam * np.abs(ours).sum() ** 2 <= found.fun + 1e-9
        np.testing.assert_allclose(ours, np.subtract(*np.split(found.x, 2)), atol=1e-4)
    assert not squared_l1_minimum(np.zeros(3), lam).any()
