"""Solvers: iterate until an optimality measure is small; and what ``solver=`` of selectors takes.

The names given here are settings, imported at their first use. The solvers themselves are below
this package, one family per loss, and may change with any version.
"""

from typing import TYPE_CHECKING

from .._lazy import lazy_names

if TYPE_CHECKING:
    from .settings import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), ("settings",))
