"""The experiments of the l0-MKL paper on small sets that come with scikit-learn."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from sparsieve import L0MKLSelector, L0SVMSelector
from sparsieve.datasets import load_dataset
from sparsieve.papers.l0_mkl.alternating_dca import MKLModel
from sparsieve.papers.l0_mkl.bank import KernelBank
from sparsieve.papers.l0_mkl.kernel_weights import KernelWeights
from sparsieve.papers.l0_mkl.kernels import SigmoidKernel
from sparsieve.penalties.concave import surrogate
from sparsieve_experiments.papers import Bench, find_preset, reproduce
from sparsieve_experiments.papers import plan as papers_plan
from sparsieve_experiments.papers.base import LEVELS
from sparsieve_experiments.papers.judging import judge_all
from sparsieve_experiments.papers.l0_mkl import choices, claims, tables, work
from sparsieve_experiments.papers.levels import scales
from sparsieve_experiments.papers.numbers import published
from sparsieve_experiments.papers.splits import PaperSplits

MKL = scales("sparsieve_experiments.papers.l0_mkl")
SETS = {"Isolet": "wine"}
GRIDS = {
    "PiE-SVM": [{"C": 1.0, "theta": 5.0}],
    "CAP-SVM": [{"C": 1.0, "theta": 5.0}, {"C": 0.1, "theta": 5.0}],
    "EP-SVM": [{"C": 1.0}],
    "MIK-FS": [
        choices.kernel_parameters(0.1, 0.01, 1.0, 0.1),
        {**choices.kernel_parameters(0.1, 0.01, 1.0, 0.1), "theta": 1.0},
    ],
    "l0-MKL": [
        {**choices.kernel_parameters(0.1, 0.01, 1.0, price), "theta": 10.0} for price in (0.1, 1.0)
    ],
}


class SmallBench(Bench):
    """A bench that has one of the paper's sets, under another name, and lacks one."""

    def datasets(self, printed=None):
        return SETS

    def missing(self, printed=None):
        return {"Gli_85": "no exact copy could be obtained"}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return SmallBench("l0-mkl", tmp_path_factory.mktemp("mkl") / "store.sqlite", level="quick")


@pytest.fixture(scope="module")
def exhibits(bench):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(choices, "grids", lambda scale, printed: GRIDS)
        less = {"n_repeats": 2, "ks": (1, 3, 40), "section_thetas": (1.0, 5.0)}
        patch.setitem(MKL, "quick", SimpleNamespace(**vars(MKL["quick"]) | less))
        found = {
            exhibit.name: exhibit
            for experiment in find_preset("l0-mkl").experiments
            for exhibit in experiment.run(bench)
        }
        again = SmallBench(
            "l0-mkl", bench.store, level="quick", on_progress=lambda _, now: computed.append(now)
        )
        computed: list = []
        for experiment in find_preset("l0-mkl").experiments:
            list(experiment.run(again))
        assert computed
        assert all(now.computed == 0 for now in computed), "a resumed run computes nothing"
    assert bench.errors == []
    return found


class PlanningBench(Bench):
    """A bench that has some of the paper's sets and notes what it is asked for."""

    def datasets(self, printed=None):
        return {"ALLAML": "allaml", "Lung_Cancer": "lung_cancer_181", "Isolet": "isolet"}

    def jobs(self, name, function, settings):
        self.errors.extend(f"{name}: {setting}" for setting in settings)
        return []


def planned(level, tmp_path):
    """What all experiments ask for, without computing or loading anything."""
    bench = PlanningBench("l0-mkl", tmp_path / "store.sqlite", level)
    for experiment in find_preset("l0-mkl").experiments:
        assert all(exhibit.note for exhibit in experiment.run(bench))
    return set(bench.errors)


