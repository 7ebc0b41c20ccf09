"""The preparation of targets for linear models."""

import numpy as np

from sparsieve.selectors.preparation import compress_outputs


def test_many_classes_are_compressed_without_a_decomposition(rng):
    for count in (201, 300):
        codes = np.concatenate([np.arange(count), rng.integers(0, count, 50)])
        Y = np.eye(count)[codes]
        Y -= Y.mean(axis=0)
        compressed, V = compress_outputs(Y)
        assert compressed.shape[1] == count - 1 == np.linalg.matrix_rank(Y)
        np.testing.assert_allclose(V.T @ V, np.eye(count - 1), atol=1e-12)
        np.testing.assert_allclose(compressed @ V.T, Y, atol=1e-12)
