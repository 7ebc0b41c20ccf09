"""Names of methods, and what they say of themselves."""

import inspect

import numpy as np
import pytest
from sklearn.utils import get_tags

import sparsieve
from sparsieve import all_selectors, filters, papers, selectors
from sparsieve.app.cli.output import UsageError
from sparsieve.app.cli.settings import find_method
from sparsieve.registry import (
    PURPOSES,
    Method,
    all_methods,
    find_class_name,
    find_selector,
    load_measurements,
    method_name,
)


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


def test_what_is_read_from_the_source_is_what_the_classes_say():
    exported = {*selectors.__all__, *filters.__all__, *papers.__all__}
    methods = all_methods().values()
    assert {method.class_name for method in methods} == exported & set(all_selectors())
    for method in methods:
        cls, plain = method.cls, method.cls()  # without further arguments
        assert method.description == inspect.getdoc(cls).partition("\n")[0]
        assert ("regression" in method.purposes) == plain._accepts_regression
        assert ("proof" in method.purposes) == hasattr(cls, "certify")
        assert set(cls._purposes) <= method.purposes
        tags = get_tags(plain)
        assert ("sparse" in method.purposes) == tags.input_tags.sparse
        assert ("missing" in method.purposes) == tags.input_tags.allow_nan
        assert ("unsupervised" not in method.purposes) == tags.target_tags.required
        assert "n_features_to_select" in plain.get_params()


def test_a_new_method_needs_no_entry(monkeypatch):
    """Neither words nor a time: the first line of its docstring says what it does."""
    import ast

    from sparsieve import registry

    source = 'class NewSelector(LinearSelector):\n    """Keep what is new.\n\n    More."""\n'
    exported, classes = registry._find_definitions()
    written = {**classes, "NewSelector": ("somewhere", ast.parse(source).body[0])}
    monkeypatch.setattr(registry, "_find_definitions", lambda: (exported, written))
    new = Method.from_class_name("NewSelector")
    assert (new.name, new.words, new.seconds) == ("new", "Keep what is new.", None)
    assert new.purposes == {"regression", "sparse", "panel"}


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
            bent = {"kernel": "rbf"} if hasattr(method.cls, "kernel") else {}
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


def test_every_method_has_a_time():
    """But for the one that refuses more features than samples."""
    assert set(load_measurements()) <= set(all_methods())
    assert [name for name, method in all_methods().items() if method.seconds is None] == ["udfs"]


def test_unknown_method_suggests_the_nearest():
    with pytest.raises(UsageError, match="unknown method 'fishr'; did you mean fisher"):
        find_method("fishr")
    with pytest.raises(UsageError, match="sparsieve methods lists them"):
        find_method("zzzzzz")
    with pytest.raises(ValueError, match=r"did you mean 'fisher'. sparsieve.all_selectors"):
        find_selector("fishr")
    with pytest.raises(ValueError, match=r"did you mean 'FisherSelector'. there"):
        find_class_name("fishr", all_selectors(), shown=repr, where="there")
    with pytest.raises(ValueError, match=r"did you mean 'mrmr'"):  # the ending is misspelled
        find_selector("MRMRSelecter")
    with pytest.raises(AttributeError) as wrong:
        sparsieve.MRMRSelecter  # noqa: B018
    assert (wrong.value.name, wrong.value.obj) == ("MRMRSelecter", sparsieve)  # Python's hint


def test_wrappers_and_classifiers_are_no_methods():
    assert {"stability-selection", "selector-cv", "mpm-classifier"}.isdisjoint(all_methods())
