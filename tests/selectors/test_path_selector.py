"""Selectors with a penalty of any strength agree on defaults, signatures and paths."""

import inspect

import numpy as np
import pytest

from sparsieve import (
    L21Selector,
    LikelihoodL21Selector,
    LInfSelector,
    RFSSelector,
)
from sparsieve.selectors.groups import PenalisedChoices

KINDS = (L21Selector, LInfSelector, RFSSelector, LikelihoodL21Selector)


@pytest.fixture
def dependent(rng):
    """Three columns of rank two, two of rank two, and one alone."""
    X = rng.standard_normal((60, 6))
    X[:, 2] = X[:, 0] - X[:, 1]
    y = (X[:, 0] + X[:, 3] + rng.standard_normal(60) > 0).astype(int)
    return X, y


def test_paths_have_one_signature():
    first, *others = (dict(inspect.signature(kind.path).parameters) for kind in KINDS)
    for other in others:
        assert {name: other[name].default for name in first} == {
            name: first[name].default for name in first
        }
        assert all(other[name].kind == first[name].kind for name in first)
    assert first["alphas"].kind is inspect.Parameter.KEYWORD_ONLY
    assert first["n_alphas"].default == 50


@pytest.mark.parametrize("kind", [L21Selector, LikelihoodL21Selector])
def test_groups_weigh_the_root_of_their_rank(kind, dependent):
    X, y = dependent
    groups = list("aaabbc")
    ranks = [np.linalg.matrix_rank(X[:, np.array(groups) == one]) for one in "abc"]
    assert ranks == [2, 2, 1]
    given = kind(feature_groups=groups, group_weights=np.sqrt(ranks)).path(X, y, n_alphas=3)
    default = kind(feature_groups=groups).path(X, y, n_alphas=3)
    np.testing.assert_allclose(default.strength, given.strength, rtol=1e-12)
    np.testing.assert_allclose(default.objective, given.objective, rtol=1e-12)


def test_every_kind_of_penalty_takes_its_choices_from_one_place(dependent):
    X, y = dependent
    for kind in (L21Selector, LikelihoodL21Selector):
        selector = kind(feature_groups=list("aaabbc"), never_keep=[5])
        data = selector._training_data(X, y, None)
        found = PenalisedChoices.from_selector(selector, data, data.design, np.zeros(6, dtype=bool))
        assert [some.tolist() for some in found.columns] == [[0, 1, 2], [3, 4], []]
        np.testing.assert_allclose(found.weights[:2] ** 2, [2, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_a_path_begins_where_nothing_is_kept(kind, dependent):
    X, y = dependent
    path = kind().path(X, y, n_alphas=4, ratio=0.1)
    assert path.n_features[0] == 0
    around = kind().path(X, y, alphas=path.strength[0] * np.array([1.0001, 0.99, 0.7]))
    assert around.n_features[1] == 0
    # Where residuals are zero there are many dual points, and one of them is a bound.
    assert around.n_features[3 if kind is RFSSelector else 2] > 0
    with pytest.raises(ValueError, match="alphas must be in decreasing order"):
        kind().path(X, y, alphas=[1.0, 2.0])
