"""The selectors that a study file can name."""

from __future__ import annotations

from .kinds import StudyError

ALL_FEATURES = "AllFeatures"  # the baseline


def selector_class(name: str) -> type:
    """The class behind the name of a selector."""
    from sparsieve.registry import all_selectors

    from .baseline import AllFeatures

    return AllFeatures if name == ALL_FEATURES else all_selectors()[name]


def class_name(name: str) -> str:
    """The class that any way to write the name of a selector means.

    Examples
    --------
    >>> from sparsieve_experiments.studies.names import class_name
    >>> class_name("ridge-forward")
    'RidgeForwardSelector'
    """
    from sparsieve.registry import all_selectors, find_class_name

    known = (*all_selectors(), ALL_FEATURES)
    try:
        return find_class_name(
            str(name), known, kind="selector", shown=repr, where="sparsieve methods lists them all"
        )
    except ValueError as error:
        raise StudyError(str(error)) from None
