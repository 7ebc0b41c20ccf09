"""What a report says of survival curves."""

import numpy as np
import pytest

from sparsieve.app.report.survival import HeldOutSurvival


@pytest.mark.parametrize("as_different", [0, 1, 40])
def test_the_sentence_counts_the_shuffles_that_differ_less(as_different):
    empty = np.zeros(0)
    found = HeldOutSurvival(empty, empty, empty, 3.0, (as_different + 1) / 100, 99, 5)
    said = found.sentences()[-1]
    assert f"differ more than in {99 - as_different} of 99 repetitions" in said
    assert ("do not differ significantly" in said) == (as_different > 4)
