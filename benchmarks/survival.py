"""Concordance of held-out samples with k features: forward Cox selection and its peers.

Four sets come with scikit-survival (text columns as zeros and ones), the others have simulated
times on the X of shared data sets: five columns that are drawn at random act on the hazard, half of
the samples are censored. All methods select on the training parts of the same 2 x 5 folds, and the
same Cox ridge model predicts the held-out samples from the k features::

    python -m benchmarks.survival [k] [data set ...]

scikit-survival must be installed for its data and for Coxnet; without it the simulated sets and the
other methods remain.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from benchmarks.common import conditions, load

import numpy as np  # isort: skip  (after common, which sets the number of threads)

BUNDLED = ("breast_cancer", "gbsg2", "whas500", "veterans_lung_cancer")
SIMULATED = ("colon", "lung_203", "gravier", "sorlie", "christensen", "cns")
N_RELEVANT, SIGNAL = 5, 0.7


def bundled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A set of scikit-survival, with text columns as zeros and ones."""
    import pandas as pd
    from sksurv import datasets

    X, y = getattr(datasets, f"load_{name}")()
    return pd.get_dummies(X, drop_first=True).to_numpy(dtype=float), y


def simulated(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Times that depend on five columns of a shared data set."""
    from sparsieve.validation.survival import as_survival

    X, _ = load(name)
    rng = np.random.default_rng(sum(map(ord, name)))
    X = np.asarray(X, dtype=float)
    X = X[:, X.std(axis=0) > 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    columns = rng.choice(X.shape[1], N_RELEVANT, replace=False)
    risk = SIGNAL * np.clip(Z[:, columns], -3, 3) @ rng.choice([-1.0, 1.0], N_RELEVANT)
    time, end = rng.exponential(np.exp(-risk)), rng.exponential(np.exp(-risk))
    return X, as_survival((np.minimum(time, end), time <= end))


def score_test(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The univariate score statistics of the Cox model."""
    from sparsieve.solvers.losses.cox import Cox
    from sparsieve.validation.survival import as_survival, survival_parts

    loss = Cox(survival_parts(as_survival(y)))
    none = np.zeros((len(X), 1))
    X = X - X.mean(axis=0)
    return (X.T @ loss.gradient(none)[:, 0]) ** 2 / np.maximum(
        loss.quadratic_forms(none, X), np.finfo(float).tiny
    )


def coxnet(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """How early a feature enters the l1 path of scikit-survival's Coxnet."""
    from sksurv.linear_model import CoxnetSurvivalAnalysis

    scale = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(scale > 0, scale, 1.0)
    dtype = [("event", "?"), ("time", "f8")]
    plain = np.array(list(zip(y["event"], y["time"], strict=True)), dtype=dtype)
    path = CoxnetSurvivalAnalysis(l1_ratio=1.0, n_alphas=50, alpha_min_ratio=0.05).fit(Z, plain)
    coef = np.abs(path.coef_)
    return (coef > 0).sum(axis=1) + coef[:, -1] / (1.0 + coef[:, -1].max())


def methods() -> list:
    """Those that can run here."""
    from importlib.util import find_spec

    from sparsieve.registry import all_methods

    found: list = [("forward", "likelihood-forward")]
    if "likelihood-l21" in all_methods():
        found.append(("l21", "likelihood-l21"))
    if find_spec("sksurv") is not None:
        found.append(("coxnet", coxnet))
    return [*found, ("univariate", score_test)]


def main(asked: Sequence[str] = ()) -> None:
    from importlib.util import find_spec

    from sparsieve import compare

    arguments = list(asked)
    k = int(arguments.pop(0)) if arguments and arguments[0].isdigit() else 5
    sets = [(name, bundled) for name in BUNDLED if find_spec("sksurv") is not None]
    sets += [(name, simulated) for name in SIMULATED]
    chosen, rows = methods(), {}
    names = [name for name, _ in chosen]
    print(conditions("scikit-survival"))
    print(f"k = {k}; concordance by data set, 2 x 5 folds; a guess scores 0.5")
    print(f"{'data':<24}{'n':>6}{'d':>8}{'events':>8}" + "".join(f"{n:>12}" for n in names))
    for name, make in sets:
        if arguments and name not in arguments:
            continue
        X, y = make(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = compare(X, y, chosen, ks=[min(k, X.shape[1] - 1)])
        means = {n: float(found.methods[n].scores["concordance"].mean()) for n in found.methods}
        rows[name] = means
        events = int(sum(event for event in y[y.dtype.names[0]]))
        shown = "".join(f"{means.get(n, float('nan')):>12.3f}" for n in names)
        print(f"{name:<24}{len(y):>6}{X.shape[1]:>8}{events:>8}{shown}", flush=True)
    for other in names[1:]:
        gaps = [row["forward"] - row[other] for row in rows.values() if other in row]
        if len(gaps) > 1:
            error = np.std(gaps, ddof=1) / np.sqrt(len(gaps))
            print(f"forward - {other}: {np.mean(gaps):+.3f} +- {error:.3f} on {len(gaps)} sets")


if __name__ == "__main__":
    main(sys.argv[1:])
