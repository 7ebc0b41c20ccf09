"""The two methods of the paper that solve a problem of its own for every number of features.

A selector of the library serves all numbers of features from one fit. The published nmAPG and TopK
do not: K is part of their problem, and nmAPG starts from the solution for the K before.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sparsieve.design import as_design
from sparsieve.papers.baselines.solvers.top_k_alm import TopKLagrangian
from sparsieve.papers.robust_l20.published import NonmonotoneAPG, nmapg, over_limits
from sparsieve.penalties import row_norms
from sparsieve.penalties.concave import largest
from sparsieve.scoring.engine import score_columns
from sparsieve.scoring.feature_sets import redundancy_rate
from sparsieve.selectors.preparation import compress_outputs
from sparsieve.solvers.robust.problem import RobustRegression
from sparsieve.solvers.settings import NmAPG

from ...studies.sources import DatasetSpec
from ..splits import protocol_from, standardised_parts


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
    max_iter: int | None = None,
    warm_start: bool = False,
) -> Iterator[FitAtK]:
    """Algorithm 1 (``mu`` given) or Algorithm 2 for every K, one after the other.

    The strength of the penalty is ``rho``, or else ``rho_share`` of :func:`rho_max`.
    """
    problem = robust_problem(X, y, gamma)
    problem = replace(problem, rho=rho_share * rho_max(X, gamma) if rho is None else rho)
    solver = published_nmapg(mu, max_iter)
    for k, found in over_limits(solver, problem, ks, warm_start=warm_start):
        W = found.solution.W
        yield FitAtK(k, largest(row_norms(W), k), W)


def published_nmapg(
    mu: float | None = None, max_iter: int | None = None, step_constant: str = "printed"
) -> NonmonotoneAPG:
    """Algorithm 1 (``mu`` given) or Algorithm 2, as ``solver="published"`` runs it."""
    return nmapg(NmAPG(mu=mu, step_constant=step_constant), max_iter)


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


class Found(NamedTuple):
    """What was selected before on one split: the features for every K, and the seconds it took."""

    features: dict[int, list[int]]
    seconds: float


def score_per_k(setting: dict, found: Found | None = None) -> dict:
    """Scores of a method on one split, fitted for every K, as a study gives them for a selector."""
    data = DatasetSpec(setting["dataset"]).load()
    protocol = protocol_from(setting["protocol"])
    split = next(
        split
        for split in protocol.splits(data.y, data.groups, seed=setting["seed"])
        if (split.repeat, split.fold) == (setting["repeat"], setting["fold"])
    )
    X, X_test = standardised_parts(data.X, split.train, split.test)
    y, y_test = data.y[split.train], data.y[split.test]
    ks = [k for k in setting["ks"] if k <= X.shape[1]]
    if found is None:
        start = time.perf_counter()
        fits = FITS[setting["method"]](X, y, ks, **setting["parameters"])
        features = {fit.k: fit.features.tolist() for fit in fits}
        found = Found(features, time.perf_counter() - start)
    columns = {k: np.sort(found.features[k]) for k in ks}
    names = setting["classifiers"]
    scored = score_columns(X, y, X_test, y_test, columns, models=names, metrics=["accuracy"])
    selections = []
    for k, chosen in columns.items():
        redundancy = redundancy_rate(X[:, chosen])
        rates = {f"redundancy_{kind}": rate for kind, rate in redundancy._asdict().items()}
        selections.append({"k": k, "n_selected": len(chosen), **rates})
    return {
        "scores": [
            {"k": k, "n_selected": len(columns[k]), "classifier": name, **scored.scores[name, k]}
            for k in columns
            for name in names
        ],
        "selections": selections,
        "seconds": found.seconds,
    }
