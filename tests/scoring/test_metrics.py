import json
import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics

from sparsieve.scoring import classification_scores
from sparsieve.scoring.outcomes import Measured


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
