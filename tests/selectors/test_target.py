import warnings

import numpy as np
import pytest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    L21Selector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    diagnose,
    permutation_null,
)
from sparsieve.evaluation import accuracy_curve, tune
from sparsieve.report.assessment import assess
from sparsieve.selectors.target import decide_task, encode_target, how_read, with_task


def encode(y, task="auto", dtype=np.float64):
    return encode_target(np.asarray(y), task=task, dtype=dtype, owner="TestSelector")


def test_classes_become_sorted_one_hot_columns():
    target = encode(["b", "a", "b", "c"])
    assert target.task == "classification"
    assert target.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(target.Y, [[0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(target.codes, [1, 0, 1, 2])


def test_two_classes_give_two_columns():
    assert encode([1, 0, 1]).Y.shape == (3, 2)


def test_real_numbers_are_regression():
    target = encode([0.5, 1.5, 2.5])
    assert target.task == "regression"
    assert target.classes is None
    np.testing.assert_array_equal(target.Y, [[0.5], [1.5], [2.5]])


def test_task_overrules_the_guess():
    counts = [3, 1, 4, 1, 5, 9]
    with pytest.warns(UserWarning, match='read as numbers; pass task="classification"'):
        assert encode(counts).task == "regression"
    assert encode(counts, task="classification").task == "classification"
    assert encode(counts, task="regression").task == "regression"


DIABETES = 25 + np.arange(442) % 214
TABLE = {
    "booleans": ([True, False, True], "classification"),
    "text": (["a", "b", "c", "a"], "classification"),
    "numbers as text": (["1", "2", "3", "1"], "classification"),
    "two whole numbers": ([7, 300, 7, 300], "classification"),
    "two real numbers": ([0.5, 1.5, 0.5], "classification"),
    "three real numbers": ([0.5, 1.5, 2.5], "regression"),
    "real numbers that repeat": (np.repeat([0.1, 0.2, 0.7], 100), "regression"),
    "few whole numbers, u <= sqrt(n)": (np.arange(900) % 30 * 3, "classification"),
    "just too many for the root": (np.arange(899) % 30 * 3, "regression"),
    "twenty values, three of each": (np.arange(60) % 20 * 2, "classification"),
    "twenty values, fewer than three of each": (np.arange(59) % 20 * 2, "regression"),
    "21 values, three of each": (np.arange(63) % 21 * 2, "regression"),
    "0..u-1, five of each": (np.arange(150) % 30, "classification"),
    "1..u, five of each": (1 + np.arange(150) % 30, "classification"),
    "0..u-1, one has four": (np.arange(149) % 30, "regression"),
    "2..u+1, five of each": (2 + np.arange(150) % 30, "regression"),
    "whole numbers as floats": (np.arange(60.0) % 3, "classification"),
    "whole quantities as floats": (DIABETES.astype(float), "regression"),
    "ages": (DIABETES, "regression"),
    "python numbers": (np.array([1, 2, 3] * 5, dtype=object), "classification"),
    "python quantities": (np.array(range(10, 40), dtype=object), "regression"),
}


@pytest.mark.filterwarnings("ignore:y holds")
@pytest.mark.parametrize("case", TABLE)
def test_how_auto_reads_a_target(case):
    y, expected = TABLE[case]
    assert decide_task(y) == expected
    assert encode(y).task == expected


def test_selectors_for_classes_read_classes_and_say_so():
    with pytest.warns(UserWarning, match="TestSelector is for classes and reads each as one"):
        target = encode_target(
            DIABETES, task="auto", dtype=float, owner="TestSelector", classes_only=True
        )
    assert target.task == "classification"


def test_many_classes_get_a_hint():
    with pytest.warns(UserWarning, match="read as 30 classes"):
        assert encode(np.arange(900) % 30).task == "classification"
    with pytest.warns(UserWarning, match="numbers as text"):
        assert encode([str(i % 25) for i in range(50)]).task == "classification"


def test_ordinary_targets_need_no_words(recwarn):
    encode([0, 1, 2] * 10)
    encode(["a", "b"] * 3)
    encode(np.linspace(0, 1, 9))
    assert not recwarn


def test_columns_of_numbers_and_indicators():
    assert encode([[0.1, 2.0], [3.0, 4.5]]).task == "regression"
    assert encode([[0, 1], [1, 1], [1, 0]]).task == "multilabel"
    assert encode([[0, 1], [1, 1], [1, 0]], task="regression").task == "regression"
    assert encode([[1], [0], [1]]).task == "classification"


def test_dtype_follows_x():
    assert encode([0, 1, 1], dtype=np.float32).Y.dtype == np.float32


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([0.5, 1.5, 2.5], "classification", "holds real numbers"),
        (["a", "b", "a"], "regression", "y holds text"),
        ([[0.5, 1.0], [2.0, 3.0]], "classification", "2 columns"),
        ([0, 1, 1], "clasification", "task must be one of"),
        ([0, 0, 0], "auto", "only one class"),
    ],
)
def test_bad_targets(y, task, message):
    with pytest.raises(ValueError, match=message):
        encode(y, task)


# -- decided once, on the whole of y -----------------------------------------------------------

DIGITS = np.repeat(np.arange(10), 12)  # in a third or half of it no rule sees 5 of each


@pytest.mark.parametrize(
    "wrapped",
    [
        RidgeForwardSelector(),
        Pipeline([("scale", StandardScaler()), ("select", RidgeForwardSelector())]),
        SelectorCV(),
        StabilitySelection(SelectorCV()),
        EnsembleSelector(),
    ],
    ids=lambda w: type(w).__name__,
)
def test_the_task_reaches_every_selector_inside(wrapped):
    found = []

    def look(estimator):
        if isinstance(estimator, Pipeline):
            look(estimator[-1])
        elif hasattr(estimator, "_members"):
            [look(member) for member in estimator._members()]
        else:
            found.append(estimator.task)

    look(with_task(wrapped, "regression"))
    assert found
    assert set(found) == {"regression"}
    assert getattr(wrapped, "selector", None) is None or wrapped.selector.selector is None
    assert with_task(L21Selector(task="classification"), "regression").task == "classification"
    assert with_task(FisherSelector(), "regression").get_params() == FisherSelector().get_params()
    assert with_task(RidgeForwardSelector(), "multilabel").task == "auto"


def _watched(kind, monkeypatch):
    """Tasks that every fit of a kind of selectors understood."""
    seen = []
    plain = kind._fit

    def fit(self, data):
        seen.append(data.target.task)
        return plain(self, data)

    monkeypatch.setattr(kind, "_fit", fit)
    return seen


def _everywhere(X, y, task):
    """Whatever fits selectors on parts of a y."""
    yield SelectorCV(ks=[1, 2], n_repeats=1, cv=3).fit
    yield StabilitySelection(n_subsamples=4, n_features_per_run=2).fit
    yield EnsembleSelector([RidgeForwardSelector(), L21Selector()], n_features_to_select=2).fit
    yield SelectorCV(EnsembleSelector(), ks=[1, 2], n_repeats=1, cv=3).fit
    yield lambda X, y: assess(
        RidgeForwardSelector(n_features_to_select=2),
        *(X, y),
        n_kept=2,
        is_regression=task == "regression",
        n_folds=3,
        seed=0,
    )
    yield lambda X, y: diagnose(X, y)
    yield lambda X, y: permutation_null(RidgeForwardSelector(), X, y, n_repeats=2)
    if task == "classification":
        part = np.arange(len(y)) % 4 == 0
        yield lambda X, y: accuracy_curve(
            RidgeForwardSelector(), X[part], y[part], X[~part], y[~part], ks=[2]
        )
        yield lambda X, y: tune(RidgeForwardSelector(), {"ridge": [1.0]}, X[part], y[part], ks=[2])


@pytest.mark.filterwarnings("ignore:y holds")
@pytest.mark.parametrize(("y", "task"), [(DIABETES, "regression"), (DIGITS, "classification")])
def test_parts_are_read_as_the_whole(y, task, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(y), 6))
    X[:, 2] += y / y.std()
    for work in _everywhere(X, y, task):
        seen = _watched(RidgeForwardSelector, monkeypatch)
        work(X, y)
        assert set(seen) == {task}


