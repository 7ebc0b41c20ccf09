"""The solvers of the l0 machine, as ``solver=`` takes them."""

from __future__ import annotations

from dataclasses import dataclass

from ..._checks import check_real
from ..settings import SolverSettings


@dataclass(eq=False, repr=False, kw_only=True)
class SurrogateDescent(SolverSettings):
    """The DC algorithm on the surrogate, the default solver of :class:`L0MPMSelector`."""

    name = "surrogate"


@dataclass(eq=False, repr=False, kw_only=True)
class ExactMinimax(SolverSettings):
    """The fewest features that reach the level, for sure: a solver of :class:`L0MPMSelector`.

    For up to 30 features. Starts from what the surrogate finds and excludes one size after the
    other by branch and bound, until a support is found or the time is up.

    Parameters
    ----------
    time_limit : float, default=60.0
        Seconds for every two-class task.

    See Also
    --------
    sparsieve.L0MPMSelector : Fewest features that keep a worst-case accuracy.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import ExactMinimax, L0MPMSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = L0MPMSelector(solver=ExactMinimax(time_limit=10)).fit(X, y == 0)
    >>> selector.converged_, int(selector.objective_)
    (True, 2)
    """

    time_limit: float = 60.0

    name = "exact"

    def _check(self) -> None:
        check_real("time_limit", self.time_limit, minimum=0, strict=True)
