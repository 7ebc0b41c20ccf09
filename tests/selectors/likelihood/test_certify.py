"""Proofs of LikelihoodForwardSelector, against all subsets."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sparsieve import LikelihoodForwardSelector


def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6))
    f = X[:, 1] - X[:, 4]
    y = np.empty(60, dtype=[("event", "?"), ("time", "f8")])
    y["time"], y["event"] = rng.exponential(np.exp(-f)), rng.random(60) < 0.7
    return X, {"classes": f > 0.3, "counts": rng.poisson(np.exp(f)), "survival": y}


@pytest.mark.parametrize("kind", ["classes", "counts", "survival"])
@pytest.mark.parametrize("always", [None, [0]])
def test_bounds_hold_for_every_subset(kind, always):
    X, targets = data()
    task = "counts" if kind == "counts" else "auto"
    selector = LikelihoodForwardSelector(3, ridge=1.0, always_keep=always, task=task)
    certificate = selector.fit(X, targets[kind]).certify(X, targets[kind])
    assert certificate.n_features.tolist() == [1, 2, 3]
    assert selector.certificate_ is certificate
    differences = (
        certificate.objective
        - np.asarray(selector.path_.objective)[certificate.n_features - len(always or [])]
    )
    np.testing.assert_allclose(differences, differences[0], rtol=1e-6, atol=1e-9)
    for k, bound, objective in zip(
        certificate.n_features, certificate.lower_bound, certificate.objective, strict=True
    ):
        values = []
        for S in itertools.combinations(range(6), int(k)):
            if always and 0 not in S:
                continue
            others = [j for j in range(6) if j not in S]
            fit = LikelihoodForwardSelector(
                int(k), ridge=1.0, always_keep=always, never_keep=others, task=task, swaps=0
            ).fit(X, targets[kind])
            values.append(fit.objective_ + differences[0])
        assert bound <= min(values) + 1e-9
        assert objective >= min(values) - 1e-9
    assert ((certificate.share > 0.5) & (certificate.share <= 1)).all()
    assert (certificate.gap >= 0).all()


def test_refusals():
    X, targets = data()
    y = targets["survival"]
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
    X, targets = data()
    y, strata = targets["survival"], np.arange(60) % 2
    selector = LikelihoodForwardSelector(2).fit(X, y, strata=strata)
    assert selector.certify(X, y, strata=strata).n_features.tolist() == [1, 2]
    with pytest.raises(ValueError, match="differ from what the selector was fitted on"):
        selector.certify(X, y)