def test_every_level_can_be_planned(tmp_path, monkeypatch):
    whole = vars(MKL["full"])
    thin = {name: whole[name][:2] for name in ("kernels", "lambda1s", "lambda2s")}
    monkeypatch.setitem(MKL, "full", SimpleNamespace(**whole | thin))  # all of it takes a minute
    quick, standard, full = (planned(level, tmp_path) for level in LEVELS)
    for name in ("allaml", "lung_cancer_181", "isolet"):
        for method in work.METHODS:
            wanted = f"'dataset': '{name}', 'method': '{method}'"
            assert any(wanted in job for job in full)
            assert any(wanted in job for job in standard)
    assert len(quick) < len(standard) < len(full)


def test_full_is_the_paper_s_grid_and_the_others_say_what_is_coarser():
    whole = MKL["full"]
    strengths = len(whole.lambda1s) * len(whole.lambda2s)
    assert len(whole.kernels) * strengths * len(whole.thetas) == 5**5
    grids = choices.grids(whole, "Isolet")
    assert len(grids["PiE-SVM"]) == len(grids["CAP-SVM"]) == 65
    # theta of 10 and 100; below only the product with lambda2 counts, which has seven values.
    assert len(grids["l0-MKL"]) == 5**4 * 2
    assert len(grids["MIK-FS"]) == 5**4 + 5**3 * 7
    told = find_preset("l0-mkl").coarser
    assert set(told) == {"quick", "standard"}
    assert "2 instead of 25 kernels (a, r)" in told["standard"]
    assert "5 data sets (ALLAML" in told["quick"]


def one_setting(**changes):
    setting = {
        "dataset": "wine",
        "method": "CAP-SVM",
        "parameters": {"C": 1.0, "theta": 5.0},
        "repeat": 1,
        "inner_folds": 2,
    }
    return {**setting, **changes}


def wine_half():
    data = load_dataset("wine")
    X, y = data.X[data.y < 2], data.y[data.y < 2]
    return X, y, list(PaperSplits("1/2", 2).splits(y, seed=0))[1]


def test_scores_are_those_of_the_test_half():
    X, y, split = wine_half()
    selector = L0SVMSelector(surrogate="capped_l1", C=1.0, theta=5.0)
    predicted = selector.fit(X[split.train], y[split.train]).predict(X[split.test])
    result = work.try_parameters(one_setting())
    assert result["accuracy"] == np.mean(predicted == y[split.test])
    # No class of wine is called "1" in its source, so the second is positive.
    assert result["f1"] == f1_score(y[split.test], predicted)
    assert result["n_used"] == np.count_nonzero(selector.coef_)
    assert 0 <= result["inner_accuracy"] <= 1


def test_the_test_half_has_no_say_in_the_inner_accuracy(monkeypatch):
    X, y, split = wine_half()
    shuffled = X.copy()
    shuffled[split.test] = np.random.default_rng(0).normal(size=shuffled[split.test].shape)
    honest = work.try_parameters(one_setting())["inner_accuracy"]
    monkeypatch.setattr(work, "two_classes", lambda dataset: (shuffled, y))
    assert work.try_parameters(one_setting())["inner_accuracy"] == honest


def test_curve_and_history_of_a_fit():
    X, y, split = wine_half()
    parameters = {**choices.kernel_parameters(0.1, 0.01, 1.0, 0.1), "theta": 10.0}
    result = work.follow(one_setting(method="l0-MKL", parameters=parameters, ks=[1, 4, 40]))
    selector = L0MKLSelector(gamma=0.1, coef0=-0.01, lambda1=1.0, lambda2=0.1, theta=10.0)
    selector.fit(X[split.train], y[split.train])
    assert result["at"] == [1, 4], "wine has no 40 features"
    expected = [np.mean(selector.at(k).predict(X[split.test]) == y[split.test]) for k in (1, 4)]
    assert result["accuracies"] == pytest.approx(expected)
    assert result["history"] == selector.history_


