"""Data with a known truth: real or simulated columns, and a target made of few or none of them."""

from __future__ import annotations

import zlib
from functools import cache

from benchmarks import common

import numpy as np  # isort: skip

MAX_FEATURES = 400
MAX_SAMPLES = 200

# Real X and the kind of truth planted on it; every second one is for tuning.
REAL = {
    "lung_203": "linear 10",
    "colon": "linear 5",
    "allaml": "linear 5",
    "isolet": "linear 10",
    "warppie10p": "linear 5",
    "carcinoma_174": "bent 8",
    "tumor14_190": "bent 8",
    "su_102": "linear 8",
    "breast3": "classes 5",
    "usps": "bent 6",
    "wdbc": "linear 4",
    "sonar": "linear 5",
    "madelon": "linear 10",
    "mnist_1000": "linear 8",
    "lung_cancer_181": "classes 8",
    "lymphoma_96": "copies 6",
    "cnae9": "linear 10",
    "leukemia_72": "copies 5",
    "glioma": "linear 4",
    "yale": "dense 60",
    "nci_61": "linear 5",
    "spambase": "dense 30",
    "dbworld": "linear 6",
    "coil20": "bent 6",
}
MADE = {
    "AR(0.7) 200 x 1000": "linear 20",
    "AR(0.7) 200 x 300": "linear 10",
    "clusters of 0.95, 150 x 400": "linear 8",
    "clusters of 0.95, 100 x 600": "classes 6",
    "confounder, 120 x 300": "confounded 5",
    "one-hot, 200 x 240": "linear 6",
    "ten classes, 250 x 300": "ten 10",
    "counts, 150 x 400": "linear 8",
    "AR(0.5) 300 x 60": "linear 10",
    "AR(0.5) 500 x 100": "linear 20",
}
# Samples that depend on each other, and other targets.
OTHER = {
    "patients of two, 160 x 300": "repeated 5",
    "patients of two, not told, 160 x 300": "repeated 5",
    "hidden batch, 120 x 300": "batch 5",
    "three populations, 200 x 300": "populations 5",
    "two populations, 200 x 300": "populations 5",
    "mixed ancestry of three, 200 x 300": "populations 5",
    "hidden drift, 200 x 300": "drift 5",
    "survival, 150 x 300": "times 4",
    "numbers of events, 150 x 300": "events 4",
}
# More truths on the same real X: five classes of unequal size.
RARE = ("prostate rare 5",)  # a class of a tenth of the samples
UNEQUAL = ("lung_203 unequal 5", "carcinoma_174 unequal 5", "lymphoma_96 unequal 5")
NULLS = (
    "normal n=16", "normal n=30", "normal n=60", "normal n=500", "counts n=60", "one-hot n=80",
    "t with 2 degrees n=60", "rare class 3 of 60", "rare class 9 of 200", "ten classes n=120",
    "real colon", "real lung_203", "real brain", "AR(0.9) n=100",
    "each sample twice n=60", "hidden batch n=80", "one-hot, ten classes n=60",
    *(f"{c} classes n={n}" for c in (2, 3, 5, 10) for n in (40, 80, 200)),
    "patients of two, 0.9 n=80", "patients of two, 0.7 n=80", "patients of two, not told, 0.9 n=80",
    "patients of five, a class each, 0.6 n=150", "mixed hidden batch n=80", "drift n=80",
    "known batch of three times the spread n=60", "Cauchy n=40", "few ones, skewed y n=60",
    "survival n=120", "numbers of events n=120",
)  # fmt: skip


def designs():
    """Name -> (kind of data, half)."""
    named = [*(f"{name} {truth}" for name, truth in (REAL | MADE).items()), *UNEQUAL]
    named += [*(f"{name} {truth}" for name, truth in OTHER.items()), *RARE]
    halves = {name: ("tune", "decide")[i % 2] for i, name in enumerate(named)}
    return halves | {f"null: {name}": ("tune", "decide")[i % 2] for i, name in enumerate(NULLS)}


def draw(design: str, repeat: int):
    """(X, y, true columns or None for a null) of a design; the same for every method."""
    rng = np.random.default_rng([zlib.crc32(design.encode()), repeat])
    if design.startswith("null: "):
        return (*null(design.removeprefix("null: "), rng), np.zeros(0, dtype=int))
    name, kind, number = design.rsplit(" ", 2)
    if kind == "populations":
        return populations(name, int(number), rng)
    X = real(name) if name in REAL or design in RARE else made(name, rng)
    return plant(X, kind, int(number), rng)


def settings(design: str, y: np.ndarray) -> dict:
    """What ``FDRSelector`` is told of a design: how to read y, covariates, groups, a batch."""
    told = {"task": "regression" if y.dtype.kind == "f" else "classification"}
    if "survival" in design or "numbers of events" in design:
        told["task"] = "survival" if "survival" in design else "counts"
    if "confounder" in design or "known batch" in design:
        told["always_keep"] = [0]
    if "patients" in design and "not told" not in design:
        told["groups"] = np.arange(len(y)) // (5 if "five" in design else 2)
    if "mixed" in design:
        told["adjust"] = "components"
    return told


