"""What every selector must do, run over every selector that exists."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import (
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_transformer_get_feature_names_out,
    check_transformer_get_feature_names_out_pandas,
    parametrize_with_checks,
)
from sklearn.utils.validation import has_fit_parameter
from threadpoolctl import threadpool_limits

from sparsieve import all_estimators
from sparsieve.conformance import OWN_CHECKS, Skipped
from sparsieve.validation.training_data import is_scale_free

ESTIMATORS = all_estimators()


def plain(cls):
    """Can be built without arguments (a meta-selector cannot)."""
    parameters = inspect.signature(cls.__init__).parameters.values()
    return all(
        p.default is not inspect.Parameter.empty or p.name == "self" or p.kind == p.VAR_KEYWORD
        for p in parameters
    )


def instance(cls):
    """With default parameters, but few repetitions where there are many."""
    estimator = cls()
    few = {"n_subsamples": 10, "max_rounds": 10}
    return estimator.set_params(**{k: v for k, v in few.items() if hasattr(estimator, k)})


# Settings that run other code than the defaults and deserve the checks as well.
VARIANTS = {
    "FDRSelector": [{"claim": "marginal"}, {"claim": "sequential", "n_resamples": 50}],
    "FisherSelector": [{"generalized": True}],
    "InfFSSelector": [{"supervised": True}],
    "InfoGainSelector": [{"discretize": "frequency"}, {"discretize": "std"}],
    "MPMClassifier": [{"kernel": "rbf"}],
    "MRMRSelector": [{"criterion": "mid"}, {"criterion": "cmim"}],
    "TTestSelector": [{"equal_var": True}],
}
INSTANCES = [instance(cls) for cls in ESTIMATORS.values() if plain(cls)]
CHECKED = INSTANCES + [ESTIMATORS[n](**p) for n, sets in VARIANTS.items() for p in sets]
SELECTORS = [e for e in INSTANCES if "n_features_to_select" in e.get_params()]
each = pytest.mark.parametrize("selector", SELECTORS, ids=lambda s: type(s).__name__)


WEIGHTS = "check_sample_weight_equivalence_on_{}_data"


def refusals(estimator):
    """Checks that cannot hold, and why."""
    name, weights = type(estimator).__name__, [WEIGHTS.format(kind) for kind in ("dense", "sparse")]
    if name in ("RFSSelector", "RobustL20Selector"):
        # 1e-8 would do for RFS, and take 1.1 to 1.5 times as long.
        inexact = "values are as exact as tol=1e-6; tests/selectors/test_predictions.py has 1e-9"
        return dict.fromkeys(weights, inexact)
    if name != "FDRSelector":
        return {}
    few = ["check_fit2d_1feature", "check_estimators_nan_inf"]
    if sklearn.__version__.startswith("1.6."):  # which has ten samples there; later ones have more
        few += ["check_n_features_in_after_fitting"]
    once = "copies of samples count once, unless weights say how many there are"
    return dict.fromkeys(few, "needs at least 12 samples") | dict.fromkeys(weights, once)


@pytest.mark.thinned(24)
@parametrize_with_checks(CHECKED, expected_failed_checks=refusals)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.thinned(3)
@each
@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_transformer_get_feature_names_out,
        check_transformer_get_feature_names_out_pandas,
    ],
    ids=lambda c: c.__name__,
)
@pytest.mark.filterwarnings("ignore:X .* feature names")
def test_names_and_output_containers(selector, check):
    check(type(selector).__name__, clone(selector))


@pytest.fixture(scope="module")
def classes():
    X, y = make_classification(
        40, 12, n_informative=4, n_redundant=0, n_classes=2, class_sep=2.0, random_state=0
    )
    return X, y


def fitting(selector, X, y, **parameters):
    """Fit a copy; filters that need counts get non-negative data."""
    selector = clone(selector).set_params(**parameters)
    if selector.__sklearn_tags__().input_tags.positive_only:
        X = X - X.min() if isinstance(X, np.ndarray) else X
    return selector.fit(X, y)


@pytest.mark.thinned(3)
@each
@pytest.mark.parametrize("check", OWN_CHECKS, ids=lambda check: check.__name__)
@pytest.mark.filterwarnings("ignore")
def test_what_check_selector_asks_of_the_selectors_of_others(selector, check):
    try:
        check(clone(selector))
    except Skipped as why:
        pytest.skip(str(why))


@pytest.mark.thinned(3)
@each
def test_pipeline_grid_search_and_pickle(selector, classes):
    X, y = classes
    if selector.__sklearn_tags__().input_tags.positive_only:
        X = X - X.min()
    pipeline = make_pipeline(clone(selector), LogisticRegression())
    name = pipeline.steps[0][0]
    search = GridSearchCV(pipeline, {f"{name}__n_features_to_select": [2, 6]}, cv=2).fit(X, y)
    assert search.score(X, y) > 0.6
    best = search.best_estimator_[0]
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(best)).transform(X), best.transform(X))


@each
def test_constant_and_copied_columns(selector, classes):
    """Constants come last, of two equal columns the first is preferred, nothing is NaN."""
    X, y = classes
    X = X - X.min()
    X = np.hstack([np.full((len(X), 1), 3.0), X, np.zeros((len(X), 1))])
    fitted = fitting(selector, X, y, n_features_to_select=12)
    assert not fitted.support_[[0, -1]].any()
    assert not np.isnan(fitted.scores_).any()
    twins = np.hstack([X[:, [1]], X[:, [1]]])
    assert fitting(selector, twins, y, n_features_to_select=1).support_.tolist() == [True, False]


# -- bad and odd input ---------------------------------------------------------------------


def frame_with(X, **columns):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(**columns)


def with_nan(X):
    X = X.copy()
    X[2, 3] = X[5, 3] = X[1, 7] = np.nan
    return X


def with_inf(X):
    X = X.copy()
    X[0, 4] = np.inf
    return X


def doubled_names(X):
    return pd.DataFrame(X, columns=["a", "b", "a", *[f"f{j}" for j in range(X.shape[1] - 3)]])


BAD = {
    "nan": (lambda X, y: (with_nan(X), y), r"NaN.*3 values in 2 columns \(3, 7\)"),
    "nan in names": (lambda X, y: (frame_with(with_nan(X)), y), "'f3', 'f7'"),
    "infinite": (lambda X, y: (with_inf(X), y), r"infinite.*1 value in 1 column \(4\)"),
    "sparse nan": (lambda X, y: (sparse.csr_array(with_nan(X)), y), "NaN|[Ss]parse"),
    "one class": (lambda X, y: (X, np.zeros_like(y)), "only one class"),
    "class per sample": (lambda X, y: (X, [f"s{i}" for i in range(len(y))]), "single sample"),
    "text column": (lambda X, y: (frame_with(X, sex=["m"] * len(y)), y), "text columns: 'sex'"),
    "text array": (lambda X, y: (np.full(X.shape, "a", dtype=object), y), "text|convert"),
    "same names": (lambda X, y: (doubled_names(X), y), "duplicate column names: 'a'"),
    "lengths differ": (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
    "no samples": (lambda X, y: (X[:0], y[:0]), "0 sample"),
    "no features": (lambda X, y: (X[:, :0], y), "0 feature"),
    "one dimension": (lambda X, y: (X[:, 0], y), "2D array"),
    "nan target": (lambda X, y: (X, np.where(y == 0, np.nan, 1.0)), "y contains NaN values.*keep"),
    "no target": (lambda X, y: (X, None), "requires y"),
}


ABOUT_THE_TARGET = {"one class", "class per sample", "lengths differ", "nan target", "no target"}


@each
@pytest.mark.parametrize("case", BAD)
@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_bad_input_gets_one_clear_sentence(selector, case, classes):
    X, y = classes
    spoil, message = BAD[case]
    if case in ABOUT_THE_TARGET and not selector.__sklearn_tags__().target_tags.required:
        pytest.skip("does not look at y")
    allows_nan = selector.__sklearn_tags__().input_tags.allow_nan
    if allows_nan and "nan" in case and "target" not in case:
        pytest.skip("takes missing values")
    X, y = spoil(X - X.min(), y)
    # scikit-learn refuses sparse data, where it must be dense, by a TypeError.
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        clone(selector).fit(X, y)
    assert len(str(caught.value)) < 600


@each
@pytest.mark.parametrize(
    ("count", "message"),
    [
        (0, "at least 1"),
        (-2, "at least 1"),
        (1.5, "fraction"),
        (0.0, "fraction"),
        ("five", "integer, a fraction"),
        (True, "integer, a fraction"),
    ],
)
def test_bad_counts(selector, count, message, classes):
    X, y = classes
    with pytest.raises(ValueError, match=message):
        fitting(selector, X, y, n_features_to_select=count)


@each
def test_more_features_than_there_are_are_all_of_them(selector, classes):
    """As by SelectKBest: with one-hot columns, how many there are may vary by fold."""
    X, y = classes
    with pytest.warns(UserWarning, match="13 is larger than the 12 features of X; all of them"):
        more = fitting(selector, X, y, n_features_to_select=13)
    every = fitting(selector, X, y, n_features_to_select="all")
    assert more.support_.all()
    assert every.support_.all()
    assert every.n_features_ == every.n_features_to_select_ == more.n_features_ == 12


ODD = {
    "two samples": lambda X, y: (X[np.argsort(y)[[0, 1, -1]]], np.sort(y)[[0, 1, -1]]),
    "one feature": lambda X, y: (X[:, :1], y),
    "text labels": lambda X, y: (X, np.array(["healthy", "ill"])[y]),
    "boolean labels": lambda X, y: (X, y.astype(bool)),
    "lists": lambda X, y: (X.tolist(), y.tolist()),
    "integers": lambda X, y: ((10 * X).astype(int), y),
    "fortran order": lambda X, y: (np.asfortranarray(X), y),
    "strided": lambda X, y: (np.repeat(X, 2, axis=1)[:, ::2], y),
    "read only": lambda X, y: (_frozen(X), y),
    "all constant": lambda X, y: (np.ones_like(X), y),
    "huge scale": lambda X, y: (X * 1e8, y),
    "tiny scale": lambda X, y: (X * 1e-8, y),
    "large offset": lambda X, y: (X + 1e6, y),
    "many classes": lambda X, y: (X, np.arange(len(y)) // 4),
    "tiny class": lambda X, y: (X, np.where(np.arange(len(y)) == 0, 2, y)),
    "data frame": lambda X, y: (frame_with(X), pd.Series(y)),
}


MAY_BE_REFUSED = {"two samples", "all constant", "tiny class", "one feature"}


def _frozen(X):
    X = X.copy()
    X.setflags(write=False)
    return X


@pytest.mark.thinned(5)
@each
@pytest.mark.parametrize("case", ODD)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_input_is_handled_or_refused_in_words(selector, case, classes):
    """Unusual data gives a full ranking without NaN, or a ValueError of one sentence."""
    X, y = classes
    X, y = ODD[case](X - X.min(), y)
    before = np.array(X, copy=True)
    fitted = clone(selector)
    refusal = None
    try:
        fitted.fit(X, y)
    except ValueError as error:
        refusal = str(error)
    if refusal is not None:
        assert 10 < len(refusal) < 600
        assert case in MAY_BE_REFUSED
        return
    np.testing.assert_array_equal(np.asarray(X), before)
    assert not np.isnan(fitted.scores_).any()
    assert sorted(fitted.ranking_) == list(range(1, fitted.n_features_in_ + 1))
    # Only a selector that bounds its mistakes, or compares with noise, may keep nothing.
    empty = ("error_bound_", "verdict_", "decisions_")
    assert fitted.support_.any() or any(hasattr(fitted, name) for name in empty)


def test_classifiers_and_selectors_do_not_mix():
    for estimator in INSTANCES:
        name = type(estimator).__name__
        assert name.endswith("Classifier") == (is_classifier(estimator) and "Sel" not in name)


# -- invariances (order and names: tests/test_invariance.py) ---------------------------------

INVARIANT = [
    clone(s).set_params(n_features_to_select=3)
    if "n_repeats" not in s.get_params(deep=False)
    else clone(s).set_params(n_features_to_select=3, n_repeats=1)
    for s in SELECTORS
]
# Which samples or features are looked at together depends on their order.
DRAWS_BY_PLACE = {"ShadowSelector", "StabilitySelection"}
each_invariant = pytest.mark.parametrize("selector", INVARIANT, ids=lambda s: type(s).__name__)


@pytest.fixture(scope="module")
def clear_case():
    """Five features that differ clearly in what they say, out of eight."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 18)
    X = rng.standard_normal((36, 8)) + y[:, None] * np.array([0, 1.6, 0, 0.9, 2.6, 0, 1.2, 2.0])
    return X - X.min(), y


