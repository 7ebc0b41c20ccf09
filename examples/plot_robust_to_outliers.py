"""
Gross errors in the target
==========================

Three outputs depend on eight of 120 features, and some of the targets are grossly wrong. Every
selector keeps eight features: how many are the right ones (mean over five data sets)? Robust losses
use the norm of a residual instead of its square, so that a sample that does not fit cannot
dominate.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import RFSSelector, RidgeForwardSelector, RobustL20Selector, RPMFSSelector


def gross_errors(share, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((80, 120))
    relevant = np.sort(rng.permutation(120)[:8])
    Y = X[:, relevant] @ rng.standard_normal((8, 3)) + rng.standard_normal((80, 3))
    spoilt = rng.permutation(80)[: round(80 * share)]
    Y[spoilt] = 15.0 * rng.standard_normal((len(spoilt), 3))
    return X, Y, relevant


selectors = {
    "ridge forward (squares)": RidgeForwardSelector(8),
    "RFS": RFSSelector(8),
    "robust l2,0": RobustL20Selector(8),
    "RPMFS": RPMFSSelector(8),
}
shares = (0.0, 0.1, 0.2, 0.3)
figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for name, selector in selectors.items():
    found = []
    for share in shares:
        problems = (gross_errors(share, seed) for seed in range(5))
        found.append(np.mean([selector.fit(X, Y).support_[j].sum() for X, Y, j in problems]))
    print(f"{name:<24}" + "".join(f"{count:7.1f}" for count in found))
    ax.plot(shares, found, "o-", label=name)
ax.set(xlabel="share of spoilt targets", ylabel="relevant features found, of 8")
ax.legend()
plt.show()

# %%
# This is what robust losses are for. They do not help against wrong *labels*: a 0/1 code cannot be
# grossly wrong, and in the quality study the robust models lost as much as others.
