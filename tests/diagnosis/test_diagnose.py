import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from sparsieve import diagnose
from sparsieve.datasets.synthetic.classes import make_shared_features
from sparsieve.datasets.synthetic.targets import make_nonlinear_additive


def kinds(diagnosis):
    return [finding.kind for finding in diagnosis]


@pytest.mark.parametrize("as_sparse", [False, True])
def test_what_was_planted_is_found(rng, as_sparse):
    X = rng.standard_normal((60, 30))
    y = np.arange(60) % 3
    rng.shuffle(y)
    X[:, 4] = np.array([5.0, -3.0, 1.0])[y] + rng.random(60)
    X[:, 7] = 100 + np.arange(60)
    X[:, 9] = 2.5
    X[:, 11] = -3 * X[:, 2] + 1e-3 * rng.standard_normal(60)
    X[:, 12] = X[:, 3]
    names = [f"f{j}" for j in range(30)]
    found = diagnose(sparse.csr_matrix(X) if as_sparse else X, y, feature_names=names)
    assert kinds(found) == ["leak", "id", "copy", "constant"]
    leak, numbers, copy, constant = found
    assert (
        str(leak)
        == "f4 alone predicts the target perfectly. Possible leak: was it known before the outcome?"
    )
    assert numbers.features == (7,)
    assert copy.features == (11, 12)
    assert str(copy).startswith(
        "f11 is nearly a copy of f2 (absolute correlation above 0.999), and"
    )
    assert str(constant) == "f9 is constant and carries no information"


def test_a_copy_of_a_target_of_numbers(rng):
    X = pd.DataFrame(rng.standard_normal((50, 4)), columns=list("abcd"))
    y = rng.standard_normal((50, 2))
    X["b"] = 7 - 2 * y[:, 1] + 1e-3 * rng.standard_normal(50)
    found = diagnose(X, y)
    assert kinds(found) == ["leak"]
    assert (
        str(found)
        == "b alone predicts the target perfectly. Possible leak: was it known before the outcome?"
    )


def test_several_at_once_are_counted(rng):
    y = np.arange(40) % 2
    X = y[:, None] + 0.1 * rng.random((40, 5))
    assert str(diagnose(X, y)) == (
        "column 0, column 1, column 2 and 2 more alone predict the target perfectly. Possible "
        "leak: were they known before the outcome?"
    )


@pytest.mark.thinned(3)
@pytest.mark.parametrize("shape", [(8, 3000), (20, 20_000), (60, 300), (300, 10)])
@pytest.mark.parametrize("kind", ["two", "four", "numbers"])
@pytest.mark.long("many draws of noise, or chance would not show")
def test_noise_raises_no_alarm(shape, kind):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal(shape)
        n_samples = shape[0]
        y = {
            "two": np.arange(n_samples) % 2,
            "four": np.arange(n_samples) % 4,
            "numbers": rng.standard_normal(n_samples),
        }[kind]
        assert str(diagnose(X, y)) == "Nothing unusual was found."


@pytest.mark.parametrize("load", [load_breast_cancer, load_iris, load_wine, load_diabetes])
def test_ordinary_data_raise_no_alarm(load):
    X, y = load(return_X_y=True)
    found = kinds(diagnose(X, y))
    assert found == []


def test_linear_data_raise_no_alarm():
    data = make_shared_features(200, 100, signal=0.5, random_state=0)
    assert kinds(diagnose(data.X, data.y)) == []


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_radial_data_name_a_selector_that_sees_them(task):
    data = make_nonlinear_additive(400, 100, task=task, random_state=1)
    (found,) = diagnose(data.X, data.y)
    assert found.kind == "nonlinear"
    assert "linear selection predicts no better than a guess" in str(found)
    assert str(found).endswith("use BoostedTreesSelector")
    assert kinds(diagnose(data.X, data.y, try_models=False)) == []


def test_exclusive_or_of_two_features(rng):
    X = rng.standard_normal((400, 40))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    (found,) = diagnose(X, y)
    assert str(found).endswith("use BoostedTreesSelector")


def test_madelon():
    from sparsieve.datasets import load_dataset

    try:
        data = load_dataset("madelon")
    except FileNotFoundError:
        pytest.skip("madelon is not here")
    (found,) = diagnose(data.X, data.y)
    assert str(found).endswith("use BoostedTreesSelector")


def test_missing_values_and_bad_shapes(rng):
    X = rng.standard_normal((50, 5))
    X[:, 1] = np.arange(50) % 2
    X[3, 0] = np.nan
    assert kinds(diagnose(X, np.arange(50) % 2)) == ["leak"]
    with pytest.raises(ValueError, match="y has 3 values"):
        diagnose(X, [0, 1, 0])
    with pytest.raises(ValueError, match="feature_names holds 1 names for 5 features"):
        diagnose(X, np.arange(50) % 2, feature_names=["a"])


@pytest.mark.parametrize("scale", [0.0, 1e200, 1e-300])
def test_columns_of_which_none_can_be_compared(rng, scale):
    found = kinds(diagnose(scale * rng.standard_normal((30, 4)), np.arange(30) % 2))
    assert found == (["constant"] if scale == 0.0 else [])


@pytest.mark.parametrize(
    ("n_copies", "words"), [(1, ""), (2, "1 more column has a"), (3, "2 more columns have")]
)
def test_copies_of_columns_are_counted(n_copies, words):
    X = np.random.default_rng(0).normal(size=(60, 5))
    found = diagnose(np.hstack([X, X[:, :n_copies]]), (X[:, 0] > 0).astype(int))
    said = " ".join(one.sentence for one in found.findings if one.kind == "copy")
    assert "column 5 is a copy of column 0" in said
    assert f"and {words} duplicate" in said if words else "more column" not in said
    assert said.endswith(f"by default, at most one of {'each' if words else 'them'} is kept")
