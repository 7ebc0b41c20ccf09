"""Choose a selector's parameters by cross-validation inside the training part."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import ParameterGrid

from ..selectors.base import BaseSelector, RandomState
from ..selectors.methods import as_selector
from .curves import OWN, accuracy_curve
from .folds import each_fold, seed_number
from .models import DEFAULT_METRICS, MODELS
from .protocol import Folds, TimeOrdered
from .scorers import able_models, resolve_scores


@dataclass(frozen=True)
class Tuned:
    """What :func:`tune` found: the best parameters and the mean inner score of each candidate.

    Larger is better; errors are negative.

    Attributes
    ----------
    parameters : dict
        The best of the candidates.
    candidates : list of dict
        All of them.
    scores : list of float
        Mean inner scores of the candidates.

    See Also
    --------
    sparsieve.scoring.tune : Finds parameters by inner cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.scoring import tune
    >>> X, y = load_wine(return_X_y=True)
    >>> tuned = tune(RidgeForwardSelector(), {"ridge": [0.1, 10.0]}, X, y, ks=[3])
    >>> tuned.parameters == tuned.candidates[tuned.scores.index(max(tuned.scores))]
    True
    """

    parameters: dict[str, Any]
    candidates: list[dict[str, Any]]
    scores: list[float]


def tune(
    selector: BaseSelector,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    y: Any,
    *,
    groups: Any = None,
    cv: int = 3,
    random_state: RandomState = 0,
    ks: Sequence[int] | str = OWN,
    task: str = "classification",
    classifiers: Sequence[str] | None = None,
    scoring: Any = None,
    zscore: bool = True,
    preprocessor: Any = None,
    ordered: bool = False,
) -> Tuned:
    """Find the best parameters by inner cross-validation.

    One choice for all numbers of features: the candidate with the best metric on average over
    the inner folds, the numbers of features and the models; the earlier one of equals.

    Parameters
    ----------
    selector : BaseSelector
        It is copied, not changed.
    grid : dict of str to list
        Candidate values by parameter.
    X, y : arrays
        The training part only.
    groups : array, default=None
        Keeps groups in one inner fold.
    cv : int, default=3
        Inner folds.
    random_state : int, RandomState instance or None, default=0
        Seed of the inner folds.
    ks : sequence of int or "own", default="own"
        See :func:`accuracy_curve`, also for the next three.
    task : {"classification", "regression"}, default="classification"
        How y is read.
    classifiers : sequence of str, default=None
        If not given, "1nn" and "svm" for classes ("softmax" instead of "svm" where the score needs
        probabilities), all regressors for numbers.
    scoring : str or callable, default=None
        The score; "accuracy" for classes and "r2" for numbers if not given.
    zscore : bool, default=True
        Whether columns are centred and scaled.
    preprocessor : transformer, default=None
        What comes before.
    ordered : bool, default=False
        The samples are in order of time: every inner fold learns from those before it.

    Returns
    -------
    tuned : Tuned
        A candidate that fails on some fold scores minus infinity; when all fail, the error of
        the first is raised.

    See Also
    --------
    sparsieve.scoring.tuning.Tuned : What is returned.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.scoring import tune
    >>> X, y = load_wine(return_X_y=True)
    >>> tuned = tune(RidgeForwardSelector(), {"ridge": [0.1, 10.0]}, X, y, ks=[3])
    >>> sorted(tuned.parameters)
    ['ridge']
    """
    candidates = list(ParameterGrid(dict(grid)))
    is_classes = task == "classification"
    scoring = DEFAULT_METRICS[task][0] if scoring is None else scoring
    (score,) = resolve_scores(scoring, task, short_names=True).values()
    able = able_models({score.name: score}, task)
    usual = ["1nn", "svm"] if is_classes else list(MODELS[task])
    models = classifiers or [name if name in able else "softmax" for name in usual]
    inner = TimeOrdered(cv) if ordered else Folds(cv, grouped=groups is not None)
    splits = inner.splits(y, groups, seed=seed_number(random_state), stratified=is_classes)
    folds = [(split.train, split.test) for split in splits]

    def gain(trial: BaseSelector, train: np.ndarray, test: np.ndarray) -> float:
        curve = accuracy_curve(
            trial,
            X[train],
            y[train],
            X[test],
            y[test],
            ks=ks,
            task=task,
            classifiers=models,
            scoring=score,
            zscore=zscore,
            preprocessor=preprocessor,
            groups=None if groups is None else groups[train],
        )
        return score.turned(curve.mean(score.name))

    scores: list[float] = []
    first_error: Exception | None = None
    for candidate in candidates:
        trial = as_selector(selector, candidate)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the outer fit repeats what matters
                scores.append(float(np.mean(each_fold(partial(gain, trial), folds))))
        except Exception as error:
            first_error = first_error or error
            scores.append(-np.inf)
    if first_error is not None and not np.isfinite(scores).any():
        raise first_error
    return Tuned(dict(candidates[int(np.argmax(scores))]), candidates, scores)