def test_features_kept_by_kernel_weight_are_those_with_the_largest():
    X, y, split = wine_half()
    parameters = {**choices.kernel_parameters(0.1, 0.01, 1.0, 0.1), "theta": 10.0}
    result = work.keep_by_rules(one_setting(method="x", parameters=parameters, ks=[1, 2, 13]))
    selector = L0MKLSelector(gamma=0.1, coef0=-0.01, lambda1=1.0, lambda2=0.1, theta=10.0)
    selector.fit(X[split.train], y[split.train])
    followed = work.follow(one_setting(method="x", parameters=parameters, ks=[1, 2, 13]))
    assert result[work.BY_MARGIN] == followed["accuracies"]
    assert result[work.BY_WEIGHT][-1] == result[work.BY_MARGIN][-1], "all features are the same"
    weights = selector.kernel_weights_[0]
    best = max(range(13), key=lambda j: (weights[j], -selector.ranking_[j]))  # of equals by margin
    alone = selector.at(1)
    alone.support_ = np.arange(X.shape[1]) == best
    alone._refit(1)
    hits = np.mean(alone.predict(X[split.test]) == y[split.test])
    assert result[work.BY_WEIGHT][0] == pytest.approx(hits)


def run_published(parameters, **changes):
    setting = {"dataset": "wine", "parameters": parameters, "repeat": 0, "standardize": True}
    return work.run_published({**setting, **changes})


def test_how_the_printed_algorithms_end():
    parameters = {**choices.kernel_parameters(0.01, 1.0, 0.01, 10.0), "theta": 1.0}
    result = run_published(parameters)
    assert result["end"] == "falls without bound"
    assert result["accuracy"] is None
    n_train = len(wine_half()[2].train)
    assert result["trace"][0] == n_train
    assert result["trace"][-1] < -1e6 * n_train
    assert 1 <= tables._steps_to_fall(result["trace"]) < len(result["trace"])
    # A semidefinite kernel and a surrogate without a ceiling leave nothing to fall into.
    result = run_published({"kernel": "rbf", "surrogate": "log"})
    assert result["end"] == "bounded"
    assert result["accuracy"] > 0.8
    assert tables._steps_to_fall(result["trace"]) is None


def test_indefinite_is_not_said_to_fall():
    parameters = {**choices.kernel_parameters(1.0, 0.01, 1.0, 10.0), "theta": 1.0}
    result = run_published(parameters)
    assert result["end"] == "indefinite"
    assert result["trace"][-1] > -1e6


# -- what is compared with what --------------------------------------------------------------


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("row", published("l0mkl_table7"), ids=lambda row: row["dataset"])
def test_the_printed_parameters_are_tried_and_l1_is_called_so(level, row):
    grid = choices.grids(MKL[level], row["dataset"])
    own = choices.printed_parameters(row["dataset"])
    assert own in grid["MIK-FS"], "every printed theta is at most one"
    assert {**own, "theta": 10.0} in grid["l0-MKL"]
    assert all(work.is_l1(setting) for setting in grid["MIK-FS"])
    assert all(setting["theta"] > 1 for setting in grid["l0-MKL"])
    for settings in grid.values():
        assert len({tuple(setting.items()) for setting in settings}) == len(settings)


def test_theta_up_to_one_is_the_l1_norm():
    X, y, split = wine_half()
    capped = work._machine(
        {"method": "MIK-FS", "parameters": {"gamma": 0.1, "lambda2": 0.2, "theta": 0.5}}
    )
    plain = L0MKLSelector(gamma=0.1, surrogate="l1", lambda2=0.1, d_max=1.0)
    capped.fit(X[split.train], y[split.train])
    plain.fit(X[split.train], y[split.train])
    assert capped.objective_ == pytest.approx(plain.objective_, rel=1e-9)
    np.testing.assert_array_equal(capped.support_, plain.support_)


def test_l0_mkl_with_the_l1_norm_is_refused(bench, monkeypatch):
    grid = {**GRIDS, "l0-MKL": [{**GRIDS["MIK-FS"][0], "theta": 1.0}]}
    monkeypatch.setattr(choices, "grids", lambda scale, printed: grid)
    with pytest.raises(ValueError, match="has the l1 norm: that is MIK-FS"):
        choices.choose(bench)


def candidate(inner, test, used, repeat=0, **parameters):
    return {
        "inner_accuracy": inner,
        "accuracy": test,
        "n_used": used,
        "repeat": repeat,
        "parameters": parameters,
    }


