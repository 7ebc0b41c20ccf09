"""Data of many kinds in which nothing is wrong, however good some of their features are."""

from __future__ import annotations

from itertools import cycle, islice

import numpy as np
from scipy import sparse
from scipy.stats import norm

AUC = 0.99


def _labels(rng, n, n_classes=2, share=0.5):
    if n_classes == 2:
        positive = min(max(round(share * n), 3), n - 3)
        return rng.permutation(np.arange(n) < positive).astype(int)
    return rng.permutation(np.arange(n) % n_classes)


def noise(rng):
    n, d = int(rng.choice([12, 20, 40, 100, 300])), int(rng.choice([5, 50, 500, 3000]))
    y = _labels(rng, n, int(rng.choice([2, 2, 3, 5])), rng.choice([0.5, 0.3, 0.1]))
    return rng.standard_normal((n, d)), y


def noise_numbers(rng):
    n, d = int(rng.choice([12, 20, 40, 100, 300])), int(rng.choice([5, 50, 500, 3000]))
    return rng.standard_normal((n, d)), rng.standard_normal(n)


def one_true_feature(rng):
    """Of area under the curve 0.99, normal, skewed or of unequal spread."""
    n, d = int(rng.choice([16, 24, 40, 60, 100, 200, 400])), int(rng.choice([5, 50, 500]))
    y = _labels(rng, n, share=rng.choice([0.5, 0.3]))
    X = rng.standard_normal((n, d))
    shift = np.sqrt(2.0) * norm.ppf(AUC)
    kind = rng.integers(3)
    if kind == 0:
        X[:, 3] += shift * y
    elif kind == 1:
        X[:, 3] = np.exp(X[:, 3] + shift * y)
    else:
        spread = np.where(y == 1, 1.0, 0.3)
        X[:, 3] = spread * X[:, 3] + np.sqrt((1 + 0.09) / 2) * shift * y
    return X, y


def one_true_number(rng):
    """A feature that explains 98 % of a target of numbers, or its logarithm."""
    n, d = int(rng.choice([16, 30, 60, 200, 400])), int(rng.choice([5, 50, 500]))
    X = rng.standard_normal((n, d))
    y = X[:, 3] + np.sqrt(1.0 / 0.98 - 1.0) * rng.standard_normal(n)
    return X, np.exp(y) if rng.random() < 0.3 else y


def several_true_numbers(rng):
    n, d = int(rng.choice([30, 60, 200])), int(rng.choice([20, 500]))
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    k = int(rng.integers(2, 6))
    signal = X[:, :k] @ rng.uniform(0.5, 2.0, k)
    return X, signal + 0.1 * signal.std() * rng.standard_normal(n)


def strong_genes(rng):
    """Expression in which hundreds of genes tell two diseases apart."""
    n, d = 72, int(rng.choice([2000, 7129]))
    y = _labels(rng, n, share=0.35)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 5)) @ rng.standard_normal((5, d))
    true = rng.permutation(d)[: int(rng.choice([20, 100, 500]))]
    within = X[:, true].std(axis=0)
    X[:, true] += y[:, None] * within * np.abs(rng.normal(0, 2.5, len(true)))
    return X, y


def three_levels(rng):
    """The same, discretised."""
    X, y = strong_genes(rng)
    edges = np.quantile(X, [0.3, 0.7], axis=0)
    return 2.0 * ((edges[0] < X).astype(float) + (edges[1] < X) - 1.0), y


def binary_features(rng):
    """Words, symptoms or mutations, the best of which are right in 80 of 100 samples."""
    n, d = int(rng.choice([40, 60, 80, 200])), int(rng.choice([6, 20, 200, 2000]))
    y = _labels(rng, n, share=rng.choice([0.5, 0.3]))
    rates = rng.beta(0.5, 3.0, size=d) * np.ones((2, 1))
    best = rng.permutation(d)[:3]
    rates[:, best] = np.array([[0.2], [0.8]])
    X = (rng.random((n, d)) < rates[y]).astype(float)
    return (sparse.csr_array(X) if rng.random() < 0.3 else X), y


