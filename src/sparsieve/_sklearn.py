"""The private names of scikit-learn that sparsieve needs, imported here and nowhere else.

They may change without notice. ``tests/test_sklearn.py`` calls each the way sparsieve does, and
``make test-versions`` runs that on every supported version.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import _clone_parametrized as clone_parametrized
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE as TREE_NODE
from sklearn.utils._set_output import _get_output_config as get_output_config
from sklearn.utils.validation import _check_method_params as check_method_params
from sklearn.utils.validation import _check_sample_weight as check_sample_weight
from sklearn.utils.validation import _check_y as check_y
from sklearn.utils.validation import _num_samples as num_samples

__all__ = [
    "TREE_NODE",
    "GrownTree",
    "check_method_params",
    "check_sample_weight",
    "check_y",
    "clone_parametrized",
    "get_output_config",
    "grown_tree",
    "num_samples",
]


class GrownTree(NamedTuple):
    """A tree of HistGradientBoosting: its splits, and the samples in its leaves.

    Attributes
    ----------
    features, gains : ndarray of shape (n_splits,)
        Columns that were split, and what each split adds to the sum of G^2 / (H + l2) over leaves.
    samples : ndarray of shape (n_samples,)
        Rows, one leaf after the other.
    starts : ndarray of shape (n_leaves,)
        Where the rows of each leaf start.
    """

    features: np.ndarray
    gains: np.ndarray
    samples: np.ndarray
    starts: np.ndarray


def grown_tree(
    codes: np.ndarray,
    n_codes: np.ndarray,
    has_gaps: np.ndarray,
    gradients: np.ndarray,
    hessians: np.ndarray,
    *,
    n_bins: int,
    n_leaves: int,
    min_leaf: int,
    min_gain: float,
    l2: float,
    n_threads: int | None = None,
) -> GrownTree:
    """Grow one tree of HistGradientBoosting on columns that are codes already.

    ``codes`` are bytes in the order of Fortran, below ``n_codes`` of their column; ``n_bins - 1``
    marks a missing value. Gradients and Hessians are single precision, the latter one number where
    all are the same.
    """
    # Imported here: it takes a tenth of a second that only trees need.
    from sklearn.ensemble._hist_gradient_boosting.grower import TreeGrower

    grower = TreeGrower(
        codes,
        gradients,
        hessians,
        max_leaf_nodes=n_leaves,
        min_samples_leaf=min_leaf,
        min_gain_to_split=min_gain,
        n_bins=n_bins,
        n_bins_non_missing=n_codes,
        has_missing_values=has_gaps,
        l2_regularization=l2,
        n_threads=n_threads,
    )
    grower.grow()
    splits: list[Any] = []
    open_nodes = [grower.root]
    while open_nodes:
        node = open_nodes.pop()
        if not node.is_leaf:
            splits.append(node.split_info)
            open_nodes += [node.left_child, node.right_child]
    starts = np.sort([int(leaf.partition_start) for leaf in grower.finalized_leaves])
    return GrownTree(
        np.array([int(split.feature_idx) for split in splits], dtype=np.int64),
        np.array([float(split.gain) for split in splits]),
        np.asarray(grower.splitter.partition),
        starts,
    )
