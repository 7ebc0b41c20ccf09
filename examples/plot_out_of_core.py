"""
Data that stay on disk
======================

A memory-mapped file is read block by block within a memory limit, with the same result as for an
array in memory. Here the file is small, and the limit is even smaller.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import sparsieve
from sparsieve.datasets.synthetic.classes import make_shared_features

data = make_shared_features(2000, 2000, n_relevant=10, n_classes=3, signal=0.5, random_state=0)
path = Path(tempfile.mkdtemp()) / "X.npy"
np.save(path, data.X.astype(np.float32))
print(f"{path.stat().st_size / 2**20:.0f} MiB on disk")

with sparsieve.set_memory("8MB"):
    on_disk = sparsieve.RidgeForwardSelector(20).fit(np.load(path, mmap_mode="r"), data.y)
in_memory = sparsieve.RidgeForwardSelector(20).fit(np.load(path), data.y)
print(f"passes over the file: {on_disk.n_passes_}")
print(f"the same features: {np.array_equal(on_disk.support_, in_memory.support_)}")

# %%
figure, ax = plt.subplots(figsize=(6, 4.5), layout="constrained")
ax.loglog(in_memory.scores_, on_disk.scores_, ".", color="0.6")
ax.loglog(in_memory.scores_[data.relevant], on_disk.scores_[data.relevant], "o", color="C2")
ax.set(xlabel="score, array in memory", ylabel="score, file of 8 MB at a time")
plt.show()
