"""Boosted trees come back from files, and forged ones do not lead beyond their tables."""

import copy
from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline

import sparsieve
from sparsieve import SavedFileError, SelectorCV, select

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 5))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)


@pytest.mark.parametrize("kind", [HistGradientBoostingClassifier, HistGradientBoostingRegressor])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_trees_predict_as_before(tmp_path, kind, n_classes):
    y = (Y + (n_classes == 3) * (X[:, 2] > 0)).astype(int)
    for model in (kind(max_iter=8), make_pipeline(kind(max_iter=8))):
        search = SelectorCV(estimator=model, ks=[2], cv=2, n_repeats=1).fit(X, y)
        sparsieve.save(search, tmp_path / "trees.sparsieve")
        again = sparsieve.load(tmp_path / "trees.sparsieve")
        np.testing.assert_array_equal(again.predict(X), search.predict(X))


def test_what_select_finds_by_trees_is_saved(tmp_path):
    selected = select(X, Y, k=2, check=False)
    assert selected.relation.choice == "trees"
    assert sorted(np.flatnonzero(selected.selector.support_)) == [0, 1]
    sparsieve.save(selected, tmp_path / "selected.sparsieve")
    again = sparsieve.load(tmp_path / "selected.sparsieve")
    np.testing.assert_array_equal(again.predict_proba(X), selected.predict_proba(X))


@cache
def fitted():
    """A search with a small model of trees."""
    model = HistGradientBoostingClassifier(max_iter=3, random_state=0)
    return SelectorCV(estimator=model, ks=[5], cv=2, n_repeats=1).fit(X, Y)


def forged(change):
    """A fitted search, one of the trees of whose model was changed."""
    search = copy.deepcopy(fitted())
    tree = search.estimator_._predictors[1][0]
    assert len(tree.nodes) > 3
    change(search.estimator_, tree)
    return search


def nodes_set(field, value, place=0):
    def change(_, tree):
        tree.nodes = tree.nodes.copy()
        tree.nodes[field][place] = value

    return change


def nodes_made(make):
    def change(_, tree):
        tree.nodes = make(tree.nodes)

    return change


def own_child(_, tree):
    tree.nodes = tree.nodes.copy()
    last = np.flatnonzero(tree.nodes["is_leaf"] == 0)[-1]
    tree.nodes["left"][last] = last


FORGED = {
    "a child beyond the table": nodes_set("left", 10**6),
    "a circle": nodes_set("right", 0),
    "a node as its own child": own_child,
    "a column that is not there": nodes_set("feature_idx", 5),
    "a column before the first": nodes_set("feature_idx", -1),
    "a split by categories": nodes_set("is_categorical", 1),
    "no nodes": nodes_made(lambda nodes: nodes[:0]),
    "two dimensions": nodes_made(lambda nodes: nodes[None, :]),
    "fewer nodes": nodes_made(lambda nodes: nodes[:-1]),
    "no list of rounds": lambda model, _: setattr(model, "_predictors", {}),
    "no lists in rounds": lambda model, _: setattr(model, "_predictors", [1]),
    "no number of columns": lambda model, _: setattr(model, "n_features_in_", 5.0),
    "fewer columns": lambda model, _: setattr(model, "n_features_in_", 1),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_trees_are_refused(tmp_path, name):
    sparsieve.save(forged(FORGED[name]), tmp_path / "forged.sparsieve")
    with pytest.raises(SavedFileError, match="leads nowhere"):
        sparsieve.load(tmp_path / "forged.sparsieve")


def test_forged_trees_in_an_array_of_objects_are_refused(tmp_path):
    search = forged(lambda model, tree: None)
    search.hidden_ = np.array([forged(FORGED["a circle"]).estimator_, None], dtype=object)
    sparsieve.save(search, tmp_path / "forged.sparsieve")
    with pytest.raises(SavedFileError, match="leads nowhere"):
        sparsieve.load(tmp_path / "forged.sparsieve")
