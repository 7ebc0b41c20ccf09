"""
Few genes out of thousands
==========================

Eighty samples and 5,000 generated "genes": five of them differ between the two groups, and each
of the five has four correlated companions, as genes of one pathway have. Which are found, and do
they predict samples that took no part?
"""

import matplotlib.pyplot as plt

import sparsieve
from sparsieve.datasets import make_correlated_blocks

data = make_correlated_blocks(80, 5000, n_relevant=5, block_size=5, signal=1.5, random_state=3)

# %%
# One line keeps the best five. The accuracy is that of samples which neither the selection nor the
# model has seen. (Without ``k`` the number of features is chosen by cross-validation.)
selected = sparsieve.select(data.X, data.y, k=5)
print(selected)
print(f"truly different: {', '.join(f'x{j}' for j in data.relevant)}")
print(f"cross-validated accuracy {selected.accuracy:.2f}")

# %%
# Scores of all features: noise scores about 1/n. The dashed line is the largest score that
# shuffled labels reach; what is not above it cannot be told from chance.
selector = sparsieve.RidgeForwardSelector(10).fit(data.X, data.y)
null = sparsieve.permutation_null(selector, data.X, data.y, n_repeats=10)

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(selector.scores_, ".", color="0.7", markersize=3, label="noise or companion")
ax.plot(data.relevant, selector.scores_[data.relevant], "o", label="truly different")
ax.axhline(null.level, color="tab:red", linestyle="--", label="level of shuffled labels")
ax.set(xlabel="gene", ylabel="share of the target explained", yscale="log")
ax.legend()
plt.show()