def together(rng: np.random.Generator, n: int, width: int, size: int, alike: float) -> np.ndarray:
    """Columns of patients with so many samples each, which correlate by ``alike``."""
    shared = np.repeat(rng.standard_normal((n // size, width)), size, axis=0)
    return np.sqrt(alike) * shared + np.sqrt(1 - alike) * rng.standard_normal((n, width))


def times_and_events(rng: np.random.Generator, risk: np.ndarray) -> np.ndarray:
    """Survival times, a third of them censored, as a structured array."""
    n = len(risk)
    times, censored = rng.exponential(np.exp(-risk)), rng.exponential(2.0, n)
    y = np.empty(n, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = times <= censored, np.minimum(times, censored)
    return y


@cache
def real(name: str) -> np.ndarray:
    """At most some samples and columns of a data set, always the same ones."""
    X = np.load(common.DATA / f"{name}.npz")["X"].astype(np.float64)
    rng = np.random.default_rng(0)
    if len(X) > MAX_SAMPLES:
        X = X[rng.choice(len(X), MAX_SAMPLES, replace=False)]
    several = np.array([min(np.unique(x, return_counts=True)[1].max(), len(X)) for x in X.T])
    X = X[:, several <= len(X) - 5]
    if X.shape[1] > MAX_FEATURES:
        X = X[:, rng.choice(X.shape[1], MAX_FEATURES, replace=False)]
    return X


def sizes(name: str) -> tuple[int, int]:
    """Samples and columns of "..., 150 x 300"."""
    n, d = (int(part) for part in name.replace(",", "").split()[-3::2])
    return n, d


def made(name: str, rng: np.random.Generator) -> np.ndarray:
    n, d = sizes(name)
    noise = rng.standard_normal((n, d))
    if name.startswith("patients"):
        return together(rng, n, d, 2, 0.8)
    if name.startswith(("survival", "numbers")):
        return noise
    if name.startswith("AR"):
        X, r = noise.copy(), float(name[3:6])
        for j in range(1, d):
            X[:, j] = r * X[:, j - 1] + np.sqrt(1 - r**2) * noise[:, j]
        return X
    if name.startswith("clusters"):
        return np.sqrt(0.95) * np.repeat(noise[:, ::10], 10, axis=1) + np.sqrt(0.05) * noise
    if name.startswith("one-hot"):
        codes = rng.integers(0, 4, (n, d // 4))
        return (codes[:, :, None] == np.arange(4)).reshape(n, d).astype(float)
    if name.startswith("counts"):
        size = np.exp(0.5 * rng.standard_normal((n, 1)) + rng.standard_normal(d))
        return rng.poisson(size).astype(float)
    return noise + 0.8 * rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))


def populations(name: str, number: int, rng: np.random.Generator):
    """Copies of the rare allele at places whose frequencies differ, as does the target."""
    n, d = sizes(name)
    many = 2 if name.startswith("two") else 3
    ancestry = np.eye(many)[rng.integers(0, many, n)]
    if name.startswith("mixed"):
        ancestry = rng.dirichlet(np.full(many, 0.5), n)
    usual = rng.uniform(0.1, 0.9, d)
    frequencies = rng.beta(19 * usual, 19 * (1 - usual), (many, d)).clip(0.02, 0.98)
    X = rng.binomial(2, ancestry @ frequencies).astype(float)
    true = rng.choice(d, number, replace=False)
    signal = (X - X.mean(axis=0))[:, true] @ rng.choice([-0.8, 0.8], number)
    return X, signal + 0.9 * ancestry @ np.linspace(-1, 1, many) + rng.standard_normal(n), true


def plant(X, kind, number, rng):
    """A target of some columns, and which."""
    n, d = X.shape
    Z = clipped(X)
    if kind == "copies":  # truth among columns with substitutes
        close = (np.abs(Z.T @ Z) / n >= 0.7).sum(axis=0)
        true = rng.choice(np.argsort(-close)[: max(10 * number, d // 4)], number, replace=False)
    else:
        true = rng.choice(d, number, replace=False)
    part, signs = Z[:, true], rng.choice([-1.0, 1.0], number)
    if kind == "bent":  # monotone, U-shaped, steps, and heavy tails
        part = np.where(np.arange(number) % 2, np.tanh(2 * part), part**2 * np.sign(part + 0.5))
    if kind == "ten":
        scores = part @ rng.standard_normal((number, 10)) + 0.5 * rng.standard_normal((n, 10))
        return X, np.argmax(scores, axis=1), true
    if kind == "unequal":
        scores = part @ rng.standard_normal((number, 5)) + 0.4 * rng.standard_normal((n, 5))
        y = np.argmax(scores + np.linspace(1, -1, 5), axis=1)
        classes, sizes = np.unique(y, return_counts=True)
        return X, np.where(np.isin(y, classes[sizes < 2]), classes[np.argmax(sizes)], y), true
    signal = part @ signs
    if kind == "times":
        return X, times_and_events(rng, signal), true
    if kind == "events":
        return X, rng.poisson(np.exp(1 + 0.5 * signal + 0.5 * rng.standard_normal(n))), true
    signal = signal / max(signal.std(), 1e-12) * {"dense": 1.0}.get(kind, 2.0)
    noise = rng.standard_t(3, n) if kind == "bent" else rng.standard_normal(n)
    if kind == "confounded":  # shifts the target and a third of the columns
        batch = rng.integers(0, 2, n)
        X = X + 1.5 * batch[:, None] * (np.arange(d) % 3 == 0)
        X, true = np.column_stack((batch, X)), true + 1
        signal = signal + 2 * batch
    if kind == "repeated":
        noise = together(rng, n, 1, 2, 0.8)[:, 0]
    if kind == "batch":  # shifts the target and every column by as much as it likes
        batch = rng.permutation(np.arange(n) % 2)
        X = X + 0.7 * batch[:, None] * rng.standard_normal(d)
        signal = signal + batch
    if kind == "drift":  # moves the target and every column along the order of measurement
        run = np.linspace(-1, 1, n)
        X, signal = X + run[:, None] * rng.standard_normal(d), signal + 1.5 * run
    y = signal + noise
    if kind == "rare":
        y = (y > np.quantile(y, 0.9)).astype(int)
    if kind == "classes":
        y = (y > np.quantile(y, 0.6)).astype(int) + (y > np.quantile(y, 0.3)).astype(int)
    return X, y, true


def null(name, rng):
    d = 300
    if name.startswith("real"):
        X = real(name.split()[1])
        return X, rng.permutation(np.arange(len(X)) % 2)
    n = int(name.split("=")[1]) if "=" in name else int(name.split()[-1])
    X, y = rng.standard_normal((n, d)), rng.permutation(np.arange(n) % 2)
    if name.startswith("counts"):
        X = rng.poisson(np.exp(rng.standard_normal(d)), (n, d)).astype(float)
    elif name.startswith("one-hot"):
        X = (rng.integers(0, 5, (n, 60))[:, :, None] == np.arange(5)).reshape(n, -1).astype(float)
        y = rng.permutation(np.arange(n) % 10) if "ten classes" in name else y
    elif name.startswith("t with"):
        X, y = rng.standard_t(2, (n, d)), rng.standard_t(2, n)
    elif name.startswith("rare"):
        X, y = rng.standard_t(3, (n, d)), (np.arange(n) < int(name.split()[2])).astype(int)
    elif "classes" in name:
        number = name.split()[0].replace("ten", "10")
        y = rng.permutation(np.arange(n) % int(number))
    elif name.startswith("AR"):
        for j in range(1, d):
            X[:, j] = 0.9 * X[:, j - 1] + np.sqrt(0.19) * X[:, j]
        y = rng.standard_normal(n)
    elif name.startswith("each"):
        X, y = np.repeat(X[: n // 2], 2, axis=0), np.repeat(y[: n // 2], 2)
    elif name.startswith("patients"):
        size, alike = 5 if "five" in name else 2, float(name.split()[-2])
        X, y = together(rng, n, d, size, alike), together(rng, n, 1, size, alike)[:, 0]
        if "class" in name:
            y = np.repeat(rng.permutation(np.arange(n // size) % 2), size)
    elif name.startswith("mixed"):  # told that there may be one
        batch = np.arange(n) % 2
        X = X + 0.7 * batch[:, None] * rng.standard_normal(d)
        y = np.where(rng.random(n) < 0.3, 1 - batch, batch)
    elif name.startswith("drift"):
        run = np.linspace(-1, 1, n)
        X, y = X + run[:, None] * rng.standard_normal(d), 1.5 * run + rng.standard_normal(n)
    elif name.startswith("known"):
        spread = np.where(np.arange(n) < n // 4, 3.0, 1.0)
        X, y = X * spread[:, None], rng.standard_normal(n) * spread
        X[:, 0] = spread > 1
    elif name.startswith("Cauchy"):
        X, y = rng.standard_cauchy((n, d)), rng.standard_cauchy(n)
    elif name.startswith("few ones"):
        X, y = (rng.random((n, d)) < 0.05) * 1.0, rng.exponential(1.0, n)
    elif name.startswith("survival"):
        y = times_and_events(rng, np.zeros(n))
    elif name.startswith("numbers"):
        y = rng.poisson(np.exp(1 + rng.standard_normal(n)))
    elif name.startswith("hidden"):  # each column knows the batch a little, and so does y
        batch = rng.integers(0, 2, n)
        X, y = X + 1.0 * batch[:, None], batch ^ (rng.random(n) < 0.1)
    return X, y


def clipped(X):
    """Columns as the selector sees them."""
    Z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    Z = np.clip(Z, -3, 3)
    return (Z - Z.mean(axis=0)) / np.maximum(Z.std(axis=0), 1e-12)