def with_gaps(rng):
    """Values missing at random, in some columns three times as often in one class."""
    X, y = one_true_feature(rng) if rng.random() < 0.5 else several_true_numbers(rng)
    high = y > np.median(y) if y.dtype.kind == "f" else y == 1
    rate = np.where(rng.random(X.shape[1]) < 0.3, 0.6, 0.2)
    missing = rng.random(X.shape) < np.where(high[:, None], rate, 0.2)
    return np.where(missing, np.nan, X), y


def ratings(rng):
    """A questionnaire: few levels, equal rows, scales that hang together."""
    n, d = int(rng.choice([100, 400, 1000])), int(rng.choice([4, 10, 30]))
    trait = rng.standard_normal((n, 1))
    X = np.clip(np.round(3 + trait + rng.standard_normal((n, d))), 1, 5)
    y = np.clip(np.round(3 + trait[:, 0] + 0.5 * rng.standard_normal(n)), 1, 5)
    return X, (y > 3).astype(int) if rng.random() < 0.5 else y + 0.0


def mixed_table(rng):
    """A few columns of different kinds, rounded as people do."""
    n = int(rng.choice([60, 300, 2000]))
    age = rng.integers(20, 90, n)
    weight, height = rng.normal(75, 12, n).round(), rng.normal(170, 9, n).round()
    risk = 0.05 * (age - 55) + 0.05 * (weight - 75) + rng.logistic(size=n)
    sex, site = rng.integers(2, size=n), rng.integers(4, size=n)
    pressure = (120 + 0.5 * (age - 55) + rng.normal(0, 12, n)).round()
    X = np.column_stack([age, weight, height, sex, site, pressure]).astype(float)
    return X, (risk > 0).astype(int) if rng.random() < 0.5 else risk


def words(rng):
    n, d = int(rng.choice([100, 500])), int(rng.choice([500, 3000]))
    rates = np.minimum(rng.pareto(1.5, d) * 0.02, 1.0)
    y = _labels(rng, n, int(rng.choice([2, 4])))
    topics = np.exp(0.7 * rng.standard_normal((4, d)))
    return sparse.csr_array(rng.poisson(rates * topics[y]).astype(float)), y


def series(rng):
    """Measured one after the other, so that neighbours are alike."""
    n, d = int(rng.choice([100, 500])), int(rng.choice([3, 30]))
    X = np.cumsum(rng.standard_normal((n, d)), axis=0)
    return X, X[:, 0] + 3.0 * rng.standard_normal(n)


def low_rank(rng):
    """Pictures or spectra: many columns, few degrees of freedom."""
    n, d, k = int(rng.choice([80, 300])), int(rng.choice([200, 1000])), int(rng.choice([1, 3, 10]))
    hidden = rng.standard_normal((n, k))
    X = hidden @ rng.standard_normal((k, d)) + 0.05 * rng.standard_normal((n, d))
    return X, (hidden[:, 0] + 0.3 * rng.standard_normal(n) > 0).astype(int)


def heaps(rng):
    """Well separated groups of samples, which are the classes."""
    n_classes = int(rng.choice([2, 3, 6]))
    y = _labels(rng, 150, n_classes)
    centres = rng.standard_normal((n_classes, 30))
    return centres[y] + rng.choice([0.5, 0.2]) * rng.standard_normal((150, 30)), y


KINDS = (
    noise,
    noise_numbers,
    one_true_feature,
    one_true_number,
    several_true_numbers,
    strong_genes,
    three_levels,
    binary_features,
    with_gaps,
    ratings,
    mixed_table,
    words,
    series,
    low_rank,
    heaps,
    one_true_feature,  # twice: what is hardest to tell from a leak
)


def clean_sets(number, first=0):
    """(kind, X, y) of so many sets; the same ones whenever they are asked for."""
    for seed, make in enumerate(islice(cycle(KINDS), first, first + number), start=first):
        yield make.__name__, *make(np.random.default_rng(seed))
