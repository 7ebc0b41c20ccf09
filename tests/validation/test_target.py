import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.linear_model import Lasso, Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    L21Selector,
    LikelihoodForwardSelector,
    LikelihoodL21Selector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    compare,
    diagnose,
    load,
    permutation_null,
    save,
    select,
)
from sparsieve.app.report.assessment import assess
from sparsieve.scoring import accuracy_curve, tune
from sparsieve.selection.selected_data import SelectedData
from sparsieve.validation.reading import read_task
from sparsieve.validation.target import encode_target, with_task


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


def test_task_overrules_the_reading():
    counts = [3, 1, 4, 1, 5, 9]
    assert encode(counts).task == "classification"
    assert encode(counts, task="classification").task == "classification"
    assert encode(counts, task="regression").task == "regression"


AGES = 25 + np.arange(442) % 214
TABLE = {
    "booleans": ([True, False, True], "classification"),
    "text": (["a", "b", "c", "a"], "classification"),
    "numbers as text": ([str(i % 30) for i in range(60)], "classification"),
    "two whole numbers": ([7, 300, 7, 300], "classification"),
    "two real numbers": ([0.5, 1.5, 0.5], "regression"),
    "three real numbers": ([0.5, 1.5, 2.5], "regression"),
    "real numbers that repeat": (np.repeat([0.1, 0.2, 0.7], 100), "regression"),
    "one fraction among whole numbers": ([1.0, 2.0, 2.0, 1.5], "regression"),
    "twenty values, one or two of each": (np.arange(21) % 20, "classification"),
    "21 values, five of each": (np.arange(105) % 21 * 3, "classification"),
    "21 values, fewer than five on average": (np.arange(104) % 21 * 3, "doubtful"),
    "five on average though not of each": (np.r_[np.zeros(84), np.arange(1, 22)], "doubtful"),
    "so with one more": (np.r_[np.zeros(89), np.arange(1, 22)], "classification"),
    "whole numbers as floats": (np.arange(60.0) % 3, "classification"),
    "whole quantities as floats": (AGES.astype(float), "doubtful"),
    "ages": (AGES, "doubtful"),
    "python numbers": (np.array([1, 2, 3] * 5, dtype=object), "classification"),
    "python quantities": (np.array([*range(10, 40)] * 2, dtype=object), "doubtful"),
    "python fractions": (np.array([0.5, 1, 2] * 5, dtype=object), "regression"),
}


@pytest.mark.parametrize("case", TABLE)
def test_how_auto_reads_a_target(case):
    y, expected = TABLE[case]
    task, sentence = read_task(y)
    # Classes that are no codes of classes, or of few samples, are said to be read as such.
    told = expected == "doubtful" or case in (
        "twenty values, one or two of each",
        "21 values, five of each",
        "so with one more",
    )
    natural = "regression" if expected == "doubtful" else expected
    assert task == natural
    assert ("different whole numbers" in sentence) == bool(sentence) == told
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert encode(y).task == natural
    says = sentence.replace('"; ', '" to TestSelector; ').replace('" if', '" to TestSelector if')
    assert [str(one.message) for one in caught] == [says] * told
    if told:
        assert encode(y, task="classification").task == "classification"
        assert encode(y, task="regression").task == "regression"


def test_categories_are_classes_whatever_their_labels():
    pd = pytest.importorskip("pandas")
    y = pd.Series(np.arange(90) % 30).astype("category")
    assert read_task(y) == ("classification", "")
    X = np.random.default_rng(0).standard_normal((90, 4))
    assert len(RidgeForwardSelector(2).fit(X, y).classes_) == 30
    assert len(SelectorCV(ks=[1, 2], cv=3, n_repeats=1).fit(X, y).classes_) == 30


