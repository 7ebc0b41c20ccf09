"""The greedy solver of the l2,0 model: the best support found of every size."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np

from ..._beside import here
from ..._saved import Bools, Floats, Savable
from ...penalties import row_norms
from ...solvers.base import Callback, Path, Result
from ...solvers.least_squares import LeastSquares
from ...solvers.searches.exchange import ExchangeSearch
from ...solvers.searches.forward import EndRule, ForwardSelection
from ...solvers.searches.redundancy import Redundancy
from ..base import FeatureScores, TrainingData
from ..preparation import Prepared
from .scores import shares_of_target, variances
from .support_fit import SupportLeastSquares


@dataclass(frozen=True)
class SupportsBySize(Savable):
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
    spread : ndarray of shape (n_features,) or None
        Largest variance in the columns of each; None where all columns are standardised.
    """

    path: Path
    model: Annotated[SupportLeastSquares, "features"]
    ridge: float
    power: float
    gains: Annotated[Floats, "steps"]
    leftover: Annotated[Floats, "features"]
    alone: Annotated[Floats, "features"]
    constant: Annotated[Bools, "features"]
    spread: Annotated[Floats, "*"] | None = field(default=None, kw_only=True)

    def columns(self, support: np.ndarray) -> np.ndarray:
        """The columns of a support."""
        return support

    def charges(self, lam: float) -> float | np.ndarray:
        """What a feature adds to ||Y - XW||^2 + ridge n ||W||^2 at this price: all the same."""
        return 2.0 * lam

    def penalties(self, lam: float) -> np.ndarray:
        """What the support of every size adds to the objective, which has half the squares."""
        charges = np.broadcast_to(self.charges(lam), len(self.alone))
        return np.array([0.5 * float(charges[support].sum()) for support in self.path.supports])

    def entry(self, support: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forward selection among ``support``, then among ``others``, and gains."""
        return self.model.entry(support, others)

    def support(self, count: int) -> np.ndarray:
        """The support of this size, the longest if there is none."""
        return self.path.supports[min(count, len(self.path))]

    def at(self, count: int) -> FeatureScores:
        """What the fit says about the features at this size."""
        support, longest = self.support(count), self.path.features
        order, gains = longest, self.gains
        if len(support) < len(longest):
            order, gains = self.entry(support, longest[~np.isin(longest, support)])
        spread = self.spread
        scores = shares_of_target(self.leftover, self.ridge, self.power, spread)
        spread = None if spread is None else spread[order]
        scores[order] = shares_of_target(gains, self.ridge, self.power, spread)
        return FeatureScores(
            scores,
            n_kept=len(support),
            order=order,
            ties=self.alone,
            constant=self.constant,
            complete=False,
        )


@dataclass(frozen=True)
class GreedySearch:
    """Forward selection and exchanges, with the settings of a selector.

    ``redundancy`` says which features, or groups, are passed over as near copies.
    """

    selector: Any
    data: TrainingData
    problem: Prepared
    redundancy: Redundancy | None = None

    def supports(
        self,
        n_steps: int,
        stop: EndRule | None,
        n_swaps: int = 1,
        callback: Callback | None = None,
    ) -> Result[SupportsBySize]:
        """The best supports of up to ``n_steps`` features that were found."""
        problem, total, ridge = (
            self.problem,
            self.data.total_weight,
            self.selector._relative_ridge(),
        )
        strength = ridge * total
        equations = LeastSquares(
            problem.design,
            problem.Y,
            ridge=strength,
            eligible=~problem.constant,
            redundancy=self.redundancy,
        )
        start = ForwardSelection(n_steps, stop).solve(equations, callback=callback)
        path, leftover = start.solution.path, start.solution.remaining
        if n_swaps and len(path):
            better = ExchangeSearch(n_steps, n_swaps).solve(equations, start).solution
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
            here(row_norms(problem.design.project_beside(problem.Y))),
            problem.constant,
            spread=variances(problem.design, total),
        )
        values = np.asarray(path.objective).tolist()
        return Result(supports, values[-1], start.optimality, len(path), True, values[1:])
