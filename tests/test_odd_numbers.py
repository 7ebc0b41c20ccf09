"""Numbers that are too large, too small or no numbers at all, for every estimator there is.

Every cell is the right answer or one sentence, soon; nothing is NaN or infinite in silence.
"""

import inspect
import time
import warnings
from datetime import datetime

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


def test_precision_of_the_data_decides_what_is_extreme(numbers):
    """Squares of float32 overflow from 2e19 on."""
    X, y = numbers
    X = X.astype(np.float32)
    usual = L21Selector(3).fit(X, y)
    for scale in (1e30, 1e-30):
        odd = L21Selector(3).fit(X * np.float32(scale), y)
        np.testing.assert_array_equal(odd.support_, usual.support_)
        assert odd.coef_.dtype == np.float32
        np.testing.assert_allclose(odd.coef_ * scale, usual.coef_, rtol=1e-3, atol=1e-5)
        with pytest.raises(ValueError, match=r"X holds .*as they are"):
            L21Selector(3, standardize=False).fit(X * np.float32(scale), y)
    for scale in (1e35, 1e60, 1e-45):
        with pytest.raises(ValueError, match="y holds"):
            L21Selector(3).fit(X, y * scale)


@pytest.mark.parametrize("scale", [1e120, 1e-120])
def test_coefficients_are_in_the_units_of_the_user(scale, data, numbers):
    X, y = numbers
    usual, odd = (RidgeForwardSelector(3).fit(A, y) for A in (X, X * scale))
    np.testing.assert_allclose(odd.coef_ * scale, usual.coef_, rtol=1e-9)
    np.testing.assert_allclose(odd.intercept_, usual.intercept_, rtol=1e-9)
    np.testing.assert_allclose(odd.scores_, usual.scores_, rtol=1e-9)
    labels = data[1].copy()
    labels[::4] = -1
    usual, odd = (RLSRSelector(3, semi_supervised=True).fit(A, labels) for A in (X, X * scale))
    np.testing.assert_allclose(odd.label_distributions_, usual.label_distributions_, atol=1e-6)
    usual, odd = (
        FisherSelector(3).fit(A, data[1]).find_substitutes(A, 0.1) for A in (X, X * scale)
    )
    assert odd.keys() == usual.keys()
    for feature, found in usual.items():
        assert dict(odd[feature]) == pytest.approx(dict(found))


# -- sparse matrices that are not canonical ----------------------------------------------------


def _stored(X, kind, to_format):
    """The same matrix, stored in an unusual way."""
    matrix = sparse.coo_array(X)
    row, column, value = matrix.row, matrix.col, matrix.data
    if kind == "in parts":
        parts = np.linspace(-1.0, 2.0, 3)
        row, column = np.repeat(row, 3), np.repeat(column, 3)
        value = (value[:, None] * parts / parts.sum()).ravel()
    if kind == "explicit zeros":
        zero_row, zero_column = np.nonzero(X == 0)
        row, column = np.append(row, zero_row), np.append(column, zero_column)
        value = np.append(value, np.zeros(len(zero_row)))
    major, minor = (row, column) if to_format is sparse.csr_array else (column, row)
    order = np.lexsort((-minor, major))  # minor indices fall
    n_major = X.shape[0] if to_format is sparse.csr_array else X.shape[1]
    pointers = np.searchsorted(major[order], np.arange(n_major + 1))
    dtype = np.int64 if kind == "long indices" else np.int32
    made = to_format((value[order], minor[order], pointers), shape=X.shape)
    made.indices, made.indptr = made.indices.astype(dtype), made.indptr.astype(dtype)
    return made


@each
@pytest.mark.parametrize("to_format", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("kind", ["in parts", "explicit zeros", "unsorted", "long indices"])
def test_how_a_sparse_matrix_is_stored_makes_no_difference(estimator, kind, to_format, data):
    X, y = data
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.6, X, 0.0)
    odd = _stored(X, kind, to_format)
    np.testing.assert_allclose(odd.toarray(), X, atol=1e-12)
    before = [part.copy() for part in (odd.data, odd.indices, odd.indptr)]
    usual, found = answer(estimator, to_format(X), y), answer(estimator, odd, y)
    for part, copy in zip((odd.data, odd.indices, odd.indptr), before, strict=True):
        np.testing.assert_array_equal(part, copy)
    if isinstance(usual, str):
        assert isinstance(found, str)
        return
    for name in ("scores_", "coef_"):
        if hasattr(usual, name):
            wanted, got = getattr(usual, name), getattr(found, name)
            np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-6, err_msg=name)
    if hasattr(found, "predict"):
        np.testing.assert_array_equal(found.predict(odd), usual.predict(X))


