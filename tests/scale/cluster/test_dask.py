"""X in chunks of Dask, without a cluster: the same selections as of arrays, X never gathered."""

import operator
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sparsieve import (
    ChiSquareSelector,
    FisherSelector,
    FStatisticSelector,
    L20Selector,
    L21Selector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
    RidgeForwardSelector,
    RobustL20Selector,
    SelectorCV,
    TTestSelector,
)
from sparsieve.design.blocks import lazy_gram as condense
from sparsieve.scale.cluster import arrays as dask
from sparsieve.scale.cluster import cluster

da = pytest.importorskip("dask.array")

SELECTORS = [
    RidgeForwardSelector(6),
    RidgeForwardSelector(),
    RidgeForwardSelector(5, standardize=False, always_keep=[9]),
    L20Selector(5),
    L20Selector(5, solver="published"),
    L21Selector(5),
    RFSSelector(5),
    RobustL20Selector(3),
    FStatisticSelector(5),
    TTestSelector(5),
    FisherSelector(5),
    FisherSelector(5, generalized=True),
    MRMRSelector(5),
]


def problem(n=240, d=40, seed=0):
    """Three classes, columns of all sizes and far from zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    W = np.zeros((d, 3))
    W[:6] = rng.standard_normal((6, 3))
    y = np.argmax(X @ W + 0.5 * rng.standard_normal((n, 3)), axis=1)
    X = X * rng.uniform(0.1, 10, d) + rng.uniform(-50, 50, d)
    X[:, 7] = 3.0
    return X, y, rng.uniform(0.5, 2.0, n)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.support_, expected.support_)
    finite = np.isfinite(expected.scores_)
    np.testing.assert_allclose(
        found.scores_[finite], expected.scores_[finite], rtol=1e-4, atol=1e-6
    )
    if hasattr(expected, "objective_"):
        assert found.objective_ == pytest.approx(expected.objective_, rel=1e-6)


@pytest.fixture
def few_features(monkeypatch):
    """Make few features count as many: columns of X'X are fetched one by one."""
    monkeypatch.setattr(condense, "MAX_FEATURES", 5)


@pytest.mark.parametrize("selector", SELECTORS, ids=repr)
def test_the_selection_is_that_of_numpy(selector):
    X, y, weights = problem()
    chunked = da.from_array(X, chunks=(70, 15))
    expected = clone(selector).fit(X, y, sample_weight=weights)
    found = clone(selector).fit(chunked, da.from_array(y, chunks=50), da.from_array(weights))
    assert_same(found, expected)
    assert found.n_passes_ >= 1


@pytest.mark.parametrize("selector", [s for s in SELECTORS if "RFS" not in repr(s)][:7], ids=repr)
def test_fetching_columns_selects_the_same(selector, few_features):
    X, y, weights = problem()
    expected = clone(selector).fit(X, y, sample_weight=weights)
    assert_same(clone(selector).fit(da.from_array(X, chunks=(70, -1)), y, weights), expected)


@pytest.mark.parametrize("selector", [MRMRSelector(6), FisherSelector(6, generalized=True)])
def test_filters_that_fetch_columns_select_the_same(selector, few_features):
    X, y, _ = problem()
    assert_same(
        clone(selector).fit(da.from_array(X, chunks=(70, -1)), y), clone(selector).fit(X, y)
    )


def test_a_regression_with_copies_and_more_features_than_samples():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60, 300))
    X[:, 11] = X[:, 2]
    y = X[:, 2] - X[:, 5] + 0.1 * rng.standard_normal(60)
    expected = RidgeForwardSelector(8).fit(X, y)
    found = RidgeForwardSelector(8).fit(da.from_array(X, chunks=(25, 100)), y)
    assert_same(found, expected)
    assert found.n_passes_ <= 4  # columns come in company


def test_relieff_on_sampled_queries():
    X, y, _ = problem()
    chunked = da.from_array(X, chunks=(70, -1))
    for target in (y, X[:, 0] + X[:, 1]):
        selector = ReliefFSelector(5, n_samples=40, random_state=0)
        assert_same(clone(selector).fit(chunked, target), clone(selector).fit(X, target))
    with pytest.raises(TypeError, match=r"pass n_samples \(such as 200\)"):
        ReliefFSelector(5).fit(chunked, y)


