"""P-values of filters where samples belong together: as many count as are independent.

A test compares what a feature and the target have in common with what they would have by chance.
If samples of a patient resemble each other, in the feature and in the target, chance does more: the
variance of the product of the two is inflated, see :mod:`sparsieve.solvers.claims.dependence`. So
p-values count n / inflation samples. Scores and ranks say how strong a feature is in these samples,
and stay what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import gen_batches

from .._saved import Floats, Maybe
from ..design import DenseDesign, DesignMatrix, RowBlockedDesign, SparseDesign, standardise_columns
from ..design.base import VERY_SPARSE
from ..selectors.base import TrainingData
from ..selectors.dependent_samples import TakesSampleGroups, codes_of_samples, given_or_close
from ..selectors.least_squares.claim_words import assumption_phrases
from ..selectors.least_squares.hidden_structure import (
    MAX_COLUMNS,
    MAX_SAMPLES,
    ROUNDING,
    HiddenStructure,
)
from ..selectors.preparation import scores_groups
from ..solvers.claims.dependence import SampleGroups
from .group_tests import MEANING
from .tails import log_f_tail

# Numbers of X, and columns, in which samples that are nearly copies of each other are looked for
# before all columns are: more of them where most are zeros.
NUMBERS, FEWEST_COLUMNS, FEWEST_SPARSE_COLUMNS = 60_000, 150, 300
CLIP = 3.0  # standard deviations at which far values are pulled in for that
MAX_SUMS = 1 << 23  # sums of groups that are in memory at a time


class PValuesMixin(TakesSampleGroups):
    """``pvalues_`` of a filter that knows ``log_pvalues_``; ``fit`` takes groups of samples."""

    _meaning_of_groups: ClassVar[str] = MEANING
    assumed_: Maybe[str]
    _inflation: Maybe[Annotated[Floats, "features"]]

    @property
    def log_pvalues_(self) -> np.ndarray:
        """Natural logarithm of the p-value of every feature; computed on each use."""
        if scores_groups(self):
            return -np.log(10.0) * vars(self)["scores_"]
        return self._log_pvalues(vars(self).get("_inflation"))

    def _log_pvalues(self, inflation: np.ndarray | None) -> np.ndarray:
        """Those of single columns."""
        raise NotImplementedError

    @property
    def pvalues_(self) -> np.ndarray:
        """P-value of every feature, not corrected for multiple testing."""
        return np.exp(self.log_pvalues_)

    @property
    def group_pvalues_(self) -> np.ndarray:
        """P-value of every feature group, not corrected for multiple testing."""
        groups = vars(self).get("_feature_groups")
        if groups is None:
            raise AttributeError("group_pvalues_ exists after a fit with feature_groups")
        return self.pvalues_ if groups.are_single else 10.0 ** -vars(self)["group_scores_"]

    def _inflations(
        self, data: TrainingData, targets: Callable[[], Sequence[np.ndarray]]
    ) -> list[np.ndarray] | None:
        """The inflation of every feature, for each target; None where samples are independent.

        ``targets`` makes arrays with orthonormal columns, whose rows are multiplied by the roots of
        the weights.
        """
        self.assumed_ = ""
        given = codes_of_samples(data, self._sample_groups)
        codes, n_close = given_or_close(given, lambda: close_samples(data))
        if codes is None:
            return None
        self.assumed_ = assumption_phrases(
            n_samples=len(codes), n_groups=int(codes.max()) + 1, n_close=n_close, n_components=0
        )
        groups = SampleGroups(codes, data.sample_weight)
        shared = _within_group_shares(data, groups)
        return [
            np.maximum(1.0 + groups.added_inflation(shared, target), 1.0) for target in targets()
        ]


def close_samples(data: TrainingData) -> np.ndarray | None:
    """Groups of samples that are nearly copies of each other; None where there are few.

    Weighted copies are meant, and an X that is read from a file is not read for this.
    """
    n_samples = data.design.shape[0]
    elsewhere = data.sample_weight is not None or isinstance(data.design, RowBlockedDesign)
    if elsewhere or n_samples > MAX_SAMPLES:
        return None
    design = data.allowed_design
    fewest = FEWEST_SPARSE_COLUMNS if design.is_very_sparse else FEWEST_COLUMNS
    first = max(fewest, NUMBERS // n_samples)
    if design.shape[1] > first and _find_close_samples(design, first) is None:
        return None
    return _find_close_samples(design, MAX_COLUMNS)


def _find_close_samples(design: DesignMatrix, n_columns: int) -> np.ndarray | None:
    """Groups of samples that are nearly copies of each other in so many random columns."""
    if design.shape[1] > n_columns:
        some = np.random.default_rng(0).choice(design.shape[1], n_columns, replace=False)
        some = np.sort(some)
        if isinstance(design, DenseDesign):  # as X lies: many times faster than X[:, some]
            X, by_column = design.array, design.array.flags.f_contiguous
            design = DenseDesign(X.T.take(some, axis=0).T if by_column else X.take(some, axis=1))
        else:
            design = design.columns(some)
    if isinstance(design, DenseDesign) and (
        np.count_nonzero(design.array) <= VERY_SPARSE * design.array.size
    ):
        design = SparseDesign(csr_array(design.array))
    view = standardise_columns(design, centre=True, scale=True, clip=CLIP)
    kind = _StructureBeside if design.is_on_device else HiddenStructure
    return kind(view.design, ~view.constant).close_samples()


class _StructureBeside(HiddenStructure):
    """The same of an X on a device, where the distances are found."""

    def _distances(self, rows: np.ndarray) -> np.ndarray:
        design: Any = self.design
        distances, power = design.row_distances(rows, self._columns)
        distances[np.arange(len(rows)), rows] = np.inf
        distances[distances <= ROUNDING * power] = 0.0
        return distances


def _within_group_shares(data: TrainingData, groups: SampleGroups) -> np.ndarray:
    """What every column shares within groups, see :meth:`.SampleGroups.within_group_share`."""
    weights, n_groups = data.sample_weight, int(groups.codes.max()) + 1
    view = standardise_columns(data.design, centre=True, scale=True, sample_weight=weights)
    roots = None if weights is None else np.sqrt(weights)
    n_features = data.design.shape[1]
    step, squares = max(1, MAX_SUMS // n_groups), np.empty(n_features)
    for part in gen_batches(n_features, step):
        some = view.design.columns(part) if step < n_features else view.design
        sums = np.asarray(some.group_sums(groups.codes, n_groups, roots), dtype=np.float64)
        squares[part] = np.einsum("gj,gj->j", sums, sums)
    return np.where(view.constant, 0.0, squares / groups.n_samples - 1.0)


def log_f_with_fewer(
    explained: float, unexplained: float, statistic: np.ndarray, inflation: np.ndarray | None
) -> np.ndarray:
    """Log of the p-values of F statistics, with n / inflation samples in place of n."""
    if inflation is None:
        return log_f_tail(explained, unexplained, statistic)
    fewer = (unexplained + explained + 1.0) / inflation - explained - 1.0
    able = fewer > 0
    fewer = np.where(able, fewer, 1.0)
    return np.where(able, log_f_tail(explained, fewer, statistic * fewer / unexplained), 0.0)
