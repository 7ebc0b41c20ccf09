"""Forward distillation, and the sets of columns that may stand for a claim.

Forward distillation: does a column say more of the target than all the others could?

Columns are centred, and V is an orthonormal basis of the target. A path of forward selection takes
the column with the largest ||x'MV||^2 / (||Mx||^2 + ridge), where M is the projection off the
covariates and the columns taken before. It ends where the next step explains no more than it would
of a target in random directions. Every column j of the path is then tested: a path of the same
length that may use neither j nor any of its substitutes takes from the target and from x_j what the
other columns know of them, and what is left of x_j is compared with what is left of the target.
If what is left of x_j has no preferred direction, the share of it that a target of rank c explains
is Beta(c / 2, (nu - c) / 2) with nu degrees of freedom left.

Paths without j start where the first of its substitutes entered. The products of all columns with
those of any path are kept, so that X is read once for every column that enters one of them.

Which of several correlated columns it may be: those that explain what is left nearly as well.

A test that leaves out a column and all of its neighbours says that one of them matters. Which one,
their likelihoods say, as in fine mapping in genetics: if exactly one of them matters, column i has
the weight (1 - s_i)^(-nu / 2), where s_i is the share of what is left of it that the target
explains and nu counts degrees of freedom. The set holds the heaviest columns that together have
nearly all of the weight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..._beside import (
    convert_like,
    empty_rows,
    largest,
    mask_indices,
    most,
    read_entries,
    row_squares,
    to_numpy,
    where,
)
from ...design import own_passes
from ..base import Callback, Event, Result
from .distilled_state import (
    COPY_CORR,
    DistillationProblem,
    KeptColumns,
    PathResiduals,
    inverse_root,
    project_out,
)

# Numbers that the products of X with random targets may be while a path is followed.
MAX_PRODUCTS = 1 << 25
# Random targets where a decision hangs on them, and multiplications that they may take.
MAX_ROTATIONS, MAX_WORK = 1000, 5e9
# Lengths that differ by a smaller share of the largest may be equal but for rounding.
SAME_LENGTH = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-6}


class RandomTargets:
    """Targets in random directions, to compare the largest share of a column with.

    Those drawn first follow the path with their products; more are drawn where a decision hangs on
    them, and forgotten. They belong to samples by what these are, whatever their order.
    """

    number: int
    problem: DistillationProblem

    def __init__(self, problem: DistillationProblem, number: int, seed: int) -> None:
        self.problem, self.number = problem, number
        self.rng: np.random.Generator = np.random.default_rng(seed)
        self.n_outputs: int = problem.target.shape[1]
        n_features = problem.design.shape[1]
        size = max(1, self.n_outputs)
        self.at_once: int = max(1, min(number, MAX_PRODUCTS // (n_features * size)))
        self.most: int = int(min(MAX_ROTATIONS, MAX_WORK / max(1, problem.design.n_entries * size)))
        self.places: np.ndarray = places_of_samples(problem)
        self.basis: np.ndarray = problem.covariates
        self.followed: tuple[np.ndarray, Any] | None = (
            self._draw(number) if self.at_once == number else None
        )

    def _draw(self, number: int) -> tuple[np.ndarray, Any]:
        """(targets, their products with the columns) off all that was taken."""
        design, dependence = self.problem.design, self.problem.dependence
        if dependence is None:
            shape = design.shape[0], number * self.n_outputs
            drawn = self.rng.standard_normal(shape)[self.places]
        else:  # only what samples may exchange is as likely as the target itself
            target = self.problem.target
            drawn = np.hstack([target[dependence.order(self.rng)] for _ in range(number)])
        drawn = project_out(drawn - drawn.mean(axis=0), self.basis)
        return drawn, self.problem.product(drawn)

    def take(self, direction: Any, column: np.ndarray) -> None:
        """Take a column out of the targets, with the products of its direction with all columns."""
        q = project_out(column[:, None], self.basis)
        q /= np.linalg.norm(q)
        self.basis = np.hstack((self.basis, q))
        if self.followed is not None:
            drawn, products = self.followed
            along = q[:, 0] @ drawn
            drawn -= q * along
            products -= direction[:, None] * convert_like(along, direction)

    def largest(self, left: PathResiduals, targets: tuple[np.ndarray, Any]) -> np.ndarray:
        """The largest share of an open column that each target explains."""
        drawn, products = targets
        nu = where(left.usable, left.nu, np.inf)
        blocks = drawn.reshape(len(drawn), -1, self.n_outputs)
        inside = np.einsum("nbc,nbk->bck", blocks, blocks)
        if self.n_outputs == 1:
            scaled = products / (nu**0.5)[:, None]
            return most(scaled, 0) ** 2 / np.maximum(inside[:, 0, 0], 1e-300)
        # Whitened: of unit length in every direction that they have.
        values, vectors = np.linalg.eigh(inside)
        kept = values > left.tol * values[:, -1:]
        white = vectors * np.where(kept, 1.0 / np.sqrt(np.where(kept, values, 1.0)), 0.0)[:, None]
        rest = products.reshape(len(nu), -1, self.n_outputs).swapaxes(0, 1) @ convert_like(
            white, nu
        )
        return most(row_squares(rest) / nu, 1)

    def pvalue(self, left: PathResiduals, observed: float, level: float) -> float:
        """How often random targets explain as much, more of them where ``level`` is near."""
        beyond, number = 0, 0
        n_numbers = self.problem.design.shape[1] * self.n_outputs
        further = max(1, min(500, MAX_PRODUCTS // (4 * n_numbers), self.most - self.number))
        while True:
            if number == 0 and self.followed is not None:
                found = self.largest(left, self.followed)
            else:
                found = self.largest(left, self._draw(self.at_once if number == 0 else further))
            beyond += int((found >= observed).sum())
            number += len(found)
            p = (1 + beyond) / (number + 1)
            doubt = 3.0 * np.sqrt(level * (1.0 - level) / number)
            if number >= self.number and (number >= self.most or abs(p - level) > doubt):
                return p


def places_of_samples(problem: DistillationProblem) -> np.ndarray:
    """The place of every sample in an order that follows from its values alone.

    It is that of the lengths of the rows of XX'V without copies of columns, which neither the
    order of rows and columns nor their signs nor the choice of V changes; of equal ones, those of
    the rows of XX'XX'V.
    """
    products = _gram_product(problem, problem.target)
    keys = (products**2).sum(axis=1)
    order = np.argsort(keys, kind="stable")
    tied = np.diff(keys[order]) <= SAME_LENGTH[np.dtype(problem.design.dtype)] * keys.max()
    if tied.any():
        ties = np.empty(len(keys), dtype=np.int64)
        ties[order] = np.concatenate(([0], np.cumsum(~tied)))
        order = np.lexsort(((_gram_product(problem, products) ** 2).sum(axis=1), ties))
    places = np.empty(len(keys), dtype=np.int64)
    places[order] = np.arange(len(keys))
    return places


def _gram_product(problem: DistillationProblem, V: np.ndarray) -> np.ndarray:
    """XX'V without copies of columns."""
    design = problem.design
    weights = np.asarray(design.rmatmul(V.astype(design.dtype)), dtype=np.float64)
    weights[~problem.eligible] = 0.0
    return np.asarray(design.matmul(weights.astype(design.dtype)), np.float64)


