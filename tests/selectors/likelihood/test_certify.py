"""What LikelihoodForwardSelector refuses to prove."""

from __future__ import annotations

import numpy as np
import pytest

from sparsieve import LikelihoodForwardSelector


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    f = X[:, 1] - X[:, 4]
    y = np.empty(60, dtype=[("event", "?"), ("time", "f8")])
    y["time"], y["event"] = rng.exponential(np.exp(-f)), rng.random(60) < 0.7
    return X, y


def test_refusals():
    X, y = data()
    selector = LikelihoodForwardSelector(2).fit(X, y)
    other = y.copy()
    other["time"] = other["time"][::-1]
    with pytest.raises(ValueError, match="differ from what the selector was fitted on"):
        selector.certify(X, other)
    with pytest.raises(ValueError, match="exceeds the 2 features"):
        selector.certify(X, y, n_features=3)
    with pytest.raises(ValueError, match="without a ridge"):
        LikelihoodForwardSelector(1, ridge=0).fit(X, y).certify(X, y)


def test_strata_count_as_data():
    X, y = data()
    strata = np.arange(60) % 2
    selector = LikelihoodForwardSelector(2).fit(X, y, strata=strata)
    assert selector.certify(X, y, strata=strata).n_features.tolist() == [1, 2]
    with pytest.raises(ValueError, match="differ from what the selector was fitted on"):
        selector.certify(X, y)
