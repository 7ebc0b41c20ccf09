"""Settings that belong to one solver only: what ``solver=`` takes beside plain names.

Parameters by name, as the command line and study files write them.

How a fit went: objective, optimality, iterations, and the warning if it did not converge.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from .._checks import check_real, warn_user
from ..solvers.base import Result
from ..solvers.settings import SolverSettings


def configured(cls: type, parameters: Mapping[str, Any], *, hidden: Iterable[str] = ()) -> Any:
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
    >>> from sparsieve.selectors.settings import configured
    >>> configured(FisherSelector, {"class_weight": "balanced"})
    FisherSelector(class_weight='balanced')
    """
    return reconfigured(cls(), parameters, hidden=hidden)


def reconfigured(
    selector: Any, parameters: Mapping[str, Any], *, hidden: Iterable[str] = ()
) -> Any:
    """Set these parameters of a selector, see :func:`configured`, and return it."""
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
        made = _object_of(selector, owner, next(iter(values)))
        selector.set_params(**{owner: made.set_params(**values)})
    return selector


def _object_of(selector: Any, owner: str, setting: str) -> Any:
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


# What solvers stop on, for warnings: convex ones, and the others.
GAP = "a relative duality gap of"
STATIONARITY = "a residual of the stationarity conditions of"


def keep_result(
    estimator: Any,
    results: Result[Any] | Sequence[Result[Any]],
    *,
    measure: str = "optimality",
    remedy: str = "raise max_iter or tol",
) -> None:
    """Say how a fit went, for one model or several: the only place that decides.

    Objectives of several models add up, and the worst of their optimalities counts. A fit
    that did not reach its tolerance is warned about with ``measure`` as its name; ``remedy`` says
    how to get further.
    """
    several = [results] if isinstance(results, Result) else list(results)
    estimator.objective_ = float(sum(one.objective for one in several))
    estimator.optimality_ = float(max(one.optimality for one in several))
    estimator.n_iter_ = max(1, *(int(one.n_iter) for one in several))
    estimator.history_ = _summed([one.trace for one in several])
    estimator.converged_ = bool(all(one.converged for one in several))
    if not estimator.converged_:
        warn_not_converged(estimator, measure, estimator.optimality_, remedy)


def warn_not_converged(
    estimator: Any, measure: str, reached: float, remedy: str = "raise max_iter or tol"
) -> None:
    """Say how far an iterative fit got."""
    tol = getattr(estimator, "tol", None)
    wanted = "" if tol is None else f" instead of {tol:.3g}"
    warn_user(
        f"{type(estimator).__name__} stopped after {estimator.n_iter_} "
        f"iteration{'s' * (estimator.n_iter_ != 1)} with {measure} "
        f"{reached:.3g}{wanted}; {remedy}",
        ConvergenceWarning,
    )


def _summed(traces: list[list[float]]) -> list[float]:
    """Sum over models; a model that is done keeps its last value."""
    traces = [list(map(float, trace)) for trace in traces if len(trace)]
    if len(traces) == 1:
        return traces[0]
    length = max(map(len, traces), default=0)
    padded = [trace + [trace[-1]] * (length - len(trace)) for trace in traces]
    return [float(total) for total in np.sum(padded, axis=0)] if padded else []
