"""One name, one meaning: constructors, fitted attributes and solver objects of every estimator."""

import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpydoc.docscrape import ClassDoc
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

from sparsieve import L20Selector, all_estimators, solvers
from sparsieve.selectors.fitted import convergence_failure

ESTIMATORS = all_estimators()
WRAPPERS = {
    "SelectorAdapter": "selector",
    "SelectorCV": "selector",
    "ShadowSelector": "selector",
    "StabilitySelection": "selector",
    "EnsembleSelector": "selectors",
    "FDRSelector": "level",
}
# Their numbers are read as facts about the data, and must not change from call to call.
REPEATABLE = {
    *("BoostedTreesSelector", "FDRSelector", "PermutationSelector", "SelectorCV"),
    *("ShadowSelector", "StabilitySelection"),
}
CLASSIFIERS = {"MPMClassifier", "SparseKernelMPMClassifier"}
SETTINGS = {name: getattr(solvers, name) for name in solvers.__all__}
# What may differ from one selector to the next: defaults, and for these also the words.
OWN_WORDS = {"tol", "max_iter", "solver", "surrogate", "kernel", "gamma", "degree", "coef0"}
# Families in which a name has a meaning of its own, each under its own sentence.
OWN_MEANING = {
    "ridge": {"l0_mpm", "fisher", "likelihood"},
    "criterion": {"mrmr"},
    "penalty": {"l0_svm"},
    "alpha": {"least_squares.l21"},
    "estimator": {"filters.permutation", "trees"},
    "n_repeats": {"filters.permutation"},
    "scoring": {"filters.permutation"},
    "n_features_to_select": set(),
}


def parameters(cls):
    return list(inspect.signature(cls).parameters.values())


@pytest.mark.parametrize("name", ESTIMATORS)
def test_only_the_first_parameter_is_positional(name):
    first, *others = parameters(ESTIMATORS[name])
    expected = WRAPPERS.get(name, "kernel" if name in CLASSIFIERS else "n_features_to_select")
    assert first.name == expected
    assert first.kind == first.POSITIONAL_OR_KEYWORD
    assert all(other.kind == other.KEYWORD_ONLY for other in others)
    assert all(other.annotation is not other.empty for other in others)


def documented(cls):
    """Parameter -> its description, of every parameter; 'a, b : type' counts for both."""
    found = {}
    for entry in ClassDoc(cls)["Parameters"]:
        for part in entry.name.split(","):
            found[part.strip()] = " ".join(entry.desc).strip()
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_parameter_is_documented(name):
    cls = ESTIMATORS[name]
    assert set(documented(cls)) == {parameter.name for parameter in parameters(cls)}


def first_sentence(text):
    return re.split(r"(?<=[.:;])\s", text)[0].rstrip(".:;")


def test_the_same_name_means_the_same():
    meanings = {}
    for name, cls in ESTIMATORS.items():
        family = cls.__module__.split(".")[-2]
        for parameter, text in documented(cls).items():
            if parameter in OWN_WORDS:
                continue
            own = OWN_MEANING.get(parameter, set())
            group = next((key for key in own if key in cls.__module__), "all")
            meanings.setdefault((parameter, group), {}).setdefault(first_sentence(text), []).append(
                f"{family}.{name}"
            )
    differing = {key: texts for key, texts in meanings.items() if len(texts) > 1}
    assert not differing, differing


LETTERS = re.compile(
    r"alpha|beta|gamma|delta|theta|sigma|lam(bda)?\d?|mu|rho|ridge|coef\d|degree|[A-Z]"
)


def test_contributing_lists_every_letter_and_what_every_fit_tells():
    page = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
    table = page.partition("## One name, one meaning")[2].partition("##")[0]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    listed = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    letters = {name for name in listed if not name.endswith("_")}
    taken = {parameter.name for cls in ESTIMATORS.values() for parameter in parameters(cls)}
    assert letters == {name for name in taken if LETTERS.fullmatch(name)}
    attributes = {
        entry.name for cls in ESTIMATORS.values() for entry in ClassDoc(cls)["Attributes"]
    }
    assert listed - letters <= {name for entry in attributes for name in entry.split(", ")}


