"""From what a user calls a method to a selector: a name, a class, an estimator or a function."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from .adapter import SelectorAdapter
from .base import BaseSelector
from .guests import resolve_method


def as_selector(method: Any, params: Mapping[str, Any] | None = None) -> BaseSelector:
    """The selector that a name, class, estimator or function stands for; unfitted.

    Parameters
    ----------
    method : str, class, estimator or function
        The name of a method; a selector of this package; a selector or model of another one; or a
        function ``(X, y) -> scores``.
    params : dict, default=None
        Parameters of the method.

    Returns
    -------
    selector : BaseSelector
        Guests are inside a :class:`SelectorAdapter`.

    Examples
    --------
    >>> from sklearn.feature_selection import f_classif
    >>> from sparsieve.selectors.methods import as_selector
    >>> as_selector("fisher")
    FisherSelector()
    >>> as_selector(f_classif).guest_name
    'f_classif'
    """
    found = resolve_method(method, params)
    return found if isinstance(found, BaseSelector) else SelectorAdapter(found)


def format_selector(selector: Any) -> str:
    """A selector as code that makes it; functions by their names."""
    return re.sub(r"<function (\S+) at 0x\w+>", r"\1", repr(selector))


def method_parameters(selector: Any) -> dict[str, Any]:
    """The parameters of a method: of a guest, those that its own class takes."""
    if not isinstance(selector, SelectorAdapter):
        return selector.get_params(deep=False)
    guest = selector._guest()
    if isinstance(guest, partial):
        return dict(guest.keywords)
    return guest.get_params(deep=False) if hasattr(guest, "get_params") else {}


def seed_selector(selector: BaseSelector, seed: int) -> BaseSelector:
    """A selector whose open ``random_state``, at any depth, is this seed."""
    guest: Any = selector._guest() if isinstance(selector, SelectorAdapter) else selector
    if hasattr(guest, "get_params"):
        values = guest.get_params().items()
        names = [n for n, v in values if n.rpartition("__")[2] == "random_state" and v is None]
        guest.set_params(**dict.fromkeys(names, seed))
    elif not hasattr(guest, "fit") and "random_state" in inspect.signature(guest).parameters:
        given = guest.keywords if isinstance(guest, partial) else {}
        return SelectorAdapter(partial(guest, **{"random_state": seed, **given}))
    return selector
