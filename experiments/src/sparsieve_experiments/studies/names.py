"""The selectors that a study file can name."""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparsieve.selectors.base import BaseSelector, FeatureScores, TrainingData

from .kinds import StudyError, shortened

ALL_FEATURES = "AllFeatures"  # the baseline
_ELSEWHERE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*", re.ASCII)


def selector_class(name: str) -> type:
    """The class behind the name of a selector of this package."""
    from sparsieve.registry import all_selectors

    return AllFeatures if name == ALL_FEATURES else all_selectors()[name]


def is_elsewhere(name: Any) -> bool:
    """Whether a name is ``package.module:Class``, which stands for code of another package."""
    return isinstance(name, str) and ":" in name


def imported(name: str, *, allow_import: bool) -> Any:
    """The class or function that ``package.module:Class`` stands for, if the user allowed it.

    Study files come from anywhere, and importing a module runs its code.
    """
    if not _ELSEWHERE.fullmatch(name):
        raise StudyError(f"{shortened(name)} is not of the form package.module:Class")
    if not allow_import:
        raise StudyError(
            f"{shortened(name)} is code of another package, which a study file may run only if you "
            "allow it: add --allow-import, or in Python allow_import=True"
        )
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except AttributeError:
        raise StudyError(f"the module {module} has no {attribute}") from None
    except Exception as error:  # whatever the code of the module does
        said = " ".join(str(error).split()) or type(error).__name__
        raise StudyError(f"the module {module} cannot be imported: {said}") from None
    if not callable(found):
        raise StudyError(f"{shortened(name)} is neither a class nor a function")
    return found


def class_name(name: str) -> str:
    """The class that any way to write the name of a selector means.

    Examples
    --------
    >>> from sparsieve_experiments.studies.names import class_name
    >>> class_name("ridge-forward")
    'RidgeForwardSelector'
    """
    if is_elsewhere(name):
        return name
    from sparsieve.registry import all_selectors, find_class_name

    known = (*all_selectors(), ALL_FEATURES)
    try:
        return find_class_name(
            str(name), known, kind="selector", shown=repr, where="sparsieve methods lists them all"
        )
    except ValueError as error:
        raise StudyError(str(error)) from None


@dataclass(eq=False, repr=False, kw_only=True)
class AllFeatures(BaseSelector):
    """Keep every feature, whatever number is asked for.

    Parameters
    ----------
    n_features_to_select, max_correlation, always_keep, never_keep : default=None
        Taken so that it can stand where a selector does; all features are kept.

    See Also
    --------
    sparsieve_experiments.studies.Study : What to compare.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve_experiments.studies import AllFeatures
    >>> X, y = load_wine(return_X_y=True)
    >>> AllFeatures().fit(X, y).at(3).transform(X).shape
    (178, 13)
    """

    _score_meaning: ClassVar[str] = "Zero for every feature: nothing is judged."

    def _fit(self, data: TrainingData) -> FeatureScores:
        n_features = data.design.shape[1]
        return FeatureScores(np.zeros(n_features), n_features)

    def _set_support(self) -> None:
        self.support_ = np.ones(len(self.ranking_), dtype=bool)
