"""
Which feature belongs to which class?
=====================================

Every class has features of its own, shifted in that class and pure noise in all others. The l2,1
model and the exclusive l2,1 model both find the features; only the exclusive one tells which class
they belong to.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import ExclusiveL21Selector, L21Selector
from sparsieve.datasets.synthetic.classes import make_class_exclusive

data = make_class_exclusive(n_samples=600, n_features=300, n_relevant_per_class=4, random_state=0)
truth = np.zeros((4, 300), dtype=bool)
for k, features in enumerate(data.relevant_per_class):
    truth[k, features] = True

exclusive = ExclusiveL21Selector(alpha=120.0, beta=10_000.0).fit(data.X, data.y)
shared = L21Selector(alpha=120.0).fit(data.X, data.y)

for name, selector, pairs in (
    ("exclusive l2,1", exclusive, exclusive.support_per_class_),
    ("l2,1", shared, shared.coef_ != 0),
):
    found = (selector.support_ & truth.any(axis=0)).sum()
    print(
        f"{name:<15} features found: {found} of 16; (feature, class) pairs right / wrong: "
        f"{(pairs & truth).sum()} / {(pairs & ~truth).sum()}"
    )

# %%
# The coefficients, classes in rows, the 16 relevant features in columns:
order = np.concatenate(data.relevant_per_class)
figure, axes = plt.subplots(1, 2, figsize=(12, 3), layout="constrained")
for ax, name, selector in zip(axes, ("l2,1", "exclusive l2,1"), (shared, exclusive), strict=True):
    values = selector.coef_[:, order]
    limit = np.abs(values).max()
    ax.imshow(values, aspect="auto", cmap="RdBu", vmin=-limit, vmax=limit)
    ax.set(title=name, xlabel="relevant features, by class", ylabel="class", yticks=range(4))
plt.show()
