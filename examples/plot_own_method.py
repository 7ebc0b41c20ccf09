r"""
An hour with your own method: as good as the others, on your own folds?
=======================================================================

You have invented a method, and data from several laboratories. You want to know whether it beats
the usual methods on a laboratory that none of them has seen, and a figure and a table that show
it. Then you use it: a selection, a saved model and predictions on new samples.

The usual methods on the same laboratories, on the command line:

.. code-block:: console

   $ sparsieve compare samples.csv --target status --groups laboratory \
       --methods ridge-forward,fisher -k 1,3,10 --repeats 1 --export comparison.md
"""

# %%
# The files
# ---------
# So that the script runs anywhere, it first writes the files that you would have.
import tempfile
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve.app.cli.app import run  # what the command runs

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(1)
n_samples, n_features = 180, 80
laboratory = rng.integers(0, 6, n_samples)
values = rng.normal(size=(n_samples, n_features))
ill = values[:, :3].sum(axis=1) + 0.7 * rng.normal(size=n_samples) > 0
values += 0.5 * rng.normal(size=(6, n_features))[laboratory]  # every laboratory measures otherwise
frame = pd.DataFrame(values.round(3), columns=[f"m{j:02d}" for j in range(n_features)])
frame["laboratory"] = [f"lab{i}" for i in laboratory]
frame["status"] = np.where(ill, "ill", "well")
frame.head(150).to_csv(folder / "samples.csv", index=False)
frame.tail(30).drop(columns="status").to_csv(folder / "new.csv", index=False)

# %%
# The method
# ----------
# A class with one parameter: the quantiles of two classes are compared instead of their means.
# ``sparsieve.check_selector(QuantileSelector())`` would tell whether it keeps the promises of
# scikit-learn and of this package.


@dataclass(eq=False, repr=False, kw_only=True)
class QuantileSelector(sparsieve.BaseSelector):
    """Rank features by the distance of the quantiles of their classes."""

    n_quantiles: int = 9
    _accepts_sparse = False
    _accepts_regression = False
    _score_meaning = "Largest distance of the quantiles of two classes, in standard deviations."

    def _fit(self, data):
        X, _ = data.arrays()
        at = np.linspace(0.1, 0.9, self.n_quantiles)
        codes = data.target.codes
        inside = np.array([np.quantile(X[codes == c], at, axis=0) for c in np.unique(codes)])
        spread = X.std(axis=0)
        distance = np.abs(inside - inside.mean(axis=0)).mean(axis=1).max(axis=0)
        scores = np.divide(distance, spread, out=np.zeros(X.shape[1]), where=spread > 0)
        return sparsieve.FeatureScores(scores, n_kept=5)


# %%
# Against the others, one laboratory left out at a time
# -----------------------------------------------------
# A function that returns scores is a method too; any scikit-learn splitter gives the folds.
samples = pd.read_csv(folder / "samples.csv")
X, y = samples.drop(columns=["status", "laboratory"]), samples["status"]


def medians(X, y):
    """Distance of the medians of two classes."""
    ill, well = (np.median(X[y == label], axis=0) for label in np.unique(y))
    return np.abs(ill - well)


found = sparsieve.compare(
    X,
    y,
    [QuantileSelector(), medians, "ridge-forward", "fisher"],
    ks=[1, 2, 3, 5, 10],
    cv=LeaveOneGroupOut(),
    groups=samples["laboratory"],
)
print(found)
found.plot()
found.save_figures(folder / "figures", formats=("svg",))
found.export(folder / "methods.md")
plt.show()

# %%
# Use it
# ------
selected = sparsieve.select(
    X,
    y,
    k=3,
    method=QuantileSelector(n_quantiles=5),
    cv=LeaveOneGroupOut(),
    groups=samples["laboratory"],
    estimator=make_pipeline(StandardScaler(), LogisticRegression()),
)
print(selected)
sparsieve.save(selected, folder / "own.sparsieve")
new = pd.read_csv(folder / "new.csv")
print(sparsieve.load(folder / "own.sparsieve").predict_proba(new)[:3].round(3))

# %%
# The same folds on the command line, for the methods that it knows
# -----------------------------------------------------------------
line = (
    "compare samples.csv --target status --groups laboratory --methods ridge-forward,fisher "
    "-k 1,3,10 --repeats 1 --export comparison.md"
)
print(f"$ sparsieve {line}")
with chdir(folder):
    run(line.split())
