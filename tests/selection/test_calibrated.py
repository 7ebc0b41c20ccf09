"""Probabilities that hold on samples held out, against scikit-learn's Platt scaling."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.calibration import _SigmoidCalibration
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss

import sparsieve
from sparsieve.selection.calibrated import platt


def planted(n=240, d=60, seed=0, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    F = X[:, :n_classes] + rng.gumbel(size=(n, n_classes))
    return X, F.argmax(axis=1)


def test_two_classes_get_what_scikit_learn_finds():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 300)
    scores = 4.0 * (codes + rng.normal(size=300)) - 1.0
    slope, offsets = platt(scores, codes)
    expected = _SigmoidCalibration().fit(scores, codes)
    np.testing.assert_allclose([slope, offsets[0]], [-expected.a_, -expected.b_], rtol=1e-4)
    weights = rng.integers(1, 4, 300)
    found = platt(scores, codes, weights)
    repeated = platt(np.repeat(scores, weights), np.repeat(codes, weights))
    np.testing.assert_allclose(found[0], repeated[0], rtol=1e-6)
    np.testing.assert_allclose(found[1], repeated[1], rtol=1e-5, atol=1e-8)


def test_scores_that_are_too_extreme_are_taken_back():
    rng = np.random.default_rng(1)
    F = rng.normal(size=(4000, 3)) + np.array([0.5, 0.0, -0.5])
    codes = (F + rng.gumbel(size=F.shape)).argmax(axis=1)
    slope, offsets = platt(5.0 * (F - [0.5, 0.0, -0.5]), codes)
    assert slope == pytest.approx(0.2, rel=0.1)
    np.testing.assert_allclose(offsets, [0.5, 0.0, -0.5], atol=0.15)
    assert np.isfinite(platt(np.array([-1.0, -2.0, 1.0, 2.0]), np.array([0, 0, 1, 1]))[0])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_new_samples_are_predicted_with_a_smaller_log_loss(n_classes):
    X, y = planted(n_classes=n_classes)
    loose = LogisticRegression(C=1e6, max_iter=2000)  # too sure of itself
    selected = sparsieve.select(X[:120], y[:120], k=20, estimator=loose, check=False)
    calibrated = selected.calibrated()
    before, after = (
        log_loss(y[120:], one.predict_proba(X[120:])) for one in (selected, calibrated)
    )
    assert after < before - 0.1
    model = calibrated.model[-1]
    assert model.slope < 0.8
    F = np.asarray(selected.decision_function(X)) * model.slope
    F = np.column_stack([np.zeros(len(F)), F]) if F.ndim == 1 else F
    offsets = np.append(0.0, model.offsets) if n_classes == 2 else model.offsets
    np.testing.assert_allclose(calibrated.predict_proba(X), softmax(F + offsets, axis=1))
    assert calibrated.features == selected.features


def test_models_without_probabilities_get_some(tmp_path):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selected = sparsieve.select(X, y, k=2, estimator=RidgeClassifier(), check=False)
    assert not hasattr(selected, "predict_proba")
    calibrated = selected.calibrated()
    assert log_loss(y, calibrated.predict_proba(X)) < 0.25
    sparsieve.save(calibrated, tmp_path / "model.sparsieve")
    loaded = sparsieve.load(tmp_path / "model.sparsieve")
    np.testing.assert_allclose(loaded.predict_proba(X), calibrated.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), calibrated.predict(X))


def test_weights_groups_and_preparation_take_part():
    X, y = planted(n=80, d=6)
    X[::7, 0] = np.nan
    how = {"groups": np.arange(80) // 2, "sample_weight": np.ones(80), "prepare": "impute"}
    made = sparsieve.select(X, y, k=2, check=False, **how).calibrated()
    assert np.isfinite(made.predict_proba(X)).all()


def test_numbers_have_nothing_to_calibrate():
    X, y = load_diabetes(return_X_y=True)
    selected = sparsieve.select(X, y, k=2, check=False, linear_only=True)
    with pytest.raises(ValueError, match="classes can be calibrated, but the task is regression"):
        selected.calibrated()
