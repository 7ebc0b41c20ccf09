"""What ``solver="exact"`` and ``certify`` call proven, with all settings together.

Every set is tried one by one, by an objective that is written out in plain NumPy.
"""

import numpy as np
import pytest
from scipy import sparse

from all_sets import AllSets, Draw
from search_ways import search_as
from sparsieve import L20Selector, RidgeForwardSelector
from sparsieve.solvers import ExactSearch

# Rounding of the sums here, relative to the target.
ROUNDING = 1e-10

pytestmark = pytest.mark.filterwarnings("ignore")


def fitted(draw, cls=L20Selector, **how):
    settings = draw.settings
    if draw.costs is not None and cls is L20Selector:
        settings["group_costs"] = {f"g{i}": cost for i, cost in enumerate(draw.costs)}
    X = sparse.csr_array(draw.X) if draw.seed % 7 == 3 else draw.X
    return cls(**settings, **how).fit(X, draw.y, sample_weight=draw.weights), X


def drawn_number(draw, sets):
    """A price, or a number of features or groups."""
    rng = draw.rng
    if rng.random() < 0.7:
        lam = max(sets.power, 1e-6) * 10.0 ** rng.uniform(-2.5, -0.4)
        return {"lam": lam / (1.0 if draw.costs is None else float(np.median(draw.costs)))}
    n_available = len(draw.units) - sum(bool(set(some) & set(draw.never)) for some in draw.units)
    return {"n_features_to_select": int(rng.integers(max(1, sets.n_always), n_available + 1))}


def prices_of(draw, selector):
    """What every unit adds to the objective."""
    count = len(draw.units)
    if draw.costs is not None:
        return selector.lam_ * draw.costs
    if not draw.has_prices:
        return np.full(count, selector.lam_)
    # What noise would gain in each group: part of the problem here, and checked elsewhere.
    prices = np.empty(count)
    prices[places(draw, selector)] = 0.5 * selector._by_size.prices
    return prices


def places(draw, selector):
    """The place in the draw of every group of the selector."""
    if draw.groups is None:
        return np.arange(draw.X.shape[1])
    return np.array([int(name[1:]) for name in selector.group_names_])


def kept(draw, selector, sets):
    """The units that the model uses, by its public attributes."""
    mask = selector.support_ if draw.groups is None else selector.group_support_
    chosen = {int(g) for g in places(draw, selector)[mask]} & set(sets.columns)
    if selector.lam is not None and selector.n_features_to_select is None:
        used = [g for g in chosen if np.any(selector.coef_[:, sets.columns[g]])]
        chosen = chosen if used else set()  # one is kept even where none is worth its price
    return tuple(sorted(chosen))


def close(draw, found, expected, sets):
    """Whether objectives agree; those of single precision less so."""
    share = 1e-4 if draw.single else 1e-8
    return abs(found - expected) <= share * max(abs(expected), 1e-3 * sets.size, 1e-12)


def check_exact(draw):
    """No false word about the price or any size; whether everything was proven."""
    sets = AllSets(draw)
    how = drawn_number(draw, sets)
    selector, X = fitted(draw, solver=ExactSearch(time_limit=1e9), **how)
    totals = sets.totals(prices_of(draw, selector))
    error = ROUNDING * max(sets.size, 1e-12)

    def check(one, compared, name):
        own = kept(draw, one, sets)
        value, best = totals[own], min(totals[some] for some in compared)
        words = f"{name}: {own} {value} but {best}, {one.optimality_=}, {how}, {draw}"
        assert close(draw, one.objective_, value, sets), f"objective {one.objective_}, {words}"
        assert value - best <= one.optimality_ * value * (1 + 1e-6) + error, words
        assert one.converged_ == (one.optimality_ <= one.tol), words
        if one.optimality_ == 0.0:
            assert value <= best + error, words
        return one.optimality_ == 0.0

    if "lam" in how:
        proven = check(selector, totals, "of any size")
    else:
        size = len(kept(draw, selector, sets))
        proven = check(selector, [some for some in totals if len(some) == size], "of its size")
    for size in range(1, len(selector.path_) + 1):
        count = size + sets.n_always
        check(selector.at(count), [some for some in totals if len(some) == size], f"{size}")
    certificate = selector.certify(X, draw.y, sample_weight=draw.weights)
    check_certificate(draw, sets, certificate, totals if draw.has_prices else sets.values)
    return proven


def check_certificate(draw, sets, certificate, totals):
    """No set of a size goes below the bound for it."""
    error = ROUNDING * max(sets.size, 1e-12)
    for place, count in enumerate(certificate.n_features):
        own, bound, gap = (
            float(getattr(certificate, name)[place]) for name in ("objective", "lower_bound", "gap")
        )
        size = int(count) - sets.n_always
        values = np.array([2.0 * totals[some] for some in totals if len(some) == size])
        words = f"{count}: {own} with a bound of {bound} but {values.min()}, {draw}"
        assert bound <= values.min() + error, words
        assert own - values.min() <= gap * own * (1 + 1e-6) + error, words
        assert np.abs(values - own).min() <= 1e-7 * own + error, words


def check_greedy(draw):
    """The certificates of greedy searches hold as well."""
    if draw.ridge == 0.0:
        draw.ridge = 0.1  # there is no bound without one
    sets = AllSets(draw)
    how = drawn_number(draw, sets)
    selector, X = fitted(draw, **how)
    certificate = selector.certify(X, draw.y, sample_weight=draw.weights)
    totals = sets.totals(prices_of(draw, selector)) if draw.has_prices else sets.values
    check_certificate(draw, sets, certificate, totals)
    clip = 3.0 if draw.standardize and draw.intercept else None
    balance = 0.25 if draw.task == "classification" else 0.0
    sets = AllSets(draw, clip=clip, balance=balance)
    how.pop("lam", None)
    selector, X = fitted(draw, RidgeForwardSelector, **how)
    certificate = selector.certify(X, draw.y, sample_weight=draw.weights)
    check_certificate(draw, sets, certificate, sets.values)


@pytest.mark.long("sixty small problems")
@pytest.mark.parametrize("way", range(4))
def test_some_problems(way, monkeypatch):
    search_as(way, monkeypatch)
    proven = [check_exact(Draw(seed)) for seed in range(way, 60, 4)]
    assert sum(proven) >= 10  # where nothing is claimed nothing can be false


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(40))
def test_many_problems(chunk, monkeypatch):
    search_as(chunk, monkeypatch)
    proven = [check_exact(Draw(seed)) for seed in range(1000 + chunk, 5000, 40)]
    assert sum(proven) >= 80


@pytest.mark.long("fifteen small problems")
def test_some_certificates_of_greedy_searches():
    for seed in range(15):
        check_greedy(Draw(seed))


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_many_certificates_of_greedy_searches(chunk):
    for seed in range(10_000 + chunk, 12_000, 10):
        check_greedy(Draw(seed))
