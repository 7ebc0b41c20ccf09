"""Fitted selectors in ONNX models give the columns that they give themselves, and predict."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline

from sparsieve import L1MPMSelector, SelectorCV, all_selectors, select

skl2onnx = pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")
X, Y = make_classification(40, 6, random_state=1)
X = np.abs(X).astype(np.float32)


@pytest.fixture(autouse=True, scope="module")
def registered():
    import sparsieve.onnx

    models = {"LikelihoodRidge", "SizedRidge", "SoftmaxRegression"}
    known = {*all_selectors(), "KeptColumns", *models}
    assert set(sparsieve.onnx.register()) == set(sparsieve.onnx.register()) == known


def asked(model, given=X):
    """What the ONNX model makes of X."""
    made = skl2onnx.to_onnx(model, given[:1], target_opset=15).SerializeToString()
    session = runtime.InferenceSession(made, providers=["CPUExecutionProvider"])
    return session.run(None, {"X": given})


@pytest.mark.parametrize("name", all_selectors())
def test_every_selector_is_a_choice_of_columns(name):
    selector = all_selectors()[name]()
    few = {"n_subsamples": 4, "max_rounds": 4, "n_repeats": 1, "cv": 2, "n_features_to_select": 2}
    known = selector.get_params(deep=False)
    selector.set_params(**{key: value for key, value in few.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(X, Y)
    (found,) = asked(selector)
    np.testing.assert_array_equal(found, selector.transform(X))


def test_in_front_of_a_model():
    model = make_pipeline(L1MPMSelector(2), LogisticRegression()).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, *_ = asked(model)
    np.testing.assert_array_equal(labels, model.predict(X))


def test_a_preparation_is_refused():
    search = SelectorCV(ks=[2], cv=2, n_repeats=1, prepare="impute").fit(X, Y)
    with pytest.raises(ValueError, match="put the preparation into a pipeline"):
        asked(search)


@pytest.mark.parametrize("used", [slice(None), [1, 4]])
def test_the_model_of_a_selection(used):
    """It takes all columns of the training data, or those that it uses."""
    selected = select(X, Y, k=2, check=False, always_keep=[1, 4], estimator=LogisticRegression())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        labels, *_ = asked(selected.model, X[:, used])
    np.testing.assert_array_equal(labels, selected.predict(X))


TARGETS = {
    "classes": (Y + (X[:, 2] > 1), {}),
    "two classes by name": (np.where(Y, "ill", "well"), {}),
    "true and false": (Y == 1, {}),
    "a score": (Y + (X[:, 2] > 1), {"scoring": "neg_log_loss"}),
    "numbers": (X[:, 0] + 0.25 * Y, {}),
    "counts": (np.random.default_rng(0).poisson(np.exp(X[:, 0])), {"task": "counts"}),
    "survival": ((1 + np.arange(40.0) / (1 + X[:, 1]), Y), {"task": "survival"}),
}


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", TARGETS)
def test_every_usual_model_of_a_selection(name, dtype):
    y, options = TARGETS[name]
    # Single precision would lose these values.
    given = (X + 1e5 * (dtype == np.float64)).astype(dtype)
    selected = select(given, y, k=3, check=False, **options)
    found, *more = asked(selected.model, given)
    expected = selected.predict(given)
    if name in ("numbers", "counts", "survival"):
        assert found.dtype == dtype
        np.testing.assert_allclose(found[:, 0], expected, rtol=1e-9 if found.itemsize > 4 else 1e-4)
        return
    assert (found.astype(expected.dtype) == expected).all()
    shown = [[row[label] for label in selected.classes_] for row in more[0]]
    np.testing.assert_allclose(shown, selected.predict_proba(given), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ridge_classifiers_of_several_labels(dtype):
    given, y = X.astype(dtype), np.column_stack([Y, X[:, 1] > 1])
    model = RidgeClassifier().fit(given, y)
    labels, *_ = asked(model, given)
    np.testing.assert_array_equal(labels, model.predict(given))


def test_the_model_of_a_table_with_text_is_refused():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X, columns=list("abcdef")).assign(city=np.where(Y, "x", "y"))
    with pytest.raises(ValueError, match="encodes text, dates or gaps of a data frame"):
        asked(select(table, Y, k=2, check=False).model)


@pytest.mark.parametrize("is_classes", [True, False])
def test_boosted_trees_of_a_selection(is_classes):
    given = np.random.default_rng(0).standard_normal((300, 6)).astype(np.float32)
    met = given[:, 0] * given[:, 1]
    y = (met > 0).astype(int) if is_classes else np.abs(given[:, 2])
    selected = select(given, y, k=2, check=False)
    assert selected.relation.choice == "trees"
    found, *more = asked(selected.model, given)
    if not is_classes:
        np.testing.assert_allclose(found[:, 0], selected.predict(given), atol=1e-4)
        return
    assert (found == selected.predict(given)).mean() > 0.99
    shown = [[row[label] for label in (0, 1)] for row in more[0]]
    np.testing.assert_allclose(shown, selected.predict_proba(given), atol=1e-3)
