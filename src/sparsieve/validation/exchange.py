"""What samples may exchange where features say nothing of the target: the one place that shuffles.

A p-value by shuffling asks how often a target dealt out anew does as well as the real one. It holds
if, where features say nothing of the target, every deal was as likely as the real one. So only what
is exchangeable is exchanged:

*Independent samples* exchange their values of y with all others.

*Samples in groups*, such as the rows of a patient, are not independent, but groups are. A group in
which y has one value exchanges it with any other such group; this supposes that the number of rows
of a group says nothing of its y. A group in which y varies exchanges all its values, in the order
of its rows, with groups of as many rows in which it varies, or, where that makes more deals, all
groups do with those of as many rows; this supposes nothing of how rows of a group depend on each
other. Where whole groups could be exchanged in fewer than a thousand ways, or most rows are
in a group that has no other of its size, the rows of such groups are exchanged within the group:
so it is with a few large groups (hospitals), and with groups that all hold the same values (a case
and its control). This supposes that the rows of a group have no order, such as visits in time,
that y and the features both follow.

*Strata* exchange nothing with each other.

*Covariates*, columns that are known to matter, make strata. Samples with the same values of all
covariates exchange among each other, where five or more have the same on average (sex, batch), and
this is exact. Otherwise (age) samples do of which the covariates predict about the same y: eight or
more neighbours in the order of a least-squares prediction, or of the means of groups. So y keeps
most of what it owes to the covariates, and features keep what they share with them; this holds
approximately.

*Weights* go along with y. That is exact for weights that say how much a class counts or how exact a
value of y is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.special import gammaln

from .training_data import group_codes

MIN_PER_STRATUM = 5  # samples with the same covariates, on average, that exchange among each other


Cell = tuple[np.ndarray, np.ndarray]
Outcome = TypeVar("Outcome")


def survival_strata(y: Any) -> np.ndarray | None:
    """The strata that survival times carry with them, if they do."""
    names = getattr(getattr(y, "dtype", None), "names", None) or ()
    return y["strata"] if "strata" in names else None


@dataclass(eq=False)
class Exchange:
    """What may be exchanged, see the beginning of this module.

    Attributes
    ----------
    rows : ndarray of int of shape (n_samples,)
        Samples in the order of their units: what is exchanged as a whole, samples or groups.
    first, size : ndarray of int of shape (n_units,)
        Where the rows of every unit begin, and how many they are.
    cells : list of (receivers, donors)
        Units that exchange among each other, two or more, in the orders in which they are dealt.
    contents : ndarray of int of shape (n_units,)
        What y is in every unit: units of a cell with equal numbers have the same values.
    unit : {"sample", "group"}
        What a unit is.
    is_stratified : bool
        Whether anything is kept apart.
    """

    rows: np.ndarray
    first: np.ndarray
    size: np.ndarray
    cells: list[Cell]
    contents: np.ndarray
    unit: str = "sample"
    is_stratified: bool = False

    @classmethod
    def from_target(
        cls,
        y: Any,
        *,
        groups: Any = None,
        strata: Any = None,
        covariates: Any = None,
        places: np.ndarray | None = None,
    ) -> Exchange:
        """What may be exchanged between the samples of y.

        Parameters
        ----------
        y : array of shape (n_samples,) or (n_samples, n_outputs), or structured array
            What is exchanged. Strata that survival times carry with them count.
        groups : array-like of shape (n_samples,), default=None
        strata : array-like of shape (n_samples,), default=None
        covariates : array of shape (n_samples, n_covariates), default=None
        places : ndarray of int of shape (n_samples,), default=None
            Where every sample stands in an order that does not hang on that of the rows; then
            neither do the draws.

        Examples
        --------
        >>> import numpy as np
        >>> from sparsieve.validation.exchange import Exchange
        >>> patients = np.array([0, 0, 0, 1, 1, 2, 2])
        >>> y = np.array(["sick", "sick", "sick", "well", "well", "well", "well"])
        >>> exchange = Exchange.from_target(y, groups=patients)
        >>> round(exchange.n_ways), exchange.unit
        (3, 'group')
        >>> order = exchange.order(np.random.default_rng(0))
        >>> y[order].tolist()
        ['well', 'well', 'well', 'sick', 'sick', 'well', 'well']
        """
        y = np.asarray(y)
        codes = codes_of_rows(y)
        groups = np.arange(len(y)) if groups is None else group_codes(groups, len(y))
        labels = _labels(y, groups, strata, covariates)
        rows = np.lexsort((np.arange(len(y)) if places is None else places, labels, groups))
        first = np.flatnonzero(np.diff(groups[rows], prepend=-1))
        size = np.diff(first, append=len(y))
        sorted_codes, sorted_labels = codes[rows], labels[rows]
        varies = _varies(sorted_codes, first)
        unit = "group" if len(first) < len(y) else "sample"
        contents = _contents(sorted_codes, first, size, varies)
        signatures = _signatures(sorted_labels, first, size)
        cells = _cells(signatures, np.where(varies, size, 0))
        if varies.any():  # groups of as many rows may be all that some can exchange with
            alike = _cells(signatures, size)
            if _log_ways(alike, contents) > _log_ways(cells, contents):
                cells = alike
        if varies.any() and not _are_enough(cells, contents, varies, size):
            apart = np.repeat(varies, size)  # rows that are exchanged within their group
            homes = np.where(apart, groups[rows] + 1, 0)
            starts = apart.copy()
            starts[first] = True
            first = np.flatnonzero(starts)
            size = np.diff(first, append=len(y))
            contents = sorted_codes[first]
            cells = _cells(_signatures(sorted_labels, first, size), homes[first])
            unit = "sample"
        if places is not None:
            standing = np.minimum.reduceat(places[rows], first)
            by = [standing, contents]
            if covariates is not None:  # which may count where y does not differ
                by.insert(1, codes_of_rows(np.asarray(covariates))[rows[first]])
            cells = [
                (cell[np.argsort(standing[cell])], cell[np.lexsort([key[cell] for key in by])])
                for cell, _ in cells
            ]
        return cls(rows, first, size, cells, contents, unit, bool(labels.any()))

    @cached_property
    def _place(self) -> tuple[np.ndarray, np.ndarray]:
        """The unit of every sample, and its place there."""
        unit, place = np.empty((2, len(self.rows)), dtype=np.int64)
        unit[self.rows] = np.repeat(np.arange(len(self.first)), self.size)
        place[self.rows] = np.arange(len(self.rows)) - np.repeat(self.first, self.size)
        return unit, place

    @property
    def n_units(self) -> int:
        """How many units have others to exchange with."""
        return sum(len(receivers) for receivers, _ in self.cells)

    @property
    def n_exchangeable(self) -> int:
        """How many groups these are, or samples where those of some groups are exchanged singly."""
        if self.unit == "group":
            return self.n_units
        return int(sum(self.size[receivers].sum() for receivers, _ in self.cells))

    @cached_property
    def log_ways(self) -> float:
        """Logarithm of the number of different deals."""
        return _log_ways(self.cells, self.contents)

    @property
    def n_ways(self) -> float:
        """Number of different deals; infinite where that is no number."""
        return float(np.exp(self.log_ways)) if self.log_ways < 700 else np.inf

    def order(self, rng: Any) -> np.ndarray:
        """The sample whose y and weight each sample gets.

        A group that gets those of a larger one takes the first of its rows, and of a smaller one
        begins again at its first row. Features in this order are just as free of y.
        """
        donor = np.arange(len(self.first))
        for receivers, donors in self.cells:
            donor[receivers] = rng.permutation(donors)
        unit, place = self._place
        of = donor[unit]
        return self.rows[self.first[of] + place % self.size[of]]

    def try_order(self, work: Callable[[np.ndarray], Outcome], rng: Any) -> Outcome:
        """What some work makes of the first random order that it can do anything with.

        Orders that it refuses, such as one that leaves a class a single sample, do not count: the
        p-value is about the others, of which the real one is one.
        """
        for _ in range(20):
            try:
                return work(self.order(rng))
            except ValueError as error:
                refused = error
        raise refused

    @property
    def why_not(self) -> str:
        """Why nothing can be exchanged, in a sentence; empty where something can be."""
        if self.log_ways > 1e-9:
            return ""
        if self.unit == "sample" and not self.is_stratified:
            return "y has the same value in all samples, so shuffling it changes nothing"
        apart = " of the same stratum, or with similar covariates," * self.is_stratified
        others = f"no two {self.unit}s{apart} can exchange different values of y"
        more = ""
        if self.unit == "group":
            more = " (whole groups are exchanged; one in which y varies, with those of its size)"
        return f"y cannot be shuffled, because {others}{more}; so there is no p-value"

    @property
    def too_few(self) -> str:
        """A sentence where no p-value can reach the 5 % level; otherwise empty."""
        if self.why_not or self.log_ways >= np.log(20) - 1e-9:  # fewer cannot
            return self.why_not
        ways = round(self.n_ways)
        return (
            f"y can be shuffled in only {ways} ways, exchanging {self.n_exchangeable} "
            f"{self.unit}s, so "
            f"no p-value is below {1 / ways:.2g}; more {self.unit}s are needed"
        )

    def sums(self, A: np.ndarray, B: np.ndarray, n_shuffles: int, rng: Any) -> np.ndarray:
        """Sums of the products of A with B in so many random deals."""
        found = np.full(n_shuffles, self._constant_part(A, B))
        for a, b in self._pair_rows(A, B):
            deals = rng.permuted(np.tile(np.arange(len(a)), (n_shuffles, 1)), axis=1)
            for products, places in zip(a @ b.T, deals.T, strict=True):  # a row stays in the cache
                found += products.take(places)
        return found

    def moments(self, A: np.ndarray, B: np.ndarray) -> tuple[float, float]:
        """Mean and variance over all deals of the sum of the products of A with B."""
        mean, variance = self._constant_part(A, B), 0.0
        for a, b in self._pair_rows(A, B):
            mean += float(a.sum(axis=0) @ b.mean(axis=0))
            a, b = a - a.mean(axis=0), b - b.mean(axis=0)
            variance += float(((a.T @ a) * (b.T @ b)).sum()) / (len(a) - 1)
        return mean, variance

    def _constant_part(self, A: np.ndarray, B: np.ndarray) -> float:
        """What units without others to exchange with add."""
        stays = np.ones(len(self.first), dtype=bool)
        for receivers, _ in self.cells:
            stays[receivers] = False
        rows = self.rows[np.repeat(stays, self.size)]
        return float((A[rows] * B[rows]).sum())

    def _pair_rows(self, A: np.ndarray, B: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Of every cell a row of A and of B for each unit, so that products of rows add up."""
        for receivers, donors in self.cells:
            sizes = self.size[receivers]
            if (sizes == sizes[0]).all():
                inside = np.arange(sizes[0])
                a, b = (
                    values[self.rows[self.first[units][:, None] + inside]].reshape(len(units), -1)
                    for values, units in ((A, receivers), (B, donors))
                )
            else:  # y has one value in each
                sums = np.add.reduceat(A[self.rows], self.first, axis=0)
                a, b = sums[receivers], B[self.rows[self.first[donors]]]
            yield a, b


