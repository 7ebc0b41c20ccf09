"""What the machines find, in the units of the user."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mpm_reference import mpm, norms_at, random_problem, ratio, weighted_l1
from sparsieve import (
    L0MPMSelector,
    L1MPMSelector,
    MPMClassifier,
    SMPMSelector,
    SparseKernelMPMClassifier,
)
from sparsieve.penalties.concave import surrogate

LEVELS = [L1MPMSelector, L0MPMSelector]
SHAPES = [(100, 8, 0.0), (40, 60, 0.1)]


def real_data(name):
    folder = os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data")
    path = Path(folder) / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"{name} is not at hand")
    data = np.load(path, allow_pickle=True)
    return data["X"].astype(float), data["y"]


@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_mpm_against_cvxpy(n, d, ridge):
    X, y = random_problem(0, n, d)
    fitted = MPMClassifier(ridge=ridge).fit(X, y)
    best = mpm(X, y, ridge)
    assert fitted.objective_ == pytest.approx(best, rel=1e-6)
    assert fitted.worst_case_accuracy_ == pytest.approx(1 / (1 + best**2), rel=1e-6)
    # Both classes are kappa spreads away from the hyperplane.
    w, b = fitted.coef_[0], -fitted.intercept_[0]
    first, second = norms_at(X, y, w, ridge)
    assert X[y == 1].mean(axis=0) @ w - b == pytest.approx(first / best, rel=1e-6)
    assert b - X[y == 0].mean(axis=0) @ w == pytest.approx(second / best, rel=1e-6)


def test_the_bound_holds_on_the_training_sample():
    """The empirical distribution has exactly the moments that were used."""
    X, y = random_problem(1, 200, 5)
    fitted = MPMClassifier().fit(X, y)
    right = fitted.predict(X) == y
    assert min(right[y == 1].mean(), right[y == 0].mean()) >= fitted.worst_case_accuracy_


@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_l1_mpm_against_cvxpy(n, d, ridge):
    X, y = random_problem(2, n, d)
    fitted = L1MPMSelector(ridge=ridge, standardize=False).fit(X, y)
    kappa = np.sqrt(fitted.delta_ / (1 - fitted.delta_))
    assert fitted.objective_ == pytest.approx(weighted_l1(X, y, np.ones(d), kappa, ridge), rel=1e-6)
    assert fitted.objective_ == pytest.approx(np.abs(fitted.coef_).sum(), rel=1e-9)
    best = MPMClassifier(ridge=ridge).fit(X, y).worst_case_accuracy_
    assert fitted.delta_ == pytest.approx(0.8 * best, rel=1e-6)
    assert fitted.worst_case_accuracy_ >= fitted.delta_ - 1e-7


@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_s_mpm_against_cvxpy(n, d, ridge):
    X, y = random_problem(3, n, d)
    fitted = SMPMSelector(alpha=0.2, ridge=ridge, standardize=False).fit(X, y)
    assert fitted.objective_ == pytest.approx(ratio(X, y, 0.2, ridge), rel=1e-6)
    w = fitted.coef_[0]
    gain = (X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)) @ w - 0.2 * np.abs(w).sum()
    assert sum(norms_at(X, y, w, ridge)) / gain == pytest.approx(fitted.objective_, rel=1e-9)


@pytest.mark.parametrize("name", ["exp", "log", "capped_l1", "scad"])
def test_l0_mpm_improves_on_l1(name):
    X, y = random_problem(4, 40, 60)
    dense = L1MPMSelector(standardize=False).fit(X, y)
    fitted = L0MPMSelector(surrogate=name, standardize=False).fit(X, y)
    delta = surrogate(name, 5.0)
    assert fitted.objective_ == pytest.approx(delta.total(fitted.coef_), rel=1e-9)
    assert fitted.history_[0] == pytest.approx(delta.total(dense.coef_), rel=1e-6)
    assert fitted.objective_ <= fitted.history_[0]
    assert (np.diff(fitted.history_) <= 1e-9).all()
    assert fitted.worst_case_accuracy_ >= fitted.delta_ - 1e-7


def test_standardising_is_a_change_of_units():
    X, y = random_problem(5, 80, 10, spread=0.0)
    scale = np.random.default_rng(0).uniform(0.1, 10.0, size=10)
    first, second = L1MPMSelector().fit(X, y), L1MPMSelector().fit(X * scale + 3.0, y)
    np.testing.assert_allclose(second.coef_ * scale, first.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        second.decision_function(X * scale + 3.0), first.decision_function(X), atol=1e-6
    )
    np.testing.assert_allclose(second.scores_, first.scores_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("Selector", LEVELS)
def test_out_of_reach(Selector):
    X, y = random_problem(6, 100, 8)
    best = MPMClassifier().fit(X, y).worst_case_accuracy_
    Selector(delta=0.999 * best).fit(X, y)
    with pytest.raises(ValueError, match=f"largest feasible level is {best:.4f}"[:-1]):
        Selector(delta=min(1.001 * best, 0.9999)).fit(X, y)
    # The largest level itself leaves only the dense machine.
    edge = Selector(delta=best).fit(X, y)
    assert edge.worst_case_accuracy_ == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("Selector", LEVELS)
def test_auto_level_without_spread(Selector):
    X, y = random_problem(7, 30, 100)
    assert Selector(ridge=0.0).fit(X, y).delta_ == pytest.approx(0.8)


def test_out_of_reach_in_spite_of_many_features():
    """More features than samples, but copies of a few: the best level is below one after all."""
    X, y = random_problem(8, 40, 4)
    X = np.tile(X, (1, 12))
    fitted = L1MPMSelector(ridge=0.0).fit(X, y)
    assert fitted.delta_ == pytest.approx(
        0.8 * MPMClassifier(ridge=0.0).fit(X[:, :4], y).worst_case_accuracy_, rel=1e-5
    )
    with pytest.raises(ValueError, match="largest feasible level"):
        L1MPMSelector(delta=0.99, ridge=0.0).fit(X, y)


def test_one_feature_is_enough():
    """Samples x_i = y N(-i, 1), i = 1..10: feature ten alone reaches any level up to .99."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(50) < 0.5, -1, 1)
        X = rng.normal(size=(50, 1000))
        X[:, :10] = y[:, None] * (X[:, :10] - np.arange(1, 11))
        for Selector in LEVELS:
            fitted = Selector(delta=0.9, standardize=False).fit(X, y)
            assert fitted.get_support(indices=True).tolist() == [9]
        fresh_y = np.where(rng.random(500) < 0.5, -1, 1)
        fresh = rng.normal(size=(500, 1000))
        fresh[:, :10] = fresh_y[:, None] * (fresh[:, :10] - np.arange(1, 11))
        assert fitted.score(fresh, fresh_y) > 0.99


