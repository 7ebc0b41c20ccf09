"""What comes out of every solver, what it says on the way, and sequences of selections."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Annotated, Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .._beside import rows_in_use
from .._saved import Floats, Ints, Savable
from ..design import DesignMatrix
from ..penalties import row_norms

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


# ||Y||^2 outside of [this, 1 / this] is refused: its products with squares of X would overflow.
MIN_SQ_NORM = 1e-150


P = TypeVar("P")


@dataclass(frozen=True)
class LeastSquares:
    """Minimise ||XW - Y||^2 + ridge ||W||^2 + penalty(W) over W.

    Parameters
    ----------
    design, Y : the centred problem.
    penalty : Penalty or None
        With whatever capabilities the solver asks for.
    ridge : float
        Non-negative; for searches over supports, which take no penalty.
    eligible : ndarray of shape (n_features,) or None
        Mask of the features that such a search may use; None is all of them.
    redundancy : Redundancy or None
        Which features such a search passes over as near copies; None is none of them.
    """

    design: DesignMatrix
    Y: np.ndarray
    penalty: Any = None
    ridge: float = 0.0
    eligible: np.ndarray | None = None
    redundancy: Any = None

    def __post_init__(self) -> None:
        if self.penalty is None:
            return
        largest = float(np.abs(self.Y).max(initial=0.0))
        if largest > 0 and not MIN_SQ_NORM <= self.power <= 1.0 / MIN_SQ_NORM:
            size = "large" if largest > 1 else "small"
            raise ValueError(
                f"y is too {size} to be squared (its largest centred, weighted value is "
                f"{largest:.3g}); rescale y or sample_weight"
            )

    @property
    def is_eligible(self) -> np.ndarray:
        """The mask of the features that a search may use."""
        n_features = self.design.shape[1]
        return np.ones(n_features, dtype=bool) if self.eligible is None else self.eligible

    @property
    def alpha(self) -> float:
        """The strength of the penalty."""
        return self.penalty.alpha

    @property
    def power(self) -> float:
        """||Y||^2, which is the objective at W = 0."""
        Y = self.Y.astype(np.float64, copy=False)
        return float(np.vdot(Y, Y))

    @property
    def floor(self) -> float:
        """The least objective that gaps are measured by: below it a fit counts as perfect."""
        return float(np.sqrt(np.finfo(self.design.dtype).eps)) * self.power

    def objective(self, W: np.ndarray) -> float:
        """Value at W."""
        R = self.Y - self.design.matmul(W)
        value = float(np.vdot(R, R)) + self.ridge * float(np.vdot(W, W))
        return value if self.penalty is None else value + self.penalty.value(W)

    def make_result(self, W: np.ndarray) -> Result[Rows]:
        """W as a Result that solvers can start from; nothing is known about its optimality."""
        W = W.astype(self.design.dtype, copy=False)
        G = 2.0 * self.design.rmatmul(self.Y - self.design.matmul(W))
        return Result(Rows(W, row_norms(G)), self.objective(W), np.inf, 0, False)

    def assess(self, W: np.ndarray) -> tuple[Rows, float, float]:
        """Rows with their correlations, the objective, and the lower bound that they certify."""
        Y = self.Y.astype(np.float64)
        R = Y - self.design.matmul(W)
        G = 2.0 * self.design.rmatmul(R.astype(self.design.dtype, copy=False))
        value = float(np.vdot(R, R)) + self.penalty.value(W)
        return Rows(W, row_norms(G)), value, self.penalty.dual_bound(Y, R, G)

    def nothing(self) -> Result[Rows]:
        """The solution where no feature says anything about Y."""
        n_features = self.design.shape[1]
        W = np.zeros((n_features, self.Y.shape[1]), dtype=self.design.dtype)
        rows = Rows(W, np.zeros(n_features))
        return Result(rows, self.power, 0.0, 1, True, [self.power])

    def require_penalty(self, kind: type[P], solver: str) -> P:
        """The penalty, of which a solver needs a certain kind."""
        if not isinstance(self.penalty, kind):
            raise TypeError(f"{solver} needs {kind.__name__}, got {type(self.penalty).__name__}")
        return self.penalty


@dataclass(frozen=True)
class Rows:
    """A solution of a row-sparse problem.

    Attributes
    ----------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients.
    correlation : ndarray of shape (n_features,)
        ||2 x_j'(Y - XW)||, the correlation of every feature with the residual.
    """

    W: np.ndarray
    correlation: np.ndarray

    @property
    def nonzero_features(self) -> np.ndarray:
        """The features with a row that is not zero."""
        return rows_in_use(self.W)


@dataclass(frozen=True)
class FewRows:
    """The same from the rows of a working set: nothing of the length of X is made unless asked for.

    Attributes
    ----------
    features : ndarray of int
        The features of the working set, in any order.
    rows : ndarray of shape (len(features), n_outputs)
        Their coefficients, in double precision.
    correlation : array of shape (n_features,)
        As in :class:`Rows`; a tensor where X is on a device.
    dtype : dtype
        Of the design.
    """

    features: np.ndarray
    rows: np.ndarray
    correlation: Any
    dtype: Any

    @cached_property
    def W(self) -> np.ndarray:
        """All coefficients."""
        W = np.zeros((len(self.correlation), self.rows.shape[1]), dtype=self.dtype)
        W[self.features] = self.rows
        return W

    @property
    def nonzero_features(self) -> np.ndarray:
        """The features with a row that is not zero."""
        return np.sort(self.features[self.rows.astype(self.dtype).any(axis=1)])
