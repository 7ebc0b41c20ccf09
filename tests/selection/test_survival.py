"""``select`` and ``compare`` for survival times and counts, their figures and their pages."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import sparsieve
from sparsieve import BaseSelector, FeatureScores, compare, diagnose, permutation_null, select
from sparsieve.app.report.survival import held_out_survival
from sparsieve.scoring import martingale_residuals
from sparsieve.scoring.survival import log_rank
from sparsieve.selection.selected_data import SelectedData
from sparsieve.validation.exchange import Exchange
from sparsieve.validation.survival import as_survival


@dataclass(eq=False, repr=False, kw_only=True)
class ScoreTest(BaseSelector):
    """The correlation of every feature with the martingale residuals."""

    task: str = "auto"
    _accepts_survival = True

    def _fit(self, data):
        X, y = data.arrays()
        self.fields_ = y.dtype.names
        residuals = martingale_residuals(y)
        return FeatureScores(np.abs((X - X.mean(0)).T @ residuals) / X.std(0), n_kept=2)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 8))
    time, end = rng.exponential(np.exp(-X[:, 3] - X[:, 5])), rng.exponential(2.0, 120)
    made = pd.DataFrame(X, columns=[f"gene {j}" for j in range(8)])
    made["months"] = np.minimum(time, end)
    made["died"] = (time <= end).astype(int)
    made["hospital"] = np.where(np.arange(120) % 2, "north", "south")
    made["joined"] = made["months"] * 0.5
    return made


@pytest.fixture(scope="module")
def selected(frame):
    table = frame.drop(columns=["hospital", "joined"])
    return select(table, ("months", "died"), k=2, method=ScoreTest(), permutations=19)


def test_columns_are_named(frame, selected):
    assert set(selected.features) == {"gene 3", "gene 5"}
    assert selected.task == "survival"
    assert "months" not in selected.X.columns
    assert selected.check.measure.name == "concordance"
    assert selected.check.score > 0.7
    assert "concordance 0." in str(selected)


def test_entry_and_strata_by_name(frame):
    found = select(
        *(frame, ("months", "died"), 2, ScoreTest()), entry="joined", strata="hospital", check=False
    )
    assert found.selector.fields_ == ("event", "time", "entry", "strata")
    assert list(found.X.columns) == [f"gene {j}" for j in range(8)]


def test_values_instead_of_names(frame):
    X = frame.iloc[:, :8]
    y = as_survival((frame["months"], frame["died"]))
    plain = (frame["months"].to_numpy(), frame["died"].to_numpy())
    for given, task in ((y, "auto"), (plain, "survival"), (np.column_stack(plain), "survival")):
        found = select(X, given, 2, ScoreTest(), task=task, check=False)
        assert set(found.features) == {"gene 3", "gene 5"}


@pytest.mark.parametrize(
    ("y", "how", "sentence"),
    [
        (("months", "dead"), {}, "X has no column 'dead'"),
        (("months", "died"), {"task": "regression"}, 'y holds survival times, but task="regr'),
        (("months", "died"), {"method": "fisher"}, "FisherSelector cannot select for survival"),
        ("died", {"strata": "hospital"}, "entry, strata and event_value are for survival"),
        (("died", "months"), {}, "the event holds"),
    ],
)
def test_mistakes(frame, y, how, sentence):
    with pytest.raises(ValueError, match=sentence):
        select(frame, y, **({"k": 2, "method": ScoreTest()} | how))


def test_the_page_has_curves_and_a_p_value(selected, tmp_path):
    selected.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Survival by predicted risk" in page
    assert "of the comparable pairs of held-out samples correctly by risk" in page
    assert "19 repetitions of the whole selection, folds included" in page


def test_the_figure_has_a_step_curve_for_every_third(selected, tmp_path):
    display = selected.plot("survival")
    lines = display.artists_["lines"]
    assert [line.get_label().partition(" (")[0] for line in lines] == [
        "low risk",
        "medium risk",
        "high risk",
    ]
    assert {line.get_drawstyle() for line in lines} == {"steps-post"}
    low, _, high = (line.get_ydata() for line in lines)
    assert low[len(low) // 2] > high[len(high) // 2]
    in_legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert re.fullmatch(r"log-rank test: p [=<] [\d.]+", in_legend[-1])
    assert in_legend[-1].removeprefix("log-rank test: ") in display.caption
    assert selected.plot("values").ax_.get_ylabel() == "martingale residual (high: early event)"
    other = select(selected.X, np.arange(120) % 2, 2, check=False)
    with pytest.raises(ValueError, match="the target holds no survival times"):
        other.plot("survival")


@pytest.mark.slow
def test_shuffled_times_are_no_better_than_chance(selected):
    rng = np.random.default_rng(5)
    y = selected.y[rng.permutation(120)]
    X = np.asarray(selected.X)
    kept = SelectedData.from_selector(ScoreTest(n_features_to_select=2).fit(X, y), X, y)
    found = held_out_survival(kept, X, n_shuffles=39)
    assert found.p_value > 0.05
    assert "do not differ significantly" in found.sentences()[-1]
    real = SelectedData.from_selector(
        ScoreTest(n_features_to_select=2).fit(X, selected.y), X, selected.y
    )
    assert held_out_survival(real, X, n_shuffles=39).p_value == 1 / 40
    few = held_out_survival(real, X, n_shuffles=5)
    assert few.p_value is None
    assert "Log-rank test of the three curves: p" in few.sentences()[-1]
    assert few.approximate == log_rank(selected.y, few.thirds).p_value
    assert np.bincount(found.thirds).tolist() == [40, 40, 40]


def test_shuffles_stay_within_their_stratum(frame):
    y = as_survival((frame["months"], frame["died"]), strata=frame["hospital"])
    shuffled = y[Exchange.from_target(y).order(np.random.default_rng(0))]
    np.testing.assert_array_equal(shuffled["strata"], y["strata"])
    assert (shuffled["time"] != y["time"]).any()
    np.testing.assert_array_equal(np.sort(shuffled["time"]), np.sort(y["time"]))


def test_columns_of_anndata(frame):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(
        frame.iloc[:, :8].to_numpy(),
        obs=frame[["months", "died"]].set_axis([f"p{i}" for i in range(120)]),
    )
    found = select(adata, ("months", "died"), 2, ScoreTest(), check=False)
    assert found.task == "survival"
    assert adata.var["sparsieve_selected"].sum() == 2


def test_leaks_of_the_time_and_of_the_event_are_found(frame):
    X = frame.iloc[:, :4].assign(follow_up=2 * frame["months"], dead=frame["died"])
    found = str(diagnose(X, as_survival((frame["months"], frame["died"]))))
    assert "follow_up" in found
    assert "dead" in found


def test_noise_reaches_no_high_scores(selected):
    null = permutation_null(ScoreTest(), selected.X, selected.y, n_repeats=5)
    assert null.level < selected.selector.scores_.max()


def test_methods_are_compared_by_concordance(frame):
    table = frame.drop(columns=["joined"])
    found = compare(
        *(table, ("months", "died"), [("score test", ScoreTest()), ("same", ScoreTest())]),
        ks=[1, 2], cv=3, n_repeats=1, strata="hospital",
    )  # fmt: skip
    assert list(found.scoring) == ["concordance", "uno_concordance"]
    assert found.guess["concordance"].mean() == 0.5
    assert found.k == 2
    with pytest.raises(ValueError, match="fisher cannot select for survival times; compare"):
        compare(table.drop(columns="hospital"), ("months", "died"), ["fisher"])


def test_counts(frame):
    rng = np.random.default_rng(1)
    X = frame.iloc[:, :8]
    y = rng.poisson(np.exp(0.5 + 0.7 * X["gene 2"]))
    found = select(X, y, 1, "ridge-forward", task="counts")
    assert found.features == ["gene 2"]
    assert found.task == "counts"
    assert "deviance explained" in str(found)
    compared = compare(X, y, ["ridge-forward"], task="counts", ks=[1], cv=3, n_repeats=1)
    assert compared.model == "poisson"
    assert list(compared.scoring) == ["deviance_explained"]


def test_the_package_names_the_defaults():
    assert sparsieve.registry.LIKELIHOOD_METHOD == "likelihood-forward"
