"""
Which features can be claimed?
==============================

Twenty features predict well. Are they real? A selector for prediction keeps whatever helps the
model; a claim needs a test. Here the truth is known: three features matter, and each of them has
followers that are strongly correlated with it.
"""

# %%
# Two hundred features in clusters, 150 samples.
import numpy as np

from sparsieve import FDRSelector, select

rng = np.random.default_rng(3)
X = rng.standard_normal((150, 200))
for cause in (0, 1, 2):
    followers = slice(10 * cause + 10, 10 * cause + 14)
    X[:, followers] = X[:, [cause]] + 0.5 * rng.standard_normal((150, 4))
y = (X[:, 0] + X[:, 1] - X[:, 2] + rng.standard_normal(150) > 0).astype(int)
names = np.array([f"gene {j}" for j in range(200)])

# %%
# Tests of single features find the three, and their followers with them: true as associations, but
# not sixteen different things about y.
marginal = FDRSelector(claim="marginal").fit(X, y)
print(marginal.support_.sum(), "associations:", *names[marginal.support_])

# %%
# A selection for prediction, and what can be claimed of it.
selected = select(X, y, k=20, feature_names=names)
claims = selected.claims(level=0.1)
print(claims)

# %%
# Every claim is a cluster: one of its members matters, and the data cannot say which.
selected.plot("claims")

# %%
# With shuffled labels nothing can be claimed. The curve shows which correlation would be found with
# how many samples.
noise = select(X, rng.permutation(y), k="fdr=0.1", feature_names=names)
print(noise.claims())
noise.plot("claims")
