"""What may be exchanged: every deal that is allowed and no other, each as likely as the others."""

import itertools
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from sparsieve.validation.exchange import Exchange
from sparsieve.validation.survival import as_survival


def deals(y, exchange, n_draws=4000, seed=0):
    """How often each shuffled y comes."""
    rng = np.random.default_rng(seed)
    return Counter(tuple(y[exchange.order(rng)].tolist()) for _ in range(n_draws))


def allowed(y, groups, strata):
    """All deals, by brute force: one value per group, and whole groups within their stratum."""
    names = sorted(set(groups.tolist()))
    one = [y[groups == name][0] for name in names]
    kept_apart = [strata[groups == name][0] for name in names]
    found = set()
    for order in itertools.permutations(range(len(names))):
        if all(kept_apart[i] == kept_apart[j] for i, j in enumerate(order)):
            values = {name: one[j] for name, j in zip(names, order, strict=True)}
            found.add(tuple(values[g] for g in groups.tolist()))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_groups_with_one_value_exchange_it_whatever_their_size(seed):
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.repeat(np.arange(6), rng.integers(1, 4, 6)))
    y = np.array([0, 0, 1, 1, 1, 2])[groups]
    strata = np.array([0, 0, 0, 1, 1, 0])[groups] if seed % 2 else np.zeros_like(groups)
    exchange = Exchange.from_target(y, groups=groups, strata=strata)
    found = deals(y, exchange)
    assert set(found) == allowed(y, groups, strata)
    assert round(exchange.n_ways) == len(found)
    assert exchange.unit == "group"
    assert chisquare(list(found.values())).pvalue > 0.001  # each as likely as the others


def test_independent_samples_are_shuffled_as_ever():
    y = np.arange(30) % 3
    for rng in (np.random.RandomState, np.random.default_rng):
        np.testing.assert_array_equal(Exchange.from_target(y).order(rng(5)), rng(5).permutation(30))


def test_groups_in_which_y_varies_exchange_all_of_it_with_groups_of_their_size():
    groups = np.repeat(np.arange(16), [2] * 8 + [3] * 8)
    y = np.arange(40.0)
    exchange = Exchange.from_target(y, groups=groups)
    assert exchange.unit == "group"
    rng, seen = np.random.default_rng(0), set()
    for _ in range(50):
        order = exchange.order(rng)
        for group in range(16):
            mine = np.flatnonzero(groups == group)
            (other,) = set(groups[order[mine]].tolist())
            np.testing.assert_array_equal(order[mine], np.flatnonzero(groups == other))
            assert (groups == other).sum() == len(mine)
            seen.add((group, other))
    assert len(seen) == 2 * 64


def test_few_groups_in_which_y_varies_exchange_with_all_of_their_size():
    """Three pairs of rows hold a case; the other pairs and a triple hold none."""
    groups = np.repeat(np.arange(22), [2] * 20 + [3] * 2)
    y = np.zeros(46, dtype=int)
    y[[0, 3, 5]] = 1
    exchange = Exchange.from_target(y, groups=groups)
    assert exchange.unit == "group"
    assert round(exchange.n_ways) == 20 * 19 * 18 // 6
    rng, homes = np.random.default_rng(0), set()
    for _ in range(300):
        dealt = y[exchange.order(rng)]
        assert dealt.sum() == 3
        assert np.bincount(groups, dealt).max() == 1
        homes |= set(groups[dealt == 1].tolist())
    assert homes == set(range(20))


@pytest.mark.parametrize(
    ("sizes", "y"),
    [
        ([4, 5, 6, 7, 8], None),  # no two hospitals of a size
        ([6, 6, 6], None),  # six ways
        ([2] * 12, np.tile([0, 1], 12)),  # a case and its control
    ],
)
def test_where_whole_groups_cannot_be_exchanged_their_rows_are(sizes, y):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    y = np.arange(len(groups)) % 2 if y is None else y
    exchange = Exchange.from_target(y, groups=groups)
    assert exchange.unit == "sample"
    order = exchange.order(np.random.default_rng(0))
    np.testing.assert_array_equal(groups[order], groups)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(y)))
    assert (y[order] != y).any()


def test_matched_pairs_and_single_samples_side_by_side():
    groups = np.r_[np.repeat(np.arange(4), 2), 4, 5, 6]
    y = np.array([0, 1] * 4 + [0, 1, 1])
    found = deals(y, Exchange.from_target(y, groups=groups))
    assert len(found) == 2**4 * 3
    assert all(sum(deal[:2]) == 1 and sum(deal[8:]) == 2 for deal in found)


def test_a_group_in_two_strata_exchanges_with_groups_in_the_same_two():
    groups, strata = np.repeat(np.arange(4), 2), np.array([0, 0, 0, 1, 1, 0, 1, 1])
    y = np.repeat([5, 6, 7, 8], 2)
    found = deals(y, Exchange.from_target(y, groups=groups, strata=strata))
    assert set(found) == {(5, 5, 6, 6, 7, 7, 8, 8), (5, 5, 7, 7, 6, 6, 8, 8)}


