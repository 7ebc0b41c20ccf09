"""select takes lines or trees by what predicts samples held out, and says so."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression

from sparsieve import (
    BoostedTreesSelector,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    select,
)
from sparsieve.preprocessing.covariates import Covariates
from sparsieve.preprocessing.inputs import Inputs
from sparsieve.selection.relation import compare_paths

RNG = np.random.default_rng(0)
X = RNG.standard_normal((400, 8))
MET = np.where(X[:, 1] * X[:, 4] > 0, "ill", "well")  # only together
CURVE = np.abs(X[:, 2]) + 0.2 * RNG.standard_normal(400)
LINE = X[:, 0] - X[:, 3] + 0.5 * RNG.standard_normal(400)


@pytest.mark.parametrize("k", [2, "auto"])
def test_features_that_meet_are_found_and_their_model_is_one_of_trees(k):
    selected = select(pd.DataFrame(X, columns=list("abcdefgh")), MET, k=k)
    assert selected.relation.choice == "trees"
    assert isinstance(selected.method, BoostedTreesSelector)
    assert set(selected.features) == {"b", "e"}
    assert isinstance(selected.model[-1], HistGradientBoostingClassifier)
    assert selected.accuracy > 0.9
    assert any("features by trees explain" in note for note in selected.notes)
    assert (selected.predict(X[:50]) == MET[:50]).mean() > 0.9
    assert selected.predict_proba(X[:5]).shape == (5, 2)
    assert "only together" in str(selected.method.interactions_[0])
    assert selected.nothing_found == ""


def test_curves_of_numbers():
    selected = select(X, CURVE, check=False)
    assert selected.relation.choice == "trees"
    assert np.flatnonzero(selected.selector.support_).tolist() == [2]
    assert isinstance(selected.model[-1], HistGradientBoostingRegressor)


@pytest.mark.parametrize("y", [LINE, np.where(LINE > 0, "a", "b")])
def test_lines_stay_lines(y):
    selected = select(X, y, check=False)
    assert selected.relation.choice == "linear"
    assert isinstance(selected.method, RidgeForwardSelector)
    assert selected.notes == ()


def test_of_noise_both_are_said_to_find_nothing():
    with pytest.warns(UserWarning, match="No linear model .* Boosted trees do no better"):
        selected = select(X, np.random.default_rng(1).integers(0, 2, 400))
    assert selected.relation.choice == "linear"


@pytest.mark.parametrize(
    "how",
    [
        {"linear_only": True},
        {"method": "ridge-forward"},
        {"method": "fisher"},
        {"estimator": LogisticRegression()},
        {"ridge": 0.5},
        {"certify": True, "k": 2},
        {"cv": 4},
        {"k": None},
    ],
)
def test_whoever_says_how_is_not_asked(how):
    selected = select(X, MET, **{"k": 2, "check": False, **how})
    assert selected.relation is None
    assert not isinstance(selected.method, BoostedTreesSelector)


@pytest.mark.long("two searches: one with trees, one with their covariate alone")
def test_covariates_take_part_in_the_comparison():
    """What meets a covariate is for trees, and the covariate alone is judged by trees, too."""
    dose = np.random.default_rng(2).standard_normal(400)
    y = np.where(dose * X[:, 4] + 0.3 * X[:, 1] > 0, "ill", "well")
    selected = select(X, y, k=2, covariates={"dose": dose}, check=True)
    assert selected.relation.choice == "trees"
    assert set(selected.features) == {"x1", "x4"}
    assert selected.covariates_alone.adds
    assert selected.covariates_alone.score < 0.6
    bent = np.abs(dose) + 0.3 * np.random.default_rng(3).standard_normal(400)
    nothing = select(X, bent, k=1, covariates={"dose": dose}, check=True)
    assert nothing.relation.choice == "trees"
    assert nothing.covariates_alone.score > 0.5  # a line says nothing of it
    assert not nothing.covariates_alone.adds


def test_counts_are_compared_by_their_deviance():
    counts = np.random.default_rng(4).poisson(np.exp(1.5 * np.abs(X[:, 2]) - 1.0))
    selected = select(X, counts, k=2, task="counts", check=False)
    assert selected.relation.choice == "trees"
    assert "x2" in selected.features
    assert isinstance(selected.model[-1], HistGradientBoostingRegressor)
    assert selected.model[-1].loss == "poisson"


def test_small_wide_and_other_data_are_not_compared():
    asked = Inputs(X, CURVE, task="regression")
    selector = RidgeForwardSelector(task="regression")
    assert compare_paths(selector, replace(asked, X=X[:99], y=CURVE[:99])) is None
    assert compare_paths(selector, replace(asked, X=np.tile(X, 251))) is None
    assert compare_paths(BoostedTreesSelector(), asked) is None
    assert compare_paths(selector, asked).choice == "trees"
    every = Covariates(("all",), places=tuple(range(8)))  # and no features
    assert compare_paths(selector, replace(asked, covariates=every)) is None
    cox = LikelihoodForwardSelector(task="survival")  # whose model would be linear all the same
    assert compare_paths(cox, replace(asked, task="survival")) is None


def test_gaps_weights_and_groups_take_part():
    table = pd.DataFrame(X.copy(), columns=list("abcdefgh"))
    table.loc[::7, "a"] = np.nan
    table["city"] = np.where(X[:, 5] > 0, "Bern", "Oslo")
    how = {"sample_weight": np.ones(400), "groups": np.arange(400) // 2, "check": True}
    selected = select(table, MET, k=2, **how)
    assert selected.relation.choice == "trees"
    assert set(selected.features) == {"b", "e"}
    assert selected.accuracy > 0.85
    assert selected.predict(table[:10]).shape == (10,)


@pytest.mark.slow
def test_the_page_has_a_section_on_it(tmp_path):
    pytest.importorskip("jinja2")
    selected = select(pd.DataFrame(X, columns=list("abcdefgh")), MET, k=2)
    selected.report(tmp_path / "page.html", cv=0)
    page = (tmp_path / "page.html").read_text()
    assert "Lines or trees" in page
    assert "b x e: only together" in page
