"""
Known covariates: what do genes add to age?
===========================================

Age explains much of an outcome and of many genes. ``always_keep`` keeps age in the model without a
penalty, so that every gene is judged by what it adds.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import RidgeForwardSelector

rng = np.random.default_rng(0)
n, d = 150, 600
age = rng.normal(50, 12, n)
X = rng.standard_normal((n, d))
X[:, :30] += 0.08 * (age - 50)[:, None]  # genes 0 to 29 only follow age
outcome = 0.1 * (age - 50) + X[:, 100] - X[:, 200] + 0.5 * rng.standard_normal(n)
table = np.column_stack([age, X])
names = np.array(["age", *(f"gene{j}" for j in range(d))])

without = RidgeForwardSelector(6, task="regression", never_keep=[0]).fit(table, outcome)
adjusted = RidgeForwardSelector(7, task="regression", always_keep=[0]).fit(table, outcome)
for label, selector in (("age left out", without), ("age kept", adjusted)):
    print(f"{label}: {', '.join(names[np.argsort(selector.ranking_)[:6]])}")

# %%
# With age in the model, genes that only follow age score like noise.
figure, axes = plt.subplots(2, 1, figsize=(9, 5), layout="constrained", sharex=True)
for ax, label, selector in zip(
    axes, ("age left out", "age kept and unpenalised"), (without, adjusted), strict=True
):
    ax.bar(range(d), selector.scores_[1:], width=2, color="0.6")
    ax.bar([100, 200], selector.scores_[[101, 201]], width=3, color="C2")
    ax.set(title=label, ylabel="score")
axes[1].set_xlabel("gene (0 to 29 follow age; green: act by themselves)")
plt.show()