# -- what is no number -------------------------------------------------------------------------


class AnnData:  # stands in where anndata is not installed
    def __init__(self, X):
        self.X, self.obs, self.var = X, pd.DataFrame(index=range(len(X))), pd.DataFrame()
        self.shape = X.shape


class LazyFrame:
    def collect(self):
        raise AssertionError("not asked for")


def polars_frame(X, column):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])})
    return frame.with_columns(f6=polars.Series(column))


def masked(X):
    return np.ma.masked_greater(X, np.sort(X, axis=None)[-3])


def objects(X, value):
    X = X.astype(object)
    X[(3,) + (0,) * (X.ndim - 1)] = value
    return X


def with_column(X, column):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(when=column)


def nullable(X):
    frame = with_column(X, 0).convert_dtypes()
    frame.loc[2, "f1"] = pd.NA
    return frame


ODD_X = {
    "complex": (lambda X: X + 1j, "X holds complex"),
    "complex sparse": (lambda X: sparse.csr_array(X + 1j), "X holds complex"),
    "complex list": (lambda X: (X + 1j).tolist(), "X holds complex"),
    "complex column": (lambda X: with_column(X, 1j), "X has complex columns: 'when'"),
    "masked": (masked, "X is a masked array with 2 masked values"),
    "none": (lambda X: objects(X, None), "X contains NaN or missing values"),
    "none in a list": (lambda X: objects(X, None).tolist(), "X contains NaN or missing"),
    "NA in objects": (lambda X: objects(X, pd.NA), "X contains NaN or missing"),
    "complex in objects": (lambda X: objects(X, 1j), "X holds complex"),
    "ragged": (lambda X: [[1.0, 2.0], *X.tolist()], "X .*rows have different lengths"),
    "dates": (lambda X: X.astype("M8[s]"), "X holds dates"),
    "durations": (lambda X: X.astype("m8[s]"), "X holds dates"),
    "fields": (lambda X: np.zeros((30, 7), dtype=[("a", float)]), "X has named fields"),
    "date column": (
        lambda X: with_column(X, pd.Timestamp("2020-02-02")),
        "X has date or time columns: 'when'",
    ),
    "polars text": (lambda X: polars_frame(X, ["a"] * len(X)), "X has text columns: 'f6'"),
    "polars dates": (
        lambda X: polars_frame(X, [datetime(2020, 2, 2)] * len(X)),
        "X has date or time columns: 'f6'",
    ),
    "lazy": (lambda X: LazyFrame(), "X is a LazyFrame"),
    "annotated": (AnnData, "X is an AnnData object"),
    "nullable": (nullable, r"X contains NaN.*'f1'"),
}


@each
@pytest.mark.parametrize("case", ODD_X)
def test_features_that_are_no_numbers(estimator, case, data):
    X, y = data
    make, message = ODD_X[case]
    if case == "nullable" and getattr(estimator, "_accepts_nan", False):
        pytest.skip("takes missing values")
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).fit(make(X), y)
    assert len(str(caught.value)) < 400


def dates(y, missing=False):
    when = np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")[y]
    if missing:
        when[3] = np.datetime64("NaT")
    return when


ODD_Y = {
    "complex": (lambda y: y + 1j, "y holds complex"),
    "masked": (lambda y: np.ma.masked_array(y, np.arange(30) == 3), "y is a masked array with 1 "),
    "NaT": (lambda y: dates(y, missing=True), "y holds dates"),
    "NaT series": (lambda y: pd.Series(dates(y, missing=True)), "y holds dates"),
    "NaT in objects": (lambda y: objects(dates(y), pd.NaT), "y contains NaN or missing"),
    "none": (lambda y: objects(y.astype(str), None), "y contains NaN or missing"),
    "nan in text": (lambda y: objects(y.astype(str), np.nan), "y contains NaN or missing"),
    "NA": (lambda y: pd.Series(objects(y, pd.NA)).astype("Int64"), "y contains NaN"),
    "NA text": (lambda y: pd.Series(objects(y.astype(str), pd.NA), dtype="string"), "y contains"),
    "lazy": (lambda y: LazyFrame(), "y is a LazyFrame"),
}


@each
@pytest.mark.parametrize("case", ODD_Y)
def test_targets_that_are_no_labels(estimator, case, data):
    X, y = data
    make, message = ODD_Y[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).fit(X, make(y))
    assert len(str(caught.value)) < 400


ODD_WEIGHTS = {
    "complex": (lambda w: w + 1j, "sample_weight holds complex"),
    "masked": (lambda w: np.ma.masked_array(w, np.arange(30) == 3), "sample_weight is a masked"),
    "none": (lambda w: objects(w, None), "sample_weight contains NaN"),
    "nan": (lambda w: np.where(w > 0, np.nan, w), "sample_weight contains NaN"),
    "negative": (lambda w: -w, "sample_weight"),
    "short": (lambda w: w[:3], "sample_weight"),
}


