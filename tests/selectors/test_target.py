import numpy as np
import pytest

from sparsieve.selectors.target import encode_target


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
    assert encode(counts).task == "classification"
    assert encode(counts, task="regression").task == "regression"


def test_numbers_that_hardly_look_like_classes_get_a_hint():
    with pytest.warns(UserWarning, match='read as 30 classes; pass task="regression"'):
        assert encode(np.arange(90) % 30).task == "classification"


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
