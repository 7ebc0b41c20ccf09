"""The words "separable" and "simultaneously", on draws where the truth is known."""

import numpy as np
import pytest

from sparsieve.scoring.over_splits import compare_methods


@pytest.mark.parametrize("levels", [(0, 0, 0, 0, 0, 0), (0, 0, -0.2, -0.4, -0.6, -0.8)])
def test_five_percent_is_kept_by_all_intervals_together(levels):
    rng, truth, missed, n_draws = np.random.default_rng(0), dict(enumerate(levels)), 0, 600
    for _ in range(n_draws):
        split = 0.03 * rng.normal(size=10)  # what is hard for one method is hard for all
        noise = 0.03 * rng.normal(size=(6, 10))
        found = compare_methods({str(i): truth[i] + split + noise[i] for i in truth})
        gaps = {name: truth[int(found.best)] - truth[int(name)] for name in found.behind}
        missed += any(abs(found.behind[n].mean - gaps[n]) > found.margins[n] for n in gaps)
        assert found.separable == [n for n in gaps if found.behind[n].mean > found.margins[n]]
    assert missed <= 0.05 * n_draws
