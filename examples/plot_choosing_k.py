"""
How many features are enough?
=============================

``SelectorCV`` scores every number of features by cross-validation, with one selection per fold.
Four rules choose a number from the curve.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from sparsieve import AccuracyCurveDisplay, EnsembleSelector, RidgeForwardSelector, SelectorCV

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
search = SelectorCV(RidgeForwardSelector()).fit(X, y)
print(search.summary())
print("each rule would keep:", search.k_by_rule_)
print("kept:", ", ".join(search.get_feature_names_out()))

figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
AccuracyCurveDisplay.from_estimator(search, ax=ax)
plt.show()

# %%
# Which features do several methods agree on?
together = EnsembleSelector(n_features_to_select=5, aggregation="rra").fit(X, y)
print("agreed on:", ", ".join(together.get_feature_names_out()))
