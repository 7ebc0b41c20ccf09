import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from sparsieve import FisherSelector, L20Selector, L21Selector, RidgeForwardSelector
from sparsieve.datasets.synthetic.classes import make_shared_features
from sparsieve.scoring import Folds, accuracy_curve, tune
from sparsieve.solvers import AHIHT
from sparsieve_experiments.studies import AllFeatures


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    split = next(Folds(3).splits(y, seed=0))
    return X[split.train], y[split.train], X[split.test], y[split.test]


@pytest.mark.parametrize("selector", [FisherSelector(), RidgeForwardSelector()])
def test_the_curve_is_that_of_a_pipeline_fitted_for_every_k(wine, selector):
    X, y, X_test, y_test = wine
    curve = accuracy_curve(selector, *wine, ks=[1, 4, 9], classifiers=["5nn", "svm"])
    classifiers = {"5nn": KNeighborsClassifier(5), "svm": SVC(kernel="linear", C=1)}
    for row in curve.scores:
        refitted = type(selector)(n_features_to_select=row["k"])
        pipeline = make_pipeline(StandardScaler(), refitted, classifiers[row["classifier"]])
        assert row["accuracy"] == pytest.approx(pipeline.fit(X, y).score(X_test, y_test))
    assert selector.n_features_to_select is None  # a clone was fitted
    assert [row["n_selected"] for row in curve.selections] == [1, 4, 9]
    assert len(curve.features) == 9


def test_warnings_are_those_of_the_fit_not_of_garbage(wine, tmp_path):
    forgotten = [open(tmp_path / "of somebody else", "w")]  # noqa: SIM115
    forgotten.append(forgotten)  # the collector closes it, with a ResourceWarning
    del forgotten
    assert accuracy_curve(FisherSelector(), *wine, ks=[1], classifiers=["1nn"]).warnings == []


def test_own_number_of_features_and_no_selection(wine):
    curve = accuracy_curve(L21Selector(alpha=20.0), *wine, classifiers=["1nn"])
    (row,) = curve.scores
    assert row["k"] is None
    assert 0 < row["n_selected"] < 13
    baseline = accuracy_curve(AllFeatures(), *wine, ks=[1, 5], classifiers=["1nn"])
    assert [row["n_selected"] for row in baseline.scores] == [13, 13]
    assert baseline.scores[0]["accuracy"] == baseline.scores[1]["accuracy"]


def test_a_price_per_feature_gives_the_ranking_as_far_as_it_goes(wine):
    X, y, X_test, y_test = wine
    selector = L20Selector(lam=0.5, solver=AHIHT(fill=False))
    curve = accuracy_curve(selector, *wine, ks=[2, 6], classifiers=["5nn"])
    scaler = StandardScaler().fit(X)
    fitted = selector.fit(scaler.transform(X), y)
    for row in curve.scores:
        chosen = fitted.ranking_ <= row["k"]
        classifier = KNeighborsClassifier(5).fit(scaler.transform(X)[:, chosen], y)
        expected = classifier.score(scaler.transform(X_test)[:, chosen], y_test)
        assert row["accuracy"] == pytest.approx(expected)
    reached = [k for k in (2, 6) if k <= fitted.n_ranked_]
    assert [row["n_selected"] for row in curve.selections] == reached == [2]
    with pytest.raises(ValueError, match="features that L20Selector ranks with its parameters"):
        accuracy_curve(selector, *wine, ks=[13])


def test_ks_beyond_the_columns_are_left_out(wine):
    curve = accuracy_curve(FisherSelector(), *wine, ks=[50, 5, 5, 13], classifiers=["1nn"])
    assert [row["k"] for row in curve.scores] == [5, 13]
    with pytest.raises(ValueError, match="larger than the 13 features"):
        accuracy_curve(FisherSelector(), *wine, ks=[14])


def test_sparse_data_give_the_answer_of_dense_ones(wine):
    X, y, X_test, y_test = wine
    settings = {"ks": [2, 6], "zscore": False, "classifiers": ["1nn", "5nn"]}
    dense = accuracy_curve(FisherSelector(), X, y, X_test, y_test, **settings)
    as_sparse = accuracy_curve(
        FisherSelector(), sparse.csr_array(X), y, sparse.csr_array(X_test), y_test, **settings
    )
    assert as_sparse.features == dense.features
    assert as_sparse.mean() == pytest.approx(dense.mean())
    scaled = accuracy_curve(
        FisherSelector(), sparse.csr_array(X), y, sparse.csr_array(X_test), y_test, ks=[6]
    )
    assert scaled.mean() > 0.9


