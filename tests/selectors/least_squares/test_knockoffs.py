"""Five-copy knockoffs: the copies, their level, and that bad copies are refused."""

import numpy as np
import pytest

from sparsieve import FDRSelector
from sparsieve.selectors.least_squares import knockoffs
from sparsieve.selectors.least_squares.knockoffs import gaussian_copies, knockoff_tests


def correlated(rng, n=300, d=20, rho=0.5):
    X = rng.standard_normal((n, d))
    for j in range(1, d):
        X[:, j] = rho * X[:, j - 1] + np.sqrt(1 - rho**2) * X[:, j]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_copies_have_the_moments_they_must_have(rng):
    """Swapping a feature with any of its copies changes no second moment."""
    X = correlated(rng, 20_000, 6)
    copies = gaussian_copies(X, 3, rng)
    sigma = X.T @ X / len(X)
    off = ~np.eye(6, dtype=bool)
    for i, copy in enumerate(copies):
        np.testing.assert_allclose(copy.T @ copy / len(X), sigma, atol=0.04)
        for other in (X, *copies[:i]):
            cross = copy.T @ other / len(X)
            np.testing.assert_allclose(cross[off], sigma[off], atol=0.04)
            assert (np.diag(cross) < 0.9).all()


def test_adjusted_levels_by_hand():
    won = np.array([True, True, False, True, True])
    margins = np.array([5.0, 4.0, 3.0, 2.0, 0.5])
    found = knockoffs._adjusted(won, margins, 5)
    # (1 + losers) / 5 / winners at margins 5, 4, 3, 2, 0.5: 0.2, 0.1, 0.2, 2 / 15, 0.1
    np.testing.assert_allclose(found, [0.1, 0.1, 1.0, 0.1, 0.1])


def test_claims_and_their_level():
    shares, found = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = correlated(rng)
        y = 0.5 * X[:, [2, 7, 12, 17]].sum(axis=1) + rng.standard_normal(300)
        kept = set(FDRSelector(claim="knockoffs").fit(X, y).get_support(indices=True))
        shares.append(len(kept - {2, 7, 12, 17}) / max(1, len(kept)))
        found.append(len(kept & {2, 7, 12, 17}) / 4)
    assert np.mean(shares) < 0.2  # twice the level
    assert np.mean(found) > 0.6


def test_several_classes(rng):
    X = correlated(rng)
    y = np.digitize(2 * X[:, [2, 7, 12, 17]].sum(axis=1) + rng.standard_normal(300), [-1, 1])
    kept = FDRSelector(0.2, claim="knockoffs").fit(X, y)
    assert kept.support_[[2, 7, 12, 17]].sum() >= 3
    assert "about normally distributed" in kept.verdict_


def test_copies_that_do_not_follow_the_features_are_refused(rng, monkeypatch):
    X = correlated(rng, rho=0.9)
    y = X[:, 3] + rng.standard_normal(300)

    def unlike(X, n_copies, rng, distances=None):
        return list(rng.standard_normal((n_copies, *X.shape)))

    monkeypatch.setattr(knockoffs, "gaussian_copies", unlike)
    with pytest.raises(ValueError, match="knockoffs do not hold on these data: features without"):
        knockoff_tests(X, (y - y.mean())[:, None])


def test_refused_and_empty(rng):
    X = correlated(rng)
    with pytest.raises(ValueError, match="at least 3 times as many samples as features, got 50"):
        FDRSelector(claim="knockoffs").fit(X[:50], rng.standard_normal(50))
    empty = FDRSelector(claim="knockoffs").fit(X, rng.standard_normal(300))
    assert not empty.support_.any()
    assert "The smallest false discovery rate at which a feature could be claimed" in empty.verdict_
    X[:, 0] = X[:, 1] + X[:, 2]
    with pytest.raises(ValueError, match="not linear combinations of each other"):
        knockoff_tests(X, rng.standard_normal((300, 1)))
