"""
A bioinformatician: from a messy expression table to a short list
=================================================================

You have an expression table with genes in rows, a separate file with the phenotypes in another
order, missing values, and two samples per patient. You want a short list of genes, a figure for
the paper, a table for the supplement and a report for your colleagues.

The same on the command line:

.. code-block:: console

   $ sparsieve select expression.csv --transpose --target-file phenotypes.csv \\
       --target diagnosis --groups patient --impute --drop-unlabelled -k 10 --report report.html
"""

# %%
# The files
# ---------
# So that the script runs anywhere, it first writes the files that you would have.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparsieve
from sparsieve.datasets.synthetic.classes import make_correlated_blocks

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
data = make_correlated_blocks(96, 1500, n_relevant=6, block_size=4, signal=0.7, random_state=0)
genes = [f"GENE{j:04d}" for j in range(1500)]
samples = [f"S{i:03d}" for i in range(96)]
expression = pd.DataFrame(data.X, index=samples, columns=genes)
expression = expression.mask(rng.random(expression.shape) < 0.02)  # 2 % of the values are missing
expression.T.to_csv(folder / "expression.csv", index_label="gene")

diagnosis = np.where(data.y == data.y[0], "tumour", "normal").astype(object)
diagnosis[rng.choice(96, 4, replace=False)] = None  # not diagnosed yet
phenotypes = pd.DataFrame(
    {"diagnosis": diagnosis, "patient": [f"P{i // 2:02d}" for i in range(96)]}, index=samples
)
phenotypes.sample(frac=1, random_state=1).to_csv(folder / "phenotypes.csv", index_label="sample")

# %%
# One table
# ---------
# Samples go into rows, phenotypes are joined by sample id, and samples without a diagnosis go.
table = pd.read_csv(folder / "expression.csv", index_col="gene").T
table = table.join(pd.read_csv(folder / "phenotypes.csv", index_col="sample"))
table = table.dropna(subset="diagnosis")
print(f"{len(table)} samples, {table[genes].isna().mean().mean():.1%} of the values are missing")

# %%
# Ten genes
# ---------
# Missing values are filled with medians that are learned from the training samples alone, and the
# two samples of a patient are never split between training and test.
selected = sparsieve.select(table, "diagnosis", k=10, prepare="impute", groups="patient")
print(selected)

# %%
# A figure
# --------
# Samples in rows, sorted by class; the same figures go into a folder as SVG and PDF.
selected.plot("heatmap")
selected.save_figures(folder / "figures")
plt.show()

# %%
# A table and a report
# --------------------
selected.table.to_csv(folder / "genes.csv", index=False)
selected.report(folder / "report.html")
print(*sorted(path.name for path in folder.rglob("*.*")), sep="\n")
