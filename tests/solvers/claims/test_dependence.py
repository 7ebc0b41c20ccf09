"""What groups and uneven spreads do to the variance of products."""

from dataclasses import replace

import numpy as np
import pytest

from sparsieve import FDRSelector
from sparsieve.design import DenseDesign
from sparsieve.solvers.claims import distilled_state
from sparsieve.solvers.claims.dependence import SampleGroups, uneven_inflation
from sparsieve.solvers.claims.distilled_state import DistillationProblem


def test_uneven_inflation_is_the_one_after_white():
    rng = np.random.default_rng(0)
    E = rng.standard_normal((50, 3)) * np.linspace(0.2, 2, 50)[:, None]
    R = np.linalg.qr(rng.standard_normal((50, 2)) * np.linspace(0.2, 2, 50)[:, None])[0]
    for e, found in zip(E.T, uneven_inflation(E, R), strict=True):
        rest = np.array([r - e * (e @ r) / (e @ e) for r in R.T]).T
        each = sum(e[i] ** 2 * (rest[i] ** 2).sum() for i in range(50))
        assert np.isclose(found, 50 * each / ((e @ e) * (rest**2).sum()))


def test_groups_inflate_as_the_mean_over_all_exchanges_says():
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(25), 4)
    e, r = np.repeat(rng.standard_normal((2, 25)), 4, axis=1) + rng.standard_normal((2, 100))
    e, r = e - e.mean(), (r - r.mean()) / np.linalg.norm(r - r.mean())
    groups = SampleGroups(codes)
    inflation = 1.0 + groups.added_inflation(groups.within_group_share(e[:, None]), r[:, None])[0]
    blocks = r.reshape(25, 4)
    drawn = []
    for _ in range(4000):  # whole groups, the samples of each in any order
        mixed = rng.permuted(blocks[rng.permutation(25)], axis=1)
        drawn.append(mixed.ravel() @ e)
    assert np.isclose(inflation, 100 * np.mean(np.square(drawn)) / (e @ e), rtol=0.1)


def test_uneven_samples_count_by_the_geometric_mean_of_two_variances():
    rng = np.random.default_rng(4)
    spread = np.repeat([0.5, 3.0], 100)[:, None]
    E, R = rng.standard_normal((200, 2)) * spread, rng.standard_normal((200, 1)) * spread
    E, R = E - E.mean(axis=0), R - R.mean()
    R /= np.linalg.norm(R)
    nobody = np.zeros((200, 0))
    problem = DistillationProblem(DenseDesign(E), R, nobody, np.ones(2, dtype=bool))
    np.testing.assert_array_equal(problem.degrees_of_freedom((), E), 199)
    white = uneven_inflation(E, R)
    assert (white > 1.3).all()
    uneven = replace(problem, is_uneven=True)
    np.testing.assert_allclose(uneven.degrees_of_freedom((), E), 200 / np.sqrt(white) - 1)


@pytest.mark.parametrize("is_rare", [False, True], ids=["four classes", "a rare one"])
def test_classes_are_tested_with_their_uneven_spread(is_rare, monkeypatch):
    rng = np.random.default_rng(2)
    kind = rng.random(240) < (0.1 if is_rare else 0.5)  # where the class is hard to tell
    X = rng.standard_normal((240, 60)) * np.where(kind, 3.0, 0.5)[:, None]
    y = np.where(kind, rng.integers(0, 2 if is_rare else 4, 240), 0)
    found = FDRSelector(adjust=None).fit(X, y).pvalues_
    tested = found < 1
    even = FDRSelector(adjust=None, claim="marginal").fit(X, y)
    monkeypatch.setattr(distilled_state, "uneven_inflation", lambda E, R: np.ones(E.shape[1]))
    before = FDRSelector(adjust=None).fit(X, y).pvalues_
    assert tested.any()
    assert (found[tested] >= before[tested]).all()
    assert (found[tested] > 1.2 * before[tested]).any()
    same = FDRSelector(claim="marginal").fit(X, y)
    np.testing.assert_array_equal(even.pvalues_, same.pvalues_)
