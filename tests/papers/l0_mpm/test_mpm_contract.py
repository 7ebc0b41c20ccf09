"""scikit-learn's own checks, and the habits of the house."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import is_classifier

from sparsieve import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)

ESTIMATORS = [
    MPMClassifier(),
    MPMClassifier(kernel="rbf"),
    L1MPMSelector(),
    L0MPMSelector(),
    SMPMSelector(),
    SparseKernelMPMClassifier(),
]


SELECTORS = [L1MPMSelector, L0MPMSelector, SMPMSelector]
CLASSIFIERS = [MPMClassifier, SparseKernelMPMClassifier]


def three_classes(n=60, d=12, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d))
    X[y == 1, 0] += 2.0
    X[y == 2, 1] -= 2.0
    return X, np.array(["ant", "bee", "cat"])[y]


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_all_are_classifiers(Estimator):
    """They predict labels: cross-validation should stratify and scores should be accuracies."""
    assert is_classifier(Estimator())


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_several_classes(Estimator, multi_class):
    X, y = three_classes()
    fitted = Estimator(multi_class=multi_class).fit(X, y)
    decision = fitted.decision_function(X)
    assert decision.shape == (60, 3)
    assert (fitted.predict(X) == fitted.classes_[decision.argmax(axis=1)]).all()
    assert fitted.score(X, y) > 0.7
    if Estimator in SELECTORS:
        assert set(fitted.at(2).get_support(indices=True)) == {0, 1}
        assert fitted.coef_.shape == (3, 12)
        assert fitted.support_.sum() == np.count_nonzero(fitted.coef_.any(axis=0))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("Estimator", SELECTORS)
@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("d", [12, 90])
def test_sparse_input(Estimator, form, d):
    X, y = three_classes(d=d)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.5)
    dense, lazy = Estimator().fit(X, y), Estimator().fit(form(X), y)
    np.testing.assert_allclose(lazy.coef_, dense.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(lazy.predict(form(X)), dense.predict(X))


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_single_precision(Estimator):
    X, y = three_classes()
    fitted = Estimator().fit(X.astype(np.float32), y)
    weights = fitted.coef_ if hasattr(fitted, "coef_") else fitted.dual_coef_
    assert weights.dtype == np.float32
    assert fitted.decision_function(X.astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize("Estimator", SELECTORS)
def test_single_precision_held_lazily(Estimator):
    """Sparse single precision limits the certificate, but not below what is promised."""
    X, y = three_classes(d=90)
    X = sparse.csr_array(X.astype(np.float32))
    fitted = Estimator().fit(X, y)
    assert fitted.optimality_ < 1e-3
    np.testing.assert_allclose(fitted.coef_, Estimator().fit(X.toarray(), y).coef_, atol=1e-3)


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_weights_are_repetitions(Estimator):
    X, y = three_classes(45)
    counts = np.random.default_rng(3).integers(0, 3, size=45)
    weighted = Estimator().fit(X, y, sample_weight=counts.astype(float))
    repeated = Estimator().fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_regression_is_refused(Estimator):
    X = np.random.default_rng(0).normal(size=(30, 4))
    with pytest.raises(ValueError, match=r"Unknown label type: .* y is a regression target"):
        Estimator().fit(X, X[:, 0])


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
def test_identical_means(Estimator):
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="means of X are identical for class 1 against class 0"):
        Estimator().fit(X, [0, 0, 1, 1])


@pytest.mark.parametrize("Estimator", SELECTORS)
def test_useless_and_repeated_columns(Estimator):
    X, y = three_classes()
    X = np.column_stack([np.full(60, 7.0), X, X[:, 0], X[:, 1]])
    fitted = Estimator().fit(X, y)
    assert fitted.ranking_[0] == X.shape[1]
    assert not fitted.support_[0]
    assert fitted.optimality_ < 1e-3


@pytest.mark.parametrize("Estimator", SELECTORS + CLASSIFIERS)
@pytest.mark.parametrize("d", [5, 50])
def test_a_class_of_one(Estimator, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, d))
    y = np.zeros(20, dtype=int)
    y[3] = 1
    X[3] += 4.0
    fitted = Estimator().fit(X, y)
    assert fitted.predict(X)[3] == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"delta": 0.0}, "delta must be positive"),
        ({"delta": 1.0}, "delta must be below 1"),
        ({"delta": "best"}, "delta must be one of 'auto'"),
        ({"ridge": -1.0}, "ridge must be at least 0"),
        ({"ridge": "lasso"}, "ridge must be one of 'auto', 'ledoit_wolf'"),
        ({"multi_class": "all"}, "multi_class must be one of 'ovr', 'ovo'"),
        ({"surrogate": "l1"}, "surrogate must be one of 'exp'"),
        ({"theta": 0.0}, "theta must be positive"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"standardize": 1}, "standardize must be True or False"),
    ],
)
@pytest.mark.parametrize("Estimator", [L0MPMSelector, SparseKernelMPMClassifier])
def test_bad_parameters(Estimator, parameters, message):
    X, y = three_classes()
    with pytest.raises(ValueError, match=message):
        Estimator(**parameters).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "cosmic"}, "kernel must be one of 'linear'"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"gamma": "wide"}, "gamma must be one of 'scale', 'auto'"),
        ({"degree": 0}, "degree must be at least 1"),
        ({"coef0": "a"}, "coef0 must be a real number"),
    ],
)
@pytest.mark.parametrize("Estimator", CLASSIFIERS)
def test_bad_kernels(Estimator, parameters, message):
    X, y = three_classes()
    with pytest.raises(ValueError, match=message):
        Estimator(**parameters).fit(X, y)


def test_bad_price():
    X, y = three_classes()
    with pytest.raises(ValueError, match="alpha must be at least 0"):
        SMPMSelector(alpha=-0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"pass an alpha below 2.*, the largest difference"):
        SMPMSelector(alpha=100.0, standardize=False).fit(X[y != "cat"], y[y != "cat"])