def test_zero_weights_are_ranked_by_promise():
    X, y = load_breast_cancer(return_X_y=True)
    fitted = L0MPMSelector().fit(X, y)
    kept = fitted.support_.sum()
    assert (fitted.scores_ > 0).sum() == kept
    more = fitted.at(kept + 2)
    assert more.support_.sum() == kept + 2
    assert (more.support_ >= fitted.support_).all()


def test_works_in_a_pipeline():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(L0MPMSelector(delta=0.7), StandardScaler(), LogisticRegression())
    assert cross_val_score(pipeline, X, y, cv=3).mean() > 0.9


@pytest.mark.parametrize("selector", [L1MPMSelector(), L0MPMSelector(), SMPMSelector(alpha=0.1)])
def test_says_when_it_stops_early(selector):
    X, y = random_problem(9, 60, 300)
    with pytest.warns(ConvergenceWarning, match="raise max_iter or tol"):
        selector.set_params(max_iter=1).fit(X, y)


def test_prints_when_asked(capsys):
    X, y = load_breast_cancer(return_X_y=True)
    for selector in (L0MPMSelector(), L1MPMSelector(), SMPMSelector()):
        selector.set_params(verbose=1).fit(X, y)
        printed = capsys.readouterr().out.splitlines()
        assert printed[0].startswith(f"[{type(selector).__name__}] 1: objective ")
        assert printed[0].endswith("class 1 against class 0")
        assert len(printed) == selector.n_iter_


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "laplacian"])
@pytest.mark.long("many fits to full accuracy")
def test_kernels(kernel):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = (X**2).sum(axis=1) > 1.4
    for fitted in (
        MPMClassifier(kernel=kernel).fit(X, y),
        SparseKernelMPMClassifier(kernel=kernel).fit(X, y),
    ):
        assert fitted.dual_coef_.shape == (1, len(fitted.support_))
        np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])
        assert 0.0 < fitted.worst_case_accuracy_ <= 1.0
        if kernel in ("rbf", "laplacian"):
            assert fitted.score(X, y) > 0.9


