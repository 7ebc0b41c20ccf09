"""The interface of a loss."""

from __future__ import annotations

from typing import Protocol


class Loss(Protocol):
    """A function of the targets Y and the predictions Z = XW; it never sees X.

    ``curvature`` is the Lipschitz constant of the gradient with respect to Z.
    """

    @property
    def curvature(self) -> float: ...

    def value(self, Y, Z) -> float: ...

    def gradient(self, Y, Z): ...
