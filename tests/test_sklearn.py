"""The private names of scikit-learn, used as sparsieve uses them."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_selection import SelectKBest

import sparsieve
from sparsieve import _sklearn


def test_private_names_of_scikit_learn_are_imported_in_one_place():
    source = Path(sparsieve.__file__).parent
    private = re.compile(r"from sklearn[\w.]*\._\w+|from sklearn[\w.]* import [^\n]*(?<!\w)_\w")
    found = {path.name for path in source.rglob("*.py") if private.search(path.read_text("utf-8"))}
    assert found == {"_sklearn.py"}


def test_check_y_takes_several_outputs_and_names_the_estimator():
    y = _sklearn.check_y([[1, 2], [3, 4]], multi_output=True, estimator=SelectKBest())
    assert y.shape == (2, 2)
    with pytest.raises(ValueError, match="NaN"):
        _sklearn.check_y([1.0, np.nan], multi_output=True, estimator=SelectKBest())


def test_check_sample_weight_refuses_negative_weights_and_other_lengths():
    samples = np.broadcast_to(np.int8(0), (3, 1))
    weights = _sklearn.check_sample_weight(
        [1, 0, 2], samples, dtype=np.float64, ensure_non_negative=True
    )
    assert weights.dtype == np.float64
    assert weights.tolist() == [1, 0, 2]
    for wrong in ([1, -1, 2], [1, 2]):
        with pytest.raises(ValueError):
            _sklearn.check_sample_weight(wrong, samples, dtype=np.float64, ensure_non_negative=True)


def test_check_method_params_takes_the_rows_of_what_belongs_to_samples():
    taken = _sklearn.check_method_params(
        np.zeros((3, 2)), {"sample_weight": [1, 2, 3], "flag": True}, indices=np.array([0, 2])
    )
    assert list(taken["sample_weight"]) == [1, 3]
    assert taken["flag"] is True


def test_get_output_config_knows_set_output():
    selector = SelectKBest()
    assert _sklearn.get_output_config("transform", selector)["dense"] == "default"
    selector.set_output(transform="pandas")
    assert _sklearn.get_output_config("transform", selector)["dense"] == "pandas"


def test_clone_parametrized_copies_parameters():
    copied = _sklearn.clone_parametrized(SelectKBest(k=3))
    assert copied.k == 3


def test_num_samples_counts_rows():
    assert _sklearn.num_samples(np.zeros((4, 2))) == 4


def test_dir_lists_what_is_public():
    names = [name for name in dir(sparsieve) if not name.startswith("__")]
    assert sorted(names) == [name for name in sparsieve.__all__ if not name.startswith("__")]


def test_grown_tree_splits_codes_and_says_who_is_in_which_leaf():
    rng = np.random.default_rng(0)
    codes = np.asfortranarray(rng.integers(0, 8, (400, 3)).astype(np.uint8))
    codes[:50, 2] = 64
    y = np.where(codes[:, 1] > 3, 1.0, -1.0) + 3.0 * (codes[:, 2] == 64)
    y -= y.mean()
    how = {"n_bins": 65, "n_leaves": 4, "min_leaf": 5, "l2": 0.0, "n_threads": 1}
    counts, gaps = np.full(3, 8, dtype=np.uint32), np.array([False, False, True])
    given = (codes, counts, gaps, -y.astype(np.float32), np.ones(1, dtype=np.float32))
    tree = _sklearn.grown_tree(*given, min_gain=0.0, **how)
    assert sorted(set(tree.features.tolist())) == [1, 2]
    assert sorted(tree.samples.tolist()) == list(range(400))
    leaves = np.split(y[tree.samples], tree.starts[1:])
    assert len(leaves) == 4
    within = sum(float(((leaf - leaf.mean()) ** 2).sum()) for leaf in leaves)
    assert within < 1e-6
    whole = float((y**2).sum())
    assert tree.gains.sum() == pytest.approx(whole, rel=1e-5)
    assert len(_sklearn.grown_tree(*given, min_gain=1e9, **how).features) == 0
