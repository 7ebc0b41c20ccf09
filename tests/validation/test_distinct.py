"""Different values by parts, against NumPy's on the whole."""

import numpy as np
import pytest

from sparsieve.validation import reading as module
from sparsieve.validation.reading import distinct, places, smallest_integer


@pytest.mark.parametrize(
    "y",
    [
        np.arange(100) % 7 - 3,
        np.array(["b", "a", "ccc"])[np.arange(50) % 3],
        np.array(["b", "a", "ccc"], dtype=object)[np.arange(50) % 3],
        np.linspace(0, 1, 60) ** 2,
        np.arange(30) % 2 == 0,
        np.array([3]),
    ],
    ids=["whole", "text", "objects", "all different", "truths", "one"],
)
def test_as_numpy_has_them(y, monkeypatch):
    monkeypatch.setattr(module, "SORTED_SAMPLES", 8)
    values, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    found, often = distinct(y)
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(often, counts)
    np.testing.assert_array_equal(places(y, values), codes)
    small = places(y, values, smallest_integer(len(values)))
    assert small.dtype == np.int8
    np.testing.assert_array_equal(small, codes)


def test_the_smallest_type_holds_all_codes():
    for count in (2, 127, 128, 129, 32768, 32769, 10**6):
        kind = smallest_integer(count)
        assert np.issubdtype(kind, np.signedinteger)
        assert np.iinfo(kind).max >= count - 1