def test_choices_follow_their_rule():
    rows = [
        candidate(0.8, 0.9, 5, C=1),
        candidate(0.9, 0.6, 7, C=2),
        candidate(0.9, 0.7, 4, C=3),
        candidate(0.9, 0.5, 0, C=4),
        candidate(0.7, 0.9, 5, repeat=1, C=1),
        candidate(0.6, 0.9, 9, repeat=1, C=2),
        candidate(0.6, 0.7, 4, repeat=1, C=3),
        candidate(0.6, 1.0, 4, repeat=1, C=5),  # failed on the first split
    ]
    assert [row["parameters"]["C"] for row in choices.by_inner_cv(rows)] == [3, 1]
    assert [row["parameters"]["C"] for row in choices.by_test(rows)] == [1, 1]


def test_free_weights_make_another_model_of_a_small_theta():
    parameters = {**choices.kernel_parameters(0.1, 0.01, 1.0, 0.01), "theta": 1.0}
    free = {**parameters, "d_max": work.FREE_D_MAX}
    assert work.is_l1(parameters)
    assert not work.is_l1(free)
    machines = [work._machine({"method": "l0-MKL", "parameters": p}) for p in (parameters, free)]
    assert [machine.d_max for machine in machines] == [work.D_MAX, work.FREE_D_MAX]


@pytest.mark.slow
def test_everything_the_paper_shows_is_there(exhibits):
    assert list(exhibits) == [
        "Data sets",
        "Table 4",
        "Table 5",
        "Table 6",
        "Table 7",
        "Table 7, tried",
        "Algorithms 1, 3 and 4",
        "Table 7, free weights",
        "Figure 1",
        "Figure 1, as printed",
        "Figure 2",
        "Section 5.2",
    ]
    for exhibit in exhibits.values():
        assert exhibit.rows
        assert all(set(row) == set(exhibit.columns) for row in exhibit.rows), exhibit.name
        assert len(exhibit.summary or exhibit.rows) <= 25


@pytest.mark.slow
def test_published_numbers_stand_in_their_rows(exhibits):
    printed = {(row["dataset"], row["method"]): row for row in published("l0mkl_tables4_5_6")}
    assert len(exhibits["Table 4"].rows) == len(SETS) * len(GRIDS)
    for row in exhibits["Table 4"].rows:
        theirs = printed[row["dataset"], row["method"]]
        assert row["published"] == theirs["accuracy"]
        assert row["published_n_features"] == theirs["n_features"]
        assert row["difference"] == pytest.approx(row["accuracy"] - theirs["accuracy"], abs=0.01)
    assert exhibits["Table 7"].rows[0]["published_lambda1"] == 10.0  # Isolet


@pytest.mark.slow
def test_honest_and_test_best_numbers_in_table_4(exhibits):
    rows = {(row["dataset"], row["method"]): row for row in exhibits["Table 4"].rows}
    tried = [
        [work.try_parameters(one_setting(parameters=p, repeat=r)) for r in range(2)]
        for p in GRIDS["CAP-SVM"]
    ]
    best = max(np.mean([row["accuracy"] for row in pair]) for pair in tried)
    row = rows["Isolet", "CAP-SVM"]
    assert row["accuracy_best_on_test"] == pytest.approx(100 * best, abs=0.01)
    honest = [max(pair[r]["inner_accuracy"] for pair in tried) for r in range(2)]
    allowed = [
        {p[r]["accuracy"] for p in tried if p[r]["inner_accuracy"] == honest[r]} for r in range(2)
    ]
    possible = [50 * (a + b) for a in allowed[0] for b in allowed[1]]
    assert min(abs(row["accuracy"] - value) for value in possible) < 0.01


def test_claims_are_judged_from_the_exhibits(exhibits):
    found = {
        c.claim: c for c in judge_all(find_preset("l0-mkl").claims("quick"), exhibits.values())
    }
    best = found["l0-MKL is the most accurate, nested choice"]
    assert best.data_sets == 1
    assert best.verdict == "cannot tell"
    assert best.measured.startswith("l0-MKL ")
    assert found["The objective never rises"].verdict == "shown"


