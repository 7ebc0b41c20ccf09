"""The selectors that a study file can name."""

from __future__ import annotations

import difflib
import re

from .kinds import StudyError, shortened

ALL_FEATURES = "AllFeatures"  # the baseline


def selector_class(name: str) -> type:
    """The class behind the name of a selector."""
    from ..discovery import all_selectors
    from .baseline import AllFeatures

    return AllFeatures if name == ALL_FEATURES else all_selectors()[name]


def class_name(name: str) -> str:
    """The class that any way to write the name of a selector means.

    Examples
    --------
    >>> from sparsieve.studies.names import class_name
    >>> class_name("ridge-forward")
    'RidgeForwardSelector'
    """
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
