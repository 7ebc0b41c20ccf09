"""What SECURITY.md says of skops."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from sparsieve import L20Selector, MPMClassifier

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
    assert untrusted == ["sparsieve.selectors.minimax.mpm.MPMClassifier"]
    np.testing.assert_array_equal(
        skops.loads(data, trusted=untrusted).predict(X), classifier.predict(X)
    )
