from itertools import combinations

import numpy as np
import pytest

from sparsieve.scoring import jaccard_stability, kuncheva_stability, nogueira_stability


def masks_of_size(rng, size, n_selections=30, n_features=40, n_common=3):
    Z = np.zeros((n_selections, n_features), dtype=bool)
    Z[:, :n_common] = True
    for row in Z:
        row[n_common + rng.choice(n_features - n_common, size - n_common, replace=False)] = True
    return Z


def test_nogueira_equals_kuncheva_for_selections_of_one_size(rng):
    Z = masks_of_size(rng, 8)
    assert nogueira_stability(Z).value == pytest.approx(kuncheva_stability(Z))


def test_pairwise_definitions(rng):
    Z = rng.random((6, 15)) < 0.4
    sets = [set(np.flatnonzero(row)) for row in Z]
    jaccard = [len(a & b) / len(a | b) for a, b in combinations(sets, 2)]
    assert jaccard_stability(Z) == pytest.approx(np.mean(jaccard))
    Z = masks_of_size(rng, 5, 6, 15)
    sets = [set(np.flatnonzero(row)) for row in Z]
    expected = 25 / 15
    kuncheva = [(len(a & b) - expected) / (5 - expected) for a, b in combinations(sets, 2)]
    assert kuncheva_stability(Z) == pytest.approx(np.mean(kuncheva))


def test_equal_and_random_selections(rng):
    same = np.tile(rng.random(20) < 0.3, (5, 1))
    assert nogueira_stability(same) == pytest.approx((1, 1, 1))
    assert kuncheva_stability(same) == jaccard_stability(same) == 1
    random = [nogueira_stability(rng.random((20, 100)) < 0.2).value for _ in range(50)]
    assert abs(np.mean(random)) < 4 * np.std(random) / np.sqrt(50)


def test_the_interval_covers_the_truth_as_often_as_it_says(rng):
    """Selections from one distribution; the truth from many of them."""
    probability = np.concatenate([np.full(5, 0.8), np.full(5, 0.4), np.full(40, 0.05)])

    def draw(n_selections):
        return rng.random((n_selections, len(probability))) < probability

    truth = nogueira_stability(draw(100_000)).value
    found = [nogueira_stability(draw(100), 0.9) for _ in range(300)]
    coverage = np.mean([low <= truth <= high for _, low, high in found])
    assert 0.83 < coverage < 0.96  # 0.9 with four standard errors


def test_nothing_or_everything_selected_says_nothing():
    for Z in (np.zeros((3, 4), dtype=bool), np.ones((3, 4), dtype=bool)):
        assert np.isnan(nogueira_stability(Z).value)
        assert np.isnan(kuncheva_stability(Z))
        assert jaccard_stability(Z) == 1


def test_bad_input():
    with pytest.raises(ValueError, match="at least two masks"):
        nogueira_stability([[1, 0, 1]])
    with pytest.raises(ValueError, match="not feature indices"):
        jaccard_stability([[1, 5], [2, 3]])
    with pytest.raises(ValueError, match="one size"):
        kuncheva_stability([[1, 0, 0], [1, 1, 0]])
    with pytest.raises(ValueError, match="confidence_level"):
        nogueira_stability([[1, 0], [1, 0]], confidence_level=95)
