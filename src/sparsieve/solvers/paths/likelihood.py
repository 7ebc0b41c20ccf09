"""Likelihoods with an l2,1 penalty on groups of rows, along a path of strengths.

Minimises L(XW + ZB) + alpha sum_g c_g ||W_g||_F. A working set of groups keeps its columns. On it,
proximal Newton steps with the exact Hessian converge quadratically, where a diagonal bound on the
Hessian would stall for Cox. The design is read to certify: with the columns Z without penalty at
their optimum, -t grad L is dual feasible once t ||X_g' grad L|| <= alpha c_g for all groups.

Groups may share columns: each of them has its own copy of a coefficient, and the copies add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._beside import in_double, to_numpy
from ...design import DesignMatrix
from ...penalties import GroupPenalty
from ..base import Result
from ..engines.group_products import PenalisedGroups
from ..losses.base import Loss
from .engine import PathEngine
from .free import check_bounds, minimise_free
from .newton_set import GroupCoefficients, LikelihoodModel


@dataclass(frozen=True)
class PenalisedLikelihood:
    """A loss on a design, with columns that are penalised in groups and others that are not.

    Attributes
    ----------
    design : DesignMatrix
    loss : Loss
    groups : sequence of arrays of int
        The columns of every group; empty ones are never used.
    weights : ndarray of shape (n_groups,)
        c_g, positive.
    free : ndarray of shape (n_samples, n_free)
        Z, linearly independent: a column of ones for the intercept, and covariates.
    alpha : float
        Strength of the penalty where one problem is to be solved; a path brings its own.
    """

    design: DesignMatrix
    loss: Loss
    groups: Sequence[np.ndarray]
    weights: np.ndarray
    free: np.ndarray
    alpha: float = 1.0

    def strengths(self, *gradients: np.ndarray) -> Any:
        """||X_g' gradient|| / c_g of every group: the strength at which it would enter.

        A row for each gradient, in one reading of the design; beside X, if :meth:`to_native` is.
        """
        side_by_side = np.hstack(gradients).astype(self.design.dtype, copy=False)
        G = self.design.native_projection(side_by_side)
        if isinstance(G, np.ndarray) or not self.penalised_groups.are_columns:
            return self.penalised_groups.entry_strengths(
                to_numpy(G), len(gradients), GroupPenalty(1.0)
            )
        parts = in_double(G).T.reshape(len(gradients), -1, len(G))
        return (parts * parts).sum(axis=1).sqrt() * self._shares

    def to_native(self, array: np.ndarray) -> Any:
        """An array with an entry per group, where X is; that of groups of columns on the host."""
        return self.design.to_native(array) if self.penalised_groups.are_columns else array

    @cached_property
    def _shares(self) -> Any:
        """1 / c_g beside X; 0 for what is never used."""
        return self.design.to_native(
            np.where(self.penalised_groups.sizes > 0, 1.0 / self.weights, 0.0)
        )

    @cached_property
    def penalised_groups(self) -> PenalisedGroups:
        """The groups with their weights."""
        return PenalisedGroups(self.groups, self.weights)


@dataclass(frozen=True)
class LikelihoodL21(PathEngine):
    """Solve for falling strengths, each from the last.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol`` times the objective.
    max_iter : int
        Largest number of Newton steps for one strength.
    decided : bool
        Go on where the gap cannot tell which groups are zero.
    """

    max_iter: int = 1000

    def null(self, problem: PenalisedLikelihood) -> GroupCoefficients:
        """The model without penalised features, and the strength at which each group enters."""
        loss, Z = problem.loss, problem.free
        B = loss.null_coefficients(Z)
        _, gradient, further = minimise_free(loss, Z, Z @ B)
        check_bounds(Z, gradient)
        nothing, none = np.arange(0), np.empty((0, loss.n_outputs))
        (strengths,) = problem.strengths(gradient)
        norms = np.zeros(len(strengths))
        return GroupCoefficients(nothing, nothing, none, B + further, norms, strengths, 0.0)

    def _model(
        self, problem: PenalisedLikelihood, start: Result[GroupCoefficients] | None
    ) -> LikelihoodModel:
        return LikelihoodModel(problem, self.null(problem) if start is None else start.solution)
