"""Numbers as targets: scores, curves, tuning and splits against plain loops of scikit-learn."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from sparsieve import RidgeForwardSelector
from sparsieve.scoring import (
    Folds,
    RepeatedSplits,
    TimeOrdered,
    accuracy_curve,
    regression_scores,
    tune,
)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = 3 + 2 * rng.standard_normal((60, 10))
    return X, 500 * X[:, 2] - 300 * X[:, 7] + 100 * rng.standard_normal(60)


@pytest.mark.parametrize("shape", [(30,), (30, 3)])
def test_scores_are_those_of_scikit_learn(shape):
    rng = np.random.default_rng(1)
    true, guess = rng.integers(0, 9, shape).astype(float), rng.standard_normal(shape)
    found = regression_scores(true, guess)
    assert found["r2"] == pytest.approx(r2_score(true, guess))
    assert found["mae"] == pytest.approx(mean_absolute_error(true, guess))
    pairs = zip(true.reshape(30, -1).T, guess.reshape(30, -1).T, strict=True)
    assert found["spearman"] == pytest.approx(np.mean([spearmanr(*pair)[0] for pair in pairs]))


def test_scores_at_the_ends():
    y = np.array([1.0, 2.0, 4.0])
    assert regression_scores(y, y) == {"r2": 1.0, "mae": 0.0, "spearman": 1.0}
    constant = np.full(3, y.mean())
    assert regression_scores(y, constant)["r2"] == 0.0
    assert regression_scores(y, constant)["spearman"] == 0.0
    assert regression_scores(np.ones(3), np.ones(3))["r2"] == 1.0
    assert regression_scores(np.ones(3), y)["r2"] == 0.0
    with pytest.raises(ValueError, match="at least two test samples, got 1"):
        regression_scores([1.0], [1.0])
    with pytest.raises(ValueError, match=r"got shapes \(3,\) and \(2,\)"):
        regression_scores(y, y[:2])


@pytest.mark.parametrize("outputs", [1, 2])
def test_a_curve_is_a_plain_loop(data, outputs):
    X, y = data
    y = y if outputs == 1 else np.column_stack([y, X[:, 5]])
    train, test = np.arange(40), np.arange(40, 60)
    curve = accuracy_curve(
        RidgeForwardSelector(), X[train], y[train], X[test], y[test], ks=[1, 3], task="regression"
    )
    assert [(r["k"], r["classifier"]) for r in curve.scores] == [
        (k, model) for k in (1, 3) for model in ("ridge", "5nn", "svr")
    ]
    scaler = StandardScaler().fit(X[train])
    Z, Z_test = scaler.transform(X[train]), scaler.transform(X[test])
    chosen = RidgeForwardSelector(3, task="regression").fit(Z, y[train])
    for row in curve.scores:
        kept = chosen.at(row["k"]).get_support()
        if row["classifier"] == "svr":
            scale = StandardScaler().fit(y[train].reshape(40, -1))
            columns = [
                SVR(kernel="linear").fit(Z[:, kept], column).predict(Z_test[:, kept])
                for column in scale.transform(y[train].reshape(40, -1)).T
            ]
            guess = scale.inverse_transform(np.column_stack(columns)).reshape(y[test].shape)
        else:
            model = Ridge() if row["classifier"] == "ridge" else KNeighborsRegressor()
            guess = model.fit(Z[:, kept], y[train]).predict(Z_test[:, kept])
        assert row["r2"] == pytest.approx(r2_score(y[test], guess))
        assert row["mae"] == pytest.approx(mean_absolute_error(y[test], guess))


def test_metrics_and_models_of_the_other_task_are_refused(data):
    X, y = data
    parts = X[:40], y[:40], X[40:], y[40:]
    with pytest.raises(ValueError, match="regressors must be a list out of ridge, 5nn, svr"):
        accuracy_curve(RidgeForwardSelector(), *parts, task="regression", classifiers=["svm"])
    with pytest.raises(ValueError, match="f1 is a score for classes, but the target holds numbers"):
        accuracy_curve(RidgeForwardSelector(), *parts, task="regression", scoring=["f1"])
    with pytest.raises(ValueError, match="task must be one of"):
        accuracy_curve(RidgeForwardSelector(), *parts, task="ranking")


def test_the_lowest_error_is_the_best(data):
    X, y = data
    grid = {"never_keep": [[2], [2, 7], []]}  # without its features the error is larger
    for metric in ("mae", "r2", "spearman"):
        tuned = tune(RidgeForwardSelector(), grid, X, y, ks=[2], task="regression", scoring=metric)
        assert tuned.parameters == {"never_keep": []}
        assert np.argmax(tuned.scores) == 2


# -- splits ---------------------------------------------------------------------------------


@pytest.mark.parametrize("stratified", [True, False])
@pytest.mark.parametrize(
    "protocol",
    [Folds(3, 2, grouped=True), RepeatedSplits(0.6, 4, grouped=True), TimeOrdered(3)],
)
def test_no_group_is_on_both_sides(protocol, stratified):
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 12, 80)
    y = rng.integers(0, 2, 80) if stratified else rng.standard_normal(80)
    splits = list(protocol.splits(y, groups, seed=0, stratified=stratified))
    assert len(splits) == protocol.n_splits
    for split in splits:
        assert len(split.train)
        assert len(split.test)
        assert not set(groups[split.train]) & set(groups[split.test])


def test_too_few_groups_and_groups_that_are_none():
    y = np.arange(9.0)
    with pytest.raises(ValueError, match="5 folds need at least 5 groups, but there are 3"):
        list(Folds(5, grouped=True).splits(y, y // 3, seed=0, stratified=False))
    with pytest.raises(ValueError, match="need at least 2 groups, but there is 1"):
        list(RepeatedSplits(grouped=True).splits(y, y * 0, seed=0, stratified=False))
    with pytest.raises(ValueError, match=r"each of the 9 samples .* got shape \(3,\)"):
        list(Folds(2, grouped=True).splits(y, y[:3], seed=0))
    lost = np.where(y == 4, np.nan, y)
    with pytest.raises(ValueError, match="the group of 1 sample is missing"):
        list(Folds(2, grouped=True).splits(y, lost, seed=0))
    with pytest.raises(ValueError, match="per_class takes a share of every class"):
        list(RepeatedSplits(per_class=True).splits(y, seed=0, stratified=False))


def test_what_trains_was_before_what_tests():
    rng = np.random.default_rng(3)
    time = rng.permutation(60) // 2  # two samples at every moment, in any order
    protocol = TimeOrdered(4, gap=2)
    splits = list(protocol.splits(np.zeros(60), seed=0, time=time))
    assert len(splits) == 4
    for split in splits:
        assert time[split.train].max() + 2 < time[split.test].min()
        assert (np.diff(time[split.train]) >= 0).all()
    tested = np.concatenate([split.test for split in splits])
    assert len(tested) == len(set(tested))
    with pytest.raises(ValueError, match="5 folds in order of time need at least 6 moments"):
        list(TimeOrdered(5).splits(np.zeros(9), seed=0, time=np.arange(9) // 3))


def test_folds_of_numbers_are_not_stratified_but_whole():
    y = np.random.default_rng(4).standard_normal(23)
    splits = list(Folds(5).splits(y, seed=0, stratified=False))
    assert sorted(np.concatenate([split.test for split in splits])) == list(range(23))
    first = next(RepeatedSplits(0.7, 1).splits(y, seed=0, stratified=False))
    assert len(first.train) + len(first.test) == 23
