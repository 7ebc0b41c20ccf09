"""Raw counts are recognised, and nothing else is taken for them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits

from sparsieve import LogCPM, diagnose, select


def expression(rng, n=60, d=500, n_true=15, fold=2.0, spread=0.5):
    """Negative binomial counts of genes over several decades, in libraries of unequal size."""
    y = rng.permutation(np.arange(n) % 2)
    mean = rng.lognormal(3.0, 1.5, d) * rng.lognormal(0.0, spread, (n, 1))
    true = rng.permutation(d)[:n_true]
    mean[:, true] *= np.where(y[:, None], fold, 1.0)
    return rng.negative_binomial(3.0, 3.0 / (3.0 + mean)).astype(float), y, set(true.tolist())


def found(X, y):
    return [str(one) for one in diagnose(X, y, try_models=False) if one.kind == "counts"]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, np.float32])
def test_counts_are_recognised(rng, make):
    X, y, _ = expression(rng)
    (said,) = found(make(X), y)
    assert said.startswith(
        f"the values look like raw counts (whole numbers from 0 to {X.max():,.0f}"
    )
    assert said.endswith('with prepare="log-cpm"')


def test_prepared_counts_are_none(rng):
    X, y, _ = expression(rng)
    assert not found(LogCPM().fit_transform(X), y)
    assert not found(X - 1.0, y)  # negative
    assert not found(X + 0.5, y)  # no whole numbers
    assert not found(X[:, :20], y)  # too few to be a library


def test_other_whole_numbers(rng):
    y = np.arange(80) % 2
    assert not found(rng.integers(0, 256, (80, 400)), y)  # pictures
    assert not found(rng.integers(0, 100_000, (80, 400)), y)  # all columns alike
    equal = rng.multinomial(100_000, rng.dirichlet(np.full(400, 0.3)), size=80)
    assert not found(equal, y)  # equal totals


@pytest.mark.parametrize("load", [load_breast_cancer, load_digits])
def test_ordinary_data(load):
    assert not found(*load(return_X_y=True))


@pytest.mark.parametrize("name", ["mnist_1000", "madelon", "carcinoma_174", "dbworld", "cns"])
def test_real_data_that_are_no_counts(real_data, name):
    assert not found(*real_data(name))


def test_true_genes_are_found_better_in_prepared_counts():
    hits = {"raw": 0, "log1p": 0, "log-cpm": 0}
    for seed in range(6):
        X, y, true = expression(np.random.default_rng(seed), spread=0.8)
        names = [f"x{j}" for j in true]
        for how, (data, prepare) in {
            "raw": (X, None),
            "log1p": (np.log1p(X), None),
            "log-cpm": (X, "log-cpm"),
        }.items():
            kept = select(data, y, k=15, prepare=prepare).features
            hits[how] += len(set(kept) & set(names))
    assert hits["raw"] < hits["log1p"] < hits["log-cpm"]
