"""The checks that outsiders run: pass where they should, and fail where they should."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest

from sparsieve import BaseSelector, FeatureScores, check_selector, compare
from sparsieve.conformance import OWN_CHECKS


@dataclass(eq=False, repr=False, kw_only=True)
class ToySelector(BaseSelector):
    """How far the mean of a feature, in units of its spread, moves with the target."""

    power: float = 1.0
    _accepts_sparse = False
    _score_meaning = "Absolute correlation with the target, to a power: larger is better."

    def _fit(self, data):
        X, _ = data.arrays()
        w = np.ones(len(X)) if data.sample_weight is None else data.sample_weight
        X = X - np.average(X, axis=0, weights=w)
        Y = data.target.Y - np.average(data.target.Y, axis=0, weights=w)
        spread = np.sqrt(w @ X**2)
        size = np.linalg.norm((X * w[:, None]).T @ Y, axis=1)
        scores = np.divide(size, spread, out=np.zeros_like(size), where=spread > 0)
        return FeatureScores(scores**self.power, n_kept=2)


def failures(selector):
    return {
        result["check_name"]: str(result["exception"])
        for result in check_selector(selector, on_fail=None)
        if result["status"] == "failed"
    }


@pytest.mark.long("scikit-learn's checks and ours")
@pytest.mark.parametrize("selector", [ToySelector(), SelectKBest()], ids=["toy", "SelectKBest"])
def test_a_sound_selector_passes(selector):
    results = check_selector(selector)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert {check.__name__ for check in OWN_CHECKS} <= {one["check_name"] for one in results}
    assert len(results) > 40


class Forgetful(ToySelector):
    def reaching(self, n_features):
        return self


class Greedy(ToySelector):
    def _set_support(self):
        super()._set_support()
        self.support_ = np.ones_like(self.support_)


class ByPlace(ToySelector):
    def _fit(self, data):
        return FeatureScores(np.arange(data.design.shape[1], dtype=float), n_kept=2)


class Dice(ToySelector):
    def _fit(self, data):
        return FeatureScores(np.random.default_rng().random(data.design.shape[1]), n_kept=2)


class Silent(ToySelector):
    _score_meaning = "Good."


class Spoiling(ToySelector):
    def _fit(self, data):
        found = super()._fit(data)
        data.arrays()[0][0, 0] += 1.0
        return found


class Coarse(ToySelector):
    def _fit(self, data):
        scores = super()._fit(data).scores
        return FeatureScores(scores + (data.design.dtype == np.float32) * np.arange(len(scores)), 2)


class Reversed(ToySelector):
    def _set_ranking(self, scores, ranking):
        super()._set_ranking(scores, len(ranking) + 1 - ranking)


@pytest.mark.parametrize(
    ("cls", "check", "sentence"),
    [
        (Forgetful, "check_reaching", "returns the selector itself"),
        (Greedy, "check_other_counts", r"at\(1\) keeps 8 of 8 features"),
        (Greedy, "check_scores_ranking_and_support", "does not keep 3 features"),
        (ByPlace, "check_order_of_features", "when columns change places"),
        (ByPlace, "check_constant_features", "constant feature ranks before"),
        (Dice, "check_same_answer_twice", "two fits to the same data differ"),
        (Silent, "check_score_meaning", "must be a sentence"),
        (Spoiling, "check_copies", "fit changes X"),
        (Coarse, "check_float32", "with float32"),
        (Reversed, "check_scores_ranking_and_support", "before one with a larger score"),
    ],
)
def test_what_is_wrong_fails_its_check_in_a_sentence(cls, check, sentence):
    run = next(one for one in OWN_CHECKS if one.__name__ == check)
    with pytest.raises(AssertionError, match=sentence):
        run(cls())


def test_failures_raise_warn_or_are_returned(monkeypatch):
    monkeypatch.setattr("sklearn.utils.estimator_checks.check_estimator", lambda *args, **kw: [])
    with pytest.raises(AssertionError, match=r"^Silent fails check_score_meaning: score_meaning"):
        check_selector(Silent())
    with pytest.warns(UserWarning, match="Silent fails check_score_meaning"):
        check_selector(Silent(), on_fail="warn")
    assert set(failures(Silent())) == {"check_score_meaning"}
    with pytest.raises(ValueError, match="on_fail must be one of"):
        check_selector(Silent(), on_fail="shout")


# -- packages of others, where they are installed -------------------------------------------------


def wine():
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X[::3], y[::3]


def own_failures(selector):
    from sparsieve.conformance import _outcome, as_selector, seed_selector

    found = seed_selector(as_selector(selector), 0)
    outcomes = {check.__name__: _outcome(check, found)["exception"] for check in OWN_CHECKS}
    return {name: str(e) for name, e in outcomes.items() if isinstance(e, AssertionError)}


@pytest.mark.long("Boruta grows forests")
def test_boruta_is_a_guest():
    boruta = pytest.importorskip("boruta")
    forest = RandomForestClassifier(max_depth=4, n_jobs=1, random_state=0)
    guest = boruta.BorutaPy(forest, n_estimators=10, max_iter=8, random_state=0)
    assert own_failures(guest) == {}
    found = compare(*wine(), [guest, "fisher"], ks=[2, 4], cv=2, n_repeats=1)
    assert list(found.methods) == ["BorutaPy", "fisher"]


@pytest.mark.long("mrmr takes a data frame")
def test_mrmr_selection_is_a_guest():
    mrmr = pytest.importorskip("mrmr")
    pd = pytest.importorskip("pandas")

    def by_mrmr(X, y):
        order = mrmr.mrmr_classif(
            pd.DataFrame(X), pd.Series(y), K=X.shape[1], n_jobs=1, show_progress=False
        )
        scores = np.zeros(X.shape[1])
        scores[order] = np.arange(len(order), 0, -1)
        return scores

    X, y = wine()
    found = compare(X, y, [by_mrmr, "mrmr"], ks=[2, 4], cv=2, n_repeats=1)
    assert list(found.methods) == ["by_mrmr", "mrmr"]


def test_fastcan_is_a_guest():
    fastcan = pytest.importorskip("fastcan")
    guest = fastcan.FastCan(2, verbose=0)
    assert own_failures(guest) == {}
    found = compare(*wine(), [guest, "fisher"], ks=[2, 4], cv=2, n_repeats=1)
    assert "2 fits instead of 1" in " ".join(found.methods["FastCan"].warnings)


def test_skrebate_is_a_guest():
    skrebate = pytest.importorskip("skrebate")
    guest = skrebate.ReliefF(n_features_to_select=2, n_neighbors=5)
    # It scores features that vary below zero, and so below a constant.
    assert set(own_failures(guest)) <= {"check_constant_features"}
