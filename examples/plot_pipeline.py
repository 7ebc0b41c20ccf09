"""
Inside Pipeline and GridSearchCV
================================

Selectors are scikit-learn transformers. In a pipeline their parameters can be tuned by grid search,
and cross-validation repeats the selection in every fold, as it must.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import RidgeForwardSelector

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
model = Pipeline(
    [
        ("scale", StandardScaler().set_output(transform="pandas")),
        ("select", RidgeForwardSelector()),
        ("classify", LogisticRegression(max_iter=1000)),
    ]
)
ks, ridges = [1, 2, 3, 5, 8, 12, 20], [0.01, 1.0, 100.0]
search = GridSearchCV(
    model, {"select__n_features_to_select": ks, "select__ridge": ridges}, cv=5
).fit(X, y)
print(search.best_params_, f"{search.best_score_:.3f}")
print(", ".join(search.best_estimator_[:-1].get_feature_names_out()))

# %%
scores = search.cv_results_["mean_test_score"].reshape(len(ks), len(ridges))
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for ridge, column in zip(ridges, scores.T, strict=True):
    ax.plot(ks, column, "o-", label=f"ridge = {ridge:g}")
ax.set(xlabel="features", ylabel="cross-validated accuracy")
ax.legend()
plt.show()

# %%
# ``best_score_`` is the best of 21 scores and therefore slightly too high: see the guide on honest
# evaluation.
