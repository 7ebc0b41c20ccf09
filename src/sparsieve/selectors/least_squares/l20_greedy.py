"""Greedy search of the l2,0 model: the best support found of every size, of features or groups."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import numpy as np

from ..._beside import to_numpy
from ..._saved import Bools, Floats, Savable
from ...penalties import row_norms
from ...solvers.base import Callback, LeastSquares, Path, Result
from ...solvers.engines.group_products import have_shared_columns, noise_gains
from ...solvers.searches.exchange import ExchangedSupports, ExchangeSearch
from ...solvers.searches.forward import EndRule, ForwardSelection
from ...solvers.searches.group_exchange import GroupExchange
from ...solvers.searches.group_forward import GroupForwardSelection
from ...solvers.searches.redundancy import Redundancy
from ...solvers.searches.signed_forward import SignedExchange, SignedForward
from ...validation.feature_groups import FeatureGroups
from ..base import FeatureScores, TrainingData
from ..groups import column_signs, open_groups, prescribes_signs
from ..path_selector import entry_path
from ..preparation import Prepared
from .row_penalty import shares_of_target, variances
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

    def scores_by_size(self, count: int) -> FeatureScores:
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
            self.selector._relative_ridge(self.data),
        )
        strength = ridge * total
        equations = LeastSquares(
            problem.design,
            problem.Y,
            ridge=strength,
            eligible=~problem.constant,
            redundancy=self.redundancy,
        )
        forward: Any = ForwardSelection(n_steps, stop)
        exchange: Any = ExchangeSearch(n_steps, n_swaps)
        signs = None
        if prescribes_signs(self.selector):
            signs = column_signs(self.selector, self.data, problem.Y.shape[1], problem.units)
            forward = SignedForward(n_steps, signs, stop)
            exchange = SignedExchange(n_steps, signs, n_swaps)
        start = forward.solve(equations, callback=callback)
        path, leftover = start.solution.path, start.solution.remaining
        if n_swaps and len(path):
            better = exchange.solve(equations, start).solution
            path, leftover = better.path, better.remaining
        known = np.unique(np.concatenate(path.supports))
        model = SupportLeastSquares.factorise(problem, known, strength, signs)
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
            to_numpy(row_norms(problem.design.native_projection(problem.Y))),
            problem.constant,
            spread=variances(problem.design, total),
        )
        values = np.asarray(path.objective).tolist()
        return Result(supports, values[-1], start.optimality, len(path), True, values[1:])


@dataclass(frozen=True)
class GroupSupportsBySize(SupportsBySize):
    """The same with groups in place of features; gains are what goes beyond prices.

    Attributes
    ----------
    prices : ndarray of shape (n_groups,)
        What every group adds to ||Y - XW||^2 + ridge n ||W||^2: twice ``lam`` times its cost.
    lam : float
        Price of one unit of cost.
    groups : FeatureGroups
        The columns of every group.
    """

    leftover: Annotated[Floats, "groups"]
    alone: Annotated[Floats, "groups"]
    constant: Annotated[Bools, "groups"]
    prices: Annotated[Floats, "groups"]
    lam: float
    groups: FeatureGroups

    def columns(self, support: np.ndarray) -> np.ndarray:
        """The columns that are in any of some groups, each once."""
        return self.groups.union(support)

    def charges(self, lam: float) -> np.ndarray:
        """The prices; they are those of the search, at its own ``lam``."""
        return self.prices

    def entry(self, support: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Forward selection among ``support``, then among ``others``, and gains beyond prices."""
        both = np.concatenate([support, others])
        columns = [self.groups.columns[int(g)] for g in both]
        order, excess = self.model.entry_of_groups(columns, len(support), self.prices[both])
        return both[order], excess

    def path_of_columns(self) -> Path:
        """Every set of groups as the columns that are in any of them."""
        path = self.path
        nested = all(
            np.array_equal(small, large[:-1])
            for small, large in zip(path.supports, path.supports[1:], strict=False)
        )
        along: dict[str, Any] = {"objective": path.objective, "optimality": path.optimality}
        if nested:
            return entry_path(self.groups, path.features.tolist(), **along)
        return Path([self.columns(support) for support in path.supports], **along)


