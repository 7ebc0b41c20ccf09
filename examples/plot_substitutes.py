"""
Substitutes: what could replace a selected feature?
===================================================

If features are near-copies of each other, a selection contains one of them, and chance may decide
which. ``find_substitutes`` lists the others, so that nobody concludes that they do not matter.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import RidgeForwardSelector
from sparsieve.datasets.synthetic.classes import make_correlated_blocks

data = make_correlated_blocks(
    200, 300, n_relevant=4, block_size=6, correlation=0.95, random_state=0
)
selector = RidgeForwardSelector(4).fit(data.X, data.y)
substitutes = selector.find_substitutes(data.X)
for feature, others in substitutes.items():
    shown = ", ".join(f"{other} ({r:.2f})" for other, r in others)
    print(f"{feature}: {shown or 'none'}")

# %%
# Correlations of the selected features with all others: every peak is a block of substitutes.
kept = selector.get_support(indices=True)
correlation = np.abs(np.corrcoef(data.X.T)[kept])
figure, ax = plt.subplots(figsize=(9, 3), layout="constrained")
image = ax.imshow(correlation, aspect="auto", cmap="Blues", vmin=0, vmax=1)
ax.set(yticks=range(4), yticklabels=[f"feature {j}" for j in kept], xlabel="all features")
figure.colorbar(image, label="absolute correlation")
plt.show()
