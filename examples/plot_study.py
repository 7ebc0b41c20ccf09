"""
A small study
=============

Several methods on several data sets, on the same splits, with the selection inside the training
part. Results are stored in one file, and an interrupted study resumes. The same study can be
written as TOML and run with ``sparsieve study run``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from sparsieve.scoring import Folds
from sparsieve_experiments.studies import Study, run_study, study_curves

study = Study(
    "small",
    datasets=["wine", "breast_cancer"],
    selectors=["fisher", "mrmr", "ridge-forward", "l21"],
    protocol=Folds(4),
    ks=[1, 2, 3, 5, 8, 13],
    classifiers=["1nn", "svm"],
)
folder = Path(tempfile.mkdtemp())
print(run_study(study, folder / "small.sqlite"))

# %%
# Curves with the spread over the folds:
figure, axes = plt.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
for ax, dataset in zip(axes, ("wine", "breast_cancer"), strict=True):
    study_curves(folder / "small.sqlite", dataset=dataset, classifier="svm", ax=ax)
    ax.set_title(dataset)
plt.show()
