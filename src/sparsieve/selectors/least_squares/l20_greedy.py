"""The greedy solver of the l2,0 model: the best support found of every size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._checks import check_integer
from ...penalties import row_norms
from ...solvers.base import Callback, Path, Result
from ...solvers.least_squares.exchange import swap_path
from ...solvers.least_squares.forward import EndRule, forward_path
from ..base import FeatureScores
from ..preparation import Prepared
from ..settings import SolverSettings
from .scores import shares_of_target
from .support_fit import SupportLeastSquares


@dataclass(eq=False, repr=False, kw_only=True)
class Greedy(SolverSettings):
    """Forward selection with exchanges, a solver of :class:`L20Selector`.

    Adds the best feature again and again, exchanges selected features for better ones as long as
    that lowers the objective, and walks back down the same way.

    Parameters
    ----------
    swaps : int, default=1
        Largest number of exchanges between two changes of the size; each doubles as a wider
        search, over the ``4 * swaps`` features that are cheapest to drop. Problems of up to 32
        features are always searched thoroughly, two for two exchanges included, unless this
        is 0: then the solver is plain forward selection.

    See Also
    --------
    sparsieve.L20Selector : Prices features one by one, with exact search on request.
    sparsieve.ExactSearch : Branch and bound: the best for sure.
    sparsieve.HIHT : The paper's iteration.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import Greedy, L20Selector
    >>> X, y = load_wine(return_X_y=True)
    >>> L20Selector(4, solver=Greedy(swaps=0)).fit(X, y).get_support(indices=True)
    array([ 0,  9, 11, 12])
    """

    swaps: int = 1

    name = "greedy"

    def _check(self) -> None:
        check_integer("swaps", self.swaps, minimum=0)


@dataclass(frozen=True)
class SupportsBySize:
    """The supports of all sizes, and scores and order of all features around each of them.

    Supports need not be nested, so every size has an order of its own: its support in the order
    of forward selection among its features, then what the longest support has besides.

    Attributes
    ----------
    path : Path
        Supports and objectives, half of ||Y - XW||^2 + ridge n ||W||^2.
    model : SupportLeastSquares
        The fit on each of them.
    ridge, power : float
        Ridge relative to n, and ||Y||^2.
    gains : ndarray of shape (n_steps,)
        What the features of the longest support gained when they entered.
    leftover : ndarray of shape (n_features,)
        What each feature would gain beyond the longest support.
    alone : ndarray of shape (n_features,)
        What it says on its own; decides where nothing is left to gain.
    constant : ndarray of bool
    """

    path: Path
    model: SupportLeastSquares
    ridge: float
    power: float
    gains: np.ndarray
    leftover: np.ndarray
    alone: np.ndarray
    constant: np.ndarray

    def support(self, count: int) -> np.ndarray:
        """The support of this size, the longest if there is none."""
        return self.path.supports[min(count, len(self.path))]

    def at(self, count: int) -> FeatureScores:
        """What the fit says about the features at this size."""
        support, longest = self.support(count), self.path.features
        order, gains = longest, self.gains
        if len(support) < len(longest):
            order, gains = self.model.entry(support, longest[~np.isin(longest, support)])
        scores = shares_of_target(self.leftover, self.ridge, self.power)
        scores[order] = shares_of_target(gains, self.ridge, self.power)
        return FeatureScores(
            scores,
            n_kept=len(support),
            order=order,
            ties=self.alone,
            constant=self.constant,
            complete=False,
        )


def greedy_supports(
    problem: Prepared,
    *,
    ridge: float,
    total_weight: float,
    n_steps: int,
    stop: EndRule | None,
    n_swaps: int,
    callback: Callback | None,
) -> Result[SupportsBySize]:
    """Forward selection and exchanges; ``ridge`` is relative to ``total_weight``."""
    eligible, strength = ~problem.constant, ridge * total_weight
    start = forward_path(
        problem.design,
        problem.Y,
        ridge=strength,
        n_steps=n_steps,
        eligible=eligible,
        stop=stop,
        callback=callback,
    )
    path, leftover = start.solution.path, start.solution.remaining
    if n_swaps and len(path):
        better = swap_path(
            problem.design,
            problem.Y,
            start.solution,
            ridge=strength,
            n_swaps=n_swaps,
            eligible=eligible,
        ).solution
        path, leftover = better.path, better.remaining
    known = np.unique(np.concatenate(path.supports))
    model = SupportLeastSquares.of(problem, known, strength)
    longest, gains = path.features, start.solution.gains
    if not np.array_equal(longest, start.solution.path.features):
        longest, gains = model.entry(longest, longest[:0])
    path = Path([*path.supports[:-1], longest], objective=0.5 * np.asarray(path.objective))
    supports = SupportsBySize(
        path,
        model,
        ridge,
        float(np.vdot(problem.Y, problem.Y)),
        gains,
        leftover,
        row_norms(problem.design.rmatmul(problem.Y)),
        problem.constant,
    )
    values = np.asarray(path.objective).tolist()
    return Result(supports, values[-1], start.optimality, len(path), True, values[1:])
