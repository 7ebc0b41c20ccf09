"""The one cross-validation loop: how folds are made, and work done on each of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from joblib.parallel import get_active_backend
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from ..validation.training_data import group_codes

# How often the data of one call may be lost with a worker of a cluster.
MAX_LOST_WORKERS = 5

Fold = tuple[np.ndarray, np.ndarray]
Outcome = TypeVar("Outcome")


def choose_strata(y: Any, stratified: bool) -> tuple[Any, bool]:
    """What folds get equal shares of: classes, or the events among survival times."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    return (y["event"].astype(int), True) if names else (y, stratified)


def make_folds(
    y: Any, n_folds: int, *, seed: int | None, stratified: bool = True, groups: Any = None
) -> list[Fold]:
    """Rows to train and to test on, for every fold.

    Parameters
    ----------
    y : array
        Class labels, or anything of that length where folds are not stratified.
    n_folds : int
        Number of folds. A class smaller than that is missing from some of them.
    seed : int or None
        How samples are shuffled; None leaves them in the order of the file.
    stratified : bool, default=True
        Give every fold its share of every class; of survival times, always of the events.
    groups : array, default=None
        Samples of a group stay together; classes are then stratified as far as possible. There
        must be as many groups as folds.

    Returns
    -------
    folds : list of (train, test)

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import make_folds
    >>> [len(test) for _, test in make_folds(np.arange(10) % 2, 5, seed=0)]
    [2, 2, 2, 2, 2]
    """
    y, stratified = choose_strata(y, stratified)
    if groups is not None:
        groups = checked_groups(groups, len(y), n_folds, f"{n_folds} folds")
        kind = StratifiedGroupKFold if stratified else GroupKFold
    else:
        kind = StratifiedKFold if stratified else KFold
    splitter = kind(n_folds, shuffle=seed is not None, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        return list(splitter.split(np.zeros(len(y)), y, groups))


def checked_groups(groups: Any, n_samples: int, n_needed: int, what: str) -> np.ndarray:
    """Groups as numbers 0, 1, ...: one for every sample, none missing, and enough of them."""
    codes = group_codes(groups, n_samples)
    n_groups = int(codes.max(initial=-1)) + 1
    if n_groups < n_needed:
        raise ValueError(
            f"{what} need at least {n_needed} groups, but there "
            f"{'is' if n_groups == 1 else 'are'} {n_groups}; ask for fewer, or leave out groups"
        )
    return codes


def overlap(folds: Iterable[Fold], n_samples: int) -> str:
    """A sentence where a fold is tested on samples that it is trained on, else nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import overlap
    >>> overlap([(np.arange(5), np.arange(3, 8))], 8).partition(":")[0]
    'fold 0 of cv is trained on 2 of the 5 samples that it is tested on'
    """
    for number, (train, test) in enumerate(folds):
        trained, tested = np.zeros((2, n_samples), dtype=bool)
        trained[train] = tested[test] = True
        if times := int((trained & tested).sum()):
            return (
                f"fold {number} of cv is trained on {times:,} of the {tested.sum():,} samples that "
                "it is tested on: such scores say nothing about other samples; give folds whose "
                "training and test samples are different ones"
            )
    return ""


def torn_groups(folds: Iterable[Fold], codes: np.ndarray) -> str:
    """A sentence where groups of samples are on both sides of a fold, else nothing.

    ``codes`` holds the group of every sample as a number 0, 1, ...

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import torn_groups
    >>> fold = np.array([0, 1, 2, 4]), np.array([3, 5])
    >>> torn_groups([fold], np.array([0, 0, 1, 1, 2, 2])).partition(":")[0]
    'fold 0 of cv has samples of 2 of its 2 test groups in its training part as well'
    """
    n_groups = int(codes.max(initial=-1)) + 1
    for number, (train, test) in enumerate(folds):
        trained, tested = np.zeros((2, n_groups), dtype=bool)
        trained[codes[train]] = tested[codes[test]] = True
        if times := int((trained & tested).sum()):
            return (
                f"fold {number} of cv has samples of {times:,} of its {tested.sum():,} test groups "
                "in its training part as well: such scores say nothing about other groups; let cv "
                "be an integer, GroupKFold() or StratifiedGroupKFold(), which keep groups together"
            )
    return ""


def fold_repeats(folds: Sequence[Fold], n_samples: int) -> np.ndarray:
    """Which repeat every fold belongs to: one begins where a sample is held out once more.

    All are the same one unless every repeat holds out the same samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import make_folds, fold_repeats
    >>> once, again = (make_folds(np.arange(6) % 2, 3, seed=seed) for seed in (0, 1))
    >>> fold_repeats([*once, *again], 6)
    array([0, 0, 0, 1, 1, 1])
    """
    numbers, held_out = [], np.zeros((0, n_samples), dtype=bool)
    for _, test in folds:
        held = np.zeros((1, n_samples), dtype=bool)
        held[0, test] = True
        if not len(held_out) or (held_out[-1] & held[0]).any():
            held_out = np.vstack([held_out, held])
        held_out[-1] |= held[0]
        numbers.append(len(held_out) - 1)
    return np.array(numbers) * int((held_out == held_out[:1]).all())


def seed_number(random_state: Any) -> int:
    """The whole number that stands for a random state: itself, or one drawn from it.

    Examples
    --------
    >>> from sparsieve.scoring.folds import seed_number
    >>> seed_number(5)
    5
    """
    if isinstance(random_state, Integral) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(f"random_state must be at least 0, got {random_state}")
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def each_fold(
    work: Callable[[np.ndarray, np.ndarray], Outcome], folds: Iterable[Fold]
) -> list[Outcome]:
    """What ``work(train, test)`` returns on every fold, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import each_fold, make_folds
    >>> folds = make_folds(np.arange(10) % 2, 5, seed=0)
    >>> each_fold(lambda train, test: len(train), folds)
    [8, 8, 8, 8, 8]
    """
    return list(one_by_one((delayed(work)(*fold) for fold in folds), None))


def one_by_one(tasks: Iterable[Any], n_jobs: int | None, *, ordered: bool = True) -> Iterable[Any]:
    """Results of delayed calls as they come, where the backend of joblib can do that.

    Examples
    --------
    >>> from sklearn.utils.parallel import delayed
    >>> from sparsieve.scoring.folds import one_by_one
    >>> list(one_by_one([delayed(abs)(-1), delayed(abs)(2)], n_jobs=1))
    [1, 2]
    """
    backend = get_active_backend()[0]
    if type(backend).__name__ == "DaskDistributedBackend":
        return _on_cluster(list(tasks), n_jobs)
    able = getattr(backend, "supports_return_generator", False)
    how = "list" if not able else "generator" if ordered else "generator_unordered"
    return Parallel(n_jobs=n_jobs, return_as=how)(tasks)


def _on_cluster(tasks: list[Any], n_jobs: int | None) -> Iterator[Any]:
    """Results of delayed calls in order, from workers of Dask that may die.

    joblib lays large arrays on one worker. When that one dies they are lost and joblib gives up;
    what is missing is done again, with new copies of them.
    """
    from distributed import CancelledError

    done = losses = 0
    while True:
        try:
            for result in Parallel(n_jobs=n_jobs, return_as="generator")(tasks[done:]):
                done += 1
                yield result
            return
        except CancelledError:
            losses += 1
            if losses > MAX_LOST_WORKERS:
                raise RuntimeError(
                    f"workers of the Dask cluster died with the data {losses} times and nothing "
                    "was fitted; start workers with more memory and call fit again"
                ) from None


def error_over_splits(scores: Any, test_share: float) -> Any:
    """Standard error of the mean over splits of one data set, along the last axis.

    Training samples are shared between splits, so the variance over J splits is multiplied by
    1/J + test_share instead of 1/J (Nadeau and Bengio 2003).

    Parameters
    ----------
    scores : array of shape (..., n_splits)
        Scores, or differences of scores, on every split.
    test_share : float
        Samples to test on per sample to train on, 1/4 for five folds.

    Returns
    -------
    error : float or array
        0 for a single split.

    Examples
    --------
    >>> from sparsieve.scoring.folds import error_over_splits
    >>> round(float(error_over_splits([0.8, 0.9, 0.7, 0.8, 0.8], 0.25)), 4)
    0.0474
    """
    scores = np.asarray(scores, dtype=np.float64)
    n_splits = scores.shape[-1]
    if n_splits < 2:
        return np.zeros(scores.shape[:-1])
    return scores.std(axis=-1, ddof=1) * np.sqrt(1.0 / n_splits + test_share)


def seeing_score(y: Any, folds: Iterable[Fold] | None = None) -> str | None:
    """The score that sees rare classes, where nobody asked for one; None where accuracy does.

    It is the area under the ROC curve of two classes, and the balanced accuracy of more of them, or
    where the smaller one has too few samples for every fold to hold some.

    Parameters
    ----------
    y : array of shape (n_samples,)
        Class labels.
    folds : list of (train, test) or None
        Where none of them holds out samples of two classes (leave one out), no score sees more
        than accuracy.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.folds import seeing_score
    >>> y = np.arange(1000) < 40
    >>> seeing_score(y), seeing_score(np.arange(1000) < 400)
    ('roc_auc', None)
    """
    counts = np.unique(y, return_counts=True)[1]
    # From this share of the largest class on, the most likely class of nearly every sample is that
    # one whatever the features say, and accuracy is the same for all numbers of features.
    if len(counts) < 2 or counts.max() < 0.85 * counts.sum():
        return None
    y = np.asarray(y)
    if folds is not None and not any((y[test] != y[test][:1]).any() for _, test in folds):
        return None
    # Five samples of the smaller class: one for every one of five folds.
    return "roc_auc" if len(counts) == 2 and counts.min() >= 5 else "balanced_accuracy"


def why_seeing(y: Any, title: str) -> str:
    """Why a score of this title was taken in the place of accuracy."""
    counts = np.unique(y, return_counts=True)[1]
    return (
        f"{100 * counts.max() / counts.sum():.0f} % of the samples are in one class, so accuracy "
        f"hardly depends on the features, and {title} is measured instead"
    )
