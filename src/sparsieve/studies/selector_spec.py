"""The selectors of a study: by name, with parameters that are fixed or to be chosen."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sklearn.model_selection import ParameterGrid

from .._checks import check_choice, check_integer
from ..selectors.parameters import configured
from .kinds import StudyError, check_kinds, shortened

TUNING = ("none", "inner-cv", "best-on-test")
ALL_FEATURES = "AllFeatures"  # the baseline


@dataclass(frozen=True)
class SelectorSpec:
    """A selector of a study with its parameters, fixed or to be chosen.

    Parameters
    ----------
    name : str
        Class name such as "RidgeForwardSelector" or the command-line name "ridge-forward";
        "AllFeatures" is the baseline that keeps everything.
    parameters : dict
        Fixed parameters; ``solver__name`` is a setting of the solver, see
        :func:`sparsieve.selectors.parameters.configured`.
    grid : dict of str to list
        Candidate values of parameters to choose.
    tuning : {"none", "inner-cv", "best-on-test"}
        How to choose from the grid. "inner-cv" chooses by cross-validation inside the training
        part. "best-on-test" computes every candidate and reports the one that is best on the
        test samples: an optimistic figure, for comparison with papers that did so, and labelled
        everywhere. Default: "inner-cv" with a grid, "none" without.
    inner_folds : int, default=3
        Of "inner-cv".
    label : str
        How to call it in tables; made from name and parameters if not given.

    Examples
    --------
    >>> from sparsieve.studies import SelectorSpec
    >>> SelectorSpec("ridge-forward", {"ridge": 0.1}).label
    'RidgeForwardSelector(ridge=0.1)'
    >>> SelectorSpec("L21Selector", grid={"alpha": [1, 10]}, tuning="best-on-test").label
    'L21Selector (best on test)'
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    tuning: str = ""
    inner_folds: int = 3
    label: str = ""

    def __post_init__(self) -> None:
        def put(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        kinds = {"parameters": "a table", "grid": "a table of lists", "label": "text"}
        check_kinds(vars(self), kinds, f"selector {shortened(self.name)}")
        put("name", _class_name(self.name))
        put("parameters", dict(self.parameters))
        put("grid", {name: list(values) for name, values in self.grid.items()})
        put("tuning", self.tuning or ("inner-cv" if self.grid else "none"))
        check_choice("tuning", self.tuning, TUNING)
        check_integer("inner_folds", self.inner_folds, minimum=2)
        if bool(self.grid) != (self.tuning != "none"):
            raise StudyError(
                f'{self.name}: tuning="{self.tuning}" needs a grid of parameters'
                if self.tuning != "none"
                else f'{self.name}: a grid needs tuning="inner-cv" or "best-on-test"'
            )
        _plain((self.parameters, self.grid), f"parameters of {self.name}")
        self._check_parameters()
        put("label", self._full_label())

    def _check_parameters(self) -> None:
        for name in (*self.parameters, *self.grid):
            if name == "n_features_to_select":
                raise StudyError(f"{self.name}: ks of the study says how many features to select")
        for name, values in self.grid.items():
            if not values:
                raise StudyError(f"{self.name}: the grid has no value of {name!r}")
        first = {**self.parameters, **{name: values[0] for name, values in self.grid.items()}}
        tried = [{**first, name: value} for name, values in self.grid.items() for value in values]
        for parameters in tried or [first]:
            try:
                configured(selector_class(self.name), parameters, hidden=["n_features_to_select"])
            except ValueError as error:
                raise StudyError(str(error)) from None

    def _full_label(self) -> str:
        label = self.label
        if not label:
            settings = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
            label = f"{self.name}({settings})" if settings else self.name
            label += " (tuned)" if self.tuning == "inner-cv" else ""
        mark = " (best on test)"
        return label + mark if self.tuning == "best-on-test" and mark not in label else label

    def variants(self) -> Iterator[dict[str, Any]]:
        """Fixed parameters of every cell: one choice, or all candidates for "best-on-test"."""
        if self.tuning == "best-on-test":
            for candidate in ParameterGrid(self.grid):
                yield {**self.parameters, **candidate}
        else:
            yield dict(self.parameters)


def selector_class(name: str) -> type:
    """The class behind the name of a selector."""
    from ..discovery import all_selectors
    from .baseline import AllFeatures

    return AllFeatures if name == ALL_FEATURES else all_selectors()[name]


def _class_name(name: str) -> str:
    from ..discovery import all_selectors

    by_key = {_folded(known): known for known in (*all_selectors(), ALL_FEATURES)}
    key = _folded(str(name))
    if key not in by_key:
        close = difflib.get_close_matches(key, list(by_key), n=1, cutoff=0.5)
        hint = f"did you mean {by_key[close[0]]!r}? " if close else ""
        raise StudyError(
            f"unknown selector {shortened(name)}; {hint}sparsieve methods lists them all"
        )
    return by_key[key]


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("selector")


def _plain(value, what: str) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StudyError(f"{what} must be plain numbers, text and lists: {error}") from None
