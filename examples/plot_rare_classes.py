"""
A rare class: selection and calibrated probabilities
====================================================

One sample in twenty is ill. A logistic likelihood with a ridge that follows the size of the
rare class selects the features and predicts how likely the illness is.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from sparsieve import LikelihoodForwardSelector

rng = np.random.default_rng(0)
X = rng.standard_normal((6000, 100))
risk = X[:, 3] - X[:, 50] + 0.8 * X[:, 70] - 4.2
ill = rng.random(6000) < 1 / (1 + np.exp(-risk))
train, test, ill_train, ill_test = train_test_split(X, ill, test_size=0.5, random_state=0)

selector = LikelihoodForwardSelector(n_features_to_select=3).fit(train, ill_train)
probability = selector.predict_proba(test)[:, 1]
print(f"{ill.mean():.1%} of the samples are ill.")
print("Selected features:", selector.get_support(indices=True))
print(f"Area under the ROC curve on held-out samples: {roc_auc_score(ill_test, probability):.2f}")

# %%
# Among samples with a predicted probability of 20 %, about 20 % should be ill. With
# ``class_weight="balanced"`` the same features are found, but the probabilities are those of a
# population in which half of the samples are ill.
balanced = LikelihoodForwardSelector(3, class_weight="balanced").fit(train, ill_train)
figure, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.plot([0, 1], [0, 1], color="0.7")
for label, fitted in (("as it is", selector), ('class_weight="balanced"', balanced)):
    observed, predicted = calibration_curve(
        ill_test, fitted.predict_proba(test)[:, 1], n_bins=8, strategy="quantile"
    )
    ax.plot(predicted, observed, "o-", label=label)
ax.set(xlabel="predicted probability", ylabel="fraction that is ill", title="Held-out samples")
ax.legend()
plt.show()
