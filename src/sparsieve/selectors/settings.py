"""Settings that belong to one solver only: what ``solver=`` takes beside plain names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from .._checks import check_real, warn_user
from ..solvers.settings import SolverSettings


def resolve_solver(solver: Any, known: Mapping[str, type[SolverSettings]]) -> SolverSettings:
    """The settings meant by a name or an object; unknown ones are refused in words."""
    if isinstance(solver, str) and solver in known:
        return known[solver]()
    if isinstance(solver, SolverSettings) and isinstance(solver, tuple(known.values())):
        solver._check()
        return solver
    names = ", ".join(repr(name) for name in known)
    objects = ", ".join(sorted({f"{kind.__name__}(...)" for kind in known.values()}))
    raise ValueError(
        f"solver must be one of {names} or an object such as {objects}, got {solver!r}"
    )


def check_price(selector: Any) -> None:
    """Refuse a bad price of a feature, and one beside a number of features."""
    check_real("lam", selector.lam, minimum=0, strict=True, optional=True)
    if selector.lam is not None and selector.n_features_to_select is not None:
        raise ValueError(
            "lam and n_features_to_select both say how many features to keep; give only one of "
            "them, and call at(k) for another number"
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
                f"{nested[0]} sets a parameter of a solver object, but solver={solver!r} is only "
                f"a name; pass solver={example}() first"
            )
        return super().set_params(**params)


def warn_of_no_feature(lam: float, unit: str) -> None:
    """Say that a price leaves nothing in the model."""
    warn_user(
        f"lam={lam:g} is too large for any {unit}: the model is empty, and support_ holds one "
        f"{unit} only because a selector keeps at least one; lower lam, or pass "
        "n_features_to_select instead"
    )
