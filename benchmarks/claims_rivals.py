"""Other methods that select features with a promise, on the designs of :mod:`benchmarks.claims`."""

from __future__ import annotations

from benchmarks import common  # noqa: F401
from benchmarks.claims_designs import clipped

import numpy as np  # isort: skip

COPIES = 5  # of every column


def stability(X, y, level):
    """``StabilitySelection`` with one false selection expected."""
    from sparsieve import StabilitySelection

    return StabilitySelection("ridge-forward").fit(X, y).get_support(indices=True)


def shadows(X, y, level):
    """``ShadowSelector`` of a small forest."""
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    from sparsieve import ShadowSelector

    forest = ExtraTreesRegressor if y.dtype.kind == "f" else ExtraTreesClassifier
    model = forest(20, max_depth=5, random_state=0)
    return ShadowSelector(model, max_rounds=60).fit(X, y).get_support(indices=True)


def knockpy(X, y, level):
    """MVR knockoffs with the covariance of Ledoit and Wolf."""
    from knockpy import KnockoffFilter

    filtered = KnockoffFilter(ksampler="gaussian", fstat="lasso", knockoff_kwargs={"method": "mvr"})
    kept = filtered.forward(X=clipped(X), y=y.astype(float), fdr=level, shrinkage="ledoitwolf")
    return np.flatnonzero(kept)


def trex(X, y, level):
    """The T-Rex selector with its defaults."""
    from trexselector import trex as select

    Z = X - X.mean(axis=0)
    Z /= np.where(Z.std(axis=0) > 0, Z.std(axis=0), 1.0)
    found = select(Z, y.astype(float), tFDR=level, verbose=False, seed=0)
    return np.asarray(found["selected_var"], dtype=int)


def factors(X, y, level):
    """Knockoffs from a learnt factor model, judged by a lasso."""
    Z, rng = clipped(X), np.random.default_rng(0)
    copies = factor_copies(Z, rng)
    won, margins = _compared(np.hstack((Z, *copies)), (y - y.mean())[:, None], Z.shape[1])
    return np.flatnonzero(_adjusted(won, margins, COPIES) <= level)


def factor_copies(Z, rng):
    """Copies of columns that are a few common factors and noise of their own.

    Given the columns, factors are normal; they are drawn once, and all copies get the same ones
    and noise of their own. For such a model these are the knockoffs that are hardest to
    reconstruct (MVR), without any matrix of features by features.

    Examples
    --------
    >>> import numpy as np
    >>> from benchmarks.claims_rivals import factor_copies, n_factors
    >>> rng = np.random.default_rng(0)
    >>> Z = rng.standard_normal((2000, 1)) * [1.0, 1.0, 1.0, 1.0, 0.0]
    >>> Z += rng.standard_normal((2000, 5))
    >>> Z /= Z.std(axis=0)
    >>> copy = factor_copies(Z, rng)[0]
    >>> n_factors(Z, rng), np.corrcoef(copy.T, Z.T)[[0, 0, 0, 4], [1, 5, 6, 9]].round(1).tolist()
    (1, [0.5, 0.5, 0.5, 0.0])
    """
    from sklearn.decomposition import FactorAnalysis

    n_samples, n_features = Z.shape
    number = n_factors(Z, rng)
    common_part, spread = np.zeros_like(Z), np.ones(n_features)
    if number:
        model = FactorAnalysis(number, max_iter=50, random_state=0).fit(Z)
        loadings, spread = model.components_, np.sqrt(model.noise_variance_)
        scaled = loadings / spread**2
        covariance = np.linalg.inv(np.eye(number) + scaled @ loadings.T)  # of factors given Z
        noise = rng.standard_normal((n_samples, number)) @ np.linalg.cholesky(covariance).T
        common_part = (Z @ scaled.T @ covariance + noise) @ loadings
    return [common_part + spread * rng.standard_normal(Z.shape) for _ in range(COPIES)]


def n_factors(Z, rng):
    """How many components have a larger variance than any of shuffled columns."""
    noise = max(np.linalg.norm(rng.permuted(Z, axis=0), 2) for _ in range(3))
    return int((np.linalg.svd(Z, compute_uv=False) > noise).sum())


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


def _adjusted(won: np.ndarray, margins: np.ndarray, n_copies: int) -> np.ndarray:
    """Smallest level of each feature: (1 + losers) / copies / winners, at its margin or below."""
    order = np.argsort(-margins, kind="stable")
    winners, losers = np.cumsum(won[order]), np.cumsum(~won[order] & (margins[order] > 0))
    ratio = np.minimum((1 + losers) / n_copies / np.maximum(winners, 1), 1.0)
    adjusted = np.ones(len(won))
    adjusted[order] = np.minimum.accumulate(ratio[::-1])[::-1]
    adjusted[~won] = 1.0
    return adjusted


RIVALS = {
    "stability": stability,
    "shadows": shadows,
    "knockpy": knockpy,
    "trex": trex,
    "factors": factors,
}
