"""What a search for the number of features tries: which numbers, on which folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv
from sklearn.utils import check_random_state

from .._checks import check_choice, check_integer, warn_user
from ..scoring.folds import Fold, make_folds, overlap, torn_groups
from ..selectors.around import last_step
from ..selectors.likelihood.base import LikelihoodSelector
from ..validation.columns import is_on_device
from ..validation.containers import plain_vector
from ..validation.survival import is_survival
from ..validation.target import Target
from ..validation.training_data import group_codes

# Numbers of features that are tried at most: selections people look at are rarely longer.
MOST = 100
# Numbers that are tried one by one, and in growing steps; each costs new trees where these predict.
LINEAR_STEPS, TREE_STEPS = (10, 13), (6, 7)
# Events, or samples outside the largest class, for every feature of a likelihood.
PER_FEATURE = 5
# Samples for every column of a group.
PER_COLUMN = 2
LEAST = 10


def most_to_try(
    selectors: Iterable[Any], target: Target, group_sizes: np.ndarray | None = None
) -> int:
    """Up to how many features, or groups of them, the samples can tell anything.

    A fifth of the events of survival times; for selectors with a likelihood a fifth of the samples
    outside the largest class; of groups as many as have half as many columns as there are samples;
    10 at least and 100 at most.

    Parameters
    ----------
    selectors : iterable of selectors
        The one that can go furthest counts.
    target : Target
    group_sizes : ndarray or None
        Numbers of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import LikelihoodForwardSelector, RidgeForwardSelector
    >>> from sparsieve.meta.trials import most_to_try
    >>> from sparsieve.validation.target import encode_target
    >>> target = encode_target(np.arange(150) % 2, task="classification", dtype=float, owner="")
    >>> most_to_try([RidgeForwardSelector()], target)
    100
    >>> most_to_try([LikelihoodForwardSelector()], target)
    15
    """
    n, most = len(target.Y), MOST
    if target.events is not None:
        most = int(target.events["event"].sum()) // PER_FEATURE
    elif all(isinstance(one, LikelihoodSelector) for one in map(last_step, selectors)):
        largest = 0 if target.codes is None else np.bincount(target.codes).max()
        most = int(n - largest) // PER_FEATURE
    if group_sizes is not None:
        most = min(most, int(n / (PER_COLUMN * max(float(np.median(group_sizes)), 1.0))))
    return int(np.clip(most, LEAST, MOST))


# Folds are drawn so often, up to so many samples.
MOST_REPEATS = 4
REPEATS = ((5_000, MOST_REPEATS), (20_000, 2))


def count_repeats(target: Target, groups: Any = None) -> int:
    """How often folds are drawn: four times, and less often where test parts are large anyway.

    Of unequal classes twice the samples outside the largest count, of survival times the events,
    and of samples in groups the groups.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.trials import count_repeats
    >>> from sparsieve.validation.target import Target
    >>> [count_repeats(Target("regression", np.zeros((n, 1)))) for n in (100, 10_000, 50_000)]
    [4, 2, 1]
    """
    n = len(target.Y)
    if target.events is not None:
        n = int(target.events["event"].sum())
    elif target.codes is not None:
        n = min(n, 2 * (n - int(np.bincount(target.codes).max())))
    if groups is not None:
        n = min(n, int(group_codes(groups, len(target.Y)).max(initial=-1)) + 1)
    return next((repeats for limit, repeats in REPEATS if n < limit), 1)


def numbers_to_try(
    ks: str | int | Iterable[int],
    n_features: int,
    n_always: int = 0,
    *,
    most: int = MOST,
    steps: tuple[int, int] = LINEAR_STEPS,
    strict: bool = True,
) -> np.ndarray:
    """The numbers of features that ``ks`` stands for, in rising order.

    "auto" begins with those that the selector always keeps, goes on one by one and then in growing
    steps, as many of both as ``steps`` says, and ends ``most`` beyond the first, or at 100. More
    than there are stand for all of them, with a warning, unless ``strict``.
    """
    if isinstance(ks, str):
        check_choice("ks", ks, ("auto",))
        first, last = max(n_always, 1), min(n_features, max(min(MOST, n_always + most), n_always))
        few = np.arange(first, min(last, first + steps[0] - 1) + 1)
        far = np.geomspace(few[-1], last, steps[1] + 1).round()
        return np.union1d(few, far.astype(np.int64))
    numbers = list(np.atleast_1d(np.asarray(ks, dtype=object)))
    if not numbers:
        raise ValueError('ks is empty; give numbers of features to try, or "auto"')
    for k in numbers:
        check_integer("every number in ks", k)
    if max(numbers) > n_features:
        said = (
            f"ks asks for {max(numbers)} features, larger than the {n_features} "
            f"feature{'' if n_features == 1 else 's'} of X"
        )
        if strict:
            raise ValueError(f"{said}; try at most {n_features}")
        warn_user(f"{said}; all of them are tried instead")
    return np.unique(np.array([min(k, n_features) for k in numbers], dtype=np.int64))


def is_number_of_folds(cv: Any) -> bool:
    """Whether folds are ours to make, and to repeat."""
    return isinstance(cv, Integral) and not isinstance(cv, bool)


def splitter(cv: Any, n_repeats: int, random_state: Any, target: Target | None = None) -> Any:
    """The scikit-learn splitter that ``cv`` stands for."""
    if not is_number_of_folds(cv):
        if isinstance(cv, Iterable) and not hasattr(cv, "split"):
            cv = list(cv)
            if not all(
                isinstance(fold, tuple | list | np.ndarray) and len(fold) == 2 for fold in cv
            ):
                raise ValueError(
                    "cv must be a number of folds, a scikit-learn splitter or a list of (train, "
                    "test) pairs of sample indices"
                )
        return check_cv(cv, None if target is None else target.codes)
    is_classes = target is not None and target.task in ("classification", "survival")
    kind, n_splits = RepeatedStratifiedKFold if is_classes else RepeatedKFold, int(cv)
    if target is not None and target.codes is not None:
        largest = int(np.bincount(target.codes).max())
        if largest < 3 and len(target.codes) > 2:
            # A class in equal shares would leave no two samples of any class to learn from.
            warn_user(
                "no class of y has more than two samples, so folds are not stratified, and a "
                "class that is held out completely cannot be predicted"
            )
            kind, n_splits = RepeatedKFold, min(n_splits, len(target.codes))
        elif largest < n_splits:
            warn_user(
                f"cv={n_splits} exceeds the number of samples in the largest class, so {largest} "
                "folds are used"
            )
            n_splits = largest
    elif target is not None and n_splits > (most := _most_folds(target)):
        warn_user(
            f"cv={n_splits} would leave fewer than two samples to test on in a fold, so {most} "
            "folds are used"
        )
        n_splits = most
    return kind(n_splits=n_splits, n_repeats=n_repeats, random_state=random_state)


def _most_folds(target: Target) -> int:
    """How many folds leave two samples of numbers or survival times to test on; two at least."""
    n_samples = len(target.Y)
    if n_samples < 4:
        raise ValueError(
            f"the {n_samples} samples of X are too few for cross-validation, which needs two "
            "samples to test on in each of two folds; give at least 4 samples, or choose the "
            "number of features yourself"
        )
    most = n_samples // 2
    if target.events is not None:  # which every fold gets its share of, or of the others
        n_events = int(target.events["event"].sum())
        most = min(most, max(n_events, n_samples - n_events))
    return most


def learnable(folds: list[Any], target: Target) -> list[Fold]:
    """Our own folds such that every training part has two classes, and two samples of one.

    Samples that are missing there are not held out; a fold that holds out nothing is none. Of
    survival times every training part needs an event.
    """
    codes = target.codes
    if target.events is not None:
        event = target.events["event"]
        if event.sum() < 2:
            raise ValueError(
                "only one event happened, too few for cross-validation, which needs events to "
                "learn from and others to test on; collect more events, or fit without it"
            )
        folds = [
            (train, test)
            if event[train].any()
            else _move_sample(train, test, int(event[test].argmax()))
            for train, test in folds
        ]
        return [fold for fold in folds if len(fold[1])]
    if codes is None:
        return folds
    sound = []
    for train, test in folds:
        counts = np.bincount(codes[train], minlength=int(codes.max()) + 1)
        while not is_learnable(counts) and len(test):
            few = (counts > 0).sum() < 2
            wanted = np.flatnonzero(counts[codes[test]] == (0 if few else 1))
            moved = int(wanted[0]) if len(wanted) else 0
            counts[codes[test[moved]]] += 1
            train, test = _move_sample(train, test, moved)
        if len(test):
            sound.append((train, test))
    if not sound:
        raise ValueError(
            f"the {len(codes)} samples of X are too few for cross-validation: every training part "
            "would have fewer than two classes of y, or no class with two samples; give more "
            "samples"
        )
    return sound


def _move_sample(train: np.ndarray, test: np.ndarray, place: int) -> Fold:
    """The fold with one of its test samples in the training part."""
    return np.sort(np.append(train, test[place])), np.delete(test, place)


def is_learnable(counts: np.ndarray) -> bool:
    """Whether classes of these sizes are two at least, and one of them has two samples."""
    return bool((counts > 0).sum() > 1 and counts.max() > 1)


def check_folds(folds: list[Any], n_samples: int, groups: Any = None) -> list[Fold]:
    """Folds of a user's own: pairs of samples to train and to test on, by place or by mask.

    Refuses those that have samples of one of the ``groups`` on both sides.
    """
    if not folds:
        raise ValueError(
            "cv yields no folds; give at least one (train, test) pair of sample indices"
        )
    places = []
    for number, fold in enumerate(folds):
        try:
            train, test = (np.arange(n_samples)[np.asarray(part)] for part in fold)
            sound = train.ndim == test.ndim == 1 and len(train) > 0 and len(test) > 0
        except (IndexError, TypeError, ValueError):
            sound = False
        if not sound:
            raise ValueError(
                f"fold {number} of cv is not a (train, test) pair of sample indices between 0 and "
                f"{n_samples - 1}; pass a number of folds, a scikit-learn splitter or such pairs"
            )
        places.append((train, test))
    if groups is not None and (sentence := torn_groups(places, group_codes(groups, n_samples))):
        raise ValueError(sentence)
    if sentence := overlap(places, n_samples):
        warn_user(sentence)
    return places


def grouped_folds(
    cv: int, n_repeats: int, random_state: Any, target: Target, groups: Any
) -> list[Fold]:
    """Repeated folds that keep groups together; fewer where there are fewer groups."""
    random, n_folds = check_random_state(random_state), int(cv)
    limits = {"groups": int(group_codes(groups, len(target.Y)).max(initial=0)) + 1}
    if target.codes is not None:
        limits["samples in the largest class"] = int(np.bincount(target.codes).max())
    for what, most in limits.items():
        if 2 <= most < n_folds:
            warn_user(f"cv={cv} exceeds the number of {what}, so {most} folds are used")
            n_folds = most
    return [
        fold
        for _ in range(n_repeats)
        for fold in make_folds(
            _labels(target),
            n_folds,
            seed=int(random.randint(2**31 - 1)),
            stratified=target.codes is not None,
            groups=groups,
        )
    ]


def check_groups(cv: Any, groups: Any) -> None:
    """Refuse a splitter that goes by groups of samples where none were given."""
    asked = getattr(cv, "get_metadata_routing", None)
    if groups is not None or asked is None:
        return
    if getattr(asked(), "split", None) is not None and asked().split.requests.get("groups") is True:
        raise ValueError(
            f"cv={type(cv).__name__} keeps groups of samples together, but none were given; pass "
            "groups, or use another splitter"
        )


def search_folds(
    cv: Any,
    n_repeats: int,
    random_state: Any,
    X: Any,
    y: Any,
    target: Target,
    given: dict[str, Any],
    groups: Any = None,
) -> list[Fold]:
    """The folds of a search; ``given`` is what the splitter is to know, such as groups.

    No fold of a user's own may have samples of one of the ``groups`` on both sides, whether its
    splitter knows of them or not.
    """
    repeated = cv, n_repeats, random_state
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class")
        warnings.filterwarnings("ignore", message="The groups parameter is ignored by")
        if is_number_of_folds(cv) and given.get("groups") is not None:
            return grouped_folds(*repeated, target, given["groups"])
        check_groups(cv, given.get("groups"))
        by = y if target.events is None else target.events["event"].astype(int)
        # Splitters count samples; those on a device are known by their places.
        samples = np.arange(X.shape[0])[:, None] if is_on_device(X) else X
        folds = list(splitter(*repeated, target).split(samples, by, **given))
        folds = check_folds(folds, X.shape[0], groups)
        return learnable(folds, target) if is_number_of_folds(cv) else folds


def check_own_folds(cv: Any, X: Any, y: Any, groups: Any) -> None:
    """Refuse folds of a user's own before anything is selected that they are to check."""
    if is_number_of_folds(cv):
        return
    values = np.empty((len(y), 0))
    if is_survival(y):
        target = Target("survival", values, events=y)
    else:
        y, target = plain_vector("y", y), Target("regression", values)
    given = {} if groups is None else {"groups": groups}
    search_folds(cv, 1, None, X, y, target, given, groups)


def _labels(target: Target) -> np.ndarray:
    """What grouped folds are stratified by, or anything of that length."""
    if target.events is not None:
        return target.events
    return target.Y[:, 0] if target.codes is None else target.codes
