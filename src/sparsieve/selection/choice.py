"""The selector that the arguments of ``sparsieve.select`` stand for."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._checks import check_choice, warn_user
from .._text import plural
from ..diagnosis.null import looks_at_target
from ..meta import SelectorCV
from ..preprocessing.inputs import Inputs
from ..preprocessing.kept_columns import read_numbers
from ..registry import DEFAULT_METHOD, LIKELIHOOD_METHOD, find_selector, selector_name
from ..scoring.likelihood_models import CRITERIA, criterion_value, likelihood_fit
from ..scoring.models import KINDS
from ..selectors.around import takes_task, weight_arguments
from ..selectors.groups import with_feature_groups
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.methods import as_selector
from ..selectors.near_copies import with_max_correlation
from ..selectors.preparation import unit_phrase
from ..validation.containers import plain_vector
from ..validation.reading import is_categorical, read_task
from ..validation.survival import as_survival, is_survival
from ..validation.target import TASKS, with_task
from .covariates import AUTO

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
            f"{selector_name(found)} finds the number itself; leave rule out"
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
    if task not in KINDS or (y.ndim == 2 and np.isin(y, (0, 1)).all()):
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
    name, unit = _NAMES[rule], unit_phrase(fitted)
    several = plural(best + 1, unit)
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
    found = read_numbers(X, places)
    found = found.toarray() if hasattr(found, "toarray") else found
    return np.asarray(found, dtype=np.float64)


_KS = 'k must be a number, a fraction, "auto", "fdr=0.1" or None'
_FDR = re.compile(r"\s*fdr\s*=\s*(.*?)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """What selects and how many features, as :func:`~sparsieve.select` was asked.

    Attributes
    ----------
    k, method, rule, max_correlation, certify, verbose, params
        The parameters of :func:`~sparsieve.select`.
    """

    k: Any = AUTO
    method: Any = AUTO
    rule: str | None = None
    max_correlation: Any = AUTO
    certify: bool = False
    verbose: int = 0
    params: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether nobody has said what selects."""
        is_auto = isinstance(self.method, str) and self.method == AUTO
        return is_auto and not (self.params or self.certify)

    @cached_property
    def criterion(self) -> str | None:
        """The information criterion that chooses the number, if one does."""
        return self.rule if is_criterion(self.rule) and self.k == AUTO else None

    def selector(self, inputs: Inputs) -> tuple[Any, Any]:
        """(unfitted selector, k); k is None for claims and criteria."""
        k, method, rule, params = self.k, self.method, self.rule, dict(self.params)
        if self.criterion is not None:
            check_takes_criterion(self.criterion, method, inputs.sample_weight, self.verbose)
            k = rule = None
        level, verbose = _level(k), self.verbose
        if verbose and not (isinstance(k, str) and k == AUTO):
            params["verbose"] = verbose
        if isinstance(method, str) and method == AUTO:
            by_likelihood = inputs.task in ("counts", "survival") and level is None
            method = LIKELIHOOD_METHOD if by_likelihood else DEFAULT_METHOD
        if level is not None:
            k, method, params = None, _tests(method), {**params, "level": level}
        params = _own_parameters(method, inputs) | params
        selector = with_max_correlation(_unfitted(method, params), method, self.max_correlation)
        selector = _with_seed(with_feature_groups(selector, inputs.feature_groups), inputs)
        if isinstance(selector, FDRSelector) and k == AUTO:
            k = None  # as many as can be claimed
            if verbose:
                raise ValueError("FDRSelector has no folds to print lines of; leave verbose out")
        selector = _with_task(selector, inputs.task)
        if self.certify:
            _check_certifiable(selector)
        if isinstance(k, str):
            if k != AUTO:
                raise ValueError(f"{_KS}, got {k!r}")
            return _search(selector, rule, verbose, inputs), k
        if isinstance(selector, SelectorCV):
            raise ValueError(
                f'SelectorCV finds the number of features itself; leave k="auto", got k={k!r}'
            )
        if rule is not None:
            raise ValueError(
                f'rule={rule!r} is for k="auto", where it finds the number; got k={k!r}'
            )
        if isinstance(k, bool | np.bool_) or not (k is None or np.isscalar(k)):
            raise ValueError(f"{_KS}, got {k!r}")
        return selector.set_params(n_features_to_select=k), k


def _search(selector: Any, rule: str | None, verbose: int, inputs: Inputs) -> SelectorCV:
    """The search for the number of features, with the folds and the score that were asked for."""
    search = selector if isinstance(selector, SelectorCV) else SelectorCV(selector)
    asked = {"verbose": verbose or None, "rule": rule, "scoring": inputs.scoring}
    named = {name: value for name, value in asked.items() if value is not None}
    return search.set_params(**inputs.folds, **named)


