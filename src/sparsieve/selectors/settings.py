"""Settings that belong to one solver only: what ``solver=`` takes beside plain names."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from sklearn.base import BaseEstimator, clone

Settings = TypeVar("Settings", bound="SolverSettings")


class SolverSettings:
    """Base of solver objects: parameters that clone, print, pickle, compare and can be searched.

    They are no estimators: nothing is fitted. A subclass is a dataclass (``eq=False, repr=False,
    kw_only=True``), has ``name``, what ``solver=`` calls it, and may override ``_check``.
    """

    name: str

    @classmethod
    def _names(cls) -> list[str]:
        return list(inspect.signature(cls).parameters)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name.

        Parameters
        ----------
        deep : bool, default=True
            Accepted as everywhere in scikit-learn; there is nothing deeper.
        """
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self: Settings, **params: Any) -> Settings:
        """Set parameters by name."""
        for name, value in params.items():
            if name not in self._names():
                raise ValueError(
                    f"{type(self).__name__} has no parameter {name!r}; it takes "
                    f"{', '.join(self._names()) or 'none'}"
                )
            setattr(self, name, value)
        return self

    def __sklearn_clone__(self: Settings) -> Settings:
        return type(self)(**{name: clone(v, safe=False) for name, v in self.get_params().items()})

    def __repr__(self) -> str:
        default = inspect.signature(type(self)).parameters
        changed = {
            k: v for k, v in self.get_params().items() if repr(v) != repr(default[k].default)
        }
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in changed.items())})"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    __hash__ = None  # type: ignore[assignment]

    def _check(self) -> None:
        """Refuse bad settings in one sentence."""


def resolve_solver(
    solver: Any, known: Mapping[str, type[SolverSettings]], parameter: str = "solver"
) -> SolverSettings:
    """The settings meant by a name or an object; unknown ones are refused in words."""
    if isinstance(solver, str) and solver in known:
        return known[solver]()
    if isinstance(solver, SolverSettings) and isinstance(solver, tuple(known.values())):
        solver._check()
        return solver
    names = ", ".join(repr(name) for name in known)
    objects = ", ".join(sorted({f"{kind.__name__}(...)" for kind in known.values()}))
    raise ValueError(
        f"{parameter} must be one of {names} or an object such as {objects}, got {solver!r}"
    )


class HasSolver(BaseEstimator):
    """Mixin of estimators whose ``solver`` may be a plain name: ``solver__x`` then says so."""

    solver: Any
    _solvers: ClassVar[Mapping[str, type[SolverSettings]]]

    def set_params(self, **params: Any) -> Any:
        """Set parameters, those of the solver object as ``solver__name``."""
        nested = [name for name in params if name.startswith("solver__")]
        solver = params.get("solver", self.solver)
        if nested and isinstance(solver, str):
            kind = self._solvers.get(solver)
            example = kind.__name__ if kind is not None else "a solver object"
            raise ValueError(
                f"{nested[0]} sets a parameter of a solver object, but solver={solver!r} is a "
                f"plain name; pass solver={example}() first"
            )
        return super().set_params(**params)