def test_kernel_machine_is_the_linear_one_on_similarities():
    X, y = random_problem(10, 40, 3)
    K = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
    fitted = MPMClassifier(kernel="rbf", gamma=0.5, ridge=0.01).fit(X, y)
    linear = MPMClassifier(ridge=0.01).fit(K, y)
    assert fitted.worst_case_accuracy_ == pytest.approx(linear.worst_case_accuracy_, rel=1e-8)
    np.testing.assert_allclose(fitted.dual_coef_, linear.coef_, rtol=1e-5, atol=1e-8)


def test_few_samples_are_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 2))
    y = (X**2).sum(axis=1) > 1.4
    few = SparseKernelMPMClassifier(norm="l0").fit(X, y)
    more = SparseKernelMPMClassifier(norm="l1").fit(X, y)
    assert len(few.support_) <= len(more.support_) < 50
    assert few.score(X, y) > 0.85


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l0", "l1"])
@pytest.mark.parametrize("width", [2.0**power for power in range(-3, 4)])
@pytest.mark.parametrize("name", ["sonar", "wdbc"])
def test_no_fold_fails(name, width, norm):
    X, y = real_data(name)
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        machine = SparseKernelMPMClassifier(norm=norm, gamma=0.5 / width**2)
        machine.fit(scaler.transform(X[train]), y[train])
        assert len(machine.predict(scaler.transform(X[test]))) == len(test)


@pytest.mark.parametrize("width", [0.125, 1.0, 8.0])
@pytest.mark.long("real data and cone programs")
def test_one_fold_of_sonar(width):
    X, y = real_data("sonar")
    X = StandardScaler().fit_transform(X)
    for norm in ("l0", "l1"):
        machine = SparseKernelMPMClassifier(norm=norm, gamma=0.5 / width**2).fit(X, y)
        assert machine.score(X, y) > 0.7


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_l1_machine_does_not_charge_for_covariates(n, d, ridge, share):
    X, y = random_problem(n + d, n, d)
    always, costs = [0, d - 1], np.ones(d)
    costs[always] = 0.0
    best = MPMClassifier(ridge=ridge).fit(X, y).worst_case_accuracy_
    alone = MPMClassifier(ridge=ridge).fit(X[:, always], y).worst_case_accuracy_
    delta = alone + share * (best - alone)  # out of reach of the covariates alone
    settings = {"delta": delta, "ridge": ridge, "standardize": False, "always_keep": always}
    fitted = L1MPMSelector(**settings).fit(X, y)
    kappa = np.sqrt(delta / (1 - delta))
    assert fitted.objective_ == pytest.approx(weighted_l1(X, y, costs, kappa, ridge), rel=1e-5)
    assert fitted.objective_ == pytest.approx(costs @ np.abs(fitted.coef_[0]), rel=1e-6)
    assert fitted.worst_case_accuracy_ >= delta * (1 - 1e-6)
    sparser = L0MPMSelector(**settings).fit(X, y)
    assert sparser.worst_case_accuracy_ >= delta * (1 - 1e-6)
    total = surrogate("exp", 5.0).total(np.delete(sparser.coef_[0], always))
    assert sparser.objective_ == pytest.approx(total, rel=1e-6)
    assert sparser.support_[always].all()


@pytest.mark.parametrize("selector", LEVELS)
def test_covariates_that_reach_the_level_need_no_help(selector):
    X, y = random_problem(3, 200, 8, shift=2.0)
    alone = MPMClassifier().fit(X[:, [0, 1]], y)
    fitted = selector(
        delta=0.9 * alone.worst_case_accuracy_, always_keep=[0, 1], standardize=False
    ).fit(X, y)
    assert fitted.get_support(indices=True).tolist() == [0, 1]
    assert fitted.objective_ == 0.0
    assert fitted.worst_case_accuracy_ == pytest.approx(alone.worst_case_accuracy_, rel=1e-6)
    ours, theirs = fitted.coef_[0, :2], alone.coef_[0]
    np.testing.assert_allclose(ours / ours[0], theirs / theirs[0], rtol=1e-5)
    assert fitted.at(3).support_[2]