def test_selectors_for_classes_and_for_numbers_have_no_doubt(recwarn):
    for knows, task in (("classes", "classification"), ("numbers", "regression")):
        target = encode_target(AGES, task="auto", dtype=float, owner="TestSelector", knows=knows)
        assert target.task == task
    X = np.random.default_rng(0).standard_normal((442, 3))
    assert len(FisherSelector().fit(X, AGES).classes_) == 214
    search = SelectorCV(Lasso(), ks=[1, 2], cv=3, n_repeats=1).fit(X, AGES)
    assert not hasattr(search, "classes_")
    search = SelectorCV(ks=[1, 2], cv=3, n_repeats=1, estimator=Ridge()).fit(X, AGES)
    assert not hasattr(search, "classes_")
    assert not recwarn


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
        ([0.5, 1.5, 2.5], "classification", "bin them into classes or convert them to text"),
        ([0.5, 1.5, 0.5], "classification", "numbers with fractions"),
        (["a", "b", "a"], "regression", "y contains text"),
        ([[0.5, 1.0], [2.0, 3.0]], "classification", "2 columns"),
        ([0, 1, 1], "clasification", "task must be one of"),
        ([0, 0, 0], "auto", "only one class"),
    ],
)
def test_bad_targets(y, task, message):
    with pytest.raises(ValueError, match=message):
        encode(y, task)


# -- decided once, on the whole of y -----------------------------------------------------------

CODES = np.repeat(np.arange(30), 6)  # in a half of it there is doubt
NUMBERS = np.r_[np.arange(160) % 30, 0.5]  # a part of it has no fractions


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
        SelectedData.from_selector(RidgeForwardSelector(2).fit(X, y), X, y, None),
        X,
        n_folds=3,
        seed=0,
    )
    yield lambda X, y: diagnose(X, y)
    yield lambda X, y: permutation_null(RidgeForwardSelector(), X, y, n_repeats=2)
    if task == "classification":
        part = np.arange(len(y)) % 4 != 0
        yield lambda X, y: accuracy_curve(
            RidgeForwardSelector(), X[part], y[part], X[~part], y[~part], ks=[2]
        )
        yield lambda X, y: tune(RidgeForwardSelector(), {"ridge": [1.0]}, X[part], y[part], ks=[2])


