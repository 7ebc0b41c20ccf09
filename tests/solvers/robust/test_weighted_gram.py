"""Variances of the reweighted system against the explicit matrix P."""

from __future__ import annotations

import numpy as np
import pytest

from sparsieve.solvers.robust import weighted_gram
from sparsieve.solvers.robust.problem import rows_in_use
from sparsieve.solvers.robust.weighted_gram import ReweightedSystem


def system(rng, n_samples, n_features, least=1e-3):
    F = np.full((n_samples, 1), n_samples**-0.5)
    X = rng.standard_normal((n_samples, n_features))
    a, e = (np.exp(rng.uniform(np.log(least), 1.0, size)) for size in (n_features, n_samples))
    K_inverse = np.linalg.inv(X * a @ X.T + np.diag(e))
    P = K_inverse - K_inverse @ F @ np.linalg.inv(F.T @ K_inverse @ F) @ F.T @ K_inverse
    return ReweightedSystem(np.hstack([X, F]), a, e), np.diag(X.T @ P @ X), np.diag(P)


@pytest.mark.parametrize("shape", [(500, 20), (50, 20), (50, 90)])
def test_few_columns_or_samples_have_exact_variances(shape, rng):
    made, *expected = system(rng, *shape)
    for found, exact in zip(made.variances(), expected, strict=True):
        np.testing.assert_allclose(found, exact, rtol=1e-8)


def test_random_vectors_serve_where_digits_are_lost(rng, monkeypatch):
    made, *expected = system(rng, 450, 20)
    monkeypatch.setattr(weighted_gram, "MIN_REMAINING_SHARE", 2.0)
    for found, exact in zip(made.variances(), expected, strict=True):
        assert 1e-6 < np.abs(found / exact - 1.0).mean() < 0.3


def test_rows_in_use(rng):
    W = np.zeros((9, 3))
    assert len(rows_in_use(W)) == 0
    W[[2, 2, 5, 8], [0, 2, 1, 2]] = 1.0, -1.0, 1e-300, 3.0
    np.testing.assert_array_equal(rows_in_use(W), [2, 5, 8])
    np.testing.assert_array_equal(rows_in_use(W[:, :1]), [2])


def test_a_system_without_columns_is_solved_without_a_word(capfd):
    features, samples = ReweightedSystem(np.empty((5, 0)), np.empty(0), np.full(5, 2.0)).variances()
    assert features.shape == (0,)
    np.testing.assert_allclose(samples, 0.5)
    assert "DPOTRI" not in "".join(capfd.readouterr())
