"""
How far from the best possible selection?
=========================================

Nobody can try all sets of ten features out of thousands. For least squares with a ridge a bound
says what no set of a size can go below, and for small sizes the best set can be found for sure.
What is proven is the training objective, not accuracy.
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
# The truth lies between the curves: no selection of a size is below the lower one.
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
ax.plot(certificate.n_features, certificate.objective, "o-", label="ridge forward")
ax.plot(certificate.n_features, certificate.lower_bound, "--", label="no selection is below")
ax.fill_between(certificate.n_features, certificate.lower_bound, certificate.objective, alpha=0.2)
ax.set(xlabel="features", ylabel="training objective")
ax.legend()
plt.show()

# %%
# Branch and bound closes the gap for a few features.
exact = L20Selector(4, solver=ExactSearch(time_limit=10)).fit(X, y)
print(f"features {exact.get_support(indices=True)}, proven gap {exact.optimality_:.1e}")