def test_divergence_is_shown_in_numbers(exhibits):
    rows = exhibits["Algorithms 1, 3 and 4"].rows
    assert [row["features"] for row in rows] == ["standardised", "as given"]
    for row in rows:
        ends = [row["falls_without_bound"], row["indefinite"], row["bounded"]]
        assert sum(ends) == row["splits"] == 2
        assert (row["steps_to_fall"] is None) == (row["falls_without_bound"] == 0)
        assert row["last_objective"] is not None


def test_objective_falls_in_figure_2(exhibits):
    rows = exhibits["Figure 2"].rows
    assert all(row["difference"] is None or row["difference"] >= -1e-9 for row in rows)
    assert claims.never_rises(exhibits["Figure 2"])[0]


def test_stand_ins_are_called_so(real_data, tmp_path):
    real_data("carcinoma_174")
    real_data("colon")
    used = choices.sources(Bench("l0-mkl", tmp_path / "store.sqlite"))
    labels = {source.printed: source.label for source in used}
    assert labels["Carcinom"] == "Carcinom (stand-in carcinoma_174)"
    assert labels["Colon"] == "Colon"
    # The values that the paper used have three levels.
    assert len(np.unique(work.two_classes("colon")[0])) == 3
    setting = one_setting(dataset="carcinoma_174", method="EP-SVM", parameters={"C": 1.0})
    assert work.try_parameters(setting)["accuracy"] > 0.7


def test_colon_without_the_paper_s_version(tmp_path, monkeypatch, real_data):
    X, y = real_data("colon_raw")
    np.savez(tmp_path / "colon_raw.npz", X=X, y=y, class_names=["n", "t"])
    monkeypatch.setenv("SPARSIEVE_DATA", str(tmp_path))
    used = choices.sources(Bench("l0-mkl", tmp_path / "store.sqlite"))
    assert [source.label for source in used] == ["Colon (stand-in colon_raw)"]


class HalvingBench(SmallBench):
    """Scores settings by their C, and remembers how often each was asked for."""

    def jobs(self, name, function, settings, ahead=None):
        if not name.startswith("l0-mkl parameters"):
            return super().jobs(name, function, settings)
        self.errors.append(f"{name}: {len(settings)}")
        return [
            {**s, "inner_accuracy": s["parameters"]["C"], "accuracy": 0.5, "n_used": 1}
            for s in settings
        ]


def test_halving_keeps_one_setting_in_nine_after_the_first_split(tmp_path, monkeypatch):
    grid = {"EP-SVM": [{"C": float(C)} for C in range(18)], "MIK-FS": [], "l0-MKL": []}
    monkeypatch.setattr(choices, "grids", lambda scale, printed: grid)
    bench = HalvingBench("l0-mkl", tmp_path / "s.sqlite", level="full", halving=True)
    sets = len(choices.sources(bench))
    found = choices.choose(bench)
    assert bench.errors == [
        f"l0-mkl parameters, splits 1 to 1: {18 * sets}",
        f"l0-mkl parameters, splits 2 to 10: {9 * 2 * sets}",
    ]
    for choice in found:
        assert {row["parameters"]["C"] for row in choice.rows} <= {16.0, 17.0}
        assert len(choice.rows) == 10


def test_fewer_splits_keep_one_setting_in_nine_only_where_there_is_another(tmp_path, monkeypatch):
    grid = {"EP-SVM": [{"C": float(C)} for C in range(18)], "MIK-FS": [], "l0-MKL": []}
    monkeypatch.setattr(choices, "grids", lambda scale, printed: grid)
    how = {"level": "full", "halving": True}
    for n_repeats, tried in ((1, [18, 0]), (3, [18, 2 * 2])):
        bench = HalvingBench("l0-mkl", tmp_path / "s.sqlite", n_repeats=n_repeats, **how)
        sets = len(choices.sources(bench))
        assert {len(choice.rows) for choice in choices.choose(bench)} == {n_repeats}
        counts = [said.split(": ")[1] for said in bench.errors if "parameters, splits" in said]
        assert counts == [str(n * sets) for n in tried]