@pytest.mark.parametrize("case", ODD_WEIGHTS)
@by_name([L21Selector(), FisherSelector(), ChiSquareSelector()])
def test_weights_that_are_no_weights(estimator, case, data):
    X, y = data
    make, message = ODD_WEIGHTS[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).fit(X, y, sample_weight=make(np.ones(30)))
    assert len(str(caught.value)) < 400


PLAIN = {
    "half": lambda X: X.astype(np.float16).astype(np.float64),
    "masked without masks": np.ma.masked_array,
    "objects": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "nullable": lambda X: pd.DataFrame(X).rename(columns=str).convert_dtypes(),
}


@pytest.mark.parametrize("case", PLAIN)
def test_unusual_containers_of_usual_numbers(case, data):
    X, y = data
    odd = PLAIN[case](X)
    usual = np.asarray(odd, dtype=np.float64)
    if case == "half":
        odd = X.astype(np.float16)
    found = FisherSelector(3).fit(odd, y)
    np.testing.assert_allclose(found.scores_, FisherSelector(3).fit(usual, y).scores_)


@pytest.mark.parametrize("name", ["X", "y"])
def test_tensors(name, data):
    torch = pytest.importorskip("torch")
    X, y = data
    usual = FisherSelector(3).fit(X, y)
    X, y = torch.tensor(X), torch.tensor(y)
    np.testing.assert_array_equal(FisherSelector(3).fit(X, y).scores_, usual.scores_)
    given = {"X": X, "y": y}
    given[name] = given[name].double().requires_grad_()
    with pytest.raises(TypeError, match=rf"{name} is a tensor that needs a gradient; .*detach"):
        FisherSelector(3).fit(**given)
    given[name] = given[name].detach().bfloat16()
    with pytest.warns(UserWarning, match=rf"{name} is a tensor of torch.bfloat16"):
        FisherSelector(3).fit(**given)


def test_annotated_data(data):
    anndata = pytest.importorskip("anndata")
    X, y = data
    with pytest.raises(TypeError, match=r"pass its matrix X\.X"):
        FisherSelector(3).fit(anndata.AnnData(X), y)


# -- weights of classes ------------------------------------------------------------------------

BAD_CLASS_WEIGHTS = {
    "zero": ({0: 0.0, 1: 1.0}, "class_weight of 0 must be positive"),
    "negative": ({0: 1.0, 1: -2}, "class_weight of 1 must be positive"),
    "nan": ({0: float("nan"), 1: 1.0}, "class_weight of 0 must be positive"),
    "infinite": ({0: float("inf"), 1: 1.0}, "class_weight of 0 must be positive"),
    "huge": ({0: 1e200, 1: 1.0}, "class_weight .*holds 1e\\+200"),
    "tiny": ({0: 1e-200, 1: 1.0}, "class_weight .*holds 1e-200"),
    "unknown class": ({0: 1.0, 7: 2.0}, "class_weight names 7, which y does not hold"),
    "text": ({0: "2", 1: 1.0}, "class_weight of 0 must be a number"),
    "none": ({0: None, 1: 1.0}, "class_weight of 0 must be a number"),
    "boolean": ({0: True, 1: 1.0}, "class_weight of 0 must be a number"),
    "complex": ({0: 1j, 1: 1.0}, "class_weight of 0 must be a number"),
    "a list": ([1.0, 2.0], "class_weight must be a dict"),
    "a number": (2.0, "class_weight must be a dict"),
    "another word": ("balance", "class_weight must be a dict, \"balanced\" or None, got 'balance'"),
}


@by_name(weighs_classes)
@pytest.mark.parametrize("case", BAD_CLASS_WEIGHTS)
def test_class_weights_are_checked_in_words(estimator, case, data):
    X, y = data
    class_weight, message = BAD_CLASS_WEIGHTS[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).set_params(class_weight=class_weight).fit(X, y)
    assert len(str(caught.value)) < 300


@by_name(weighs_classes)
def test_class_weights_are_weights_of_samples(estimator, data):
    """A class that is not named weighs one; labels beyond those of y do no harm."""
    X, y = data
    weighted = answer(estimator, X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    for class_weight in ({1: 3}, {0: 1.0, 1: np.float32(3.0)}, {0: 1, 1: 3, 2: 5.0}):
        found = answer(clone(estimator).set_params(class_weight=class_weight), X, y)
        np.testing.assert_array_equal(found.scores_, weighted.scores_)