def test_recovery_of_known_features():
    data = make_shared_features(200, 50, n_relevant=4, signal=2.0, random_state=0)
    parts = data.X[:150], data.y[:150], data.X[150:], data.y[150:]
    curve = accuracy_curve(FisherSelector(), *parts, ks=[2, 4, 8], relevant=data.relevant)
    assert [(s["precision"], s["recall"]) for s in curve.selections] == [(1, 0.5), (1, 1), (0.5, 1)]


def test_missing_values_are_refused_wherever_they_are(wine):
    for part, where in ((0, "train"), (2, "test")):
        parts = [array.copy() for array in wine]
        parts[part][0, :] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            accuracy_curve(FisherSelector(), *parts, ks=[2]), where


@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_gives_chance_and_selecting_outside_the_folds_does_not():
    """The leak that the protocol exists to avoid, shown side by side."""
    rng = np.random.default_rng(0)
    inside, outside = [], []
    for _ in range(15):
        X, y = rng.normal(size=(60, 1000)), np.arange(60) % 2
        leaked = FisherSelector(n_features_to_select=10).fit_transform(X, y)
        splits = list(Folds(3).splits(y, seed=0))
        for selector, data, scores in (
            (FisherSelector(), X, inside),
            (AllFeatures(), leaked, outside),
        ):
            parts = [
                (data[split.train], y[split.train], data[split.test], y[split.test])
                for split in splits
            ]
            curves = [
                accuracy_curve(selector, *part, ks=[10], classifiers=["1nn", "svm"])
                for part in parts
            ]
            # The folds of one data set are not independent of each other; data sets are.
            scores.append(np.mean([curve.mean() for curve in curves]))
    error = np.std(inside) / np.sqrt(len(inside))
    assert abs(np.mean(inside) - 0.5) < 3 * error < 0.1
    assert np.mean(outside) > 0.75


def test_tuning_finds_the_better_parameters(wine):
    X, y, _, _ = wine
    tuned = tune(L21Selector(max_iter=200), {"alpha": [1e-3, 500.0]}, X, y)
    # With its own number of features, the large penalty keeps next to nothing.
    assert tuned.parameters == {"alpha": 1e-3}
    assert tuned.scores[0] > tuned.scores[1]


def test_tuning_passes_over_candidates_that_fail(wine):
    X, y, _, _ = wine
    tuned = tune(RidgeForwardSelector(), {"ridge": [-1.0, 1.0]}, X, y, ks=[3])
    assert tuned.parameters == {"ridge": 1.0}
    with pytest.raises(ValueError, match="ridge must be at least 0"):
        tune(RidgeForwardSelector(), {"ridge": [-1.0]}, X, y, ks=[3])


@pytest.mark.long("many draws of noise, or chance would not show")
def test_tuning_on_noise_stays_at_chance(rng):
    """The outer test part has no part in the choice of parameters."""
    scores = []
    for _ in range(12):
        X, y = rng.normal(size=(40, 200)), np.arange(40) % 2
        split = next(Folds(2).splits(y, seed=0))
        train, test = (X[split.train], y[split.train]), (X[split.test], y[split.test])
        found = tune(
            RidgeForwardSelector(), {"ridge": [0.01, 1.0, 100.0]}, *train,
            ks=[5], classifiers=["1nn"],
        )  # fmt: skip
        selector = RidgeForwardSelector(**found.parameters)
        scores.append(accuracy_curve(selector, *train, *test, ks=[5], classifiers=["1nn"]).mean())
    assert abs(np.mean(scores) - 0.5) < 3 * np.std(scores) / np.sqrt(len(scores))


def test_unknown_names_are_refused(wine):
    with pytest.raises(ValueError, match="classifiers must be a list out of 1nn"):
        accuracy_curve(FisherSelector(), *wine, classifiers=["tree"])
    with pytest.raises(ValueError, match=r"scoring 'acuracy' is unknown \(did you mean 'accuracy'"):
        accuracy_curve(FisherSelector(), *wine, scoring="acuracy")
    with pytest.raises(ValueError, match="every k of ks must be at least 1"):
        accuracy_curve(FisherSelector(), *wine, ks=[0])
