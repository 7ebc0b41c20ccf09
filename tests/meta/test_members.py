"""What is no selector is refused in a sentence, and folds are made for small classes."""

import numpy as np
import pytest

from sparsieve import EnsembleSelector, FisherSelector, SelectorCV, StabilitySelection


@pytest.mark.parametrize(
    ("wrapper", "given"),
    [
        (StabilitySelection(10), "10"),
        (SelectorCV(10), "10"),
        (StabilitySelection(int), "<class 'int'>"),
        (EnsembleSelector([FisherSelector(), 3]), "3"),
        (EnsembleSelector([("f", FisherSelector()), ("x", None)]), "None"),
    ],
)
def test_what_is_no_selector_is_named(wrapper, given):
    X, y = np.random.default_rng(0).normal(size=(30, 5)), np.arange(30) % 2
    name = type(wrapper).__name__
    sentence = rf"^{name} was given {given} where a selector is expected; write .*{name}\("
    with pytest.raises(TypeError, match=sentence):
        wrapper.fit(X, y)


def test_more_folds_than_the_largest_class_has_samples():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 4)
    X = rng.normal(size=(24, 5)) + 3.0 * np.eye(6)[y][:, :5]
    with pytest.warns(UserWarning, match="cv=5 .* largest class, so 4 folds"):
        found = SelectorCV(FisherSelector(), n_repeats=1, random_state=0).fit(X, y)
    assert found.n_splits_ == 4
