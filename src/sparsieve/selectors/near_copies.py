"""Near copies: those that are passed over, and those that could stand for a kept feature.

Near copies of kept features are passed over until all other features are used up. A substitute is a
column whose absolute correlation with another one is at least a threshold: the correlation of the
columns as they are given, centred and weighted by the samples. Tables, reports and claims name
substitutes by this measure, and say the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_real
from .._saved import Maybe
from ..design import DesignMatrix, as_design, external_design, standardise_columns
from ..penalties import row_norms
from ..solvers.searches.redundancy import Company, Redundancy
from ..validation.columns import check_same_features
from ..validation.containers import with_usual_columns
from ..validation.feature_groups import FeatureGroups
from ..validation.training_data import TrainingData, transform_data
from .groups import group_bases
from .preparation import Prepared, find_groups, of_several_columns
from .ranked import FeatureScores

# What select, compare and the command line start from.
MAX_CORRELATION = 0.99
# A ranking is looked through as far as was asked for, and further while it takes about a second:
# products of samples, features looked at and features kept.
MAX_WORK = 5e8
# Features read at a time.
BLOCK = 64


def with_max_correlation(selector: Any, method: Any, limit: float | str | None) -> Any:
    """The selector made of a ``method``, with this limit.

    "auto" leaves an object of the user as it is, and tests of single features.

    Examples
    --------
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.near_copies import with_max_correlation
    >>> with_max_correlation(FisherSelector(), "fisher", "auto")
    FisherSelector(max_correlation=0.99)
    """
    if isinstance(limit, str):
        if limit != "auto":
            raise ValueError(f'max_correlation must be a number, "auto" or None, got {limit!r}')
        is_ours = isinstance(method, str) or (isinstance(method, type) and hasattr(method, "at"))
        if not is_ours or not selector._passes_over:
            return selector
        limit = MAX_CORRELATION
    selector.set_params(max_correlation=limit)
    selector._check_max_correlation()
    return selector


def make_redundancy(
    limit: float | None, data: TrainingData, problem: Prepared | None = None
) -> Redundancy | None:
    """What a search passes over, None without a limit.

    Correlations are those of the columns of X, centred and weighted by the samples. With a
    ``problem`` of a squared loss its columns are used, which are at hand: standardised, and clipped
    where the method clips values. What ``always_keep`` explains of them counts.
    """
    if limit is None:
        return None
    groups = of_several_columns(data.groups)
    how: dict[str, Any] = {
        "n_samples": data.total_weight,
        "groups": None if groups is None else groups.columns,
        "always": np.flatnonzero(data.choices.always).tolist(),
    }
    if problem is not None and problem.units.fit_intercept:
        covariates = problem.units.covariates
        if covariates is not None:
            how["below"] = np.sqrt(problem.design.shape[0]) * covariates.explained
        return Redundancy(problem.design, float(limit), **how)
    weights = data.sample_weight
    how["weights"] = np.ones(data.design.shape[0]) if weights is None else weights
    return Redundancy(data.design, float(limit), **how)


def one_of_each(
    limit: float, data: TrainingData, problem: Any
) -> tuple[TrainingData, dict[int, dict[int, float]]]:
    """The data with near copies never kept, and these: the feature that says most stays.

    For searches that cannot pass over features on their way; ``problem`` has a design and a Y.
    """
    redundancy = make_redundancy(limit, data)
    assert redundancy is not None
    Y = problem.Y.astype(problem.design.dtype)
    alone = row_norms(np.asarray(problem.design.rmatmul(Y), dtype=np.float64)) ** 2
    units = [redundancy.unit_columns(unit) for unit in range(redundancy.n_units)]
    worth = np.array([float(alone[columns].mean()) for columns in units])
    company, copies = Company(redundancy), []
    for unit in np.argsort(-worth, kind="stable").tolist():
        if data.choices.either[unit]:
            continue
        if company.closest(unit) is None:
            company.add(unit)
        else:
            copies.append(unit)
    never = data.fixed.never.copy()
    for unit in copies:
        never[units[unit]] = True
    # A column of a group that stays is kept with it.
    for unit in company.units:
        never[units[unit]] = data.fixed.never[units[unit]]
    return replace(data, fixed=replace(data.fixed, never=never)), redundancy.passed_over


def without_copies(
    found: FeatureScores, data: TrainingData, limit: float | None, n_wanted: int | None
) -> FeatureScores:
    """What a model found, with near copies of better features behind all others.

    ``n_wanted`` features of the model's own choice are looked for; None looks at what it keeps.
    """
    redundancy = make_redundancy(limit, data) if found.passed_over is None else None
    if redundancy is None:
        return found
    best = np.argsort(found.ranking(), kind="stable")
    shut = data.choices.either if found.constant is None else data.choices.either | found.constant
    best = best[~shut[best]]
    company, work, is_whole = Company(redundancy), 0.0, True
    order: list[int] = []
    copies: list[int] = []
    for place, unit in enumerate(best.tolist()):
        reached = place >= found.n_kept if n_wanted is None else len(order) >= n_wanted
        if reached and work > MAX_WORK:
            is_whole = False
            break
        if place % BLOCK == 0:
            company.load(best[place : place + BLOCK].tolist())
        work += float(data.design.shape[0]) * (len(order) + 1)
        if company.closest(unit) is None:
            company.add(unit)
            order.append(unit)
        else:
            copies.append(unit)
    kept = set(best[: found.n_kept].tolist())
    return replace(
        found,
        order=np.array(order + (copies if is_whole else []), dtype=np.int64),
        n_kept=sum(unit in kept for unit in order),
        complete=found.complete and is_whole,
        passed_over=redundancy.passed_over,
    )


# The absolute correlation from which on a feature is a substitute where nobody said another.
SUBSTITUTE = 0.9


class PassesOver:
    """What selectors say about near copies: those passed over, and what could replace a feature."""

    max_correlation: float | None
    substitutes_: Maybe[dict[Any, list[tuple[Any, float]]]]
    _passes_over: ClassVar[bool] = True  # by default, in select and compare

    def _check_max_correlation(self) -> None:
        limit: Any = self.max_correlation
        is_number = isinstance(limit, Real) and not isinstance(limit, bool)
        if limit is None or (is_number and 0 < limit <= 1):
            return
        raise ValueError(
            "max_correlation must be above 0 and at most 1, where 1 passes over exact copies only, "
            f"or None, which keeps them; got {limit!r}"
        )

    @property
    def passed_over_(self) -> dict[Any, list[tuple[Any, float]]]:
        """Near copies that were passed over because of ``max_correlation``.

        For every selected feature that has any (its name, or its column if X has no names) a list
        of (feature, correlation), strongest first; for groups by their names. These are the near
        copies that the search came to; ``find_substitutes`` finds all.
        """
        check_is_fitted(self)
        # A search for the number of features has them from the selector inside.
        model: Any = vars(self).get("selector_", self)
        groups, names = find_groups(model), getattr(model, "feature_names_in_", None)
        kept = model.support_ if groups is None else model.group_support_
        names = names if groups is None else groups.names
        label: Any = int if names is None else lambda j: names[j]
        found = {}
        for unit, others in sorted(vars(model).get("_passed_over", {}).items()):
            left = sorted((-abs(r), j, r) for j, r in others.items() if not kept[j])
            if kept[unit] and left:
                found[label(unit)] = [(label(j), r) for _, j, r in left]
        return found

    def find_substitutes(
        self, X: Any, threshold: float = SUBSTITUTE
    ) -> dict[Any, list[tuple[Any, float]]]:
        """Find features that could replace the selected ones because they are highly correlated.

        With ``feature_groups``, find groups whose columns explain a selected group: the strength is
        the multiple correlation, the square root of the share of variance of the group's
        standardised columns that a regression on the other group's columns explains, adjusted for
        their number.

        When several features carry the same information, which one is selected can be a matter of
        chance. This lists the alternatives.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data to compute the correlations on, usually the training data.
        threshold : float, default=0.9
            Smallest absolute correlation of a substitute.

        Returns
        -------
        substitutes : dict
            For every selected feature (its name, or its column if X has no names) a list of
            (feature, correlation), strongest first; for groups by their names. Also stored as
            ``substitutes_``.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from sparsieve import FisherSelector
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> selector = FisherSelector(n_features_to_select=1).fit(X, y)
        >>> selector.find_substitutes(X, threshold=0.91)
        {'worst concave points': [('mean concave points', 0.91...)]}
        """
        self.substitutes_ = found = list_substitutes(self, X, threshold)
        return found


def list_substitutes(selector: Any, X: Any, threshold: float) -> dict[Any, list[tuple[Any, float]]]:
    """Of every feature (or group) that a fitted selector keeps, what could replace it in X."""
    check_is_fitted(selector)
    check_real("threshold", threshold, minimum=0, strict=True)
    design = external_design(X)
    if design is None:
        X = transform_data(selector, X, min_samples=2)
        X, _ = with_usual_columns(X, scale_free=True, owner=type(selector).__name__)
        design = as_design(X)
    else:
        check_same_features(selector, design)
    names, groups = getattr(selector, "feature_names_in_", None), find_groups(selector)
    if groups is None:
        found = correlated_features(design.ready(), selector.support_, threshold)
    else:
        model = getattr(selector, "selector_", selector)
        found = groups_explaining(design.ready(), groups, model.group_support_, threshold)
        names = groups.names
    if names is None:
        return found
    return {names[one]: [(names[j], r) for j, r in others] for one, others in found.items()}


def correlated_features(
    design: DesignMatrix, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected column the others with |correlation| of at least ``threshold``.

    Returns the columns left out with their signed correlations, the strongest first.
    """
    return {
        feature: _strongest(np.where(support, 0.0, correlation), threshold)
        for feature, correlation in correlations(design, np.flatnonzero(support))
    }


