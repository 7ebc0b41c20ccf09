"""
Write your own penalty
======================

A penalty is a class with ``value`` and ``prox``; the library's own are in ``sparsieve.penalties``.
Here every feature has its own price, because some are expensive to measure, and a short proximal
gradient loop solves the model. With equal prices it must agree with
:class:`~sparsieve.L21Selector`, which uses another algorithm.
"""

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from sparsieve import L21Selector


@dataclass
class PricedRows:
    """sum_j alpha_j ||w_j||, one strength per feature."""

    alpha: np.ndarray

    def value(self, W):
        return float(self.alpha @ np.linalg.norm(W, axis=1))

    def prox(self, V, step):
        norms = np.maximum(np.linalg.norm(V, axis=1), 1e-300)
        return V * np.maximum(0.0, 1.0 - step * self.alpha / norms)[:, None]


def solve(X, Y, penalty, n_iter=2000):
    """Minimise ||XW - Y||^2 + penalty(W) by accelerated proximal gradient."""
    step = 0.5 / np.linalg.norm(X, 2) ** 2
    W = V = np.zeros((X.shape[1], Y.shape[1]))
    t = 1.0
    for _ in range(n_iter):
        new = penalty.prox(V - 2 * step * X.T @ (X @ V - Y), step)
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        W, V, t = new, new + (t - 1) / t_new * (new - W), t_new
    return W


wine = load_wine()
X = StandardScaler().fit_transform(wine.data)
Y = np.eye(3)[wine.target]
Y -= Y.mean(axis=0)

# %%
# Equal prices: the same model as L21Selector.
alpha = 30.0
W = solve(X, Y, PricedRows(np.full(13, alpha)))
reference = L21Selector(alpha=alpha).fit(X, wine.target)
print(f"largest difference of coefficients: {np.abs(W.T - reference.coef_).max():.1e}")

# %%
# If two features become expensive, the model uses them less.
prices = np.full(13, alpha)
expensive = [6, 12]  # flavanoids, proline
prices[expensive] *= 3
dear = solve(X, Y, PricedRows(prices))
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
places = np.arange(13)
ax.barh(places - 0.2, np.linalg.norm(W, axis=1), 0.4, label="equal prices")
ax.barh(places + 0.2, np.linalg.norm(dear, axis=1), 0.4, label="flavanoids, proline expensive")
ax.set(yticks=places, yticklabels=wine.feature_names, xlabel="norm of the coefficients")
ax.legend()
plt.show()
