"""Gaps and logarithms as steps of a preparation."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.impute import KNNImputer
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import StratifiedKFold

from sparsieve import FisherSelector, SelectorCV, load, save
from sparsieve.preprocessing.covariates import (
    PREPARATIONS,
    check_preparable,
    describe_preparation,
    fills_gaps,
    preparation,
    takes_logarithms,
)
from sparsieve.preprocessing.steps import Imputer, Log1p
from sparsieve.scoring.engine import fit_preparation

NAN = np.nan
GAPS = np.array([[1.0, NAN, 1.0], [2.0, NAN, 1.0], [9.0, NAN, NAN], [NAN, NAN, 3.0]])


@pytest.mark.parametrize(
    ("strategy", "filled"),
    [("median", [2, 0, 1]), ("mean", [4, 0, 5 / 3]), ("most_frequent", [1, 0, 1])],
)
def test_statistics_of_the_training_samples(strategy, filled):
    made = Imputer(strategy).fit(GAPS)
    np.testing.assert_allclose(made.fill_, filled)
    new = made.transform([[NAN, NAN, NAN], [5.0, 6.0, NAN]])
    np.testing.assert_allclose(new, [filled, [5, 6, filled[2]]])
    assert np.isnan(GAPS).sum() == 6  # the user's own array is not changed


def test_neighbours():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    X[rng.random(X.shape) < 0.2] = NAN
    made = Imputer("knn").fit(X[:20]).transform(X)
    np.testing.assert_allclose(made, KNNImputer().fit(X[:20]).transform(X))
    with pytest.raises(ValueError, match="cannot be imputed"):
        Imputer("knn").fit(sparse.csr_array(np.eye(3)))


def test_text_gets_its_most_frequent_value():
    """Half of the samples are "b", so that the median of each column would be no value at all."""
    coded = np.eye(3)[[0, 0, 1, 1, 1, 2, 2]]
    X = np.column_stack([np.arange(8.0), np.vstack([coded, [NAN] * 3])])
    for strategy in ("median", "knn"):
        made = Imputer(strategy, text_groups=[[1, 2, 3]]).fit_transform(X)
        assert made[-1].tolist() == [7, 0, 1, 0]


def test_sparse_matrices_stay_sparse():
    X = sparse.csr_array(np.array([[0.0, 3.0], [NAN, 0.0], [2.0, 5.0]]))
    made = Imputer().fit(X).transform(X)
    assert sparse.issparse(made)
    assert made.toarray().tolist() == [[0, 3], [1, 0], [2, 5]]  # zeros are values
    logs = Log1p().fit_transform(sparse.csr_array(np.array([[0.0, 3.0]])))
    np.testing.assert_allclose(logs.toarray(), np.log1p([[0.0, 3.0]]))


def test_names_and_lists():
    for name in PREPARATIONS:
        assert describe_preparation(preparation(name)) == name
    both = preparation(["impute", "log-cpm"])
    assert (describe_preparation(both), fills_gaps(both), takes_logarithms(both)) == (
        ["impute", "log-cpm"],
        True,
        True,
    )
    assert fills_gaps(preparation(["log", "impute-knn"]))
    assert not fills_gaps(preparation("log"))
    assert not fills_gaps(preparation(["log-cpm", "impute"]))  # totals need all counts
    assert preparation([]) is None
    assert isinstance(preparation(["log"]), Log1p)
    with pytest.raises(ValueError, match="strategy must be"):
        Imputer("mode").fit(GAPS)


def test_what_is_left_is_refused_by_name():
    names = ["a", "b", "c"]
    check_preparable(GAPS, names, preparation("impute"))
    for prepare in (None, preparation("log"), preparation("log-cpm")):
        with pytest.raises(ValueError, match=r"'a', 'b', 'c'\).*with prepare=\"impute\""):
            check_preparable(GAPS, names, prepare)
    with pytest.raises(ValueError, match="infinite"):
        check_preparable(np.array([[np.inf, NAN, 1.0]]), names, preparation("impute"))
    for X in (GAPS - 2.0, sparse.csr_array(np.array([[-1.0, 0.0, -3.0]]))):
        with pytest.raises(
            ValueError, match=r"prepare='log' takes logarithms, but 2 columns .*: 'a', 'c'"
        ):
            check_preparable(X, names, preparation(["impute", "log"]))
    with pytest.raises(ValueError, match="Negative values"):
        Log1p().fit_transform([[-0.5]])


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    X[np.random.default_rng(0).random(X.shape) < 0.2] = NAN
    return X, y


def test_gaps_are_filled_by_training_samples_alone(wine):
    X, _ = wine
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    _, made = fit_preparation(preparation("impute"), X, train)
    where = np.isnan(X[test, 3])
    assert np.unique(made[test, 3][where]) == pytest.approx(np.nanmedian(X[train, 3]))
    assert np.nanmedian(X[train, 3]) != np.nanmedian(X[:, 3])


def test_a_search_with_gaps_is_a_plain_loop(wine, tmp_path):
    X, y = wine
    folds = list(StratifiedKFold(4).split(X, y))
    model = RidgeClassifier(alpha=3.0)
    search = SelectorCV(
        FisherSelector(), estimator=model, ks=[4], cv=folds, prepare=["impute", "log"]
    ).fit(X, y)
    scores = []
    for train, test in folds:
        fill = np.nanmedian(X[train], axis=0)
        Z = np.log1p(np.where(np.isnan(X), fill, X))
        kept = FisherSelector(4).fit(Z[train], y[train]).get_support()
        fitted = RidgeClassifier(alpha=3.0).fit(Z[train][:, kept], y[train])
        scores.append(fitted.score(Z[test][:, kept], y[test]))
    assert search.best_score_ == pytest.approx(np.mean(scores))
    save(search, tmp_path / "search.sparsieve")
    again = load(tmp_path / "search.sparsieve")
    np.testing.assert_array_equal(again.transform(X), search.transform(X))
    np.testing.assert_array_equal(again.predict(X), search.predict(X))
    with pytest.raises(ValueError, match="contains NaN"):
        SelectorCV(FisherSelector(), ks=[4], prepare="log").fit(X, y)
