"""Columns that go together, and those whose coefficients keep a sign."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..design import DesignMatrix
from ..registry import all_methods, selector_name
from ..solvers.engines.group_products import group_ranks
from ..solvers.searches.redundancy import RANK_TOL
from ..solvers.settings import SolverSettings
from ..validation.columns import columns_mask
from ..validation.feature_groups import FeatureGroups
from ..validation.training_data import TrainingData
from .preparation import Units, of_several_columns


def prescribes_signs(selector: Any) -> bool:
    """Whether any coefficients must not be negative.

    Examples
    --------
    >>> from sparsieve import L21Selector
    >>> from sparsieve.selectors.groups import prescribes_signs
    >>> prescribes_signs(L21Selector()), prescribes_signs(L21Selector(nonnegative=["age"]))
    (False, True)
    """
    asked = getattr(selector, "nonnegative", None)
    return bool(asked) if isinstance(asked, bool | np.bool_) else asked is not None


def nested_selectors(selector: Any) -> Iterator[Any]:
    """A selector, the one inside it, and so on."""
    while selector is not None:
        yield selector
        selector = getattr(selector, "selector", None)


def usual_model_kind(selector: Any) -> str:
    """What predicts from selected features where nobody says: "linear", "nonnegative" or "trees".

    Examples
    --------
    >>> from sparsieve import FisherSelector, L21Selector
    >>> from sparsieve.selectors.groups import usual_model_kind
    >>> usual_model_kind(FisherSelector()), usual_model_kind(L21Selector(nonnegative=True))
    ('linear', 'nonnegative')
    """
    if any(map(prescribes_signs, nested_selectors(selector))):
        return "nonnegative"
    return str(getattr(selector, "_usual_model", "linear"))


def check_keeps_signs(selector: Any, estimator: Any) -> None:
    """Refuse the usual model where some coefficients have a known sign and others any.

    Examples
    --------
    >>> from sparsieve import L21Selector
    >>> from sparsieve.selectors.groups import check_keeps_signs
    >>> check_keeps_signs(L21Selector(nonnegative=True), None)
    """
    if estimator is not None or usual_model_kind(selector) != "nonnegative":
        return
    for one in nested_selectors(selector):
        some = not isinstance(getattr(one, "nonnegative", False), bool | np.bool_)
        if some or getattr(one, "always_keep", None) is not None:
            raise ValueError(
                "the usual model on the selected features keeps signs where nonnegative=True is "
                "for all of them; for some, or beside covariates or always_keep, pass a model that "
                "keeps the signs you want, such as estimator=Ridge(positive=True) for numbers or "
                "estimator=LikelihoodL21Selector(nonnegative=True) for two classes, counts and "
                "survival times"
            )


def column_signs(
    selector: Any, data: TrainingData, n_outputs: int, units: Units | None = None
) -> np.ndarray:
    """1 for every column whose coefficient must not be negative, 0 for the others.

    Where the ``units`` of a problem say that its output stands for two classes, 1 or -1 as the
    sign for the second one. Refused for several outputs, and for groups of columns.
    """
    name, asked = selector_name(selector), selector.nonnegative
    if n_outputs != 1:
        classes = data.target.classes
        held = f"{data.target.Y.shape[1]} columns" if classes is None else f"{len(classes)} classes"
        raise ValueError(
            f"nonnegative of {name} needs two classes or one column of numbers, but y has {held}, "
            "for each of which a feature has a coefficient; leave nonnegative out"
        )
    if of_several_columns(data.groups) is not None:
        raise ValueError(
            f"{name} cannot prescribe the signs of coefficients in feature_groups; leave "
            "nonnegative or feature_groups out"
        )
    n_features, signs = data.design.shape[1], np.ones(data.design.shape[1])
    if not isinstance(asked, bool | np.bool_):
        if not hasattr(asked, "__iter__"):
            raise ValueError(
                "nonnegative must be True, False or a list of column indices or names, "
                f"got {asked!r}"
            )
        names = getattr(selector, "feature_names_in_", None)
        signs = columns_mask("nonnegative", asked, n_features, names).astype(np.float64)
    if units is not None and units.decode is not None:
        signs *= np.sign(units.decode[0, -1])
    return signs


def configure(cls: type, parameters: Mapping[str, Any], *, hidden: Iterable[str] = ()) -> Any:
    """A selector with these parameters.

    Parameters
    ----------
    cls : class of a selector
    parameters : mapping of str to object
        ``solver__name`` is a setting of the solver; where ``solver`` is given by its plain name,
        that solver's object is made.
    hidden : iterable of str
        Parameters that a message must not propose.

    Returns
    -------
    selector : unfitted selector

    Raises
    ------
    ValueError
        For what the selector does not know, with the name it may have meant.

    Examples
    --------
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.groups import configure
    >>> configure(FisherSelector, {"class_weight": "balanced"})
    FisherSelector(class_weight='balanced')
    """
    return reconfigure(cls(), parameters, hidden=hidden)


def reconfigure(selector: Any, parameters: Mapping[str, Any], *, hidden: Iterable[str] = ()) -> Any:
    """Set these parameters of a selector, see :func:`configure`, and return it."""
    cls = type(selector)
    known = selector.get_params(deep=False)
    for name in parameters:
        if name.partition("__")[0] not in known:
            raise ValueError(_unknown(cls, name, [each for each in known if each not in hidden]))
    selector.set_params(**{n: v for n, v in parameters.items() if "__" not in n})
    settings: dict[str, dict[str, Any]] = {}
    for name, value in parameters.items():
        owner, nested, setting = name.partition("__")
        if nested:
            settings.setdefault(owner, {})[setting] = value
    for owner, values in settings.items():
        made = _resolve_setting(selector, owner, next(iter(values)))
        selector.set_params(**{owner: made.set_params(**values)})
    return selector


def _resolve_setting(selector: Any, owner: str, setting: str) -> Any:
    """What the settings belong to: an object already, or the one that a plain name stands for."""
    value = getattr(selector, owner)
    if hasattr(value, "set_params"):
        return value
    solvers: Mapping[str, type[SolverSettings]] = getattr(selector, f"_{owner}s", {})
    if isinstance(value, str) and value in solvers:
        return solvers[value]()
    where = f"{type(selector).__name__} with {owner}={value!r} has no {owner}__{setting}"
    able = [name for name, kind in solvers.items() if setting in kind().get_params()]
    raise ValueError(f"{where}; it belongs to {owner}={' or '.join(able)}" if able else where)


def _unknown(cls: type, name: str, offered: list[str]) -> str:
    close = difflib.get_close_matches(name, offered, n=1)
    hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(offered) or 'none'}"
    return f"{cls.__name__} has no parameter {name!r}; {hint}"


@dataclass(frozen=True)
class PenalisedChoices:
    """The columns or groups of a penalised model.

    Attributes
    ----------
    columns : sequence of arrays of int, or an array of shape (n_choices, n_columns)
        The columns of every choice; empty for those that cannot be made. An array where all can,
        and have as many columns: loops over very many groups take longer than their fit.
    weights : ndarray of shape (n_choices,)
        c_g.
    constant : ndarray of bool of shape (n_choices,)
        Choices without information.
    """

    columns: Sequence[np.ndarray]
    weights: np.ndarray
    constant: np.ndarray

    @classmethod
    def from_selector(
        cls, selector: Any, data: TrainingData, design: DesignMatrix, constant: np.ndarray
    ) -> PenalisedChoices:
        """What ``feature_groups`` and ``group_weights`` say; columns that stand alone have 1.

        Without weights a group has the square root of the rank of its columns, so that large groups
        enter no sooner than small ones. ``constant`` are columns that cannot be chosen.
        """
        groups = data.groups
        check_weights(selector)
        if groups is None:
            columns: Any = np.arange(len(constant))[:, None]
            if constant.any():
                columns = [some[:0] if constant[j] else some for j, some in enumerate(columns)]
            return cls(columns, np.ones(len(constant)), constant)
        own: Any
        empty, sizes = _uninformative(groups, constant), np.diff(groups.starts)
        if (sizes == sizes[0]).all() and not (data.choices.either | empty).any():
            own = groups.members.reshape(len(sizes), -1)
        else:
            own, _ = open_groups(data, groups, constant)
        given = selector.group_weights
        if given is None:
            weights = np.sqrt(np.maximum(group_ranks(design, own), 1))
        else:
            weights = groups.values("group_weights", given)
        return cls(own, weights, empty)


def open_groups(
    data: TrainingData, groups: FeatureGroups, constant: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray]:
    """The columns of every group, none of those that cannot be chosen; groups without information.

    ``constant`` are columns that cannot be chosen.
    """
    empty = _uninformative(groups, constant)
    own = list(groups.columns)
    for g in np.flatnonzero(data.choices.either | empty):
        own[g] = own[g][:0]
    return own, empty


def _uninformative(groups: FeatureGroups, constant: np.ndarray) -> np.ndarray:
    """Groups none of whose columns can be chosen."""
    return np.logical_and.reduceat(constant[groups.members], groups.starts[:-1])


def check_weights(selector: Any) -> None:
    """Refuse weights of groups where there are none."""
    given = getattr(selector, "group_weights", None)
    if given is not None and getattr(selector, "feature_groups", None) is None:
        raise ValueError("group_weights are for feature_groups, which are not given")


_BLOCK = 1 << 24  # values of X in memory at a time


def group_bases(
    design: DesignMatrix, groups: FeatureGroups, dtype: np.dtype
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """(some groups of one size, their bases, their ranks), until all groups had their turn.

    Bases are an array (group, sample, column), with columns of zeros beyond the rank. ``dtype`` is
    that of the data, whose rounding decides what is dependent.
    """
    sizes = np.diff(groups.starts)
    n_samples = design.shape[0]
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        step = max(1, _BLOCK // (n_samples * int(size)))
        for start in range(0, len(alike), step):
            some = alike[start : start + step]
            columns = np.concatenate([groups.columns[g] for g in some])
            values = np.asarray(design.dense_columns(columns), dtype=np.float64)
            blocks = np.moveaxis(values.reshape(n_samples, len(some), size), 1, 0)
            bases, spread, _ = np.linalg.svd(blocks, full_matrices=False)
            # The columns of a category, say, add up to one.
            inside = spread > RANK_TOL[np.dtype(dtype)] * np.maximum(spread[:, :1], 1.0)
            yield some, bases * inside[:, None, :], inside.sum(axis=1)


def with_feature_groups(selector: Any, given: Any) -> Any:
    """The selector with these ``feature_groups``; None leaves it as it is.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.groups import with_feature_groups
    >>> with_feature_groups(RidgeForwardSelector(), [0, 0, 1])
    RidgeForwardSelector(feature_groups=[0, 0, 1])
    """
    if given is None:
        return selector
    if not takes_groups(selector):
        able = [name for name, method in all_methods().items() if "groups" in method.purposes]
        raise ValueError(
            f"{selector_name(selector)} selects single columns and takes no feature_groups; "
            "methods that "
            f"keep whole groups are {', '.join(able)}"
        )
    return reconfigure(clone(selector), {"feature_groups": given})


def takes_groups(selector: Any) -> bool:
    """Whether a selector has the parameter ``feature_groups``."""
    return "feature_groups" in selector.get_params(deep=False)
