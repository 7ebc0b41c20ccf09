"""Solvers of the robust l2,0 model with settings of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..._checks import check_choice, check_real
from ...penalties.top_k import TopKGap
from ...solvers.base import Result
from ...solvers.row_norms.irls import ReweightedLeastSquares
from ...solvers.row_norms.nmapg import STEP_CONSTANTS, NonmonotoneAPG
from ...solvers.row_norms.problem import RobustData, RobustSolution
from ..settings import SolverSettings


def _check_rho(rho: Any) -> None:
    if not (isinstance(rho, str) and rho == "auto"):
        check_real("rho", rho, minimum=0, strict=True)


@dataclass(eq=False, repr=False, kw_only=True)
class NmAPG(SolverSettings):
    """The published method for :class:`RobustL20Selector`, with its proximal map corrected.

    The limit K becomes the penalty ``rho * (sum of all but the K largest ||w_j||)``; norms are
    smoothed, and nonmonotone accelerated proximal gradient steps do the rest. The smoothing is
    absolute, as published, so that the answer depends on the units of y.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Strength of that penalty. "auto" is the smallest known to be exact,
        ``max_j sum_i s_i |x_ij| - alpha``; smaller ones are common.
    mu : float or None, default=None
        Smoothing: fixed (Algorithm 1 of the paper), or None for a sequence that falls from 1 by
        a factor of ten every 200 iterations (Algorithm 2).
    step_constant : {"printed", "spectral"}, default="printed"
        Step constant: (||X||_F^2 + d alpha) / mu as printed, or the smaller and sufficient
        (||X||_2^2 + alpha) / mu.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
    sparsieve.IRLS : Reweighted least squares.
    sparsieve.RobustGreedySearch : Grows and exchanges supports.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import NmAPG, RobustL20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> solver = NmAPG(rho=0.5, step_constant="spectral")
    >>> RobustL20Selector(4, alpha=1.0, solver=solver, tol=1e-4).fit_transform(X, y).shape
    (178, 4)
    """

    name = "nmapg"
    max_iter: ClassVar[int] = 800

    rho: float | str = "auto"
    mu: float | None = None
    step_constant: str = "printed"

    def _check(self) -> None:
        _check_rho(self.rho)
        check_real("mu", self.mu, minimum=0, strict=True, optional=True)
        check_choice("step_constant", self.step_constant, STEP_CONSTANTS)


@dataclass(eq=False, repr=False, kw_only=True)
class IRLS(SolverSettings):
    """Reweighted least squares for :class:`RobustL20Selector`, rows pruned on the way.

    Solves the same penalised problem as :class:`NmAPG`, in far less time.

    Parameters
    ----------
    rho : float or "auto", default="auto"
        Strength of the penalty ``rho * (sum of all but the K largest ||w_j||)``. "auto" is the
        smallest known to be exact, ``max_j sum_i s_i |x_ij| - alpha``; smaller ones are common.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
    sparsieve.NmAPG : The published method.
    sparsieve.RobustGreedySearch : Grows and exchanges supports.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import IRLS, RobustL20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> RobustL20Selector(4, alpha=1.0, solver=IRLS(rho=0.5)).fit_transform(X, y).shape
    (178, 4)
    """

    name = "irls"
    max_iter: ClassVar[int] = 300

    rho: float | str = "auto"

    def _check(self) -> None:
        _check_rho(self.rho)


@dataclass(eq=False, repr=False, kw_only=True)
class RobustGreedySearch(SolverSettings):
    """Grow and exchange the supports of :class:`RobustL20Selector`.

    Parameters
    ----------
    compare : NmAPG, IRLS or None, default=None
        Run this solver as well, try to improve its support by exchanges, and keep the best; the
        objective is then never above that of the other solver.

    See Also
    --------
    sparsieve.RobustL20Selector : Few features in a regression robust to outliers.
    sparsieve.IRLS : Reweighted least squares.
    sparsieve.NmAPG : The published method.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import IRLS, RobustGreedySearch, RobustL20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> solver = RobustGreedySearch(compare=IRLS(rho=0.5))
    >>> RobustL20Selector(4, alpha=1.0, solver=solver).fit_transform(X, y).shape
    (178, 4)
    """

    name = "greedy"
    max_iter: ClassVar[int] = 200  # of the fit on a support

    compare: NmAPG | IRLS | None = None

    def _check(self) -> None:
        if self.compare is None:
            return
        if not isinstance(self.compare, NmAPG | IRLS):
            raise ValueError(f"compare must be NmAPG(...), IRLS(...) or None, got {self.compare!r}")
        self.compare._check()


def solve_penalised(
    data: RobustData,
    eligible: np.ndarray,
    settings: NmAPG | IRLS,
    *,
    k: int,
    alpha: float,
    tol: float,
    max_iter: int,
) -> tuple[Result[RobustSolution], float]:
    """Minimise with a penalty in the place of the limit k; also says how strong it was."""
    rho = exact_strength(data, alpha) if isinstance(settings.rho, str) else float(settings.rho)
    penalty = TopKGap(k, rho, alpha)
    if isinstance(settings, IRLS):
        irls = ReweightedLeastSquares(max_iter=max_iter, tol=tol)
        return irls.solve(data, penalty, eligible), rho
    apg = NonmonotoneAPG(
        mu=None if settings.mu is None else float(settings.mu),
        max_iter=max_iter,
        tol=tol,
        step_constant=settings.step_constant,
    )
    return apg.solve(data, penalty, n_eligible=int(eligible.sum())), rho


def exact_strength(data: RobustData, alpha: float) -> float:
    """max_j sum_i s_i |x_ij| - alpha: from here on the penalty enforces the limit exactly."""
    n_samples, n_features = data.design.shape
    largest_sum = 0.0
    step = max(1, (8 << 20) // (8 * n_samples))
    for start in range(0, n_features, step):
        block = data.design.dense_columns(np.arange(start, min(start + step, n_features)))
        largest_sum = max(largest_sum, float((data.weights @ np.abs(block)).max()))
    return max(largest_sum - alpha, 0.0)
