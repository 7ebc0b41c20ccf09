"""StabilitySelection: counts, settings, its promise about false positives."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sparsieve import FisherSelector, RidgeForwardSelector, StabilitySelection
from sparsieve.choose.stability import _halves
from sparsieve.selectors.target import encode_target

# Tests of counting, not of bounds, do with few halves.
FEW = 20


@pytest.fixture
def planted(rng):
    X = rng.standard_normal((80, 60))
    y = (X[:, 3] - X[:, 7] + 0.5 * rng.standard_normal(80) > 0).astype(int)
    return X, y


def test_finds_planted_features_and_reports_probabilities(planted):
    fitted = StabilitySelection(n_subsamples=FEW).fit(*planted)
    assert fitted.get_support(indices=True).tolist() == [3, 7]
    runs = fitted.selection_probabilities_ * FEW
    np.testing.assert_allclose(runs, runs.round(), atol=1e-9)
    np.testing.assert_allclose(runs.sum(), FEW * fitted.n_features_per_run_)
    assert fitted.at(5).support_.sum() == 5
    assert fitted.at(None).support_.tolist() == fitted.support_.tolist()


def test_probabilities_are_plain_counts(planted):
    """The same halves, run by hand."""
    X, y = planted
    fitted = StabilitySelection(
        FisherSelector(), n_features_per_run=4, n_subsamples=6, random_state=3
    ).fit(X, y)
    target = encode_target(y, task="auto", dtype=float, owner="test")
    counts = np.zeros(X.shape[1])
    for seed in np.random.RandomState(3).randint(np.iinfo(np.int32).max, size=3):
        for half in _halves(target, np.random.RandomState(seed)):
            counts += FisherSelector(4).fit(X[half], y[half]).support_
    np.testing.assert_allclose(fitted.selection_probabilities_, counts / 6)


def test_path_ends_at_the_probabilities(planted):
    fitted = StabilitySelection(n_features_per_run=8, n_subsamples=FEW).fit(*planted)
    path = fitted.stability_path_
    assert path.ks.tolist() == list(range(1, 9))
    assert (np.diff(path.probabilities, axis=1) >= 0).all()
    np.testing.assert_allclose(path.probabilities.sum(axis=0), path.ks)
    np.testing.assert_array_equal(
        path.probabilities[:, -1], fitted.selection_probabilities_[path.features]
    )
    shorter = StabilitySelection(n_features_per_run=3, n_subsamples=FEW).fit(*planted)
    np.testing.assert_allclose(
        path.probabilities[:, 2], shorter.selection_probabilities_[path.features]
    )


def test_halves_are_disjoint_equal_and_stratified(rng):
    y = np.repeat([0, 1, 2], [21, 10, 6])
    target = encode_target(y, task="auto", dtype=float, owner="test")
    for seed in range(20):
        first, second = _halves(target, np.random.RandomState(seed))
        assert len(first) == len(second) == 18
        assert not set(first) & set(second)
        for k in range(3):
            assert abs((y[first] == k).sum() - (y[second] == k).sum()) <= 1


def test_same_answer_whatever_the_number_of_jobs(planted):
    model = StabilitySelection(LogisticRegression(random_state=1), n_subsamples=8)
    alone = clone(model).fit(*planted)
    together = clone(model).set_params(n_jobs=2).fit(*planted)
    np.testing.assert_array_equal(alone.scores_, together.scores_)
    np.testing.assert_array_equal(alone.ranking_, together.ranking_)
    other = clone(model).set_params(random_state=1).fit(*planted)
    assert (alone.scores_ != other.scores_).any()


@pytest.mark.parametrize("bound", ["worst_case", "unimodal", "r_concave"])
def test_two_settings_give_the_third(planted, bound):
    X, y = planted
    model = StabilitySelection(FisherSelector(), bound=bound, n_subsamples=FEW)
    loose = clone(model).set_params(expected_false_positives=2.0).fit(X, y)
    tight = clone(model).set_params(expected_false_positives=0.5).fit(X, y)
    assert tight.error_bound_ <= 0.5
    assert loose.error_bound_ <= 2.0
    assert tight.n_features_per_run_ < loose.n_features_per_run_
    assert loose.threshold_ == 0.75
    wider = clone(model).set_params(
        n_features_per_run=loose.n_features_per_run_ + 1, threshold=0.75
    )
    assert wider.fit(X, y).error_bound_ > 2.0
    by_count = clone(model).set_params(n_features_per_run=5, expected_false_positives=0.7)
    assert by_count.fit(X, y).error_bound_ <= 0.7
    lower = by_count.threshold_ - 1 / FEW
    again = clone(model).set_params(n_features_per_run=5, threshold=lower).fit(X, y)
    assert again.error_bound_ > 0.7 or lower <= 0.5 + 1 / FEW
    assert again.error_bound_ == again.error_bounds_[bound]


def test_noise_keeps_nothing_and_says_so(rng):
    X, y = rng.standard_normal((60, 100)), np.arange(60) % 2
    with pytest.warns(UserWarning, match="no feature was kept by a share of 0.9"):
        fitted = StabilitySelection(threshold=0.9, n_subsamples=FEW).fit(X, y)
    assert not fitted.support_.any()
    assert fitted.at(3).support_.sum() == 3


def test_regression_and_sample_weight(rng):
    X = rng.standard_normal((60, 30))
    y = X[:, 2] + 0.3 * rng.standard_normal(60)
    assert StabilitySelection(n_subsamples=FEW).fit(X, y).support_[2]
    # Samples that contradict the rest and weigh nothing.
    X_more, y_more = np.vstack([X, X]), np.append(y, 3 * X[:, 5])
    weights = np.repeat([1.0, 0.0], 60)
    fitted = StabilitySelection(n_subsamples=FEW).fit(X_more, y_more, sample_weight=weights)
    assert fitted.support_[2]
    assert fitted.selection_probabilities_[5] < 0.5


def test_sample_weight_is_routed(planted):
    X, y = planted
    weights = np.linspace(0.1, 2.0, len(y))
    selector = RidgeForwardSelector()
    plain = StabilitySelection(selector, n_subsamples=4).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        asked = StabilitySelection(selector.set_fit_request(sample_weight=True), n_subsamples=4)
        np.testing.assert_array_equal(
            asked.fit(X, y, sample_weight=weights).ranking_, plain.ranking_
        )
        by_default = StabilitySelection(n_subsamples=4).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(by_default.ranking_, plain.ranking_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_subsamples": 7}, "even"),
        ({"n_subsamples": 0}, "at least 2"),
        ({"threshold": 0.5}, r"\(0.5, 1\]"),
        ({"threshold": "high"}, "real number"),
        ({"bound": "none"}, "one of 'worst_case'"),
        ({"expected_false_positives": 0}, "positive"),
        ({"expected_false_positives": 1e-4}, "raise one of them"),
        ({"n_features_per_run": 30, "expected_false_positives": 0.01}, "lower n_features_per_run"),
        ({"n_features_per_run": 61}, "larger than the 60 features"),
        (
            {"n_features_per_run": 3, "threshold": 0.8, "expected_false_positives": 1.0},
            "leave one out",
        ),
    ],
)
def test_bad_parameters(planted, parameters, message):
    with pytest.raises(ValueError, match=message):
        StabilitySelection(**parameters).fit(*planted)


def test_classes_too_small_to_halve(rng):
    X = rng.standard_normal((10, 4))
    with pytest.raises(ValueError, match="two classes need two samples"):
        StabilitySelection().fit(X, np.append(np.zeros(9, dtype=int), 1))


# -- the promise -----------------------------------------------------------------------------


def false_positives(repetitions, *, bound, n_samples=80, n_features=100, n_true=3):
    """Features kept by mistake, and the promise, on data with known truth."""
    wrong, promise = [], None
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n_samples, n_features))
        y = X[:, :n_true].sum(axis=1) + 1.5 * rng.standard_normal(n_samples) > 0
        model = StabilitySelection(
            FisherSelector(), bound=bound, expected_false_positives=1.0, random_state=seed
        ).fit(X, y)
        wrong.append(model.support_[n_true:].sum())
        promise = model.error_bound_
    return np.array(wrong), promise


def keeps_promise(wrong, promise) -> bool:
    error = wrong.std(ddof=1) / np.sqrt(len(wrong))
    return bool(wrong.mean() <= promise + 2 * error)


@pytest.mark.filterwarnings("ignore:no feature was kept")
def test_few_false_positives():
    assert keeps_promise(*false_positives(5, bound="unimodal"))


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["worst_case", "unimodal", "r_concave"])
@pytest.mark.filterwarnings("ignore:no feature was kept")
def test_false_positives_stay_below_the_bound(bound):
    wrong, promise = false_positives(200, bound=bound)
    assert keeps_promise(wrong, promise), (wrong.mean(), promise)


def test_the_check_can_fail():
    """As many features without control of errors do not keep the promise."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 80, 100)), np.arange(80) % 2
    wrong = np.array([FisherSelector(5).fit(x, y).support_.sum() for x in X])
    assert not keeps_promise(wrong, 1.0)
