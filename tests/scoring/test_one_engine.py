"""One engine answers how good the features at k are, whoever asks: those of ``at(k)``."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsieve import (
    FisherSelector,
    L20Selector,
    RidgeForwardSelector,
    RobustL20Selector,
    SelectorCV,
    compare,
)
from sparsieve.app.report.assessment import assess
from sparsieve.scoring import accuracy_curve
from sparsieve.scoring.engine import score_fold
from sparsieve.scoring.folds import make_folds
from sparsieve.scoring.models import MODELS
from sparsieve.selection.selected_data import SelectedData
from sparsieve_experiments.studies.compute import compute

pytestmark = pytest.mark.usefixtures("lines_only")

KS = [1, 2, 3, 5, 8]
NESTED = [FisherSelector(), RidgeForwardSelector()]
NOT_NESTED = [L20Selector(), RobustL20Selector()]


@pytest.fixture(scope="module")
def data():
    """Two features say more together than the one that says most alone."""
    rng = np.random.default_rng(3)
    n = 90
    y = np.arange(n) % 3
    parts = rng.standard_normal((n, 4))
    signal = np.eye(3)[y] @ rng.standard_normal((3, 4)) + 0.7 * parts
    X = 0.8 * rng.standard_normal((n, 24))
    X[:, :4] += signal
    X[:, 4] += signal[:, 0] + signal[:, 1]
    X[:, 5] += signal[:, 2] - signal[:, 3]
    X[:, 6] += signal.sum(axis=1)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    return X, y


@pytest.fixture(scope="module")
def folds(data):
    return make_folds(data[1], 3, seed=0)


def by_hand(selector, X, y, train, test):
    """Features and accuracies of a linear SVM at every k, by a plain loop."""
    fitted = selector.reaching(max(KS)).fit(X[train], y[train])
    kept = {k: fitted.at(k).get_support() for k in KS}
    scores = []
    for k in KS:
        model = make_pipeline(StandardScaler(), SVC(kernel="linear", C=1.0))
        model.fit(X[train][:, kept[k]], y[train])
        scores.append(model.score(X[test][:, kept[k]], y[test]))
    return kept, scores


@pytest.mark.parametrize("selector", NOT_NESTED, ids=repr)
def test_the_data_tell_at_from_the_first_of_the_ranking(selector, data, folds):
    X, y = data
    different = 0
    for train, test in folds:
        ranking = selector.reaching(max(KS)).fit(X[train], y[train]).ranking_
        kept, _ = by_hand(selector, X, y, train, test)
        different += sum(not np.array_equal(kept[k], ranking <= k) for k in KS)
    assert different


@pytest.mark.parametrize("selector", NESTED + NOT_NESTED, ids=repr)
@pytest.mark.long("RobustL20 is fitted again at every number")
def test_everybody_gives_the_scores_of_a_plain_loop(selector, data, folds):
    X, y = data
    wanted = np.array([by_hand(selector, X, y, *fold)[1] for fold in folds]).T
    engine = [
        score_fold(
            selector, X, y, *fold, ks=KS, task="classification", models=["svm"],
            metrics=["accuracy"], standardize=True,
        )
        for fold in folds
    ]  # fmt: skip
    np.testing.assert_allclose(np.array([f.curve("svm", "accuracy") for f in engine]).T, wanted)
    method = ("method", selector)
    compared = compare(X, y, [method], ks=KS, cv=folds, model="svm").methods["method"]
    np.testing.assert_allclose(compared.scores["accuracy"], wanted)
    model = make_pipeline(StandardScaler(), SVC(kernel="linear", C=1.0))
    search = SelectorCV(selector, estimator=model, ks=KS, cv=folds).fit(X, y)
    for j in range(len(folds)):
        np.testing.assert_allclose(search.cv_results_[f"split{j}_test_score"], wanted[:, j])
    fitted = clone(selector).set_params(n_features_to_select=5).fit(X, y)
    report = assess(SelectedData.from_selector(fitted, X, y, None), X, n_folds=3, seed=0)
    rows = [report.ks.index(k) for k in KS]
    np.testing.assert_allclose(report.scores["linear SVM"][rows], wanted)
    for j, (train, test) in enumerate(folds):
        np.testing.assert_allclose(study_cell(selector, X, y, train, test), wanted[:, j])
        parts = X[train], y[train], X[test], y[test]
        curve = accuracy_curve(selector, *parts, ks=KS, classifiers=["svm"])
        np.testing.assert_allclose([row["accuracy"] for row in curve.scores], wanted[:, j])


def study_cell(selector, X, y, train, test):
    spec = {
        "selector": type(selector).__name__, "parameters": {}, "seed": 0, "ks": KS,
        "classifiers": ["svm"], "metrics": ["accuracy"], "zscore": True, "tuning": "none",
        "protocol": {"kind": "folds"},
    }  # fmt: skip
    outcome = compute("cell", spec, X, y, None, None, None, train, test)
    assert not outcome.error
    return [row["accuracy"] for row in outcome.result["scores"]]


@pytest.mark.parametrize("selector", NESTED + NOT_NESTED, ids=repr)
@pytest.mark.long("RobustL20 is fitted again at every number")
def test_a_search_agrees_with_its_own_selector(selector, data, folds):
    X, y = data
    plain = SelectorCV(selector, ks=KS, cv=folds).fit(X, y)
    piped = SelectorCV(make_pipeline(StandardScaler(), selector), ks=KS, cv=folds).fit(X, y)
    np.testing.assert_allclose(
        plain.cv_results_["mean_test_score"], piped.cv_results_["mean_test_score"]
    )
    for search in (plain, piped):
        every = [search, *(search.at(k) for k in KS)]
        for found, k in zip(every, [search.best_k_, *KS], strict=True):
            inside = found.selector_ if search is plain else found.selector_.selector_[-1]
            np.testing.assert_array_equal(found.support_, inside.get_support())
            np.testing.assert_array_equal(
                found.support_, selector.reaching(8).fit(X, y).at(k).support_
            )
            np.testing.assert_array_equal(found.support_, found.ranking_ <= k)
        fold = [selector.reaching(8).fit(X[t], y[t]).at(search.best_k_) for t, _ in folds]
        kept = np.sort(search.selected_in_folds_, axis=1)
        np.testing.assert_array_equal(kept, [f.get_support(indices=True) for f in fold])


@pytest.mark.parametrize("selector", NESTED + NOT_NESTED, ids=repr)
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.long("RobustL20 is fitted again at every number")
def test_one_factorisation_scores_as_a_fit_at_every_number(selector, task, data, folds):
    """Where the supports are not nested there is no such short cut, and none is taken."""
    X, y = data
    if task == "regression":
        if isinstance(selector, FisherSelector):
            pytest.skip("for classes only")
        y = X[:, :4].sum(axis=1) + np.random.default_rng(0).standard_normal(len(y))
    scoring = "accuracy" if task == "classification" else "r2"
    one = SelectorCV(selector, ks=KS, cv=folds).fit(X, y).cv_results_["mean_test_score"]
    other = SelectorCV(selector, ks=KS, cv=folds, scoring=scoring).fit(X, y).cv_results_
    np.testing.assert_allclose(one, other["mean_test_score"])


def test_numbers_begin_with_what_is_always_kept(data, folds):
    X, y = data
    search = SelectorCV(RidgeForwardSelector(always_keep=[20, 21, 22]), cv=folds).fit(X, y)
    assert search.ks_[0] == 3
    assert search.at(3).get_support(indices=True).tolist() == [20, 21, 22]


@pytest.mark.parametrize(
    ("task", "name"), [(task, name) for task, models in MODELS.items() for name in models]
)
def test_fits_of_every_model_end(task, name):
    # without a limit LIBSVM cycled for hours on 42 columns of an image data set
    limits = {k: v for k, v in MODELS[task][name]().get_params().items() if "max_iter" in k}
    assert all(limit is None or limit > 0 for limit in limits.values())
