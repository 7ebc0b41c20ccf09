"""How many features, by an information criterion along one path on all samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import warn_user
from .._text import counted
from ..meta import SelectorCV
from ..preprocessing.kept_columns import numbers_at
from ..registry import name_of
from ..scoring.information_criteria import CRITERIA, criterion_value, likelihood_fit
from ..scoring.models import TASKS
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.methods import as_selector
from ..selectors.preparation import unit_of
from ..validation.containers import plain_vector
from ..validation.survival import as_survival, is_survival

MOST = 100  # features on the path
_NAMES = {"aic": "AIC", "bic": "BIC", "ebic": "extended BIC"}


def is_criterion(rule: Any) -> bool:
    """Whether a rule for the number of features needs no folds."""
    return isinstance(rule, str) and rule in CRITERIA


def check_takes_criterion(rule: str, method: Any, sample_weight: Any, verbose: int) -> None:
    """Refuse what a criterion would ignore."""
    if verbose:
        raise ValueError(f"rule={rule!r} has no folds to print lines of; leave verbose out")
    if sample_weight is not None:
        raise ValueError(
            f"rule={rule!r} counts every sample as one, so it takes no sample_weight; use "
            'rule="fewest", or leave sample_weight out'
        )
    is_open = isinstance(method, str) and method == "auto"
    found = None if is_open else as_selector(method)
    if isinstance(found, SelectorCV | FDRSelector):
        raise ValueError(
            f"rule={rule!r} compares numbers of features along the path of a method, but "
            f"{name_of(found)} finds the number itself; leave rule out"
        )


def path_to_fit(selector: Any, n_samples: int, y: Any, n_beside: int, n_units: int) -> Any:
    """The selector, not fitted, up to the largest number that is compared."""
    counts = as_survival(y)["event"].sum() if is_survival(y) else n_samples
    most = max(1, min(MOST, int(counts) // 3, n_units - n_beside))
    return selector.reaching(n_beside + most)


def by_criterion(
    fitted: Any, X: Any, y: Any, rule: str, task: str, n_beside: int
) -> tuple[Any, str]:
    """(the selection with the smallest criterion, a sentence on it).

    ``fitted`` is the path on X, whose first ``n_beside`` units are covariates.
    """
    y = as_survival(y) if task == "survival" else np.asarray(plain_vector("y", y))
    if task not in TASKS or (y.ndim == 2 and np.isin(y, (0, 1)).all()):
        raise ValueError(
            f"rule={rule!r} needs classes, numbers, counts or survival times, but y has several "
            'columns of labels; use rule="fewest"'
        )
    groups = vars(fitted).get("group_ranking_")
    n_units = len(fitted.ranking_ if groups is None else groups) - n_beside
    kept, none = range(1, fitted.n_ranked_ - n_beside + 1), n_beside == 0
    values, found = [], []
    for k in kept:
        one = fitted.at(k + n_beside)
        found.append(one)
        columns = _columns(X, np.flatnonzero(one.get_support()))
        fit = likelihood_fit(columns, y, task)
        values.append(criterion_value(rule, *fit, k, n_units))
    best = int(np.argmin(values))
    name, unit = _NAMES[rule], unit_of(fitted)
    several = counted(best + 1, unit)
    said = f"kept {several}, by {name} ({values[best]:.1f}) on one path of {len(values)}"
    if none:
        empty = likelihood_fit(np.empty((X.shape[0], 0)), y, task)
        if criterion_value(rule, *empty, 0, n_units) <= values[best]:
            said += f"; a model without {unit}s has a smaller {name}"
    if best + 1 == len(values) < n_units:
        warn_user(
            f"{name} is smallest at the largest number that was compared, {len(values)}: it cannot "
            'tell how many are enough with so few samples; use rule="fewest"'
        )
    return found[best], said


def _columns(X: Any, places: np.ndarray) -> np.ndarray:
    found = numbers_at(X, places)
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(found, dtype=np.float64)
