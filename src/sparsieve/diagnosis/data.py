"""What is odd about the data before anything is selected from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse, special

from .._checks import warn_user
from ..preprocessing.encoding import encode_frame
from ..preprocessing.inputs import read_inputs
from ..preprocessing.steps import Imputer
from ..scoring.relation import MAX_FEATURES, MIN_SAMPLES, compare_relations
from ..selectors.least_squares import RidgeForwardSelector
from ..selectors.trees import BoostedTreesSelector
from ..validation.columns import check_in_memory, in_memory
from ..validation.containers import (
    check_finite_target,
    plain_matrix,
    plain_vector,
    with_usual_columns,
)
from ..validation.dataframes import open_frame
from ..validation.reading import is_categorical, read_task
from ..validation.survival import as_survival, is_survival
from ..validation.target import Target, encode_target
from . import findings as sentences
from .columns import (
    CHANCE,
    Extent,
    chunks,
    full_columns,
    numbering,
    raw_counts,
    read_column,
    spread,
)
from .findings import Diagnosis, Finding
from .leaks import Leak, class_leaks, gap_leaks, number_leaks
from .pairs import MAX_COLUMNS, Views, combinations, copies, log_views
from .samples import copied_samples

_GUESSES = "predicts no better than a guess"
_MAX_DENSE = 50_000_000  # numbers of a sparse X that are made dense


def beyond_linear(X: Any, target: Target) -> str:
    """A sentence that names a better selector, or nothing.

    The judge is that of :func:`~sparsieve.select`: a linear path of features and one of boosted
    trees, on the same samples held out.
    """
    n_samples, n_features = X.shape
    if n_samples < MIN_SAMPLES or not 2 <= n_features <= MAX_FEATURES:
        return ""
    if sparse.issparse(X):
        if n_samples * n_features > _MAX_DENSE:
            return ""
        X = X.toarray()
    is_classes = target.codes is not None
    if is_classes and np.bincount(target.codes).min() < 2:
        return ""
    task = "classification" if is_classes else "regression"
    y = target.codes if is_classes else target.Y
    paths = RidgeForwardSelector(task=task), BoostedTreesSelector(task=task)
    found = compare_relations(
        np.asarray(X, dtype=np.float64), y, task, *paths, groups=_copies(X, target)
    )
    if found.choice != "trees":
        return ""
    linear, trees = (float(found.explained_curve(path).mean()) for path in ("linear", "trees"))
    said = f"explains {100 * linear:.0f} % of the target" if linear > 0 else _GUESSES
    return (
        f"linear selection {said} on samples held out, boosted trees explain {100 * trees:.0f} %: "
        "the relation is not linear, so use BoostedTreesSelector"
    )


def _copies(X: Any, target: Target) -> np.ndarray | None:
    """A label for every sample, the same for copies, whatever their targets; None without any."""
    _, _, mean, std = spread(X)
    is_classes = target.codes is not None
    y = target.codes if is_classes else target.Y
    found = copied_samples(X, mean, std, y, classes=is_classes)
    return None if found is None else found.groups


def diagnose(
    X: Any,
    y: Any = None,
    *,
    feature_names: Sequence[str] | np.ndarray | None = None,
    task: str = "auto",
    try_models: bool = True,
    layer: str | None = None,
    impute: bool = False,
) -> Diagnosis:
    """Check data for common problems before selecting features.

    Finds leaks (columns that repeat the target with few exceptions, missing values that depend on
    the target, and pairs of columns from which the target was computed), id columns, columns that
    are constant, empty, mostly missing or infinite, duplicate features and samples, raw counts, and
    data on which linear methods fail but a non-linear one works. Patterns that noise of the same
    size would also show are not reported. Duplicate features are searched for among up to 100,000
    columns.

    Parameters
    ----------
    X : array, sparse matrix, data frame, AnnData or Table of shape (n_samples, n_features)
        The data, of a file as :func:`~sparsieve.app.io.read_table` reads it. Text and dates of a
        data frame are read as :func:`~sparsieve.select` does.
    y : array of shape (n_samples,) or (n_samples, n_outputs), str or tuple of str
        Class labels, real-valued targets or survival times; or the name of a column of the data
        frame or of ``obs`` of AnnData, of survival times the names of the time and the event.
    feature_names : sequence of str, default=None
        Names of the columns, if X has none.
    task : {"auto", "classification", "regression", "counts", "survival"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole numbers are
        quantities where their order shows in X, with a warning.
    try_models : bool, default=True
        Compare linear and non-linear selection by cross-validation on up to 1,000 samples; this is
        the only slow part.
    layer : str or None, default=None
        Of an AnnData object; None is ``X``.
    impute : bool, default=False
        Whether these models see columns with gaps too, filled with their median.

    Returns
    -------
    diagnosis : Diagnosis
        The findings, most serious first; printing it shows sentences.

    See Also
    --------
    sparsieve.Diagnosis : The result.
    sparsieve.permutation_null : Scores that noise reaches by chance.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import diagnose
    >>> rng = np.random.default_rng(0)
    >>> y = np.arange(60) % 2
    >>> X = np.column_stack([rng.standard_normal(60), y + 0.1 * rng.random(60)])
    >>> print(diagnose(X, y, feature_names=["age", "death"]))
    death alone predicts the target perfectly. Possible leak: was it known before the outcome?
    """
    inputs = read_inputs(X, y, task=task, layer=layer, feature_names=feature_names)
    if not inputs.is_annotated:
        check_in_memory("diagnose", inputs.X)
    X, y = in_memory(inputs.X) if inputs.is_annotated else inputs.X, inputs.y
    how: dict[str, Any] = {"task": inputs.task, "try_models": try_models, "impute": impute}
    frame = open_frame(X)
    if frame is not None:
        return _of_frame(X, y, inputs.names, **how)
    return _of_numbers(X, y, inputs.names, **how)


def _of_frame(X: Any, y: Any, feature_names: Any, **how: Any) -> Diagnosis:
    """Of a data frame, whose columns may be text or dates; those that are left out are named."""
    columns = [str(name) for name in open_frame(X).columns]
    ready = encode_frame(X, takes_groups=False, max_missing=1.0)
    if ready.encode is None:
        names = columns if feature_names is None else feature_names
        return _of_numbers(ready.X, y, names, **how)
    made = [name for some in ready.sources.values() for name in some]
    found = _of_numbers(np.asarray(ready.X, dtype=np.float64), y, made, **how)
    place = {
        made.index(name): columns.index(source)
        for source, some in ready.sources.items()
        for name in some
    }
    findings = [
        replace(one, features=tuple(dict.fromkeys(place[j] for j in one.features)))
        for one in found.findings
    ]
    unused = sentences.unused_columns(ready.left_out, columns)
    return Diagnosis([*unused, *findings], found.groups)


def _of_numbers(
    X: Any, y: Any, feature_names: Any, *, task: str, try_models: bool, impute: bool
) -> Diagnosis:
    """Of a matrix of numbers."""
    if task == "survival" or is_survival(y):
        return _of_survival(X, as_survival(y), feature_names)
    if feature_names is None and hasattr(X, "columns"):
        feature_names = [str(name) for name in X.columns]
    as_given = X
    try:
        X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X)
        X = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    except (TypeError, ValueError):
        plain_matrix(as_given)  # says of which columns there are no numbers, and what to do
        raise
    values = np.asarray(plain_vector("y", y))
    check_finite_target(values)
    if X.ndim != 2 or len(values) != X.shape[0]:
        raise ValueError(
            f"X has {X.shape[0]} samples, but y has {len(values)} values; they must match"
        )
    names = [f"column {j}" for j in range(X.shape[1])] if feature_names is None else feature_names
    if len(names) != X.shape[1]:
        raise ValueError(
            f"feature_names holds {len(names)} names for {X.shape[1]} features; give one name per "
            "feature"
        )
    if task == "auto" and values.ndim == 1:
        task, doubt = read_task(y if is_categorical(y) else values, X)
        if doubt:
            warn_user(doubt)
    target = encode_target(values, task=task, dtype=np.dtype(np.float64), owner="diagnose")
    if target.codes is None:
        target = replace(target, Y=_of_usual_size(target.Y))
    findings = [*sentences.unusable_columns(X, names)]
    with np.errstate(invalid="ignore", over="ignore"):
        X = _of_usual_size(X)
        by_column = X.tocsc() if sparse.issparse(X) else X
        extent = Extent.from_data(by_column)
        found, leaks = _about_columns(by_column, target, extent, names)
        repeated = copied_samples(
            X,
            *(extent.mean, extent.std_of_varying),
            target.Y if target.codes is None else target.codes,
            classes=target.codes is not None,
        )
        counts = raw_counts(X, extent.low, extent.high, extent.mean)
    findings = [
        *sentences.labels_alike(target.classes),
        *sentences.repeated_samples(repeated),
        *found["leak"],
        *found["id"],
        *findings,
    ]
    findings += sentences.describe_counts(counts)
    used = extent.varying if impute and not sparse.issparse(X) else extent.whole
    if try_models and not leaks and len(used):
        part = X[:, used] if len(used) < X.shape[1] else X
        if len(used) > len(extent.whole):
            part = Imputer().fit_transform(part)
        sentence = beyond_linear(part, target)
        findings += [Finding("nonlinear", sentence)] * bool(sentence)
    groups = None if repeated is None or not repeated.share_targets else repeated.groups
    return Diagnosis([*findings, *found["copy"], *found["constant"]], groups)


def _of_usual_size(values: Any) -> Any:
    """The same with columns of extreme size in another unit, so that squares are numbers."""
    return with_usual_columns(values, scale_free=True, owner="diagnose")[0]


def _of_survival(X: Any, y: np.ndarray, feature_names: Any) -> Diagnosis:
    """Columns that know the time or the event; models are not tried."""
    how: dict[str, Any] = {"try_models": False, "impute": False}
    found = _of_numbers(X, y["time"], feature_names, task="regression", **how)
    findings = dict.fromkeys(found.findings)
    if 0 < y["event"].sum() < len(y):
        others = _of_numbers(X, y["event"], feature_names, task="classification", **how)
        # Copies have the same time.
        findings |= dict.fromkeys(one for one in others.findings if one.kind != "samples")
    return Diagnosis(list(findings), found.groups)


def _about_columns(
    X: Any, target: Target, extent: Extent, names: Sequence[str] | np.ndarray
) -> tuple[dict[str, list[Finding]], bool]:
    """Findings by kind, and whether any column gives the target away."""
    varying, whole, Y = extent.varying, extent.whole, target.Y
    if target.codes is not None:
        leaks = class_leaks(X, varying, target.codes)
        others = np.setdiff1d(whole, [leak.column for leak in leaks])
        leaks += value_leaks(X, others, target.codes)
    else:
        leaks = number_leaks(X, varying, Y)
    leaks += gap_leaks(X, np.flatnonzero(extent.gaps), target.codes, Y, target.classes)
    giving = np.array([leak.column for leak in leaks], dtype=np.intp)
    doubles, pairs, is_exact = [], [], False
    ids = np.setdiff1d(numbering(X, whole), giving)
    if 2 <= len(whole) <= MAX_COLUMNS:
        part = X[:, whole] if len(whole) < X.shape[1] else X
        views = Views.from_data(part, extent.std[whole], Y)
        doubles = [(int(whole[i]), int(whole[j])) for i, j in copies(views)]
        if doubles:
            one, two = (read_column(X, j) for j in doubles[0])
            is_exact = np.array_equal(one, two)
        classes = target.codes is not None
        pairs = [(whole[i], whole[j]) for i, j in combinations(views, classes=classes)]
        positive, logs = log_views(X, extent, Y, classes=classes)
        if logs is not None:
            found = combinations(logs, classes=classes)
            pairs += [(positive[i], positive[j]) for i, j in found]
        pairs = [pair for pair in dict.fromkeys(pairs) if not np.isin(pair, giving).any()]
    return {
        "leak": [
            *sentences.leaking_columns(leaks, names),
            *sentences.leaking_pairs(pairs, names),
        ],
        "id": [*sentences.id_columns(ids, names)],
        "copy": [*sentences.copied_columns(doubles, names, is_exact=is_exact)],
        "constant": [*sentences.constant_columns(extent.constant, names)],
    }, bool(leaks or pairs)


MAX_VALUES = 12
LEAST = 5  # samples of a value
_SAMPLES = 200  # looked at first


def value_leaks(X: Any, columns: np.ndarray, codes: np.ndarray) -> list[Leak]:
    """Columns without gaps whose value says the class, where its order need not.

    A column that is 0 in one class and -1 or 1 in the other repeats the classes as well as one that
    is larger in one of them.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.diagnosis.data import value_leaks
    >>> x = np.tile([0.0, 1.0, 0.0, -1.0], 15)
    >>> [leak.column for leak in value_leaks(x[:, None], np.arange(1), np.abs(x).astype(int))]
    [0]
    """
    counts = np.bincount(codes)
    n, n_classes = len(codes), len(counts)
    columns = full_columns(X, columns, 0.4 * (n - counts.max()))
    first = np.sort(np.random.default_rng(0).permutation(n)[:_SAMPLES])
    likely = [_has_few_values(x) for _, part in chunks(X, columns, first) for x in part.T]
    columns = columns[np.asarray(likely, dtype=bool)]
    ways = special.gammaln(n + 1) - special.gammaln(counts + 1).sum()
    found = []
    for some, values in chunks(X, columns, np.arange(n)):
        for column, x in zip(some, values.T, strict=True):
            n_values = _pure_values(x, codes, n_classes) if _has_few_values(x) else 0
            noise = n_values * math.log(n_classes) - ways + math.log(X.shape[1])
            if n_values and noise < math.log(CHANCE):
                found.append(Leak(int(column), 0, n))
    return found


def _has_few_values(x: np.ndarray) -> bool:
    return len(np.unique(x)) <= MAX_VALUES


def _pure_values(x: np.ndarray, codes: np.ndarray, n_classes: int) -> int:
    """How many values there are if each is of one class and has enough samples, else 0.

    Classes with an interval of their own are left to others, who ask what a measurement can do.
    """
    values, places = np.unique(x, return_inverse=True)
    table = np.bincount(places * n_classes + codes, minlength=len(values) * n_classes)
    table = table.reshape(len(values), n_classes)
    is_pure = ((table > 0).sum(axis=1) == 1).all() and table.sum(axis=1).min() >= LEAST
    n_intervals = 1 + np.count_nonzero(np.diff(table.argmax(axis=1)))
    return len(values) if is_pure and n_intervals > n_classes else 0
