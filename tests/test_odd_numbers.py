"""Numbers that are too large, too small or no numbers at all, for every estimator there is.

Every cell is the right answer or one sentence, soon; nothing is NaN or infinite in silence.
"""

import inspect
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from sparsieve import (
    ChiSquareSelector,
    FisherSelector,
    L21Selector,
    RidgeForwardSelector,
    RLSRSelector,
    all_estimators,
)
from sparsieve.validation.training_data import is_scale_free

HERE = Path(__file__).parent
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))
from odd_cells import (  # noqa: E402
    METHODS,
    SELECTORS,
    SOME_METHODS,
    SOME_SELECTORS,
    as_files,
    cell,
    command_line_cell,
    study_cell,
)
from odd_inputs import (  # noqa: E402
    BAD_CLASS_WEIGHTS,
    KINDS,
    ODD_WEIGHTS,
    ODD_X,
    ODD_Y,
    SCALES,
    WEIGHTS,
    small,
    stored,
    usual_data,
)

SECONDS = 20


ESTIMATORS = [
    small(cls)
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
    return usual_data()


@pytest.fixture(scope="module")
def numbers(data):
    X, _ = data
    return X, X[:, 6] - 0.7 * X[:, 4] + 0.05 * np.sin(np.arange(len(X)))


USUAL = {}


def usual_answer(estimator, case, X, y, **fit):
    """The same as ``answer``, remembered: many odd cases are compared with one usual one."""
    key = (type(estimator).__name__, case)
    if key not in USUAL:
        USUAL[key] = answer(estimator, X, y, **fit)
    return USUAL[key]


def answer(estimator, X, y, **fit):
    """The fitted estimator, or the one sentence of its refusal."""
    start = time.process_time()  # whatever else the machine is doing
    fitted = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            fitted.fit(X, y, **fit)
        except (ValueError, TypeError) as error:
            fitted = str(error)
    assert time.process_time() - start < SECONDS
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


@pytest.mark.thinned(8)
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
    case = "sparse" if kind == "sparse" else "dense"
    usual, found = usual_answer(estimator, case, usual, y), answer(estimator, odd, y)
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
    assert "X holds" in answer(estimator, X * scale, y)


@by_name(takes_regression)
@pytest.mark.parametrize("scale", SCALES)
def test_targets_of_extreme_size(estimator, scale, numbers):
    X, y = numbers
    usual, odd = usual_answer(estimator, "numbers", X, y), answer(estimator, X, y * scale)
    assert not isinstance(usual, str)
    assert_same_or_refused(estimator, usual, odd, ("y holds",))


@pytest.mark.thinned(3)
@each
@pytest.mark.parametrize("case", WEIGHTS)
def test_weights_of_extreme_size(estimator, case, data):
    X, y = data
    usual = usual_answer(estimator, "weighted", X, y, sample_weight=np.ones(len(y)))
    odd = answer(estimator, X, y, sample_weight=WEIGHTS[case](len(y)))
    if isinstance(usual, str):
        assert isinstance(odd, str)
        return
    assert isinstance(odd, str)
    assert "sample_weight holds" in odd


@each
@pytest.mark.parametrize("scale", [1e-45, 1e15])
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
        with pytest.raises(ValueError, match=r"X holds .*does not rescale columns"):
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


@pytest.mark.thinned(12)
@each
@pytest.mark.parametrize("to_format", [sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("kind", ["in parts", "explicit zeros", "unsorted", "long indices"])
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_how_a_sparse_matrix_is_stored_makes_no_difference(estimator, kind, to_format, data):
    X, y = data
    X = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.6, X, 0.0)
    odd = stored(X, kind, to_format)
    np.testing.assert_allclose(odd.toarray(), X, atol=1e-12)
    before = [part.copy() for part in (odd.data, odd.indices, odd.indptr)]
    usual = usual_answer(estimator, f"stored {to_format.__name__}", to_format(X), y)
    found = answer(estimator, odd, y)
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


@pytest.mark.thinned(3)
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


@pytest.mark.thinned(3)
@by_name([e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required])
@pytest.mark.parametrize("case", ODD_Y)
def test_targets_that_are_no_labels(estimator, case, data):
    X, y = data
    make, message = ODD_Y[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).fit(X, make(y))
    assert len(str(caught.value)) < 400


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


@pytest.mark.thinned(3)
@by_name(weighs_classes)
@pytest.mark.parametrize("case", BAD_CLASS_WEIGHTS)
def test_class_weights_are_checked_in_words(estimator, case, data):
    X, y = data
    class_weight, message = BAD_CLASS_WEIGHTS[case]
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(estimator).set_params(class_weight=class_weight).fit(X, y)
    assert len(str(caught.value)) < 300


@pytest.mark.thinned(2)
@by_name(weighs_classes)
@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_class_weights_are_weights_of_samples(estimator, data):
    """A class that is not named weighs one; labels beyond those of y do no harm."""
    X, y = data
    weighted = answer(estimator, X, y, sample_weight=np.where(y == 1, 3.0, 1.0))
    for class_weight in ({1: 3}, {0: 1.0, 1: np.float32(3.0)}, {0: 1, 1: 3, 2: 5.0}):
        found = answer(clone(estimator).set_params(class_weight=class_weight), X, y)
        np.testing.assert_array_equal(found.scores_, weighted.scores_)


# -- the whole table ---------------------------------------------------------------------------

SAMPLE = ("complex X", "no samples", "read only", "sample_weight: negative", "transform: a list")


def test_the_table_holds_many_kinds():
    assert len(KINDS) >= 80
    assert set(SAMPLE) <= set(KINDS)


@pytest.mark.parametrize("kind", SAMPLE)
@by_name([FisherSelector(), L21Selector()])
def test_cells_of_the_table(estimator, kind):
    assert cell(estimator, kind).fine


FILES = ("NaN in X", "infinity in X", "lists", "complex X", "date column X", "doubled names")


@pytest.mark.parametrize("kind", FILES)
def test_files_of_the_table(kind, tmp_path):
    for path in as_files(kind, tmp_path):
        found = command_line_cell(path, SOME_METHODS[0])
        assert found.fine, (path.name, found)


@pytest.mark.long("RPMFS, the slowest method, is among the cases")
def test_every_method_on_an_odd_file(tmp_path):
    path = as_files("one class", tmp_path)[0]
    found = {method: command_line_cell(path, method) for method in METHODS}
    assert {name for name, one in found.items() if not one.fine} == set()


def test_a_study_of_an_odd_file(tmp_path):
    for path in as_files("NaN in X", tmp_path):
        found = study_cell(path, SOME_SELECTORS[:1])
        assert found.fine, (path.name, found)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@each
def test_every_cell_of_the_table(estimator, kind):
    assert cell(estimator, kind).fine, cell(estimator, kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_file_of_the_table(kind, tmp_path):
    paths = as_files(kind, tmp_path)
    if not paths:
        pytest.skip("cannot be a file")
    for path in paths:
        methods, selectors = (
            (METHODS, SELECTORS) if path is paths[0] else (SOME_METHODS, SOME_SELECTORS)
        )
        cells = {method: command_line_cell(path, method) for method in methods}
        cells["study"] = study_cell(path, selectors)
        assert {name: one for name, one in cells.items() if not one.fine} == {}
