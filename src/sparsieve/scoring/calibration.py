"""Log loss of votes of classes, calibrated by one number: how good a number of features is.

Hits are coarse: a number of features that is a little better changes few of them. What a model says
of every class, beyond the label, sees more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

# How much votes may count; 0 is a guess by the shares of the classes.
STRENGTHS = np.append(0.0, np.geomspace(0.5, 80.0, 9))
# More test samples of a fold than this do not make a mean much more exact.
MAX_SAMPLES = 4000


def losses_by_strength(
    votes: np.ndarray,
    y: np.ndarray,
    classes: np.ndarray,
    shares: np.ndarray,
    sample_weight: np.ndarray | None = None,
) -> np.ndarray:
    """Mean log loss of the test samples at every one of the strengths.

    The logarithm of the odds of a class is that of its share plus the strength times what the vote
    for it exceeds the share by.

    Parameters
    ----------
    votes : ndarray of shape (n_test, n_classes)
        See :func:`~sparsieve.scoring.models.class_votes`.
    y : ndarray of shape (n_test,)
        Labels. Those of classes that the training part does not have count for nothing.
    classes, shares : ndarray of shape (n_classes,)
        Those of the training part.
    sample_weight : ndarray of shape (n_test,) or None

    Returns
    -------
    losses : ndarray of shape (n_strengths,)
        0 where no sample counts.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.calibration import losses_by_strength
    >>> votes, y = np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])
    >>> found = losses_by_strength(votes, y, np.array([0, 1]), np.array([0.5, 0.5]))
    >>> found[[0, -1]].round(3)
    array([0.693, 0.   ])
    """
    places = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
    counted = np.flatnonzero((classes[places] == y) & (weights > 0))
    if len(counted) > MAX_SAMPLES:
        counted = counted[np.linspace(0, len(counted) - 1, MAX_SAMPLES).astype(int)]
    if not len(counted):
        return np.zeros(len(STRENGTHS))
    weights, places = weights[counted], places[counted]
    # What speaks for every class against the own one, a row per class.
    above, levels = (votes[counted] - shares).T, np.log(shares)
    above = np.ascontiguousarray(above - above[places, np.arange(len(counted))], dtype=np.float64)
    against = levels[:, None] - levels[places]
    with np.errstate(over="ignore"):  # an infinite loss is worse than any other
        found = [weights @ np.log(np.exp(against + s * above).sum(axis=0)) for s in STRENGTHS]
    return np.array(found) / weights.sum()


def calibrated_losses(
    by_strength: np.ndarray, sizes: Sequence[float], repeats: np.ndarray
) -> np.ndarray:
    """The loss of every fold at the strength that is best for all folds of its repeat.

    Parameters
    ----------
    by_strength : ndarray of shape (n_ks, n_folds, n_strengths)
    sizes : list of float
        How much every fold counts.
    repeats : ndarray of int of shape (n_folds,)
        Which repeat of the folds every fold belongs to.

    Returns
    -------
    losses : ndarray of shape (n_ks, n_folds)
    """
    found = np.empty(by_strength.shape[:2])
    for repeat in np.unique(repeats):
        places = np.flatnonzero(repeats == repeat)
        part = by_strength[:, places]
        total = np.einsum("kfs,f->ks", part, np.asarray(sizes, dtype=np.float64)[places])
        best = total.argmin(axis=1)
        found[:, places] = np.take_along_axis(part, best[:, None, None], axis=2)[:, :, 0]
    return found
