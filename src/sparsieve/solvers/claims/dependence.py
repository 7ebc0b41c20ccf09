"""How far samples are from independent: what groups and strata do to the variance of a product.

A test of a column compares its product with the target, e'r, with the variance that it has where
the two have nothing to do with each other, ||e||^2 ||r||^2 / n for n independent samples of one
spread. Two things make it larger. Samples of a group (the rows of a patient) resemble each other:
the variance grows by the sum of the products of pairs within groups, of the column and of the
target, over the number of pairs, which is the design effect of a cluster sample. And samples of a
stratum (a batch) may have a spread of their own in the column and in the target. A test with n
divided by this inflation as the number of samples counts what is really there: every sample twice
counts once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array


@dataclass(frozen=True)
class SampleGroups:
    """Groups of samples, and what they add to the variance of a product of two columns.

    Parameters
    ----------
    codes : ndarray of int of shape (n_samples,)
        The group of every sample: 0, 1, ...
    weights : ndarray of shape (n_samples,) or None
        How many copies a sample stands for, all in its group. Columns then have rows that are
        multiplied by the square roots of these.
    """

    codes: np.ndarray
    weights: np.ndarray | None = None

    @cached_property
    def n_samples(self) -> float:
        """Samples, with their copies."""
        return float(len(self.codes) if self.weights is None else self.weights.sum())

    @cached_property
    def n_pairs(self) -> float:
        """Ordered pairs of samples of a group."""
        sizes = np.bincount(self.codes, self.weights)
        return float((sizes**2).sum()) - self.n_samples

    @cached_property
    def _members(self) -> csr_array:
        roots = np.ones(len(self.codes)) if self.weights is None else np.sqrt(self.weights)
        places = self.codes, np.arange(len(self.codes))
        return csr_array((roots, places), shape=(int(self.codes.max()) + 1, len(self.codes)))

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums of the columns over the samples of every group."""
        return np.asarray(self._members @ values)

    def within_group_share(self, values: np.ndarray) -> np.ndarray:
        """Sum of the products of pairs within groups over the sum of squares, by column."""
        power = (values**2).sum(axis=0)
        pairs = (self.sums(values) ** 2).sum(axis=0) - power
        return pairs / np.where(power > 0, power, 1.0)

    def added_inflation(self, shared: np.ndarray, R: np.ndarray) -> np.ndarray:
        """What groups add to the inflation of products with a target, 0 for independent samples.

        Parameters
        ----------
        shared : ndarray of shape (n_columns,)
            As :meth:`within_group_share` finds it of columns.
        R : ndarray of shape (n_samples, rank)
            Orthonormal columns of a target, of which the direction with the largest sum counts.
        """
        if self.n_pairs <= 0:
            return np.zeros(len(shared))
        of_target = self.sums(R)
        most = np.linalg.eigvalsh(of_target.T @ of_target - R.T @ R)
        each = self.n_samples / self.n_pairs * shared
        return np.maximum(each * most[0], each * most[-1])

    def n_effective(self, R: np.ndarray) -> float:
        """How many independent samples tell as much of a column that is the same in a group."""
        of_target = self.sums(R)
        most = float(np.linalg.eigvalsh(of_target.T @ of_target - R.T @ R)[-1])
        return self.n_samples / (1.0 + max(most, 0.0))


def uneven_inflation(E: np.ndarray, R: np.ndarray) -> np.ndarray:
    """How much samples of different spread inflate the variance of products, 1 at least.

    What is left of a 0/1 column of a class has the largest spread where samples could be of this
    class or of another, and what is left of a feature may have a larger spread in the same samples.
    The variance of a product is then the sum of the products of squares, sample by sample, as in
    standard errors after White. What the column explains of the target is taken out before, so that
    a strong feature does not look like a large spread.

    Parameters
    ----------
    E : ndarray of shape (n_samples, n_columns)
        What is left of columns.
    R : ndarray of shape (n_samples, rank)
        Orthonormal columns: what is left of the target. Its directions are averaged.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.claims.dependence import uneven_inflation
    >>> spread = np.repeat([1.0, 3.0], 500)[:, None]
    >>> e, r = np.random.default_rng(0).standard_normal((2, 1000, 1)) * spread
    >>> uneven_inflation(e, r / np.linalg.norm(r)).round(1)  # 2 (1 + 81) / (1 + 9)^2 = 1.64
    array([1.6])
    """
    squares = E**2
    power = squares.sum(axis=0)
    power = np.where(power > 0, power, 1.0)
    along = E.T @ R
    # Squared rows of R - e e'R / e'e, without forming it for every column.
    rows = (R**2).sum(axis=1)[:, None] - 2.0 * E * (R @ along.T) / power
    rows += squares * (along**2).sum(axis=1) / power**2
    total = np.maximum(rows.sum(axis=0), 1e-300)
    return np.maximum(len(E) * (squares * rows).sum(axis=0) / (power * total), 1.0)


@dataclass(frozen=True)
class Dependence:
    """Which samples belong together, and which have a spread of their own.

    Parameters
    ----------
    groups : SampleGroups or None
        Samples that depend on each other.
    strata : ndarray of int of shape (n_samples,) or None
        Codes of strata that exchange nothing with each other.
    order : callable
        A random order of the samples, of those that may be exchanged, from a generator.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.solvers.claims.dependence import Dependence, SampleGroups
    >>> rng = np.random.default_rng(0)
    >>> e, r = rng.standard_normal((2, 30))
    >>> e, r = (np.repeat(v - v.mean(), 2)[:, None] for v in (e, r))
    >>> pairs = SampleGroups(np.repeat(np.arange(30), 2))
    >>> twice = Dependence(pairs, None, lambda rng: rng.permutation(60))
    >>> twice.inflation(e, r / np.linalg.norm(r)).round(9)
    array([2.])
    """

    groups: SampleGroups | None
    strata: np.ndarray | None
    order: Callable[[np.random.Generator], np.ndarray]

    def inflation(self, E: np.ndarray, R: np.ndarray) -> np.ndarray:
        """How much larger the variance of the products of columns with a target may be, 1 at least.

        Parameters
        ----------
        E : ndarray of shape (n_samples, n_columns)
            What is left of columns.
        R : ndarray of shape (n_samples, rank)
            Orthonormal columns: what is left of the target. The largest inflation of a direction
            of it counts.
        """
        n_samples = len(E)
        power = (E**2).sum(axis=0)
        power = np.where(power > 0, power, 1.0)
        found = np.ones(E.shape[1])
        if R.shape[1] == 0:
            return found
        if self.strata is not None:
            strata = SampleGroups(self.strata)
            sizes = np.bincount(self.strata).astype(np.float64)
            products = strata.sums(E**2).T @ (strata.sums(R**2) / sizes[:, None])
            found = n_samples * products.max(axis=1) / power
        if self.groups is not None:
            found = found + self.groups.added_inflation(self.groups.within_group_share(E), R)
        return np.maximum(found, 1.0)

    def n_effective(self, R: np.ndarray) -> float:
        """How many independent samples tell as much of a column that is the same in a group."""
        if self.groups is None or R.shape[1] == 0:
            return float(len(R))
        return self.groups.n_effective(R)