def _own_parameters(method: Any, inputs: Inputs) -> dict[str, Any]:
    """What was asked for that a class or a function has as parameters of its own."""
    named = {name: value for name, value in inputs.folds.items() if name != "cv"}
    method = find_selector(method) if isinstance(method, str) else method
    if not isinstance(method, type) and (not callable(method) or hasattr(method, "fit")):
        return {}
    try:
        known = set(inspect.signature(method).parameters)
    except (TypeError, ValueError):
        return {}
    return {name: value for name, value in named.items() if name in known}


def _with_seed(selector: Any, inputs: Inputs) -> Any:
    """A selector that was given as an object with its open seed, and its jobs."""
    known = selector.get_params(deep=False)
    for name in ("random_state", "n_jobs"):
        value = getattr(inputs, name)
        if value is not None and name in known and not isinstance(selector, SelectorCV):
            selector.set_params(**{name: value})
    return selector


def fit_weights(selector: Any, sample_weight: Any) -> dict[str, Any]:
    """Arguments of the fit of a selector; refused by name where it takes no weights."""
    if sample_weight is None:
        return {}
    if isinstance(selector, SelectorCV):
        return {"sample_weight": sample_weight}
    try:
        return weight_arguments(selector, sample_weight)
    except ValueError:
        raise ValueError(
            f"sample_weight was given, but {selector_name(selector)} does not take weights of "
            "samples; leave sample_weight out, or choose another method"
        ) from None


def _level(k: Any) -> float | None:
    """The false discovery rate that ``k="fdr=0.1"`` asks for; None where k is something else."""
    found = _FDR.fullmatch(k) if isinstance(k, str) else None
    if found is None:
        return None
    try:
        return float(found[1])
    except ValueError:
        raise ValueError(
            f'{k!r} has no false discovery rate between 0 and 1; write for example "fdr=0.1"'
        ) from None


def _tests(method: Any) -> Any:
    """What claims features: the method where it is such, and in the place of the default."""
    if isinstance(method, str) and method == DEFAULT_METHOD:
        return FDRSelector
    found = as_selector(method)
    if not isinstance(found, FDRSelector):
        raise ValueError(
            'k="fdr=..." keeps what FDRSelector claims, but method is '
            f"{selector_name(found)}; leave "
            "method out, or select by it and ask for select(...).claims()"
        )
    return method


def _unfitted(method: Any, params: dict[str, Any]) -> Any:
    """The unfitted selector that is meant."""
    if "n_features_to_select" in params:
        raise ValueError(
            f"select() takes the number of features as k, got n_features_to_select="
            f"{params['n_features_to_select']!r}; use k"
        )
    return clone(as_selector(method, params))


def _with_task(selector: Any, task: str) -> Any:
    """The selector that reads y as it is said to be."""
    check_choice("task", task, TASKS)
    if task == AUTO:
        return selector
    if not takes_task(selector, task):
        if task == "survival":
            raise ValueError(
                f"{selector_name(selector)} cannot select for survival times; leave method "
                "out, or use "
                "LikelihoodForwardSelector or LikelihoodL21Selector"
            )
        raise ValueError(
            f"{selector_name(selector)} selects for class labels only, not for task={task!r}"
        )
    return with_task(selector, task)


def _check_certifiable(selector: Any) -> None:
    """Refuse, before any work, a method that nothing can be proven about."""
    inner = selector.selector if isinstance(selector, SelectorCV) else selector
    if not hasattr(inner, "certify"):
        raise ValueError(f"nothing can be proven about the selections of {selector_name(inner)}")
    inner._check_certifiable()


def choose_task(selector: Any, y: Any) -> str:
    """How y will be read where that is beyond doubt, whatever models predict; else "auto"."""
    task = getattr(selector, "task", AUTO)
    if task != AUTO or y is None:
        return task
    values = y if is_categorical(y) or is_survival(y) else plain_vector("y", y)
    if sparse.issparse(values) or np.ndim(values) != 1:
        return AUTO
    if "estimator" in selector.get_params(deep=False):
        selector = clone(selector).set_params(estimator=None)
    if looks_at_target(selector) and not selector._accepts_regression:
        return "classification"
    task, doubt = read_task(values)
    return AUTO if doubt else task


def fix_task(selector: Any, X: Any, y: Any) -> Any:
    """The selector with a fixed reading of y, where it was left to decide; doubts are said."""
    is_open = getattr(selector, "task", None) == AUTO and selector._accepts_regression
    if not is_open or not looks_at_target(selector):
        return selector
    task = settle_task(X, y)
    return selector if task == AUTO else with_task(selector, task)


def settle_task(X: Any, y: Any) -> str:
    """How y is read where nobody said it, "auto" if it has several columns; doubts are said."""
    values = y if is_categorical(y) or is_survival(y) else plain_vector("y", y)
    if values is None or sparse.issparse(values) or (not is_survival(y) and np.ndim(values) != 1):
        return AUTO
    task, doubt = read_task(values, X)
    if doubt:
        warn_user(doubt)
    return task
