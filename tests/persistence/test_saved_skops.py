"""What SECURITY.md says of skops."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification

import sparsieve
from sparsieve import L20Selector, MPMClassifier, all_selectors, skops_trusted_types

skops = pytest.importorskip("skops.io")
X, Y = make_classification(40, 6, random_state=1)


def test_selectors_need_trust_in_what_they_keep_inside():
    selector = L20Selector(2).fit(X, Y)
    data = skops.dumps(selector)
    untrusted = skops.get_untrusted_types(data=data)
    assert "sparsieve.validation.columns.FixedColumns" in untrusted
    assert all(name.startswith("sparsieve.") or name == "numpy.dtype" for name in untrusted)
    loaded = skops.loads(data, trusted=untrusted)
    np.testing.assert_array_equal(loaded.transform(X), selector.transform(X))
    np.testing.assert_array_equal(loaded.at(1).coef_, selector.at(1).coef_)


def test_a_classifier_needs_trust_in_nothing_but_itself():
    classifier = MPMClassifier().fit(X, Y)
    data = skops.dumps(classifier)
    untrusted = skops.get_untrusted_types(data=data)
    assert untrusted == ["sparsieve.papers.l0_mpm.classifiers.MPMClassifier"]
    np.testing.assert_array_equal(
        skops.loads(data, trusted=untrusted).predict(X), classifier.predict(X)
    )


@pytest.mark.parametrize("name", all_selectors())
def test_the_published_list_is_enough(name):
    selector = all_selectors()[name]()
    few = {"n_subsamples": 4, "max_rounds": 4, "n_repeats": 1, "cv": 2}
    known = selector.get_params(deep=False)
    selector.set_params(**{key: value for key, value in few.items() if key in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        selector.fit(np.abs(X), Y)
    data = skops.dumps(selector)
    asked = skops.get_untrusted_types(data=data)
    assert set(asked) <= set(skops_trusted_types())
    loaded = skops.loads(data, trusted=asked)
    np.testing.assert_array_equal(loaded.transform(np.abs(X)), selector.transform(np.abs(X)))


def test_a_model_on_selected_features_needs_no_more():
    model = sparsieve.select(X, Y, k=2, prepare="impute", check=False).model
    data = skops.dumps(model)
    asked = skops.get_untrusted_types(data=data)
    assert set(asked) <= set(skops_trusted_types())
    np.testing.assert_array_equal(skops.loads(data, trusted=asked).predict(X), model.predict(X))
