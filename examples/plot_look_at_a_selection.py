"""
Look at a selection
===================

Which features were selected, in which order, how many are enough, and did the solver converge? Four
displays, which work like scikit-learn's.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from sparsieve import (
    AccuracyCurveDisplay,
    ConvergenceDisplay,
    L21Selector,
    PathDisplay,
    RankingDisplay,
    RFSSelector,
    RidgeForwardSelector,
    SelectorCV,
)

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
figure, axes = plt.subplots(2, 2, figsize=(14, 9), layout="constrained")

# The best features, and the next ones that were left out.
selector = RidgeForwardSelector(n_features_to_select=6).fit(X, y)
RankingDisplay.from_estimator(selector, n_features=12, ax=axes[0, 0])

# How many are enough? One selection per fold covers all numbers of features.
search = SelectorCV(RidgeForwardSelector()).fit(X, y)
AccuracyCurveDisplay.from_estimator(search, ax=axes[0, 1])

# How features enter as the penalty decreases.
PathDisplay.from_estimator(L21Selector(), X, y, ax=axes[1, 0])

# Did the solver converge?
ConvergenceDisplay.from_estimator(RFSSelector().fit(X, y), relative=True, ax=axes[1, 1])
plt.show()
