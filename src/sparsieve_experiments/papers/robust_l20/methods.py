"""The two methods of the paper that solve a problem of its own for every number of features.

A selector of the library serves all numbers of features from one fit. The published nmAPG and TopK
do not: K is part of their problem, and nmAPG starts from the solution for the K before.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from sparsieve.design import as_design
from sparsieve.penalties import row_norms
from sparsieve.penalties.top_k import largest
from sparsieve.scoring.curves import accuracy_curve
from sparsieve.selectors.preparation import compress_outputs
from sparsieve.solvers.robust.nmapg import NonmonotoneAPG
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.robust.top_k_alm import TopKLagrangian

from ...studies.sources import DatasetSpec
from ..splits import protocol_from

ITERATE_TOLERANCE = 1e-7  # of the relative step, equation (6.1) of the paper
STAGE_ITERATIONS = 200  # of Algorithm 2 at every smoothing
UNLIMITED = 100_000  # Algorithm 2 ends with its last smoothing, not with a count


def robust_problem(X: np.ndarray, y: np.ndarray, gamma: float = 0.0) -> RobustRegression:
    """The robust regression of class indicators on X, with gamma as the factor of row norms.

    The intercept is free and starts at the class frequencies. Outputs are rotated so that those
    outside the row space of the target drop out, which leaves every row norm as it is.
    """
    labels, codes = np.unique(y, return_inverse=True)
    Y = np.eye(len(labels))[codes]
    Y, _ = compress_outputs(Y - Y.mean(axis=0), X.dtype)
    return RobustRegression(
        as_design(X), np.ascontiguousarray(Y), np.ones(len(X)), True, alpha=gamma
    )


def rho_max(X: np.ndarray, gamma: float) -> float:
    """The strength n max |x_ij| - gamma from which on the paper proves its penalty exact."""
    return len(X) * float(np.abs(X).max()) - gamma


class FitAtK(NamedTuple):
    """The features chosen for one K, and the coefficients of all features before the choice."""

    k: int
    features: np.ndarray
    W: np.ndarray


def nmapg_fits(
    X: np.ndarray,
    y: np.ndarray,
    ks: Sequence[int],
    *,
    gamma: float,
    rho: float | None = None,
    rho_share: float = 0.01,
    mu: float | None = None,
    max_iter: int = UNLIMITED,
    warm_start: bool = False,
) -> Iterator[FitAtK]:
    """Algorithm 1 (``mu`` given) or Algorithm 2 for every K, one after the other.

    The strength of the penalty is ``rho``, or else ``rho_share`` of :func:`rho_max`.
    """
    problem = robust_problem(X, y, gamma)
    problem = replace(problem, rho=rho_share * rho_max(X, gamma) if rho is None else rho)
    solver = published_nmapg(mu, max_iter)
    last = None
    for k in ks:
        last = solver.solve(replace(problem, k=k), last if warm_start else None)
        W = last.solution.W
        yield FitAtK(k, largest(row_norms(W), k), W)


def published_nmapg(
    mu: float | None = None, max_iter: int = UNLIMITED, step_constant: str = "printed"
) -> NonmonotoneAPG:
    """Algorithm 1 (``mu`` given) or Algorithm 2, until W stands still."""
    return NonmonotoneAPG(
        mu=mu,
        stage_iter=STAGE_ITERATIONS,
        max_iter=max_iter,
        tol=0.0,
        step_tol=ITERATE_TOLERANCE,
        step_constant=step_constant,
    )


def published_top_k() -> TopKLagrangian:
    """TopK as published: weight 0.1 of both constraints, growth 1.02, 1000 iterations."""
    return TopKLagrangian.published(max_iter=1000)


def top_k_fits(X: np.ndarray, y: np.ndarray, ks: Sequence[int]) -> Iterator[FitAtK]:
    """TopK for every K, see :func:`published_top_k`."""
    problem = robust_problem(X, y)
    problem = replace(problem, eligible=problem.design.column_sq_norms() > 0)
    for k in ks:
        copies = published_top_k().solve(replace(problem, k=k)).solution
        yield FitAtK(k, copies.features, copies.W)


FITS: dict[str, Callable[..., Iterator[FitAtK]]] = {"nmAPG": nmapg_fits, "TopK": top_k_fits}


class SelectionPerK(BaseEstimator):
    """A selection of its own for every number of features, to be scored like a selector.

    Parameters
    ----------
    method : {"nmAPG", "TopK"}
    parameters : dict
        Of :func:`nmapg_fits` or :func:`top_k_fits`.
    ks : sequence of int
        In the order to solve.
    n_features_to_select : int, default=None
        Largest K to solve for.
    found : dict of int to list of int, default=None
        The features for every K, where they have been found before; nothing is solved then.
    """

    def __init__(
        self, method="TopK", parameters=None, ks=(10,), n_features_to_select=None, found=None
    ):
        self.method = method
        self.parameters = parameters
        self.ks = ks
        self.n_features_to_select = n_features_to_select
        self.found = found

    def fit(self, X, y):
        """Solve for every K."""
        limit = self.n_features_to_select or X.shape[1]
        ks = [k for k in self.ks if k <= limit]
        if self.found is None:
            fits = FITS[self.method](X, y, ks, **(self.parameters or {}))
            self.features_ = {fit.k: fit.features for fit in fits}
        else:
            self.features_ = {k: self.found[k] for k in ks}
        self.n_features_in_ = X.shape[1]
        self.k_ = max(ks)
        return self

    def reaching(self, n_features: int) -> SelectionPerK:
        """Return a copy that solves up to this number of features."""
        return clone(self).set_params(n_features_to_select=n_features)

    @property
    def n_ranked_(self) -> int:
        """How many features it can be asked for."""
        return max(self.features_)

    def at(self, n_selected: int) -> SelectionPerK:
        """The selection of this size."""
        other = copy.copy(self)
        other.k_ = n_selected
        return other

    def get_support(self) -> np.ndarray:
        """Mask of the selected features."""
        support = np.zeros(self.n_features_in_, dtype=bool)
        support[self.features_[self.k_]] = True
        return support


class Found(NamedTuple):
    """What was selected before on one split: the features for every K, and the seconds it took."""

    features: dict[int, list[int]]
    seconds: float


def score_per_k(setting: dict, found: Found | None = None) -> dict:
    """Scores of a :class:`SelectionPerK` on one split, as a study gives them for a selector."""
    data = DatasetSpec(setting["dataset"]).load()
    protocol = protocol_from(setting["protocol"])
    split = next(
        split
        for split in protocol.splits(data.y, data.groups, seed=setting["seed"])
        if (split.repeat, split.fold) == (setting["repeat"], setting["fold"])
    )
    curve = accuracy_curve(
        SelectionPerK(
            setting["method"],
            setting["parameters"],
            setting["ks"],
            found=None if found is None else found.features,
        ),
        data.X[split.train],
        data.y[split.train],
        data.X[split.test],
        data.y[split.test],
        ks=setting["ks"],
        classifiers=setting["classifiers"],
        scoring=["accuracy"],
    )
    seconds = curve.seconds if found is None else found.seconds
    return {"scores": curve.scores, "selections": curve.selections, "seconds": seconds}
