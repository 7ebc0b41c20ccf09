import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from sparsieve import all_selectors
from sparsieve.cli.catalogue import (
    PURPOSES,
    all_methods,
    as_text,
    discovered_methods,
    find_method,
    is_offered,
    measured,
)
from sparsieve.cli.errors import UsageError
from sparsieve.discovery import method_name


@pytest.mark.parametrize(
    ("class_name", "name"),
    [
        ("RidgeForwardSelector", "ridge-forward"),
        ("L21Selector", "l21"),
        ("FisherSelector", "fisher"),
        ("ReliefFSelector", "relieff"),
        ("MRMRSelector", "mrmr"),
        ("RFSSelector", "rfs"),
        ("SVMRFESelector", "svmrfe"),
        ("RobustL20Selector", "robust-l20"),
        ("ExclusiveL21Selector", "exclusive-l21"),
        ("ExactPenaltySVMSelector", "exact-penalty-svm"),
        ("L0MKLSelector", "l0-mkl"),
        ("FTestSelector", "f-test"),
    ],
)
def test_names(class_name, name):
    assert method_name(class_name) == name


def test_every_offered_method_is_found_by_all_its_spellings():
    methods = all_methods()
    assert "fisher" in methods
    assert {method.cls for method in methods.values()} <= set(all_selectors().values())
    for name, method in methods.items():
        class_name = method.cls.__name__
        for spelling in (
            name,
            name.upper(),
            name.replace("-", "_"),
            class_name,
            class_name.lower(),
        ):
            assert find_method(spelling) == method
        assert method.description
        assert "n_features_to_select" in method.parameters


def test_the_table_holds_what_discovery_finds():
    kept = as_text(all_methods())
    assert kept == as_text(discovered_methods()), "run python -m sparsieve.cli.catalogue"
    assert set(measured()) <= set(all_methods())


def test_purposes_are_said_in_words():
    methods = all_methods().values()
    assert set().union(*(method.purposes for method in methods)) == set(PURPOSES)
    for purpose in PURPOSES:
        count = sum(purpose in method.purposes for method in methods)
        assert 0 < count < len(methods) or purpose == "sparse"  # which all of them take
    assert all(method.words for method in methods)


def test_methods_said_to_be_for_bent_relations_see_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 20))
    y = (np.abs(X[:, 13]) > 0.67).astype(int)
    for method in all_methods().values():
        if "nonlinear" in method.purposes:
            bent = {"kernel": "rbf"} if "kernel" in method.parameters else {}
            assert method.cls(n_features_to_select=1, **bent).fit(X, y).support_[13]
    assert not find_method("ridge-forward").cls(n_features_to_select=5).fit(X, y).support_[13]


def test_methods_said_to_be_for_panels_do_not_repeat_themselves():
    rng = np.random.default_rng(0)
    signals = rng.normal(size=(120, 4))
    y = (signals @ [1.2, 1, 0.9, 0.8] + 0.3 * rng.normal(size=120) > 0).astype(int)
    copies = [signals[:, [j]] + 0.15 * rng.normal(size=(120, 6)) for j in range(4)]
    X = np.hstack([*copies, rng.normal(size=(120, 36))])
    for method in all_methods().values():
        if "panel" in method.purposes:
            kept = method.cls(n_features_to_select=4).fit(X, y).get_support(indices=True)
            assert len({j // 6 for j in kept if j < 24}) >= 3, method.name
    one_by_one = find_method("fisher").cls(n_features_to_select=4).fit(X, y)
    assert len({j // 6 for j in one_by_one.get_support(indices=True)}) == 1


def test_names_are_unique():
    offered = [cls for cls in all_selectors().values() if is_offered(cls)]
    assert len(all_methods()) == len(offered)


def test_every_method_has_a_time():
    """But for the one that refuses more features than samples."""
    assert [name for name, method in all_methods().items() if method.seconds is None] == ["udfs"]


def test_unknown_method_suggests_the_nearest():
    with pytest.raises(UsageError, match="unknown method 'fishr'; did you mean fisher"):
        find_method("fishr")
    with pytest.raises(UsageError, match="sparsieve methods lists them"):
        find_method("zzzzzz")


def test_wrappers_and_classifiers_are_not_offered():
    class Wrapper(SelectorMixin, BaseEstimator):
        def __init__(self, selector=None, n_features_to_select=None):
            pass

    class NeedsSomething(SelectorMixin, BaseEstimator):
        def __init__(self, needed, n_features_to_select=None):
            pass

    class Classifier(BaseEstimator):
        def __init__(self, n_features_to_select=None):
            pass

    class Plain(SelectorMixin, BaseEstimator):
        def __init__(self, n_features_to_select=None):
            pass

    assert not is_offered(Wrapper)
    assert not is_offered(NeedsSomething)
    assert not is_offered(Classifier)
    assert is_offered(Plain)
