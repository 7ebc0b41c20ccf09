"""``sparsieve.compare``: several methods on the same folds of one data set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..._checks import check_choice, warn_user
from ...meta.rules import RULES, CountCurve, in_force
from ...meta.trials import is_number_of_folds, most_to_try, numbers_to_try
from ...preprocessing.encoding import for_made_columns
from ...preprocessing.inputs import read_inputs
from ...preprocessing.table import number_columns
from ...scoring.engine import ALL_FEATURES
from ...scoring.folds import fold_repeats, seed_number
from ...scoring.outcomes import Progress
from ...scoring.scorers import warn_ignored_weights
from ...selectors.base import RandomState
from ...validation.columns import check_in_memory
from ...validation.written import MAX_CATEGORIES, MAX_MISSING
from .data import ComparisonData, contenders, keep_groups
from .fits import AUTO, NO_FEATURES, Fits, choose_judge, choose_scores, without_gaps
from .method_result import MethodResult, check_names
from .result import Comparison
from .verdict import CHOSEN


def compare(
    X: Any,
    y: Any = None,
    methods: Any = None,
    *,
    ks: Any = AUTO,
    rule: str = "fewest",
    model: str = AUTO,
    scoring: Any = None,
    estimator: Any = None,
    sample_weight: Any = None,
    cv: Any = 5,
    n_repeats: int = 2,
    groups: Any = None,
    feature_groups: Any = None,
    max_correlation: float | str | None = AUTO,
    entry: Any = None,
    strata: Any = None,
    task: str = AUTO,
    layer: str | None = None,
    feature_names: Any = None,
    prepare: Any = None,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float = MAX_MISSING,
    max_samples: int | None = 2000,
    n_jobs: int | None = None,
    random_state: RandomState = 0,
    on_progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Compare methods on one data set: how well their features predict, and which they are.

    Every method selects features on the training part of the same splits. A model is fitted to the
    k selected features, scaled by the training part, and scored on the held-out samples. Folds,
    model and score are those of :func:`~sparsieve.select`: with the same number of features, ``cv``
    and seed its ``check`` has the score that stands here.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or AnnData of shape (n_samples, n_features)
        The data. Text, dates, gaps and names of samples of a data frame are seen to as in
        :func:`~sparsieve.select`; ``notes`` says what was done.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or tuple of str
        Class labels or numbers to predict; or the name of a column of the data frame X, which is
        then not a feature, or of ``obs`` of an AnnData object. Survival times are given as in
        :func:`~sparsieve.select`, such as ``("months", "died")``.
    methods : list or None, default=None
        Names as ``sparsieve methods`` lists them; selectors and models of this or another package;
        functions ``(X, y) -> scores``; or (name, method) pairs. None compares six fast methods of
        different families.
    ks : "auto" or list of int, default="auto"
        Numbers of features to score; "auto" tries up to 20 between 1 and 100, as
        :class:`~sparsieve.SelectorCV` does, and leaves out that of all features. The methods are
        compared at one of them, which ``rule`` chooses from the mean of their curves.
    rule : {"fewest", "median", "one_se", "best", "elbow"}, default="fewest"
        How it chooses, as in :class:`~sparsieve.SelectorCV`: the fewest features that are as good
        as the best number, the median of the best numbers of the repeats, the fewest within one
        standard error of the highest mean, the highest mean, or the bend of the curve.
    model : str, default="auto"
        "softmax" (C=1), "ridge" (with a ridge of a tenth of the number of samples), "svm" (linear,
        C=1), "1nn" or "5nn" for classes; "ridge" (its strength is the number of columns), "5nn" or
        "svr" (linear, C=1, on the standardised target) for numbers; "poisson" for counts and "cox"
        for survival times, both with a ridge; "trees" (scikit-learn's histogram gradient boosting)
        for all but survival times. "auto" is the first. For accuracy a ridge model searches for the
        number, and the softmax regression is scored there.
    scoring : str, callable, list, dict or None, default=None
        One score or several: scikit-learn's names, such as "roc_auc", "f1_macro" or
        "neg_log_loss", callables ``scorer(estimator, X, y)`` where larger is better, or a dict of
        these by names of your own. The first decides how methods are compared, and the others are
        columns of ``table``, where errors such as "log_loss" are positive. None is accuracy and
        balanced accuracy for classes (before them the area under the ROC curve, or balanced
        accuracy, where 85 % of the samples or more are in one class), R squared for numbers, the
        deviance explained for counts, the concordance (Harrell's and Uno's) for survival times. A
        split on which a score is not defined is left out of its means, and ``notes`` says so.
    estimator : estimator or None, default=None
        A model of your own in the place of ``model``: any of scikit-learn's. As in
        :func:`~sparsieve.select` it gets the columns as they are, not scaled.
    sample_weight : array-like of shape (n_samples,), or str, default=None
        Weights of the samples in the methods and the model; a method that takes none is left out,
        and ``left_out`` says so. They weigh the scores too, but for the concordance of survival
        times. A name means a column, as for y.
    cv : int, splitter or iterable, default=5
        An integer is the number of folds, shuffled and, for classes, stratified. A splitter or an
        iterable of (train, test) is used as it is.
    n_repeats : int, default=2
        How often to repeat the cross-validation with new folds, if ``cv`` is an integer. The check
        of ``select(X, y, k=10)`` repeats it twice too, ``k="auto"`` up to four times.
    groups : array-like of shape (n_samples,), or str, default=None
        Samples of a group stay in one fold; a ``cv`` of your own that tears them apart is refused.
        A name means a column, as for y.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together, as in :func:`~sparsieve.select`. All numbers of
        features then count groups, and every method must be able to keep groups; None compares
        such methods.
    max_correlation : float, "auto" or None, default="auto"
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` of a selector names it as a substitute of the one that
        stays. None keeps near copies too. "auto" is 0.99 for methods given by name or class;
        a selector given as an object has its own setting, and tests of single features, such as
        FDRSelector, pass over nothing.
    entry, strata : array-like of shape (n_samples,), or str, default=None
        For survival times: when the observation of each sample began, and within which stratum
        samples are compared.
    task : {"auto", "classification", "regression", "counts", "survival"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities; more than five different whole numbers are
        quantities where their order shows in X, with a warning.
    layer : str or None, default=None
        Of an AnnData object: the layer to use; None is ``X``.
    feature_names : list of str, default=None
        For an X without names.
    prepare : str, transformer, list of these or None, default=None
        What to do to X first, as in :func:`~sparsieve.select` ("impute", "log", "log-cpm"); fitted
        on the training part of every split. It must keep the columns.
    max_categories : int, default=20
        Of a data frame: text with more different values than this is left out.
    max_missing : float, default=0.5
        Of a data frame: columns with a larger share of missing values than this are left out.
    max_samples : int or None, default=2000
        Compare on at most this many samples, drawn at random in proportion to the classes; None
        uses all.
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
        out, and ``left_out`` says why. Ctrl-C leaves out the methods that are not finished, which
        are fitted one after the other.

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
    seed, numbered = seed_number(random_state), is_number_of_folds(cv)
    inputs = read_inputs(
        X,
        y,
        task=task,
        groups=groups,
        entry=entry,
        strata=strata,
        feature_names=feature_names,
        layer=layer,
        prepare=prepare,
        feature_groups=feature_groups,
        sample_weight=sample_weight,
        max_categories=max_categories,
        max_missing=max_missing,
    )
    if not inputs.is_annotated:
        check_in_memory("compare", inputs.X)
    if inputs.covariates.names:
        raise ValueError(
            "a comparison has no covariates; leave them out where the table is read, or use select"
        )
    together = feature_groups is not None or keep_groups(methods)
    data = ComparisonData.from_input(
        inputs, max_samples=max_samples, seed=seed, takes_groups=together
    )
    chosen = contenders(methods, data.X, data.task, data.feature_groups, max_correlation)
    sizes = None if data.feature_groups is None else np.diff(data.feature_groups.starts)
    most = most_to_try(chosen.values(), data.target, sizes)
    numbers = _numbers(ks, len(data.unit_names), most)
    check_choice("rule", rule, RULES)
    splits = data.splits(cv, n_repeats, seed)
    scores, why_score = choose_scores(scoring, estimator, data, splits)
    check_names(scores)
    for score in scores.values():
        score.check_target(data.y, data.task)
    judge = choose_judge(model, estimator, scores, data)
    if data.sample_weight is not None:
        warn_ignored_weights(scores.values())
    for selector in chosen.values():
        number_columns(for_made_columns(selector, data.inputs), data.names)
    jobs = Fits(data, chosen, splits, numbers, judge, scores)
    fits = jobs.run(n_jobs, on_progress)
    if jobs.stopped:
        warn_user(jobs.stopped)
    elif not fits:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in jobs.failed.items())
        raise ValueError(f"every method failed: {reasons}")
    metric = next(iter(scores))
    results = {
        name: MethodResult.from_scores(
            name, chosen[name], fits[name], data, splits, numbers, scores[metric]
        )
        for name in chosen
        if name in fits
    }
    levels = jobs.levels()
    missing, kept = without_gaps(scores, results, levels, fits)
    reached = min(result.n_reached for result in results.values())
    common = numbers[:reached]
    test_share = float(np.mean([len(test) / len(train) for train, test in splits]))
    values = np.mean([r.scores[metric][:reached] for r in results.values()], axis=0)
    repeats = fold_repeats(splits, len(data.y))[kept]
    every = [jobs.losses(fits[name], common, kept, repeats) for name in results]
    losses = [one for one in every if one is not None]
    level = float(scores[metric].turned(np.mean(levels[NO_FEATURES][metric])))
    curve = CountCurve(
        np.array(common),
        scores[metric].turned(values),
        test_share,
        guess=level if np.isfinite(level) else None,
        p_value=min(result.guess_test.p_value for result in results.values())
        if np.isfinite(level)
        else None,
        score=scores[metric],
        repeats=repeats,
        losses=np.mean([one[0] for one in losses], axis=0) if len(losses) == len(every) else None,
        guess_loss=losses[0][1] if losses else 0.0,
    )
    k = common[RULES[rule](curve)]
    if "path" in jobs.path:
        for name, result in results.items():
            found = jobs.score_count(k, fits[name], n_jobs)
            results[name] = replace(result, at_k={s: row[..., kept] for s, row in found.items()})
    return Comparison(
        data=data,
        methods=results,
        left_out=jobs.failed,
        ks=numbers,
        k=k,
        rule=rule,
        how_chosen=CHOSEN[in_force(curve, rule)],
        model=judge.name,
        model_words=judge.words,
        scoring=scores,
        guess=levels[NO_FEATURES],
        all_features=levels.get(ALL_FEATURES),
        test_share=test_share,
        n_folds=len(splits) // n_repeats if numbered else len(splits),
        n_repeats=n_repeats if numbered else 1,
        random_state=seed if numbered else None,
        prepare=data.prepare,
        measured=[one for one in [jobs.stopped, why_score, *missing] if one],
        interrupted=bool(jobs.stopped),
        estimator=estimator,
        split_repeats=repeats,
    )


def _numbers(ks: Any, n_features: int, most: int) -> list[int]:
    numbers = [int(k) for k in numbers_to_try(ks, n_features, most=most)]
    if isinstance(ks, str):  # with all features every selection is the same
        return [k for k in numbers if k < n_features] or [1]
    return numbers
