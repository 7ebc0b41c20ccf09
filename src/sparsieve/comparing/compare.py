"""``sparsieve.compare``: several methods on the same folds of one data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import delayed

from .._checks import check_choice
from .._cross_validation import Fold, one_by_one, seed_of
from ..choose.rules import CountCurve, best
from ..choose.trials import is_number_of_folds, numbers_to_try
from ..frames.prepare import fitted_on, preparation
from ..selectors.base import BaseSelector, RandomState
from .contenders import contenders
from .data import ComparisonData
from .fits import DEFAULT_MODEL, METRICS, MODELS, guess_scores, model_scores, selection_fit
from .result import Comparison, MethodResult

if TYPE_CHECKING:  # studies look through all that is public, this included, when they are loaded
    from ..studies import Progress
    from ..studies.compute import Outcome

AUTO = "auto"
AUTO_KS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
ALL_SAMPLES = -1  # instead of the number of a split
# Squared training samples times features up to which a model with all features takes seconds.
_CHEAP = 4e9


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

    Every method selects on the training part of the same splits, a model is fitted to the first k
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
        "svm" (linear, C=1), "softmax", "1nn" or "5nn" for classes; "ridge" or "5nn" for numbers.
        "auto" is the first.
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
        Called with a :class:`~sparsieve.studies.Progress` after every fit.

    Returns
    -------
    comparison : Comparison
        ``table``, ``consensus``, ``recommendation``, ``report(path)`` and ``plot()``; a notebook
        shows it. A method that fails on some split is left out, and ``left_out`` says why.

    See Also
    --------
    sparsieve.Comparison : What is returned.
    sparsieve.select : Selection in one line, the number of features found.
    sparsieve.studies.run_study : Computes a study.

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
    model = DEFAULT_MODEL[data.task] if model == AUTO else model
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
    guesses = [guess_scores(data.y, *split, data.task) for split in splits]
    return Comparison(
        data=data,
        methods=results,
        left_out=jobs.failed,
        ks=numbers,
        k=k,
        model=model,
        metric=metric,
        guess={name: np.array([g[name] for g in guesses]) for name in METRICS[data.task]},
        all_features=_with_all_features(data, splits, model, prepare),
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
        self.ks, self.model, self.prepare = ks, model, prepare
        self.failed: dict[str, str] = {}

    def run(
        self, n_jobs: int | None, on_progress: Callable[[Progress], None] | None
    ) -> dict[str, list]:
        """The fits by method: on every split in order, then on all samples."""
        from ..studies import Progress

        total = len(self.methods) * (len(self.splits) + 1)
        done: dict[str, dict[int, Any]] = {name: {} for name in self.methods}
        n_done = n_failed = 0
        for outcome in self._outcomes(n_jobs):
            number, _, name = outcome.key.partition(" ")
            split = int(number)
            fit: Any = outcome.result
            if fit is None:
                n_failed += 1
                self.failed.setdefault(name, outcome.error)
            else:
                n_done += 1
                done[name][split] = fit
                if not len(fit.order[self.ks[0] - 1 :]):
                    self.failed.setdefault(
                        name,
                        f"ranks {len(fit.order)} features with its parameters, fewer "
                        f"than {self.ks[0]}",
                    )
            if on_progress is not None:
                finished = n_done + n_failed
                on_progress(Progress(total, n_done, n_failed, finished, name))
        return {
            name: [fits[split] for split in [*range(len(self.splits)), ALL_SAMPLES]]
            for name, fits in done.items()
            if name not in self.failed
        }

    def _outcomes(self, n_jobs: int | None) -> Iterable[Outcome]:
        from ..studies.compute import guarded

        data, every = self.data, np.arange(len(self.data.y))
        parts = [*enumerate(self.splits), (ALL_SAMPLES, (every, None))]

        def tasks() -> Iterator[Any]:
            for number, (train, test) in parts:
                for name, selector in self.methods.items():
                    if name in self.failed:  # by now, where jobs are made as they are needed
                        continue
                    yield delayed(guarded)(
                        f"{number} {name}",
                        selection_fit,
                        *(selector, data.X, data.y, train, test, self.ks, data.task, self.model),
                        self.prepare,
                    )

        return one_by_one(tasks(), n_jobs, ordered=False)


def _with_all_features(
    data: ComparisonData, splits: list[Fold], model: str, prepare: Any
) -> dict[str, np.ndarray] | None:
    """The same model without any selection, where that takes no more than seconds."""
    n_train = len(splits[0][0])
    if float(n_train) ** 2 * data.X.shape[1] * len(splits) > 10 * _CHEAP:
        return None
    from ..studies.compute import guarded

    def scored() -> dict[str, np.ndarray]:
        found = [
            model_scores(fitted_on(prepare, data.X, split[0])[1], data.y, *split, data.task, model)
            for split in splits
        ]
        return {name: np.array([scores[name] for scores in found]) for name in found[0]}

    return guarded("all features", scored).result


def _numbers(ks: Any, n_features: int) -> list[int]:
    if isinstance(ks, str):
        check_choice("ks", ks, (AUTO,))
        # With all features every selection is the same.
        return [k for k in AUTO_KS if k < n_features] or [1]
    return [int(k) for k in numbers_to_try(ks, n_features)]
