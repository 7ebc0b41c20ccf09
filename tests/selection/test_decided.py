"""Labels by a threshold, a rate of positives and a cost."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import sparsieve
from sparsieve.selection.predicting import decide_labels

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
TEXT = np.where(y == 1, "benign", "malignant")


@pytest.fixture(scope="module")
def selected():
    return sparsieve.select(X, TEXT, k=3, check=False)


def test_a_threshold_is_that_of_the_probability(selected):
    shares = selected.predict_proba(X)
    assert selected.classes_.tolist() == ["benign", "malignant"]
    found = selected.decide(X, threshold=0.2)
    np.testing.assert_array_equal(found == "malignant", shares[:, 1] >= 0.2)
    found = selected.decide(X, threshold=0.9, positive="benign")
    np.testing.assert_array_equal(found == "benign", shares[:, 0] >= 0.9)


def test_the_threshold_of_a_cost_has_the_smallest_expected_cost(selected):
    shares, cost = selected.predict_proba(X)[:, 1], 9.0
    is_positive = selected.decide(X, cost_of_missing=cost) == "malignant"

    def expected_cost(positive):
        return np.where(positive, 1 - shares, cost * shares).sum()

    least = min(expected_cost(shares >= bar) for bar in np.linspace(0, 1, 1001))
    assert expected_cost(is_positive) <= least + 1e-9


def test_a_rate_marks_the_rows_with_the_largest_probabilities(selected):
    shares = selected.predict_proba(X)[:, 1]
    is_positive = selected.decide(X, positive_rate=0.1) == "malignant"
    assert is_positive.sum() == int(0.1 * len(X))
    assert shares[is_positive].min() > shares[~is_positive].max()
    assert (selected.decide(X, positive_rate=0.0) == "benign").all()
    assert (selected.decide(X, positive_rate=1.0) == "malignant").all()
    tied = np.array([[0.5, 0.5]] * 4)
    assert decide_labels(tied, np.array([0, 1]), rate=0.5).tolist() == [0, 0, 0, 0]


def test_of_several_classes_the_positive_one_is_named():
    wine, kind = load_wine(return_X_y=True)
    selected = sparsieve.select(wine, kind, k=3, check=False)
    with pytest.raises(ValueError, match="say which one is positive"):
        selected.decide(wine, threshold=0.5)
    shares = selected.predict_proba(wine)
    found = selected.decide(wine, threshold=0.3, positive=2)
    np.testing.assert_array_equal(found == 2, shares[:, 2] >= 0.3)
    np.testing.assert_array_equal(found[found != 2], shares[found != 2, :2].argmax(axis=1))


def test_what_cannot_be_decided_is_said(selected):
    with pytest.raises(ValueError, match="exactly one of threshold, positive_rate"):
        selected.decide(X)
    with pytest.raises(ValueError, match="got threshold and cost_of_missing"):
        selected.decide(X, threshold=0.1, cost_of_missing=2)
    with pytest.raises(ValueError, match="positive_rate must be between 0 and 1, got 10"):
        selected.decide(X, positive_rate=10)
    with pytest.raises(ValueError, match="must be a number that is not negative"):
        selected.decide(X, cost_of_missing=-1)
    with pytest.raises(ValueError, match="'ill' is none of the classes"):
        selected.decide(X, threshold=0.1, positive="ill")