def codes_of_rows(values: np.ndarray) -> np.ndarray:
    """Numbers 0, 1, ... in the order of the values: equal for equal rows or records.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.validation.exchange import codes_of_rows
    >>> codes_of_rows(np.array([[2.0, 1.0], [1.0, 5.0], [2.0, 1.0]])).tolist()
    [1, 0, 1]
    """
    columns = [values]
    if values.dtype.names:
        columns = [values[name] for name in values.dtype.names if name != "strata"]
    elif values.ndim > 1:
        columns = list(values.T)
    codes = np.zeros(len(values), dtype=np.int64)
    for column in columns:
        column = column.astype(str) if column.dtype == object else column
        inside = np.unique(column, return_inverse=True)[1]
        codes = np.unique(codes * (len(values) + 1) + inside, return_inverse=True)[1]
    return codes


def _labels(y: np.ndarray, groups: np.ndarray, strata: Any, covariates: Any) -> np.ndarray:
    """The stratum of every sample."""
    labels = np.zeros(len(y), dtype=np.int64)
    for given in (survival_strata(y), strata):
        if given is not None:
            given = np.asarray(given)
            if given.shape != (len(y),):
                raise ValueError(
                    f"strata must say for each of the {len(y)} samples where it belongs, got "
                    f"shape {given.shape}"
                )
            labels = codes_of_rows(np.column_stack((labels, codes_of_rows(given))))
    if covariates is None or not np.size(covariates):
        return labels
    covariates = np.asarray(covariates)
    alike = codes_of_rows(covariates)
    if len(y) < MIN_PER_STRATUM * (alike.max() + 1):
        alike = _neighbours(y, groups, covariates)
    return codes_of_rows(np.column_stack((labels, alike)))


