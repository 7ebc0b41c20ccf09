"""``sparsieve.select``: the features worth keeping, in one line."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from .. import _clock
from .._checks import check_integer, warn_user
from ..diagnosis import permutation_null
from ..diagnosis.null import looks_at_target
from ..meta import SelectorCV
from ..meta.final_model import check_model
from ..meta.trials import check_own_folds
from ..preprocessing.covariates import check_preparable
from ..preprocessing.encoding import encode_columns, for_made_columns
from ..preprocessing.inputs import Inputs, read_inputs
from ..preprocessing.kept_columns import as_matrix
from ..preprocessing.table import is_anndata, number_columns
from ..registry import selector_name
from ..scoring.relation import RelationFound, count_folds
from ..scoring.scorers import one_score
from ..selectors.around import check_predicts, group_arguments, take_gaps, without_routing
from ..selectors.base import RandomState
from ..selectors.groups import check_keeps_signs, prescribes_signs, takes_groups
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.likelihood.forward import LikelihoodForwardSelector
from ..selectors.origins import call_with_views, check_in_place
from ..validation.columns import check_in_memory
from ..validation.containers import plain_vector
from ..validation.dataframes import frame_library
from ..validation.reading import is_categorical
from ..validation.target import check_varies, training_task
from ..validation.written import MAX_CATEGORIES, MAX_MISSING
from .choice import Choice, by_criterion, choose_task, fit_weights, fix_task, path_to_fit
from .covariates import (
    AUTO,
    check_k,
    discount_covariates,
    own_units,
    warn_of_groups,
    with_covariates,
)
from .relation import TREES, compare_paths
from .result import SelectedFeatures
from .shown import write_back


def select(
    X: Any,
    y: Any = None,
    k: int | float | str | None = AUTO,
    method: Any = AUTO,
    *,
    task: str = AUTO,
    rule: str | None = None,
    scoring: Any = None,
    layer: str | None = None,
    feature_names: Any = None,
    prepare: Any = None,
    max_categories: int = MAX_CATEGORIES,
    max_missing: float = MAX_MISSING,
    groups: Any = None,
    feature_groups: Any = None,
    covariates: Any = None,
    max_correlation: float | str | None = AUTO,
    entry: Any = None,
    strata: Any = None,
    event_value: Any = None,
    cv: Any = None,
    estimator: Any = None,
    sample_weight: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    check: bool | str = AUTO,
    permutations: int = 0,
    certify: bool = False,
    verbose: int = 0,
    linear_only: bool = False,
    **params: Any,
) -> SelectedFeatures:
    """Select the features of X that best predict y.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, AnnData or Table of shape (n_samples, n_features)
        The data; a Table is what :func:`~sparsieve.app.io.read_table` reads from a file, y and
        groups of samples included. Text, dates and gaps of a data frame are seen to: text of a few
        values becomes columns of zeros and ones that are kept or left out together, text that is
        numbers or ISO dates is read as such, dates become days, gaps are filled with the median of
        the training samples unless the method takes them, and names of samples are left out;
        ``selected.notes`` says what was done. The result for an AnnData object is also written
        into it: ``var["sparsieve_rank"]``, ``var["sparsieve_score"]``,
        ``var["sparsieve_selected"]``, and the settings into ``uns["sparsieve"]``.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), str or tuple of str
        Class labels or numbers to predict; or the name of a column of the data frame X, which is
        then not a feature, or of ``obs`` of an AnnData object. Survival times are a structured
        array as in scikit-survival, a frame of a time and an event, or the names of these two
        columns, such as ``("months", "died")``.
    k : int, float, "auto", "fdr=..." or None, default="auto"
        How many features to keep, or which fraction; "auto" chooses the number by cross-validation
        (:class:`~sparsieve.SelectorCV`, about 20 fits), None leaves it to the method. "fdr=0.1"
        keeps the features that can be claimed at a false discovery rate of 10 %, possibly none:
        tests by :class:`~sparsieve.FDRSelector` take the place of the method, and ``claim=`` says
        what is claimed.
    method : str, class, estimator or function, default="auto"
        "auto" is "ridge-forward", or "boosted-trees" where curves and interactions need it (see
        ``linear_only``), and "likelihood-forward" for survival times and counts. Or the
        name of a method, as ``sparsieve methods`` lists them; a selector of this package; a
        selector or model of scikit-learn or another package, see
        :class:`~sparsieve.SelectorAdapter`; or a function ``(X, y) -> scores``.
    task : {"auto", "classification", "regression", "counts", "survival"}, default="auto"
        How to read y. "auto" reads text, booleans, categories and whole numbers as classes and
        numbers with fractions as quantities; more than five different whole numbers are
        quantities where their order shows in X, with a warning. "counts" are whole numbers from
        0 on. "survival" reads a tuple or an array of two columns as (time, event).
    rule : {"fewest", "median", "one_se", "best", "elbow", "aic", "bic", "ebic"} or None
        How ``k="auto"`` chooses the number, see :class:`~sparsieve.SelectorCV`; None is its
        default, "fewest": the fewest features that are as good as the best number. The last three
        are information criteria along one path on all samples, without folds: those of models by
        maximum likelihood, Akaike's, Bayes', and Bayes' extended for the choice among many
        (gamma = 1). They suppose that samples are many beside the kept features.
    scoring : str, callable or None, default=None
        The score that chooses the number of features and measures the held-out samples: one of
        scikit-learn's names, such as "roc_auc", "f1_macro" or "neg_mean_absolute_error", or
        ``scorer(estimator, X, y)``, where larger is better. None is accuracy (where 85 % of the
        samples or more are in one class, the area under the ROC curve, or the balanced accuracy of
        three classes and more), R squared for numbers, the deviance explained for counts, or the
        concordance for survival times.
    layer : str or None, default=None
        Of an AnnData object: the layer to select from; None is ``X``.
    feature_names : array-like of str, default=None
        For an X without names.
    prepare : str, transformer, list of these or None, default=None
        What to do to X first; in cross-validation it is learnt from the training samples alone.
        "impute" fills missing values with the median of their column ("impute-mean",
        "impute-most-frequent" and "impute-knn" fill them in other ways), "log" takes the logarithm
        of one plus every value, "log-cpm" is :class:`~sparsieve.LogCPM`, for raw counts. A list
        such as ``["impute", "log"]`` does one after the other. A transformer must keep the
        columns. ``selected.transform`` does the same to new data.
    max_categories : int, default=20
        Of a data frame: text with more different values than this is left out.
    max_missing : float, default=0.5
        Of a data frame: columns with a larger share of missing values than this are left out.
    groups : array-like of shape (n_samples,), or str, default=None
        Cross-validation keeps the samples of a group together; a ``cv`` of your own that does not
        is refused. A name means a column, as for y.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together, such as those of a category: one label per
        column; ``{name: columns}`` or a list of lists, by name or position; or a fitted
        ``ColumnTransformer`` or ``OneHotEncoder`` that made the columns. k then counts groups.
        "categories" also adds a column that marks the gaps of each column of numbers, and keeps
        it together with that column.
    covariates : str, list of str, data frame, dict or array, default=None
        Columns that are always in the model, such as age, sex or a batch: the features are judged
        by what they add. They count for nothing in k, are not ranked, and are no features of the
        result; ``selected.covariates_alone`` says how well they predict by themselves. Names mean
        columns of the data frame, or of ``obs`` of AnnData; text and categories are encoded.
    max_correlation : float, "auto" or None, default="auto"
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``table`` names it as a substitute of the one that
        stays. None keeps near copies too. "auto" is 0.99 for methods given by name or class;
        a selector given as an object has its own setting, and tests of single features, such as
        ``k="fdr=0.1"``, pass over nothing.
    entry : array-like of shape (n_samples,), or str, default=None
        For survival times: when the observation of each sample began, if not at time 0.
    strata : array-like of shape (n_samples,), or str, default=None
        For survival times: samples are compared only within their stratum, such as a hospital.
    event_value : str or number, default=None
        For survival times: the label that says that the event happened, such as "dead". None reads
        1 and 0, True and False, and labels such as "1:DECEASED" and "0:LIVING".
    cv : int, splitter, iterable or None, default=None
        The folds of ``k="auto"`` and of the check on held-out samples: a number of folds; a
        splitter of scikit-learn, such as ``TimeSeriesSplit()``, or, with ``groups``,
        ``GroupKFold()``; or (train, test) pairs. None makes five folds, drawn several times.
    estimator : estimator or None, default=None
        The model on the selected features: it scores held-out samples, and ``selected.predict``
        asks it. Any of scikit-learn's; None is softmax regression for classes and ridge regression
        for numbers (Poisson and Cox models for counts and survival times). Methods that
        have a parameter ``estimator``, such as "permutation", get it too.
    sample_weight : array-like of shape (n_samples,), or str, default=None
        Weights of the samples in the method, the model and the scores (but for the concordance of
        survival times); refused where a method or model takes none. A name means a column, as
        for y.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the method where it has one. None draws the folds with seed 0 and
        leaves that of the method as it is.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.
    check : bool or "auto", default="auto"
        Whether to measure how well the selection predicts held-out samples, whether that is better
        than guessing (tested at the 5 % level), and how stable the list is. This takes ten more
        fits, unless ``k="auto"`` has made them already. True does it at once, "auto" when the
        result is first shown and only if it takes less than about 20 s.
    permutations : int, default=0
        How often to shuffle y to see which scores noise reaches; the result is ``selected.null``.
        Whole ``groups`` are exchanged, see :func:`~sparsieve.permutation_null`.
    certify : bool, default=False
        Whether to prove how close this set is to the best set of the same size, on the training
        data; the result is ``selected.certificate``. For methods with ``certify``.
    verbose : int, default=0
        1 prints a line for every fold of ``k="auto"``, with the time that is left; with another k
        it is a parameter of the method. Without it, a search that turns out to take longer than
        20 s is announced by a warning.
    linear_only : bool, default=False
        Do not ask whether trees find better features. By default ``method="auto"`` compares the
        features of "ridge-forward" with those of "boosted-trees" on the same held-out samples,
        where there are at least 100 samples, at most 2,000 columns, and classes, numbers or counts
        to predict, and takes trees where they predict clearly better; ``selected.relation`` says by
        how much. Their model is one of boosted trees, and their number is chosen on three folds
        (five below 1,000 samples). Not with ``estimator`` or ``cv``, nor for
        survival times: their model is Cox's, which is linear in whatever features.
    **params : dict
        Parameters of the method.

    Returns
    -------
    selected : SelectedFeatures
        ``features``, ``table``, ``selector``, ``check``, ``accuracy``, ``report(path)``,
        ``plot()`` and ``save_figures(folder)``; a notebook shows it.

    See Also
    --------
    sparsieve.SelectedFeatures : What is returned.
    sparsieve.compare : Several methods on the same folds.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> selected = sparsieve.select(X, y, k=2, method="f-statistic")
    >>> selected.features
    ['worst concave points', 'worst perimeter']
    >>> selected.table["substitutes"][0]
    'mean concave points (0.91)'
    """
    if not isinstance(check, bool) and check != AUTO:
        raise ValueError(f'check must be True, False or "auto", got {check!r}')
    check_integer("permutations", permutations, minimum=0)
    if scoring is not None:
        one_score(scoring, None)  # refuse an unknown score before any work
    if estimator is not None:
        check_model(estimator)
    inputs = read_inputs(
        X,
        y,
        task=task,
        scoring=scoring,
        layer=layer,
        feature_names=feature_names,
        prepare=prepare,
        max_categories=max_categories,
        max_missing=max_missing,
        groups=groups,
        feature_groups=feature_groups,
        covariates=covariates,
        entry=entry,
        strata=strata,
        event_value=event_value,
        cv=cv,
        estimator=estimator,
        sample_weight=sample_weight,
        random_state=random_state,
        n_jobs=n_jobs,
    )
    choice = Choice(k, method, rule, max_correlation, certify, verbose, params)
    selector, inputs, relation = _start(inputs, choice, linear_only=linear_only)
    selected = SelectedFeatures(selector, inputs, asked=check, relation=relation)
    selected = _fit_selection(selected, choice.criterion)
    if is_anndata(X):
        write_back(X, selected)
    if hasattr(selected.method, "pvalues_") and not isinstance(selector, FDRSelector):
        what = f"the p-values of {selector_name(selected.method)}"
        warn_of_groups(inputs.groups, what, "; selected.null has others with permutations=199")
    if selected.interrupted:
        return selected  # without what would take more time
    if permutations:
        null = permutation_null(
            *(selected.method, selected.prepared_X, selected.y),
            n_repeats=permutations,
            groups=selected.groups,
        )
        selected = replace(selected, null=null)
    if certify:
        selected = replace(selected, certificate=_proven(selected))
    is_known = isinstance(selector, SelectorCV) and check is not False
    if (is_known or check is True) and selected.nothing_found:
        warn_user(selected.nothing_found)
    return selected


def _start(
    inputs: Inputs, choice: Choice, *, linear_only: bool
) -> tuple[Any, Inputs, RelationFound | None]:
    """(unfitted selector, inputs as it takes them, how lines and trees compare if that was asked).

    The data are encoded for the method; of two that are compared, for the one that is taken.
    """
    selector, k = choice.selector(inputs)
    if choice.criterion is not None and prescribes_signs(selector):
        raise ValueError(
            f"rule={choice.criterion!r} compares models whose coefficients have any sign; leave it "
            "out, or nonnegative"
        )
    asked, relation = inputs, None
    selector, inputs = _encoded(selector, asked)
    if choice.is_open and not linear_only and k is not None:
        selector = fix_task(selector, inputs.X, inputs.y)
        asked = replace(asked, task=choose_task(selector, inputs.y))  # decided, and said, once
        relation = compare_paths(*with_covariates(selector, replace(inputs, task=asked.task), None))
    if relation is not None and relation.choice == "trees":
        selector, k = replace(choice, method=TREES).selector(asked)
        if isinstance(selector, SelectorCV) and inputs.cv is None:
            selector.set_params(cv=count_folds(inputs.X.shape[0]), n_repeats=1)
        selector, inputs = _encoded(selector, asked)
        why = f"{relation.why[0].lower()}{relation.why[1:].rstrip('.')}"
        inputs = replace(inputs, notes=(*inputs.notes, why))
    selector, inputs = with_covariates(selector, inputs, k)
    check_keeps_signs(selector, inputs.estimator)
    number_columns(selector, inputs.names)
    check_k(k, selector, inputs)
    y = inputs.y
    _check_values(inputs)
    if looks_at_target(selector):
        as_given = inputs.task == "survival" or is_categorical(y)
        check_varies(y if as_given else plain_vector("y", y))
    selector = fix_task(selector, inputs.X, y)
    if inputs.estimator is not None:
        check_predicts(inputs.estimator, choose_task(selector, y))
    return selector, inputs, relation


def _encoded(selector: Any, inputs: Inputs) -> tuple[Any, Inputs]:
    """(the selector for the columns that are made, inputs as it takes them)."""
    inner = getattr(selector, "selector", None)
    is_single = not hasattr(inner, "get_params")
    inputs = encode_columns(
        inputs,
        takes_groups=takes_groups(selector) and (is_single or takes_groups(inner)),
        takes_gaps=take_gaps(selector, inputs.estimator),
        streams=selector._accepts_external,
        method=selector_name(selector if inner is None else inner),  # which may be empty: a forest
    )
    return for_made_columns(selector, inputs), inputs


def _proven(selected: SelectedFeatures) -> Any:
    """The certificate of the selection and of smaller ones."""
    method, X = selected.method, selected.prepared_X
    if isinstance(selected.selector, SelectorCV):  # which tried larger ones too
        method = method.reaching(selected.selector.best_k_).fit(X, selected.y)
    return method.certify(X, selected.y)


def _check_values(inputs: Inputs) -> None:
    """Refuse gaps and negative numbers that nothing takes, by the names of their columns."""
    X: Any = inputs.X
    names: Any = inputs.names
    prepare = inputs.prepare
    if (library := frame_library(X)) in ("pandas", "polars"):
        names = list(X.columns)
        X = as_matrix(X)
    elif library is not None or not (type(X) is np.ndarray or sparse.issparse(X)):
        return
    if X.ndim == 2 and X.dtype.kind in "biuf":
        check_preparable(X, names, prepare, allow_nan=inputs.leaves_gaps)


def _fit_selection(selected: SelectedFeatures, criterion: str | None) -> SelectedFeatures:
    """The same with its preparation and its selector fitted, at the number of a criterion."""
    selector, X, prepare = selected.selector, selected.X, selected.prepare
    if prepare is not None:
        check_in_memory("prepare", X)
        if (library := frame_library(X)) in ("pandas", "polars") and hasattr(prepare, "set_output"):
            prepare.set_output(transform=library)  # names are not lost on the way
        call_with_views(prepare.fit, X)
        check_in_place(prepare, X)
    inputs, y, groups = selected.inputs, selected.y, selected.groups
    if inputs.task == "survival":
        _compile_cox()
    if inputs.cv is not None and y is not None and not isinstance(selector, SelectorCV):
        check_own_folds(inputs.cv, X, y, groups)
    start, interrupted = _clock.clock(), False
    try:
        with without_routing():
            weights = fit_weights(selector, inputs.sample_weight)
            if isinstance(selector, SelectorCV):
                if prepare is not None:
                    selector.set_params(prepare=prepare)
                discount_covariates(selector, inputs)
                selector.fit(X, y, groups=groups, **weights)
            else:
                given = group_arguments(selector, groups) | weights
                if criterion is not None:
                    n_units, n_beside = own_units(selector, inputs)
                    check_in_memory(f"rule={criterion!r}", X)
                    selector = path_to_fit(selector, X.shape[0], y, n_beside, n_units)
                selector.fit(selected.prepared_X, y, **given)
                if criterion is not None:
                    at = selected.prepared_X, y, criterion, training_task(selector, y), n_beside
                    selector, said = by_criterion(selector, *at)
                    inputs = replace(inputs, notes=(*inputs.notes, said))
                    selected = replace(selected, selector=selector, inputs=inputs)
    except KeyboardInterrupt:
        if getattr(selector, "support_", None) is None:
            raise
        interrupted = True
    return replace(selected, fit_seconds=_clock.clock() - start, interrupted=interrupted)


def _compile_cox() -> None:
    """Compile before the clock starts: else the first fit looks too slow to be checked."""
    X = np.arange(8.0).reshape(4, 2) % 3.0
    LikelihoodForwardSelector(1, task="survival").fit(X, (np.arange(4.0), np.ones(4)))
