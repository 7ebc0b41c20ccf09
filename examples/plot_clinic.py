r"""
An hour with patients: a clinical table, an expression file, a model for new patients
=====================================================================================

You have a clinical table (text, gaps, sample ids, batches, survival times) and an expression file
with genes in rows. You want the genes that say more about survival than age and batch, a model
for the patients of next month and a Kaplan-Meier figure.

The same on the command line:

.. code-block:: console

   $ sparsieve select expression.tsv --transpose --target-file clinical.csv \
       --time os_months --event os_status --covariates age,batch -k 3 \
       --model survival.sparsieve
   $ sparsieve predict survival.sparsieve new_patients.csv --no-transpose --id patient \
       --times 12,24 -o predictions.csv
   $ sparsieve predict survival.sparsieve new_expression.tsv \
       --covariates-file new_clinical.csv -o from_two_files.csv
"""

# %%
# The files
# ---------
# So that the script runs anywhere, it first writes the files that you would have.
import tempfile
from contextlib import chdir
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import sparsieve
from sparsieve.app.cli.app import run  # what the command runs

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(3)
n_patients, n_genes = 140, 40
patients = [f"TCGA-{i:04d}" for i in range(n_patients)]
genes = [f"GENE{j:02d}" for j in range(n_genes)]
batch = rng.choice(["run1", "run2"], n_patients)
age = rng.normal(62, 9, n_patients).round()
levels = rng.normal(size=(n_patients, n_genes)) + 0.8 * (batch == "run2")[:, None]
risk = 0.9 * levels[:, 4] - 0.9 * levels[:, 17] + 0.03 * (age - 62)
death, leaving = rng.exponential(30 * np.exp(-risk)), rng.exponential(60, n_patients)
expression = pd.DataFrame(levels.round(3), index=patients, columns=genes)
expression = expression.mask(rng.random(expression.shape) < 0.01)  # 1 % of the values are missing
clinical = pd.DataFrame(
    {
        "age": age,
        "sex": rng.choice(["female", "male"], n_patients),
        "stage": rng.choice(["I", "II", "III", ""], n_patients),
        "batch": batch,
        "os_months": (np.minimum(death, leaving) + 0.1).round(1),
        "os_status": np.where(death <= leaving, "1:DECEASED", "0:LIVING"),
    },
    index=patients,
)
known, new = patients[:120], patients[120:]
expression.loc[known].T.to_csv(folder / "expression.tsv", sep="\t", index_label="gene")
clinical.loc[known].sample(frac=1, random_state=1).to_csv(
    folder / "clinical.csv", index_label="patient"
)
unseen = expression.loc[new].join(clinical.loc[new, ["age", "batch"]])
unseen.to_csv(folder / "new_patients.csv", index_label="patient")
expression.loc[new].T.to_csv(folder / "new_expression.tsv", sep="\t", index_label="gene")
clinical.loc[new].to_csv(folder / "new_clinical.csv", index_label="patient")

# %%
# One table
# ---------
# Samples go into rows, and the clinical columns are joined by the id of the patient.
table = pd.read_csv(folder / "expression.tsv", sep="\t", index_col="gene").T
clinic = pd.read_csv(folder / "clinical.csv", index_col="patient")
table = table.join(clinic[["age", "batch", "os_months", "os_status"]])
print(sparsieve.diagnose(table, ("os_months", "os_status")))

# %%
# Three genes
# -----------
# Age and batch are always in the model, and genes are chosen by what they add. The genes are judged
# on patients that neither the selection nor the model has seen; 19 repetitions on shuffled survival
# times say what chance alone would show.
selected = sparsieve.select(
    table,
    ("os_months", "os_status"),
    k=3,
    covariates=["age", "batch"],
    check=True,
    permutations=19,
)
print(selected)
print(selected.table[["rank", "feature", "hazard_ratio", "hazard_ratio_low", "hazard_ratio_high"]])

# %%
# A figure
# --------
selected.plot("survival").figure_.savefig(folder / "survival.pdf")
plt.show()

# %%
# A model for new patients
# ------------------------
# The file holds the model and the preparation of its columns; new tables need only these columns.
sparsieve.save(selected, folder / "survival.sparsieve")
model = sparsieve.load(folder / "survival.sparsieve")
newcomers = pd.read_csv(folder / "new_patients.csv", index_col="patient")
alive = pd.DataFrame(
    model.predict_survival(newcomers, times=[12, 24]), newcomers.index, ["12 months", "24 months"]
)
print(alive.round(2).head())

# %%
# The same on the command line
# ----------------------------
# ``--report survival.html`` would add a page with the curves and what they say. New patients may
# come in two files, as those of the training data did; a file with genes in columns says so.
for line in (
    "select expression.tsv --transpose --target-file clinical.csv --time os_months "
    "--event os_status --covariates age,batch -k 3 --model survival.sparsieve --no-check",
    "predict survival.sparsieve new_patients.csv --no-transpose --id patient --times 12,24 "
    "-o predictions.csv",
    "predict survival.sparsieve new_expression.tsv --covariates-file new_clinical.csv "
    "-o from_two_files.csv",
):
    print(f"$ sparsieve {line}")
    with chdir(folder):
        run(line.split())
print(pd.read_csv(folder / "predictions.csv").head(3))