def test_chi_square_of_sparse_chunks():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, (200, 30)).astype(float)
    y = rng.integers(0, 3, 200)
    X[:, 4] += y
    chunks = da.from_array(X, chunks=(60, -1)).map_blocks(sparse.csr_array)
    assert_same(ChiSquareSelector(4).fit(chunks, y), ChiSquareSelector(4).fit(X, y))
    assert_same(RidgeForwardSelector(4).fit(chunks, y), RidgeForwardSelector(4).fit(X, y))


def test_a_dataframe_of_unknown_lengths():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y, _ = problem()
    names = [f"gene {j}" for j in range(X.shape[1])]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names), npartitions=4)
    frame = frame[frame["gene 0"] > X[:, 0].min()]  # nobody knows how many rows are left
    rows = X[:, 0] > X[:, 0].min()
    found = FStatisticSelector(4).fit(frame, dd.from_pandas(pd.Series(y[rows]), npartitions=2))
    expected = FStatisticSelector(4).fit(X[rows], y[rows])
    assert_same(found, expected)
    assert found.feature_names_in_.tolist() == names
    smaller = found.transform(frame)
    assert list(smaller.columns) == found.get_feature_names_out().tolist()
    np.testing.assert_array_equal(smaller.compute().to_numpy(), expected.transform(X[rows]))


@pytest.mark.parametrize("name", [None, "outcome", 7])
def test_a_series_with_a_name_is_a_target(name):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    X, y, _ = problem()
    series = dd.from_pandas(pd.Series(y, name=name), npartitions=2)
    assert_same(FStatisticSelector(4).fit(X, series), FStatisticSelector(4).fit(X, y))


def test_transform_stays_lazy():
    X, y, _ = problem()
    selector = FStatisticSelector(4).fit(X, y)

    def never(block):
        raise AssertionError("computed")

    lazy = da.from_array(X, chunks=(70, 15)).map_blocks(never, dtype=float, meta=np.empty((0, 0)))
    assert selector.transform(lazy).shape == (len(X), 4)
    unknown = da.from_array(X, chunks=(70, -1))[da.from_array(y) > 0]
    np.testing.assert_array_equal(
        selector.transform(unknown).compute(), selector.transform(X[y > 0])
    )


def test_data_frames_are_made_where_they_are_asked_for():
    pl = pytest.importorskip("polars")
    X, y, _ = problem()
    selector = FStatisticSelector(4).set_output(transform="polars").fit(X, y)
    found = selector.transform(da.from_array(X, chunks=(70, -1)))
    assert isinstance(found, pl.DataFrame)
    np.testing.assert_array_equal(found.to_numpy(), X[:, selector.support_])


def test_many_small_chunks_are_merged():
    X, y, _ = problem()
    design = dask.DaskDesign(da.from_array(X, chunks=(1, -1))).ready()
    assert len(design._chunks) <= dask.MAX_CHUNKS
    assert_same(
        RidgeForwardSelector(4).fit(da.from_array(X, chunks=(1, -1)), y),
        RidgeForwardSelector(4).fit(X, y),
    )


def test_fit_never_gathers(monkeypatch):
    X, y, _ = problem(n=2000, d=30)
    received, round_trips = [], []

    def watched(results):
        values = cluster.compute_results(results)
        received.extend(_sizes(values))
        round_trips.append(1)
        return values

    monkeypatch.setattr(dask, "compute_results", watched)
    selector = RidgeForwardSelector(5).fit(da.from_array(X, chunks=(100, -1)), y)
    assert selector.n_passes_ == len(round_trips) == 2  # moments, then X'X and X'Y
    assert 0 < sum(received) <= 8 * (30**2 + 20 * 30)


def _sizes(value):
    if isinstance(value, np.ndarray):
        return [value.nbytes]
    if isinstance(value, list | tuple):
        return [size for part in value for size in _sizes(part)]
    return [size for part in vars(value).values() for size in _sizes(part)]


