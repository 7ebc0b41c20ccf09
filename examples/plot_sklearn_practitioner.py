"""
A scikit-learn practitioner: selectors beside the ones you know
===============================================================

You know ``SelectKBest``, ``RFE`` and random forests, and you judge models by the area under the ROC
curve. Do the selectors of this package do better on your data? They work in a ``Pipeline`` and in
``GridSearchCV``, and ``compare`` takes scikit-learn's own selectors next to them.
"""

# %%
# In a pipeline
# -------------
# The number of features is one more parameter to tune, and the selection is repeated inside every
# fold.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve import RidgeForwardSelector

folder = Path(tempfile.mkdtemp())
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
noise = np.random.default_rng(0).standard_normal((len(X), 70))
X = X.assign(**{f"noise {j}": noise[:, j] for j in range(70)})  # 30 measurements, 70 of noise

model = Pipeline(
    [
        ("scale", StandardScaler().set_output(transform="pandas")),
        ("select", RidgeForwardSelector()),
        ("classify", LogisticRegression()),
    ]
)
search = GridSearchCV(
    model, {"select__n_features_to_select": [2, 5, 10, 20]}, scoring="roc_auc", cv=5
).fit(X, y)
print(search.best_params_, f"AUC {search.best_score_:.3f}")
print(*search.best_estimator_[:-1].get_feature_names_out(), sep=", ")

# %%
# A scorer of your own
# --------------------
# ``SelectorCV`` takes any scikit-learn scorer too. Here missing a malignant tumour (class 0) counts
# twice as much as a false alarm.
careful = make_scorer(fbeta_score, beta=2, pos_label=0)
logistic = make_pipeline(StandardScaler(), LogisticRegression())
chosen = sparsieve.SelectorCV(estimator=logistic, ks=[2, 5, 10, 20], scoring=careful, n_repeats=1)
chosen.fit(X, y)
print(chosen.summary())

# %%
# Compare with scikit-learn's selectors
# -------------------------------------
# All methods select on the same folds. The first score decides, the others are columns of the
# table.
comparison = sparsieve.compare(
    X,
    y,
    [
        "ridge-forward",
        SelectKBest(),
        RFE(logistic, step=0.2, importance_getter="named_steps.logisticregression.coef_"),
        RandomForestClassifier(50, random_state=0),
    ],
    ks=[2, 5, 10, 20],
    scoring=["roc_auc", "accuracy"],
    n_repeats=1,
)
print(comparison.recommendation)

# %%
# A figure, a table and a report
# ------------------------------
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
comparison.plot(ax=ax)
figure.savefig(folder / "comparison.svg")
plt.show()

comparison.export(folder / "comparison.md")  # or .tex, or .csv
print((folder / "comparison.md").read_text())
comparison.report(folder / "comparison.html")