def assert_same_scores(found, wanted):
    """As far as solvers are exact: scores to a thousandth of the largest, and the support."""
    finite = np.isfinite(wanted.scores_)
    size = np.abs(wanted.scores_[finite]).max(initial=0.0)
    np.testing.assert_allclose(found.scores_, wanted.scores_, rtol=0, atol=1e-3 * (size or 1.0))
    np.testing.assert_array_equal(found.support_, wanted.support_)


@each_invariant
@pytest.mark.filterwarnings("ignore")
def test_the_units_of_features_make_no_difference(selector, clear_case):
    if not is_scale_free(selector):
        pytest.skip("uses the columns as they are")
    X, y = clear_case
    units = np.logspace(-6, 6, X.shape[1])
    assert_same_scores(fitting(selector, X * units, y), fitting(selector, X, y))


@each_invariant
@pytest.mark.filterwarnings("ignore")
def test_a_weight_of_two_is_the_sample_twice(selector, clear_case):
    name = type(selector).__name__
    if name in DRAWS_BY_PLACE or "n_repeats" in selector.get_params(deep=False):
        pytest.skip("splits the samples at random")
    if not has_fit_parameter(selector, "sample_weight"):
        pytest.skip("takes no weights")
    X, y = clear_case
    times = np.random.default_rng(2).integers(1, 4, len(y))
    weighted = clone(selector).fit(X, y, sample_weight=times)
    # Samples of their own, although they are copies.
    own = {"groups": np.arange(times.sum())} if has_fit_parameter(selector, "groups") else {}
    repeated = clone(selector).fit(np.repeat(X, times, axis=0), np.repeat(y, times), **own)
    assert_same_scores(weighted, repeated)


