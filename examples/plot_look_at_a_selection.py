"""Look at a selection: which features, how they entered, how many are enough, did it converge?

Run it with ``python examples/look_at_a_selection.py [selection.png]`` (needs Matplotlib).
"""

import sys

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

# 1. The best features, and the next ones that were left out.
selector = RidgeForwardSelector(n_features_to_select=6).fit(X, y)
RankingDisplay.from_estimator(selector, n_features=12, ax=axes[0, 0])

# 2. How many are enough? One selection per fold serves all numbers of features.
search = SelectorCV(RidgeForwardSelector(), rule="one_se").fit(X, y)
AccuracyCurveDisplay.from_estimator(search, ax=axes[0, 1])

# 3. How they enter as the penalty falls.
PathDisplay.from_estimator(L21Selector(), X, y, ax=axes[1, 0])

# 4. Did the solver come to rest?
ConvergenceDisplay.from_estimator(RFSSelector().fit(X, y), relative=True, ax=axes[1, 1])

file = sys.argv[1] if len(sys.argv) > 1 else "selection.png"
figure.savefig(file, dpi=100)
print(f"kept {', '.join(selector.get_feature_names_out())}; the pictures are in {file}")