@pytest.mark.parametrize("share", [0.2, 0.7, 2.0])
@pytest.mark.parametrize(("n", "d", "ridge"), SHAPES)
def test_ratio_machine_does_not_charge_for_covariates(n, d, ridge, share):
    X, y = random_problem(n + 3 * d, n, d)
    difference = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    always, alpha = [0, d - 1], np.full(d, share * np.abs(difference[1:-1]).max())
    alpha[always] = 0.0
    fitted = SMPMSelector(alpha=alpha.max(), ridge=ridge, standardize=False, always_keep=always)
    fitted.fit(X, y)
    assert fitted.objective_ == pytest.approx(ratio(X, y, alpha, ridge), rel=1e-6)
    assert fitted.optimality_ <= 1e-6
    assert fitted.support_[always].all()


def test_accuracy_beyond_reach_is_never_claimed():
    """One place decides: a tolerance that was not reached warns and is not called converged."""
    X, y = random_problem(3, 40, 60)
    with pytest.warns(ConvergenceWarning, match=r"SMPMSelector stopped .* instead of 1e-18"):
        fitted = SMPMSelector(tol=1e-18).fit(X, y)
    assert not fitted.converged_
    assert fitted.optimality_ > 1e-16  # doubles tell no more
    assert SMPMSelector().fit(X, y).converged_


@pytest.mark.parametrize(
    "classifier",
    [MPMClassifier(tol=1e-18), SparseKernelMPMClassifier(max_iter=1)],
    ids=lambda c: type(c).__name__,
)
def test_classifiers_say_when_they_stop_early(classifier):
    X, y = random_problem(9, 60, 5)
    with pytest.warns(ConvergenceWarning, match=f"{type(classifier).__name__} stopped after"):
        classifier.fit(X, y)
    assert not classifier.converged_


@pytest.mark.parametrize("name", ["wdbc", "sonar", "colon"])
def test_published_fractional_program(name):
    X, y = real_data(name)
    default = SMPMSelector().fit(X[:, :500], y)
    published = SMPMSelector(solver="published").fit(X[:, :500], y)
    assert published.converged_
    assert published.objective_ == pytest.approx(default.objective_, rel=1e-4)
    assert published.alpha_ == default.alpha_
    np.testing.assert_array_equal(published.support_, default.support_)
    with pytest.raises(ValueError, match="solver must be one of 'cone', 'published'"):
        SMPMSelector(solver="dinkelbach").fit(X, y)


def test_published_fractional_program_with_covariates_and_classes():
    X, y = random_problem(1, 90, 12)
    y = y + (np.arange(90) % 3 == 0)
    for options in ({}, {"multi_class": "ovo"}, {"always_keep": [2, 11], "never_keep": [0]}):
        default = SMPMSelector(**options).fit(X, y)
        published = SMPMSelector(solver="published", **options).fit(X, y)
        assert published.objective_ == pytest.approx(default.objective_, rel=1e-5)
        np.testing.assert_array_equal(published.predict(X), default.predict(X))


@pytest.mark.parametrize("Selector", [L1MPMSelector, L0MPMSelector, SMPMSelector])
@pytest.mark.parametrize(("n", "d"), [(300, 10), (100, 200)])
def test_noise_scores_like_noise(Selector, n, d):
    for seed in range(3):
        X, y = random_problem(seed, n, d, shift=0.0)
        noise = Selector().fit(X, y).scores_.max()
        X[:, 4] += 3.0 * y * X[:, 4].std()
        informed = Selector().fit(X, y)
        assert np.argmax(informed.scores_) == 4
        assert informed.scores_[4] > 2.0 * noise
        assert informed.scores_.sum() == pytest.approx(informed.worst_case_accuracy_, rel=1e-6)
        assert informed.scores_[4] <= 1.0


@pytest.mark.parametrize("Selector", [L1MPMSelector, L0MPMSelector, SMPMSelector])
def test_scores_know_no_units_and_no_k(Selector):
    X, y = random_problem(2, 120, 10)
    scale = np.random.default_rng(0).uniform(0.01, 100.0, size=10)
    three, six = Selector(3).fit(X, y), Selector(6).fit(X * scale, np.where(y == 1, "b", "a"))
    np.testing.assert_allclose(three.scores_, six.scores_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_weights_too_small_to_keep_break_no_constraint(seed):
    X, y = np.random.default_rng(seed).standard_normal((3, 3000)), ["a", "b", "b"]
    found = L1MPMSelector().fit(X, y)
    assert found.converged_
    assert found.optimality_ <= 1e-6
