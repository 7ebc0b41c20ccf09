"""
Counts: Poisson or negative binomial?
=====================================

How many features a likelihood keeps depends on the variance it expects. Counts that vary more than
a Poisson model allows make it keep features that only fit single samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import LikelihoodForwardSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 100))
mean = np.exp(0.6 * X[:, 10] - 0.4 * X[:, 42] + 1)
visits = rng.negative_binomial(1.0, 1 / (1 + mean))
print(f"Mean {visits.mean():.1f} visits, variance {visits.var():.1f}.")

poisson = LikelihoodForwardSelector(loss="poisson").fit(X, visits)
broad = LikelihoodForwardSelector(loss="negative-binomial", dispersion=1.0).fit(X, visits)
for label, selector in (("Poisson", poisson), ("negative binomial", broad)):
    print(f"{label}: features {selector.get_support(indices=True)}")

# %%
# The scores say what every feature adds to the others. The true features are green.
figure, axes = plt.subplots(2, 1, figsize=(8, 5), layout="constrained", sharex=True)
for ax, label, selector in zip(
    axes, ("Poisson", "negative binomial"), (poisson, broad), strict=True
):
    colours = np.where(np.isin(np.arange(100), [10, 42]), "C2", "0.6")
    ax.bar(np.arange(100), selector.scores_, color=colours)
    ax.set(
        title=f"{label}: {selector.support_.sum()} features kept", ylabel="share of the deviance"
    )
axes[1].set_xlabel("feature")
plt.show()
