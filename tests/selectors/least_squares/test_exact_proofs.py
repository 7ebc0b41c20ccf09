"""Nothing is called proven that is not so, on data made to break it, against exact arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris, load_wine

from exact_oracle import Oracle
from search_ways import search_as
from sparsieve import L20Selector, RidgeForwardSelector, load, save
from sparsieve.scale.files import arrays as files
from sparsieve.solvers import ExactSearch

EPS = float(np.finfo(np.float64).eps)
RIDGES = [0, 0, 0, 1e-16, 1e-14, 1e-12, 1e-8, 1e-4, 1e-2, 1, 1, 1e3]

AFFLICTIONS = ["plain", "near", "copy", "constant", "whole", "binary", "powers", "scaled"]
AFFLICTIONS += ["offset", "rank", "zeros"]
TARGETS = ["one", "two", "classes", "span", "hidden", "orthogonal", "equal", "constant"]

pytestmark = pytest.mark.filterwarnings("ignore")


class Problem:
    """Random data with two afflictions, and random settings."""

    def __init__(self, seed):
        self.seed = seed
        rng = self.rng = np.random.default_rng(seed)
        d, n = int(rng.integers(2, 8)), int(rng.integers(2, 30))
        if rng.random() < 0.3:
            n = int(rng.integers(2, d + 2))
        z = rng.standard_normal(n)
        self.X = self.features(n, d, z)
        self.precision = np.float32 if rng.random() < 0.2 else np.float64
        self.X = self.X.astype(self.precision)
        self.task, self.y = self.target(z)
        self.Y = self.y
        if self.task == "classification":
            self.Y = (self.y[:, None] == np.unique(self.y)).astype(float)
        self.weights = None
        if rng.random() < 0.3:
            whole = rng.random() < 0.5
            self.weights = rng.integers(1, 4, n) * 1.0 if whole else 10.0 ** rng.uniform(-3, 3, n)
        self.always = ()
        if rng.random() < 0.25 and d > 2:
            some = rng.choice(d, int(rng.integers(1, min(d - 1, 3))), replace=False)
            self.always = tuple(sorted(some.tolist()))
        self.k = int(rng.integers(max(1, len(self.always)), d + 1))
        self.ridge = float(rng.choice(RIDGES))
        self.intercept, self.standardize = bool(rng.random() < 0.7), bool(rng.random() < 0.7)

    def features(self, n, d, z):
        rng = self.rng
        X = rng.standard_normal((n, d))
        self.kinds = rng.choice(AFFLICTIONS, size=2)
        if "whole" in self.kinds:
            X = np.round(2 * X)
        if "binary" in self.kinds:
            X = (X > 0).astype(float)
        if "powers" in self.kinds:
            t = rng.uniform(-1, 1, n) + rng.choice([0, 3])
            X = np.column_stack([t ** (i + 1) for i in range(d)])
        if "rank" in self.kinds:
            X = rng.integers(-3, 4, (n, 2)) @ rng.integers(-2, 3, (2, d)) * 1.0
        for _ in range(rng.integers(1, 3) if "near" in self.kinds else 0):
            a, b = rng.integers(0, d, 2)
            other = z if rng.random() < 0.5 else rng.standard_normal(n)
            X[:, a] = X[:, b] + 10.0 ** -rng.integers(4, 17) * other
        if "copy" in self.kinds:
            a, b = rng.integers(0, d, 2)
            X[:, a] = X[:, b] * rng.choice([1, -1, 2, 0.1, 3])
        if "constant" in self.kinds:
            X[:, rng.integers(d)] = rng.choice([0, 1, 0.1, 1e8, -1e-8])
        if "zeros" in self.kinds:
            X[rng.random(X.shape) < 0.6] = 0
        if "offset" in self.kinds:
            X = X + 10.0 ** rng.integers(-2, 9, d)
        if "scaled" in self.kinds:
            X = X * 10.0 ** rng.integers(-8, 9, d)
        return X

    def target(self, z):
        rng, X = self.rng, self.X.astype(float)
        n, d = X.shape
        sized = X / np.maximum(np.abs(X).max(axis=0), 1e-300)
        self.kind = rng.choice(TARGETS)
        if self.kind == "classes":
            y = rng.integers(0, rng.integers(2, 6), n)
            y[:3] = [0, 1, 0][:n]
            return ("classification", y) if n > 2 else ("regression", z.astype(self.precision))
        y = {
            "one": sized[:, 0] + rng.choice([1e-6, 0.1, 1]) * z + rng.choice([0, 1e6]),
            "two": np.column_stack([z, rng.standard_normal(n)]),
            "span": X @ rng.integers(-2, 3, d) * 1.0,
            "hidden": z,
            "orthogonal": z - _projected(np.column_stack([np.ones(n), sized]), z),
            "equal": np.column_stack([z, z]),
            "constant": np.full(n, rng.choice([0, 0.1, 7])),
        }[str(self.kind)]
        return "regression", y.astype(self.precision)

    def oracle(self):
        return Oracle(
            self.X,
            self.Y,
            self.ridge,
            weights=self.weights,
            always=self.always,
            intercept=self.intercept,
            standardize=self.standardize,
        )

    def fitted(self, X=None, **how):
        selector = L20Selector(
            ridge=self.ridge,
            fit_intercept=self.intercept,
            standardize=self.standardize,
            always_keep=list(self.always) or None,
            task=self.task,
            solver=ExactSearch(time_limit=60),
            **(how or {"n_features_to_select": self.k}),
        )
        return selector.fit(self.X if X is None else X, self.y, sample_weight=self.weights)

    def __str__(self):
        said = {k: v for k, v in vars(self).items() if k not in ("X", "y", "Y", "rng", "weights")}
        return f"{said} {self.X.shape}"


def _projected(X, z):
    Q = np.linalg.qr(X)[0]
    return Q @ (Q.T @ z)


def check(problem, X=None):
    """No false word about any size; how many sizes are said to be proven, and of how many."""
    X = problem.X if X is None else X
    oracle, selector = problem.oracle(), problem.fitted(X)
    certificate = selector.certify(X, problem.y, sample_weight=problem.weights)
    path, n_always = selector.path_, len(problem.always)
    proven = 0
    for k in range(1, len(path) + 1):
        value, best = oracle.value(path.supports[k]), oracle.best(k)
        gap, objective = float(path.optimality[k]), 2 * float(path.objective[k])
        if gap == 0.0:  # every word of it: no tolerance
            assert value == best, problem
        scale = Fraction(max(objective, EPS * float(oracle.power))) * (1 + Fraction(1, 10**6))
        assert value - best <= Fraction(gap) * scale, problem
        place = int(np.flatnonzero(certificate.n_features == k + n_always)[0])
        assert Fraction(float(certificate.lower_bound[place])) <= best, problem
        assert value - best <= Fraction(float(certificate.gap[place])) * scale, problem
        assert 0.0 <= certificate.gap[place] <= 1.0
        if (certified := certificate.gap[place]) == 0.0:
            assert value == best, problem
        words = certificate.sentence(k + n_always)
        assert ("better than" in words and "by more than" not in words) == (certified == 0.0)
        proven += gap == 0.0
    # A selection of the size that was asked for is not left out of the proof.
    n_open = len([j for j in oracle.open if oracle.values[(j,)] != oracle.power])
    assert len(path) >= min(problem.k - n_always, n_open), problem
    assert selector.converged_ == (selector.optimality_ <= selector.tol)
    return proven, len(path)


def check_price(problem):
    """With a price per feature: no support of any size costs less, the empty one included."""
    oracle = problem.oracle()
    lam = float(oracle.power) * 10.0 ** problem.rng.uniform(-6, 0.2)
    if lam == 0.0:
        return None
    selector = problem.fitted(lam=lam)
    costs = {s: value / 2 + Fraction(lam) * len(s) for s, value in oracle.values.items()}
    best, size = min(costs.values()), selector._n_worth()
    own = costs[tuple(sorted(selector.path_.supports[size].tolist()))]
    gap = selector.optimality_
    if gap == 0.0:
        assert own == best, problem
    scale = Fraction(max(selector.objective_, EPS * float(oracle.power)))
    assert own - best <= Fraction(gap) * scale * (1 + Fraction(1, 10**6)), problem
    if size == 0:
        assert not selector.coef_[:, oracle.open].any()
        assert selector.objective_ == pytest.approx(float(own), rel=1e-5)
    return gap == 0.0


@pytest.mark.thinned(15)
@pytest.mark.parametrize("chunk", range(20))
@pytest.mark.long("against exact fractions")
def test_against_exact_arithmetic(chunk, monkeypatch):
    search_as(chunk, monkeypatch)
    counts = [check(Problem(seed)) for seed in range(10 * chunk, 10 * chunk + 10)]
    proven, all_of_them = np.sum(counts, axis=0)
    assert proven >= 0.5 * all_of_them  # where nothing is claimed nothing can be false


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(40))
def test_against_exact_arithmetic_at_length(chunk, monkeypatch):
    search_as(chunk, monkeypatch)
    for seed in range(100_000 + 100 * chunk, 100_100 + 100 * chunk):
        check(Problem(seed))


@pytest.mark.thinned(4)
@pytest.mark.parametrize("chunk", range(4))
@pytest.mark.long("against exact fractions")
def test_prices_against_exact_arithmetic(chunk, monkeypatch):
    search_as(chunk, monkeypatch)
    proven = [check_price(Problem(seed)) for seed in range(1000 + 15 * chunk, 1015 + 15 * chunk)]
    assert sum(map(bool, proven)) >= 7


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(20))
def test_prices_against_exact_arithmetic_at_length(chunk, monkeypatch):
    search_as(chunk, monkeypatch)
    for seed in range(200_000 + 50 * chunk, 200_050 + 50 * chunk):
        check_price(Problem(seed))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("chunk", range(2))
@pytest.mark.long("against exact fractions")
def test_files_against_exact_arithmetic(chunk, monkeypatch, tmp_path):
    """X in a file is searched through inner products, which are known less well."""
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 60)
    monkeypatch.setattr(files, "BLOCK_BYTES", 8 * 30 * 3)
    for seed in range(2000 + 15 * chunk, 2015 + 15 * chunk):
        problem = Problem(seed)
        np.save(tmp_path / "X.npy", np.ascontiguousarray(problem.X))
        check(problem, np.load(tmp_path / "X.npy", mmap_mode="r"))


@pytest.mark.thinned(3)
@pytest.mark.parametrize("ridge", [0, 1e-14, 1e-6, 1e-2, 1.0])
@pytest.mark.parametrize("classes", [0, 2, 5])
def test_what_can_be_told_is_proven(ridge, classes):
    """On data without any affliction every size is, clear of rounding."""
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((60, 9))
    y = rng.integers(0, classes, 60) if classes else X[:, 2] + rng.standard_normal(60)
    selector = L20Selector(9, ridge=ridge, solver="exact").fit(X, y)
    assert (selector.path_.optimality == 0.0).all()
    assert selector.converged_
    for k in range(1, 10):
        assert selector.at(k).optimality_ == 0.0
        assert selector.at(k).converged_


def test_two_columns_that_differ_by_what_is_sought():
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 40))
    X = np.column_stack([x, x + 1e-8 * z, rng.standard_normal((40, 4))])
    selector = L20Selector(2, ridge=0, solver="exact").fit(X, z)
    assert selector.get_support(indices=True).tolist() == [0, 1]
    assert selector.objective_ < 1e-12
    assert selector.optimality_ == 0.0


@pytest.mark.thinned(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("low", [0.0, -1.0, 5.0])
def test_powers_of_one_variable(seed, low):
    rng = np.random.default_rng(seed)
    t = rng.uniform(low, low + 1.0, 50)
    X = np.column_stack([t**i for i in range(1, 11)])
    y = np.sin(6 * t) + rng.choice([0.0, 1e-4]) * rng.standard_normal(50)
    selector = L20Selector(6, ridge=0, solver="exact").fit(X, y)
    oracle = Oracle(X[:, selector.path_.supports[6]], y, 0.0)  # this one support, exactly
    value = oracle.value(range(6))
    gap = float(selector.path_.optimality[6])
    # Others are evaluated by residuals first: those within a thousandth are looked at exactly.
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rest = {}
    for support in combinations(range(10), 6):
        A = Z[:, support]
        W = np.linalg.lstsq(A, y - y.mean(), rcond=1e-16)[0]
        rest[support] = float(((y - y.mean() - A @ W) ** 2).sum())
    close = [s for s, r in rest.items() if r <= 1.001 * min(rest.values())]
    best = min(Oracle(X[:, s], y, 0.0).value(range(6)) for s in close)
    assert value - best <= Fraction(gap) * value * (1 + Fraction(1, 10**6))
    assert value <= best * (1 + Fraction(1, 10**9))


@pytest.mark.parametrize("ridge", [1e-12, 1e-14, 1e-16, 1e-300])
@pytest.mark.parametrize("data", [load_wine, load_iris, load_diabetes])
def test_next_to_no_ridge(data, ridge):
    X, y = data(return_X_y=True)
    task = "regression" if data is load_diabetes else "classification"
    selector = L20Selector(3, ridge=ridge, solver="exact", task=task).fit(X, y)
    without = L20Selector(3, ridge=0, solver="exact", task=task).fit(X, y)
    assert selector.optimality_ == without.optimality_ == 0.0
    assert np.array_equal(selector.support_, without.support_)


@pytest.mark.parametrize("standardize", [True, False])
def test_a_large_constant_column_without_an_intercept(standardize):
    X, y = load_diabetes(return_X_y=True)
    X = np.column_stack([X, np.full(len(X), 1e8)])
    options = {"fit_intercept": False, "standardize": standardize, "task": "regression"}
    selector = L20Selector(3, solver="exact", **options).fit(X, y)
    assert selector.support_[10]
    assert selector.converged_


@pytest.mark.thinned(2)
@pytest.mark.parametrize("ridge", [1e-8, 1e-12])
@pytest.mark.long("against exact fractions")
def test_bounds_with_next_to_no_ridge_and_few_samples(ridge):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 60)), rng.standard_normal(20)
    for selector in (L20Selector(5, ridge=ridge), RidgeForwardSelector(5, ridge=ridge)):
        certificate = selector.fit(X, y).certify(X, y)
        assert (certificate.lower_bound >= 0.0).all()
        assert (certificate.gap > 0.0).all()


def exactly_fitted(X, y, **options):
    return L20Selector(3, solver="exact", task="regression", **options).fit(X, y)


@pytest.fixture
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6))
    return X, X[:, 0] + rng.standard_normal(40)


def test_rows_of_x_permuted_against_y_are_other_data(data, tmp_path):
    X, y = data
    selector = exactly_fitted(X, y)
    order = np.random.default_rng(0).permutation(40)
    save(selector, tmp_path / "saved.sparsieve")
    for one in (selector, load(tmp_path / "saved.sparsieve")):
        assert one.certify(X, y).gap[-1] == 0.0
        for other in (X[order], X[:, [1, 0, 2, 3, 4, 5]], np.where(X[3, 2] == X, 0.1, X)):
            with pytest.raises(ValueError, match="X differs from what"):
                one.certify(other, y)


def test_the_same_values_are_the_same_data_whatever_holds_them(data):
    import pandas as pd
    from scipy import sparse

    X, y = data
    X = np.where(np.abs(X) < 0.5, 0.0, X).astype(np.float32)
    y = np.round(16 * y)  # the same number in either precision
    selector = exactly_fitted(X, y)
    wide = X.astype(np.float64)
    for held in (wide, np.asfortranarray(X), sparse.csr_array(wide), sparse.csc_array(X)):
        assert selector.certify(held, y).gap[-1] == 0.0
    assert exactly_fitted(sparse.csr_array(X), y).certify(X, y).gap[-1] == 0.0
    frame = pd.DataFrame(wide, columns=list("abcdef"))
    assert exactly_fitted(frame, y).certify(frame, y).gap[-1] == 0.0


def test_files_are_certified_anew(data, tmp_path, monkeypatch):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    monkeypatch.setattr(files, "LOAD_SHARE", 1 << 60)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    selector = exactly_fitted(mapped, y)
    assert selector.optimality_ == 0.0
    assert (selector.certify(mapped, y).gap > 0.0).all()  # the bound alone
    assert (exactly_fitted(X, y).certify(mapped, y).gap > 0.0).all()


def test_settings_changed_after_the_fit_are_another_problem(data):
    X, y = data
    selector = exactly_fitted(X, y)
    assert selector.certify(X, y).gap[-1] == 0.0
    for changed in ({"ridge": 0.01}, {"never_keep": [0]}):
        certificate = exactly_fitted(X, y).set_params(**changed).certify(X, y)
        assert certificate.gap[-1] > 0.0


def test_no_feature_at_all_may_be_best():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 6)), rng.standard_normal(40)
    empty = 0.5 * float(((y - y.mean()) ** 2).sum())
    for solver in ("exact", "greedy"):
        selector = L20Selector(lam=0.3 * empty, solver=solver)
        with pytest.warns(UserWarning, match="is too large for any feature"):
            selector.fit(X, y)
        assert selector.objective_ == pytest.approx(empty)
        assert selector.optimality_ == 0.0
        assert not selector.coef_.any()
        assert selector.intercept_ == pytest.approx(y.mean())
        assert selector.support_.sum() == 1  # a selector keeps one
        one = selector.at(1)
        assert one.coef_.any()
        assert one.objective_ > selector.objective_
    beside = L20Selector(lam=0.3 * empty, solver="exact", always_keep=[2]).fit(X, y)
    assert beside.get_support(indices=True).tolist() == [2]


@pytest.mark.long("against exact fractions")
def test_copies_are_as_good_as_each_other():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 5))
    X = np.hstack([X, X, -2 * X])  # exact copies; 3 * X would be rounded
    y = X[:, 0] - X[:, 1] + rng.standard_normal(50)
    for ridge in (0, 1e-3, 1.0):
        selector = L20Selector(4, ridge=ridge, solver="exact").fit(X, y)
        assert selector.converged_
        words = str(selector.certify(X, y))
        if selector.optimality_ > 0.0:
            assert "better than these by more than" in words
            assert "e-1" in words


def test_a_near_copy_of_what_is_always_kept():
    rng = np.random.default_rng(0)
    x, z = rng.standard_normal((2, 40))
    X = np.column_stack([x, x + 1e-7 * z, rng.standard_normal((40, 3))])
    selector = L20Selector(2, ridge=0, solver="exact", always_keep=[0]).fit(X, z)
    assert selector.get_support(indices=True).tolist() == [0, 1]
    assert selector.objective_ < 1e-6
    assert selector.optimality_ == 0.0


def test_dummy_variables_add_up_to_the_intercept():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, 80)
    X = np.column_stack([codes[:, None] == np.arange(4), rng.standard_normal((80, 4))])
    y = codes**2 + X[:, 4] + rng.standard_normal(80)
    selector = L20Selector(6, ridge=0, solver="exact").fit(X, y)
    assert selector.converged_
    oracle = Oracle(X, y, 0.0)
    for k in range(1, 7):
        assert oracle.value(selector.path_.supports[k]) == oracle.best(k)


def test_the_order_of_columns_and_rows_makes_no_difference():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((30, 12)) @ rng.standard_normal((12, 12))
    y = rng.integers(0, 3, 30)
    columns, rows = rng.permutation(12), rng.permutation(30)
    for ridge in (0, 1e-3, 1.0):
        one = L20Selector(4, ridge=ridge, solver="exact").fit(X, y)
        other = L20Selector(4, ridge=ridge, solver="exact").fit(X[rows][:, columns], y[rows])
        assert one.optimality_ == other.optimality_ == 0.0
        assert set(columns[other.support_]) == set(np.flatnonzero(one.support_))


def test_a_gap_that_time_left_is_not_blamed_on_the_columns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 150)), rng.standard_normal(60)
    with pytest.warns(UserWarning, match="raise the solver's time_limit"):
        L20Selector(10, ridge=0.1, solver=ExactSearch(time_limit=1e-9)).fit(X, y)
    x, z = rng.standard_normal((2, 40))
    near = np.column_stack([x, x + 1e-15 * z, rng.standard_normal((40, 3))])
    with pytest.warns(UserWarning, match="double precision cannot decide"):
        L20Selector(2, ridge=0, solver=ExactSearch(time_limit=60)).fit(near, z)
