"""``sparsieve.compare``: several methods on the same folds of one data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import delayed

from .._checks import check_choice
from ..meta.rules import CountCurve, best
from ..meta.trials import is_number_of_folds, numbers_to_try
from ..preprocessing.prepare import preparation
from ..scoring.engine import ALL_FEATURES, fitted_on, score_columns, score_fold
from ..scoring.folds import Fold, one_by_one, seed_of
from ..scoring.models import MODELS, main_model
from ..scoring.outcomes import Outcome, Progress, guarded
from ..scoring.selections import fit_selection
from ..selectors.base import BaseSelector, RandomState
from ..validation.target import with_task
from .contenders import contenders
from .data import ComparisonData
from .result import METRICS, Comparison, MethodResult

AUTO = "auto"
AUTO_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
ALL_SAMPLES = -1  # instead of the number of a split
NO_FEATURES = 0  # features that a guess is made from
# Squared training samples times features times splits up to which a model with all features takes
# seconds.
_MAX_WORK = 4e10


def compare(
    X: Any,
    y: Any,
    methods: Any = None,
    *,
    ks: Any = AUTO,
    model: str = AUTO,
    metric: str = AUTO,
    cv: Any = 5,
    n_repeats: int = 2,
    groups: Any = None,
    task: str = AUTO,
    feature_names: Any = None,
    prepare: Any = None,
    max_samples: int | None = 2000,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare methods on one data set: how well their features predict, and which they are.

    Every method selects on the training part of the same splits, a model is fitted to the k
    features of each selection, scaled by the training part, and scored on the samples held out.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Class labels or real targets.
    methods : list or None, default=None
        Names as ``sparsieve methods`` lists them, selectors, or (name, selector) pairs. None takes
        six fast ones of different families.
    ks : "auto" or list of int, default="auto"
        Numbers of features to score; "auto" takes up to 12 between 1 and 100. One of them, the
        same for all methods, is chosen on the mean of their curves as
        :class:`~sparsieve.SelectorCV` does by its rule "best"; the features, the stability and the
        recommendation are those at this number.
    model : str, default="auto"
        "svm" (linear, C=1), "softmax", "1nn" or "5nn" for classes; "ridge", "5nn" or "svr"
        (linear, C=1, on the standardised target) for numbers. "auto" is the first.
    metric : str, default="auto"
        "accuracy" or "balanced_accuracy" for classes, "r2" for numbers; "auto" is the first.
    cv : int, splitter or iterable, default=5
        An integer is the number of folds, shuffled and, for classes, stratified; no more than the
        smallest class has samples. A splitter or an iterable of (train, test) is used as it is.
    n_repeats : int, default=2
        How often an integer ``cv`` is repeated with other folds.
    groups : array-like of shape (n_samples,), default=None
        Samples of a group stay in one fold.
    task : {"auto", "classification", "regression"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities; whole numbers that could be either are read as
        quantities, which is said.
    feature_names : list of str, default=None
        For an X without names.
    prepare : "log-cpm", transformer or None, default=None
        What is done to X first, fitted on the training part of every split: "log-cpm" is
        :class:`~sparsieve.LogCPM`, for raw counts. It must keep the columns.
    max_samples : int or None, default=2000
        Where there are more samples, so many are drawn, classes in proportion; None takes all.
    n_jobs : int or None, default=None
        Number of parallel jobs; None is 1 and -1 is all cores.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    on_progress : callable, default=None
        Called with a :class:`~sparsieve.scoring.outcomes.Progress` after every fit.

    Returns
    -------
    comparison : Comparison
        ``table``, ``consensus``, ``recommendation``, ``report(path)``, ``plot()`` and
        ``save_figures(folder)``; a notebook shows it. A method that fails on some split is left
        out, and ``left_out`` says why.

    See Also
    --------
    sparsieve.Comparison : What is returned.
    sparsieve.select : Selection in one line, the number of features found.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["ridge-forward", "fisher", "mrmr"], ks=[1, 5])
    >>> found.k
    5
    >>> found.consensus["feature"][0], int(found.consensus["methods"][0])
    ('flavanoids', 3)
    """
    seed, numbered = seed_of(random_state), is_number_of_folds(cv)
    data = ComparisonData.of(
        X,
        y,
        task=task,
        groups=groups,
        feature_names=feature_names,
        max_samples=max_samples,
        seed=seed,
    )
    chosen = contenders(methods, data.X, data.task)
    numbers = _numbers(ks, data.X.shape[1])
    model = main_model(list(MODELS[data.task])) if model == AUTO else model
    check_choice("model", model, MODELS[data.task])
    metric = METRICS[data.task][0] if metric == AUTO else metric
    check_choice("metric", metric, METRICS[data.task])
    splits = data.splits(cv, n_repeats, seed)
    prepare = preparation(prepare)
    jobs = _Jobs(data, chosen, splits, numbers, model, prepare)
    fits = jobs.run(n_jobs, on_progress)
    if not fits:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in jobs.failed.items())
        raise ValueError(f"every method failed: {reasons}")
    results = {
        name: MethodResult.of(name, chosen[name], fits[name], data, splits, numbers)
        for name in chosen
        if name in fits
    }
    reached = min(result.n_reached for result in results.values())
    common = numbers[:reached]
    test_share = float(np.mean([len(test) / len(train) for train, test in splits]))
    mean_curve = np.mean([r.scores[metric][:reached] for r in results.values()], axis=0)
    k = common[best(CountCurve(np.array(common), mean_curve, test_share))]
    levels = jobs.levels()
    return Comparison(
        data=data,
        methods=results,
        left_out=jobs.failed,
        ks=numbers,
        k=k,
        model=model,
        metric=metric,
        guess=levels[NO_FEATURES],
        all_features=levels.get(ALL_FEATURES),
        test_share=test_share,
        n_folds=len(splits) // n_repeats if numbered else len(splits),
        n_repeats=n_repeats if numbered else 1,
        random_state=seed if numbered else None,
        prepare=prepare,
    )


