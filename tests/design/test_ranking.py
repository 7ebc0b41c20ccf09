"""Orders of very many scores against sorting them plainly."""

import numpy as np
import pytest

from sparsieve.design import falling, leading, ranking


def scores_of(kind, rng, size=3000):
    return {
        "gains": rng.chisquare(2, size),
        "single precision": rng.chisquare(2, size).astype(np.float32),
        "signed": rng.standard_normal(size) * 10.0 ** rng.integers(-300, 300, size),
        "whole numbers": rng.integers(-3, 3, size),
        "nearly all zero": np.where(rng.random(size) < 0.01, rng.random(size), 0.0),
        "two zeros": rng.choice([0.0, -0.0, 1.0], size),
        "alike in most bits": 1.0 + 2.0**-52 * rng.integers(0, 9, size),
        "infinite": rng.choice([np.inf, -np.inf, 1.0], size),
        "no number": rng.choice([np.nan, 2.0, 1.0], size),
        "one": np.ones(1),
        "none": np.ones(0),
    }[kind]


KINDS = """gains,single precision,signed,whole numbers,nearly all zero,two zeros,alike in most bits,
infinite,no number,one,none""".replace("\n", "").split(",")


@pytest.mark.parametrize("kind", KINDS)
def test_many_scores_fall_as_few_do(rng, monkeypatch, kind):
    scores = scores_of(kind, rng)
    expected = np.argsort(-scores, kind="stable").tolist()
    assert falling(scores).tolist() == expected
    monkeypatch.setattr(ranking, "MIN_PACKED_SORT", 1)
    assert falling(scores).tolist() == expected


def test_ties_decide_between_equal_scores(rng, monkeypatch):
    scores, ties = rng.integers(0, 4, 500) * 0.1, rng.integers(0, 9, 500) * 0.1
    expected = np.lexsort((-ties, -scores)).tolist()
    for many in (1, 10**6):
        monkeypatch.setattr(ranking, "MIN_PACKED_SORT", many)
        assert falling(scores, ties).tolist() == expected


@pytest.mark.parametrize("count", [0, 1, 7, 11, 12, 2999, 5000])
@pytest.mark.parametrize("kind", KINDS[:7])
def test_those_that_lead_are_the_first_of_all(rng, kind, count):
    scores = scores_of(kind, rng)
    assert leading(scores, count).tolist() == np.argsort(-scores, kind="stable")[:count].tolist()
