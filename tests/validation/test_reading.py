"""Whole numbers: classes, or quantities whose order shows in X."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sparsieve import (
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    compare,
    diagnose,
    select,
)
from sparsieve.validation.reading import read_task


def quantity(n, low, high, *, seed=0, d=200):
    """Rounded sums of eight features, cut off at both ends."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    signal = X[:, :8].sum(axis=1) / 8**0.5 + 0.2 * rng.standard_normal(n)
    middle, spread = (low + high) / 2, (high - low) / 5
    return X, np.clip(np.rint(middle + spread * signal), low, high).astype(int)


def classes(n_classes, n_each, *, seed=0, d=50):
    """Every class has its own mean, in no order."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_each)
    return rng.standard_normal((n_classes, d))[y] + rng.standard_normal((len(y), d)), y


QUANTITIES = {
    "ages": quantity(300, 30, 60),
    "ratings": quantity(100, 0, 10),
    "disease": load_diabetes(return_X_y=True),
}
CLASSES = {
    "iris": load_iris(return_X_y=True),
    "wine": load_wine(return_X_y=True),
    "digits": load_digits(return_X_y=True),
    "twenty": classes(20, 20),
    "forty of ten": (classes(40, 10)[0], classes(40, 10)[1] + 1),
}


@pytest.mark.parametrize("case", QUANTITIES)
def test_estimators_take_quantities_for_numbers_and_say_so(case):
    X, y = QUANTITIES[case]
    with pytest.warns(UserWarning, match=r'treated as numeric; pass task="classification" to Ri'):
        plain = cross_val_score(make_pipeline(RidgeForwardSelector(8), Ridge()), X, y, cv=5)
    asked = make_pipeline(RidgeForwardSelector(8, task="regression"), Ridge())
    np.testing.assert_array_equal(plain, cross_val_score(asked, X, y, cv=5))


@pytest.mark.parametrize("case", CLASSES)
def test_classes_stay_classes_without_a_word(case, recwarn):
    X, y = CLASSES[case]
    assert read_task(y, X) == ("classification", "")
    assert RidgeForwardSelector(3).fit(X, y).classes_.tolist() == sorted(set(y))
    assert not recwarn


def test_codes_of_many_small_classes_are_classes_where_no_order_shows():
    X, y = classes(40, 4)
    task, sentence = read_task(y, X)
    assert task == "classification"
    assert "is treated as classes, the smallest of 4; pass task=" in sentence
    assert read_task(y)[0] == "regression"  # as far as the values tell


def test_the_order_of_codes_stands_out_as_rarely_as_any_other():
    found = [read_task(y, X)[0] for X, y in (classes(8, 12, seed=seed) for seed in range(60))]
    assert found.count("regression") <= 2


def test_few_values_are_classes_even_in_order(recwarn):
    X, y = quantity(200, 1, 5)
    assert read_task(y, X) == ("classification", "")
    assert not recwarn


@pytest.mark.parametrize("weak", [True, False])
def test_what_could_be_either_is_said(weak):
    X, y = quantity(300, 0, 9)
    if weak:
        X = X + 6 * np.random.default_rng(1).standard_normal(X.shape)
    task, sentence = read_task(y, X)
    assert task == ("classification" if weak else "regression")
    assert f'pass task="{"regression" if weak else "classification"}" if' in sentence


def test_every_kind_of_matrix_is_read_alike():
    X, y = quantity(100, 0, 10, d=20)
    X[np.abs(X) < 0.3] = 0
    gaps = X.copy()
    gaps[::9, 3] = np.nan
    gaps[:, 12] = np.nan
    for same in (
        *(sparse.csr_array(X), sparse.csc_matrix(X), X.astype(np.float32), gaps, X * 1e200),
        *(pd.DataFrame(X), np.hstack([X, np.full((100, 2), 7.1)])),
    ):
        assert read_task(y, same)[0] == "regression"
    text = pd.DataFrame(X).assign(place="north")
    for nothing in (text, text.to_numpy(), X[:, :0], np.ones((100, 2)), np.full((100, 2), np.nan)):
        assert read_task(y, nothing) == read_task(y)


@pytest.mark.filterwarnings("ignore:y holds")
@pytest.mark.parametrize(
    "work",
    [
        lambda X, y: select(X, y, k=2),
        lambda X, y: compare(X, y, ["ridge-forward"], ks=[2], n_repeats=1),
        lambda X, y: SelectorCV(ks=[1, 2], cv=3, n_repeats=1).fit(X, y),
        lambda X, y: StabilitySelection(n_subsamples=4, n_features_per_run=2).fit(X, y),
        lambda X, y: diagnose(*quantity(120, 0, 10, d=12)),  # which compares from 100 on
    ],
    ids=["select", "compare", "SelectorCV", "stability", "diagnose"],
)
def test_parts_are_read_as_the_whole_was(work, monkeypatch):
    seen = []
    plain = RidgeForwardSelector._fit

    def fit(self, data):
        seen.append(data.target.task)
        return plain(self, data)

    monkeypatch.setattr(RidgeForwardSelector, "_fit", fit)
    X, y = quantity(60, 0, 10, d=12)  # of which smaller parts may tell nothing
    assert read_task(y, X)[0] == "regression"
    work(X, y)
    assert set(seen) == {"regression"}
