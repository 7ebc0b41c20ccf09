"""Targets in random directions: what a step of forward selection explains by chance."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._beside import convert_like, most, row_squares, where
from .distilled_state import DistillationProblem, PathResiduals, project_out

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
