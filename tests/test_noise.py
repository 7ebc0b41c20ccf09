"""Every p-value by shuffling on data where features say nothing of y: 5 % are at most 0.05.

Rows of one patient are near copies, y has one value per patient, and the procedures are told so.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import binomtest

from sparsieve import (
    BaseSelector,
    FDRSelector,
    FeatureScores,
    FisherSelector,
    FStatisticSelector,
    RidgeForwardSelector,
    SelectorCV,
    ShadowSelector,
    compare,
    permutation_null,
)
from sparsieve.app.report.assessment import assess
from sparsieve.app.report.survival import held_out_survival
from sparsieve.scoring import martingale_residuals
from sparsieve.selection.selected_data import SelectedData

LEVEL = 0.05
N_FEATURES = 6


def correlations(X, y):
    """Absolute correlations with classes 0 and 1, numbers or martingale residuals."""
    X = X.toarray() if sparse.issparse(X) else X
    y = martingale_residuals(y) if y.dtype.names else np.asarray(y, dtype=float)
    X, y = X - X.mean(axis=0), y - y.mean()
    return np.abs(X.T @ y) / np.sqrt((X**2).sum(axis=0) * (y @ y))


@dataclass(eq=False, repr=False, kw_only=True)
class Correlations(BaseSelector):
    task: str = "auto"
    _accepts_survival = True

    def _fit(self, data):
        return FeatureScores(correlations(*data.arrays()), n_kept=2)


# -- data --------------------------------------------------------------------------------------


def rows_of(rng, groups, spread=0.1):
    own = rng.standard_normal((groups.max() + 1, N_FEATURES))[groups]
    return own + spread * rng.standard_normal(own.shape)


def two_classes(rng, number):
    return rng.permutation(number) % 2


def independent(rng):
    return rng.standard_normal((40, N_FEATURES)), two_classes(rng, 40), {}


def patients(rng):
    groups = np.repeat(np.arange(20), 4)
    return rows_of(rng, groups), two_classes(rng, 20)[groups], {"groups": groups}


def patients_of_unequal_size(rng):
    groups = np.repeat(np.arange(24), rng.integers(1, 9, 24))
    return rows_of(rng, groups), two_classes(rng, 24)[groups], {"groups": groups}


def series(rng):
    """X and y both wander from visit to visit."""
    wandering = [rng.standard_normal((20, 4, m)).cumsum(axis=1) for m in (N_FEATURES, 1)]
    X, y = (walk.reshape(80, -1) for walk in wandering)
    return X, y[:, 0], {"groups": np.repeat(np.arange(20), 4)}


def pairs(rng):
    groups = np.repeat(np.arange(24), 2)
    return rows_of(rng, groups, 0.5), np.tile([0, 1], 24), {"groups": groups}


def hospitals(rng):
    """Cases are more frequent in some, and features are measured in another way."""
    groups = np.repeat(np.arange(5), [13, 20, 27, 16, 24])
    y = rng.random(100) < rng.uniform(0.2, 0.8, 5)[groups]
    return rows_of(rng, groups, 1.0), y.astype(int), {"groups": groups}


def sparse_patients(rng):
    X, y, how = patients(rng)
    return sparse.csr_array(np.where(np.abs(X) < 1, 0.0, X)), y, how


def survival(time, event, strata=None):
    dtype = [("event", "?"), ("time", "f8")] + [("strata", "i8")] * (strata is not None)
    y = np.zeros(len(time), dtype)
    y["event"], y["time"] = event, time
    if strata is not None:
        y["strata"] = strata
    return y


def survival_of_patients(rng):
    groups = np.repeat(np.arange(20), 4)
    y = survival(rng.exponential(1, 20), rng.random(20) < 0.8)[groups]
    return rows_of(rng, groups), y, {"groups": groups}


def survival_in_strata(rng):
    """Patients of one hospital live longer, and their features are higher."""
    groups = np.repeat(np.arange(24), 3)
    there = np.arange(24) % 2
    y = survival(rng.exponential(1 + 4.0 * there), rng.random(24) < 0.8, there)[groups]
    return rows_of(rng, groups) + 2.0 * there[groups, None], y, {"groups": groups}


def age(rng):
    z = rng.standard_normal(60)
    X = 0.8 * z[:, None] + 0.6 * rng.standard_normal((60, N_FEATURES))
    return np.column_stack((z, X)), 2 * z + rng.standard_normal(60), {"always_keep": [0]}


def batch(rng):
    """A batch in which everything has a larger spread."""
    z = (np.arange(60) < 15).astype(float)
    spread = 1 + 2 * z
    X = rng.standard_normal((60, N_FEATURES)) * spread[:, None]
    return np.column_stack((z, X)), rng.standard_normal(60) * spread, {"always_keep": [0]}


def class_weights(rng):
    X, y = rng.standard_normal((40, N_FEATURES)), rng.permutation((np.arange(40) < 12).astype(int))
    return X, y, {"sample_weight": np.where(y, 2.0, 0.7)}


def exactness(rng):
    """Weights say how exact each y is."""
    weights = rng.choice([0.2, 1.0, 5.0], 60)
    y = rng.standard_normal(60) / np.sqrt(weights)
    return rng.standard_normal((60, N_FEATURES)), y, {"sample_weight": weights}


# -- procedures: the smallest p-value; 0 or 1 where there is none ----------------------------


def null(X, y, always_keep=None, **how):
    selector = Correlations()
    if always_keep is not None:
        selector = RidgeForwardSelector(3, always_keep=always_keep)
    elif "sample_weight" in how:
        selector = FisherSelector() if y.dtype.kind == "i" else FStatisticSelector()
    found = permutation_null(selector, X, y, n_repeats=19, **how)
    return np.nanmin(found.familywise)


def search(X, y, **how):
    return SelectorCV(Correlations(), ks=[1, 3], cv=4, n_repeats=1).fit(X, y, **how).p_value_


def page(X, y, groups=None, **how):
    kept = SelectedData.from_selector(Correlations(2).fit(X, y), X, y, None)
    return assess(kept, X, groups=groups, n_folds=4, seed=0, **how).p_value


def comparison(X, y, **how):
    (found,) = compare(X, y, [Correlations()], ks=[1, 3], cv=4, n_repeats=1, **how).methods.values()
    return found.guess_test.p_value


def curves(X, y, groups=None):
    kept = SelectedData.from_selector(Correlations(n_features_to_select=2).fit(X, y), X, y)
    return held_out_survival(kept, X, n_folds=3, groups=groups, n_shuffles=19).p_value


def copies(X, y, **how):
    found = ShadowSelector(correlations, n_features_to_select=1, max_rounds=60).fit(X, y, **how)
    return 1.0 - (found.decisions_ == "confirmed").any()


def marginal(X, y, always_keep=None):
    how = {"claim": "marginal", "correction": "maxt", "n_resamples": 99}
    found = FDRSelector(LEVEL, always_keep=always_keep, **how).fit(X, y)
    return np.delete(found.adjusted_pvalues_, always_keep or []).min()


OF_GROUPS = [patients, patients_of_unequal_size, series, pairs, hospitals, sparse_patients]
OF_TIMES = [survival_of_patients, survival_in_strata]
EVERYTHING = [
    *((null, data) for data in [independent, *OF_GROUPS, *OF_TIMES]),
    *((null, data) for data in [age, batch, class_weights, exactness]),
    *((search, data) for data in [independent, *OF_GROUPS, *OF_TIMES]),
    *((page, data) for data in [independent, *OF_GROUPS, *OF_TIMES]),
    *((comparison, data) for data in [independent, patients, patients_of_unequal_size]),
    *((curves, data) for data in OF_TIMES),
    *((copies, data) for data in [independent, *OF_GROUPS]),
    *((marginal, data) for data in [independent, age, batch]),
]
QUICK = [(null, patients), (null, hospitals), (search, patients), (copies, patients)]
# ShadowSelector promises no level: about 1 - hit_rate.
PROMISED = {copies: 0.2}


def n_found(procedure, data, n_sets):
    drawn = (data(np.random.default_rng(seed)) for seed in range(n_sets))
    return sum(bool(procedure(X, y, **how) <= LEVEL) for X, y, how in drawn)


def check(procedure, data, n_sets):
    found = n_found(procedure, data, n_sets)
    promised = PROMISED.get(procedure, LEVEL)
    assert binomtest(found, n_sets, promised, alternative="greater").pvalue > 0.002, found


def name(pair):
    return f"{pair[0].__name__} of {pair[1].__name__}"


@pytest.mark.long("many draws of noise, or chance would not show")
@pytest.mark.parametrize("pair", QUICK, ids=name)
@pytest.mark.filterwarnings("ignore")
def test_noise_is_found_as_often_as_said_in_a_few_data_sets(pair):
    check(*pair, 12)


@pytest.mark.slow
@pytest.mark.parametrize("pair", EVERYTHING, ids=name)
@pytest.mark.filterwarnings("ignore")
def test_noise_is_found_as_often_as_said(pair):
    check(*pair, 40 if pair[0] in (curves, comparison, copies) else 120)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("data", [patients, patients_of_unequal_size, pairs, survival_of_patients])
def test_what_is_there_is_still_found(data):
    X, y, how = data(np.random.default_rng(0))
    signal = -np.log(y["time"]) if y.dtype.names else y
    X[:, 3] = 2.0 * signal + 0.5 * X[:, 3]
    found = permutation_null(Correlations(), X, y, n_repeats=39, **how)
    assert found.familywise[3] == 1 / 40
    assert SelectorCV(Correlations(), ks=[1], cv=4, n_repeats=1).fit(X, y, **how).beats_guess_
