"""The words "separable" and "simultaneously", on draws where the truth is known."""

import numpy as np
import pytest

from sparsieve.scoring.stability import compare_methods, score_of_choosing


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


def test_the_best_of_equal_methods_is_chosen_by_noise():
    """Scores of methods that are all as good: the highest mean is too high, the other is not."""
    rng = np.random.default_rng(0)
    repeats = np.repeat([0, 1], 5)
    tables = 0.7 + 0.05 * rng.standard_normal((400, 8, 10))
    highest = np.mean([table.mean(axis=1).max() for table in tables])
    alone = np.mean([score_of_choosing(table, repeats) for table in tables])
    assert highest > 0.72
    assert alone == pytest.approx(0.7, abs=0.003)


def test_a_method_that_is_always_best_keeps_its_score():
    table = np.array([[0.9, 0.8, 0.7], [0.6, 0.5, 0.4]])
    assert score_of_choosing(table, np.zeros(3, dtype=int)) == pytest.approx(0.8)
    assert score_of_choosing(table[:1], np.zeros(3, dtype=int)) is None
    assert score_of_choosing(table[:, :2], np.zeros(2, dtype=int)) is None
    assert score_of_choosing(table, None) is None