def test_one_pair_of_strengths_is_tried_for_each_product():
    grid = choices.grids(MKL["full"], "Colon")["MIK-FS"]
    kept = choices.one_for_each_product(grid, "Colon")
    with_theta = [one for one in grid if "theta" in one]
    assert [one for one in kept if "theta" in one] == with_theta
    own = {name: v for name, v in choices.printed_parameters("Colon").items() if name != "theta"}
    assert own in kept
    assert len(kept) - len(with_theta) == 25 * 9
    places = {(s["gamma"], s["coef0"], round(s["lambda1"] * s["lambda2"], 9)) for s in grid}
    left = [one for one in kept if "theta" not in one]
    assert {(s["gamma"], s["coef0"], round(s["lambda1"] * s["lambda2"], 9)) for s in left} == places


def test_mik_fs_with_one_product_of_strengths_is_one_model():
    rng = np.random.default_rng(0)
    bank = KernelBank(rng.standard_normal((5, 20)), SigmoidKernel(1.0, -1.0))
    y = np.where(rng.random(20) < 0.5, -1.0, 1.0)
    d = rng.random(3)

    def objective(lambda1, lambda2, t):
        model = MKLModel(bank, y, lambda1, lambda2, surrogate("l1"), np.inf)
        weights = KernelWeights(np.array([0, 2, 3]), t * d, 0.0)
        return model.objective(model.coefficients(weights), weights)

    assert objective(1.0, 1.0, 1.0) == pytest.approx(objective(0.1, 10.0, 0.1))
    assert objective(1.0, 1.0, 1.0) == pytest.approx(objective(4.0, 0.25, 4.0))
    assert objective(1.0, 1.0, 1.0) != pytest.approx(objective(1.0, 0.1, 1.0))


KERNEL = {"gamma": 1.0, "coef0": -1.0}
STRENGTHS = [{"lambda1": l1, "lambda2": l2} for l1 in (0.1, 1.0) for l2 in (0.1, 1.0)]


@pytest.fixture
def two_noisy_classes(monkeypatch):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 12)), np.arange(60) % 2
    X[:, 0] += 1.5 * y
    monkeypatch.setattr(work, "two_classes", lambda name: (X, y))
    monkeypatch.setattr(work, "_positive", lambda name: 1)
    return X, y


@pytest.mark.parametrize("method", work.KERNEL_METHODS)
def test_machines_that_share_their_kernels_are_the_same(two_noisy_classes, method):
    theta = {"theta": 10.0} if method == "l0-MKL" else {}
    grid = [{**KERNEL, **strengths, **theta} for strengths in STRENGTHS]
    place = {"dataset": "made-up", "method": method, "repeat": 1, "inner_folds": 2}
    together = work.try_together({**place, "grid": grid})["tried"]
    for parameters, found in zip(grid, together, strict=True):
        alone = work.try_parameters({**place, "parameters": parameters})
        assert alone.pop("seconds") >= 0.0
        assert found == {**alone, "parameters": parameters}


def test_halving_is_for_the_full_grid_alone(tmp_path):
    for paper, level in (("l0-mkl", "standard"), ("l20", "full")):
        with pytest.raises(ValueError, match="halving is for the full level of l0-mkl"):
            reproduce(paper, tmp_path / "s.sqlite", level=level, halving=True)


def test_an_experiment_is_asked_for_by_its_name_or_by_a_part_of_it():
    assert papers_plan("l0-mkl", only=["Figure 1"]).experiments == ["figure 1"]
    assert papers_plan("l0-mkl", only=["table 7"]).experiments == ["table 7"]
    assert papers_plan("l0-mkl", only=["tables"]).experiments == ["tables 4, 5 and 6"]
    assert len(papers_plan("l0-mkl", only=["figure"]).experiments) == 3
