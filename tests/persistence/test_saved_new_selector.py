"""A selector of a user is saved, loaded and forged without an entry anywhere."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import GenericAlias
from typing import Annotated

import numpy as np
import pytest

import sparsieve
from sparsieve import _saved
from sparsieve._saved import Floats, Ints, Maybe, Savable, are_indices
from sparsieve.persistence.container import packed, unpacked
from sparsieve.selectors.base import BaseSelector, FeatureScores

sys.path.insert(0, str(Path(__file__).parent))
import forging


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
    seed_: Maybe[int] = field(init=False)
    _extremes: Extremes = field(init=False)

    def _state_checks(self) -> Iterator[bool]:
        yield are_indices(self._extremes.features, self.n_features_in_)

    def _fit(self, data) -> FeatureScores:
        values = data.design.array
        self.smallest_ = values.min(axis=0)
        self._extremes = Extremes(np.arange(values.shape[1]), values.max(axis=0))
        return FeatureScores(np.ptp(values, axis=0) ** self.power, n_kept=2)


class _Private(RangeSelector):
    """Private, and no word about being saved."""


@pytest.fixture
def whole(tmp_path):
    return forging.saved(RangeSelector(2, power=2.0).fit(forging.X, forging.Y), tmp_path)


def loaded(content, tmp_path):
    (tmp_path / "file").write_bytes(content)
    return sparsieve.load(tmp_path / "file")


def changed(whole, change):
    document, pools = unpacked(whole)
    change(document["estimator"])
    return packed(document, pools)


def test_round_trip(whole, tmp_path):
    again = loaded(whole, tmp_path)
    assert type(again) is RangeSelector
    assert again.power == 2.0
    np.testing.assert_array_equal(
        again.at(1).transform(forging.X), forging.X[:, again.ranking_ == 1]
    )
    np.testing.assert_array_equal(again._extremes.largest, forging.X.max(axis=0))


def test_its_name_in_files_has_its_module_and_cannot_take_the_place_of_one_of_ours(whole):
    assert unpacked(whole)[0]["estimator"]["object"] == f"{__name__}.RangeSelector"


def test_a_private_class_does_not_declare_itself(tmp_path):
    with pytest.raises(TypeError, match="save needs an estimator of sparsieve, got _Private"):
        sparsieve.save(_Private(2).fit(forging.X, forging.Y), tmp_path / "x")


FORGED = {
    "missing array": lambda e: e["fields"].pop("smallest_"),
    "missing part": lambda e: e["fields"].pop("_extremes"),
    "short array": lambda e: e["fields"]["smallest_"]["array"].__setitem__(2, [5]),
    "array of integers": lambda e: e["fields"].update(smallest_=e["fields"]["ranking_"]),
    "another object": lambda e: e["fields"].update(_extremes=e["fields"]["_fixed"]),
    "a part of other lengths": lambda e: e["fields"]["_extremes"]["fields"].update(
        largest={"array": ["float64", 0, [2]]}
    ),
    "indices twice": lambda e: e["fields"]["_extremes"]["fields"].update(
        features={"array": ["int64", 0, [0]]}, largest=e["fields"]["ranking_"]
    ),
    "no number": lambda e: e["fields"].update(seed_="x"),
    "wrong ranking": lambda e: e["fields"].update(
        ranking_=e["fields"]["_extremes"]["fields"]["features"]
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_what_it_declares_is_checked(name, whole, tmp_path):
    with pytest.raises(sparsieve.SavedFileError, match="contradict each other"):
        loaded(changed(whole, FORGED[name]), tmp_path)


def test_an_index_beyond_the_features_is_refused_by_its_own_check(tmp_path):
    selector = RangeSelector(2).fit(forging.X, forging.Y)
    selector._extremes = Extremes(np.arange(6) + 1, selector._extremes.largest)
    with pytest.raises(sparsieve.SavedFileError, match="RangeSelector contradict each other"):
        loaded(forging.saved(selector, tmp_path), tmp_path)


@pytest.mark.slow
def test_no_forged_value_escapes(whole, tmp_path):
    """Every array and every value of the file in turn becomes something else."""
    for said, content in forging.forgeries(whole):
        (tmp_path / "file").write_bytes(content)
        assert not forging._what_escapes(tmp_path / "file"), said


def test_a_class_that_is_gone_is_not_looked_for(whole, tmp_path):
    content = changed(whole, lambda e: e.update(object="antigravity.RangeSelector"))
    with pytest.raises(sparsieve.SavedFileError, match="contains the class 'antigravity"):
        loaded(content, tmp_path)
    assert "antigravity" not in sys.modules


def test_arrays_are_known_behind_an_alias():
    """NumPy 2.5 made NDArray an alias, which is no class that a value could be checked against."""

    class Alias:
        __value__ = np.ndarray

    hint = GenericAlias(Alias, (float,))
    assert _saved._is(np.zeros(2), hint, {})
    assert not _saved._is([0.0], hint, {})
    assert _saved._is(np.zeros(2), Annotated[hint, np.floating, "features"], {"features": 2})
    assert not _saved._is(np.zeros(2), Annotated[hint, np.integer, "features"], {"features": 2})


def test_two_classes_of_ours_cannot_have_one_name_in_files():
    ours = _saved.CLASSES["Units"]
    with pytest.raises(
        TypeError, match=r"sparsieve\.elsewhere\.Units and .*preparation\.Units have"
    ):
        type("Units", (Savable,), {"__module__": "sparsieve.elsewhere"})
    assert _saved.CLASSES["Units"] is ours


def test_of_two_classes_of_others_the_last_has_the_name():
    made = [type("Twice", (Savable,), {"__qualname__": name}) for name in ("one", "other")]
    assert _saved.CLASSES[_saved.name_in_files(made[1])] is made[1]


def test_a_class_may_be_defined_again():
    def cell():
        class Again(Savable):
            """As where a notebook runs a cell twice."""

        return Again

    first, second = cell(), cell()
    assert first is not second
    assert _saved.CLASSES.pop(_saved.name_in_files(second)) is second
