import numpy as np
import pytest

from sparsieve.selectors.target import decide_task, encode_target


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