class _Jobs:
    """The fits of all methods on all splits and on all samples."""

    def __init__(
        self,
        data: ComparisonData,
        methods: dict[str, BaseSelector],
        splits: list[Fold],
        ks: list[int],
        model: str,
        prepare: Any = None,
    ) -> None:
        self.data, self.methods, self.splits = data, methods, splits
        self.ks, self.prepare = ks, prepare
        self.how: dict[str, Any] = {
            "task": data.task,
            "models": [model],
            "metrics": METRICS[data.task],
            "standardize": True,
        }
        self.failed: dict[str, str] = {}

    def run(
        self, n_jobs: int | None, on_progress: Callable[[Progress], None] | None
    ) -> dict[str, list]:
        """The fits by method: on every split in order, then on all samples."""
        total = len(self.methods) * (len(self.splits) + 1)
        done: dict[str, dict[int, Any]] = {name: {} for name in self.methods}
        n_failed = 0
        for finished, outcome in enumerate(self._outcomes(n_jobs), 1):
            number, _, name = outcome.key.partition(" ")
            if outcome.result is None:
                n_failed += 1
                self.failed.setdefault(name, outcome.error)
            else:
                done[name][int(number)] = outcome.result
            if on_progress is not None:
                on_progress(Progress(total, finished - n_failed, n_failed, finished, name))
        return {
            name: [fits[split] for split in [*range(len(self.splits)), ALL_SAMPLES]]
            for name, fits in done.items()
            if name not in self.failed
        }

    def _outcomes(self, n_jobs: int | None) -> Iterable[Outcome]:
        parts = [*enumerate(self.splits), (ALL_SAMPLES, None)]

        def tasks() -> Iterator[Any]:
            for number, split in parts:
                for name, selector in self.methods.items():
                    if name in self.failed:  # by now, where jobs are made as they are needed
                        continue
                    work = self._on_all_samples if split is None else self._on_split
                    yield delayed(guarded)(f"{number} {name}", work, selector, split)

        return one_by_one(tasks(), n_jobs, ordered=False)

    def _on_split(self, selector: BaseSelector, split: Fold) -> Any:
        return score_fold(
            self._for_task(selector),
            self.data.X,
            self.data.y,
            *split,
            ks=self.ks,
            prepare=self.prepare,
            record_warnings=True,
            **self.how,
        )

    def _on_all_samples(self, selector: BaseSelector, _: None) -> Any:
        """(the selection, the ranking), without the fitted selector, which may be large."""
        X = fitted_on(self.prepare, self.data.X, slice(None))[1]
        selector = self._for_task(selector)
        found = fit_selection(selector, X, self.data.y, self.ks, record_warnings=True)
        return replace(found, fitted=None), found.fitted.ranking_

    def _for_task(self, selector: BaseSelector) -> BaseSelector:
        return with_task(selector, self.data.task if self.data.y.ndim == 1 else "auto")

    def levels(self) -> dict[Any, dict[str, np.ndarray]]:
        """Scores on every split without any feature and, if that takes seconds only, with all."""
        n_features = self.data.X.shape[1]
        columns: dict[Any, np.ndarray] = {NO_FEATURES: np.arange(0)}
        if float(len(self.splits[0][0])) ** 2 * n_features * len(self.splits) <= _MAX_WORK:
            columns[ALL_FEATURES] = np.arange(n_features)
        found = {key: guarded(str(key), self._level, some).result for key, some in columns.items()}
        return {key: level for key, level in found.items() if level is not None}

    def _level(self, columns: np.ndarray) -> dict[str, np.ndarray]:
        scores: list[dict[str, float]] = []
        for train, test in self.splits:
            X = fitted_on(self.prepare if len(columns) else None, self.data.X, train)[1]
            y = self.data.y
            parts = X[train], y[train], X[test], y[test]
            scores += score_columns(*parts, {None: columns}, **self.how).scores.values()
        return {name: np.array([one[name] for one in scores]) for name in scores[0]}


def _numbers(ks: Any, n_features: int) -> list[int]:
    if isinstance(ks, str):
        check_choice("ks", ks, (AUTO,))
        # With all features every selection is the same.
        return [k for k in AUTO_KS if k < n_features] or [1]
    return [int(k) for k in numbers_to_try(ks, n_features)]
