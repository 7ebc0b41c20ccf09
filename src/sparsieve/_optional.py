"""Extras that are imported only when something needs them."""

from __future__ import annotations

import importlib
from types import ModuleType


class MissingExtraError(ImportError):
    """A package of an optional extra is needed but not installed."""


def require(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import an optional module or say how to install it.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of sparsieve that brings it.
    purpose : str
        What it is needed for, as the end of "is needed to ...".

    Returns
    -------
    module : module
        The imported module.

    Examples
    --------
    >>> from sparsieve._optional import require
    >>> require("json", extra="data", purpose="read JSON").__name__
    'json'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is needed to {purpose}; install it with pip install 'sparsieve[{extra}]'",
            name=package,
        ) from error


def available(module: str) -> ModuleType | None:
    """Import an optional module, or None where it is not installed.

    Examples
    --------
    >>> from sparsieve._optional import available
    >>> available("no_such_module") is None
    True
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        return None