def test_results_are_merged_in_a_tree():
    """So that no task waits for more than a few, and as many merges go on as there are workers."""
    from dask import delayed

    parts = [delayed([i], traverse=False) for i in range(100)]
    root = cluster.tree(operator.add, parts)
    assert root.compute(scheduler="sync") == list(range(100))  # in their order
    waits_for = root.dask.get_all_dependencies().values()
    assert max(map(len, waits_for)) == cluster.FAN_IN


def test_zero_weights_leave_samples_out():
    X, y, weights = problem()
    weights[::3] = 0.0
    found = L20Selector(4).fit(da.from_array(X, chunks=(70, -1)), y, sample_weight=weights)
    assert_same(found, L20Selector(4).fit(X, y, sample_weight=weights))


def test_find_substitutes():
    X, y, _ = problem()
    X[:, 20] = X[:, 0] + 1e-3
    chunked = da.from_array(X, chunks=(70, -1))
    found = FStatisticSelector(3).fit(chunked, y).find_substitutes(chunked)
    assert found.keys() == FStatisticSelector(3).fit(X, y).find_substitutes(X).keys()


# -- bad input -------------------------------------------------------------------------------


def test_bad_chunks_get_one_sentence():
    X, y, _ = problem()
    chunked = da.from_array(X, chunks=(70, -1))
    bad = X.copy()
    bad[5, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN or infinite values in 1 column \(3\)"):
        FStatisticSelector(3).fit(da.from_array(bad, chunks=(70, -1)), y)
    with pytest.raises(ValueError, match="X has 240 samples, but y has 239"):
        FStatisticSelector(3).fit(chunked, y[1:])
    with pytest.raises(ValueError, match="must be a 2D array"):
        FStatisticSelector(3).fit(chunked[:, 0], y)
    with pytest.raises(TypeError, match="complex128"):
        FStatisticSelector(3).fit(chunked.astype(complex), y)
    with pytest.raises(TypeError, match=r"Dask Delayed.*, not a matrix"):
        FStatisticSelector(3).fit(pytest.importorskip("dask").delayed(X), y)
    with pytest.raises(ValueError, match=r"X has 40 features, but .* is expecting 3"):
        FStatisticSelector(2).fit(X[:, :3], y).transform(chunked)
    with pytest.raises(TypeError, match="SelectorCV needs X in memory"):
        SelectorCV(FStatisticSelector()).fit(chunked, y)


def test_chunks_that_are_not_what_they_should_be():
    X, y, _ = problem()
    chunked = da.from_array(X, chunks=(70, -1))

    def fails(block):
        raise OSError("no such file")

    def with_blocks(function):
        return chunked.map_blocks(function, dtype=float, meta=np.empty((0, 0)))

    with pytest.raises(ValueError, match="X could not be computed by Dask: no such file"):
        FStatisticSelector(3).fit(with_blocks(fails), y)
    with pytest.raises(
        ValueError, match=r"a chunk has shape \(\d0, 39\) instead of the declared \(\d0, 40\)"
    ):
        FStatisticSelector(3).fit(with_blocks(lambda block: block[:, 1:]), y)
    with pytest.raises(ValueError, match=r"X has masked values; fill them first"):
        FStatisticSelector(3).fit(da.ma.masked_greater(chunked, 10.0), y)


def test_text_columns_are_named():
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = dd.from_pandas(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), npartitions=1)
    with pytest.raises(ValueError, match="not numbers: 'b'; encode"):
        FStatisticSelector(1).fit(frame, [0, 1])


def test_a_failing_target_is_named():
    X, y, _ = problem()

    def fails(block):
        raise RuntimeError("no such file")

    broken = da.from_array(y, chunks=50).map_blocks(fails, dtype=int, meta=np.empty(0, dtype=int))
    with pytest.raises(ValueError, match="y could not be computed by Dask: no such file"):
        FStatisticSelector(3).fit(da.from_array(X), broken)


def test_numpy_needs_no_dask(monkeypatch):
    for name in [*sys.modules]:
        if name.split(".")[0] in ("dask", "distributed"):
            monkeypatch.setitem(sys.modules, name, None)
    X, y, _ = problem()
    assert FStatisticSelector(3).fit(X, y).support_.sum() == 3
