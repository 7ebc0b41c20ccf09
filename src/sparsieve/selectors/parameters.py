"""Parameters by name, as the command line and study files write them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from ..solvers.settings import SolverSettings


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
    >>> from sparsieve.selectors.parameters import configure
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
