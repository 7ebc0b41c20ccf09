"""Newton's method in the norms of groups: both spaces, against plain coordinate descent."""

import numpy as np
import pytest

from sparsieve.solvers.paths.norm_newton import ActiveGroups, newton_norms


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_the_space_of_samples_and_that_of_rows_give_the_same_minimum(n_outputs):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((20, 60)), rng.standard_normal((20, n_outputs))
    starts, weights = np.arange(0, 60, 5), rng.uniform(1.0, 2.0, 12)
    alpha, power = 4.0, float((Y**2).sum())
    begin = 0.1 * rng.standard_normal((60, n_outputs))

    def value(W):
        norms = np.sqrt(np.add.reduceat((W**2).sum(axis=1), starts))
        return ((Y - X @ W) ** 2).sum() + alpha * weights @ norms

    found = {}
    for name, gram in {"samples": None, "rows": X.T @ X}.items():
        groups = ActiveGroups(X, gram, X.T @ Y, Y, starts, weights, alpha)
        found[name] = newton_norms(groups, begin, power, 1e-12, max_steps=50)
    np.testing.assert_allclose(found["samples"], found["rows"], atol=1e-7)

    # Proximal gradient steps, written out, reach no lower value.
    W, step = begin.copy(), 0.5 / np.linalg.norm(X, 2) ** 2
    for _ in range(20_000):
        W = W + 2.0 * step * X.T @ (Y - X @ W)
        norms = np.sqrt(np.add.reduceat((W**2).sum(axis=1), starts))
        shrink = np.maximum(1.0 - step * alpha * weights / norms, 0.0)
        W = W * np.repeat(shrink, 5)[:, None]
    assert value(found["samples"]) == pytest.approx(value(W), rel=1e-9)
    assert value(found["samples"]) < value(begin)