def test_random_states_and_sizes_of_constructors():
    for name, cls in ESTIMATORS.items():
        defaults = {parameter.name: parameter.default for parameter in parameters(cls)}
        if "random_state" in defaults:
            expected = 0 if name in REPEATABLE else None
            assert defaults["random_state"] == expected, name
    assert len(parameters(ESTIMATORS["L20Selector"])) <= 18
    assert len(parameters(ESTIMATORS["RobustL20Selector"])) <= 15


@pytest.mark.parametrize("name", ["L20Selector", "RLSRSelector", "ExclusiveL21Selector"])
def test_the_first_argument_is_the_number_of_features(name):
    X, y = make_classification(60, 20, n_informative=8, random_state=0)
    assert ESTIMATORS[name](5).fit(X, y).support_.sum() == 5


# -- solver objects --------------------------------------------------------------------------


def test_there_are_solver_objects_and_they_are_no_estimators():
    assert {"HIHT", "AHIHT"} <= set(SETTINGS)
    assert not set(SETTINGS) & set(ESTIMATORS)


@pytest.mark.parametrize("name", SETTINGS)
def test_solver_objects_clone_print_pickle_and_compare(name):
    settings = SETTINGS[name]()
    assert repr(settings) == f"{name}()"
    assert clone(settings, safe=False) == settings
    assert pickle.loads(pickle.dumps(settings)) == settings
    for parameter in settings.get_params():
        assert parameter in documented(SETTINGS[name])
    with pytest.raises(ValueError, match="has no parameter 'nonsense'"):
        settings.set_params(nonsense=1)


def test_solver_settings_can_be_searched():
    selector = L20Selector(3, solver=solvers.HIHT())
    assert "solver__decay" in selector.get_params()
    copy = clone(selector).set_params(solver__decay=0.8)
    assert copy.solver.decay == 0.8
    assert selector.solver.decay != 0.8
    with pytest.raises(ValueError, match="HIHT"):
        L20Selector(3, solver="hiht").set_params(solver__decay=0.8)


# -- fitted attributes -----------------------------------------------------------------------


def iterative():
    return [
        name
        for name, cls in ESTIMATORS.items()
        if "max_iter" in inspect.signature(cls).parameters and name not in WRAPPERS
    ]


@pytest.fixture(scope="module")
def three_classes():
    return make_classification(45, 15, n_informative=6, n_classes=3, random_state=1)


def check_how_it_went(fitted, warned):
    if not hasattr(fitted, "optimality_"):
        return
    assert isinstance(fitted.history_, list)
    assert all(isinstance(value, float) for value in fitted.history_)
    assert isinstance(fitted.optimality_, float)
    assert fitted.optimality_ >= 0.0
    assert isinstance(fitted.converged_, bool)
    assert isinstance(fitted.objective_, float)
    assert fitted.n_iter_ >= 1
    # What a warning says, a report says, and the other way round.
    assert warned == (not fitted.converged_)
    assert bool(convergence_failure(fitted)) == (not fitted.converged_)


@pytest.mark.thinned(3)
@pytest.mark.parametrize("name", iterative())
@pytest.mark.parametrize("change", ["defaults", "one iteration", "a tolerance out of reach"])
def test_how_a_fit_went_has_one_meaning(name, change, three_classes):
    X, y = three_classes
    estimator = ESTIMATORS[name]()
    if change == "one iteration":
        estimator.set_params(max_iter=1)
    elif change == "a tolerance out of reach" and "tol" in estimator.get_params():
        estimator.set_params(tol=1e-15)
        if estimator.get_params()["max_iter"] is not None:
            estimator.set_params(max_iter=min(estimator.max_iter, 30))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y)
    warned = any(issubclass(w.category, ConvergenceWarning) for w in caught)
    check_how_it_went(estimator, warned)


def test_noise_scores_like_noise():
    """Where scores are shares of something, noise gets little of it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 30))
    y = (X[:, 0] + 0.1 * rng.standard_normal(100) > 0).astype(int)
    noise = rng.permutation(y)
    for name in ("RidgeForwardSelector", "L20Selector", "FisherSelector", "FStatisticSelector"):
        signal = ESTIMATORS[name](3).fit(X, y).scores_.max()
        assert ESTIMATORS[name](3).fit(X, noise).scores_.max() < 0.5 * signal, name
