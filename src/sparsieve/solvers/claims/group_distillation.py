"""Forward distillation of whole groups of columns.

As :mod:`.distillation`, with Wilks' lambda of what is left of a group and of the target in place of
the share of one column, and Rao's approximation of its distribution, which is exact if the group or
the target has at most two columns. P-values compare groups of different sizes, also where a step is
compared with random targets. A path takes the group that gains most beyond what noise would.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaincc

from ..base import Callback, Event, Result
from ..engines.group_products import group_products
from .distillation import Distillation, RandomTargets, TestedPath
from .distilled_state import (
    COPY_CORR,
    DistillationProblem,
    KeptColumns,
    PathResiduals,
    inverse_root,
)


@dataclass(frozen=True)
class GroupTests(TestedPath):
    """What was found of groups, and which of them vary and can be tested."""

    tested: np.ndarray


@dataclass(frozen=True)
class GroupDistillation(Distillation):
    """Test the groups of a forward path, each given what all others know.

    Parameters
    ----------
    groups : sequence of arrays of int
        The columns of every group; groups without columns are left out.
    substitutes, ridge, max_share, stop, n_rotations, seed
        As :class:`~.distillation.Distillation` takes them; ``max_share`` limits columns.
    distil : bool
        Whether the groups of the path are tested, or its steps alone.
    """

    groups: Sequence[np.ndarray] = field(kw_only=True)
    distil: bool = True

    def _solve(self, problem: DistillationProblem, callback: Callback | None) -> Result[GroupTests]:
        n_samples = problem.design.shape[0]
        columns, largest = KeptColumns(problem), max(map(len, self.groups), default=0)
        limit = max(1, int(self.max_share * problem.n_effective))
        # Room for a path without a group, whose groups may be larger than those of the first one.
        room = min(n_samples, limit * max(1, largest))
        left = PathResiduals.from_problem(problem, room, self.ridge * n_samples)
        groups = Groups(problem, self.groups, left)
        targets = _GroupTargets(problem, self.n_rotations, self.seed)
        targets.groups, tested = groups, groups.open.copy()
        order: list[int] = []
        ends, steps = [0], list[float]()
        while len(left.order) < limit and (g := groups.best(left, problem)) is not None:
            observed = -float(groups.pvalues(left, problem).min(initial=1.0))
            p = targets.pvalue(left, observed, self.stop)
            if order and p > self.stop:
                break
            for t, j in enumerate(groups.take(g, left, columns), ends[-1]):
                targets.take(left.P[t], columns.column(j))
            order.append(g)
            ends.append(len(left.order))
            steps.append(p)
            if callback:
                callback(Event(len(order), p, note=f"group {g} entered"))
        close = np.array([groups.closeness(g, columns, left) for g in order])
        close = close.reshape(len(order), len(self.groups))
        pvalues, remaining = np.ones(len(self.groups)), 1.0 - groups.pvalues(left, problem)
        for t, g in enumerate(order if self.distil else ()):
            far = close[t] < min(self.substitutes, COPY_CORR)
            far[g] = False
            same = next((i for i, other in enumerate(order) if not far[other]), t)
            rest = left.restart(ends[same], np.ones(len(left.open), dtype=bool))
            without = groups.restrict(far & tested, order[:same])
            n_groups = same
            while n_groups < len(order) and len(rest.order) < room - largest:
                other = without.best(rest, problem)
                if other is None:
                    break
                without.take(other, rest, columns)
                n_groups += 1
            pvalues[g] = groups.pvalues(rest, problem, only=g, dependent=True)[g]
            if callback:
                callback(Event(len(order) + t + 1, pvalues[g], note=f"group {g} tested"))
        found = GroupTests(
            np.array(order, dtype=np.int64),
            np.array(steps),
            pvalues,
            remaining,
            close,
            problem.freedom - len(left.order),
            tested,
        )
        return Result(found, float(pvalues.min(initial=1.0)), 0.0, 2 * len(order), True)


class Groups:
    """Inner products of the columns of every group, and which groups are open."""

    blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]]
    columns: list[np.ndarray]

    def __init__(
        self, problem: DistillationProblem, groups: Sequence[np.ndarray], left: PathResiduals
    ) -> None:
        usable = left.norms > 0
        own = [columns[(problem.eligible & usable)[columns]] for columns in map(np.asarray, groups)]
        self.columns, self.blocks = own, list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
        covariates = problem.covariates.astype(problem.design.dtype)
        known = np.asarray(problem.design.rmatmul(covariates), dtype=np.float64)
        for members, columns, products in group_products(problem.design, own):
            if covariates.shape[1]:
                products = products - known[columns] @ known[columns].transpose(0, 2, 1)
            self.blocks.append((members, columns, products))
        self.open: np.ndarray = np.array([len(columns) > 0 for columns in own])

    def restrict(self, allowed: np.ndarray, taken: list[int]) -> Groups:
        """The same groups, of which others are open."""
        other = object.__new__(Groups)
        other.columns, other.blocks, other.open = self.columns, self.blocks, allowed.copy()
        other.open[taken] = False
        return other

    def bases(
        self, left: PathResiduals, only: int | None = None
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """(groups, columns, what makes the rest of these orthonormal, ranks)."""
        for members, columns, values, vectors, counts in self.spectra(left, only):
            scale = np.where(counts, 1.0 / np.sqrt(np.where(counts, values, 1.0)), 0.0)
            white = (vectors * scale[:, None]).transpose(0, 2, 1)
            yield members, columns, white, counts.sum(axis=1)

    def spectra(
        self, left: PathResiduals, only: int | None = None
    ) -> Iterator[tuple[np.ndarray, ...]]:
        """(groups, columns, eigenvalues, eigenvectors, which count) of what is left of each."""
        P = left.P[: len(left.order)]
        for members, columns, products in self.blocks:
            if only is not None:
                some = members == only
                if not some.any():
                    continue
                members, columns, products = members[some], columns[some], products[some]
            along = P[:, columns]
            inner = products - np.einsum("tgp,tgq->gpq", along, along)
            values, vectors = np.linalg.eigh(inner)
            size = np.einsum("gpp->gp", products).max(axis=1)
            yield members, columns, values, vectors, values > left.tol * size[:, None]

    def best(self, left: PathResiduals, problem: DistillationProblem) -> int | None:
        """The open group that gains most beyond what noise would; None where none gains."""
        power = float(np.trace(left.target))
        if not self.open.any() or power <= left.tol * len(left.target):
            return None
        noise = power / max(problem.freedom - len(left.order), 1)
        gains, excess = np.zeros(len(self.open)), np.full(len(self.open), -np.inf)
        for members, columns, values, vectors, counts in self.spectra(left):
            share = np.where(counts, 1.0 / (np.maximum(values, 0.0) + left.ridge), 0.0)
            along = vectors.transpose(0, 2, 1) @ left.C[columns]
            gains[members] = (share[:, :, None] * along**2).sum(axis=(1, 2))
            excess[members] = gains[members] - noise * (share * values).sum(axis=1)
        excess[~self.open | (gains <= 0)] = -np.inf
        g = int(np.argmax(excess))
        return g if np.isfinite(excess[g]) else None

    def take(self, g: int, left: PathResiduals, columns: KeptColumns) -> list[int]:
        """Let a group into a path, without columns that the path knows already."""
        taken = []
        for j in self.columns[g].tolist():
            if left.nu[j] > left.tol * left.norms[j] and len(left.order) < left.limit:
                left.take(j, columns.products(j))
                taken.append(j)
        self.open[g] = False
        return taken

    def pvalues(
        self,
        left: PathResiduals,
        problem: DistillationProblem,
        only: int | None = None,
        *,
        dependent: bool = False,
    ) -> np.ndarray:
        """P-value of every open group, or of one group.

        As if samples were independent, to compare groups with each other, unless ``dependent``.
        """
        root, bases = inverse_root(left.target, left.tol), list(self.bases(left, only))
        freedom: Any = problem.freedom - len(left.order)
        if dependent and not problem.is_plain:
            freedom = np.zeros(len(self.columns))
            for members, columns, *_ in bases:
                parts = [problem.design.dense_columns(part) for part in columns]
                freedom[members] = [problem.degrees_of_freedom(left.order, p).min() for p in parts]
        found = self.group_pvalues(bases, left.C, root, freedom)
        return found if only is not None else np.where(self.open, found, 1.0)

    def group_pvalues(
        self,
        bases: list[tuple[np.ndarray, ...]],
        products: np.ndarray,
        root: np.ndarray,
        freedom: Any,
    ) -> np.ndarray:
        """P-value of every group whose basis is given, from products of columns with a target.

        ``root`` makes the target orthonormal; ``freedom`` is one number, or one for each group.
        """
        found = np.ones(len(self.columns))
        for members, columns, white, ranks in bases:
            along = white @ (products[columns] @ root)
            own = freedom[members] if np.ndim(freedom) else freedom
            found[members] = wilks_pvalues(along, ranks, root.shape[1], own)
        return found

    def closeness(self, g: int, columns: KeptColumns, left: PathResiduals) -> np.ndarray:
        """The largest absolute correlation of a column of a group with one of every group."""
        scale = np.sqrt(np.where(left.norms > 0, left.norms, 1.0))
        largest = np.zeros(len(scale))
        for j in self.columns[g].tolist():
            np.maximum(largest, np.abs(columns.products(j)) / scale / scale[j], out=largest)
        found = [largest[own].max(initial=0.0) for own in self.columns]
        return np.array(found)


class _GroupTargets(RandomTargets):
    """Random targets, of which the smallest p-value of a group counts."""

    groups: Groups

    def largest(self, left: PathResiduals, targets: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        drawn, products = targets
        c, found = self.n_outputs, []
        freedom = self.problem.freedom - len(left.order)
        bases = list(self.groups.bases(left))
        for b in range(0, drawn.shape[1], c):
            own = drawn[:, b : b + c]
            root = inverse_root(own.T @ own, left.tol)
            pvalues = self.groups.group_pvalues(bases, products[:, b : b + c], root, freedom)
            found.append(-pvalues[self.groups.open].min(initial=1.0))
        return np.array(found)


def wilks_pvalues(along: np.ndarray, ranks: np.ndarray, rank: int, freedom: Any) -> np.ndarray:
    """P-values from the products of orthonormal bases of groups and of a target.

    Parameters
    ----------
    along : ndarray of shape (n_groups, n_columns, rank)
        Rows of zeros for what a group has not.
    ranks : ndarray of shape (n_groups,)
        Ranks of the groups.
    rank : int
        Of the target.
    freedom : float or ndarray of shape (n_groups,)
        Dimensions that both live in.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.claims.distilled_state import share_pvalue
    >>> from sparsieve.solvers.claims.group_distillation import wilks_pvalues
    >>> along = np.array([[[0.5, 0.3]]])
    >>> bool(np.isclose(wilks_pvalues(along, np.array([1]), 2, 20)[0], share_pvalue(0.34, 2, 20)))
    True
    """
    if rank == 0 or along.shape[0] == 0:
        return np.ones(along.shape[0])
    inner = np.eye(rank) - along.transpose(0, 2, 1) @ along
    wilks = np.clip(np.linalg.det(inner), 0.0, 1.0)
    p, c = np.maximum(ranks, 1).astype(np.float64), float(rank)
    power, below = wilks_freedom(p, c, freedom)
    able = (ranks > 0) & (below > 0) & (freedom >= p + c)
    share = 1.0 - wilks ** (1.0 / power)
    return np.where(able, betaincc(p * c / 2, np.where(able, below, 1.0) / 2, share), 1.0)


def wilks_freedom(p: np.ndarray, q: float, freedom: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rao's t, and the freedom below: lambda^(-1/t) - 1 is about F with p q above, times p q."""
    slope = p**2 + q**2 - 5.0
    power = np.sqrt(np.where(slope > 0, (p**2 * q**2 - 4.0) / np.where(slope > 0, slope, 1.0), 1.0))
    return power, power * (freedom - (p + q + 1.0) / 2.0) - (p * q - 2.0) / 2.0