def correlations(
    design: DesignMatrix, features: np.ndarray, sample_weight: np.ndarray | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Some columns, each with its correlations with all columns; 0 with constant ones."""
    if not len(features):
        return
    view = standardise_columns(design, centre=True, scale=True, sample_weight=sample_weight)
    total = float(design.shape[0] if sample_weight is None else sample_weight.sum())
    for start in range(0, len(features), BLOCK):
        block = features[start : start + BLOCK]
        products = view.design.rmatmul(view.design.dense_columns(block)) / total
        products[view.constant] = 0.0
        yield from zip(block.tolist(), products.T, strict=True)


def groups_explaining(
    design: DesignMatrix, groups: FeatureGroups, support: np.ndarray, threshold: float
) -> dict[int, list[tuple[int, float]]]:
    """For every selected group the others whose columns explain it, the strongest first.

    Measured by the multiple correlation: the square root of the share of variance of its
    standardised columns that a regression on the other group's columns explains. Columns beyond
    the first explain something of anything, which is taken off (adjusted R squared); between
    single columns this is the absolute correlation.
    """
    view = standardise_columns(design, centre=True, scale=True, dtype=np.float64)
    n_samples = design.shape[0]
    selected = np.flatnonzero(support)
    wanted = [view.design.dense_columns(groups.columns[g]) for g in selected]
    power = [max(float((values**2).sum()), 1e-300) for values in wanted]
    strength = np.zeros((len(selected), groups.n_groups))
    for some, bases, ranks in group_bases(view.design, groups, np.dtype(design.dtype)):
        freedom = n_samples - 1.0 - ranks
        penalty = np.where(freedom > 0, (n_samples - 2.0) / np.maximum(freedom, 1.0), np.inf)
        for i, values in enumerate(wanted):
            products = np.swapaxes(bases, 1, 2) @ values
            left = np.maximum(1.0 - (products**2).sum(axis=(1, 2)) / power[i], 0.0)
            left = np.where(np.isinf(penalty), 1.0, left * penalty)
            strength[i, some] = np.where(ranks > 0, np.sqrt(np.clip(1.0 - left, 0.0, 1.0)), 0.0)
    strength[:, support] = 0.0
    return {int(g): _strongest(strength[i], threshold) for i, g in enumerate(selected)}


def _strongest(values: np.ndarray, threshold: float) -> list[tuple[int, float]]:
    """Places and values of at least this size (more than 0), the largest first."""
    close = np.flatnonzero(np.abs(values) >= threshold)
    close = close[np.argsort(-np.abs(values[close]), kind="stable")]
    return [(int(j), float(values[j])) for j in close]
