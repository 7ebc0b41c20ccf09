"""The selectors of a study: by name, with parameters that are fixed or to be chosen."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sklearn.model_selection import ParameterGrid

from sparsieve._checks import check_choice, check_flag, check_integer

from .kinds import StudyError, check_kinds, shortened
from .names import class_name, is_elsewhere
from .wrapped import built, checked_steps, described, names_within

TUNING = ("none", "inner-cv", "best-on-test")


@dataclass(frozen=True)
class SelectorSpec:
    """A selector of a study with its parameters, fixed or to be chosen.

    Parameters
    ----------
    name : str
        Class name such as "RidgeForwardSelector" or the command-line name "ridge-forward";
        "AllFeatures" is the baseline that keeps everything. With ``allow_import`` also
        "package.module:Class" or "package.module:function", such as
        "sklearn.feature_selection:SelectKBest", see :class:`sparsieve.SelectorAdapter`. Results
        belong to its code: the files of your own modules, the versions of installed packages.
    parameters : dict
        Fixed parameters; ``solver__name`` is a setting of the solver, see
        :func:`sparsieve.selectors.settings.configured`. Selectors inside SelectorCV,
        StabilitySelection (``selector``) and EnsembleSelector (``selectors``) are names or
        tables such as ``{"name": "l21", "parameters": {"alpha": 0.1}}``; ``feature_groups`` are
        lists of labels or tables of columns, and ``ks`` then counts groups; the ``estimator`` of a
        SelectorCV is the name of one of the study's models.
    before : list of str or dict
        Preprocessors of scikit-learn that come first, learnt from the training part: names or
        tables with ``name``, ``parameters`` and ``columns`` (all if not given). What they make
        is what is selected from. Known are SimpleImputer, KNNImputer, StandardScaler,
        RobustScaler, MinMaxScaler, MaxAbsScaler, OneHotEncoder and OrdinalEncoder.
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
    allow_import : bool, default=False
        Whether "package.module:Class" may be imported, which runs code of that package. A study
        file cannot say so itself.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.
    sparsieve_experiments.studies.DatasetSpec : A data set of a study.

    Examples
    --------
    >>> from sparsieve_experiments.studies import SelectorSpec
    >>> SelectorSpec("ridge-forward", {"ridge": 0.1}).label
    'RidgeForwardSelector(ridge=0.1)'
    >>> SelectorSpec("L21Selector", grid={"alpha": [1, 10]}, tuning="best-on-test").label
    'L21Selector (best on test)'
    >>> SelectorSpec("StabilitySelection", {"selector": "fisher"}, before=["SimpleImputer"]).label
    "StabilitySelection(selector='fisher') after SimpleImputer"
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    tuning: str = ""
    inner_folds: int = 3
    label: str = ""
    before: Sequence[Any] = ()
    allow_import: bool = False

    def __post_init__(self) -> None:
        put = partial(object.__setattr__, self)
        kinds = {
            "parameters": "a table",
            "grid": "a table of lists",
            "label": "text",
            "before": "a list",
        }
        check_kinds(vars(self), kinds, f"selector {shortened(self.name)}")
        put("name", class_name(self.name))
        put("parameters", dict(self.parameters))
        put("grid", {name: list(values) for name, values in self.grid.items()})
        put("tuning", self.tuning or ("inner-cv" if self.grid else "none"))
        check_choice("tuning", self.tuning, TUNING)
        check_flag("allow_import", self.allow_import)
        check_integer("inner_folds", self.inner_folds, minimum=2)
        if bool(self.grid) != (self.tuning != "none"):
            raise StudyError(
                f'{self.name}: tuning="{self.tuning}" needs a grid of parameters'
                if self.tuning != "none"
                else f'{self.name}: a grid needs tuning="inner-cv" or "best-on-test"'
            )
        _plain((self.parameters, self.grid, list(self.before)), f"parameters of {self.name}")
        put("before", checked_steps(list(self.before), self.name))
        self._check_parameters()
        put("label", self._full_label())

    def _check_parameters(self) -> None:
        for name, values in self.grid.items():
            if not values:
                raise StudyError(f"{self.name}: the grid has no value of {name!r}")
            if name in ("selector", "selectors", "estimator"):
                raise StudyError(
                    f"{self.name}: {name} cannot be chosen from a grid; list every choice as a "
                    "selector of the study"
                )
        first = {**self.parameters, **{name: values[0] for name, values in self.grid.items()}}
        tried = [{**first, name: value} for name, values in self.grid.items() for value in values]
        for parameters in tried or [first]:
            built(self.name, parameters, allow_import=self.allow_import)

    def _full_label(self) -> str:
        label = self.label
        if not label:
            settings = ", ".join(_setting(name, value) for name, value in self.parameters.items())
            name = self.name.rpartition(":")[2]
            label = f"{name}({settings})" if settings else name
            if self.before:
                label += f" after {', '.join(step['name'] for step in self.before)}"
            label += " (tuned)" if self.tuning == "inner-cv" else ""
        mark = " (best on test)"
        return label + mark if self.tuning == "best-on-test" and mark not in label else label

    def guests(self) -> list[str]:
        """The names "package.module:Class" that it is made with, in any variant."""
        tried = [self.parameters, *({k: v} for k, values in self.grid.items() for v in values)]
        names = {name for one in tried for name in names_within(self.name, one)}
        return sorted(name for name in names if is_elsewhere(name))

    def variants(self) -> Iterator[dict[str, Any]]:
        """Fixed parameters of every cell: one choice, or all candidates for "best-on-test"."""
        if self.tuning == "best-on-test":
            for candidate in ParameterGrid(self.grid):
                yield {**self.parameters, **candidate}
        else:
            yield dict(self.parameters)


def _setting(name: str, value: Any) -> str:
    """A parameter for a label; of feature groups their number."""
    if name != "feature_groups" or not isinstance(value, Mapping | list):
        return f"{name}={described(value)}"
    of_lists = isinstance(value, Mapping) or any(isinstance(one, list) for one in value)
    number = len(value) if of_lists else len(set(value))
    return f"{number} feature group{'s' * (number != 1)}"


def _plain(value, what: str) -> None:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise StudyError(f"{what} must be plain numbers, text and lists: {error}") from None