LARGEST_SHARE = 1.0 - 1e-12


@dataclass(frozen=True)
class CredibleSet:
    """Columns one of which matters.

    Attributes
    ----------
    columns : ndarray of int
        The heaviest first.
    weights : ndarray of float
        Their shares of the weight of all neighbours.
    """

    columns: np.ndarray
    weights: np.ndarray


def credible_set(
    left: PathResiduals, neighbours: np.ndarray, freedom: float, coverage: float
) -> CredibleSet:
    """The heaviest of some columns, with at least ``coverage`` of their weight.

    Parameters
    ----------
    left : PathResiduals
        What the columns of a path without any of these leave of them.
    neighbours : ndarray of int
        The columns that it may be.
    freedom : float
        Degrees of freedom that are left.
    coverage : float
        Between 0 and 1.
    """
    nu, norms = read_entries(left.nu, neighbours), read_entries(left.norms, neighbours)
    known = nu > left.tol * norms
    usable, nu = neighbours[known], nu[known]
    if not len(usable):
        return CredibleSet(neighbours[:1], np.ones(min(1, len(neighbours))))
    along = read_entries(left.C, usable) @ inverse_root(left.target, left.tol)
    shares = np.minimum(np.einsum("dc,dc->d", along, along) / nu, LARGEST_SHARE)
    log_weights = -0.5 * freedom * np.log1p(-shares)
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    order = np.argsort(-weights, kind="stable")
    size = int(np.searchsorted(np.cumsum(weights[order]), coverage)) + 1
    return CredibleSet(usable[order[:size]], weights[order[:size]])


@dataclass(frozen=True)
class TestedPath:
    """What was found of a path of columns, or of groups of columns.

    Attributes
    ----------
    order : ndarray of int
        The path, in order of entry.
    step_pvalues : ndarray of shape (n_steps,)
        How often a random target explains as much of some column or group, by step.
    pvalues : ndarray
        Given all that are no substitutes: of every column of the path, or of all groups, 1 of those
        that are not on the path.
    remaining : ndarray of shape (n_features,) or (n_groups,)
        How much of the rest of the target goes with what the path leaves of each.
    correlations : array of shape (n_steps, n_features) or (n_steps, n_groups)
        Of the columns of the path with all columns, given the covariates; of groups, the largest
        absolute correlation of two of their columns.
    freedom : int
        Degrees of freedom that the tests have.
    """

    order: np.ndarray
    step_pvalues: np.ndarray
    pvalues: np.ndarray
    remaining: np.ndarray
    correlations: Any
    freedom: int


