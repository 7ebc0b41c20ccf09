"""
Which pixels tell digits apart?
===============================

Four methods choose 15 of the 64 pixels of scikit-learn's digits. The figures show where they are,
and how accurately a simple classifier reads held-out digits from these pixels alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from sparsieve import FStatisticSelector, L21Selector, MRMRSelector, RidgeForwardSelector

X, y = load_digits(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0, stratify=y)

selectors = {
    "F statistic": FStatisticSelector(15),
    "mRMR": MRMRSelector(15),
    "l2,1": L21Selector(15),
    "ridge forward": RidgeForwardSelector(15),
}
figure, axes = plt.subplots(1, 5, figsize=(13, 3.2), layout="constrained")
axes[0].imshow(X.mean(axis=0).reshape(8, 8), cmap="gray_r")
axes[0].set_title("mean digit")
for ax, (name, selector) in zip(axes[1:], selectors.items(), strict=True):
    selector.fit(X_train, y_train)
    model = KNeighborsClassifier(5).fit(selector.transform(X_train), y_train)
    accuracy = model.score(selector.transform(X_test), y_test)
    # The best pixel is darkest; pixels that were left out are white.
    place = np.where(selector.support_, 16 - selector.ranking_, 0).reshape(8, 8)
    ax.imshow(place, cmap="Greens")
    ax.set_title(f"{name}: {accuracy:.0%}")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# The F statistic judges one pixel at a time and chooses redundant ones. The other methods consider
# what a pixel adds to those already chosen.
