"""Solvers: iterate until an optimality measure is small; and what ``solver=`` of selectors takes.

The names given here are settings, imported at their first use. The solvers themselves are below
this package and may change with any version: ``paths``, ``searches``, ``exact`` and ``claims`` by
the question they answer, with a loss of ``losses``; ``robust`` and ``hinge`` with a mathematics of
their own. The solvers of the papers lie with their methods in ``papers``.
"""

from typing import TYPE_CHECKING

from .._imports import lazy_names

if TYPE_CHECKING:
    from .published import *  # noqa: F403
    from .settings import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), ("settings", "published"))
