"""What is loaded is what was saved, for every estimator."""

import functools
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import sparsieve
from sparsieve import (
    EnsembleSelector,
    FisherSelector,
    L20Selector,
    L21Selector,
    RidgeForwardSelector,
    RobustL20Selector,
    SelectorCV,
    ShadowSelector,
    StabilitySelection,
    all_estimators,
)

X, Y = make_classification(60, 14, n_informative=5, random_state=3)
X3, Y3 = make_classification(75, 12, n_informative=6, n_classes=3, random_state=4)
FRAME = pd.DataFrame(np.abs(X), columns=[f"gene {j}" for j in range(14)])
TEXT = np.array(["ill", "well"])[Y]
NAN = float("nan")


@pytest.fixture
def again(tmp_path):
    def save_and_load(estimator):
        sparsieve.save(estimator, tmp_path / "one.sparsieve")
        return sparsieve.load(tmp_path / "one.sparsieve")

    return save_and_load


def same(a, b, where=""):
    """Assert that two values are equal through and through."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        assert a.dtype == b.dtype, where
        np.testing.assert_array_equal(a, b, err_msg=where)
    elif sparse.issparse(a):
        np.testing.assert_array_equal(a.toarray(), b.toarray(), err_msg=where)
    elif isinstance(a, list | tuple):
        assert len(a) == len(b), where
        for i, (one, other) in enumerate(zip(a, b, strict=True)):
            same(one, other, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert list(a) == list(b), where
        for key in a:
            same(a[key], b[key], f"{where}[{key!r}]")
    elif isinstance(a, np.random.RandomState):
        same(a.get_state(), b.get_state(), where)
    elif type(a).__module__.startswith(("sparsieve", "sklearn")):
        mine, other = public(a), public(b)
        assert set(mine) == set(other), where
        for name in mine:
            same(mine[name], other[name], f"{where}.{name}")
    else:
        assert a == b or a != a, where


def public(instance):
    """All but what is made again when it is needed."""
    names = {"scorer_", "free", "free_basis", "_recent", "_held", "_shifts", "_moments", "spectrum"}
    for part in type(instance).__mro__:
        names |= {n for n, v in vars(part).items() if isinstance(v, functools.cached_property)}
    return {n: v for n, v in getattr(instance, "__dict__", {}).items() if n not in names}


def plain_repr(estimator):
    return re.sub(r"0x\w+", "", repr(estimator))


def dense(values):
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


def check(estimator, loaded, X):
    same(estimator, loaded, type(estimator).__name__)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(estimator, method):
            expected, found = getattr(estimator, method)(X), getattr(loaded, method)(X)
            np.testing.assert_array_equal(dense(expected), dense(found))
    if hasattr(estimator, "ranking_") and hasattr(estimator, "at"):
        for k in range(1, min(3, getattr(estimator, "_n_ranked", 2) + 1)):
            mine, other = estimator.at(k), loaded.at(k)
            np.testing.assert_array_equal(mine.support_, other.support_)
            if hasattr(mine, "coef_"):
                np.testing.assert_array_equal(mine.coef_, other.coef_)
    assert plain_repr(loaded) == plain_repr(estimator)
    assert plain_repr(clone(loaded)) == plain_repr(clone(estimator))


def built(cls, **parameters):
    if cls is StabilitySelection:
        parameters["n_subsamples"] = 10
    if cls is ShadowSelector:
        parameters["max_rounds"] = 10
    return cls(**parameters)


ALL = list(all_estimators())


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_on_a_frame_with_text_labels(name, again):
    estimator = built(all_estimators()[name]).fit(FRAME, TEXT)
    check(estimator, again(estimator), FRAME)


@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_every_selector_with_fixed_columns_and_a_number(name, again):
    estimator = built(all_estimators()[name])
    known = estimator.get_params(deep=False)
    wanted = {"n_features_to_select": 5, "always_keep": [2], "never_keep": [3]}
    estimator.set_params(**{n: v for n, v in wanted.items() if n in known})
    estimator.fit(np.abs(X).astype(np.float32), Y)
    loaded = again(estimator)
    same(estimator, loaded)
    if "n_features_to_select" in known:
        same(estimator.at(3), loaded.at(3))


@pytest.mark.thinned(9)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.filterwarnings("ignore")
def test_every_estimator_that_takes_it_on_sparse_data_with_three_classes(name, again):
    estimator = built(all_estimators()[name])
    try:
        estimator.fit(sparse.csr_array(np.abs(X3)), Y3)
    except (TypeError, ValueError):
        pytest.skip("does not take sparse data or three classes")
    check(estimator, again(estimator), sparse.csr_array(np.abs(X3)))


@pytest.mark.parametrize("name", ALL)
def test_every_estimator_before_it_is_fitted(name, again):
    estimator = all_estimators()[name]()
    same(estimator, again(estimator))


SOLVERS = [(n, s) for n, cls in all_estimators().items() for s in getattr(cls, "_solvers", ())]


@pytest.mark.parametrize(("name", "solver"), SOLVERS)
@pytest.mark.filterwarnings("ignore")
def test_every_solver(name, solver, again):
    estimator = all_estimators()[name](3, solver=solver).fit(X[:, :8], Y)
    check(estimator, again(estimator), X[:, :8])


NESTED = [
    SelectorCV(L21Selector(), ks=[1, 3], n_repeats=1),
    SelectorCV(FisherSelector(), estimator=LogisticRegression(), cv=StratifiedKFold(3), ks=[2, 4]),
    SelectorCV(estimator=make_pipeline(StandardScaler(), LinearSVC()), scoring="f1_macro", ks=[3]),
    SelectorCV(StabilitySelection(n_subsamples=4), ks=[2], cv=2, n_repeats=1),
    EnsembleSelector([RidgeForwardSelector(), FisherSelector(), L20Selector()]),
    StabilitySelection(EnsembleSelector(), n_subsamples=4),
    make_pipeline(StandardScaler(), RidgeForwardSelector(4), LogisticRegression()),
    L20Selector(4, solver=sparsieve.solvers.HIHT()),
    RobustL20Selector(4),
    sparsieve.ReliefFSelector(4, random_state=np.random.RandomState(7)),
    RidgeForwardSelector(3, class_weight={0: 1.0, 1: np.float32(2)}),
    sparsieve.L0SVMSelector(3, surrogate="log"),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize("estimator", NESTED, ids=lambda e: repr(e)[:30])
@pytest.mark.filterwarnings("ignore")
def test_nested_estimators(estimator, again):
    estimator = clone(estimator).fit(X, Y)
    loaded = again(estimator)
    check(estimator, loaded, X)
    if isinstance(estimator, SelectorCV):
        assert estimator.score(X, Y) == loaded.score(X, Y)


def test_regression_and_what_is_found_later(again):
    Z, z = make_regression(50, 10, n_targets=2, random_state=0)
    selector = RidgeForwardSelector(3).fit(Z, z)
    selector.find_substitutes(Z, threshold=0.2)
    loaded = again(selector.set_output(transform="pandas"))
    check(selector, loaded, Z)
    assert loaded.substitutes_ == selector.substitutes_
    assert loaded.to_frame().equals(selector.to_frame())


def test_a_long_path_takes_a_small_file(tmp_path):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((50, 2000))
    sparsieve.save(RidgeForwardSelector(40).fit(wide, wide[:, 0] > 0), tmp_path / "a")
    assert (tmp_path / "a").stat().st_size < 1_500_000


def test_models_of_scikit_learn_are_saved_with_what_is_around_them(again):
    search = SelectorCV(estimator=SVC(), ks=[3], n_repeats=1).fit(X, Y)
    np.testing.assert_array_equal(again(search).predict(X), search.predict(X))
    shadow = ShadowSelector(RandomForestClassifier(10, random_state=0), max_rounds=5).fit(X, Y)
    np.testing.assert_array_equal(again(shadow).transform(X), shadow.transform(X))


def a_score(model, X, y):
    return 0.0


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (
            SelectorCV(scoring=a_score),
            "it contains tests.persistence.test_saved_round_trip.a_score",
        ),
        (SelectorCV(scoring=lambda *_: 0), "<lambda>"),
        (KNeighborsClassifier(), "save needs an estimator of sparsieve, got KNeighborsClassifier"),
        (3, "save needs an estimator of sparsieve, got int"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_words_and_leaves_no_file(estimator, said, tmp_path):
    with pytest.raises(TypeError) as caught:
        sparsieve.save(estimator, tmp_path / "x")
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_what_contains_itself_is_refused(tmp_path):
    loop = []
    loop.append(loop)
    with pytest.raises(TypeError, match="contains itself"):
        sparsieve.save(EnsembleSelector(loop), tmp_path / "x")


def test_unwritable_places_are_named(tmp_path):
    with pytest.raises(ValueError, match="cannot write"):
        sparsieve.save(FisherSelector(), tmp_path / "no such folder" / "x")


def test_loading_needs_no_warning(again):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again(SelectorCV(ks=[2], n_repeats=1).fit(X, Y))


def test_transformers_and_selectors_of_groups_come_back(tmp_path):
    counts = np.abs(X[:, :6]).round()
    for fitted in (
        sparsieve.LogCPM().fit(counts),
        sparsieve.RidgeForwardSelector(2, feature_groups=[0, 0, 1, 1, 2, 2]).fit(X[:, :6], Y),
    ):
        sparsieve.save(fitted, tmp_path / "saved.sparsieve")
        again = sparsieve.load(tmp_path / "saved.sparsieve")
        np.testing.assert_array_equal(again.transform(counts), fitted.transform(counts))
