"""Scores, curves and tests of survival times against plain loops and scikit-survival."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import PoissonRegressor
from sklearn.metrics import d2_tweedie_score
from sklearn.preprocessing import StandardScaler

from sparsieve.scoring import concordance_index, martingale_residuals, regression_scores
from sparsieve.scoring.folds import make_folds
from sparsieve.scoring.likelihood_models import LikelihoodRidge
from sparsieve.scoring.models import choose_metrics
from sparsieve.scoring.scorers import resolve_scores
from sparsieve.scoring.survival import kaplan_meier, log_rank, risk_groups
from sparsieve.validation.survival import as_survival


def drawn(seed, n=60):
    """Tied times and risks, late entries and two strata."""
    rng = np.random.default_rng(seed)
    time, event = rng.integers(1, 15, n).astype(float), rng.random(n) < 0.6
    entry, strata = time - rng.integers(1, 20, n) / 2, rng.integers(0, 2, n)
    return time, event, entry, strata, rng.integers(0, 9, n).astype(float)


def looped(time, event, entry, strata, risk):
    right = total = 0.0
    for i in np.flatnonzero(event):
        for j in range(len(time)):
            later = time[j] > time[i] or (time[j] == time[i] and not event[j])
            if later and entry[j] < time[i] and strata[i] == strata[j]:
                total += 1
                right += 1.0 if risk[j] < risk[i] else 0.5 if risk[j] == risk[i] else 0.0
    return right / total


@pytest.mark.parametrize("seed", range(5))
def test_concordance_is_the_share_of_pairs(seed):
    time, event, entry, strata, risk = drawn(seed)
    never, one = np.full(len(time), -np.inf), np.zeros(len(time))
    plain = concordance_index((time, event), risk)
    assert plain == pytest.approx(looped(time, event, never, one, risk), abs=1e-12)
    y = as_survival((time, event), entry=entry, strata=strata)
    expected = looped(time, event, entry, strata, risk)
    assert concordance_index(y, risk) == pytest.approx(expected, abs=1e-12)


def test_concordance_of_guesses_and_of_the_truth():
    time, event, *_ = drawn(0)
    assert concordance_index((time, event), np.zeros(60)) == 0.5
    assert concordance_index((time, event), -time) > 0.95  # ties of time stay undecided
    assert concordance_index((np.arange(60.0), event), -np.arange(60.0), kind="uno") == 1.0
    assert np.isnan(concordance_index(([1.0, 2.0], [0, 1]), [1.0, 2.0]))


def test_uno_weights_events_by_the_chance_of_not_being_censored():
    # Censored at 2 of 4 at risk: G = 2/3 after it, as the event at 1 left before.
    y = ([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    weight = 1 / (2 / 3) ** 2
    found = concordance_index(y, [0.0, 5.0, 3.0, 1.0], kind="uno")
    assert found == pytest.approx((0 + weight) / (3 + weight))
    assert concordance_index(y, [0.0, 5.0, 3.0, 1.0], kind="uno", tau=2.5) == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_all_is_as_in_scikit_survival(seed):
    pytest.importorskip("sksurv")
    from sksurv.compare import compare_survival
    from sksurv.metrics import concordance_index_censored, concordance_index_ipcw
    from sksurv.nonparametric import kaplan_meier_estimator

    time, event, _, groups, risk = drawn(seed)
    dtype = [("event", "?"), ("time", "f8")]
    y, train = np.zeros(60, dtype=dtype), np.zeros(60, dtype=dtype)
    y["time"], y["event"] = time, event
    train["time"], train["event"] = drawn(seed + 10)[:2]
    train["time"][0], train["event"][0] = 99.0, True
    assert concordance_index(y, risk) == pytest.approx(
        concordance_index_censored(event, time, risk)[0], abs=1e-12
    )
    for tau in (None, 7.0):
        expected = concordance_index_ipcw(train, y, risk, tau=tau)[0]
        found = concordance_index(y, risk, kind="uno", y_train=train, tau=tau)
        assert found == pytest.approx(expected, abs=1e-12)
    curve = kaplan_meier(y)
    _, survival, (low, high) = kaplan_meier_estimator(event, time, conf_type="log-log")
    np.testing.assert_allclose(curve.survival[1:], survival)
    inside = (survival > 0) & (survival < 1)
    np.testing.assert_allclose(curve.low[1:][inside], low[inside])
    np.testing.assert_allclose(curve.high[1:][inside], high[inside])
    np.testing.assert_allclose(log_rank(y, groups), compare_survival(y, groups))


def test_kaplan_meier_by_hand_with_late_entry():
    y = as_survival(([2.0, 4.0, 4.0, 6.0], [1, 1, 0, 1]), entry=[0.0, 0.0, 0.0, 3.0])
    curve = kaplan_meier(y)
    assert curve.at_risk.tolist()[1:] == [3, 3, 1]
    np.testing.assert_allclose(curve.survival, [1, 2 / 3, 4 / 9, 0])
    assert curve.median == 4.0
    assert np.isnan(kaplan_meier(([1.0, 2.0], [0, 0])).median)


def test_log_rank_by_its_definition_with_strata_and_entries():
    time, event, entry, strata, risk = drawn(7)
    group = (risk > 4).astype(int)
    gap = variance = 0.0
    for stratum in (0, 1):
        for t in np.unique(time[event & (strata == stratum)]):
            at_risk = (strata == stratum) & (entry < t) & (time >= t)
            died = at_risk & event & (time == t)
            n, d, share = at_risk.sum(), died.sum(), (at_risk & (group == 1)).sum() / at_risk.sum()
            gap += (died & (group == 1)).sum() - d * share
            variance += d * (n - d) / max(n - 1, 1) * share * (1 - share)
    y = as_survival((time, event), entry=entry, strata=strata)
    assert log_rank(y, group).statistic == pytest.approx(gap**2 / variance)
    assert log_rank(y, np.zeros(60)).p_value == 1.0


def test_martingale_residuals_by_their_definition():
    time, event, entry, strata, _ = drawn(3)
    residuals = martingale_residuals(as_survival((time, event), entry=entry, strata=strata))
    assert abs(residuals.sum()) < 1e-10
    for i in range(0, 60, 7):
        mine = strata == strata[i]
        expected = 0.0
        for t in np.unique(time[event & mine]):
            if entry[i] < t <= time[i]:
                at_risk = mine & (entry < t) & (time >= t)
                expected += (event & mine & (time == t)).sum() / at_risk.sum()
        assert residuals[i] == pytest.approx(event[i] - expected, abs=1e-12)


def test_risk_groups_keep_equal_risks_together():
    groups = risk_groups(np.array([1.0, 1, 1, 1, 2, 3]))
    assert groups.tolist() == [0, 0, 0, 0, 2, 2]
    assert np.bincount(risk_groups(np.random.default_rng(0).random(31))).tolist() == [11, 10, 10]


def test_the_cox_model_is_the_minimum_of_its_objective():
    rng = np.random.default_rng(0)
    X = StandardScaler().fit_transform(rng.normal(size=(50, 3)))
    time, event = rng.exponential(np.exp(-X[:, 0])), rng.random(50) < 0.7

    def objective(w):  # no ties: a loop over the events
        f = X @ w
        at_risk = [np.log(np.exp(f[time >= time[i]]).sum()) for i in np.flatnonzero(event)]
        return sum(at_risk) - f[event].sum() + 0.5 * rho * w @ w

    model = LikelihoodRidge().fit(X, (time, event))
    rho = 0.1 * event.sum()
    best = minimize(objective, np.zeros(3), tol=1e-10)
    np.testing.assert_allclose(model.coef_, best.x, atol=1e-5)
    assert model.score(X, (time, event)) == concordance_index((time, event), X @ model.coef_)
    assert (LikelihoodRidge().fit(X[:, :0], (time, event)).predict(X[:, :0]) == 0).all()


def test_the_poisson_model_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    X = StandardScaler().fit_transform(rng.normal(size=(80, 3)))
    y = rng.poisson(np.exp(1 + 0.5 * X[:, 0]))
    model = LikelihoodRidge("counts").fit(X, y)
    theirs = PoissonRegressor(alpha=0.1 * y.mean(), tol=1e-10).fit(X, y)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-5)
    assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, theirs.predict(X), power=1))
    assert np.isnan(regression_scores(y, -y, ["deviance_explained"])["deviance_explained"])


def test_scores_are_for_their_kind_of_target():
    y = as_survival((np.arange(1.0, 9), np.arange(8) % 2))
    (score,) = resolve_scores("concordance", "survival").values()
    score.check_target(y, "survival")
    for name, target, task in [
        ("accuracy", y, "survival"),
        ("r2", y, "survival"),
        ("concordance", np.arange(8.0), "regression"),
        ("concordance", np.arange(8) % 2, "classification"),
    ]:
        (score,) = resolve_scores(name, task).values()
        with pytest.raises(ValueError, match=f"{name} is a score for .* but the target holds"):
            score.check_target(target, task)
    assert choose_metrics("survival", ["accuracy", "uno_concordance"]) == ["uno_concordance"]
    assert choose_metrics("counts", ["accuracy"]) == ["deviance_explained", "mae", "spearman"]


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(20), 2)])
def test_folds_get_equal_shares_of_events(groups):
    event = np.arange(40) < 10
    y = as_survival((np.arange(1.0, 41), event))
    folds = make_folds(y, 5, seed=0, stratified=False, groups=groups)
    assert [int(event[test].sum()) for _, test in folds] == [2] * 5
