"""P-values of filters: against SciPy, against closed forms, and uniform under the null."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from sparsieve import ChiSquareSelector, FisherSelector, FStatisticSelector, TTestSelector
from sparsieve.filters.tails import log_chi_square_tail, log_f_tail


def test_far_tails_have_closed_forms():
    statistic, degrees = np.array([1e2, 1e4, 1e7]), np.array([3.0, 900.0, 1e5])
    assert_allclose(
        log_f_tail(2, degrees, statistic), -degrees / 2 * np.log1p(2 * statistic / degrees)
    )
    # Of an even number of degrees: a Poisson probability of few events.
    x = np.array([50.0, 5e3, 5e6])
    assert_allclose(log_chi_square_tail(6, 2 * x), -x + np.log1p(x + x**2 / 2), rtol=1e-13)


def test_no_step_where_the_continued_fraction_takes_over():
    statistic = np.linspace(1000, 3000, 400)
    for logs in (log_f_tail(3, 700, statistic), log_chi_square_tail(4, statistic)):
        assert logs[0] > np.log(1e-290) > logs[-1]
        assert (np.diff(logs) < 0).all()
        assert np.abs(np.diff(logs, 4)).max() < 1e-6


def test_the_ends():
    assert log_f_tail(1, 10, [0.0, np.inf]).tolist() == [0.0, -np.inf]
    assert log_chi_square_tail(3, [0.0, np.inf]).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize("equal_var", [False, True])
def test_t_test_agrees_with_scipy(rng, equal_var):
    X, y = rng.standard_normal((25, 8)) * np.arange(1, 9), np.arange(25) % 3 == 0
    X[y] *= 2.0
    selector = TTestSelector(equal_var=equal_var).fit(X, y)
    expected = stats.ttest_ind(X[y], X[~y], equal_var=equal_var)
    assert_allclose(selector.pvalues_, expected.pvalue)
    assert_allclose(selector.degrees_of_freedom_, expected.df)


def test_rare_classes_do_not_make_small_p_values(rng):
    """Three samples that happen to agree would be a discovery by Welch's test alone."""
    y = np.arange(60) < 3
    X = (rng.integers(0, 4, (60, 2000)) == 0).astype(float)
    selector = TTestSelector().fit(X, y)
    with np.errstate(all="ignore"), pytest.warns(RuntimeWarning):
        welch = stats.ttest_ind(X[y], X[~y], equal_var=False).pvalue
    student = stats.ttest_ind(X[y], X[~y]).pvalue
    assert (welch <= 0.01).mean() > 0.3
    assert (selector.pvalues_ <= 0.01).mean() < 0.03
    np.testing.assert_allclose(selector.pvalues_, np.fmax(welch, student), rtol=1e-9)


def test_t_test_of_several_classes_pays_for_each(rng):
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 4
    selector = TTestSelector().fit(X, y)
    tests = [stats.ttest_ind(X[y == k], X[y != k], equal_var=False) for k in range(4)]
    best = np.argmax([np.abs(test.statistic) for test in tests], axis=0)
    expected = [4 * tests[k].pvalue[j] for j, k in enumerate(best)]
    assert_allclose(selector.pvalues_, np.minimum(expected, 1.0))


def test_fisher_has_the_p_values_of_the_f_test(rng):
    X, y = rng.standard_normal((40, 5)), np.arange(40) % 4
    fisher, f = FisherSelector().fit(X, y), FStatisticSelector().fit(X, y)
    assert_allclose(fisher.pvalues_, f.pvalues_)
    for other in (FisherSelector(generalized=True), FisherSelector(class_weight="balanced")):
        assert not hasattr(other.fit(X, y), "pvalues_")


def test_several_targets_pay_for_each(rng):
    X, Y = rng.standard_normal((40, 5)), rng.standard_normal((40, 3))
    together = FStatisticSelector().fit(X, Y).pvalues_
    single = np.array([FStatisticSelector().fit(X, y).pvalues_ for y in Y.T])
    assert_allclose(together, np.minimum(3 * single.min(axis=0), 1.0))


def test_p_values_too_small_for_a_number_still_differ():
    x = np.arange(4000.0)
    X = np.column_stack([x + 0.01 * np.sin(x), x + 0.001 * np.sin(x)])
    y = x >= 2000
    for selector in (TTestSelector(), FStatisticSelector(), FisherSelector()):
        logs = selector.fit(X, y).log_pvalues_
        assert (selector.pvalues_ == 0.0).all()
        assert np.isfinite(logs).all()
        assert (logs < -700).all()
    counts = np.column_stack([1 + 9 * y, 1 + 5 * y]) * 10.0
    logs = ChiSquareSelector().fit(counts, y).log_pvalues_
    assert logs[0] < logs[1] < -700


def _noise(kind, rng, n, d):
    if kind == "counts":
        return rng.poisson(50.0, (n, d)).astype(float)
    return rng.standard_normal((n, d))


@pytest.mark.parametrize(
    ("selector", "kind"),
    [
        (TTestSelector(), "numbers"),
        (TTestSelector(equal_var=True), "numbers"),
        (FStatisticSelector(), "numbers"),
        (FisherSelector(), "numbers"),
        (ChiSquareSelector(), "counts"),
    ],
)
def test_uniform_under_the_null(selector, kind):
    X = _noise(kind, np.random.default_rng(5), 60, 2000)
    pvalues = selector.fit(X, np.arange(60) % 2).pvalues_
    assert stats.kstest(pvalues, "uniform").pvalue > 0.01


@pytest.mark.parametrize("selector", [TTestSelector(), FStatisticSelector(), FisherSelector()])
def test_ties_rare_classes_and_constant_columns_give_p_values(selector):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, (40, 300)), np.ones(40)]).astype(float)
    y = np.array([0] * 18 + [1] * 19 + [2] * 3)
    pvalues = selector.fit(X, y).pvalues_
    assert ((pvalues >= 0) & (pvalues <= 1)).all()
    assert pvalues[-1] == 1.0