def test_strata_that_survival_times_carry_count():
    y = as_survival((np.arange(1.0, 9.0), np.ones(8)), strata=np.arange(8) // 4)
    order = Exchange.from_target(y).order(np.random.default_rng(0))
    np.testing.assert_array_equal(y["strata"][order], y["strata"])
    with pytest.raises(ValueError, match="strata must say for each of the 8 samples"):
        Exchange.from_target(y, strata=[1, 2])


def test_samples_with_the_same_covariates_exchange_among_each_other():
    rng = np.random.default_rng(0)
    sex, batch = rng.integers(0, 2, 60), rng.integers(0, 3, 60)
    y = rng.standard_normal(60)
    order = Exchange.from_target(y, covariates=np.column_stack((sex, batch))).order(rng)
    np.testing.assert_array_equal(sex[order], sex)
    np.testing.assert_array_equal(batch[order], batch)
    assert len(set(order.tolist())) == 60


@pytest.mark.parametrize("kind", ["numbers", "classes", "labels", "survival", "two numbers"])
def test_otherwise_those_of_which_covariates_predict_about_the_same(kind):
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 160)
    y = age + rng.standard_normal(160)
    y = {
        "numbers": y,
        "classes": (y > 50).astype(int),
        "labels": np.where(y > 50, "old", "young"),
        "survival": as_survival((100.0 - age, np.ones(160))),
        "two numbers": np.column_stack((y, -y)),
    }[kind]
    order = Exchange.from_target(y, covariates=age[:, None]).order(rng)
    assert np.corrcoef(age, age[order])[0, 1] > 0.95
    assert (order != np.arange(160)).mean() > 0.5


@pytest.mark.parametrize("grouped", [False, True])
def test_sums_are_those_of_the_orders_and_their_moments_hold(grouped):
    """By a plain loop over orders."""
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(9), [1, 2, 2, 3, 3, 3, 1, 2, 4]) if grouped else None
    strata = np.arange(21) // 21 if groups is None else (groups > 4).astype(int)
    values = rng.standard_normal((9, 2))[np.repeat(np.arange(9), [1, 2, 2, 3, 3, 3, 1, 2, 4])]
    A, B = rng.standard_normal((21, 2)), values if grouped else rng.standard_normal((21, 2))
    exchange = Exchange.from_target(B, groups=groups, strata=strata)
    orders = [exchange.order(rng) for _ in range(8000)]
    by_loop = np.array([(A * B[order]).sum() for order in orders])
    sums = exchange.sums(A, B, 8000, rng)
    mean, variance = exchange.moments(A, B)
    for found in (by_loop, sums):
        assert found.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 8000))
        assert found.var() == pytest.approx(variance, rel=0.1)
    np.testing.assert_allclose(
        np.quantile(sums, [0.05, 0.5, 0.95]), np.quantile(by_loop, [0.05, 0.5, 0.95]), atol=0.5
    )


def test_draws_follow_places_and_not_rows():
    rng = np.random.default_rng(0)
    y, age = np.arange(40) % 2, rng.integers(0, 30, 40)
    places, moved = rng.permutation(40), rng.permutation(40)
    for covariates in (None, age[:, None]):
        how = {"covariates": covariates, "places": places}
        there = {k: None if v is None else v[moved] for k, v in how.items()}
        first = Exchange.from_target(y, **how).order(np.random.default_rng(1))
        second = Exchange.from_target(y[moved], **there).order(np.random.default_rng(1))
        np.testing.assert_array_equal(y[first][moved], y[moved][second])


def test_what_cannot_be_exchanged_is_said():
    y = np.repeat([0, 1, 1], 4)
    for strata in (None, np.repeat([0, 1, 1], 4)):
        found = Exchange.from_target(y, groups=np.repeat(np.arange(3), 4), strata=strata)
        assert bool(found.why_not) is (strata is not None)
        assert found.too_few
    assert "no two groups of the same stratum" in found.why_not
    assert "the same value in all samples" in Exchange.from_target(np.ones(5)).why_not
    assert Exchange.from_target(np.arange(6) % 2).too_few == ""  # 20 ways
    few = Exchange.from_target(np.arange(5) % 2).too_few
    assert "only 10 ways, exchanging 5 samples, so no p-value is below 0.1" in few


def test_orders_that_nothing_can_be_made_of_do_not_count():
    y, tried = np.arange(4), []

    def work(order):
        tried.append(order)
        if len(tried) < 3:
            raise ValueError("refused")
        return "done"

    assert Exchange.from_target(y).try_order(work, np.random.default_rng(0)) == "done"
    assert len(tried) == 3
    with pytest.raises(ZeroDivisionError):
        Exchange.from_target(y).try_order(lambda order: 1 / 0, np.random.default_rng(0))
    with pytest.raises(ValueError, match="never"):
        Exchange.from_target(y).try_order(_never, np.random.default_rng(0))


def _never(order):
    raise ValueError("never")