@pytest.mark.slow
@pytest.mark.parametrize(
    "selector",
    [s for s in INVARIANT if "n_jobs" in s.get_params(deep=False)],
    ids=lambda s: type(s).__name__,
)
@pytest.mark.filterwarnings("ignore")
def test_the_number_of_jobs_makes_no_difference(selector, clear_case):
    X, y = clear_case
    one, two = (fitting(selector, X, y, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)


@pytest.fixture(scope="module")
def shared_case():
    """Large enough for the products of X to be shared among threads."""
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1], 40)
    X = rng.standard_normal((80, 60)) + y[:, None] * np.linspace(0, 2, 60) ** 2
    return X - X.min(), y


@pytest.mark.thinned(2)
@each_invariant
@pytest.mark.filterwarnings("ignore")
def test_the_number_of_threads_makes_no_difference(selector, shared_case):
    found = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            found.append(fitting(selector, *shared_case))
    assert_same_scores(*found)


CLASSIFIERS = [e for e in INSTANCES if e not in SELECTORS and "selector" not in e.get_params()]
CHANGES = {
    "samples in another order": lambda X, y: (X[::-1], y[::-1], None),
    "features in another order": lambda X, y: (X[:, ::-1], y, None),
    "other names of classes": lambda X, y: (X, np.array(["x", "a"])[y], None),
    "half the precision": lambda X, y: (X.astype(np.float32), y, None),
    "copies instead of weights": lambda X, y: (X, y, 1 + np.arange(len(y)) % 3),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("classifier", CLASSIFIERS, ids=lambda c: type(c).__name__)
def test_what_makes_no_difference_to_classifiers(classifier, change, clear_case):
    X, y = clear_case
    other, labels, times = CHANGES[change](X, y)
    wanted = clone(classifier).fit(X, y, sample_weight=times).decision_function(X)
    if times is None:
        found = clone(classifier).fit(other, labels)
    else:
        found = clone(classifier).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    margins = found.decision_function(other)
    if change == "samples in another order":
        margins = margins[::-1]
    if change == "other names of classes":  # the second in order is the positive one
        margins = -margins
    size = np.abs(wanted).max()
    np.testing.assert_allclose(margins, wanted, rtol=0, atol=1e-2 * size)
    assert list(found.classes_) == sorted(set(labels))
