"""SelectorCV: the curve over k, the rules, and no leak."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.datasets import make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import RFE, SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import make_scorer, roc_auc_score
from sklearn.model_selection import (
    GroupKFold,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import (
    FisherSelector,
    L20Selector,
    L21Selector,
    LikelihoodForwardSelector,
    RidgeForwardSelector,
    SelectorCV,
    compare,
    select,
)
from sparsieve.meta.rules import RULES
from sparsieve.meta.trials import grouped_folds, learnable
from sparsieve.scoring.ridge_path import default_estimator


@pytest.fixture
def classes():
    X, y = make_classification(
        90, 30, n_informative=5, n_classes=3, n_clusters_per_class=1, random_state=0
    )
    return X, y


@pytest.fixture
def numbers():
    return make_regression(80, 25, n_informative=4, noise=20.0, random_state=0)


class Counting(FisherSelector):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_one_selection_per_fold_and_one_for_all(classes):
    Counting.fits = 0
    fitted = SelectorCV(Counting(), ks=range(1, 31), cv=4, n_repeats=1).fit(*classes)
    assert Counting.fits == 5
    Counting.fits = 0
    SelectorCV(Counting()).fit(*classes)
    assert Counting.fits == 21
    assert fitted.cv_results_["mean_test_score"].shape == (30,)


@pytest.mark.parametrize("selector", [RidgeForwardSelector(), FisherSelector(), L21Selector()])
def test_curve_is_what_a_pipeline_scores(selector, classes):
    X, y = classes
    ks = [1, 3, 8]
    model = KNeighborsClassifier(3)
    folds = StratifiedKFold(3)
    fitted = SelectorCV(selector, estimator=model, ks=ks, cv=folds).fit(X, y)
    for i, k in enumerate(ks):
        scores = []
        for train, test in folds.split(X, y):
            kept = clone(selector).set_params(n_features_to_select=8).fit(X[train], y[train]).at(k)
            pipeline = clone(model).fit(kept.transform(X[train]), y[train])
            scores.append(pipeline.score(kept.transform(X[test]), y[test]))
        got = [fitted.cv_results_[f"split{j}_test_score"][i] for j in range(3)]
        np.testing.assert_allclose(got, scores)
    np.testing.assert_allclose(fitted.cv_results_["mean_test_score"][-1], np.mean(scores))
    np.testing.assert_allclose(fitted.cv_results_["std_test_score"][-1], np.std(scores))


def same_curve(fast, slow):
    np.testing.assert_allclose(
        fast.cv_results_["mean_test_score"], slow.cv_results_["mean_test_score"], atol=1e-8
    )
    assert fast.best_k_ == slow.best_k_


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["two classes", "three classes", "numbers", "two outputs"])
def test_default_model_has_the_scores_of_scikit_learn(task, weighted, classes, numbers, rng):
    """One factorisation for all k gives what fitting the same model at every k gives."""
    X, y = classes if "classes" in task else numbers
    scoring = "accuracy" if "classes" in task else "r2"
    if task == "two classes":
        y = np.where(y == 0, "a", "b")
    if task == "two outputs":
        y = np.column_stack([y, rng.standard_normal(len(y))])
    params = {"sample_weight": rng.uniform(0.1, 3.0, len(y))} if weighted else {}
    ks = range(1, 26, 3)
    fast = SelectorCV(ks=ks).fit(X, y, **params)
    same_curve(fast, SelectorCV(ks=ks, scoring=scoring).fit(X, y, **params))
    model = make_pipeline(StandardScaler(), fast.estimator_[-1])
    if "classes" in task:  # a ridge model searches
        model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=0.1 * 0.8 * len(y)))
    if task != "two outputs":
        kind = RepeatedStratifiedKFold if "classes" in task else RepeatedKFold
        cv = kind(n_splits=5, n_repeats=4, random_state=0)
        slow = SelectorCV(estimator=model, ks=ks, cv=cv, rule="best").fit(X, y, **params)
        same_curve(SelectorCV(ks=ks, rule="best").fit(X, y, **params), slow)
    found, wanted = fast.predict(X), fast.estimator_.predict(X[:, fast.get_support()])
    if "classes" in task:
        assert (found == wanted).all()
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_default_estimator_reads_the_task(classes, numbers):
    assert is_classifier(SelectorCV().fit(*classes).estimator_)
    assert is_regressor(SelectorCV().fit(*numbers).estimator_)
    assert is_regressor(default_estimator("regression", 10))
    X, y = classes
    assert is_regressor(SelectorCV(RidgeForwardSelector(task="regression")).fit(X, y).estimator_)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "selector",
    [
        LogisticRegression(),
        RandomForestClassifier(10, random_state=0),
        SelectKBest(),
        RFE(LinearDiscriminantAnalysis()),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.long("RFE refits for every feature")
def test_estimators_of_scikit_learn_can_rank(selector, classes):
    X, y = classes
    fitted = SelectorCV(selector, ks=[2, 5], cv=3).fit(X, y)
    assert sorted(fitted.ranking_) == list(range(1, 31))
    assert fitted.transform(X).shape == (90, fitted.best_k_)
    kept = fitted.at(4)
    assert kept.transform(X).shape == (90, 4)
    if isinstance(selector, RFE):
        wanted = RFE(LinearDiscriminantAnalysis(), n_features_to_select=4).fit(X, y).support_
        np.testing.assert_array_equal(kept.support_, wanted)


def test_a_model_without_opinion_is_refused_in_words(classes):
    with pytest.raises(ValueError, match="does not say how important features are") as refused:
        SelectorCV(KNeighborsClassifier()).fit(*classes)
    assert "PermutationSelector(estimator=...) measures it for any model" in str(refused.value)


def test_predicts_like_its_final_model(classes):
    X, y = classes
    fitted = SelectorCV(FisherSelector(), estimator=LogisticRegression(), ks=[3, 6]).fit(X, y)
    kept = X[:, fitted.get_support()]
    model = LogisticRegression().fit(kept, y)
    np.testing.assert_array_equal(fitted.predict(X), model.predict(kept))
    np.testing.assert_allclose(fitted.predict_proba(X), model.predict_proba(kept))
    np.testing.assert_allclose(fitted.decision_function(X), model.decision_function(kept))
    assert fitted.score(X, y) == model.score(kept, y)
    assert is_classifier(SelectorCV(estimator=LogisticRegression()))
    assert is_regressor(SelectorCV(estimator=Ridge()))
    assert not hasattr(SelectorCV(estimator=Ridge()), "predict_proba")
    assert fitted.selector_.n_features_to_select == fitted.best_k_
    with pytest.raises(NotFittedError, match="made by at"):
        fitted.at(9).predict(X)
    assert fitted.at(9).at(4).get_support().sum() == 4
    assert (fitted.at(None).predict(X) == fitted.predict(X)).all()


@pytest.mark.long("starts processes")
def test_parallel_and_sparse_give_the_same(classes):
    X, y = classes
    X = np.where(X > 0, X, 0.0)
    alone = SelectorCV().fit(X, y)
    with parallel_config("threading"):
        same_curve(alone, SelectorCV(n_jobs=2).fit(X, y))
    thin = SelectorCV().fit(sparse.csr_array(X), y)
    same_curve(alone, thin)
    np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), alone.predict(X))


# -- rules -----------------------------------------------------------------------------------


def test_rules_in_the_object(classes):
    fits = {rule: SelectorCV(rule=rule).fit(*classes) for rule in RULES}
    fitted = fits["best"]
    assert fitted.k_by_rule_ == {rule: fit.best_k_ for rule, fit in fits.items()}
    results = fitted.cv_results_
    first, last = fitted.plateau_
    top = results["param_k"][np.argmax(results["mean_test_score"])]
    assert fitted.best_k_ == top
    assert first <= top <= last
    assert fits["one_se"].best_k_ == first <= top
    assert SelectorCV().rule == "fewest"
    assert len({len(np.atleast_1d(v)) for v in results.values()}) == 1


def test_the_summary_names_what_is_kept_the_best_number_and_the_model(classes):
    """By plain loops over the folds, with the models of scikit-learn."""
    X, y = classes
    cv = [(a, b) for a, b in RepeatedStratifiedKFold(n_repeats=2, random_state=0).split(X, y)]
    search = SelectorCV(FisherSelector(), cv=cv).fit(X, y)
    scores = {"search": [], "best": [], "kept": []}
    best = search.k_by_rule_["best"]
    for train, test in cv:
        for name, k in (("search", search.best_k_), ("best", best), ("kept", search.best_k_)):
            columns = np.argsort(FisherSelector().fit(X[train], y[train]).ranking_)[:k]
            model = RidgeClassifier(alpha=0.1 * len(train))
            if name == "kept":
                model = LogisticRegression(tol=1e-9, max_iter=10000)
            fitted = make_pipeline(StandardScaler(), model).fit(X[train][:, columns], y[train])
            scores[name].append(fitted.score(X[test][:, columns], y[test]))
    np.testing.assert_allclose(search.kept_scores_, scores["kept"])
    assert search.best_score_ == pytest.approx(np.mean(scores["kept"]))
    shown = {name: f"{100 * np.mean(values):.1f}" for name, values in scores.items()}
    said = " ".join(search.summary().split())
    assert said.startswith(f"Kept: {search.best_k_} features, ")
    both = dict.fromkeys(f"{shown[name]} %" for name in ("search", "best"))
    assert (
        f"(accuracy {' and '.join(both)} over 10 folds, by the ridge model that searches)" in said
    )
    assert f"The softmax regression model on them: accuracy {shown['kept']} %" in said


def saturated(n_samples=120, n_features=300, n_relevant=40, shift=0.8):
    rng = np.random.default_rng(0)
    y = np.arange(n_samples) % 2
    X = rng.standard_normal((n_samples, n_features))
    X[:, :n_relevant] += shift * (2 * y[:, None] - 1)
    return X, y


@pytest.mark.parametrize("n_repeats", [1, 4])
def test_where_all_from_some_number_on_classify_everything_the_fewest_are_kept(n_repeats):
    search = SelectorCV(rule="one_se", n_repeats=n_repeats).fit(*saturated())
    means = search.cv_results_["mean_test_score"]
    full = int(search.ks_[np.argmax(means == 1.0)])
    assert full < 20
    assert search.best_k_ <= full
    assert search.k_by_rule_["best"] <= full
    assert "100 %" in " ".join(search.summary().split())


def test_file_order_does_not_matter_much_and_runs_repeat(classes):
    X, y = classes
    order = np.argsort(y, kind="stable")
    once, again = (SelectorCV(FisherSelector()).fit(X[order], y[order]) for _ in range(2))
    assert once.best_k_ == again.best_k_
    np.testing.assert_array_equal(
        once.cv_results_["mean_test_score"], again.cv_results_["mean_test_score"]
    )
    other = SelectorCV(FisherSelector(), random_state=1).fit(X[order], y[order])
    assert (other.cv_results_["mean_test_score"] != once.cv_results_["mean_test_score"]).any()


def test_a_pipeline_reaches_as_far_as_asked(classes):
    X, y = classes
    pipeline = make_pipeline(StandardScaler(), RidgeForwardSelector())
    fitted = SelectorCV(pipeline, ks=[3, 20], n_repeats=1).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    long = RidgeForwardSelector(20).fit(scaled, y)
    np.testing.assert_array_equal(fitted.ranking_[long.support_], long.ranking_[long.support_])


def test_auto_grid(classes, rng):
    X, y = classes
    assert SelectorCV().fit(X, y).ks_[[0, -1]].tolist() == [1, 30]
    wide = SelectorCV(FisherSelector()).fit(rng.standard_normal((30, 500)), np.arange(30) % 2)
    assert wide.ks_[[0, -1]].tolist() == [1, 100]
    assert (np.diff(wide.ks_) > 0).all()


# -- metadata --------------------------------------------------------------------------------


def test_groups_reach_the_splitter(classes):
    X, y = classes
    groups = np.arange(len(y)) // 3
    fitted = SelectorCV(FisherSelector(), ks=[4], cv=GroupKFold(3)).fit(X, y, groups=groups)
    for i, (train, test) in enumerate(GroupKFold(3).split(X, y, groups)):
        kept = FisherSelector(4).fit(X[train], y[train])
        model = clone(fitted.estimator_).fit(kept.transform(X[train]), y[train])
        wanted = model.score(kept.transform(X[test]), y[test])
        assert fitted.cv_results_[f"split{i}_test_score"][0] == pytest.approx(wanted)
    with config_context(enable_metadata_routing=True):
        routed = SelectorCV(FisherSelector(), ks=[4], cv=GroupKFold(3)).fit(X, y, groups=groups)
    same_curve(fitted, routed)


@pytest.mark.needs_sklearn(
    "1.8", "a pipeline of scikit-learn 1.6 and 1.7 must be told to route weights to its score"
)
def test_sample_weight_with_and_without_routing(classes, rng):
    X, y = classes
    weights = rng.uniform(0.1, 3.0, len(y))
    plain = SelectorCV(ks=[2, 5]).fit(X, y, sample_weight=weights)
    with config_context(enable_metadata_routing=True):
        same_curve(plain, SelectorCV(ks=[2, 5]).fit(X, y, sample_weight=weights))
        same_curve(SelectorCV(ks=[2, 5]).fit(X, y), SelectorCV(ks=[2, 5]).fit(X, y))
        selector = FisherSelector().set_fit_request(sample_weight=True)
        model = LogisticRegression().set_fit_request(sample_weight=False)
        scorer = make_scorer(roc_auc_score, response_method="predict_proba", multi_class="ovr")
        scorer.set_score_request(sample_weight=True)
        folds = StratifiedKFold(3)
        routed = SelectorCV(selector, estimator=model, ks=[3], cv=folds, scoring=scorer)
        routed.fit(X, y, sample_weight=weights)
        with pytest.raises(ValueError, match="requested"):
            SelectorCV(FisherSelector(), estimator=model).fit(X, y, sample_weight=weights)
    for i, (train, test) in enumerate(folds.split(X, y)):
        kept = FisherSelector(3).fit(X[train], y[train], sample_weight=weights[train])
        fitted = LogisticRegression().fit(kept.transform(X[train]), y[train])
        wanted = roc_auc_score(
            y[test],
            fitted.predict_proba(kept.transform(X[test])),
            multi_class="ovr",
            sample_weight=weights[test],
        )
        assert routed.cv_results_[f"split{i}_test_score"][0] == pytest.approx(wanted)


def test_metadata_nobody_takes(classes):
    X, y = classes
    with pytest.raises(ValueError, match=r"KNeighborsClassifier.fit does not take it"):
        SelectorCV(estimator=KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))
    with pytest.raises(TypeError, match="unknown argument 'weights'"):
        SelectorCV().fit(X, y, weights=np.ones(len(y)))


def test_more_features_than_there_are_are_all_of_them(classes):
    with pytest.warns(UserWarning, match="ks asks for 31 features, larger than the 30 features"):
        search = SelectorCV(ks=[2, 30, 31], n_repeats=1).fit(*classes)
    np.testing.assert_array_equal(search.ks_, [2, 30])
    np.testing.assert_array_equal(search.cv_results_["n_features"], [2, 30])
    assert search.n_features_ == search.best_k_


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ks": [0, 3]}, "at least 1"),
        ({"ks": []}, "empty"),
        ({"ks": [2.5]}, "integer"),
        ({"ks": "many"}, "one of 'auto'"),
        ({"rule": "first"}, "one of 'fewest', 'median', 'one_se', 'best', 'elbow'"),
        ({"n_repeats": 0}, "n_repeats must be at least 1"),
        ({"n_repeats": 10**30}, "n_repeats must be at most 100000"),
        ({"selector": L20Selector(lam=5.0)}, r"ranks \d+ features with its parameters, but 30"),
    ],
)
def test_bad_parameters(classes, parameters, message):
    with pytest.raises(ValueError, match=message):
        SelectorCV(**parameters).fit(*classes)


def test_bad_data_is_refused_in_words(classes):
    X, y = classes
    X = X.copy()
    X[3, 4] = np.nan
    with pytest.raises(ValueError, match=r"1 value in 1 column \(4\)"):
        SelectorCV().fit(X, y)


def test_weights_that_leave_one_class(classes):
    X, y = classes
    with pytest.raises(ValueError, match="sample_weight leaves only 1 class with"):
        SelectorCV().fit(X, y, sample_weight=(y == 1).astype(float))


@pytest.mark.thinned(9)
@parametrize_with_checks(
    [
        SelectorCV(FisherSelector(), estimator=LogisticRegression(), cv=3, n_repeats=1),
        SelectorCV(RidgeForwardSelector(), estimator=Ridge(), cv=3, n_repeats=1),
    ]
)
def test_scikit_learn_checks_as_classifier_and_regressor(estimator, check):
    check(estimator)


# -- no leak ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_pure_noise_scores_at_chance_and_selecting_outside_the_folds_does_not():
    honest, leaky = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 1000)), rng.permutation(np.arange(60) % 2)
        fitted = SelectorCV(FisherSelector(), ks=[10]).fit(X, y)
        honest.append(fitted.best_score_)
        kept = FisherSelector(10).fit_transform(X, y)
        leaky.append(cross_val_score(fitted.estimator_, kept, y, cv=5).mean())
    error = np.std(honest, ddof=1) / np.sqrt(10)
    assert abs(np.mean(honest) - 0.5) < 3 * error + 0.01
    assert np.mean(leaky) > 0.8


def test_what_scores_the_same_on_every_split_is_as_good():
    X = np.random.default_rng(0).standard_normal((80, 200))
    y = np.arange(80) % 2
    X[:, 5] = y  # alone perfect
    search = SelectorCV().fit(X, y)
    perfect = search.ks_[search.cv_results_["mean_test_score"] == 1.0]
    assert perfect[0] == 1
    assert search.plateau_[0] == 1
    assert search.best_k_ == search.k_by_rule_["one_se"] == search.k_by_rule_["best"] == 1


def test_the_report_says_when_nothing_beats_a_guess():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 20)), np.arange(80) % 2
    assert "a guess without features (accuracy 50.0 %)" in " ".join(
        SelectorCV().fit(X, y).summary().split()
    )
    X[:, 3] = y
    sure = SelectorCV().fit(X, y)
    assert "guess" not in sure.summary()
    numbers = SelectorCV().fit(X, rng.standard_normal(80)).summary()
    assert "a guess without features (R² 0.000)" in " ".join(numbers.split())


def test_groups_stay_together_in_folds_of_our_own(rng):
    X, groups = rng.standard_normal((40, 6)), np.repeat(np.arange(10), 4)
    for y in (np.arange(40) % 2, X[:, 1] + rng.standard_normal(40)):
        search = SelectorCV(ks=[1, 2], cv=3, n_repeats=2)
        target = search._training_data(X, y, None).target
        folds = grouped_folds(3, 2, 0, target, groups)
        assert len(folds) == 6
        assert all(not set(groups[train]) & set(groups[test]) for train, test in folds)
        assert search.fit(X, y, groups=groups).n_splits_ == 6
    with pytest.warns(UserWarning, match="cv=12 exceeds the number of groups, so 10 folds are"):
        assert SelectorCV(ks=[1], cv=12, n_repeats=1).fit(X, y, groups=groups).n_splits_ == 10
    with pytest.raises(ValueError, match="12 folds need at least 12 groups, but there is 1"):
        SelectorCV(ks=[1], cv=12).fit(X, y, groups=np.zeros(40))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("n_groups", [2, 4, 8])
def test_few_groups_make_few_folds_where_nobody_asked_for_five(rng, n_groups):
    """Four hospitals, and eight patients of whom four are ill."""
    X, groups = rng.standard_normal((8, 3)), np.arange(8) // (8 // n_groups)
    for y in [np.arange(8) % 2] if n_groups == 8 else [np.arange(8) % 2, rng.standard_normal(8)]:
        selected = select(X, y, groups=groups)
        assert selected.selector.n_splits_ == 4 * min(n_groups, 4)
        assert re.match(rf"(8 samples|{n_groups} groups) are too few", str(selected))


def test_models_and_scores_for_numbers(rng):
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.svm import SVR

    X = rng.standard_normal((60, 8))
    y = 30 * X[:, 2] + 20 * X[:, 5] + rng.standard_normal(60)
    search = SelectorCV(
        ks=[1, 2, 6], estimator=SVR(kernel="linear", C=10), scoring="neg_mean_absolute_error"
    ).fit(X, y)
    scores = search.cv_results_["mean_test_score"]  # errors, negative: larger is better
    assert scores.max() < 0
    assert scores[1] > 0.5 * scores[0]
    assert search.at(2).get_support(indices=True).tolist() == [2, 5]
    both = np.column_stack([y, X[:, 1]])
    search = SelectorCV(ks=[1, 3], estimator=KNeighborsRegressor(), n_repeats=1).fit(X, both)
    assert search.predict(X).shape == (60, 2)


@pytest.mark.parametrize("cv", [{"00": None}, [], [(0, 1)], [([0, 1], [99])], [([], [1])], [3]])
def test_folds_that_are_no_pairs_of_samples_are_refused(classes, cv):
    with pytest.raises(ValueError, match=r"cv (is not a|yields no folds|must be a number)"):
        SelectorCV(FisherSelector(), ks=[1], cv=cv).fit(*classes)


def test_classes_of_two_samples_are_folded_without_regard_to_them(rng):
    y = np.arange(60) % 30
    X = rng.standard_normal((30, 4))[y] + 0.1 * rng.standard_normal((60, 4))
    with pytest.warns(UserWarning, match="no class of y has more than two samples") as told:
        search = SelectorCV(n_repeats=1).fit(X, [f"class {label}" for label in y])
    assert sum("no class of y" in str(warning.message) for warning in told) == 1
    assert search.n_splits_ == 5
    assert search.support_.any()


def test_what_is_left_to_learn_from_has_two_classes_and_a_pair():
    def labels(codes):
        return SimpleNamespace(codes=codes, events=None)

    codes = np.array([0, 0, *range(1, 10)])
    places = np.arange(len(codes))
    folds = learnable([(np.delete(places, [j]), np.array([j])) for j in places], labels(codes))
    assert sorted(int(test[0]) for _, test in folds) == list(range(2, 11))
    two = np.array([0, 0, 0, 0, 1])
    folds = learnable([(np.arange(2), np.arange(2, 5))], labels(two))
    assert [part.tolist() for part in folds[0]] == [[0, 1, 4], [2, 3]]
    three = [(np.array([0, 1]), np.array([2])), (np.array([1, 2]), np.array([0]))]
    with pytest.raises(ValueError, match="3 samples of X are too few for cross-validation"):
        learnable(three, labels(np.array([0, 1, 1])))


@pytest.mark.parametrize("n_samples", [3, 4, 6])
@pytest.mark.parametrize("kind", ["numbers", "counts", "one censored", "two events"])
def test_a_handful_of_samples_gets_fewer_folds_or_a_sentence(n_samples, kind, rng):
    X, number = rng.standard_normal((n_samples, 3)), np.arange(n_samples)
    y, selector = rng.standard_normal(n_samples), RidgeForwardSelector()
    if kind == "counts":
        y, selector = rng.integers(1, 9, n_samples), LikelihoodForwardSelector(task="counts")
    elif kind != "numbers":
        y = number + 1.0, number != 2 if kind == "one censored" else number < 2
        selector = LikelihoodForwardSelector(task="survival")
    search = SelectorCV(selector, ks=[1], n_repeats=1)
    if n_samples < 4:
        with pytest.raises(ValueError, match=r"the 3 samples of X are too few for cross-val"):
            search.fit(X, y)
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(X, y)
    assert {one.category for one in caught} == {UserWarning}
    words = f"fewer than two samples to test on in a fold, so {n_samples // 2} folds are used"
    assert words in str(caught[0].message)
    assert search.n_splits_ <= n_samples // 2


@pytest.mark.long("twenty fits of a Cox model")
def test_four_survival_times_are_selected_from(rng):
    with pytest.warns(UserWarning, match="4 samples are too few to tell"):
        select(rng.standard_normal((4, 6)), ([1.0, 2, 3, 4], [1, 1, 0, 1]), task="survival")


def test_the_default_score_is_called_by_its_name():
    X = np.random.default_rng(0).standard_normal((8, 3))
    same = np.array([(True, 1.0)] * 4 + [(True, 2.0)] * 4, dtype=[("event", "?"), ("time", "f8")])
    folds = [(np.arange(2, 6), np.array([0, 1])), (np.arange(2, 6), np.array([6, 7]))]
    with pytest.raises(ValueError, match="concordance could not be computed on any of the 2 folds"):
        SelectorCV(LikelihoodForwardSelector(), ks=[1], cv=folds).fit(X, same)


def test_groups_reach_selectors_that_take_them(rng):
    seen = []

    class Grouped(FisherSelector):
        def fit(self, X, y, sample_weight=None, *, groups=None):
            seen.append(np.array(groups))
            return super().fit(X, y, sample_weight)

    X, y, groups = rng.standard_normal((24, 3)), np.arange(24) % 2, np.arange(24) // 2
    SelectorCV(Grouped(), ks=[1], cv=3, n_repeats=1).fit(X, y, groups=groups)
    assert [len(some) for some in seen] == [16, 16, 16, 24]
    seen.clear()
    compare(X, y, [Grouped()], ks=[1], cv=3, n_repeats=1, groups=groups)
    assert sorted(len(some) for some in seen) == [16, 16, 16, 24]
    seen.clear()
    select(X, y, 1, Grouped(), groups=groups, check=False, permutations=1)
    assert [some.tolist() for some in seen] == [groups.tolist()] * 3


def test_columns_never_kept_are_not_tried():
    X = np.random.default_rng(0).normal(size=(40, 4))
    search = SelectorCV(RidgeForwardSelector(never_keep=[0]), cv=3, n_repeats=1)
    assert search.fit(X, X[:, 1]).ks_.max() == 3
