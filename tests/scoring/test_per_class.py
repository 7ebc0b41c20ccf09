"""One SVM per class and their vote, against the plain loop."""

from collections import Counter

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from sparsieve.scoring.models import predict_per_class


@pytest.fixture
def problem(rng):
    X, y = load_digits(n_class=5, return_X_y=True)
    order = rng.permutation(len(y))
    X, y = X[order] / 16.0, np.array(["e", "a", "d", "b", "c"])[y[order]]
    return X[:150], y[:150], X[150:350], y[150:350], rng.random((5, X.shape[1])) < 0.1


@pytest.mark.long("against the plain formula, loop by loop")
def test_largest_margin_of_one_against_rest(problem):
    X, y, X_test, _, supports = problem
    expected = []
    for sample in X_test:
        margins = {}
        for label, support in zip("abcde", supports, strict=True):
            machine = SVC(kernel="linear", C=0.5).fit(X[:, support], y == label)
            margins[label] = machine.decision_function([sample[support]])[0]
        expected.append(max(margins, key=margins.get))
        if len(expected) == 40:
            break
    found = predict_per_class(X, y, X_test, supports, vote="margin", C=0.5)
    np.testing.assert_array_equal(found[:40], expected)


def test_majority_of_multiclass_machines(problem):
    X, y, X_test, _, supports = problem
    supports[3] = supports[1]  # two classes with the same features have two votes
    machines = [SVC(kernel="linear").fit(X[:, support], y) for support in supports]
    said = [
        machine.predict(X_test[:, support])
        for machine, support in zip(machines, supports, strict=True)
    ]
    expected = []
    for labels in zip(*said, strict=True):
        count = Counter(labels)
        expected.append(min(count, key=lambda label: (-count[label], label)))
    found = predict_per_class(X, y, X_test, supports, vote="majority")
    np.testing.assert_array_equal(found, expected)
    assert len(set(map(tuple, zip(*said, strict=True)))) > len(set(expected))  # they disagree


@pytest.mark.parametrize("vote", ["margin", "majority"])
def test_shared_features_and_sparse_data(problem, vote):
    X, y, X_test, _, supports = problem
    same = np.tile(supports[:1], (5, 1))
    found = predict_per_class(X, y, X_test, same, vote=vote)
    if vote == "majority":  # all say the same
        alone = SVC(kernel="linear").fit(X[:, same[0]], y).predict(X_test[:, same[0]])
        np.testing.assert_array_equal(found, alone)
    as_sparse = predict_per_class(sparse.csr_array(X), y, sparse.csr_array(X_test), same, vote=vote)
    assert np.mean(found == as_sparse) > 0.99


@pytest.mark.parametrize("vote", ["margin", "majority"])
def test_classes_without_features(problem, vote):
    X, y, X_test, _, supports = problem
    supports[[0, 2]] = False
    found = predict_per_class(X, y, X_test, supports, vote=vote)
    if vote == "margin":
        assert set(found) <= {"b", "d", "e"}
    none = predict_per_class(X, y, X_test, np.zeros_like(supports), vote=vote)
    assert set(none) == {Counter(sorted(y)).most_common(1)[0][0]}


def test_bad_input(problem):
    X, y, X_test, _, supports = problem
    with pytest.raises(ValueError, match="one row per class"):
        predict_per_class(X, y, X_test, supports[:4])
    with pytest.raises(ValueError, match="vote"):
        predict_per_class(X, y, X_test, supports, vote="loud")
