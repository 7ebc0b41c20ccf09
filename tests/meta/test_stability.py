"""StabilitySelection: counts, settings, its promise about false positives."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from sparsieve import (
    FisherSelector,
    RidgeForwardSelector,
    SelectorCV,
    StabilitySelection,
    load,
    save,
)
from sparsieve.meta.halves import SampleUnits
from sparsieve.validation.target import encode_target

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
        for half in SampleUnits.from_target(target).halves(np.random.RandomState(seed)):
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
        first, second = SampleUnits.from_target(target).halves(np.random.RandomState(seed))
        assert len(first) == len(second) == 18
        assert not set(first) & set(second)
        for k in range(3):
            assert abs((y[first] == k).sum() - (y[second] == k).sum()) <= 1


def test_groups_stay_together(planted):
    X, y = planted
    groups = np.arange(len(y)) // 3
    target = encode_target(y, task="auto", dtype=float, owner="test")
    units = SampleUnits.from_target(target, groups)
    n_groups = len(np.unique(groups))
    for seed in range(10):
        halves = units.halves(np.random.RandomState(seed))
        named = [set(groups[half].tolist()) for half in halves]
        assert [len(names) for names in named] == [n_groups // 2] * 2
        assert not named[0] & named[1]
        for half, names in zip(halves, named, strict=True):
            assert len(half) == np.isin(groups, list(names)).sum()
    how = {"n_features_per_run": 5, "n_subsamples": FEW}
    fitted = StabilitySelection(**how).fit(X, y, groups=groups)
    apart = StabilitySelection(**how)
    apart.fit(X, y, groups=np.arange(len(y)))  # every sample a group: as if there were none
    alone = StabilitySelection(**how).fit(X, y)
    np.testing.assert_array_equal(apart.scores_, alone.scores_)
    assert (fitted.scores_ != alone.scores_).any()
    with config_context(enable_metadata_routing=True):
        asked = StabilitySelection(**how)
        chain = make_pipeline(asked.set_fit_request(groups=True)).fit(X, y, groups=groups)
        np.testing.assert_array_equal(chain[0].scores_, fitted.scores_)


def test_copies_in_one_half_are_no_second_witness(rng):
    """Ten samples of each of few patients: without groups a chance pattern looks stable."""
    patients = np.repeat(np.arange(12), 10)
    y = patients % 2
    X = rng.standard_normal((12, 60))[patients] + 0.05 * rng.standard_normal((120, 60))
    plain = StabilitySelection(n_features_per_run=5, n_subsamples=20).fit(X, y)
    grouped = StabilitySelection(n_features_per_run=5, n_subsamples=20)
    with pytest.warns(UserWarning, match="no feature was selected") as caught:
        grouped.fit(X, y, groups=patients)
    assert caught[0].filename == __file__  # whoever else is between
    assert plain.support_.sum() > grouped.support_.sum() == 0


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (lambda y: np.zeros(len(y)), "but there are 1; give at least 4"),
        (lambda y: np.where(y == 0, 0, np.arange(len(y)) + 1), "two groups each"),
        (lambda y: np.zeros((len(y), 2)), "one entry per sample"),
        (lambda y: np.zeros(3), "inconsistent numbers of samples"),
    ],
)
def test_groups_that_cannot_be_halved(planted, groups, message):
    X, y = planted
    with pytest.raises(ValueError, match=message):
        StabilitySelection(n_subsamples=2).fit(X, y, groups=groups(y))


def test_lines_of_progress(planted, capsys):
    StabilitySelection(n_subsamples=4, verbose=1).fit(*planted)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [
        "pair of halves 1 of 2",
        "pair of halves 2 of 2",
    ]


@pytest.mark.parametrize(
    ("model", "n_tasks"),
    [(StabilitySelection(n_subsamples=6), 3), (SelectorCV(cv=3, n_repeats=1), 3)],
)
def test_callbacks_of_scikit_learn_are_told(planted, tmp_path, model, n_tasks):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9")
    watcher = Watcher()
    plain = clone(model).fit(*planted)
    watched = clone(model).set_callbacks(watcher).fit(*planted)
    np.testing.assert_array_equal(watched.scores_, plain.scores_)
    assert watcher.heard[0] == "setup"
    assert watcher.heard[-1] == "teardown"
    assert watcher.heard.count("begin") == watcher.heard.count("end") == n_tasks + 1
    save(watched, tmp_path / "model.sparsieve")
    assert not hasattr(load(tmp_path / "model.sparsieve"), "_skl_callbacks")


class Watcher:
    """What scikit-learn says on the way."""

    def __init__(self):
        self.heard = []

    def setup(self, estimator, context):
        self.heard.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.heard.append("begin")

    def on_fit_task_end(self, estimator, context):
        self.heard.append("end")

    def teardown(self, estimator, context):
        self.heard.append("teardown")


@pytest.mark.slow
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
    with pytest.warns(UserWarning, match="no feature was selected in at least 90 %"):
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
        ({"n_subsamples": 10**30}, "at most 100000"),
        ({"threshold": 0.5}, r"\(0.5, 1\]"),
        ({"threshold": "high"}, "real number"),
        ({"bound": "none"}, "one of 'worst_case'"),
        ({"expected_false_positives": 0}, "positive"),
        ({"expected_false_positives": 1e-4}, "increase one of them"),
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
    with pytest.raises(ValueError, match="two classes of y need two samples"):
        StabilitySelection().fit(X, np.append(np.zeros(9, dtype=int), 1))


def test_classes_of_two_are_halved_without_regard_to_them(rng):
    y = np.arange(80) % 40
    X = rng.standard_normal((40, 6))[y] + 0.1 * rng.standard_normal((80, 6))
    with pytest.warns(UserWarning, match="too small to be split") as told:
        StabilitySelection(FisherSelector(), n_features_to_select=2, n_subsamples=10).fit(X, y)
    assert sum("too small" in str(warning.message) for warning in told) == 1
    units = SampleUnits(y, None, 80, y)
    for seed in range(20):
        halves = units.halves(np.random.RandomState(seed))
        assert not np.intersect1d(*halves).size
        for half in halves:
            assert len(half) == 40
            assert np.bincount(y[half]).max() == 2


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


@pytest.mark.filterwarnings("ignore:no feature was selected")
@pytest.mark.long("many draws of noise, or chance would not show")
def test_few_false_positives():
    assert keeps_promise(*false_positives(5, bound="unimodal"))


@pytest.mark.slow
@pytest.mark.parametrize("bound", ["worst_case", "unimodal", "r_concave"])
@pytest.mark.filterwarnings("ignore:no feature was selected")
def test_false_positives_stay_below_the_bound(bound):
    wrong, promise = false_positives(200, bound=bound)
    assert keeps_promise(wrong, promise), (wrong.mean(), promise)


def test_the_check_can_fail():
    """As many features without control of errors do not keep the promise."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 80, 100)), np.arange(80) % 2
    wrong = np.array([FisherSelector(5).fit(x, y).support_.sum() for x in X])
    assert not keeps_promise(wrong, 1.0)
