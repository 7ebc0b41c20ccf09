"""The Cox loss against plain loops, differences, cones and other packages."""

from __future__ import annotations

import numpy as np
import pytest

from sparsieve.solvers.losses.cox import Cox, Survival


def plain_value(survival: Survival, f: np.ndarray, w: np.ndarray, ties: str) -> float:
    """The definition, term by term."""
    n = len(f)
    entry = np.full(n, -np.inf) if survival.entry is None else survival.entry
    strata = np.zeros(n) if survival.strata is None else survival.strata
    total = 0.0
    for s in np.unique(strata):
        for t in np.unique(survival.time[survival.event & (strata == s)]):
            risk = (strata == s) & (entry < t) & (survival.time >= t)
            deaths = (strata == s) & survival.event & (survival.time == t)
            m = int(deaths.sum())
            for number, i in enumerate(np.flatnonzero(deaths)):
                v = w * np.exp(f)
                if ties == "efron":
                    inside = v[risk].sum() - number / m * v[deaths].sum()
                    total += w[deaths].mean() * np.log(inside)
                else:
                    total += w[i] * np.log(v[risk].sum())
                total -= w[i] * f[i]
    return total


def example(n: int, seed: int, *, entry: bool = True, strata: bool = True, tied: bool = True):
    rng = np.random.default_rng(seed)
    time = rng.integers(1, 6, n).astype(float) if tied else rng.exponential(size=n) + 0.1
    event = rng.random(n) < 0.6
    event[0] = True
    begin = np.where(rng.random(n) < 0.4, time - rng.integers(1, 4, n) * 0.9, -1.0)
    survival = Survival(
        time,
        event,
        begin if entry else None,
        rng.integers(0, 3, n) if strata else None,
    )
    return survival, rng.uniform(0.5, 2.0, n), rng.standard_normal(n)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
@pytest.mark.parametrize("entry", [True, False])
@pytest.mark.parametrize("strata", [True, False])
def test_value_gradient_and_hessian(ties, entry, strata):
    survival, w, f = example(25, 3, entry=entry, strata=strata)
    loss = Cox(survival, w, ties)
    F = f[:, None]
    assert loss.value(F) == pytest.approx(plain_value(survival, f, w, ties), rel=1e-12)
    step = 1e-5
    moved = [f + step * e for e in np.eye(len(f))], [f - step * e for e in np.eye(len(f))]
    slopes = [
        (plain_value(survival, up, w, ties) - plain_value(survival, down, w, ties)) / (2 * step)
        for up, down in zip(*moved, strict=True)
    ]
    np.testing.assert_allclose(loss.gradient(F)[:, 0], slopes, atol=1e-8)
    H = loss.hessian_product(F, np.eye(len(f))[:, None])[:, 0]
    bends = [
        (loss.gradient(up[:, None]) - loss.gradient(down[:, None]))[:, 0] / (2 * step)
        for up, down in zip(*moved, strict=True)
    ]
    np.testing.assert_allclose(H, bends, atol=1e-8)
    X = np.random.default_rng(0).standard_normal((len(f), 4)) + 1e3
    np.testing.assert_allclose(
        loss.quadratic_forms(F, X), np.einsum("ij,ik,kj->j", X - 1e3, H, X - 1e3), rtol=1e-9
    )
    assert np.linalg.eigvalsh(np.diag(loss.curvature(F)[:, 0]) - H).min() > -1e-10


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_dual_values_are_below_the_loss_and_meet_it(ties):
    """L(f) >= D(t) + <theta, f>, for every f, with equality at the f that the dual is made of."""
    survival, w, f = example(25, 4)
    loss = Cox(survival, w, ties)
    F = f[:, None]
    gradient = loss.gradient(F)
    assert loss.dual_value(F, 1.0) + float(np.vdot(gradient, F)) == pytest.approx(loss.value(F))
    rng = np.random.default_rng(1)
    for t in (0.0, 0.3, 0.9, 1.0):
        for other in (f, np.zeros_like(f), *rng.standard_normal((5, len(f))) * 3):
            bound = loss.dual_value(F, t) + t * float(gradient[:, 0] @ other)
            assert loss.value(other[:, None]) >= bound - 1e-9


def case():
    """The case of the method's description."""
    i = np.arange(1, 31)
    j = np.arange(1, 7)
    X = np.round(np.sin(1.3 * i[:, None] * j) + 0.5 * np.cos(0.7 * i[:, None] + j**2), 6)
    time = 1.0 + (7 * i) % 9
    entry = np.where(i % 5 == 0, time - 2.5, -1.0)
    return X, Survival(time, i % 4 != 0, entry, i % 2), 1.0 + i % 3


