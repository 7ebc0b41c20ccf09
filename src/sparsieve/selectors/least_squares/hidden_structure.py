"""Structure of X that nobody recorded: samples that belong together, and principal components.

Samples that are measured twice, or come from one patient, are much nearer to each other than to all
others. Tests that count them as independent claim too much.

A batch that was not recorded shifts many columns and may go with the target; every one of them then
says something of the target, and none can be claimed. What such columns share is a principal
component of X. Parallel analysis counts them: components of X whose variance is above that of all
components of columns that were shuffled, each by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import betaincinv
from sklearn.utils import gen_batches

from ...design import DesignMatrix
from ...solvers.claims.distilled_state import (
    DistillationProblem,
    KeptColumns,
    PathResiduals,
    inverse_root,
    project_out,
    share_pvalue,
)
from ...solvers.searches.forward_scores import RANK_TOL

ADJUSTMENTS = ("auto", "components")
N_SHUFFLED = 5  # shuffled copies of X
MAX_SHARE = 0.1  # components as a share of the number of samples
RIDGE = 0.05  # of the paths that are compared with components, relative to the number of samples
LEVEL = 0.05  # of the tests whether components have to do with the target
MIN_SHARED = 20  # columns that a component must be spread over, to be no matter of a few
RECORDED = 0.9  # share of a component that a column explains, from which on it is recorded
BLOCK = 1024  # columns that are in memory at a time
# Samples belong together whose squared distance is at most this share of that to the next one, up
# to six of them, and where a tenth of all samples do: a near neighbour alone may be chance. In few
# dimensions the share is smaller: one that a sample in a hundred has by chance. In fewer dimensions
# than MIN_DIMENSION nothing is said of equal samples if columns have few levels.
MAX_DISTANCE_RATIO, MAX_TOGETHER, MIN_CLOSE_SHARE, MAX_CHANCE = 0.6, 6, 0.1, 0.01
MIN_DIMENSION = 8.0
# Samples that are looked at before all are, and the share of close ones below which it ends there.
# Of MIN_CLOSE_SHARE among all, so few are seen in at most 15 and 6 cases of 1,000.
FIRST_LOOKS = ((150, 0.05), (450, 0.065))
MAX_SAMPLES, MAX_COLUMNS = 3000, 5000  # samples and columns that are compared
ROWS_AT_ONCE = 512  # rows of a sparse X whose products with all are in memory at a time
ROUNDING = 1e-12  # distances below this share of the usual one are none


@dataclass(frozen=True)
class HiddenStructure:
    """What the samples of X have in common.

    Parameters
    ----------
    design : DesignMatrix
        Centred columns of unit variance.
    used : ndarray of bool of shape (n_features,)
        Columns that count; of very many some are looked at.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.design import as_design, standardise_columns
    >>> from sparsieve.selectors.least_squares.hidden_structure import HiddenStructure
    >>> patients = np.random.default_rng(0).standard_normal((20, 300))
    >>> noise = np.random.default_rng(1).standard_normal((60, 300))
    >>> unit = {"centre": True, "scale": True}
    >>> X = as_design(np.repeat(patients, 3, axis=0) + 0.5 * noise)
    >>> X = standardise_columns(X, **unit).design
    >>> groups = HiddenStructure(X, np.ones(300, dtype=bool)).close_samples()
    >>> np.bincount(groups).tolist() == [3] * 20
    True
    >>> batch = np.repeat([0.0, 1.0], 30)
    >>> X = standardise_columns(as_design(noise + batch[:, None]), **unit).design
    >>> found = HiddenStructure(X, np.ones(300, dtype=bool)).components(np.zeros((60, 0)))
    >>> found.shape[1], bool(abs(np.corrcoef(found[:, 0], batch)[0, 1]) > 0.9)
    (1, True)
    """

    design: DesignMatrix
    used: np.ndarray

    @property
    def is_small(self) -> bool:
        """Whether there are few enough samples, and enough, to look for structure."""
        n_samples = self.design.shape[0]
        return 2 * MAX_TOGETHER <= n_samples <= MAX_SAMPLES and bool(self.used.any())

    @cached_property
    def _columns(self) -> np.ndarray:
        columns = np.flatnonzero(self.used)
        if len(columns) <= MAX_COLUMNS:
            return columns
        return np.sort(np.random.default_rng(0).choice(columns, MAX_COLUMNS, replace=False))

    def _blocks(self) -> Iterator[np.ndarray]:
        for part in gen_batches(len(self._columns), BLOCK):
            columns = self.design.dense_columns(self._columns[part])
            yield np.asarray(columns, dtype=np.float64)

    @cached_property
    def _products(self) -> np.ndarray:
        """Inner products of the rows."""
        products = np.zeros((self.design.shape[0],) * 2)
        for block in self._blocks():
            products += block @ block.T
        return products

    def close_samples(self) -> np.ndarray | None:
        """Groups of samples much nearer to each other than to all others; None if few are."""
        if not self.is_small:
            return None
        n_samples = self.design.shape[0]
        for number, least in FIRST_LOOKS:
            if n_samples > 2 * number:
                some = np.random.default_rng(0).choice(n_samples, number, replace=False)
                if self._near(some)[1].any(axis=1).mean() < least:
                    return None
        near, inside = self._near(np.arange(n_samples))
        if inside.any(axis=1).mean() < MIN_CLOSE_SHARE:
            return None  # those that are near each other are no more
        ends = np.repeat(np.arange(n_samples), inside.sum(axis=1)), near[inside]
        linked = coo_array((np.ones(len(ends[0])), ends), shape=(n_samples,) * 2).tocsr()
        groups = connected_components(linked.multiply(linked.T), directed=False)[1]
        share = (np.bincount(groups)[groups] > 1).mean()
        return groups if share >= MIN_CLOSE_SHARE else None

    def _near(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest neighbours of some samples, and which are much nearer than all others."""
        number = 2 * MAX_TOGETHER - 2
        if self._sparse_rows is None:
            near, apart = _smallest(self._distances(rows), number)
        else:
            near, apart = nearest_sparse_rows(self._sparse_rows, rows, number)
            apart[apart <= ROUNDING * len(self._columns)] = 0.0
        dimension = min(_dimension(apart), float(len(self._columns)))
        near, apart = near[:, :MAX_TOGETHER], apart[:, :MAX_TOGETHER]
        beyond = np.where(apart[:, 1:] > 0, apart[:, 1:], 1.0)
        jumps = np.where(apart[:, 1:] > 0, apart[:, :-1] / beyond, 1.0)
        equal = apart[:, :-1] == 0.0
        if dimension < MIN_DIMENSION and equal.any() and self._may_be_equal(dimension):
            jumps[equal] = 1.0  # with few levels, samples are equal by chance
        last = np.argmin(jumps, axis=1)
        # The ratio of the distances to two neighbours, to the power of the dimension, is uniform.
        close = min(MAX_DISTANCE_RATIO, MAX_CHANCE ** (2.0 / dimension))
        is_close = jumps[np.arange(len(rows)), last] <= close
        return near, (np.arange(MAX_TOGETHER) <= last[:, None]) & is_close[:, None]

    def _may_be_equal(self, dimension: float) -> bool:
        """Whether some samples in so many dimensions are equal by chance, as with few levels."""
        n_pairs = self.design.shape[0] ** 2 / 2
        return n_pairs * np.exp(dimension * self._log_equal) > MAX_CHANCE

    @cached_property
    def _log_equal(self) -> float:
        """Logarithm of how often two samples have the same value of a column, on average."""
        n_samples, rows = self.design.shape[0], self._sparse_rows
        if rows is not None:
            stored = rows.data != 0.0
            columns, values = rows.indices[stored], rows.data[stored]
            counts = np.bincount(columns, minlength=rows.shape[1])
            pairs = _equal_pairs(values[np.lexsort((values, columns))], counts)
            pairs += (n_samples - counts) ** 2.0
        else:
            counts = np.full(BLOCK, n_samples)
            blocks = (np.sort(block.T, axis=1) for block in self._blocks())
            pairs = np.concatenate([_equal_pairs(b.ravel(), counts[: len(b)]) for b in blocks])
        return float(np.log(pairs / n_samples**2).mean())

    @cached_property
    def _sparse_rows(self) -> csr_array | None:
        """Rows with the distances of those of a very sparse X; None where numbers are negative."""
        if not self.design.is_very_sparse:
            return None
        parts = self.design.sparse_columns(self._columns)
        if parts is None:
            return None
        rows, shifts, _ = parts
        is_same = not np.ptp(shifts, axis=0).any()  # centring moves all rows alike
        if not is_same or rows.data.min(initial=0.0) < 0:
            return None
        return csr_array(rows, dtype=np.float64)

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        """Squared distances of some samples to all; infinite to themselves."""
        n_samples = self.design.shape[0]
        if len(rows) == n_samples:
            products, power = self._products, np.diag(self._products)
        else:
            products, power = np.zeros((len(rows), n_samples)), np.zeros(n_samples)
            for block in self._blocks():
                products += block[rows] @ block.T
                power += (block**2).sum(axis=1)
        distances = power[rows, None] + power
        distances -= 2.0 * products
        distances[np.arange(len(rows)), rows] = np.inf
        distances[distances <= ROUNDING * power.mean()] = 0.0
        return distances

    def _leading(self, covariates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Variances and directions of the components given covariates, the largest first."""
        rest = project_out(project_out(self._products, covariates).T, covariates)
        values, vectors = np.linalg.eigh(rest)
        return values[::-1], vectors[:, ::-1]

    def components(self, covariates: np.ndarray, number: int | None = None) -> np.ndarray:
        """Principal components given covariates, of unit length.

        As many as are asked for, or as many as parallel analysis finds: with a larger variance than
        any of columns that are shuffled.
        """
        values, vectors = self._leading(covariates)
        if number is not None:
            return vectors[:, : min(number, int((values > 1e-10 * values[0]).sum()))]
        rng = np.random.default_rng(0)
        shuffled = np.zeros((N_SHUFFLED, *self._products.shape))
        for block in self._blocks():
            block = _in_own_order(project_out(block, covariates))
            for drawn in shuffled:
                other = project_out(rng.permuted(block, axis=0), covariates)
                drawn += other @ other.T
        noise = max(float(np.linalg.eigvalsh(drawn)[-1]) for drawn in shuffled)
        return vectors[:, : min(int((values > noise).sum()), self._most)]

    @property
    def _most(self) -> int:
        """How many components parallel analysis may find."""
        return max(1, int(MAX_SHARE * self.design.shape[0]))

    def ahead(self, problem: DistillationProblem) -> np.ndarray:
        """The components that have to do with the target, if they say more of it than columns do.

        Where y owes what it owes to few columns, a path of as many columns as there are such
        components, or of one more, says more of it; where many columns follow something that goes
        with y, and say a little each, what they share says more.
        """
        covariates = problem.covariates
        likely = self._leading(covariates)[1][:, : self._most]
        found = _hidden(likely, problem)
        if not self._are_ahead(found, problem):
            return likely[:, :0]  # without the cost of parallel analysis
        found = _hidden(self.components(covariates), problem)
        return found if self._are_ahead(found, problem) else found[:, :0]

    def select_components(self, problem: DistillationProblem, claimed: np.ndarray) -> np.ndarray:
        """The components that have to do with what claimed columns leave of the target.

        As long as these columns are not known, components need not be ahead of all columns.
        """
        likely = self._leading(problem.covariates)[1][:, : self._most]
        at_best = np.arange(1, likely.shape[1] + 1)  # that parallel analysis finds with each
        if not (_related_pvalues(likely, problem, claimed) * at_best <= LEVEL).any():
            return likely[:, :0]  # without the cost of parallel analysis
        return _hidden(self.components(problem.covariates), problem, claimed)

    def _are_ahead(self, components: np.ndarray, problem: DistillationProblem) -> bool:
        """Whether they explain more of the target than as many columns, one after the other.

        And not less than with one column more, but for what the best of all columns explains by
        chance, at the 5 % level.
        """
        number, rank = components.shape[1], problem.target.shape[1]
        if number == 0:
            return False
        left = PathResiduals.from_problem(problem, number + 1, RIDGE * problem.design.shape[0])
        columns, explained = KeptColumns(problem), [0.0]
        while len(left.order) <= number and (j := left.best()) is not None:
            left.take(j, columns.products(j))
            explained.append(rank - float(np.trace(left.target)))
        by_columns = explained[: number + 1][-1]
        others = max(problem.freedom - number - rank, 1) / 2
        largest = betaincinv(rank / 2, others, (1.0 - LEVEL) ** (1 / problem.eligible.sum()))
        by_chance = largest * (1.0 - by_columns / rank)
        by_components = float(((components.T @ problem.target) ** 2).sum())
        return by_components > max(by_columns, explained[-1] - by_chance)


def _in_own_order(block: np.ndarray) -> np.ndarray:
    """Columns, each sorted, in an order that follows from their values: what is drawn depends on
    neither the order of samples nor that of columns.
    """
    block = np.sort(block, axis=0)
    lengths = np.sqrt((block**2).sum(axis=0))
    skewness = (block**3).sum(axis=0) / np.where(lengths > 0, lengths, 1.0) ** 3
    return block[:, np.argsort(np.round(skewness, 9), kind="stable")]


def _hidden(
    components: np.ndarray, problem: DistillationProblem, taken: np.ndarray | None = None
) -> np.ndarray:
    """The components that have to do with the target, and are those of many columns.

    With what columns leave of the target, if some are ``taken`` out.

    They are not those of one column with some near copies. Nor are they what a single column nearly
    is: that is recorded, and claims about it stand.
    """
    pvalues = _related_pvalues(components, problem, taken)
    found = components[:, pvalues * len(pvalues) <= LEVEL]
    design = problem.design
    norms = np.asarray(design.column_sq_norms(), dtype=np.float64)[problem.eligible]
    products = np.asarray(design.rmatmul(found.astype(design.dtype)), dtype=np.float64)
    squares = products[problem.eligible] ** 2
    powers = (squares**2).sum(axis=0)
    is_shared = squares.sum(axis=0) ** 2 >= MIN_SHARED * np.where(powers > 0, powers, np.inf)
    nearest = (squares / np.where(norms > 0, norms, 1.0)[:, None]).max(axis=0, initial=0.0)
    return found[:, is_shared & (nearest < RECORDED)]


def _equal_pairs(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Ordered pairs of equal values in columns of so many values, which are sorted, end to end."""
    columns = np.repeat(np.arange(len(counts)), counts)
    begins = np.ones(len(values), dtype=bool)
    begins[1:] = (values[1:] != values[:-1]) | (columns[1:] != columns[:-1])
    places = np.flatnonzero(begins)
    sizes = np.diff(places, append=len(values))
    return np.bincount(columns[places], weights=sizes**2.0, minlength=len(counts))


def _smallest(distances: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the smallest of every row are, the smallest first, and what they are."""
    near = np.sort(np.argpartition(distances, number, axis=1)[:, :number], axis=1)
    apart = np.take_along_axis(distances, near, axis=1)
    order = np.argsort(apart, axis=1, kind="stable")
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(apart, order, axis=1)


def nearest_sparse_rows(
    X: csr_array, rows: np.ndarray, number: int
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows of a sparse X without negative numbers to some of them.

    Of rows with nothing in common with a given one, the shortest are the nearest. So only these and
    rows that have something in common with it need to be looked at.

    Returns
    -------
    near, apart : ndarrays of shape (len(rows), number)
        The others, the nearest first, and the squared distances to them.
    """
    power, columns = np.asarray(X.multiply(X).sum(axis=1)), X.T.tocsr()
    short = np.argpartition(power, number)[: number + 1]  # one of them may be the row itself
    limit, others = power[short].max(), power.copy()
    others[short] = np.inf
    found = []
    for part in gen_batches(len(rows), ROWS_AT_ONCE):
        own, some = rows[part], X[rows[part]]
        shared = some @ columns
        # Squared distances but for the square of the row itself, which all of a row have.
        beyond = others[shared.indices] - 2.0 * shared.data
        useful = np.flatnonzero(beyond < limit)
        to_short = power[short] - 2.0 * (some @ columns[:, short]).toarray()
        places = np.arange(len(own))
        row = np.concatenate(
            (np.repeat(places, len(short)), np.searchsorted(shared.indptr, useful, "right") - 1)
        )
        near = np.concatenate((np.tile(short, len(own)), shared.indices[useful]))
        apart = np.concatenate((to_short.ravel(), beyond[useful]))
        apart[near == own[row]] = np.inf
        order = np.lexsort((apart, row))
        nearest = order[np.searchsorted(row[order], places)[:, None] + np.arange(number)]
        found.append((near[nearest], apart[nearest] + power[own, None]))
    near, apart = map(np.vstack, zip(*found, strict=True))
    return near, apart


def _dimension(apart: np.ndarray) -> float:
    """Dimensions in which samples lie, from squared distances to their neighbours, nearest first.

    The fifth neighbour and those beyond are no copies. In d dimensions the logarithm of the ratio
    of the distances to neighbours a and b is (1/a + ... + 1/(b - 1)) / d on average.
    """
    first, last = MAX_TOGETHER - 2, apart.shape[1] - 1
    known = apart[:, first] > 0
    if not known.any():
        return 1.0
    growth = 0.5 * float(np.mean(np.log(apart[known, last] / apart[known, first])))
    expected = float((1.0 / np.arange(first + 1, last + 1)).sum())
    return max(1.0, expected / max(growth, 1e-9))


def _related_pvalues(
    components: np.ndarray, problem: DistillationProblem, taken: np.ndarray | None = None
) -> np.ndarray:
    """How often chance explains as much of the target as each component, given some columns."""
    order = [] if taken is None else taken.tolist()
    known = np.asarray(problem.design.dense_columns(order), dtype=np.float64)
    basis = _orthonormal(project_out(known, problem.covariates))
    target, left = _orthonormal(project_out(problem.target, basis)), project_out(components, basis)
    lengths = (left**2).sum(axis=0)
    shares = ((target.T @ left) ** 2).sum(axis=0) / np.where(lengths > 0, lengths, 1.0)
    return share_pvalue(shares, target.shape[1], problem.degrees_of_freedom(order, components))


def _orthonormal(columns: np.ndarray) -> np.ndarray:
    """A basis of what some columns span."""
    return columns @ inverse_root(columns.T @ columns, RANK_TOL[np.dtype(np.float64)])
