import json
import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics
from scipy import sparse

from sparsieve.scoring import (
    classification_scores,
    recovery_at,
    redundancy_rate,
    sparsity_level,
)
from sparsieve.scoring.resources import Measured


def test_redundancy_is_the_sum_over_pairs(rng):
    X = rng.normal(size=(30, 6)) @ rng.normal(size=(6, 6))
    pairs = [np.corrcoef(X[:, i], X[:, j])[0, 1] for i in range(6) for j in range(i)]
    rate = redundancy_rate(X)
    assert rate.signed == pytest.approx(np.sum(pairs) / 30)
    assert rate.absolute == pytest.approx(np.sum(np.abs(pairs)) / 30)
    assert redundancy_rate(sparse.csr_array(X)) == pytest.approx(rate)


def test_redundancy_of_many_features(rng):
    X = rng.normal(size=(20, 600)) + rng.normal(size=(20, 1))
    correlation = np.corrcoef(X.T)[np.tril_indices(600, -1)]
    expected = (correlation.sum() / (600 * 599), np.abs(correlation).sum() / (600 * 599))
    assert redundancy_rate(X) == pytest.approx(expected)


def test_redundancy_of_copies_constants_and_single_features(rng):
    x = rng.normal(size=20)
    assert redundancy_rate(np.column_stack([x, x, x])).signed == pytest.approx(0.5)
    opposed = redundancy_rate(np.column_stack([x, -x]))
    assert opposed == pytest.approx((-0.5, 0.5))
    for constant in (np.zeros(20), np.full(20, 1e8 + 0.1)):
        assert redundancy_rate(np.column_stack([x, constant])) == pytest.approx((0, 0))
    assert redundancy_rate(x[:, None]) == (0, 0)


def test_redundancy_survives_a_large_offset(rng):
    X = rng.normal(size=(50, 3))
    assert redundancy_rate(X + 1e7) == pytest.approx(redundancy_rate(X), abs=1e-6)


@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_scores_are_those_of_scikit_learn(rng, n_classes):
    theirs = {
        "accuracy": sklearn.metrics.accuracy_score,
        "balanced_accuracy": sklearn.metrics.balanced_accuracy_score,
        "mcc": sklearn.metrics.matthews_corrcoef,
        "f1": lambda t, p: sklearn.metrics.f1_score(t, p, average="macro", zero_division=0),
    }
    for _ in range(20):
        true = rng.integers(n_classes, size=25)
        predicted = np.where(rng.random(25) < 0.6, true, rng.integers(n_classes, size=25))
        ours = classification_scores(true, predicted, list(theirs))
        for name, score in theirs.items():
            assert ours[name] == pytest.approx(score(true, predicted)), name


def test_scores_of_constant_predictions_and_unseen_labels():
    scores = classification_scores([0, 0, 1, 1], [0, 0, 0, 0], ["accuracy", "mcc", "f1"])
    assert scores == pytest.approx({"accuracy": 0.5, "mcc": 0.0, "f1": 1 / 3})
    assert classification_scores(["a", "a"], ["a", "b"], ["accuracy"]) == {"accuracy": 0.5}
    with pytest.raises(ValueError, match="same samples"):
        classification_scores([0, 1], [0, 1, 1])


def test_recovery():
    ranking = [2, 4, 1, 3, 5]
    assert recovery_at(ranking, [0, 1], 2) == (0.5, 0.5)
    assert recovery_at(ranking, [0, 2], 2) == (1, 1)
    assert recovery_at(ranking, [4], 4) == (0, 0)
    for beyond in (len(ranking), -1):
        with pytest.raises(ValueError, match=f"relevant holds column {beyond}, but there are"):
            recovery_at(ranking, [0, beyond], 2)
    with pytest.raises(ValueError, match="k=6 is larger"):
        recovery_at(ranking, [0], 6)


def test_sparsity_level_depends_on_the_tolerance():
    coef = np.array([[3.0, 1e-4, 0.0], [4.0, 0.0, 0.0]])
    assert [sparsity_level(coef, tolerance) for tolerance in (0, 1e-3, 5)] == [2, 1, 0]
    assert sparsity_level(coef[0]) == 2


# In a process of its own: what the C library keeps of freed memory depends on all tests before.
GARBAGE_OF_EARLIER = """
def needs_and_collects():
    gc.collect()
    return np.ones(2**22).sum()

garbage = [np.ones(2**24)]
garbage.append(garbage)  # only the collector can free it
del garbage
measured = [measure(needs_and_collects)]
"""
THE_CALL_ONLY = """
measured = [measure(lambda: np.ones(2**22).sum()), measure(lambda: 1)]
"""


def _measured_alone(code):
    code = "import gc, json\nimport numpy as np\nfrom sparsieve.scoring import measure\n" + code
    code += "print(json.dumps([[float(m.value), *m[1:]] for m in measured]))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    return [Measured(*numbers) for numbers in json.loads(done.stdout)]


@pytest.mark.slow
def test_garbage_of_earlier_does_not_hide_the_memory_of_a_call():
    (measured,) = _measured_alone(GARBAGE_OF_EARLIER)
    if measured.memory_source == "VmHWM":
        assert 31 < measured.peak_mib < 40


@pytest.mark.slow
def test_measure_sees_the_memory_of_the_call_only():
    big, small = _measured_alone(THE_CALL_ONLY)
    assert big.value == 2**22
    assert big.seconds > 0
    if big.memory_source == "VmHWM":
        assert 31 < big.peak_mib < 40
        assert small.peak_mib < 8