def _neighbours(y: np.ndarray, groups: np.ndarray, covariates: np.ndarray) -> np.ndarray:
    """Strata of samples, or groups, of which covariates predict about the same y."""
    Z = np.nan_to_num(covariates.astype(np.float64))
    Z, Y = Z - Z.mean(axis=0), _numbers(y)
    predicted = Z @ np.linalg.lstsq(Z, Y - Y.mean(axis=0), rcond=None)[0]
    left, _, right = np.linalg.svd(predicted, full_matrices=False)
    main = left[:, 0] * np.sign(right[0] @ np.arange(1.0, 1.0 + Y.shape[1]))
    means = np.round(np.bincount(groups, weights=main) / np.bincount(groups), 9)
    n_strata = int(np.clip(len(means) // 8, 1, 50))
    places = np.searchsorted(np.sort(means), means)  # equal ones stay together
    return (places * n_strata // len(means))[groups]


def _numbers(y: np.ndarray) -> np.ndarray:
    """Columns of about the same spread that stand for y: ranks of numbers, or 0/1 of classes."""
    columns = [y] if y.ndim == 1 else list(y.T)
    if y.dtype.names:
        columns = [y["time"], y["event"]]
    found = []
    for column in columns:
        codes = codes_of_rows(column)
        # they may be classes
        if column.dtype.kind in "OUSb" or (column.dtype.kind in "iu" and codes.max() < 20):
            found.append(codes[:, None] == np.arange(codes.max() + 1))
        else:
            found.append(codes[:, None] / max(1, codes.max()))
    return np.hstack(found).astype(np.float64)


def _varies(codes: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Whether codes differ within each unit."""
    if not len(first):
        return np.zeros(0, dtype=bool)
    return np.minimum.reduceat(codes, first) < np.maximum.reduceat(codes, first)


def _contents(
    codes: np.ndarray, first: np.ndarray, size: np.ndarray, varies: np.ndarray
) -> np.ndarray:
    """A number for what each unit holds: its one value, or its values in any order."""
    contents = codes[first]
    for number in np.unique(size[varies]):
        units = np.flatnonzero(varies & (size == number))
        blocks = np.sort(codes[first[units][:, None] + np.arange(number)], axis=1)
        contents[units] = codes.max() + 1 + codes_of_rows(blocks)
    return contents


def _signatures(labels: np.ndarray, first: np.ndarray, size: np.ndarray) -> np.ndarray:
    """A number for the labels of each unit: its one label, or those of its rows in order."""
    found = labels[first]
    known: dict[bytes, int] = {}
    for unit in np.flatnonzero(_varies(labels, first)):
        of_unit = labels[first[unit] : first[unit] + size[unit]].tobytes()
        found[unit] = -1 - known.setdefault(of_unit, len(known))
    return found


def _cells(*keys: np.ndarray) -> list[Cell]:
    """Units, two or more, with the same keys."""
    cells = codes_of_rows(np.column_stack(keys))
    order = np.argsort(cells, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cells[order])) + 1)
    return [(part, part) for part in parts if len(part) > 1]


def _log_ways(cells: list[Cell], contents: np.ndarray) -> float:
    """Logarithm of the number of deals that differ."""
    ways = 0.0
    for units, _ in cells:
        times = np.unique(contents[units], return_counts=True)[1]
        ways += float(gammaln(len(units) + 1) - gammaln(times + 1).sum())
    return ways


def _are_enough(
    cells: list[Cell], contents: np.ndarray, varies: np.ndarray, size: np.ndarray
) -> bool:
    """Whether groups in which y varies can be exchanged as a whole."""
    cells = [(units, units) for units, _ in cells if varies[units].any()]
    n_rows = sum(int(size[units[varies[units]]].sum()) for units, _ in cells)
    is_most = 2 * n_rows >= size[varies].sum()
    return bool(is_most and _log_ways(cells, contents) >= np.log(1000))
