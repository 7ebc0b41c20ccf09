"""The types that other libraries have to trust, without any of these libraries."""

import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification

import sparsieve
from sparsieve import all_selectors, skops_trusted_types

X, Y = make_classification(40, 6, random_state=1)


def inside(value, seen):
    """Every object of this package within a value."""
    if id(value) in seen or isinstance(value, np.ndarray | type):
        return
    seen[id(value)] = value
    if type(value).__module__.startswith("sparsieve."):
        yield f"{type(value).__module__}.{type(value).__qualname__}"
    if isinstance(value, dict):
        parts = [*value, *value.values()]
    elif isinstance(value, list | tuple):
        parts = list(value)
    elif type(value).__module__.startswith("sparsieve.") or isinstance(value, BaseEstimator):
        parts = list(getattr(value, "__dict__", {}).values())
    else:
        parts = []
    for part in parts:
        yield from inside(part, seen)


@pytest.mark.parametrize("name", ["L20Selector", "L0MKLSelector", "LikelihoodForwardSelector"])
def test_everything_inside_a_fitted_selector_is_listed(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector = all_selectors()[name](2).fit(np.abs(X), Y)
    assert set(inside(selector, {})) <= set(skops_trusted_types())


def test_a_model_on_selected_features_is_listed():
    model = sparsieve.select(X, Y, k=2, prepare="impute", check=False).model
    found = set(inside(model, {}))
    assert "sparsieve.preprocessing.kept_columns.KeptColumns" in found
    assert found <= set(skops_trusted_types())


def test_only_names_of_classes_that_exist():
    from importlib import import_module

    for name in skops_trusted_types():
        module, _, cls = name.rpartition(".")
        assert isinstance(getattr(import_module(module), cls), type)