@dataclass(frozen=True)
class DistilledTests(TestedPath):
    """What was found of columns.

    Attributes
    ----------
    shares : ndarray of shape (n_steps,)
        Share of what is left of each that the target explains.
    sets : list of CredibleSet
        For every column of the path, which of its neighbours it may be; empty unless asked for.
    """

    shares: np.ndarray
    sets: list[CredibleSet] = field(default_factory=list)


@dataclass(frozen=True)
class Distillation:
    """What tests of columns and of groups of columns have in common.

    Parameters
    ----------
    substitutes : float
        Smallest absolute correlation of columns that stand for each other.
    ridge : float
        Relative to the number of samples.
    max_share : float
        Steps as a share of the number of samples.
    stop : float
        The path ends at the first step whose p-value is above this; it has one step at least.
    n_rotations : int
        Random targets a step. Where the end of the path hangs on them, up to ``MAX_ROTATIONS`` are
        drawn, fewer where X is large.
    seed : int
    """

    substitutes: float = 0.7
    ridge: float = 0.05
    max_share: float = 0.125
    stop: float = 0.5
    n_rotations: int = 40
    seed: int = 0

    def solve(
        self,
        problem: DistillationProblem,
        start: Result[Any] | None = None,
        callback: Callback | None = None,
    ) -> Result[Any]:
        """Follow the path and test what is on it; there is no warm start."""
        with own_passes(problem.design):
            return self._solve(problem, callback)

    def _solve(self, problem: DistillationProblem, callback: Callback | None) -> Result[Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class ForwardDistillation(Distillation):
    """Test the columns of a forward path, each given what all others know.

    Parameters
    ----------
    substitutes, ridge, max_share, stop, n_rotations, seed
        As :class:`Distillation` takes them.
    coverage : float or None
        Of the sets of neighbours one of which matters; None for no sets.
    expecting : callable or None
        Told, once the path is known, how many multiplications the tests will take.
    """

    coverage: float | None = None
    expecting: Callable[[float], None] | None = None

    def steps(self, problem: DistillationProblem) -> DistilledTests:
        """Follow the path without testing its columns."""
        with own_passes(problem.design):
            found = self._path(problem, KeptColumns(problem), None)[1]
            return replace(found, correlations=to_numpy(found.correlations))

    def _solve(
        self, problem: DistillationProblem, callback: Callback | None
    ) -> Result[DistilledTests]:
        columns = KeptColumns(problem)
        path, tests = self._path(problem, columns, callback)
        order, pvalues, shares = tests.order, tests.pvalues, tests.shares
        if self.expecting:
            n_steps = float(len(order))
            # As many columns again enter paths, and every path takes out what it knows.
            self.expecting(n_steps * problem.design.n_entries + n_steps**3 / 3 * len(path.nu))
        alike = tests.correlations
        for t, j in enumerate(order.tolist()):
            close = abs(alike[t]) >= min(self.substitutes, COPY_CORR)
            close[j] = True
            left = path.restart(int(np.flatnonzero(read_entries(close, order))[0]), ~close)
            while len(left.order) < len(order) and (i := left.best()) is not None:
                left.take(i, columns.products(i, left.gains))
            (freedom,) = problem.degrees_of_freedom(left.order, columns.column(j)[:, None])
            shares[t], pvalues[t] = left.test(j, freedom)
            if self.coverage is not None:
                near = mask_indices(close & problem.open)
                tests.sets.append(credible_set(left, near, freedom, self.coverage))
            if callback:
                callback(Event(len(order) + t + 1, pvalues[t], note=f"feature {j} tested"))
        tests = replace(tests, correlations=to_numpy(alike))
        return Result(tests, float(pvalues.min(initial=1.0)), 0.0, 2 * len(order), True)

    def _path(
        self, problem: DistillationProblem, columns: KeptColumns, callback: Callback | None
    ) -> tuple[PathResiduals, DistilledTests]:
        n_samples = problem.design.shape[0]
        limit = max(1, int(self.max_share * problem.n_effective))
        left = PathResiduals.from_problem(problem, limit, self.ridge * n_samples)
        rotations = RandomTargets(problem, self.n_rotations, self.seed)
        pvalues: list[float] = []
        while len(left.order) < limit and (j := left.best()) is not None:
            observed = largest(left.explained_shares())
            p = rotations.pvalue(left, observed, self.stop)
            if pvalues and p > self.stop:
                break
            left.take(j, columns.products(j, left.gains))
            rotations.take(left.P[len(pvalues)], columns.column(j))
            pvalues.append(p)
            if callback:
                callback(Event(len(pvalues), p, note=f"feature {j} entered"))
        order, scale = np.array(left.order, dtype=np.int64), left.norms**0.5
        scale[scale == 0] = 1.0
        correlations = empty_rows(len(order), scale)
        for row, j in zip(correlations, left.order, strict=True):
            row[:] = columns.products(j) / scale / scale[j]
        return left, DistilledTests(
            order,
            np.array(pvalues),
            np.ones(len(order)),
            to_numpy(left.explained_shares()),
            correlations,
            problem.freedom - len(order),
            np.zeros(len(order)),
        )
