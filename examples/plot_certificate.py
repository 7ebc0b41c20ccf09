"""
How close is a selection to the best one?
=========================================

You cannot try all sets of ten features out of thousands. For least squares with a ridge there is a
proven lower bound on the objective of every set of a given size, and for small sizes the best set
can be found. The proof is about the training objective, not about accuracy.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.solvers import ExactSearch

X, y = load_breast_cancer(return_X_y=True)
rng = np.random.default_rng(0)
X = np.column_stack([X, rng.standard_normal((len(X), 170))])  # and 170 columns of noise

selector = RidgeForwardSelector(15).fit(X, y)
certificate = selector.certify(X, y)
print(certificate)

# %%
# The best selection lies between the curves: none is below the lower one.
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(certificate.n_features, certificate.objective, "o-", label="ridge forward")
ax.plot(certificate.n_features, certificate.lower_bound, "--", label="lower bound")
ax.fill_between(certificate.n_features, certificate.lower_bound, certificate.objective, alpha=0.2)
ax.set(xlabel="features", ylabel="training objective")
ax.legend()
plt.show()

# %%
# Branch and bound closes the gap for a few features.
exact = L20Selector(4, solver=ExactSearch(time_limit=10)).fit(X, y)
print(f"features {exact.get_support(indices=True)}, proven gap {exact.optimality_:.1e}")
