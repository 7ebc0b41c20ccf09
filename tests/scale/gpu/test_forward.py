"""Forward selection beside X on a device: the path is that of the host."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from sparsieve.design import as_design  # noqa: E402
from sparsieve.scale.gpu import _forward as _forward_device  # noqa: E402
from sparsieve.scale.gpu.tensor import TensorDesign  # noqa: E402
from sparsieve.solvers.base import LeastSquares  # noqa: E402
from sparsieve.solvers.searches.forward import ForwardSelection  # noqa: E402
from sparsieve.solvers.searches.redundancy import Redundancy  # noqa: E402

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def problem(rng, n=480, d=120, dtype=np.float64):
    factors = rng.standard_normal((n, 12))
    X = factors @ rng.standard_normal((12, d)) + rng.standard_normal((n, d))
    X[:, 7] = X[:, 3] + 1e-4 * rng.standard_normal(n)  # nearly nothing is left of it
    Y = X[:, [3, 40, 50]] @ rng.standard_normal((3, 2)) + rng.standard_normal((n, 2))
    return (X - X.mean(axis=0)).astype(dtype), (Y - Y.mean(axis=0)).astype(dtype)


def both(X, Y, *, n_steps, at_once=8, stop=None, callback=None, **options):
    there = TensorDesign(torch.from_numpy(X).to(DEVICE))
    there.columns_at_once = at_once
    solver = ForwardSelection(n_steps, stop)
    designs = (as_design(X), there)
    return [solver.solve(LeastSquares(d, Y, **options), callback=callback) for d in designs]


def check_same(here, there, tolerance=1e-9):
    one, other = here.solution, there.solution
    assert one.path.features.tolist() == other.path.features.tolist()
    scale = one.gains.max(initial=1e-300)
    for name in ("gains", "remaining"):
        mine, theirs = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(theirs, mine, rtol=0, atol=tolerance * scale)
    k = len(one.gains)
    np.testing.assert_allclose(other.coefficients(k), one.coefficients(k), atol=1e3 * tolerance)
    np.testing.assert_allclose(there.trace, here.trace, rtol=1e3 * tolerance)


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("ridge", [0.0, 5.0])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_path_is_that_of_the_host(rng, at_once, ridge, dtype):
    X, Y = problem(rng, dtype=dtype)
    single = dtype == np.float32
    eligible = np.arange(120) != (7 if single else -1)  # which of two near copies wins is rounding
    tolerance = 1e-4 if single else 1e-9
    options = {"ridge": ridge, "n_steps": 25, "eligible": eligible}
    check_same(*both(X, Y, at_once=at_once, **options), tolerance)


def test_room_grows_and_blocks_end_where_they_would_outgrow_x(rng, monkeypatch):
    monkeypatch.setattr(_forward_device, "FIRST_CAPACITY", 4)
    X, Y = problem(rng, n=200, d=60)
    check_same(*both(X, Y, ridge=1.0, n_steps=40, at_once=4))


def test_a_column_that_is_nearly_spent_gets_a_pass_of_its_own(rng):
    X, Y = problem(rng)
    Y = Y + 100 * X[:, [3]] + 1e6 * (X[:, [7]] - X[:, [3]])  # the difference of the two matters
    here, there = both(X, Y, ridge=0.0, n_steps=25)
    assert {3, 7} <= set(here.solution.path.features[:4].tolist())
    check_same(here, there, 1e-6)


def test_copies_of_one_column_do_not_hold_it_up(rng):
    X, Y = problem(rng)
    X[:, 20:100] = X[:, [40]]
    here, there = both(X, Y, ridge=2.0, n_steps=12)
    first = [path.solution.path.features for path in (here, there)]
    assert [j if not 20 <= j < 100 else -1 for j in first[0]] == [
        j if not 20 <= j < 100 else -1 for j in first[1]
    ]
    np.testing.assert_allclose(there.solution.gains, here.solution.gains, rtol=1e-6)


def test_nothing_to_gain_ends_the_path(rng):
    X, _ = problem(rng, n=100, d=60)
    Y = X[:, [2, 5]].copy()
    here, there = both(X, Y, ridge=0.0, n_steps=2)
    assert set(there.solution.path.features[:2].tolist()) == {2, 5}
    np.testing.assert_allclose(there.solution.gains[:2], here.solution.gains[:2])
    nothing = both(X, np.zeros((100, 1)), ridge=1.0, n_steps=5)
    assert [len(result.solution.gains) for result in nothing] == [0, 0]
    none_open = both(X, Y, ridge=1.0, n_steps=5, eligible=np.zeros(60, dtype=bool))
    assert [len(result.solution.gains) for result in none_open] == [0, 0]


@pytest.mark.parametrize("at_once", [1, 8])
def test_a_rule_ends_the_path_where_it_would_on_the_host(rng, at_once):
    X, Y = problem(rng)
    asked = []

    def rule(standing):
        asked.append(standing)
        return standing.n_selected == 13

    here, there = both(X, Y, ridge=3.0, n_steps=100, stop=rule, at_once=at_once)
    assert len(there.solution.gains) == 13
    check_same(here, there)
    mine, theirs = asked[:14], asked[14:]
    for name in ("n_selected", "gain", "residual", "mean_gain", "freedom"):
        np.testing.assert_allclose(
            [getattr(s, name) for s in theirs], [getattr(s, name) for s in mine], rtol=1e-8
        )


def test_a_callback_sees_every_step_and_may_end_the_path(rng):
    X, Y = problem(rng)
    seen = []

    def callback(event):
        seen.append((event.n_features, round(event.objective, 6), event.note))
        return event.n_features == 6

    here, there = both(X, Y, ridge=3.0, n_steps=20, callback=callback)
    check_same(here, there)
    assert len(seen) == 12
    assert seen[:6] == seen[6:]


@pytest.mark.parametrize("at_once", [1, 8])
@pytest.mark.parametrize("n_steps", [9, 30, 50])
def test_near_copies_are_passed_over_there_too(rng, at_once, n_steps):
    Z, Y = problem(rng, d=60)
    Z = Z[:, 8:47]
    X = np.hstack([Z, Z + 0.01 * rng.standard_normal(Z.shape)])
    X -= X.mean(axis=0)
    there = TensorDesign(torch.from_numpy(X).to(DEVICE))
    there.columns_at_once = at_once
    found = []
    for design in (as_design(X), there):
        passing = Redundancy(design, 0.99, n_samples=len(X))
        equations = LeastSquares(design, Y, ridge=50.0, redundancy=passing)
        found.append(ForwardSelection(n_steps).solve(equations))
    check_same(*found)
    apart = found[1].solution.path.features[:39] % 39
    assert len(set(apart.tolist())) == len(apart) == min(n_steps, 39)
