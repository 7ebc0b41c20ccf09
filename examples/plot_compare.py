"""
Compare methods on your data
============================

``sparsieve.compare`` runs several methods on the same folds. It shows how accurate and stable each
is, which differences are significant, and which features the methods agree on.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import sparsieve

X, y = load_wine(return_X_y=True, as_frame=True)
found = sparsieve.compare(X, y, ["ridge-forward", "l21", "mrmr", "fisher"], ks=[1, 2, 3, 5, 8])
print(found.recommendation)
columns = ["method", "accuracy", "accuracy_se", "stability"]
print(found.table[columns].to_string(index=False))

# %%
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
found.plot(ax=ax)
plt.show()

# %%
# Features that the methods agree on:
columns = ["rank", "feature", "methods", "chosen_by"]
print(found.consensus[columns].head(6).to_string(index=False))
