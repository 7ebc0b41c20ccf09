import pytest
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin

from sparsieve import all_selectors
from sparsieve.cli.catalogue import _is_offered, all_methods, find_method
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


def test_names_are_unique():
    offered = [cls for cls in all_selectors().values() if _is_offered(cls)]
    assert len(all_methods()) == len(offered)


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

    assert not _is_offered(Wrapper)
    assert not _is_offered(NeedsSomething)
    assert not _is_offered(Classifier)
    assert _is_offered(Plain)
