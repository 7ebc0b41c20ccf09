"""Folds, a model, weights, a seed and jobs of the user's own, in ``select`` and ``compare``."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sparsieve
from sparsieve.meta import count_search

pytestmark = pytest.mark.usefixtures("lines_only")

X, Y = load_wine(return_X_y=True)
MIXED = np.random.default_rng(0).permutation(len(Y))  # the classes are in order
X, Y = X[MIXED], Y[MIXED]
GROUPS = np.arange(len(Y)) // 15
SOFTMAX = make_pipeline(StandardScaler(), LogisticRegression())


@pytest.fixture
def folds(monkeypatch):
    """Every list of folds that a search makes."""
    seen = []
    make = count_search.search_folds

    def spy(*arguments):
        made = make(*arguments)
        seen.append(made)
        return made

    monkeypatch.setattr(count_search, "search_folds", spy)
    return seen


@pytest.mark.parametrize("k", [2, "auto"])
@pytest.mark.parametrize(
    "cv",
    [
        TimeSeriesSplit(3),
        GroupKFold(3),
        LeaveOneGroupOut(),
        StratifiedKFold(3),
        list(KFold(3).split(X)),
    ],
    ids=lambda cv: type(cv).__name__,
)
def test_folds_are_those_given(folds, cv, k):
    groups = GROUPS if isinstance(cv, GroupKFold | LeaveOneGroupOut) else None
    selected = sparsieve.select(X, Y, k=k, cv=cv, groups=groups, check=True)
    expected = cv if isinstance(cv, list) else list(cv.split(X, Y, groups))
    assert selected.check.n_folds == len(expected)
    for (train, test), (ours, theirs) in zip(folds[-1], expected, strict=True):
        np.testing.assert_array_equal(train, ours)
        np.testing.assert_array_equal(test, theirs)


def test_folds_that_can_be_read_once_and_a_number(folds):
    once = iter(list(KFold(4).split(X)))
    assert sparsieve.select(X, Y, k=2, cv=once).check.n_folds == 4
    assert sparsieve.select(X, Y, k=2, cv=3).check.n_folds == 6  # drawn twice
    with pytest.raises(ValueError, match="cv must be a number of folds"):
        sparsieve.select(X, Y, k=2, cv="five")


def test_the_seed_draws_other_folds_and_reaches_the_method(folds):
    for seed in (None, 0, 1):
        assert sparsieve.select(X, Y, k=2, random_state=seed).check is not None
    (first, *_), (second, *_), (third, *_) = folds
    np.testing.assert_array_equal(first[1], second[1])  # 0 is the default
    assert not np.array_equal(second[1], third[1])
    method = sparsieve.select(X, Y, k=2, method="relieff", random_state=7, check=False).method
    assert method.random_state == 7


@pytest.mark.slow
def test_jobs_do_not_change_the_answer():
    ways = [
        sparsieve.select(X, Y, k=2, n_jobs=n_jobs, random_state=1).check.score for n_jobs in (1, 2)
    ]
    assert ways[0] == ways[1]


@pytest.mark.parametrize("k", [2, "auto"])
def test_the_model_is_the_one_checked(k):
    selected = sparsieve.select(X, Y, k=k, estimator=SOFTMAX, cv=KFold(3))
    assert selected.check.model == "LogisticRegression"
    scores = []
    for train, test in KFold(3).split(X):
        inner = sparsieve.RidgeForwardSelector(selected.selector.get_support().sum())
        kept = inner.set_params(task="classification").fit(X[train], Y[train]).get_support()
        model = SOFTMAX.fit(X[train][:, kept], Y[train])
        scores.append(model.score(X[test][:, kept], Y[test]))
    assert selected.check.score == pytest.approx(np.mean(scores))


def test_a_method_with_an_estimator_gets_it():
    from sklearn.feature_selection import SelectFromModel

    forest = RandomForestClassifier(5, random_state=0)
    selected = sparsieve.select(X, Y, k=2, method=SelectFromModel, estimator=forest, check=False)
    assert isinstance(selected.method.selector.estimator, RandomForestClassifier)
    assert isinstance(selected.model[-1], RandomForestClassifier)


def test_a_guest_that_keeps_many_gives_as_many_as_were_asked_for():
    from sklearn.feature_selection import SelectFromModel

    rng = np.random.default_rng(1)
    many = rng.normal(size=(120, 300))
    labels = np.where(many[:, 3] + many[:, 7] > 0, "yes", "no")
    guest = SelectFromModel(LogisticRegression())
    assert guest.fit(many, labels).get_support().sum() > 5
    selected = sparsieve.select(many, labels, k=5, method=guest, check=False)
    largest = np.argsort(-np.abs(LogisticRegression().fit(many, labels).coef_[0]))[:5]
    assert set(selected.features) == {f"x{j}" for j in largest}


@pytest.mark.parametrize("k", [2, "auto"])
@pytest.mark.parametrize("routing", [False, True])
def test_weights_count_like_copies(k, routing):
    weights = np.ones(len(Y))
    weights[:40] = 2.0
    twice = np.concatenate([np.arange(len(Y)), np.arange(40)])
    with config_context(enable_metadata_routing=routing):
        heavy = sparsieve.select(X, Y, k=2, sample_weight=weights, check=False)
        copies = sparsieve.select(X[twice], Y[twice], k=2, check=False)
        assert heavy.features == copies.features
        found = sparsieve.select(X, Y, k=k, sample_weight=weights, estimator=SOFTMAX, cv=3)
        assert found.check is not None
    # The ridge is a share of the number of samples, so the softmax is compared.
    kept = found.selector.get_support()
    alone = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[twice][:, kept], Y[twice])
    np.testing.assert_allclose(found.predict_proba(X), alone.predict_proba(X[:, kept]), atol=1e-4)


def test_weights_are_refused_by_name():
    with pytest.raises(ValueError, match="ReliefFSelector does not take weights of samples"):
        sparsieve.select(X, Y, k=2, method="relieff", sample_weight=np.ones(len(Y)))
    with pytest.raises(TypeError, match="sample_weight='weight' names a column, but X is of type"):
        sparsieve.select(X, Y, k=2, sample_weight="weight")


def test_groups_are_routed_to_the_folds_inside(folds):
    search = sparsieve.SelectorCV(ks=[1, 2], n_repeats=1)
    with config_context(enable_metadata_routing=True):
        search.fit(X, Y, groups=GROUPS)
        for train, test in folds[-1]:
            assert not set(GROUPS[train]) & set(GROUPS[test])
        folds.clear()
        cross_validate(
            search, X, Y, cv=GroupKFold(2), params={"groups": GROUPS}, error_score="raise"
        )
    assert len(folds) == 2
    outer = [train for train, _ in GroupKFold(2).split(X, Y, GROUPS)]
    for made, rows in zip(folds, outer, strict=True):
        for train, test in made:
            assert not set(GROUPS[rows][train]) & set(GROUPS[rows][test])


TORN = r"fold \d of cv has samples of \d+ of its \d+ test groups in its training part .* GroupKFold"
PAIRS = list(KFold(3, shuffle=True, random_state=0).split(X))


@pytest.mark.filterwarnings("error")  # one sentence, not two
@pytest.mark.parametrize("routing", [False, True])
@pytest.mark.parametrize("make", [lambda: KFold(3), lambda: PAIRS, lambda: iter(PAIRS)])
def test_folds_that_tear_groups_apart_are_refused(make, routing):
    with config_context(enable_metadata_routing=routing):
        with pytest.raises(ValueError, match=TORN):
            sparsieve.SelectorCV(ks=[1, 2], cv=make()).fit(X, Y, groups=GROUPS)
        with pytest.raises(ValueError, match=TORN):
            sparsieve.select(X, Y, cv=make(), groups=GROUPS)
        with pytest.raises(ValueError, match=TORN):
            sparsieve.select(X, Y, 2, cv=make(), groups=GROUPS)
        with pytest.raises(ValueError, match=TORN):
            sparsieve.compare(X, Y, ["fisher"], ks=[2], cv=make(), groups=GROUPS)


def test_pairs_that_keep_groups_together_are_taken(folds):
    whole = list(GroupKFold(3).split(X, Y, GROUPS))
    for given in (whole, iter(whole)):
        search = sparsieve.SelectorCV(ks=[1, 2], cv=given)
        with config_context(enable_metadata_routing=True):
            assert search.fit(X, Y, groups=GROUPS).n_splits_ == 3


def test_groups_can_be_requested_by_name():
    search = sparsieve.SelectorCV(ks=[1, 2], cv=GroupKFold(2))
    with config_context(enable_metadata_routing=True):
        search.set_fit_request(groups="patients")
        params = {"groups": GROUPS, "patients": GROUPS}
        found = cross_validate(search, X, Y, cv=GroupKFold(2), params=params, error_score="raise")
        assert len(found["test_score"]) == 2
        grid = GridSearchCV(
            search.set_fit_request(groups=True), {"rule": ["best"]}, cv=GroupKFold(2)
        )
        assert grid.fit(X, Y, groups=GROUPS).best_estimator_.n_splits_ == 2


def test_a_comparison_takes_a_model_and_weights(tmp_path):
    weights = np.linspace(1, 2, len(Y))
    found = sparsieve.compare(
        X, Y, ["fisher", "relieff"], ks=[2], estimator=SOFTMAX, sample_weight=weights, cv=KFold(3)
    )
    assert found.model == "LogisticRegression"
    assert list(found.left_out) == ["relieff"]
    assert "sample_weight" in found.left_out["relieff"]
    expected = []
    for train, test in KFold(3).split(X):
        fisher = sparsieve.FisherSelector(2).fit(X[train], Y[train], weights[train])
        kept = fisher.get_support()
        model = make_pipeline(StandardScaler(), LogisticRegression()).fit(
            X[train][:, kept],
            Y[train],
            standardscaler__sample_weight=weights[train],
            logisticregression__sample_weight=weights[train],
        )
        expected.append(model.score(X[test][:, kept], Y[test], weights[test]))
    np.testing.assert_allclose(found.methods["fisher"].scores["accuracy"][0], expected)
    found.report(tmp_path / "page.html")
    assert "LogisticRegression is fitted to its features and" in (tmp_path / "page.html").read_text(
        "utf-8"
    )


def test_a_comparison_refuses_two_models_and_what_is_none():
    with pytest.raises(ValueError, match="either model='svm' or an estimator"):
        sparsieve.compare(X, Y, ["fisher"], ks=[2], model="svm", estimator=SOFTMAX)
    with pytest.raises(TypeError, match="estimator must be a model"):
        sparsieve.compare(X, Y, ["fisher"], ks=[2], estimator=LogisticRegression)
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        sparsieve.compare(X, Y, ["fisher"], ks=[2], model="5nn", sample_weight=np.ones(len(Y)))


@pytest.mark.parametrize("cv", [GroupKFold(3), LeaveOneGroupOut()], ids=lambda cv: str(cv)[:12])
def test_group_splitters_without_groups_are_told_in_a_sentence(cv):
    said = "keeps groups of samples together, but none were given; pass groups"
    with pytest.raises(ValueError, match=said):
        sparsieve.select(X, Y, k="auto", cv=cv)
    with pytest.raises(ValueError, match=said):
        sparsieve.compare(X, Y, ["fisher"], ks=[2], cv=cv)
    groups = np.arange(len(Y)) % 5
    assert sparsieve.compare(X, Y, ["fisher"], ks=[2], cv=cv, groups=groups).k == 2


@pytest.mark.parametrize("k", [1, "auto"])
def test_a_model_of_ones_own_is_set_beside_a_guess(k):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(X[:, 1] > 0.3, "yes", "no")
    folds = list(KFold(3, shuffle=True, random_state=0).split(X))
    selected = sparsieve.select(X, y, k=k, estimator=GaussianNB(), cv=folds)
    sizes = [np.unique(y[train], return_counts=True) for train, _ in folds]
    largest = [labels[np.argmax(counts)] for labels, counts in sizes]
    alone = [np.mean(y[test] == one) for (_, test), one in zip(folds, largest, strict=True)]
    assert selected.check.guess == pytest.approx(np.mean(alone))
    assert f"always predicting the largest class: {100 * np.mean(alone):.1f} %" in str(selected)