def test_a_third_of_the_digits_would_be_read_otherwise():
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(1, 26), 5))
    assert decide_task(y) == "classification"
    assert decide_task(y[:75]) == "regression"
    X = rng.standard_normal((125, 4))
    stable = StabilitySelection(n_subsamples=4, n_features_per_run=2)
    with pytest.warns(UserWarning, match="read as 25 classes") as caught:
        stable.fit(X, y)
    assert len(caught) == 1
    assert len(stable.classes_) == 25


@pytest.mark.parametrize(
    ("wrapper", "sentence"),
    [
        (SelectorCV(ks=[1, 2], n_repeats=1), "read as numbers"),
        (SelectorCV(FisherSelector(), ks=[1, 2], n_repeats=1, cv=3), "SelectorCV is for classes"),
        (StabilitySelection(n_subsamples=4, n_features_per_run=2), "read as numbers"),
        (EnsembleSelector([FisherSelector(), RidgeForwardSelector()]), "is for classes"),
    ],
)
def test_one_sentence_not_one_per_fold(wrapper, sentence):
    y = np.repeat(DIABETES[:214], 3)
    X = np.random.default_rng(0).standard_normal((len(y), 4))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        wrapper.fit(X, y)
    said = [str(w.message) for w in caught if "y holds" in str(w.message)]
    assert len(said) == 1
    assert sentence in said[0]


def test_wrappers_read_classes_where_a_member_can_do_nothing_else():
    y = np.repeat(np.arange(30) * 7, 3)
    X = np.random.default_rng(0).standard_normal((90, 4))
    with pytest.warns(UserWarning, match="is for classes"):
        search = SelectorCV(FisherSelector(), ks=[1, 2], cv=3, n_repeats=1).fit(X, y)
    assert len(search.classes_) == 30
    with pytest.raises(ValueError, match="needs one column of class labels"):
        SelectorCV(FisherSelector(), ks=[1, 2]).fit(X, X[:, 0])


def test_two_real_values_stay_two_classes_when_handed_on():
    y = np.tile([0.5, 1.5], 20)
    X = np.random.default_rng(0).standard_normal((40, 3))
    StabilitySelection(n_subsamples=4, n_features_per_run=2).fit(X, y)
    assert encode(y, task="classification").task == "classification"


def test_the_sentence_names_the_readers_option():
    assert "pass --task classification if" in how_read(DIABETES, option="--task {}")
    assert how_read([0, 1, 2] * 5) == ""
    assert how_read([0.5, 1.25, 2.0] * 5) == ""
