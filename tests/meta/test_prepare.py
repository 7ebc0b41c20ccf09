"""SelectorCV around a preparation of X, and folds that overlap."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

import sparsieve
from sparsieve import LogCPM, RidgeForwardSelector, SelectorCV


@pytest.fixture
def counts(rng):
    y = rng.permutation(np.arange(50) % 2)
    mean = rng.lognormal(2.0, 1.0, 40) * rng.lognormal(0.0, 0.6, (50, 1))
    mean[:, :4] *= np.where(y[:, None], 4.0, 1.0)
    return rng.negative_binomial(3.0, 3.0 / (3.0 + mean)).astype(float), y


class Spy(TransformerMixin, BaseEstimator):
    """Notes what it is fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y=None):
        Spy.seen.append(X[:, 0].copy())
        return self

    def transform(self, X):
        return X

    def get_feature_names_out(self, names):
        return names


def test_preparations_see_training_samples_only(counts):
    X, y = counts
    X[:, 0] = np.arange(50)
    Spy.seen.clear()
    folds = KFold(5, shuffle=True, random_state=0)
    SelectorCV(ks=[3], cv=folds, prepare=Spy()).fit(X, y)
    *parts, whole = Spy.seen
    for seen, (train, _) in zip(parts, folds.split(X), strict=True):
        np.testing.assert_array_equal(seen, train)
    np.testing.assert_array_equal(whole, np.arange(50))


def test_scores_are_those_of_a_plain_loop(counts):
    X, y = counts
    folds = KFold(5, shuffle=True, random_state=0)
    model = LogisticRegression()
    search = SelectorCV(estimator=model, ks=[3], cv=folds, prepare="log-cpm").fit(X, y)
    for number, (train, test) in enumerate(folds.split(X)):
        logs = LogCPM().fit(X[train]).transform(X)
        kept = RidgeForwardSelector(n_features_to_select=3).fit(logs[train], y[train])
        part = logs[:, kept.get_support()]
        score = clone(model).fit(part[train], y[train]).score(part[test], y[test])
        assert search.cv_results_[f"split{number}_test_score"][0] == score


def test_transform_and_predict_take_counts(counts, tmp_path):
    X, y = counts
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(40)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = SelectorCV(n_repeats=1, prepare="log-cpm").fit(frame, y)
        logs = LogCPM().fit(X).transform(X)[:, search.support_]
        np.testing.assert_array_equal(search.transform(frame), logs)
        np.testing.assert_array_equal(search.predict(frame), search.estimator_.predict(logs))
        shown = clone(search).set_output(transform="pandas").fit(frame, y).transform(frame)
        assert shown.columns.tolist() == search.get_feature_names_out().tolist()
        with_sparse = SelectorCV(n_repeats=1, prepare="log-cpm").fit(sparse.csr_array(X), y)
    assert with_sparse.best_k_ == search.best_k_
    np.testing.assert_allclose(with_sparse.transform(sparse.csr_array(X)).toarray(), logs)
    sparsieve.save(search, tmp_path / "search")
    again = sparsieve.load(tmp_path / "search")
    np.testing.assert_array_equal(again.predict(frame), search.predict(frame))
    assert search.at(2).transform(frame).shape == (50, 2)


@pytest.mark.slow
def test_jobs_do_not_matter(counts):
    X, y = counts
    one, two = (SelectorCV(n_repeats=1, prepare="log-cpm", n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(
        one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"]
    )


def test_bad_preparations(counts):
    X, y = counts
    with pytest.raises(ValueError, match=r"^prepare must be one of 'impute', "):
        SelectorCV(prepare="logarithm").fit(X, y)
    with pytest.raises(ValueError, match="Negative values in data passed to LogCPM"):
        SelectorCV(prepare="log-cpm").fit(-X, y)


def test_overlapping_folds_warn_once(counts):
    X, y = counts
    every = np.arange(50)
    folds = [(every, every), (every[:30], every[20:]), (every[:25], every[25:])]
    with pytest.warns(UserWarning, match="fold 0 of cv is trained on 50 of the 50") as caught:
        SelectorCV(ks=[2, 3], cv=folds).fit(X, y)
    assert len([one for one in caught if "of cv is trained" in str(one.message)]) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SelectorCV(ks=[2, 3], cv=folds[2:]).fit(X, y)
