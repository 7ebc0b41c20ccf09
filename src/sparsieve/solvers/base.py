"""What comes out of every solver, what it says on the way, and sequences of selections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._saved import Floats, Ints, Savable

Solution = TypeVar("Solution")
ProblemType = TypeVar("ProblemType", contravariant=True)


@dataclass(frozen=True)
class Result(Savable, Generic[Solution]):
    """What every solver returns.

    Attributes
    ----------
    solution : object
        The unknowns of the family: a matrix W, a hyperplane, kernel weights.
    objective : float
        Value of the model at the solution.
    optimality : float
        What the solver stops on, relative to the objective: a duality gap, a residual of the
        stationarity conditions, or how much the objective still changed.
    n_iter : int
        Iterations.
    converged : bool
        Whether ``optimality`` came down to the tolerance that was asked for.
    trace : list of float
        The objective after every iteration.
    """

    solution: Solution
    objective: float
    optimality: float
    n_iter: int
    converged: bool
    trace: list[float] = field(default_factory=list)


def relative(amount: float, objective: float, floor: float = 0.0) -> float:
    """An amount as a share of the objective; ``floor`` keeps perfect fits from dividing by zero."""
    size = max(abs(objective), floor)
    if size > 0.0:
        return float(max(amount, 0.0) / size)
    return 0.0 if amount <= 0.0 else float("inf")


@dataclass(frozen=True)
class Event:
    """What a callback gets after every iteration.

    Attributes
    ----------
    n_iter : int
        Iterations so far, or features so far on a path that grows by one feature a step.
    objective : float
        Value of the model.
    optimality : float or None
        As in ``Result``, where it is known at this point.
    n_features : int or None
        Features in use or under consideration.
    note : str
        Anything else worth saying, as part of a sentence.
    solution : object
        The iterate, where a solver can show it without work.
    """

    n_iter: int
    objective: float
    optimality: float | None = None
    n_features: int | None = None
    note: str = ""
    solution: Any = None

    def __str__(self) -> str:
        parts = [f"{self.n_iter}: objective {self.objective:.8g}"]
        if self.optimality is not None:
            parts.append(f"optimality {self.optimality:.2g}")
        if self.n_features is not None:
            parts.append(f"{self.n_features} feature{'s' * (self.n_features != 1)}")
        if self.note:
            parts.append(self.note)
        return ", ".join(parts)


# Called after every iteration; returning True stops the solver.
Callback = Callable[[Event], "bool | None"]


class Solver(Protocol[ProblemType, Solution]):
    """What every solver is: a frozen dataclass of its settings with one method.

    The problem is a frozen dataclass of the family that holds everything that is given: the
    design, the target, the penalty with its strength, and which features are eligible. A warm
    start is the Result of a problem nearby. Whatever else comes out is part of the solution.
    """

    def solve(
        self,
        problem: ProblemType,
        start: Result[Solution] | None = None,
        callback: Callback | None = None,
    ) -> Result[Solution]:
        """Iterate until the optimality is below the tolerance, or the callback returns True."""
        ...


def printer(verbose: int, owner: str, note: str = "") -> Callback | None:
    """The callback behind every ``verbose`` parameter; None where nothing is to be printed."""
    if not verbose:
        return None

    def show(event: Event) -> None:
        print(f"[{owner}] {replace(event, note=note) if note else event}", flush=True)

    return show


@dataclass(frozen=True)
class Path(Savable):
    """Selections that follow each other: by number of features, or by strength of a penalty.

    Number 0 is always the empty selection. Where selections are nested (``Path.from_order``) number
    k holds the first k features of ``features``.

    Attributes
    ----------
    supports : sequence of ndarray
        Feature indices of every selection, ``supports[0]`` empty.
    objective : ndarray or None
        Objective of every selection.
    strength : ndarray or None
        Strength of the penalty that every selection belongs to; for number 0 the smallest that
        keeps nothing.
    optimality : ndarray or None
        How well each was solved, relative to its objective.
    coefs : sequence of sparse arrays of shape (n_outputs, n_features), or None
        Coefficients in the units of X.
    intercepts : sequence of ndarray of shape (n_outputs,), or None
        Intercept of every output.
    """

    supports: Annotated[Sequence[Annotated[Ints, "*"]], "steps"]
    objective: Annotated[Floats, "steps"] | None = None
    strength: Annotated[Floats, "steps"] | None = None
    optimality: Annotated[Floats, "steps"] | None = None
    coefs: Annotated[Sequence[Annotated[sparse.csc_array, np.floating]], "steps"] | None = None
    intercepts: Annotated[Sequence[Annotated[Floats, "*"]], "steps"] | None = None

    def __post_init__(self) -> None:
        if len(self.supports) == 0 or len(self.supports[0]) > 0:
            raise ValueError("a path starts with the empty selection")

    @classmethod
    def from_order(cls, features: ArrayLike, **along: Any) -> Path:
        """The path that adds ``features`` one by one."""
        # Contiguous, so that all prefixes are stored as one array in files.
        features = np.ascontiguousarray(features, dtype=np.int64)
        return cls([features[:k] for k in range(len(features) + 1)], **along)

    def __reduce__(self) -> tuple[Any, ...]:
        """Nested selections are prefixes of one array, and are pickled as that array alone."""
        along = {name: getattr(self, name) for name in self.__dataclass_fields__}
        supports = along.pop("supports")
        last = supports[-1]
        if all(
            len(support) == k and (k == 0 or np.shares_memory(support, last[:1]))
            for k, support in enumerate(supports)
        ):
            return partial(Path.from_order, last.copy(), **along), ()
        return partial(Path, supports, **along), ()

    @property
    def features(self) -> np.ndarray:
        """The last selection, in the order in which its features entered."""
        return self.supports[-1]

    @property
    def n_features(self) -> np.ndarray:
        """Number of features of every selection."""
        return np.array([len(support) for support in self.supports])

    def __len__(self) -> int:
        """Number of steps; the empty selection is none."""
        return len(self.supports) - 1
