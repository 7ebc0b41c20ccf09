"""What every feature contributes to the decision of a row: it adds up, for every kind of model."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve

WINE, KIND = load_wine(return_X_y=True, as_frame=True)
PAIR = np.where(KIND == 0, "first", "other")


def check_sums(found, decision):
    np.testing.assert_allclose(found.base + found.contributions.sum(axis=1), found.decision)
    np.testing.assert_allclose(found.decision, decision, rtol=1e-6, atol=1e-6)


def test_contributions_of_a_linear_model_are_coefficients_times_standardised_values():
    selected = sparsieve.select(WINE, PAIR, k=3, check=False)
    found = selected.explain(WINE)
    check_sums(found, selected.decision_function(WINE))
    assert found.meaning == "log odds of other"
    Z = StandardScaler().fit_transform(WINE[found.features])
    np.testing.assert_allclose(found.contributions, Z * selected.model[-1].coef_[0], atol=1e-9)
    # New rows start from the mean of the training samples, not from their own.
    np.testing.assert_allclose(selected.explain(WINE[:2]).contributions, found.contributions[:2])


def test_classes_numbers_and_sparse_models_add_up():
    selected = sparsieve.select(WINE, KIND, k=3, check=False)
    found = selected.explain(WINE[:7])
    assert found.contributions.shape == (7, 3, 3)
    check_sums(found, selected.decision_function(WINE[:7]))
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    selected = sparsieve.select(X, y, k=3, check=False, linear_only=True)
    check_sums(selected.explain(X), selected.predict(X))
    found = sparsieve.select(X, y, k=3, check=False, estimator=Ridge()).explain(X)
    assert found.meaning == "prediction"
    two = np.column_stack([y, -y])
    selected = sparsieve.select(X, two, k=3, check=False)
    check_sums(selected.explain(X), selected.predict(X))


def test_counts_and_survival_times_add_up_to_logarithms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    counts = rng.poisson(np.exp(0.8 * X[:, 1]))
    selected = sparsieve.select(X, counts, k=2, task="counts", check=False)
    check_sums(selected.explain(X), np.log(selected.predict(X)))
    y = (rng.exponential(np.exp(-X[:, 1])), np.ones(120))
    selected = sparsieve.select(X, y, k=2, task="survival", check=False)
    check_sums(selected.explain(X), selected.predict(X))


def test_boosted_trees_add_up():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(120, 4)), columns=list("abcd"))
    y = np.where(X["a"] * X["b"] > 0, "same", "other")
    selected = sparsieve.select(X, y, k=2, method="boosted-trees", check=False)
    found = selected.explain(X)
    check_sums(found, selected.decision_function(X))
    assert found.features == ["a", "b"]


def test_other_models_take_all_sets_of_few_features():
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
    selected = sparsieve.select(WINE, PAIR, k=3, estimator=model, check=False)
    found = selected.explain(WINE[:5])
    shares = np.log(np.maximum(selected.predict_proba(WINE[:5]), 1e-12))
    check_sums(found, shares[:, 1] - shares[:, 0])
    many = sparsieve.select(WINE, PAIR, k=11, estimator=model, check=False)
    with pytest.raises(ValueError, match="for at most 10 features, and it has 11"):
        many.explain(WINE[:5])


def test_columns_made_of_one_column_contribute_together():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"dose": rng.normal(size=90), "city": rng.choice(["A", "B", "C"], 90)})
    frame.loc[::9, "dose"] = np.nan
    y = np.where(frame["dose"].fillna(0) + (frame["city"] == "A") > 0.5, "yes", "no")
    selected = sparsieve.select(frame, y, k=2, check=False, prepare="impute")
    found = selected.explain(frame)
    assert sorted(found.features) == ["city", "dose"]
    check_sums(found, selected.decision_function(frame))


def test_a_loaded_and_a_calibrated_model_explain_themselves(tmp_path):
    selected = sparsieve.select(WINE, PAIR, k=3, check=False)
    sparsieve.save(selected, tmp_path / "wine.sparsieve")
    loaded = sparsieve.load(tmp_path / "wine.sparsieve")
    expected = selected.explain(WINE).contributions
    np.testing.assert_allclose(loaded.explain(WINE).contributions, expected)
    calibrated = selected.calibrated()
    found = calibrated.explain(WINE)
    check_sums(found, calibrated.decision_function(WINE))
    np.testing.assert_allclose(found.contributions, expected * calibrated.model[-1].slope)


def test_steps_that_mix_columns_leave_contributions_to_sets_of_features():
    from sklearn.decomposition import PCA

    model = make_pipeline(StandardScaler(), PCA(2), LogisticRegression())
    selected = sparsieve.select(WINE, PAIR, k=3, estimator=model, check=False)
    check_sums(selected.explain(WINE[:4]), selected.decision_function(WINE[:4]))
