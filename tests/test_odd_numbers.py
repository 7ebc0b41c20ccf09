"""Numbers that are too large, too small or no numbers at all, for every estimator there is.

Every cell is the right answer or one sentence, soon; nothing is NaN or infinite in silence.
"""

import inspect
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from sparsieve import (
    ChiSquareSelector,
    FisherSelector,
    L21Selector,
    RidgeForwardSelector,
    RLSRSelector,
    all_estimators,
)
from sparsieve.selectors.input import is_scale_free

SCALES = (1e200, 1e150, 1e-150, 1e-200, 1e-300)
SECONDS = 20


def _few(cls):
    estimator = cls()
    names = estimator.get_params(deep=False)
    small = {"n_subsamples": 6, "n_repeats": 1, "cv": 2}
    small["n_features_to_select"] = 3
    return estimator.set_params(**{k: v for k, v in small.items() if k in names})


ESTIMATORS = [
    _few(cls)
    for cls in all_estimators().values()
    if all(
        p.default is not p.empty or p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
        for name, p in inspect.signature(cls).parameters.items()
    )
]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
takes_regression = [e for e in ESTIMATORS if getattr(e, "_accepts_regression", False)]
standardizes = [e for e in ESTIMATORS if "standardize" in e.get_params(deep=False)]
weighs_classes = [e for e in ESTIMATORS if "class_weight" in e.get_params(deep=False)]


def by_name(estimators):
    return pytest.mark.parametrize("estimator", estimators, ids=lambda e: type(e).__name__)


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(
        30, 7, n_informative=3, n_redundant=0, class_sep=1.5, shuffle=False, random_state=3
    )
    X = np.abs(X[:, ::-1] - X.min()) + 0.1  # the first columns are noise
    return X, y


@pytest.fixture(scope="module")
def numbers(data):
    X, _ = data
    return X, X[:, 6] - 0.7 * X[:, 4] + 0.05 * np.sin(np.arange(len(X)))


def answer(estimator, X, y, **fit):
    """The fitted estimator, or the one sentence of its refusal."""
    start = time.perf_counter()
    fitted = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted.fit(X, y, **fit)
        except (ValueError, TypeError) as error:
            fitted = str(error)
    assert time.perf_counter() - start < SECONDS
    if isinstance(fitted, str):
        assert 10 < len(fitted) < 600
        assert "\n" not in fitted.strip()
        return fitted
    for name in ("scores_", "coef_", "intercept_", "dual_coef_"):
        values = getattr(fitted, name, None)
        if values is not None:
            assert not np.isnan(values).any(), name
            assert name == "scores_" or np.isfinite(values).all(), name
    return fitted


def assert_same_or_refused(estimator, usual, odd, names):
    """The same support and predictions, or a sentence that names what is odd."""
    if isinstance(odd, str):
        assert any(name in odd for name in names), odd
        return
    if hasattr(usual, "support_"):
        np.testing.assert_array_equal(odd.support_, usual.support_)


# -- sizes -------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kind", ["dense", "sparse", "one column"])
def test_features_of_extreme_size(estimator, scale, kind, data):
    X, y = data
    odd = X * scale
    if kind == "one column":
        odd = X.copy()
        odd[:, 6] *= scale
    usual, odd = (sparse.csr_array(A) if kind == "sparse" else A for A in (X, odd))
    usual, found = answer(estimator, usual, y), answer(estimator, odd, y)
    if isinstance(usual, str):
        assert isinstance(found, str)
        return
    if kind == "one column" and not is_scale_free(estimator):
        return  # such a column does count for more, or for nothing
    assert_same_or_refused(estimator, usual, found, ("X",))
    if hasattr(found, "predict") and not isinstance(found, str):
        given = np.asarray(odd.toarray() if kind == "sparse" else odd)
        np.testing.assert_array_equal(found.predict(given), usual.predict(X))


@by_name(standardizes)
@pytest.mark.parametrize("scale", SCALES)
def test_features_as_they_are_of_extreme_size(estimator, scale, data):
    X, y = data
    estimator = clone(estimator).set_params(standardize=False)
    usual, odd = answer(estimator, X, y), answer(estimator, X * scale, y)
    assert isinstance(usual, str) or isinstance(odd, str)
    assert "X holds" in odd


@by_name(takes_regression)
@pytest.mark.parametrize("scale", SCALES)
def test_targets_of_extreme_size(estimator, scale, numbers):
    X, y = numbers
    usual, odd = answer(estimator, X, y), answer(estimator, X, y * scale)
    assert not isinstance(usual, str)
    assert_same_or_refused(estimator, usual, odd, ("y holds",))


WEIGHTS = {
    "huge": lambda n: np.full(n, 1e200),
    "tiny": lambda n: np.full(n, 1e-200),
    "300 orders": lambda n: np.logspace(-150, 150, n),
    "150 orders": lambda n: np.logspace(-150, 0, n),
}


@each
@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_of_extreme_size(estimator, case, data):
    X, y = data
    usual = answer(estimator, X, y, sample_weight=np.ones(len(y)))
    odd = answer(estimator, X, y, sample_weight=WEIGHTS[case](len(y)))
    if isinstance(usual, str):
        assert isinstance(odd, str)
        return
    assert isinstance(odd, str)
    assert "sample_weight holds" in odd


@each
@pytest.mark.parametrize("scale", [1e-45, 1e-20, 1e10, 1e15])
def test_weights_of_usual_size_are_answered_or_refused(estimator, scale, data):
    X, y = data
    fit = answer(estimator, X, y, sample_weight=np.full(len(y), scale))
    assert isinstance(fit, str) or hasattr(fit, "n_features_in_")
