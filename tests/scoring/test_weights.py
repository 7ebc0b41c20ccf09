"""A weight of 2 counts like two copies of the sample, in scores too."""

import warnings

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import sparsieve
from sparsieve import FisherSelector, FStatisticSelector, SelectorCV
from sparsieve.scoring import classification_scores, regression_scores


@pytest.fixture
def samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    y = (X[:, 0] + X[:, 1] + 0.8 * rng.standard_normal(60) > 0).astype(int)
    return X, y, rng.integers(1, 4, 60)


def copied(weights, *arrays):
    """Every sample as often as it weighs, and the folds that keep copies together."""
    rows = np.repeat(np.arange(len(weights)), weights)
    fold = np.arange(len(weights)) % 3
    single = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(3)]
    several = [(np.flatnonzero(fold[rows] != f), np.flatnonzero(fold[rows] == f)) for f in range(3)]
    return [array[rows] for array in arrays], single, several


@pytest.mark.parametrize("scoring", [None, "accuracy", "roc_auc", "neg_log_loss", "f1_macro"])
def test_classes(samples, scoring):
    X, y, weights = samples
    (X2, y2), single, several = copied(weights, X, y)
    how = {"estimator": LogisticRegression(), "ks": [1, 2, 4], "scoring": scoring}
    with_weights = SelectorCV(FisherSelector(), cv=single, **how).fit(X, y, sample_weight=weights)
    with_copies = SelectorCV(FisherSelector(), cv=several, **how).fit(X2, y2)
    plain = SelectorCV(FisherSelector(), cv=single, **how).fit(X, y)
    assert with_weights.best_k_ == with_copies.best_k_
    np.testing.assert_allclose(
        with_weights.cv_results_["mean_test_score"],
        with_copies.cv_results_["mean_test_score"],
        atol=1e-6,
    )
    assert not np.allclose(
        with_weights.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"]
    )
    if scoring is not None:
        assert with_weights.guess_ == pytest.approx(with_copies.guess_)


@pytest.mark.parametrize("scoring", [None, "r2", "neg_mean_absolute_error"])
def test_numbers(samples, scoring):
    X, _, weights = samples
    y = X[:, 0] - 2 * X[:, 3] + np.sin(9 * X[:, 5])
    (X2, y2), single, several = copied(weights, X, y)
    how = {"estimator": Ridge(), "ks": [1, 3], "scoring": scoring}
    method = FStatisticSelector(task="regression")
    with_weights = SelectorCV(method, cv=single, **how).fit(X, y, sample_weight=weights)
    with_copies = SelectorCV(method, cv=several, **how).fit(X2, y2)
    np.testing.assert_allclose(
        with_weights.cv_results_["mean_test_score"], with_copies.cv_results_["mean_test_score"]
    )


def test_select_and_compare_weigh_what_they_measure(samples):
    X, y, weights = samples
    (X2, y2), single, several = copied(weights, X, y)
    own = {"estimator": LogisticRegression()}
    once = sparsieve.select(X, y, 2, "fisher", cv=single, sample_weight=weights, **own)
    twice = sparsieve.select(X2, y2, 2, "fisher", cv=several, **own)
    assert once.accuracy == pytest.approx(twice.accuracy)
    assert once.features == twice.features
    both = ["fisher", "f-statistic"]
    first = sparsieve.compare(X, y, both, ks=[2], cv=single, sample_weight=weights)
    second = sparsieve.compare(X2, y2, both, ks=[2], cv=several)
    for metric in ("accuracy", "balanced_accuracy"):
        assert first.guess[metric].tolist() == pytest.approx(second.guess[metric].tolist())


def test_the_default_model_is_weighed_too(samples):
    """By hand, from the predictions of the folds."""
    X, y, weights = samples
    search = SelectorCV(FisherSelector(), ks=[2], cv=3, n_repeats=1)
    search.fit(X, y, sample_weight=weights)
    equal = SelectorCV(FisherSelector(), ks=[2], cv=3, n_repeats=1)
    equal.fit(X, y, sample_weight=np.full(60, 1.0))
    plain = SelectorCV(FisherSelector(), ks=[2], cv=3, n_repeats=1).fit(X, y)
    assert equal.best_score_ == plain.best_score_
    assert search.best_score_ != plain.best_score_
    share = np.bincount(y, weights).max() / weights.sum()
    assert search.guess_ == pytest.approx(share)


def test_all_own_scores_as_of_copies():
    rng = np.random.default_rng(1)
    weights = rng.integers(1, 4, 40)
    true, guess = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)
    names = ("accuracy", "balanced_accuracy", "mcc", "f1")
    assert classification_scores(true, guess, names, weights) == pytest.approx(
        classification_scores(true[rows], guess[rows], names)
    )
    names = ("r2", "mae", "spearman", "deviance_explained")
    guess = true + rng.uniform(0.1, 1.0, 40).round(1)
    assert regression_scores(true, guess, names, weights) == pytest.approx(
        regression_scores(true[rows], guess[rows], names)
    )


def test_a_score_that_takes_no_weights_says_so(samples):
    X, y, weights = samples

    def hits(estimator, X, y):
        return float((estimator.predict(X) == y).mean())

    search = SelectorCV(FisherSelector(), ks=[2], cv=3, n_repeats=1, scoring=hits)
    with pytest.warns(UserWarning, match="hits takes no weights, so that it counts every sample"):
        search.fit(X, y, sample_weight=weights)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.fit(X, y)
