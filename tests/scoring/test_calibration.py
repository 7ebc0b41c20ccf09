"""Calibrated log losses, against the documented formula computed by other means."""

import numpy as np
import pytest
from scipy.special import log_softmax

from sparsieve.scoring.metrics import STRENGTHS, calibrated_losses, losses_by_strength


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_classes", [2, 4])
def test_every_loss_is_that_of_the_formula(n_classes, weighted):
    rng = np.random.default_rng(n_classes)
    shares = rng.dirichlet(np.full(n_classes, 5.0))
    votes = shares + 0.2 * rng.normal(size=(60, n_classes))
    classes = np.array([f"class {i}" for i in range(n_classes)])
    places = rng.integers(0, n_classes, 60)
    weights = rng.uniform(0.0, 2.0, 60) if weighted else None
    found = losses_by_strength(votes, classes[places], classes, shares, weights)
    for strength, loss in zip(STRENGTHS, found, strict=True):
        said = log_softmax(np.log(shares) + strength * (votes - shares), axis=1)
        expected = np.average(-said[np.arange(60), places], weights=weights)
        assert loss == pytest.approx(expected, rel=1e-12)


def test_a_class_that_was_not_trained_on_counts_for_nothing():
    classes, shares = np.array([0, 2]), np.array([0.5, 0.5])
    votes = np.array([[0.9, 0.1], [0.3, 0.7], [0.5, 0.5]])
    known = losses_by_strength(votes[:2], np.array([0, 2]), classes, shares)
    assert losses_by_strength(votes, np.array([0, 2, 1]), classes, shares) == pytest.approx(known)
    assert losses_by_strength(votes, np.array([1, 1, 3]), classes, shares).tolist() == [0.0] * 10


def test_noise_is_a_guess_and_one_strength_serves_a_repeat():
    rng = np.random.default_rng(0)
    table = rng.uniform(size=(3, 4, len(STRENGTHS)))
    sizes, repeats = [1.0, 2.0, 3.0, 4.0], np.array([0, 0, 1, 1])
    found = calibrated_losses(table, sizes, repeats)
    for k in range(3):
        for repeat, places in ((0, [0, 1]), (1, [2, 3])):
            total = [sum(sizes[f] * table[k, f, s] for f in places) for s in range(len(STRENGTHS))]
            best = int(np.argmin(total))
            assert found[k, places].tolist() == table[k, places, best].tolist(), repeat
    y = np.arange(2000) % 2
    votes = 0.5 + 0.2 * rng.normal(size=(2000, 2))
    of_noise = losses_by_strength(votes, y, np.array([0, 1]), np.array([0.5, 0.5]))
    assert of_noise[0] == pytest.approx(np.log(2))
    assert of_noise.argmin() <= 1
