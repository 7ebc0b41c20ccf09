"""Selectors on X from a device choose what they choose on the host.

Where there is no CUDA device, torch's CPU build stands in for one.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine
from threadpoolctl import threadpool_limits

torch = pytest.importorskip("torch")

from torch.overrides import TorchFunctionMode  # noqa: E402

from sparsieve import (  # noqa: E402
    ChiSquareSelector,
    ExclusiveL21Selector,
    FDRSelector,
    FisherSelector,
    FStatisticSelector,
    InfoGainSelector,
    L20Selector,
    L21Selector,
    MRMRSelector,
    ReliefFSelector,
    RFSSelector,
    RidgeForwardSelector,
    RLSRSelector,
    RobustL20Selector,
    RPMFSSelector,
    SelectorCV,
    ShadowSelector,
    StabilitySelection,
    SVMRFESelector,
    TTestSelector,
    on_device,
)
from sparsieve._cost import announce  # noqa: E402
from sparsieve.design import parallel_passes  # noqa: E402
from sparsieve.scale.gpu import _torch_passes as passes  # noqa: E402
from sparsieve.scale.gpu import tensor as tensors  # noqa: E402
from sparsieve.solvers import AHIHT  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SELECTORS = [
    RidgeForwardSelector(5),
    RidgeForwardSelector(5, always_keep=[3], never_keep=[20]),
    L20Selector(4, solver="greedy"),
    # From its own first price the first row enters by a tie, which rounding decides.
    L20Selector(4, solver=AHIHT(lambda_0=20.0)),
    L21Selector(5),
    RFSSelector(4),
    RobustL20Selector(3),
    ExclusiveL21Selector(5),
    RLSRSelector(5),
    RPMFSSelector(3),
    FStatisticSelector(5),
    TTestSelector(5),
    ChiSquareSelector(5),
    FisherSelector(5),
    MRMRSelector(5),
    MRMRSelector(5, criterion="fcd"),
    ReliefFSelector(5),
    SVMRFESelector(5),
    StabilitySelection(RidgeForwardSelector(), n_subsamples=4, n_features_per_run=3),
    SelectorCV(RidgeForwardSelector(), ks=[1, 4], cv=2),
    ShadowSelector(FisherSelector(), max_rounds=10, always_keep=[2]),
]


@pytest.fixture
def device_path(monkeypatch):
    """Also a tensor in the memory of the host counts as one on a device, and is not copied."""
    monkeypatch.setattr(tensors.TensorDesign, "in_memory", lambda self: None)
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 0)


@pytest.fixture
def data():
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150].copy(), y[:150]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)
def test_the_same_selection(selector, data, device_path):
    X, y = data
    here = clone(selector).fit(X, y)
    there = clone(selector).fit(torch.from_numpy(X).to(DEVICE), torch.from_numpy(y).to(DEVICE))
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.scores_, here.scores_, rtol=1e-6, atol=1e-9)
    if hasattr(here, "objective_"):
        assert there.objective_ == pytest.approx(here.objective_, rel=1e-8)
    assert all(not torch.is_tensor(value) for value in vars(there).values())


def test_float32_reaches_the_objective_of_float64(data, device_path):
    X, y = data
    exact = RidgeForwardSelector(5).fit(X, y)
    X = torch.from_numpy(X.astype(np.float32)).to(DEVICE)
    for weights in (None, np.linspace(0.5, 1.5, len(y))):
        there = RidgeForwardSelector(5).fit(X, y, weights)
        if weights is None:
            np.testing.assert_array_equal(there.support_, exact.support_)
            assert there.objective_ == pytest.approx(exact.objective_, rel=1e-5)
        assert there.coef_.dtype == np.float32


def test_streamed_from_the_host(data):
    X, y = data
    found = L21Selector(5).fit(on_device(X.copy(), DEVICE, stream=True), y)
    np.testing.assert_array_equal(found.support_, L21Selector(5).fit(X, y).support_)


def test_the_host_works_on_one_thread_between_passes(data, device_path, monkeypatch):
    X, y = data
    seen = []
    fit = FStatisticSelector._fit

    def looked(self, given):
        pools = parallel_passes._libraries().info()
        seen.append(max(pool["num_threads"] for pool in pools))
        return fit(self, given)

    monkeypatch.setattr(FStatisticSelector, "_fit", looked)
    with threadpool_limits(2):
        FStatisticSelector(2).fit(X, y)
        FStatisticSelector(2).fit(torch.from_numpy(X).to(DEVICE), y)
    assert seen == [2, 1]


class Largest(TorchFunctionMode):
    """The size of the largest tensor that is made, in bytes; views take none."""

    def __init__(self, *known):
        super().__init__()
        self.known, self.n_bytes = {one.untyped_storage().data_ptr() for one in known}, 0

    def __torch_function__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, tuple | list) else [made]:
            if isinstance(one, torch.Tensor) and one.device.type != "meta":
                storage = one.untyped_storage()
                if storage.data_ptr() not in self.known:
                    self.n_bytes = max(self.n_bytes, storage.nbytes())
        return made


@pytest.mark.parametrize(
    ("selector", "dtype"),
    [
        (StabilitySelection(RidgeForwardSelector(), n_subsamples=2), np.float32),
        (SelectorCV(L21Selector(), ks=[2], cv=2, n_repeats=1), np.float64),
        (
            SelectorCV(
                StabilitySelection(L21Selector(), n_subsamples=2), ks=[2], cv=2, n_repeats=1
            ),
            np.float32,
        ),
    ],
    ids=["halves", "folds", "halves of folds"],
)
def test_folds_and_halves_are_not_copied(selector, dtype, device_path, monkeypatch, rng):
    """Nothing that is made has half the size of X, and the choice is that of copies."""
    X = rng.standard_normal((120, 160)).astype(dtype)
    y = (X[:, 3] + X[:, 50] - X[:, 7] > 0).astype(int)
    there = torch.from_numpy(X).to(DEVICE)
    monkeypatch.setattr(passes, "BLOCK_BYTES", X.nbytes // 5)
    with Largest(there) as seen:
        viewed = clone(selector).fit(there, y)
    assert 0 < seen.n_bytes < 0.4 * X.nbytes
    monkeypatch.setattr(tensors, "MAX_COPY_BYTES", 1 << 30)
    with Largest(there) as seen:
        copied = clone(selector).fit(there, y)
    assert seen.n_bytes >= 0.5 * X.nbytes
    here = clone(selector).fit(X, y)
    for other in (copied, here):
        np.testing.assert_array_equal(viewed.support_, other.support_)
        np.testing.assert_allclose(viewed.scores_, other.scores_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("n_features", [200, 1000])  # more are looked at in a few first
def test_near_copies_of_samples_are_found_beside_x(n_features, device_path, rng):
    measured = np.repeat(rng.standard_normal((180, n_features)), 2, axis=0)
    X = measured + 0.2 * rng.standard_normal(measured.shape)
    y = np.repeat(np.arange(180) % 3, 2)
    for given in (X, X.astype(np.float32)):
        here = FStatisticSelector(3).fit(given, y)
        there = FStatisticSelector(3).fit(torch.from_numpy(given).to(DEVICE), y)
        assert here.assumed_.startswith("360 of 360 samples are much closer to another sample")
        assert there.assumed_ == here.assumed_
        np.testing.assert_allclose(there.log_pvalues_, here.log_pvalues_, rtol=1e-4, atol=1e-6)
    alone = torch.from_numpy(rng.standard_normal(X.shape)).to(DEVICE)
    assert FStatisticSelector(3).fit(alone, y).assumed_ == ""


def test_values_missing_in_several_classes_are_all_counted(device_path, rng):
    X = rng.standard_normal((20, 6))
    X[[0, 11], [2, 4]] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN values: 2 values in 2 columns \(2, 4\)"):
        FStatisticSelector(3).fit(torch.from_numpy(X).to(DEVICE), np.arange(20) % 2)


def test_a_missing_value_in_any_fold_is_refused(data, device_path):
    X, y = data
    X[7, 3] = np.nan
    there = torch.from_numpy(X).to(DEVICE)
    for selector in (
        StabilitySelection(RidgeForwardSelector(), n_subsamples=2),
        SelectorCV(RidgeForwardSelector(), ks=[2], cv=2),
    ):
        with pytest.raises(ValueError, match=r"contains NaN values: 1 value in 1 column \(3\)"):
            selector.fit(there, y)


@pytest.mark.parametrize("dispatch", [False, True])
def test_tensors_come_back(data, dispatch, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # scikit-learn wants it before it dispatches
    X, y = load_wine(return_X_y=True)
    there = torch.from_numpy(X).to(DEVICE)
    with config_context(array_api_dispatch=dispatch):
        selector = RidgeForwardSelector(3).fit(there, torch.from_numpy(y))
        few = selector.transform(there)
        assert isinstance(few, torch.Tensor)
        assert few.device == there.device
        np.testing.assert_array_equal(few.cpu().numpy(), X[:, selector.support_])
        wide = selector.inverse_transform(few)
        assert wide.shape == there.shape
        assert torch.equal(wide[:, selector.support_.tolist()], few)
    some = there[:, :4].clone().requires_grad_()
    with pytest.raises(ValueError, match="has 4 features, but"):
        selector.transform(some)
    needs = there.clone().requires_grad_()
    assert selector.transform(needs).requires_grad  # a gradient passes through
    pytest.importorskip("pandas")
    frame = clone(selector).set_output(transform="pandas").fit_transform(there, y)
    np.testing.assert_array_equal(frame.to_numpy(), few.cpu().numpy())


def test_prediction_from_a_tensor(data):
    X, y = data
    there = torch.from_numpy(X).to(DEVICE)
    model = SelectorCV(RidgeForwardSelector(), ks=[2], cv=2).fit(there, y)
    np.testing.assert_array_equal(model.predict(there), model.predict(X))


def test_what_does_not_work_on_a_device(data, device_path):
    X, y = data
    there = torch.from_numpy(X).to(DEVICE)
    for selector in (InfoGainSelector(3), MRMRSelector(3, criterion="mid")):
        with pytest.raises(TypeError, match=r"X is on a device; pass X\.cpu\(\)\.numpy\(\), or"):
            selector.fit(there, y)
    with pytest.raises(ValueError, match="discrete_features are not supported"):
        ReliefFSelector(3, discrete_features=[1]).fit(there, y)
    there[3, 5] = float("nan")
    with pytest.raises(ValueError, match=r"contains NaN values: 1 value in 1 column \(5\)"):
        FStatisticSelector(3).fit(there, y)
    with pytest.raises(ValueError, match=r"NaN or infinite values .*1 column"):
        ReliefFSelector(3).fit(there, y)


def test_a_small_x_is_tested_on_the_host(data, device_path, monkeypatch):
    X, y = data
    there = torch.from_numpy(X).to(DEVICE)
    here = FDRSelector().fit(X, y)
    fetched = FDRSelector().fit(there, y)
    np.testing.assert_array_equal(here.pvalues_, fetched.pvalues_)
    assert fetched.transform(there).shape == (150, int(here.support_.sum()))
    seen = []
    monkeypatch.setattr(FDRSelector, "_work", lambda self, data: seen.append(data.design) or 0.0)
    FDRSelector().fit(there, y)
    assert not seen[-1].is_on_device
    monkeypatch.setattr(FDRSelector, "_fetched_bytes", 0)
    FDRSelector().fit(there, y)
    assert seen[-1].is_on_device


@pytest.mark.parametrize("claim", ["conditional", "set", "sequential", "marginal"])
def test_claims_beside_x_are_those_of_the_host(claim, device_path, monkeypatch, rng):
    monkeypatch.setattr(FDRSelector, "_fetched_bytes", 0)
    X = rng.standard_normal((90, 60)).astype(np.float32)
    X[:, 9] = X[:, 3]
    y = np.digitize(X[:, 3] - X[:, 8] + 0.3 * rng.standard_normal(90), [-1, 1])
    here = FDRSelector(claim=claim).fit(X, y)
    there = FDRSelector(claim=claim).fit(torch.from_numpy(X).to(DEVICE), y)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.pvalues_, here.pvalues_, rtol=1e-3)
    assert there.verdict_ == here.verdict_
    assert here.support_.any()


def test_long_tests_on_a_device_are_announced():
    for is_on_device, shape, is_long in (
        (True, (30_000, 1_000_000), True),
        (True, (1_000, 1_000_000), False),
        (False, (1_000, 1_000_000), False),  # announced later, when the path is known
    ):
        design = SimpleNamespace(is_on_device=is_on_device, shape=shape)
        work = FDRSelector()._work(SimpleNamespace(design=design))
        if is_long:
            with pytest.warns(UserWarning, match="FDRSelector will take about 3 minutes"):
                announce("FDRSelector", work)
        else:
            announce("FDRSelector", work)
