"""Which features several methods agree on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.stats import rankdata


def consensus_columns(
    chosen: Mapping[str, np.ndarray],
    in_splits: Mapping[str, Sequence[np.ndarray]],
    rankings: Mapping[str, np.ndarray],
    names: np.ndarray,
) -> dict[str, np.ndarray]:
    """Every feature that any fit chose: by how many methods, in which share of the fits.

    Parameters
    ----------
    chosen : dict of str to array of int
        Features that each method chose on all samples.
    in_splits : dict of str to list of arrays of int
        What it chose on the training part of every split.
    rankings : dict of str to array
        Its ranking on all samples, 1 for the best.
    names : array of str
        Of all features.

    Returns
    -------
    columns : dict of arrays
        rank, feature, methods (how many chose it on all samples), share (of the fits on training
        parts, of all methods together, that chose it), median_rank, chosen_by, and the share of
        every method's fits as ``share_<method>``; by methods, then share, then median rank.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.comparison.agreement import consensus_columns
    >>> found = consensus_columns(
    ...     {"a": np.array([0, 1]), "b": np.array([1, 2])},
    ...     {"a": [np.array([0, 1])] * 2, "b": [np.array([1, 2]), np.array([1, 0])]},
    ...     {"a": np.array([1, 2, 3]), "b": np.array([3, 1, 2])},
    ...     np.array(["x", "y", "z"], dtype=object),
    ... )
    >>> found["feature"].tolist(), found["methods"].tolist(), found["share"].tolist()
    (['y', 'x', 'z'], [2, 1, 1], [1.0, 0.75, 0.25])
    """
    n_features = len(names)
    votes = np.zeros(n_features, dtype=np.int64)
    shares = {}
    for method, features in chosen.items():
        votes[features] += 1
        counts = np.bincount(np.concatenate(list(in_splits[method])), minlength=n_features)
        shares[method] = counts / len(in_splits[method])
    share = np.mean(list(shares.values()), axis=0)
    median_rank = np.median(list(rankings.values()), axis=0)
    order = np.lexsort((np.arange(n_features), median_rank, -np.round(share, 12), -votes))
    order = order[(votes[order] > 0) | (share[order] > 0)]
    who = [[m for m, features in chosen.items() if j in set(features.tolist())] for j in order]
    return {
        "rank": np.arange(1, len(order) + 1),
        "feature": names[order],
        "methods": votes[order],
        "share": share[order],
        "median_rank": median_rank[order],
        "chosen_by": np.array([", ".join(methods) for methods in who], dtype=object),
        **{f"share_{method}": values[order] for method, values in shares.items()},
    }


def combinations_of(chosen: Mapping[str, np.ndarray]) -> list[tuple[tuple[str, ...], list[int]]]:
    """Features by exactly who chose them: most features first, then most methods.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.comparison.agreement import combinations_of
    >>> combinations_of({"a": np.array([0, 1]), "b": np.array([1, 2]), "c": np.array([0, 1, 2])})
    [(('a', 'b', 'c'), [1]), (('a', 'c'), [0]), (('b', 'c'), [2])]
    """
    who: dict[int, list[str]] = defaultdict(list)
    for method, features in chosen.items():
        for feature in features.tolist():
            who[feature].append(method)
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for feature in sorted(who):
        found[tuple(who[feature])].append(feature)
    return sorted(found.items(), key=lambda item: (-len(item[1]), -len(item[0]), item[1]))


def rank_correlations(rankings: Mapping[str, np.ndarray]) -> np.ndarray:
    """Spearman's correlation of every two rankings over all features; NaN for one feature."""
    table = np.array(list(rankings.values()), dtype=np.float64)
    if table.shape[1] < 2:
        return np.full((len(table), len(table)), np.nan)
    return np.atleast_2d(np.corrcoef(rankdata(table, axis=1)))


def shared_counts(chosen: Mapping[str, np.ndarray]) -> np.ndarray:
    """How many features every two methods have in common."""
    sets = [set(features.tolist()) for features in chosen.values()]
    return np.array([[len(a & b) for b in sets] for a in sets], dtype=np.int64)
