"""From a selection to predictions: the final model, its columns, and files that hold it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve

pytestmark = pytest.mark.usefixtures("lines_only")

WINE, KIND = load_wine(return_X_y=True, as_frame=True)


@pytest.fixture(scope="module")
def wine():
    return sparsieve.select(WINE, KIND, k=3, check=False)


def raw_table(seed=0, n=120):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "noise": rng.normal(size=n),
            "age": rng.normal(50, 10, n),
            "city": rng.choice(["A", "B", "C"], n),
            "joined": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 500, n), "D"),
        }
    )
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "city"] = None
    truth = frame["age"].fillna(50) + 10 * (frame["city"] == "A") + rng.normal(size=n) > 54
    return frame, np.where(truth, "yes", "no")


def test_the_model_is_softmax_regression_on_the_kept_columns(wine):
    kept = WINE[[name for name in WINE if name in wine.features]]
    exact = LogisticRegression(tol=1e-9, max_iter=10_000)
    alone = make_pipeline(StandardScaler(), exact).fit(kept, KIND)
    np.testing.assert_array_equal(wine.predict(WINE), alone.predict(kept))
    np.testing.assert_allclose(wine.predict_proba(WINE), alone.predict_proba(kept), atol=1e-5)
    found, expected = wine.decision_function(WINE), alone.decision_function(kept)
    np.testing.assert_allclose(found, expected, atol=1e-4)
    assert isinstance(wine.model, Pipeline)
    assert wine.model.feature_names_in_.tolist() == list(kept)
    assert wine.model[-1].coef_.shape == (3, 3)


def test_of_two_classes_it_is_logistic_regression():
    is_first = np.where(KIND == 0, "first", "other")
    selected = sparsieve.select(WINE, is_first, k=3, check=False)
    kept = selected.transform(WINE)
    exact = LogisticRegression(tol=1e-9, max_iter=10_000)
    alone = make_pipeline(StandardScaler(), exact).fit(kept, is_first)
    np.testing.assert_array_equal(selected.predict(WINE), alone.predict(kept))
    np.testing.assert_allclose(selected.predict_proba(WINE), alone.predict_proba(kept), atol=1e-5)


@pytest.mark.parametrize("k", [1, 4, 10])
def test_for_numbers_it_is_ridge_regression_as_strong_as_columns_are_many(k):
    X, y = load_diabetes(return_X_y=True)
    selected = sparsieve.select(X, y + 0.5, k=k, check=False)
    kept = X[:, selected.selector.get_support()]
    alone = make_pipeline(StandardScaler(), Ridge(alpha=k)).fit(kept, y + 0.5)
    np.testing.assert_allclose(selected.predict(X), alone.predict(kept))
    assert selected.model[-1].coef_.shape == (k,)


def test_only_the_columns_used_are_needed_in_any_order(wine):
    expected = wine.predict(WINE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for other in (
            WINE[wine.features[::-1]],
            pl.from_pandas(WINE[wine.features]),
            WINE.to_numpy(),
            WINE[wine.model.feature_names_in_].to_numpy(),
        ):
            np.testing.assert_array_equal(wine.predict(other), expected)


def test_a_search_predicts_as_its_own_model():
    selected = sparsieve.select(WINE, KIND, ks=[2, 4], method=sparsieve.SelectorCV, check=False)
    np.testing.assert_array_equal(selected.predict(WINE), selected.selector.predict(WINE))


def test_frames_stay_frames_of_their_library(wine):
    ours = [name for name in WINE if name in wine.features]
    found = wine.transform(WINE)
    assert isinstance(found, pd.DataFrame)
    assert list(found) == ours
    assert found.index.equals(WINE.index)
    other = wine.transform(pl.from_pandas(WINE))
    assert isinstance(other, pl.DataFrame)
    assert other.columns == ours
    assert isinstance(wine.transform(WINE.to_numpy()), np.ndarray)
    assert isinstance(wine.model[:1].transform(WINE), pd.DataFrame)


def test_missing_columns_are_named(wine):
    with pytest.raises(
        ValueError, match="X lacks 1 of the 3 columns that the model uses: 'proline'"
    ):
        wine.predict(WINE.drop(columns="proline"))
    with pytest.raises(ValueError, match="X has 7 columns; pass the 13 columns"):
        wine.predict(WINE.to_numpy()[:, :7])


def test_gaps_are_named_where_nothing_fills_them(wine):
    with_gap = WINE.copy()
    with_gap.loc[3, "proline"] = np.nan
    with pytest.raises(ValueError, match=r"NaN values: 1 value in 1 column .'proline'.*impute"):
        wine.predict(with_gap)


def test_values_far_from_the_training_data_are_warned_of(wine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wine.predict(WINE)
        wine.predict(WINE * 1.02)  # the largest a little larger: no reason to worry
    with pytest.warns(UserWarning, match="unlike the training data: 'proline' has values far out"):
        wine.predict(WINE.assign(proline=1000 * WINE["proline"]).head(1))


def test_probabilities_need_a_model_that_has_them(wine):
    assert wine.predict_proba(WINE).shape == (178, 3)
    labels = make_pipeline(StandardScaler(), RidgeClassifier())
    without = sparsieve.select(WINE, KIND, k=3, estimator=labels, check=False)
    assert not hasattr(without, "predict_proba")
    with pytest.raises(AttributeError, match=r"RidgeClassifier.*estimator=LogisticRegression"):
        without.predict_proba(WINE)
    own = sparsieve.select(
        WINE,
        KIND,
        k=3,
        estimator=make_pipeline(StandardScaler(), LogisticRegression()),
        check=False,
    )
    shares = own.predict_proba(WINE)
    assert own.classes_.tolist() == own.model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    scored = sparsieve.select(WINE, KIND, k=3, scoring="neg_log_loss", check=False)
    assert scored.predict_proba(WINE).shape == (178, 3)


def test_any_model_of_scikit_learn_predicts():
    forest = RandomForestClassifier(5, random_state=0)
    selected = sparsieve.select(WINE, KIND, k=3, estimator=forest, check=False)
    alone = clone(forest).fit(WINE[selected.model.feature_names_in_], KIND)
    np.testing.assert_array_equal(selected.predict(WINE), alone.predict(selected.transform(WINE)))
    with pytest.raises(TypeError, match="estimator must be a model with fit and predict"):
        sparsieve.select(WINE, KIND, k=3, estimator="forest")


def test_numbers_and_sparse_data():
    X, y = load_diabetes(return_X_y=True)
    y = y + 0.5
    dense = sparsieve.select(X, y, k=3, check=False)
    thin = sparsieve.select(sparse.csr_array(X), y, k=3, check=False)
    np.testing.assert_allclose(thin.predict(sparse.csr_array(X)), dense.predict(X))
    assert not hasattr(dense, "predict_proba")
    assert not hasattr(dense, "classes_")
    with pytest.raises(AttributeError, match="predict_survival is for survival times"):
        dense.predict_survival(X, [1.0])


POLARS = pytest.mark.needs_sklearn(
    "1.9", "ColumnTransformer of earlier ones does not take polars 2"
)


@pytest.mark.parametrize("library", [pd.DataFrame, pytest.param(pl.from_pandas, marks=POLARS)])
def test_raw_columns_are_encoded_as_in_training(library):
    frame, y = raw_table()
    table = library(frame)
    selected = sparsieve.select(table, y, k=2, feature_groups="categories", check=False)
    assert selected.model.feature_names_in_.tolist() == ["age", "city"]
    only = frame[["city", "age"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = selected.predict(library(only))
    support = selected.selector.get_support()
    inside = np.asarray(selected.prepared_X)[:, support]
    np.testing.assert_allclose(np.asarray(selected.transform(library(only))), inside)
    assert np.mean(found == y) > 0.85
    with pytest.warns(UserWarning, match="'city' has values unknown to the model: 'Ulm'"):
        selected.predict(library(only.assign(city="Ulm")))
    with pytest.raises(TypeError, match="must be a data frame with the columns 'age', 'city'"):
        selected.predict(np.zeros((2, 2)))


def test_dates_are_encoded_as_in_training():
    frame, _ = raw_table()
    days = (frame["joined"] - frame["joined"].min()).dt.days.to_numpy()
    selected = sparsieve.select(frame, days + 0.5, k=1, feature_groups="categories", check=False)
    assert selected.features == ["joined"]
    assert np.corrcoef(selected.predict(frame[["joined"]]), days)[0, 1] > 0.999


@pytest.mark.parametrize("prepare", ["impute", ["impute", "log"], "impute-knn", StandardScaler()])
def test_preparation_goes_along(prepare):
    X = WINE.to_numpy().copy()
    if isinstance(prepare, str | list):
        X[::9, 12] = np.nan
    selected = sparsieve.select(X, KIND, k=3, prepare=prepare, check=False)
    inside = selected.prepared_X[:, selected.selector.get_support()]
    np.testing.assert_allclose(selected.transform(X), inside)
    needs_all = not isinstance(prepare, list) and prepare != "impute"
    assert selected.model.n_features_in_ == (13 if needs_all else 3)
    if not needs_all:
        kept = X[:, selected.selector.get_support()]
        np.testing.assert_array_equal(selected.predict(kept), selected.predict(X))


@pytest.mark.long("compiles the Cox model")
def test_survival_of_new_samples_is_that_of_the_cox_model():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(150, 4)), columns=list("abcd"))
    time, event = rng.exponential(np.exp(-X["b"])), rng.random(150) < 0.7
    selected = sparsieve.select(X, (time, event), k=1, task="survival", check=False)
    found = selected.predict_survival(X[["b"]], [0.1, 1.0, 3.0])
    assert found.shape == (150, 3)
    assert (np.diff(found, axis=1) <= 0).all()
    risk = selected.predict(X)
    # Breslow's sum, written down: jumps of deaths over the risk of those who are left.
    at = np.sort(time[event])
    jumps = [1.0 / np.exp(risk[time >= when]).sum() for when in at]
    expected = np.exp(
        -np.exp(risk)[:, None] * [np.sum(np.array(jumps)[at <= t]) for t in (0.1, 1, 3)]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_model_of_another_package_predicts_survival():
    linear = pytest.importorskip("sksurv.linear_model")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    time, event = rng.exponential(np.exp(-X[:, 1])), rng.random(80) < 0.7
    cox = linear.CoxPHSurvivalAnalysis(alpha=1.0)
    selected = sparsieve.select(X, (time, event), k=1, task="survival", estimator=cox, check=False)
    found = selected.predict_survival(X, [0.0, 0.5, 1e9])
    assert (found[:, 0] == 1.0).all()
    assert (found[:, 1] <= 1.0).all()


def test_counts_are_expected_counts():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4))
    y = rng.poisson(np.exp(X[:, 2]))
    selected = sparsieve.select(X, y, k=1, task="counts", check=False)
    assert (selected.predict(X) > 0).all()
    assert np.corrcoef(selected.predict(X), np.exp(X[:, 2]))[0, 1] > 0.9


def test_annotated_data_are_found_by_name():
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6))
    adata = anndata.AnnData(
        X,
        obs=pd.DataFrame({"kind": np.where(X[:, 4] > 0, "a", "b")}, index=map(str, range(60))),
        var=pd.DataFrame(index=[f"g{j}" for j in range(6)]),
    )
    selected = sparsieve.select(adata, "kind", k=1, check=False)
    backwards = adata[:, ::-1].copy()
    np.testing.assert_array_equal(selected.predict(backwards), selected.predict(adata))
    assert selected.model.feature_names_in_.tolist() == ["g4"]


def test_nothing_kept_and_no_target_are_said():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    nothing = sparsieve.select(X, rng.normal(size=60), k="fdr=0.01", check=False)
    with pytest.raises(ValueError, match="no feature was kept, so there is no model"):
        nothing.predict(X)
    without = sparsieve.select(X, None, k=2, method="laplacian-score", check=False)
    with pytest.raises(ValueError, match="nothing to predict: pass y to select"):
        without.predict(X)
    assert without.transform(X).shape == (60, 2)


def test_the_model_can_be_cloned_and_fitted_again(wine):
    again = clone(wine.model).fit(WINE, KIND)
    np.testing.assert_array_equal(again.predict(WINE), wine.predict(WINE))


def test_weights_reach_the_model():
    selected = sparsieve.select(
        WINE, KIND, k=2, sample_weight=np.where(KIND == 0, 50.0, 1.0), check=False
    )
    plain = sparsieve.select(WINE, KIND, k=2, check=False)
    assert (selected.predict(WINE) == 0).sum() > (plain.predict(WINE) == 0).sum()
