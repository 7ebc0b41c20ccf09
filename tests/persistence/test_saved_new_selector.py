"""A selector of a user is saved and loaded without an entry anywhere."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
import pytest
import skops.io
from sklearn.datasets import make_classification

import sparsieve
from sparsieve import skops_trusted_types
from sparsieve._saved import CLASSES, Floats, Ints, Savable
from sparsieve.selectors.base import BaseSelector, FeatureScores

X, Y = make_classification(40, 6, random_state=1)


@dataclass(frozen=True)
class Extremes(Savable):
    """Largest values of some features."""

    features: Annotated[Ints, "features"]
    largest: Annotated[Floats, "features"]


@dataclass(eq=False, repr=False, kw_only=True)
class RangeSelector(BaseSelector):
    """Ranks features by their range."""

    power: float = 1.0

    smallest_: Annotated[Floats, "features"] = field(init=False)
    _extremes: Extremes = field(init=False)

    def _fit(self, data) -> FeatureScores:
        values = data.design.array
        self.smallest_ = values.min(axis=0)
        self._extremes = Extremes(np.arange(values.shape[1]), values.max(axis=0))
        return FeatureScores(np.ptp(values, axis=0) ** self.power, n_kept=2)


@pytest.fixture
def file(tmp_path):
    sparsieve.save(RangeSelector(2, power=2.0).fit(X, Y), tmp_path / "file")
    return tmp_path / "file"


def test_round_trip(file):
    again = sparsieve.load(file)
    assert type(again) is RangeSelector
    assert again.power == 2.0
    np.testing.assert_array_equal(again.at(1).transform(X), X[:, again.ranking_ == 1])
    np.testing.assert_array_equal(again._extremes.largest, X.max(axis=0))


def test_a_class_that_is_not_imported_is_named(file, monkeypatch):
    """As in a program that knows nothing of it."""
    monkeypatch.setattr("sparsieve.persistence.files.CLASSES", CLASSES - {RangeSelector})
    with pytest.raises(sparsieve.SavedFileError, match=r"RangeSelector, .* import its module"):
        sparsieve.load(file)


def test_others_are_not_told_to_trust_it(file):
    assert not [name for name in skops_trusted_types() if "RangeSelector" in name]
    assert f"{__name__}.RangeSelector" in skops.io.get_untrusted_types(file=file)


def test_a_class_within_a_function_cannot_be_found_again(tmp_path):
    class Within(RangeSelector):
        """Defined in a function."""

    with pytest.raises(TypeError, match=r"it contains .*\.Within"):
        sparsieve.save(Within(2).fit(X, Y), tmp_path / "file")
    assert not list(tmp_path.iterdir())
