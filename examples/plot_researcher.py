r"""
A researcher: a study from a file to a LaTeX table
==================================================

You compare methods on several data sets for a paper. The study is a text file that others can
read and run, its results live in one database file, and an interrupted run resumes. You need
curves, a table with significance marks, a report, and a proof of how good one selection is.

The same on the command line:

.. code-block:: console

   $ sparsieve study run study.toml --jobs 2
   $ sparsieve study report study.toml -o study.html --export study.tex
"""

# %%
# The study
# ---------
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from sparsieve import RidgeForwardSelector
from sparsieve_experiments.studies import Study, run_study, study_curves

folder = Path(tempfile.mkdtemp())
(folder / "study.toml").write_text(
    """
name = "four methods"
ks = [1, 2, 3, 5, 8]
classifiers = ["svm"]

[protocol]
kind = "folds"
n_folds = 5

[[datasets]]
name = "wine"

[[datasets]]
name = "breast_cancer"

[[datasets]]
name = "shared features"
make = "make_shared_features"
parameters = { n_samples = 90, n_features = 200, n_relevant = 5, random_state = 1 }

[[selectors]]
name = "ridge-forward"

[[selectors]]
name = "mrmr"

[[selectors]]
name = "fisher"

[[selectors]]
name = "laplacian-score"
"""
)
print(run_study(Study.from_toml(folder / "study.toml"), folder / "study.sqlite"))

# %%
# Curves
# ------
figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
for ax, dataset in zip(axes, ("wine", "breast_cancer", "shared features"), strict=True):
    study_curves(folder / "study.sqlite", dataset=dataset, classifier="svm", ax=ax)
    ax.set_title(dataset)
figure.savefig(folder / "curves.pdf")
plt.show()

# %%
# A table with significance marks, and a report
# ---------------------------------------------
# The best method of a row is bold; a mark says which methods are significantly worse, and a note
# names the test and its correction.
command = [sys.executable, "-m", "sparsieve", "study", "report", str(folder / "study.toml")]
command += ["-o", str(folder / "study.html"), "--export", str(folder / "study.tex")]
subprocess.run(command, check=True)
print((folder / "study.tex").read_text())

# %%
# A certificate
# -------------
# How close are the ten features of ridge forward to the best ten? The bound is about the training
# objective, not about accuracy.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
certificate = RidgeForwardSelector(10).fit(X, y).certify(X, y)
print(certificate)
