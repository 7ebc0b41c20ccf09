"""
Few genes out of thousands
==========================

Eighty samples and 5,000 simulated genes: five of them differ between the two groups, and each of
the five has four correlated companions, like genes of one pathway. Which ones are found, and do
they predict held-out samples?
"""

import matplotlib.pyplot as plt

import sparsieve
from sparsieve.datasets.synthetic.classes import make_correlated_blocks

data = make_correlated_blocks(80, 5000, n_relevant=5, block_size=5, signal=1.5, random_state=3)

# %%
# One line selects the best five. The accuracy is on held-out samples. (Without ``k``, the number of
# features is chosen by cross-validation.)
selected = sparsieve.select(data.X, data.y, k=5)
print(selected)
print(f"truly different: {', '.join(f'x{j}' for j in data.relevant)}")
print(f"cross-validated accuracy {selected.accuracy:.2f}")

# %%
# Scores of all features: noise scores about 1/n. The dashed line is the largest score with shuffled
# labels; features below it are no better than chance.
selector = sparsieve.RidgeForwardSelector(10).fit(data.X, data.y)
null = sparsieve.permutation_null(selector, data.X, data.y, n_repeats=10)

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(selector.scores_, ".", color="0.7", markersize=3, label="noise or companion")
ax.plot(data.relevant, selector.scores_[data.relevant], "o", label="truly different")
ax.axhline(null.level, color="tab:red", linestyle="--", label="level with shuffled labels")
ax.set(xlabel="gene", ylabel="share of the target explained", yscale="log")
ax.legend()
plt.show()
