"""
Single cells: AnnData in, marker genes out
==========================================

``sparsieve.select`` takes an AnnData object and the name of a column of ``obs``, and writes the
result into ``var`` and ``uns``. It needs the package ``anndata`` (extra ``data``). The counts are
simulated.
"""

import anndata
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy import sparse

import sparsieve

rng = np.random.default_rng(0)
types = np.array(["T cell", "B cell", "monocyte"])[np.arange(300) % 3]
rates = np.tile(rng.gamma(0.5, 0.6, 1500), (300, 1))
markers = {"T cell": range(0, 4), "B cell": range(4, 8), "monocyte": range(8, 12)}
for kind, genes in markers.items():
    rates[np.ix_(types == kind, list(genes))] += 2.0
adata = anndata.AnnData(
    sparse.csr_matrix(np.log1p(rng.poisson(rates))),
    obs=pd.DataFrame({"cell_type": pd.Categorical(types)}, index=[f"cell{i}" for i in range(300)]),
    var=pd.DataFrame(index=[f"gene{j}" for j in range(1500)]),
)

selected = sparsieve.select(adata, "cell_type", k=12)
print(selected)
print(adata.var.columns.tolist())

# %%
# Mean expression of the selected genes by cell type:
kept = selected.features
means = np.array(
    [np.asarray(adata[types == kind, kept].X.mean(axis=0)).ravel() for kind in markers]
)
figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
image = ax.imshow(means, aspect="auto", cmap="viridis")
ax.set(yticks=range(3), yticklabels=list(markers), xticks=range(len(kept)))
ax.set_xticklabels(kept, rotation=60)
figure.colorbar(image, label="mean of log(1 + count)")
plt.show()
