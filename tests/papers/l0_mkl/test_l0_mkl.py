"""The multiple kernel selectors: scikit-learn's rules, known truths, and what they promise."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from sparsieve import L0MKLSelector, L0SVMSelector, MIKFSSelector, RidgeForwardSelector
from sparsieve.datasets.synthetic.targets import make_nonlinear_additive
from sparsieve.papers.l0_mkl.kernel_weights import UnboundedObjectiveError
from sparsieve.solvers import AlternatingDC

DATA = Path(os.environ.get("SPARSIEVE_DATA", Path(__file__).parents[4] / "shared" / "data"))


@pytest.mark.thinned(6)
@parametrize_with_checks([L0MKLSelector(), MIKFSSelector(), L0MKLSelector(kernel="rbf")])
@pytest.mark.long("scikit-learn's own checks of a kernel method")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def small_problem(seed=0, n_samples=50, n_features=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_features)) * rng.uniform(0.5, 5.0, size=n_features) + 2.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(Z[:, 3] + Z[:, 7] ** 2 + 0.2 * rng.normal(size=n_samples) > 0.8, "yes", "no")
    return X, y


@pytest.mark.thinned(4)
@pytest.mark.parametrize("kind", ["radial", "threshold"])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.long("many fits to full accuracy")
def test_recovers_non_linear_features(kind, seed):
    data = make_nonlinear_additive(300, 100, kind=kind, random_state=seed)
    selector = L0MKLSelector(4, kernel="rbf").fit(data.X, data.y)
    assert set(selector.get_support(indices=True)) == set(data.relevant)


@pytest.mark.long("many fits to full accuracy")
def test_linear_selectors_do_not_see_radial_features():
    data = make_nonlinear_additive(300, 100, kind="radial", random_state=0)
    for linear in (L0SVMSelector(4), RidgeForwardSelector(4)):
        found = linear.fit(data.X, data.y).get_support(indices=True)
        assert len(set(found) & set(data.relevant)) <= 1


def test_pure_interactions_stay_unseen():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20))
    y = (X[:, 4] * X[:, 11] > 0).astype(int)
    selector = L0MKLSelector(2, kernel="rbf").fit(X, y)
    assert set(selector.get_support(indices=True)) != {4, 11}


@pytest.mark.parametrize("kernel", ["sigmoid", "rbf", "poly"])
def test_decision_function_is_the_model(kernel):
    X, y = small_problem()
    selector = L0MKLSelector(kernel=kernel, lambda1=0.5).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    new = Z[:10] + 0.1
    d, beta = selector.kernel_weights_[0], selector.dual_coef_[0]
    expected = np.full(10, selector.intercept_[0])
    for m in np.flatnonzero(d):
        expected += d[m] * selector.kernel_(new[:, m][:, None], Z[:, m][None, :]) @ beta
    raw = new * X.std(axis=0) + X.mean(axis=0)
    np.testing.assert_allclose(selector.decision_function(raw), expected, atol=1e-8)
    assert abs(beta.sum()) < 1e-8
    assert (selector.predict(X) == y).mean() > 0.8


def test_history_and_certificate():
    X, y = small_problem(1)
    for selector in (L0MKLSelector(), MIKFSSelector(), L0MKLSelector(kernel="rbf")):
        selector.fit(X, y)
        assert (np.diff(selector.history_) <= 1e-9 * selector.history_[0]).all()
        assert selector.objective_ == selector.history_[-1]
        assert len(selector.history_) == selector.n_iter_
        assert selector.optimality_ <= selector.tol
        assert selector.converged_


def test_l1_surrogate_without_limit_is_mik_fs():
    X, y = small_problem(2)
    loose = L0MKLSelector(surrogate="l1", d_max=1e6).fit(X, y)
    plain = MIKFSSelector().fit(X, y)
    assert loose.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    np.testing.assert_array_equal(loose.support_, plain.support_)


def test_blocks_and_matrices_in_memory_agree():
    X, y = small_problem(3)
    kernel = lambda u, v: np.exp(-np.abs(u - v))  # noqa: E731
    held = L0MKLSelector(kernel=kernel).fit(X, y)
    blocks = L0MKLSelector(kernel=kernel, max_memory=0).fit(X, y)
    assert held.objective_ == pytest.approx(blocks.objective_, rel=1e-9)
    np.testing.assert_array_equal(held.ranking_, blocks.ranking_)


def test_fewer_features_are_solved_again():
    X, y = small_problem(4)
    selector = L0MKLSelector(kernel="rbf").fit(X, y)
    two = selector.at(2)
    assert two.support_.sum() == np.count_nonzero(two.kernel_weights_) == 2
    assert two.dual_coef_.shape == selector.dual_coef_.shape
    signs = np.where(y == "yes", 1.0, -1.0)
    # Solved again, the two features fit no worse than with the old coefficients.
    K = sum(
        selector.kernel_weights_[0, m] * selector.kernel_(Z := _scaled(X)[:, m][:, None], Z.T)
        for m in two.get_support(indices=True)
    )
    old = np.maximum(0, 1 - signs * (K @ selector.dual_coef_[0] + selector.intercept_[0]))
    new = np.maximum(0, 1 - signs * two.decision_function(X))
    assert (new**2).sum() <= (old**2).sum() + 1.0
    np.testing.assert_array_equal(selector.at(None).dual_coef_, selector.dual_coef_)
    assert selector.at(40).support_.all()


def _scaled(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


@pytest.mark.parametrize("solver", ["alternating", "published"])
def test_weights_are_repetitions(solver):
    X, y = small_problem(5)
    kernel = "sigmoid" if solver == "alternating" else "rbf"
    weight = np.random.default_rng(1).integers(0, 3, size=50)
    options = {"kernel": kernel, "solver": solver, "surrogate": "log", "tol": 1e-4}
    weighted = L0MKLSelector(max_iter=500, **options).fit(X, y, sample_weight=weight)
    repeated = L0MKLSelector(max_iter=500, **options).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)
    np.testing.assert_array_equal(weighted.support_, repeated.support_)
    np.testing.assert_allclose(
        weighted.decision_function(X), repeated.decision_function(X), atol=5e-3
    )


def test_several_classes():
    X, y = load_wine(return_X_y=True)
    selector = L0MKLSelector().fit(X, y)
    assert selector.kernel_weights_.shape == (3, 13)
    assert selector.dual_coef_.shape == (3, 178)
    assert len(selector.history_) == selector.n_iter_
    assert selector.history_[-1] == pytest.approx(selector.objective_)
    assert (selector.predict(X) == y).mean() > 0.95
    # One class against the rest at a time: the mean of their scores, the sum of their objectives.
    each = [L0MKLSelector().fit(X, y == k) for k in range(3)]
    np.testing.assert_allclose(selector.scores_, np.mean([one.scores_ for one in each], axis=0))
    assert selector.objective_ == pytest.approx(sum(one.objective_ for one in each))


def test_restarts_are_reproducible_and_no_worse():
    X, y = small_problem(6)
    one = L0MKLSelector().fit(X, y)
    many = L0MKLSelector(n_init=4, random_state=0).fit(X, y)
    again = L0MKLSelector(n_init=4, random_state=0).fit(X, y)
    assert many.objective_ <= one.objective_
    np.testing.assert_array_equal(many.kernel_weights_, again.kernel_weights_)


@pytest.mark.slow
def test_automatic_kernel():
    data = make_nonlinear_additive(120, 30, kind="radial", n_relevant=2, random_state=0)
    selector = L0MKLSelector(kernel="auto").fit(data.X, data.y)
    assert len(selector.kernel_scores_) == 5
    # A parabola cannot come out of the nearly linear sigmoid.
    assert selector.kernel_scores_[str(selector.kernel_)] == max(selector.kernel_scores_.values())
    assert "Sigmoid" not in str(selector.kernel_)


def test_published_formulation():
    X, y = small_problem(7)
    selector = L0MKLSelector(solver="published", kernel="rbf", surrogate="log", max_iter=500)
    assert selector.fit(X, y).optimality_ <= 1e-3
    # Fewer features keep the coefficients, as in the paper.
    few = selector.at(3)
    np.testing.assert_array_equal(few.dual_coef_, selector.dual_coef_)
    expected = np.full(len(X), selector.intercept_[0])
    for m in few.get_support(indices=True):
        Z = _scaled(X)[:, m]
        K = selector.kernel_(Z[:, None], Z[None, :])
        expected += selector.kernel_weights_[0, m] * K @ selector.dual_coef_[0]
    np.testing.assert_allclose(few.decision_function(X), expected, atol=1e-8)


def test_settings_of_the_published_solver():
    X, y = small_problem(7)
    options = {"kernel": "rbf", "surrogate": "log", "max_iter": 500, "tol": 0.01}
    plain = L0MKLSelector(solver="published", **options).fit(X, y)
    same = L0MKLSelector(solver=AlternatingDC(), **options).fit(X, y)
    np.testing.assert_array_equal(same.kernel_weights_, plain.kernel_weights_)
    d = plain.kernel_weights_[plain.kernel_weights_ > 0]
    fewer = L0MKLSelector(solver=AlternatingDC(threshold=np.median(d)), **options).fit(X, y)
    np.testing.assert_array_equal(
        fewer.kernel_weights_,
        np.where(plain.kernel_weights_ >= np.median(d), plain.kernel_weights_, 0),
    )
    one = L0MKLSelector(solver=AlternatingDC(T=1), **options).fit(X, y)
    assert one.history_[0] != pytest.approx(plain.history_[0], rel=1e-6)


def test_published_formulation_of_an_indefinite_kernel():
    X, y = small_problem(7)
    indefinite = L0MKLSelector(solver="published", gamma=0.01, coef0=-1.0)
    with pytest.raises(UnboundedObjectiveError, match='use solver="alternating"') as error:
        indefinite.fit(X, y)
    assert error.value.trace[-1] < -1e12


# -- scores ----------------------------------------------------------------------------------


@pytest.mark.parametrize("selector", [L0MKLSelector(), L0MKLSelector(kernel="rbf")], ids=str)
def test_scores_are_what_a_feature_adds_to_the_margin(selector):
    X, y = small_problem(9)
    selector.fit(X, y)
    Z, d, beta = _scaled(X), selector.kernel_weights_[0], selector.dual_coef_[0]
    parts = np.array(
        [w * selector.kernel_(z[:, None], z) @ beta for w, z in zip(d, Z.T, strict=True)]
    )
    apart = parts[:, y == "yes"].mean(axis=1) - parts[:, y == "no"].mean(axis=1)
    np.testing.assert_allclose(selector.scores_, np.maximum(apart / 2, 0.0), atol=1e-8)
    np.testing.assert_array_equal(selector.support_, d > 0)
    margins = selector.decision_function(X)
    mean_margin = (margins[y == "yes"].mean() - margins[y == "no"].mean()) / 2
    assert selector.scores_.sum() == pytest.approx(mean_margin, rel=0.02)
    assert selector.score_meaning.split(":")[0] in " ".join(type(selector).__doc__.split())
    in_order = selector.scores_[np.argsort(selector.ranking_)]
    assert (np.diff(in_order) <= 0).all()


@pytest.mark.thinned(2)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # noise is hard
@pytest.mark.parametrize("cls", [L0MKLSelector, MIKFSSelector])
@pytest.mark.parametrize("kernel", ["sigmoid", "rbf"])
@pytest.mark.parametrize(("n_samples", "n_features"), [(200, 30), (100, 100)])
def test_noise_scores_like_noise(cls, kernel, n_samples, n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, n_features))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n_samples) > 0).astype(int)
    found = cls(kernel=kernel).fit(X, y)
    null = cls(kernel=kernel).fit(X, rng.permutation(y))
    signal, noise = found.scores_[:2].min(), found.scores_[2:].max()
    assert signal > 2.0 * noise
    assert signal > 1.5 * null.scores_.max()


def test_scores_know_no_units_and_no_number_of_features():
    X, y = small_problem(10)
    plain = L0MKLSelector().fit(X, y)
    units = L0MKLSelector().fit(X * np.logspace(-3, 3, X.shape[1]), np.where(y == "yes", 7, 5))
    np.testing.assert_allclose(units.scores_, plain.scores_, atol=1e-6)
    for k in (3, 30):  # also beyond the features with a weight
        fitted = L0MKLSelector(k).fit(X, y)
        np.testing.assert_array_equal(fitted.scores_, plain.scores_)
        np.testing.assert_array_equal(plain.at(k).support_, fitted.support_)
        np.testing.assert_allclose(
            plain.at(k).decision_function(X), fitted.decision_function(X), atol=1e-9
        )


# -- odd numbers -----------------------------------------------------------------------------


def test_kernels_that_overflow_are_refused_in_words():
    X, y = small_problem()
    for factor, message in (
        (1e60, "kernel values are not finite"),
        (1e150, "does not rescale columns"),
    ):
        selector = L0MKLSelector(kernel="poly", degree=3, standardize=False)
        with pytest.raises(ValueError, match=message), np.errstate(all="ignore"):
            selector.fit(X * factor, y)
    sometimes = L0MKLSelector(kernel=lambda u, v: np.where(u * v > 16, np.nan, u * v))
    X[0, 39] = 1e4  # not among the values that are looked at beforehand
    with pytest.raises(ValueError, match="kernel values are not finite"):
        sometimes.fit(X, y)


@pytest.mark.parametrize("scale", [1e-45, 1e-30, 1e14])
def test_weights_over_many_orders_end(scale):
    X, y = small_problem()
    weight = np.where(np.arange(50) % 2, scale, 1.0)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        selector = L0MKLSelector(max_iter=20).fit(X, y, sample_weight=weight)
    assert np.isfinite(selector.scores_).all()
    assert not np.isnan(selector.optimality_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "linear"}, "kernel must be one of 'sigmoid', 'rbf', 'poly', 'auto'"),
        ({"gamma": -1.0}, "gamma must be positive"),
        ({"kernel": "auto", "gamma": 1.0}, "gamma applies only to the kernels"),
        ({"lambda2": 0.0}, "lambda2 must be positive"),
        ({"surrogate": "l0"}, "surrogate must be one of"),
        ({"solver": "paper"}, "solver must be one of 'alternating', 'published'"),
        ({"n_init": 0}, "n_init must be at least 1"),
        ({"kernel": lambda u, v: u - v}, "must be symmetric"),
    ],
)
def test_bad_parameters(parameters, message):
    X, y = small_problem()
    with pytest.raises(ValueError, match=message):
        L0MKLSelector(**parameters).fit(X, y)


def test_automatic_kernel_needs_two_samples_of_every_class():
    X, _ = small_problem()
    y = np.repeat([0, 1, 2], [25, 24, 1])
    with pytest.raises(ValueError, match="at least 2 samples of every class"):
        L0MKLSelector(kernel="auto").fit(X, y)


def test_says_when_it_did_not_converge():
    X, y = small_problem(8)
    with pytest.warns(ConvergenceWarning, match="after 1 iteration with a stationarity residual"):
        selector = L0MKLSelector(max_iter=1, tol=1e-9).fit(X, y)
    assert not selector.converged_


def test_verbose_prints_every_iteration(capsys):
    X, y = small_problem(8)
    selector = L0MKLSelector(verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("[L0MKLSelector] 1: objective ")
    # Every start says which it is; the best has as many lines as rounds.
    starts = [line.rsplit("start ", 1)[1].split(",")[0] for line in lines]
    assert sorted(set(starts)) == ["1", "2", "3"]
    assert selector.n_iter_ in [starts.count(one) for one in ("1", "2", "3")]


@pytest.mark.skipif(not (DATA / "colon_raw.npz").exists(), reason="colon_raw is not at hand")
def test_real_data():
    data = np.load(DATA / "colon_raw.npz")
    X, y = data["X"].astype(float), data["y"]
    selector = L0MKLSelector().fit(X, y)
    assert selector.optimality_ <= 1e-3
    assert (np.diff(selector.history_) <= 1e-9 * selector.history_[0]).all()
    assert 5 <= selector.support_.sum() <= 40
