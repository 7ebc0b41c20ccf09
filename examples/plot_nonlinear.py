"""
Non-linear signals
==================

Linear methods miss features that act through a parabola; one kernel per feature finds them. A pure
interaction, such as the sign of a product, cannot be found by sums of functions of single
features. ReliefF, which compares neighbours, has a chance.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import (
    FisherSelector,
    InfoGainSelector,
    L0MKLSelector,
    ReliefFSelector,
    RidgeForwardSelector,
    diagnose,
)
from sparsieve.datasets.synthetic.targets import make_nonlinear_additive

problems = {}
for kind in ("radial", "threshold"):
    data = make_nonlinear_additive(300, 60, kind=kind, random_state=0)
    problems[kind] = data.X, data.y, data.relevant
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 60))
relevant = np.array([10, 20])
problems["product of two"] = X, (X[:, relevant].prod(axis=1) > 0).astype(int), relevant

selectors = {
    "Fisher": FisherSelector(),
    "ridge forward": RidgeForwardSelector(),
    "information gain": InfoGainSelector(),
    "l0-MKL, rbf": L0MKLSelector(kernel="rbf"),
    "ReliefF": ReliefFSelector(),
}
found = np.empty((len(selectors), len(problems)))
for row, selector in enumerate(selectors.values()):
    for column, (X, y, relevant) in enumerate(problems.values()):
        selector.set_params(n_features_to_select=len(relevant)).fit(X, y)
        found[row, column] = selector.support_[relevant].mean()

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.imshow(found, cmap="Greens", vmin=0, vmax=1, aspect="auto")
ax.set(xticks=range(len(problems)), xticklabels=problems)
ax.set(yticks=range(len(selectors)), yticklabels=selectors, title="share of the features found")
for (row, column), share in np.ndenumerate(found):
    ax.text(column, row, f"{share:.0%}", ha="center", color="white" if share > 0.5 else "black")
plt.show()

# %%
# ``diagnose`` warns you beforehand when linear selection misses the signal.
print(diagnose(*problems["radial"][:2]))