class GroupGreedySearch(GreedySearch):
    """The same for groups, with the price of each.

    A group costs ``group_costs``, or what noise would gain in it, in columns. Without ``lam`` a
    unit of cost has as its price half of what a single column of noise would gain, from the
    variance that forward selection leaves.
    """

    def supports(
        self,
        n_steps: int,
        stop: object | None,
        n_swaps: int = 1,
        callback: Callback | None = None,
    ) -> Result[SupportsBySize]:
        """The best sets of up to ``n_steps`` groups; with any ``stop`` up to where it is noise."""
        selector, data, problem = self.selector, self.data, self.problem
        groups, total, ridge = data.groups, data.total_weight, selector._relative_ridge(data)
        assert groups is not None
        own, constant = open_groups(data, groups, problem.constant)
        equations = LeastSquares(
            problem.design, problem.Y, ridge=ridge * total, redundancy=self.redundancy
        )
        freedom = total - selector.fit_intercept - data.fixed.n_always
        like_noise, single = noise_gains(
            problem.design, own, equations.ridge, problem.Y, usual=total, freedom=freedom
        )
        costs, prices, lam = like_noise / single, None, None
        if selector.group_costs is not None:
            costs = groups.values("group_costs", selector.group_costs)
        if selector.lam is not None:
            lam = float(selector.lam)
            prices = 2.0 * lam * costs
        limit = None if stop is not None else n_steps
        first = GroupForwardSelection(own, limit, freedom, prices).solve(
            equations, callback=callback
        )
        found = first.solution
        if prices is None or lam is None:
            lam = 0.5 * found.noise * single
            prices = 2.0 * lam * costs
        gained = np.cumsum(np.append(0.0, found.gains))
        paid = np.cumsum(np.append(0.0, prices[found.order]))
        start_path = Path.from_order(found.order, objective=equations.power - gained + paid)
        path, left = start_path, found.left
        if n_swaps and len(path):
            start = Result(ExchangedSupports(path, left), first.objective, 0.0, len(path), True)
            search = GroupExchange(len(path), n_swaps, groups=own, prices=prices)
            better = search.solve(equations, start).solution
            path, left = better.path, better.remaining
        seen = [g for some in (*start_path.supports, *path.supports) for g in some.tolist()]
        model = SupportLeastSquares.factorise(
            problem, groups.union(np.unique(seen)), equations.ridge
        )
        if have_shared_columns(own):
            path = _best_of_each_size([start_path, path], model, groups, prices)
        supports, values = list(path.supports), np.asarray(path.objective)
        paid = np.array([float(prices[support].sum()) for support in supports])
        alone = row_norms(np.asarray(problem.design.rmatmul(problem.Y), dtype=np.float64)) ** 2
        made = GroupSupportsBySize(
            Path(supports, objective=0.5 * np.maximum(values - paid, 0.0)),
            model,
            ridge,
            equations.power,
            np.zeros(len(path)),
            np.where([len(some) == 0 for some in own], 0.0, left - prices),
            np.array([float(alone[some].mean()) if len(some) else 0.0 for some in own]),
            constant,
            prices,
            lam,
            groups,
            spread=found.spread / total,
        )
        longest, gains = made.entry(supports[-1], supports[-1][:0])
        halves = np.asarray(made.path.objective)
        path = Path([*supports[:-1], longest], objective=halves)
        made = replace(made, path=path, gains=gains)
        trace = halves.tolist()
        return Result(made, trace[-1], 0.0, len(path), True, trace[1:])


def _best_of_each_size(
    paths: list[Path], model: SupportLeastSquares, groups: FeatureGroups, prices: np.ndarray
) -> Path:
    """Of several paths of groups the best support of every size, each column fitted once.

    Exchanges may have compared large groups as if each had columns of its own.
    """
    supports, values = [], []
    for some in zip(*(path.supports for path in paths), strict=True):
        reached = [model.solve(groups.union(one))[1] + float(prices[one].sum()) for one in some]
        best = int(np.argmin(reached))
        supports.append(some[best])
        values.append(reached[best])
    return Path(supports, objective=np.array(values))