@pytest.mark.parametrize(("y", "task"), [(NUMBERS, "regression"), (CODES, "classification")])
@pytest.mark.long("many fits to full accuracy")
def test_parts_are_read_as_the_whole(y, task, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((len(y), 6))
    # The order of classes means nothing.
    followed = y if task == "regression" else rng.permutation(30)[y]
    X[:, 2] += followed / y.std()
    for work in _everywhere(X, y, task):
        seen = _watched(RidgeForwardSelector, monkeypatch)
        work(X, y)
        assert set(seen) == {task}


@pytest.mark.parametrize(
    "wrapper",
    [
        SelectorCV(ks=[1, 2], n_repeats=1),
        StabilitySelection(n_subsamples=4, n_features_per_run=2),
        EnsembleSelector([RidgeForwardSelector(), L21Selector()]),
        SelectorCV(EnsembleSelector(), ks=[1, 2], n_repeats=1, cv=3),
    ],
    ids=lambda w: type(w).__name__,
)
def test_wrappers_say_once_how_their_selectors_read_the_whole(wrapper):
    X = np.random.default_rng(0).standard_normal((len(AGES), 4))
    X[:, 1] += AGES / 50
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert not hasattr(clone(wrapper).fit(X, AGES), "classes_")
    assert [str(one.message) for one in caught if "y holds" in str(one.message)] == [
        "y holds 214 different whole numbers in 442 samples and is treated as numeric; pass "
        f'task="classification" to the selectors inside {type(wrapper).__name__} if they are '
        "classes"
    ]


def test_wrappers_read_classes_where_a_member_can_do_nothing_else(recwarn):
    y = np.repeat(np.arange(30) * 7, 3)
    X = np.random.default_rng(0).standard_normal((90, 4))
    search = SelectorCV(FisherSelector(), ks=[1, 2], cv=3, n_repeats=1).fit(X, y)
    assert len(search.classes_) == 30
    assert not recwarn
    with pytest.raises(ValueError, match="needs one column of class labels"):
        SelectorCV(FisherSelector(), ks=[1, 2]).fit(X, X[:, 0])


# -- a target of whole quantities, of which folds and parts hold fewer values ------------------


@pytest.mark.filterwarnings("ignore:y holds")
def test_no_fold_and_no_part_of_a_target_flips():
    X, y = load_diabetes(return_X_y=True)
    folds = [train for train, _ in KFold(5, shuffle=True, random_state=0).split(X)]
    parts = [np.arange(n) for n in (40, 60, 80, 100, 110, 150, 200, 300, 442)]
    for target in (y, np.round(y / 16)):  # 214 and 22 different values
        for part in [*folds, *parts]:
            fitted = RidgeForwardSelector(3).fit(X[part], target[part])
            assert not hasattr(fitted, "classes_")


def test_functions_decide_in_doubt_and_say_so_once():
    X = np.random.default_rng(0).standard_normal((len(AGES), 4))
    X[:, 1] += AGES / 50
    calls = {
        "select": lambda: select(X, AGES, k=2),
        "select, k found": lambda: select(X, AGES, method=SelectorCV(ks=[1, 2], n_repeats=1)),
        "compare": lambda: compare(X, AGES, ["ridge-forward", "f-statistic"], ks=[1], n_repeats=1),
        "diagnose": lambda: diagnose(X, AGES),
    }
    for name, call in calls.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call()
        said = [str(w.message) for w in caught if "y holds" in str(w.message)]
        assert said == [
            "y holds 214 different whole numbers in 442 samples and is treated as numeric; pass "
            'task="classification" if they are classes'
        ], name
        if hasattr(found, "selector"):
            assert not hasattr(found.selector, "classes_")
    assert len(select(X, AGES % 200, k=2, task="classification").selector.classes_) == 200


CODES = np.arange(12) % 2
CLASS_LABELS = {
    "truth values": np.array([True, False])[CODES],
    "truth values as objects": np.array([True, False], dtype=object)[CODES],
    "truth values of pandas": pd.Series([True, False] * 6, dtype="boolean"),
    "categories of truth values": pd.Series(pd.Categorical([True, False] * 6)),
    "whole numbers of pandas": pd.Series([30, 10] * 6, dtype="Int64"),
    "large whole numbers of pandas": pd.Series([2**53 + 1, 2**53] * 6, dtype="Int64"),
    "whole numbers": np.array([-7, 5])[CODES],
    "small whole numbers": np.array([200, 3], dtype=np.uint8)[CODES],
    "text": ["well", "ill"] * 6,
    "text of pandas": pd.Series(["well", "ill"] * 6, dtype="string"),
    "categories": pd.Categorical(["well", "ill"] * 6),
}


@pytest.mark.parametrize("y", CLASS_LABELS.values(), ids=CLASS_LABELS)
def test_classes_come_out_as_the_labels_that_went_in(y, tmp_path):
    X = np.column_stack([CODES, np.random.default_rng(0).standard_normal((12, 2))]).astype(float)
    labels = np.asarray(y).tolist()
    chosen = SelectorCV(RidgeForwardSelector(), ks=[1], cv=3).fit(X, y)
    save(chosen, tmp_path / "model.sparsieve")
    for model in (
        LikelihoodForwardSelector(1).fit(X, y),
        LikelihoodL21Selector(1).fit(X, y),
        chosen,
        load(tmp_path / "model.sparsieve"),
    ):
        assert model.predict(X).tolist() == labels
        assert all(
            type(a) is type(b) for a, b in zip(model.predict(X).tolist(), labels, strict=True)
        )
    for model in (
        select(X, y, k=1, check=False).selector,
        StabilitySelection(RidgeForwardSelector(1), n_subsamples=4).fit(X, y),
    ):
        assert model.classes_.tolist() == sorted(set(labels))


@pytest.mark.parametrize("odd", [np.nan, None])
def test_a_gap_in_a_list_of_labels_is_no_class(odd):
    X = np.random.default_rng(0).standard_normal((6, 2))
    with pytest.raises(ValueError, match="y contains NaN or missing values \\(2 of 6\\)"):
        RidgeForwardSelector().fit(X, ["a", "b", odd] * 2)
    with pytest.raises(TypeError, match="y mixes text with other labels"):
        RidgeForwardSelector().fit(X, ["1", "b", 1] * 2)
