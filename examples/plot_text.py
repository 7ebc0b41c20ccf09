"""
Words that tell topics apart
============================

A thousand simulated messages with a vocabulary of 3,000 words: each of four topics uses some words
more often. The counts stay a sparse matrix throughout.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse

from sparsieve import ChiSquareSelector, RidgeForwardSelector, TTestSelector

TOPICS = ("garden", "music", "money", "weather")
rng = np.random.default_rng(0)
n_words, n_own = 3000, 6
# A few frequent words and many rare ones, as in any language.
rates = 5.0 / np.arange(1, n_words + 1) ** 0.9
own = rng.permutation(np.arange(50, 600))[: len(TOPICS) * n_own].reshape(len(TOPICS), n_own)
names = np.array([f"word{j}" for j in range(n_words)], dtype=object)
for topic, words in zip(TOPICS, own, strict=True):
    names[words] = [f"{topic}-{j}" for j in range(n_own)]

y = np.arange(1000) % len(TOPICS)
lam = np.tile(rates, (1000, 1))
for k, words in enumerate(own):
    lam[np.ix_(y == k, words)] += 0.08
X = sparse.csr_array(rng.poisson(lam).astype(float))
labels = np.array(TOPICS)[y]
print(f"{X.nnz / np.prod(X.shape):.1%} of the counts are not zero")

# %%
# How many of the 24 words that belong to a topic are among the first k?
figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
for selector in (ChiSquareSelector(60), RidgeForwardSelector(60), TTestSelector(60)):
    order = np.argsort(selector.fit(X, labels).ranking_)[:60]
    ax.plot(np.arange(1, 61), np.isin(order, own).cumsum(), label=type(selector).__name__)
    print(f"{type(selector).__name__}: {', '.join(names[order[:6]])} ...")
ax.axhline(own.size, color="0.6", linestyle=":")
ax.set(xlabel="words kept", ylabel="of these, words of a topic")
ax.legend()
plt.show()
