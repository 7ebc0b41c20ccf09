"""
Wavelengths for a concentration
===============================

Simulated spectra of 120 samples at 700 wavelengths: three substances with overlapping peaks, a
drifting baseline and noise. The target is the concentration of one substance. Which wavelengths
predict it?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import FStatisticSelector, L21Selector, RidgeForwardSelector

rng = np.random.default_rng(1)
wavelength = np.linspace(900, 1600, 700)


def peak(centre, width):
    return np.exp(-0.5 * ((wavelength - centre) / width) ** 2)


pure = np.array(
    [
        peak(1100, 18) + 0.4 * peak(1420, 25),
        peak(1125, 20) + 0.6 * peak(1250, 15),
        peak(1260, 25) + 0.5 * peak(1500, 30),
    ]
)
concentration = rng.uniform(0, 1, (120, 3))
drift = rng.normal(0, 0.1, (120, 1)) * (wavelength - 900) / 700
X = concentration @ pure + drift + 0.02 * rng.standard_normal((120, 700))
y = concentration[:, 0]

# %%
# The selection is part of the model, so it is repeated inside every fold.
methods = {
    "F statistic": FStatisticSelector(6, task="regression"),
    "l2,1": L21Selector(6, task="regression"),
    "ridge forward": RidgeForwardSelector(6, task="regression", ridge=0.01),
}
figure, ax = plt.subplots(figsize=(9, 4.5), layout="constrained")
ax.plot(wavelength, X[:12].T, color="0.75", linewidth=0.7)
ax.plot(wavelength, pure[0], color="black", label="target substance")
for height, (name, selector) in enumerate(methods.items()):
    model = make_pipeline(selector, StandardScaler(), RidgeCV(np.logspace(-4, 2, 7)))
    score = cross_val_score(model, X, y, cv=5, scoring="r2").mean()
    kept = wavelength[selector.fit(X, y).support_]
    at = np.full(len(kept), -0.15 - 0.12 * height)
    ax.plot(kept, at, "|", markersize=14, markeredgewidth=2, label=f"{name}: R² {score:.3f}")
ax.set(xlabel="wavelength, nm", ylabel="absorbance")
ax.legend(loc="upper right")
plt.show()

# %%
# The filter and the convex model choose redundant neighbours on the flank of the strongest peak.
# Ridge forward also chooses a wavelength where the target substance absorbs nothing: it measures
# the overlapping substance, which can then be subtracted.
