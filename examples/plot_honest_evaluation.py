"""
Selecting before splitting: how to fool yourself
================================================

Fifty samples with 3,000 features of pure noise and random labels, so chance is 50 %. If you select
features on all samples and cross-validate the model afterwards, noise looks like a discovery. If
you select inside the folds, it does not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sparsieve import FStatisticSelector

outside, inside = [], []
for seed in range(20):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((50, 3000)), rng.permutation(np.arange(50) % 2)
    selector = FStatisticSelector(20)
    leaked = selector.fit(X, y).transform(X)
    outside.append(cross_val_score(RidgeClassifier(), leaked, y, cv=5).mean())
    honest = make_pipeline(FStatisticSelector(20), RidgeClassifier())
    inside.append(cross_val_score(honest, X, y, cv=5).mean())
print(f"selected before splitting: {np.mean(outside):.0%}; inside the folds: {np.mean(inside):.0%}")

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.boxplot([outside, inside], orientation="horizontal")
ax.set(yticks=[1, 2], yticklabels=["before splitting", "inside the folds"])
ax.axvline(0.5, color="0.6", linestyle=":")
ax.set(xlabel="cross-validated accuracy on noise (20 data sets)")
plt.show()
