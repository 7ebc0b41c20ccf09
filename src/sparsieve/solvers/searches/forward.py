"""Forward selection for (ridge) least squares: at most one pass over X per feature, one run.

The ridge problem on a support S, min ||Y - X_S W||^2 + ridge ||W||^2, is ordinary least squares
on the augmented columns a_j = (x_j; sqrt(ridge) e_j). Adding feature j to S therefore lowers
the optimum by exactly ||a_j' R||^2 / ||residual part of a_j||^2, and because the lower halves of
different a_j are orthogonal this is ||x_j' R||^2 / (ridge + nu_j) with nu_j the residual squared
norm of the upper half. ridge = 0 is orthogonal least squares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import blas, solve_triangular
from scipy.linalg.blas import get_blas_funcs

from ..._wings import load_entry
from ...design import own_passes
from ..base import Callback, Event, LeastSquares, Path, Result
from .forward_scores import Direction, Features
from .redundancy import Company, Redundancy, correlation


@dataclass(frozen=True)
class Standing:
    """How a path stands before its next step.

    Attributes
    ----------
    n_selected : int
        Features so far.
    gain : float
        Decrease of the objective by the next one.
    residual : float
        Residual sum of squares.
    mean_gain : float
        Mean of ||x'R||^2 / nu over the columns not selected, where nu is the squared norm of what
        the selected columns leave of x: for columns of noise it is the residual sum of squares
        over its degrees of freedom.
    freedom : float
        Effective degrees of freedom of the fit, the trace of the matrix that maps Y to it.
    """

    n_selected: int
    gain: float
    residual: float
    mean_gain: float
    freedom: float


EndRule = Callable[[Standing], bool]  # asked before every step: is this the end?


@dataclass(frozen=True)
class ForwardPath:
    """A nested path of supports, and what gives the coefficients on each of them.

    Attributes
    ----------
    path : Path
        Features in order of entry, and the objective with the first 0, 1, 2, ... of them.
    gains : ndarray of shape (n_steps,)
        Decrease of the objective by every step.
    remaining : ndarray of shape (n_features,)
        What each feature would gain if it came next; 0 for those selected or spent.
    directions : ndarray of shape (n_steps, n_steps)
        Row t expresses the t-th orthonormal direction in the features selected by then.
    responses : ndarray of shape (n_steps, n_outputs)
        What the target shows in that direction; ``gains`` are its squared norms.
    """

    path: Path
    gains: np.ndarray
    remaining: np.ndarray
    directions: np.ndarray
    responses: np.ndarray

    def coefficients(self, n_steps: int) -> np.ndarray:
        """Coefficients of the first ``n_steps`` features, exact for that support."""
        return self.directions[:n_steps, :n_steps].T @ self.responses[:n_steps]


@dataclass(frozen=True)
class ForwardSelection:
    """Select features one by one, each time the one that lowers the objective most.

    Parameters
    ----------
    n_steps : int
        Length of the path; it ends earlier when no feature can add anything. Near copies that the
        problem passes over come last, and not at all with ``stop``.
    stop : EndRule or None
        True ends the path.
    """

    n_steps: int
    stop: EndRule | None = None

    def solve(
        self,
        problem: LeastSquares,
        start: Result[ForwardPath] | None = None,
        callback: Callback | None = None,
    ) -> Result[ForwardPath]:
        """The path from no feature on; a path has no warm start."""
        if problem.design.is_on_device:
            return load_entry("sparsieve.device", "forward")(
                problem, self.n_steps, self.stop, callback
            )
        with own_passes(problem.design):
            return _host_path(problem, self.n_steps, self.stop, callback)


def _host_path(
    problem: LeastSquares, n_steps: int, stop: EndRule | None, callback: Callback | None
) -> Result[ForwardPath]:
    design, Y, ridge = problem.design, problem.Y, problem.ridge
    n_samples = design.shape[0]
    dtype = design.dtype
    n_outputs = Y.shape[1]
    ger = get_blas_funcs("ger", dtype=dtype)
    R = np.array(Y, dtype=dtype, order="F")
    features = Features(design, R, ridge, problem.is_eligible, n_steps)

    # Columns are the directions of the augmented problem: below the samples, with a ridge only,
    # stand their coefficients on the features times its root.
    A = np.zeros((n_samples + (16 if ridge > 0 else 0), 16), dtype=dtype, order="F")
    factor = np.zeros((16, 16), dtype=dtype)  # columns of X = directions times ``factor``
    responses: list[np.ndarray] = []
    order: list[int] = []
    gains: list[float] = []
    start = float(np.vdot(R, R))
    distinct = None if problem.redundancy is None else DistinctPath(features, problem.redundancy)

    while True:
        j, gain = features.winner()
        t = len(order)
        if t < n_steps and not gain > 0 and stop is None and features.turn_back():
            distinct = None  # all others are used up
            continue
        if t >= n_steps or not gain > 0:
            break
        if stop is not None:
            V = A[:n_samples, :t]
            freedom = float(np.vdot(V, V))
            if stop(Standing(t, gain, float(np.vdot(R, R)), features.mean_gain(), freedom)):
                break
        if t == A.shape[1]:
            A = np.asfortranarray(np.pad(A, ((0, t if ridge > 0 else 0), (0, t))))
            factor = np.pad(factor, ((0, t), (0, t)))
        column = features.column(j)
        new = np.zeros(n_samples + (t + 1 if ridge > 0 else 0), dtype=dtype)
        new[:n_samples] = column
        if ridge > 0:
            new[-1] = np.sqrt(ridge)
        old = A[: len(new), :t]
        along = new @ old
        if distinct is not None and distinct.passes_over(j, column, along, factor[:t, :t]):
            continue
        new -= old @ along
        left = new @ old  # a second pass removes what rounding left of the first
        new -= old @ left
        along += left
        length = float(np.sqrt(np.vdot(new, new)))
        new /= length
        v = new[:n_samples]
        # Orthogonal to all earlier directions, v sees the target through the residual alone.
        r = features.C[j] / length if t == 0 else (column @ R) / length
        share = length**2 / (float(np.vdot(column, column)) + ridge)
        features.take(j, Direction(v, r, along, length, share))
        ger(-1.0, v, r, a=R, overwrite_x=0, overwrite_y=0, overwrite_a=1)
        A[: len(new), t] = new
        factor[:t, t], factor[t, t] = along, length
        responses.append(np.array(r))
        gains.append(float(np.vdot(r, r)))
        order.append(j)
        if callback and callback(
            Event(t + 1, start - sum(gains), n_features=t + 1, note=f"feature {j} entered")
        ):
            n_steps = t + 1

    if features.turn_back():
        features.winner()  # what they would gain now
    t = len(order)
    directions = solve_triangular(factor[:t, :t], np.eye(t, dtype=dtype), trans="T")
    shown = np.array(responses, dtype=dtype).reshape(t, n_outputs)
    remaining = features.score.astype(np.float64)
    return path_result(start, order, gains, remaining, directions, shown)


def path_result(
    start: float,
    order: list[int],
    gains: list[float],
    remaining: np.ndarray,
    directions: np.ndarray,
    responses: np.ndarray,
) -> Result[ForwardPath]:
    """What a path has found, with ``start`` the objective without any feature."""
    objective = start - np.concatenate(([0.0], np.cumsum(gains)))
    path = Path.from_order(order, objective=objective)
    solution = ForwardPath(path, np.array(gains), remaining, directions, responses)
    # Every step is exact: there is nothing left to iterate.
    return Result(solution, float(objective[-1]), 0.0, len(order), True, objective[1:].tolist())


class DistinctSupport:
    """Passes on what a support says, once near copies of its features are closed to it.

    Near copies are found when a change would bring one in: then all those of the same feature are
    closed, for as long as it stays.

    Parameters
    ----------
    support : object with the methods of a support, and ``shut(features, is_shut)``
    redundancy : Redundancy
    """

    support: Any
    company: Company

    def __init__(self, support: Any, redundancy: Redundancy) -> None:
        self.support, self.company = support, Company(redundancy)
        self.order: list[int] = support.order  # the same list, always
        # By features of the support, and always kept ones.
        self._shut_by: dict[int, np.ndarray] = {}
        self._count: np.ndarray = np.zeros(redundancy.n_units, dtype=np.int64)

    @property
    def objective(self) -> float:
        """What these features reach."""
        return self.support.objective

    def gains(self) -> np.ndarray:
        """What every feature outside would gain; 0 for near copies."""
        return self.support.gains()

    def cheapest(self) -> int:
        """The feature that costs least to take out."""
        return self.support.cheapest()

    def best_addition(self) -> tuple[int, float]:
        """The feature to add, and its gain."""
        while True:
            feature, gain = self.support.best_addition()
            if not gain > 0 or (near := self.company.closest(feature)) is None:
                return feature, gain
            self._shut(near)

    def best_exchange(self) -> tuple[Sequence[int], Sequence[int], float]:
        """Features out, features in, and the decrease of the objective."""
        while True:
            out, into, decrease = self.support.best_exchange()
            if not decrease > 0:
                return out, into, decrease
            found = (self.company.closest(feature, without=out) for feature in into)
            near = next((one for one in found if one is not None), None)
            if near is None:
                return out, into, decrease
            self._shut(near)

    def add(self, feature: int) -> None:
        """Take a feature in."""
        self.support.add(feature)
        self.company.add(feature)

    def remove(self, feature: int) -> None:
        """Take a feature out, and let its near copies come again."""
        self.support.remove(feature)
        self.company.remove(feature)
        if feature in self._shut_by:
            copies = self._shut_by.pop(feature)
            self._count[copies] -= 1
            self.support.shut(copies[self._count[copies] == 0], False)

    def _shut(self, near: int) -> None:
        before = self._shut_by.get(near, np.empty(0, dtype=np.int64))
        copies = np.setdiff1d(self.company.redundancy.copies(near), [*self.order, *before])
        self.support.shut(copies[self._count[copies] == 0], True)
        self._count[copies] += 1
        self._shut_by[near] = np.concatenate([before, copies])


# What rounding may take from the residual of a column, or from a correlation.
SLACK = 1e-3


class DistinctPath:
    """Says of the next feature of a path whether it is a near copy of one that was taken.

    Most often it is not, which what a step knows anyway tells. Of a column with the correlation r
    with a column s that was taken, the directions have taken out at least r^2 ||s||^2 / (||s||^2 +
    ridge), as a share of its squared norm; and its products with the directions are also those with
    the columns taken, which are combinations of them. Only where these come close to the limit are
    two columns compared, in double precision.

    Parameters
    ----------
    features : Features
        Before the first step.
    redundancy : Redundancy
    """

    features: Features
    redundancy: Redundancy

    def __init__(self, features: Features, redundancy: Redundancy) -> None:
        self.features, self.redundancy = features, redundancy
        self._company = None
        if not redundancy.is_plain:  # products are no correlations: all columns are compared
            self._company = Company(redundancy)
            return
        norms = features.norms
        redundancy.squares = norms.astype(np.float64, copy=False)
        self._shortest = float(redundancy.lengths[features.open].min(initial=np.inf))
        taken = redundancy.limit**2 / (1.0 + features.ridge / self._shortest**2)
        self._most_left: np.ndarray = (1.0 - taken + SLACK) * norms
        self._order: list[int] = []
        self._columns: list[np.ndarray] = []
        self._place_of_largest = blas.idamax if norms.dtype == np.float64 else blas.isamax

    def passes_over(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> bool:
        """Close near copies of a feature that was taken if j is one of them; take it if not.

        ``along`` are the products of its column with the directions, which times ``factor`` are the
        columns taken.
        """
        company = self._company
        if company is not None:
            columns = column[:, None] if self.redundancy.weights is None else None
            near = company.closest(j, columns)
            if near is None:
                company.add(j, columns)
        else:
            near = self._nearest(j, column, along, factor)
            if near is None:
                self._order.append(j)
                self._columns.append(column)
        if near is not None:
            self.features.pass_over(self.redundancy.copies(near))
        return near is not None

    def _nearest(
        self, j: int, column: np.ndarray, along: np.ndarray, factor: np.ndarray
    ) -> int | None:
        if not self._order or self.features.residual[j] > self._most_left[j]:
            return None
        limit, lengths = self.redundancy.limit, self.redundancy.lengths
        products, least = along @ factor, (limit - SLACK) * float(lengths[j])
        if abs(products[self._place_of_largest(products)]) < least * self._shortest:
            return None
        sizes = np.abs(products) / lengths[self._order]
        place = int(np.argmax(sizes))
        if sizes[place] < least:
            return None
        near, strength = self._order[place], correlation(self._columns[place], column)
        if abs(strength) < limit:
            return None
        self.redundancy.found.setdefault(near, {})[j] = strength
        return near