def test_null_of_the_case():
    _, survival, w = case()
    assert Cox(survival, w).null()[1] == pytest.approx(112.737017633999, abs=1e-10)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_ridge_optimum_by_exponential_cones(ties):
    cp = pytest.importorskip("cvxpy")
    X, survival, w = case()
    b = cp.Variable(X.shape[1])
    f, terms = X @ b, []
    for s in (0, 1):
        for t in np.unique(survival.time[survival.event & (survival.strata == s)]):
            risk = (survival.strata == s) & (survival.entry < t) & (survival.time >= t)
            deaths = (survival.strata == s) & survival.event & (survival.time == t)
            m = int(deaths.sum())
            for number, i in enumerate(np.flatnonzero(deaths)):
                c = w * (1.0 - (number / m * deaths if ties == "efron" else 0.0))
                tw = w[deaths].mean() if ties == "efron" else w[i]
                terms.append(tw * cp.log_sum_exp(f[risk] + np.log(c[risk])) - w[i] * f[i])
    problem = cp.Problem(cp.Minimize(sum(terms) + cp.sum_squares(b)))
    problem.solve(solver="CLARABEL")
    loss, found = Cox(survival, w, ties), np.zeros(X.shape[1])
    for _ in range(20):
        F = (X @ found)[:, None]
        g = X.T @ loss.gradient(F)[:, 0] + 2 * found
        H = X.T @ loss.hessian_product(F, X[:, None])[:, 0] + 2 * np.eye(len(found))
        found = found - np.linalg.solve(H, g)
    assert loss.value((X @ found)[:, None]) + found @ found == pytest.approx(
        problem.value, rel=1e-7
    )
    np.testing.assert_allclose(found, b.value, atol=1e-4)


def test_one_event_works_and_none_is_refused():
    time = np.array([3.0, 1.0, 2.0])
    loss = Cox(Survival(time, np.array([False, True, False])))
    assert loss.value(np.zeros((3, 1))) == pytest.approx(np.log(3))
    with pytest.raises(ValueError, match="no sample has the event"):
        Cox(Survival(time, np.zeros(3, dtype=bool)))


def test_large_predictors_do_not_overflow():
    survival, w, f = example(30, 5)
    loss = Cox(survival, w)
    F = 1e4 + 100 * f[:, None]
    assert np.isfinite(loss.value(F))
    assert np.isfinite(loss.gradient(F)).all()
    np.testing.assert_allclose(loss.gradient(F), loss.gradient(F - 1e4), atol=1e-9)


def test_baseline_is_nelson_aalen_without_features():
    survival, w, _ = example(40, 6, tied=False, entry=False, strata=False)
    loss = Cox(survival, w, "breslow")
    times, logs, _ = loss.log_baseline_hazard(np.full((40, 1), 2.0))
    expected, total = [], 0.0
    for t in np.sort(survival.time[survival.event]):
        total += w[survival.time == t].sum() / w[survival.time >= t].sum()
        expected.append(total)
    np.testing.assert_allclose(times, np.sort(survival.time[survival.event]))
    np.testing.assert_allclose(np.exp(logs + 2.0), expected)


def test_partial_likelihood_of_lifelines():
    lifelines = pytest.importorskip("lifelines")
    pd = pytest.importorskip("pandas")
    survival, _, _ = example(60, 7)
    x = np.random.default_rng(2).standard_normal(60)
    frame = pd.DataFrame(
        {"x": x, "t": survival.time, "e": survival.event, "s": survival.strata, "b": survival.entry}
    )
    frame["b"] += 10
    frame["t"] += 10
    fitted = lifelines.CoxPHFitter().fit(frame, "t", "e", strata=["s"], entry_col="b")
    loss = Cox(survival, None, "efron")
    F = (x * fitted.params_["x"])[:, None]
    assert loss.value(F) == pytest.approx(-fitted.log_likelihood_, rel=1e-6)


@pytest.mark.parametrize("strata", [False, True])
def test_sums_are_the_same_with_and_without_compiled_code(strata, monkeypatch):
    rng = np.random.default_rng(4)
    labels = rng.integers(0, 3, 30) if strata else None
    times = Survival(np.ceil(6 * rng.random(30)), rng.random(30) < 0.6, strata=labels)
    F, values = rng.standard_normal((30, 1)), []
    for most in (30, -1):
        monkeypatch.setattr("sparsieve.solvers.losses.cox.MAX_STRATA", most)
        loss = Cox(times, 0.5 + np.arange(30) / 30)
        values.append(np.append(loss.gradient(F), loss.value(F)))
    np.testing.assert_array_equal(*values)
    assert loss.dual_value(F, 0.0) == pytest.approx(loss.dual_value(F, 1e-12))
