"""Knockoffs with several copies, for data with several times as many samples as features."""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.stats import binomtest

COPIES = 5
SAMPLES_PER_FEATURE = 3
TRIALS = 20  # targets made up to test the copies
PLANTED = 10  # features that such a target depends on, at most
SIGN_LEVEL = 0.01
MAX_STEPS = 100


def knockoff_tests(
    X: np.ndarray, Y: np.ndarray, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare every column of X with Gaussian copies (Candès et al.; Gimenez and Zou).

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Standardised, several times as many samples as features.
    Y : ndarray of shape (n_samples, n_targets)
        Centred.
    seed : int

    Returns
    -------
    won : ndarray of bool of shape (n_features,)
        Whether the feature matters more to y than all of its copies.
    margins : ndarray of shape (n_features,)
        The largest importance of feature and copies, minus the median of the others.
    adjusted : ndarray of shape (n_features,)
        The smallest false discovery rate at which the feature is claimed.
    """
    rng = np.random.default_rng(seed)
    both = np.hstack([X, *gaussian_copies(X, COPIES, rng)])
    won, margins = _compared(both, Y, X.shape[1])
    share, trials = _tried(X, rng)
    expected = 1.0 / (COPIES + 1)
    if trials and binomtest(round(share * trials), trials, expected, "greater").pvalue < SIGN_LEVEL:
        raise ValueError(
            f"knockoffs do not hold on these data: features without influence beat their copies in "
            f"{100 * share:.0f} % of {trials:,} trials instead of {100 * expected:.0f} %, because "
            'normal copies do not behave like the features; use claim="conditional"'
        )
    return won, margins, _adjusted(won, margins, COPIES)


def check_knockoff_size(n_samples: int, n_features: int) -> None:
    """Refuse too few samples for copies of so many features."""
    if n_samples < SAMPLES_PER_FEATURE * n_features:
        raise ValueError(
            f'claim="knockoffs" needs at least {SAMPLES_PER_FEATURE} times as many samples as '
            f"features, got {n_samples:,} samples and {n_features:,} features; use "
            'claim="conditional"'
        )


def gaussian_copies(
    X: np.ndarray, n_copies: int, rng: np.random.Generator, distances: np.ndarray | None = None
) -> list[np.ndarray]:
    """Copies that are correlated with other features as the feature is, and little with itself."""
    n, d = X.shape
    sigma = X.T @ X / n
    s = _distances(sigma, n_copies) if distances is None else distances
    solved = linalg.solve(sigma, np.diag(s), assume_a="pos")  # Sigma^-1 D
    mean = X - X @ solved
    common = np.diag(s) * (n_copies + 1) / n_copies - s[:, None] * solved
    values, vectors = np.linalg.eigh((common + common.T) / 2)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    own = rng.standard_normal((n_copies, n, d)) * np.sqrt(s)
    own -= own.mean(axis=0)
    shared = rng.standard_normal((n, d)) @ root.T
    return [mean + shared + one for one in own]


def _distances(sigma: np.ndarray, n_copies: int) -> np.ndarray:
    """The diagonal D that makes copies hardest to reconstruct (MVR), by descent on log D."""
    m, d = n_copies, len(sigma)
    least = float(np.linalg.eigvalsh(sigma)[0])
    if least <= 1e-8:
        raise ValueError("knockoffs need features that are not linear combinations of each other")
    log_s = np.full(d, np.log(0.5 * min(1.0, least * (m + 1) / m)))

    def loss(log_s):
        s = np.exp(log_s)
        try:
            factor = linalg.cho_factor((m + 1) * sigma - m * np.diag(s))
        except linalg.LinAlgError:
            return np.inf, None
        inverse = linalg.cho_solve(factor, np.eye(d))
        value = m * (1 / s).sum() + np.trace(inverse)
        return value, s * (-m / s**2 + m * (inverse**2).sum(axis=0))

    value, slope = loss(log_s)
    step = 1.0 / max(np.abs(slope).max(), 1e-12)
    for _ in range(MAX_STEPS):
        trial, new_slope = loss(log_s - step * slope)
        if trial < value:
            gain, log_s, value, slope = value - trial, log_s - step * slope, trial, new_slope
            step *= 1.5
            if gain < 1e-6 * value:
                break
        else:
            step /= 3.0
    return np.exp(log_s)


def _compared(both: np.ndarray, Y: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """(whether the feature beats its copies, by how much) with the weights of a lasso."""
    from sklearn.linear_model import Lasso, MultiTaskLasso

    n = len(both)
    # A quarter of the level that keeps nearly all noise out: the comparison needs some of it.
    alpha = 0.25 * np.sqrt((Y**2).sum() / n) * np.sqrt(2 * np.log(both.shape[1]) / n)
    if Y.shape[1] == 1:
        weights = Lasso(alpha, fit_intercept=False, tol=1e-3).fit(both, Y[:, 0]).coef_[None]
    else:
        weights = MultiTaskLasso(alpha, fit_intercept=False, tol=1e-3).fit(both, Y).coef_
    sizes = np.sort(np.linalg.norm(weights, axis=0).reshape(-1, d), axis=0)
    own = np.linalg.norm(weights[:, :d], axis=0)
    margins = sizes[-1] - np.median(sizes[:-1], axis=0)
    return (own >= sizes[-1]) & (margins > 0), margins


def _tried(X: np.ndarray, rng: np.random.Generator) -> tuple[float, int]:
    """(share, number) of features without influence that beat their copies on made-up targets.

    The features that a target is made of pull in one direction, which is hardest for copies:
    what a model misses of them is then like their neighbours.
    """
    (n, d), won, total = X.shape, 0, 0
    distances = _distances(X.T @ X / n, COPIES)
    for _ in range(TRIALS):
        planted = rng.choice(d, size=max(1, min(PLANTED, d // 4)), replace=False)
        together = np.linalg.eigh(X[:, planted].T @ X[:, planted])[1][:, -1]
        signal = X[:, planted] @ np.where(together < 0, -1.0, 1.0)
        made = signal + signal.std() * rng.standard_normal(n)
        both = np.hstack([X, *gaussian_copies(X, COPIES, rng, distances)])
        beats, margins = _compared(both, (made - made.mean())[:, None], d)
        null = np.setdiff1d(np.flatnonzero(margins > 0), planted)
        # Those of the largest margins would be claimed; their signs are as random as any.
        null = null[np.argsort(-margins[null], kind="stable")][: len(planted)]
        won, total = won + int(beats[null].sum()), total + len(null)
    return (won / total if total else 0.0), total


def _adjusted(won: np.ndarray, margins: np.ndarray, n_copies: int) -> np.ndarray:
    """Smallest level of each feature: (1 + losers) / copies / winners, at its margin or below."""
    order = np.argsort(-margins, kind="stable")
    winners, losers = np.cumsum(won[order]), np.cumsum(~won[order] & (margins[order] > 0))
    ratio = np.minimum((1 + losers) / n_copies / np.maximum(winners, 1), 1.0)
    adjusted = np.ones(len(won))
    adjusted[order] = np.minimum.accumulate(ratio[::-1])[::-1]
    adjusted[~won] = 1.0
    return adjusted
