"""
Groups: windows of a spectrum
=============================

Neighbouring wavelengths measure nearly the same, so a selection of single wavelengths is arbitrary.
With windows as groups, the answer is a few bands that an instrument could measure. The spectra are
simulated: two absorption bands carry the target, a third one varies without meaning.
"""

import matplotlib.pyplot as plt
import numpy as np

from sparsieve import RidgeForwardSelector, SelectorCV, StabilitySelection

rng = np.random.default_rng(0)
wavelengths = np.arange(900, 1700, 4)
windows = np.array([f"{start} to {start + 36} nm" for start in wavelengths // 40 * 40])


def band(centre, width):
    return np.exp(-(((wavelengths - centre) / width) ** 2))


amounts = rng.normal(1.0, 0.3, size=(150, 3))
spectra = amounts @ np.array([band(1060, 25), band(1220, 40), band(1480, 25)])
spectra += 0.05 * np.cumsum(rng.normal(size=spectra.shape), axis=1) / 10
spectra += 0.02 * rng.normal(size=spectra.shape)
protein = 2.0 * amounts[:, 0] - 1.5 * amounts[:, 2] + 0.2 * rng.normal(size=150)

# %%
# How many windows? Cross-validation counts windows, not wavelengths.
search = SelectorCV(RidgeForwardSelector(), feature_groups=windows)
search.fit(spectra, protein)
print(search.summary())
chosen = search.group_names_[search.group_support_]
print("windows:", ", ".join(chosen))

# %%
# How sure is that? Stability selection bounds the expected number of windows kept by mistake.
stable = StabilitySelection(feature_groups=windows, n_subsamples=50).fit(spectra, protein)
print(stable.summary())

# %%
figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
ax.plot(wavelengths, spectra[:20].T, color="0.6", lw=0.6)
for name in chosen:
    start = int(name.split()[0])
    ax.axvspan(start, start + 40, alpha=0.3)
ax.set(xlabel="wavelength (nm)", ylabel="absorption", title="Selected windows")
plt.show()
