"""
Which features keep coming back?
================================

Stability selection repeats a selection on random halves of the samples and keeps the features that
are selected in most of them. It bounds how many are kept by mistake on average.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import RidgeForwardSelector, StabilityPathDisplay, StabilitySelection
from sparsieve.datasets.synthetic.classes import make_shared_features

data = make_shared_features(100, 400, n_relevant=6, n_classes=2, signal=0.8, random_state=2)
stable = StabilitySelection(
    RidgeForwardSelector(), expected_false_positives=1.0, n_subsamples=60
).fit(data.X, data.y)
print(stable.summary())

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4), layout="constrained")
StabilityPathDisplay.from_estimator(stable, ax=left)
order = np.argsort(-stable.selection_probabilities_)[:15]
true = np.isin(order, data.relevant)
right.bar(range(15), stable.selection_probabilities_[order], color=np.where(true, "C2", "0.7"))
right.axhline(stable.threshold_, color="tab:red", linestyle="--")
right.set(xlabel="features by probability", ylabel="share of the halves", xticks=[])
right.set_title("green: truly relevant")
plt.show()

# %%
# On pure noise, (almost) no feature reaches the threshold.
rng = np.random.default_rng(0)
noise = StabilitySelection(n_subsamples=60).fit(
    rng.standard_normal((100, 400)), rng.integers(0, 2, 100)
)
print(f"kept from noise: {noise.support_.sum()} (bound: {noise.error_bound_:.2f} on average)")
