"""The compiled loops for very many features against the plain ones, on every kind of X."""

import numpy as np
import pytest
from scipy import sparse

from sparsieve.design import Scaled, as_design, clipped, dense, standardised, stream
from sparsieve.solvers.least_squares import exchange, features, tabled_support
from sparsieve.solvers.least_squares.exchange import swap_path
from sparsieve.solvers.least_squares.forward import forward_path


def design_of(kind, X, weights):
    if kind == "sparse":
        return as_design(sparse.csc_array(np.where(np.abs(X) > 1, X, 0.0)))
    if kind == "columns":
        return as_design(np.asfortranarray(X))
    if kind == "rows":
        return as_design(X)
    if kind == "scaled":
        return Scaled(as_design(X), X.mean(axis=0), X.std(axis=0), np.sqrt(weights))
    clip = {"clipped": 2.5, "clipped much": 0.5}[kind]
    return standardised(as_design(X), centre=True, scale=True, clip=clip).design


KINDS = ["rows", "columns", "sparse", "scaled", "clipped", "clipped much"]


def found(design, Y, ridge):
    start = forward_path(design, Y, ridge=ridge, n_steps=12).solution
    better = swap_path(design, Y, start, ridge=ridge, n_swaps=2).solution
    return start, better


@pytest.mark.thinned(6)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("ridge", [0.0, 20.0])
@pytest.mark.parametrize("threads", [1, 3])
def test_they_find_the_same(rng, monkeypatch, kind, dtype, ridge, threads):
    n, d = 61, 2500  # three strips
    X = rng.standard_normal((n, d)) + 3.0
    X[:, 7] = X[:, 3]  # in the span of another: with no ridge it has nothing to add
    Y = X[:, [3, 40, 250]] @ rng.standard_normal((3, 2)) + rng.standard_normal((n, 2))
    X, Y = X.astype(dtype), (Y - Y.mean(axis=0)).astype(dtype)
    weights = rng.random(n) + 0.5
    monkeypatch.setattr(exchange, "SMALL", 0)
    for module in (clipped, dense):
        monkeypatch.setattr(module, "COPY_BYTES", 0)
    monkeypatch.setattr("sparsieve.design.convert.COPY_BYTES", 0)
    plain = found(design_of(kind, X, weights), Y, ridge)

    monkeypatch.setattr(features, "COMPILED", 0)
    monkeypatch.setattr(tabled_support, "COMPILED", 0)
    monkeypatch.setattr(stream, "WORTH_A_THREAD", 1)
    monkeypatch.setattr(stream, "n_threads", lambda: threads)
    compiled = found(design_of(kind, X, weights), Y, ridge)

    scale = plain[0].gains.max()
    tolerance = {"rtol": 0, "atol": scale * (1e-10 if dtype == np.float64 else 1e-4)}
    for one, other in zip(plain, compiled, strict=True):
        for ours, theirs in zip(one.path.supports, other.path.supports, strict=True):
            # Either of the two equal features may be the one.
            assert sorted(np.where(ours == 7, 3, ours)) == sorted(np.where(theirs == 7, 3, theirs))
        np.testing.assert_allclose(one.path.objective, other.path.objective, **tolerance)
        np.testing.assert_allclose(one.remaining, other.remaining, **tolerance)
    assert not {3, 7} <= set(plain[0].path.features.tolist()) or ridge


def test_the_end_rule_hears_the_same(rng, monkeypatch):
    X, Y = rng.standard_normal((30, 50)), rng.standard_normal((30, 2))
    told = [[], []]
    for heard, limit in zip(told, (10**9, 0), strict=True):
        monkeypatch.setattr(features, "COMPILED", limit)
        forward_path(
            as_design(X), Y, ridge=3.0, n_steps=6, stop=lambda now, to=heard: to.append(now)
        )
    for one, other in zip(*told, strict=True):
        np.testing.assert_allclose(
            [one.gain, one.residual, one.pull, one.spent],
            [other.gain, other.residual, other.pull, other.spent],
            rtol=1e-10,
        )
