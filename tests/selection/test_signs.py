"""Signs of a selection in the model that it ships, against a convex solver."""

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

import sparsieve
from sparsieve import L21Selector, LikelihoodL21Selector, SelectorCV
from sparsieve.scoring.likelihood_models import LikelihoodRidge
from sparsieve.scoring.ridge_path import SizedRidge
from sparsieve.scoring.softmax import SoftmaxRegression


def make(n=80):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, 12)) + 0.7 * rng.standard_normal((n, 1))
    y = X[:, :4] @ [1.0, 2.0, -1.5, 0.5] + rng.standard_normal(n)
    return X, y, rng


def test_a_selection_ships_signs_that_its_model_keeps():
    X, y, _ = make()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    for more in ({"nonnegative": ["f1"]}, {"nonnegative": True, "always_keep": ["f2"]}):
        with pytest.raises(ValueError, match=r"pass a model that keeps the signs .*Ridge"):
            sparsieve.select(frame, y, method="l21", **more)
    with pytest.raises(ValueError, match="beside covariates"):
        sparsieve.select(frame, y, k=2, nonnegative=True, covariates=["f2"])
    with pytest.raises(ValueError, match="rule='bic' compares models whose coefficients"):
        sparsieve.select(frame, y, method="l21", nonnegative=True, estimator=Ridge(), rule="bic")
    with pytest.raises(ValueError, match="pass a model that keeps the signs"):
        SelectorCV(L21Selector(nonnegative=["f1"])).fit(frame, y)
    model = LikelihoodL21Selector(nonnegative=True)
    selected = sparsieve.select(
        frame, y > 0, k=3, method="likelihood-l21", nonnegative=["f1", "f2"], estimator=model
    )
    assert (selected.selector.coef_[0, [1, 2]] >= 0).all()
    assert (selected.model[-1].coef_ >= 0).all()
    assert_array_equal(selected.predict(frame), selected.model[-1].predict(selected.transform(X)))


@pytest.mark.parametrize("task", ["regression", "classification", "counts", "survival"])
def test_the_usual_model_of_a_selection_keeps_signs(task, tmp_path):
    X, y, rng = make()
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(12)])
    target = {
        "regression": y,
        "classification": np.where(y > 0, "alive", "ill"),
        "counts": rng.poisson(np.exp(0.3 * y)),
        "survival": (rng.exponential(np.exp(-0.5 * y)), rng.random(80) < 0.8),
    }[task]
    names = [f"f{j}" for j in np.argsort(X.T @ y)[[0, 1, -2, -1]]]  # two fall with y
    asked = {} if task in ("regression", "classification") else {"method": "likelihood-l21"}
    ship = sparsieve.select(
        frame[names], target, k=4, task=task, check=False, nonnegative=True, **asked
    )
    coef = ship.model[-1].coef_.ravel()
    assert ship.model[-1].nonnegative
    assert (coef >= 0).all()
    assert (coef > 0).any()
    assert (coef == 0).any()
    sparsieve.save(ship, tmp_path / "signed.sparsieve")
    assert_array_equal(
        sparsieve.load(tmp_path / "signed.sparsieve").predict(frame), ship.predict(frame)
    )


def test_the_models_that_keep_signs_are_at_their_optimum():
    X, y, rng = make(40)
    X = X[:, :6]
    X, weights = (X - X.mean(axis=0)) / X.std(axis=0), rng.integers(0, 3, 40).astype(float)
    labels, counts = y > 0, rng.poisson(np.exp(0.3 * y)).astype(float)
    times, died = rng.exponential(np.exp(-0.5 * y)), rng.random(40) < 0.7
    w, b = cp.Variable(6), cp.Variable()
    f, squares = X @ w + b, cp.sum_squares(w) / 2
    at_risk = [cp.log_sum_exp((X @ w)[times >= times[i]]) - X[i] @ w for i in np.flatnonzero(died)]
    logistic = weights @ cp.logistic(-cp.multiply(np.where(labels, 1.0, -1.0), f))
    for model, target, loss in [
        (SizedRidge(True), y, 0.5 * weights @ cp.square(f - y) + 6 * squares),
        (SoftmaxRegression(0.5, nonnegative=True), labels, logistic + squares / 0.5),
        (
            LikelihoodRidge("counts", nonnegative=True),
            counts,
            weights @ (cp.exp(f) - cp.multiply(counts, f)) + 0.1 * (weights @ counts) * squares,
        ),
        (
            LikelihoodRidge("survival", nonnegative=True),
            (times, died),
            sum(at_risk) + 0.1 * died.sum() * squares,
        ),
    ]:
        given = None if isinstance(target, tuple) else weights
        coef = np.ravel(model.fit(X, target, given).coef_)
        problem = cp.Problem(cp.Minimize(loss), [w >= 0])
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10)
        assert_allclose(coef, w.value, atol=1e-5)
        assert (coef == 0).any()
