"""Counts per library size on a log scale."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import LogCPM
from sparsieve.preprocessing.covariates import preparation
from sparsieve.scoring.engine import fit_preparation


@pytest.fixture
def counts(rng):
    return rng.poisson(rng.lognormal(1.0, 1.0, 30) * rng.lognormal(0, 0.5, (20, 1)))


@parametrize_with_checks([LogCPM(), LogCPM(scale=1e6)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_every_entry_by_hand(counts):
    counts[4] = 0  # a sample in which nothing was counted
    made = LogCPM().fit_transform(counts)
    totals = [sum(row) for row in counts.tolist()]
    usual = np.median([total for total in totals if total])
    for i, row in enumerate(counts.tolist()):
        for j, count in enumerate(row):
            due = np.log(1.0 + count * usual / totals[i]) if totals[i] else 0.0
            assert made[i, j] == pytest.approx(due, rel=1e-12)


def test_depth_of_counting_does_not_matter(counts):
    times = np.arange(1, 21)[:, None]
    fitted = LogCPM(scale=1e4).fit(counts)
    np.testing.assert_allclose(fitted.transform(counts * times), fitted.transform(counts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_sparse_stays_sparse_and_precise(counts, make, dtype):
    X = make(counts.astype(dtype))
    before = X.copy()
    made = LogCPM().fit_transform(X)
    assert made.dtype == dtype
    assert made.format == X.format
    assert made.nnz == X.nnz
    dense = LogCPM().fit_transform(counts.astype(dtype))
    assert dense.dtype == dtype
    np.testing.assert_allclose(made.toarray(), dense, rtol=1e-6)
    assert (before != X).nnz == 0  # what was given is not changed


def test_the_scale_is_that_of_the_training_samples(counts):
    train = np.arange(5)
    fitted, made = fit_preparation(preparation("log-cpm"), counts, train)
    assert fitted.scale_ == np.median(counts[train].sum(axis=1))
    np.testing.assert_array_equal(made, LogCPM().fit(counts[train]).transform(counts))


def test_frames_keep_their_names(counts):
    frame = pd.DataFrame(counts, columns=[f"g{j}" for j in range(30)])
    made = LogCPM().set_output(transform="pandas").fit_transform(frame)
    assert made.columns.tolist() == frame.columns.tolist()


@pytest.mark.parametrize("X", [np.array([[1.0, -2.0]]), sparse.csr_array([[1.0, -2.0]])])
def test_negative_values_are_refused(X):
    with pytest.raises(ValueError, match=r"Negative values .* already on a log scale"):
        LogCPM().fit(X)


@pytest.mark.parametrize("scale", ["mean", 0.0, -1.0, np.inf, True])
def test_bad_scales(counts, scale):
    with pytest.raises(ValueError, match="scale must be"):
        LogCPM(scale=scale).fit(counts)


def test_names_of_preparations():
    assert preparation(None) is None
    assert isinstance(preparation(LogCPM(scale=5.0)), LogCPM)
    for wrong in ("logs", LogCPM, 3, ["log", "zzz"]):
        with pytest.raises(ValueError, match=r"prepare must be one of 'impute', .*'log-cpm', a"):
            preparation(wrong)


def test_what_changes_the_number_of_columns_is_refused(counts):
    from sklearn.decomposition import PCA

    with pytest.raises(ValueError, match="PCA makes 2 columns of 30"):
        fit_preparation(PCA(2), counts, np.arange(20))
