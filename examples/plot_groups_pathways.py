"""
Groups: pathways that share genes
=================================

Genes belong to several pathways. Groups may overlap: every pathway brings its own copy of a shared
gene, and a gene is kept if any of its pathways is. Pathways of very different sizes compete
fairly, because what noise of the same size would explain is subtracted. The expression values are
simulated.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparsieve

rng = np.random.default_rng(0)
genes = [f"gene{j}" for j in range(300)]
sizes = rng.integers(3, 40, size=25)
pathways = {
    f"pathway {i:02d} ({size} genes)": rng.choice(genes, size, replace=False).tolist()
    for i, size in enumerate(sizes)
}
shared = sum(map(len, pathways.values())) - len({g for some in pathways.values() for g in some})
print(f"{len(pathways)} pathways of {sizes.min()} to {sizes.max()} genes; {shared} shared places")

# %%
# Two pathways decide the class, one small and one large:
expression = pd.DataFrame(rng.normal(size=(200, 300)), columns=genes)
names = list(pathways)
small, large = names[int(np.argmin(sizes))], names[int(np.argmax(sizes))]
activity = sum(
    expression[pathways[name]].sum(axis=1) / len(pathways[name]) ** 0.5 for name in (small, large)
)
label = np.where(activity > 0, "case", "control")
print("true:", small, "and", large)

selected = sparsieve.select(expression, label, k=2, feature_groups=pathways)
print(selected)

# %%
# Genes in no pathway are groups of one, so the ranking compares pathways and single genes. A test
# of whole pathways (``method="f-statistic"``) ranks by p-values, which are fair to sizes as well.
tested = sparsieve.select(expression, label, k=2, method="f-statistic", feature_groups=pathways)
print(tested.feature_groups)

# %%
selected.plot("ranking", n_features=10)
plt.show()
