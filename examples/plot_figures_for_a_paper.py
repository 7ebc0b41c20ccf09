"""
Figures for a paper
===================

Select features, look at the selection, and write every figure as SVG and PDF at the width of a
journal's column.
"""

# %%
# Look at the selection
# ---------------------
# ``plot()`` without a name draws an overview: how many features are enough, which ones were
# selected, and what the samples look like through them.

import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import sparsieve

data = load_wine(as_frame=True)
X, y = data.data, data.target.map({0: "Barolo", 1: "Grignolino", 2: "Barbera"})
selected = sparsieve.select(X, y, k=4)
selected.plot()
plt.show()

# %%
# Draw a single figure
# --------------------
# Every chart has a name. A class has the same colour in all of them, and the colours can be told
# apart with any kind of colour vision.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
selected.plot("values", ax=left)
selected.plot("projection", ax=right)
plt.show()

# %%
# The same charts come as displays for any fitted selector, in the style of scikit-learn.

selector = sparsieve.FisherSelector(4).fit(X, y)
display = sparsieve.plot(selector, X, y, "predictions", cv=5)
print(display.caption)
print(display.alt_text)
plt.show()

# %%
# Save everything for the paper
# -----------------------------
# A single column is 85 mm wide, ``width="double"`` is 180 mm. Text stays text, and the same
# selection gives the same files. captions.md has a caption and an alternative text for each figure.

with tempfile.TemporaryDirectory() as folder:
    for path in selected.save_figures(folder, width="single"):
        print(path.name)
