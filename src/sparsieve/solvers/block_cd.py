"""Block coordinate descent with working sets for row-sparse least squares.

The working set keeps a dense copy of its few columns, their Gram matrix and the coefficients,
in double precision whatever the design. Every sweep runs in the Gram domain, where a row that
stays zero costs nothing to speak of; the design itself is only read to certify (one product
X'R over all features) and to find features that want to enter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..design import DesignMatrix
from ..losses import SquaredLoss
from ..penalties import require, row_norms
from .base import Callback, Problem, Result
from .entry_newton import newton_entries
from .row_newton import newton_rows

SWEEPS_PER_CHECK = 5
ANDERSON_DEPTH = 5
NEWTON_SHARE = 1.0
GOAL_SHARE = 0.7


class _WorkingSet:
    """Columns of the design with their Gram matrix, growing as features are added."""

    def __init__(self, design: DesignMatrix, Y: np.ndarray):
        self.design = design
        self.Y = Y.astype(np.float64)
        self.power = float(np.vdot(self.Y, self.Y))
        self.features = np.empty(0, dtype=np.int64)
        self.slot = np.full(design.shape[1], -1, dtype=np.int64)
        self._columns = np.empty((design.shape[0], 0), order="F")
        self._gram = np.empty((0, 0))
        self._compact = np.empty(0, dtype=np.int64), np.empty((0, 0))
        self.W = np.empty((0, Y.shape[1]))
        self.correlation = np.empty((0, Y.shape[1]))  # X_S' Y

    @property
    def size(self) -> int:
        return len(self.features)

    @property
    def columns(self) -> np.ndarray:
        return self._columns[:, : self.size]

    @property
    def gram(self) -> np.ndarray:
        return self._gram[: self.size, : self.size]

    def add(self, features: np.ndarray) -> None:
        old, new = self.size, self.size + len(features)
        if new > self._columns.shape[1]:
            self._reserve(max(new, 2 * old))
        block = self.design.dense_columns(features).astype(np.float64, copy=False)
        self._columns[:, old:new] = block
        cross = self._columns[:, :old].T @ block
        self._gram[:old, old:new] = cross
        self._gram[old:new, :old] = cross.T
        self._gram[old:new, old:new] = block.T @ block  # symmetric, so at half the price
        self.slot[features] = np.arange(old, new)
        self.features = np.concatenate([self.features, features])
        self.W = np.vstack([self.W, np.zeros((len(features), self.W.shape[1]))])
        self.correlation = np.vstack([self.correlation, block.T @ self.Y])

    def _reserve(self, capacity: int) -> None:
        capacity = min(capacity, self.design.shape[1])
        columns = np.empty((self.design.shape[0], capacity), order="F")
        columns[:, : self.size] = self.columns
        gram = np.empty((capacity, capacity))
        gram[: self.size, : self.size] = self.gram
        self._columns, self._gram = columns, gram

    def compact(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rows that include the active ones, not many more, and their contiguous Gram matrix.

        Copying the matrix takes as long as a sweep, so the last one serves while it fits.
        """
        rows, gram = self._compact
        if len(rows) > 1.1 * len(active) or not np.isin(active, rows, assume_unique=True).all():
            rows, gram = active, self.gram[np.ix_(active, active)]
            self._compact = rows, gram
        return rows, gram

    def residual_correlation(self) -> np.ndarray:
        """(X_S'(Y - X_S W))', straight from the Gram matrix; one row per output."""
        Q = self.correlation.T.copy()
        active = np.flatnonzero(self.W.any(axis=1))
        _subtract(self.gram, Q, active, self.W[active])
        return Q

    def residual(self) -> np.ndarray:
        active = np.flatnonzero(self.W.any(axis=1))
        return self.Y - self.columns[:, active] @ self.W[active]


@dataclass(frozen=True)
class BlockCD:
    """Minimise ||XW - Y||^2 + sum_j alpha ||w_j||_2 + beta ||w_j||_1^2.

    Parameters
    ----------
    tol : float
        Stop when the duality gap is at most ``tol * ||Y||^2``.
    max_iter : int
        Largest number of sweeps over the working set, in all rounds together.
    """

    tol: float = 1e-6
    max_iter: int = 10_000

    def solve(
        self, problem: Problem, W0: np.ndarray | None = None, callback: Callback | None = None
    ) -> Result:
        """Solve one problem from a warm start."""
        return next(self.path(problem, [problem.penalty], W0, callback))

    def path(
        self,
        problem: Problem,
        penalties: Iterable,
        W0: np.ndarray | None = None,
        callback: Callback | None = None,
    ) -> Iterator[Result]:
        """Solve the same problem under one penalty after the other, each from the last.

        ``problem.penalty`` is not used; ``penalties`` should come in order of falling strength.
        """
        if not isinstance(problem.loss, SquaredLoss):
            raise TypeError(f"BlockCD needs SquaredLoss, got {type(problem.loss).__name__}")
        state = _WorkingSet(problem.design, problem.Y)
        if W0 is not None and W0.any():
            start = np.flatnonzero(W0.any(axis=1))
            state.add(start)
            state.W[:] = W0[start]
        norms = row_norms(self._gradient(state))
        trace: list[tuple[float, np.ndarray]] = []
        for penalty in penalties:
            require(penalty, "row_strengths", "dual_bound_from", solver="BlockCD")
            _predict(state, penalty, trace)
            result, norms = self._solve(state, penalty, norms, callback)
            trace = [*trace[-1:], (penalty.row_strengths()[0], state.W.copy())]
            yield result

    def _gradient(self, state: _WorkingSet) -> np.ndarray:
        """2 X'R of all features; those of the working set come exactly from its Gram matrix."""
        G = np.empty((state.design.shape[1], state.W.shape[1]))
        if state.size < len(G):
            R = state.residual().astype(state.design.dtype, copy=False)
            G[:] = state.design.rmatmul(R)
        G[state.features] = state.residual_correlation().T
        G *= 2.0
        return G

    def _solve(self, state, penalty, norms, callback):
        alpha, beta = penalty.row_strengths()
        wanted = self.tol * state.power
        history: list[float] = []
        n_sweeps = 0
        # Where Newton steps are dear the first few features are not solved to the last digit.
        gap = state.power if beta > 0 else np.inf
        while True:
            self._grow(state, norms, alpha, patient=beta == 0)
            left = self.max_iter - n_sweeps
            # A gap far above the wanted one is not worth chasing with half of the features.
            goal = max(GOAL_SHARE * wanted, 0.03 * gap if np.isfinite(gap) else 0.0)
            n_sweeps += _descend(state, penalty, goal, left)
            G = self._gradient(state)
            norms = row_norms(G)
            R = state.residual()
            value = float(np.vdot(R, R)) + penalty.value(state.W)
            gap = max(value - penalty.dual_bound(state.Y, R, G), 0.0)
            history.append(value)
            stop = callback is not None and callback(
                {"objective": value, "optimality": gap, "n_active": int(state.W.any(1).sum())}
            )
            if gap <= wanted or n_sweeps >= self.max_iter or stop:
                break
        W = np.zeros((len(norms), state.W.shape[1]), dtype=state.design.dtype)
        W[state.features] = state.W
        result = Result(W, value, gap, n_sweeps, gap <= wanted, history, norms)
        return result, norms

    def _grow(self, state: _WorkingSet, norms, alpha: float, patient: bool) -> None:
        """Take in the features that violate their optimality condition most.

        Where most features want in and the whole Gram matrix is smaller than X, rounds with a
        few of them are not worth their price unless sweeps are cheap (``patient``).
        """
        outside = state.slot < 0
        if not outside.any():
            return
        wanting = np.flatnonzero(outside & (norms > 0.9 * alpha))
        n_samples, n_features = state.design.shape
        room = max(50, 2 * int(state.W.any(axis=1).sum()))
        hurry = not patient and 2 * len(wanting) >= n_features
        if len(wanting) > room and not (hurry and n_features <= n_samples):
            wanting = wanting[np.argpartition(-norms[wanting], room - 1)[:room]]
        if n_features <= n_samples and 2 * (state.size + len(wanting)) >= n_features:
            wanting = np.flatnonzero(outside)  # the whole Gram matrix is smaller than X
        if len(wanting):
            state.add(np.sort(wanting))


def _descend(state: _WorkingSet, penalty, goal: float, max_sweeps: int) -> int:
    """Coordinate descent on the working set until its own duality gap reaches ``goal``.

    Sweeps find the support; Newton steps then take over the slow tail, in the row norms where
    the penalty is the plain l2,1 norm and in the nonzero entries elsewhere. They are tried
    whenever the sweeps since the last try cost as much as they would.
    """
    if state.size == 0:
        return 0
    alpha, beta = (float(s) for s in penalty.row_strengths())
    W = state.W
    Q = state.residual_correlation()
    sweeps = since_newton = 0
    trail: list[np.ndarray] = []
    value, gap = _restricted_gap(state, penalty, Q)
    while sweeps < max_sweeps and gap > goal:
        trail.append(W.copy())
        active = _sweep(state, Q, alpha, beta)
        sweeps += SWEEPS_PER_CHECK
        since_newton += SWEEPS_PER_CHECK
        value, gap = _restricted_gap(state, penalty, Q)
        if gap <= goal:
            break
        candidate = None
        worth = _sweeps_worth(len(active), state.size, W.shape[1], beta > 0)
        if len(active) and since_newton >= worth:
            since_newton, trail = 0, []
            candidate = np.zeros_like(W)
            gram, correlation = state.gram[np.ix_(active, active)], state.correlation[active]
            if beta == 0:
                accuracy = max(0.1 * goal, 0.01 * gap)
                candidate[active] = newton_rows(
                    gram, correlation, alpha, W[active], state.power, accuracy
                )
            else:
                candidate[active] = newton_entries(gram, correlation, alpha, beta, W[active])
        elif len(trail) == ANDERSON_DEPTH:
            candidate, trail = _extrapolate([*trail, W]), []
        if candidate is not None:
            gap = _accept_if_lower(state, penalty, Q, candidate, value, gap)
    return sweeps


def _sweep(state: _WorkingSet, Q: np.ndarray, alpha: float, beta: float) -> np.ndarray:
    """One sweep over the working set, then some over its nonzero rows alone; in place.

    Returns the nonzero rows.
    """
    W = state.W
    _epochs(state.gram, W, Q, alpha, beta, 1)
    active = np.flatnonzero(W.any(axis=1))
    if len(active):
        some, gram = state.compact(active)
        rows, Q_rows = W[some], np.ascontiguousarray(Q[:, some])
        _epochs(gram, rows, Q_rows, alpha, beta, SWEEPS_PER_CHECK - 1)
        _subtract(state.gram, Q, some, rows - W[some])
        W[some] = rows
    return np.flatnonzero(W.any(axis=1))


def _epochs(gram, W, Q, alpha: float, beta: float, n_epochs: int) -> None:
    from ._block_cd_kernels import PENDING, gram_epochs

    n_outputs = W.shape[1]
    row, scratch = np.empty(n_outputs), np.empty(n_outputs)
    pending = np.zeros(PENDING, dtype=np.int64), np.zeros((PENDING, n_outputs))
    gram_epochs(gram, W, Q, alpha, beta, n_epochs, row, scratch, *pending)


def _subtract(gram, Q, rows, deltas) -> None:
    """Q -= deltas' gram[rows], without copying the rows."""
    from ._block_cd_kernels import PENDING, subtract_rows

    padding = -len(rows) % PENDING
    subtract_rows(gram, Q, np.pad(rows, (0, padding)), np.pad(deltas, ((0, padding), (0, 0))))


def _accept_if_lower(state, penalty, Q, candidate, value: float, gap: float) -> float:
    """Move to a candidate that lowers the objective; return the gap of where we stand."""
    before, Q_before = state.W.copy(), Q.copy()
    state.W[:] = candidate
    Q[:] = state.residual_correlation()
    new_value, new_gap = _restricted_gap(state, penalty, Q)
    if new_value < value:
        return new_gap
    state.W[:], Q[:] = before, Q_before
    return gap


def _sweeps_worth(n_active: int, n_rows: int, n_outputs: int, entries: bool) -> float:
    """How many sweeps take as long as a round of Newton steps.

    A round of about three steps in the row norms costs 4 n_active^3 flops in LAPACK; one step
    in the entries costs n_active^3 and about 20 products of 4 n_active^2 n_outputs. A sweep
    takes 2 n_active n_rows n_outputs in our kernel, which runs at a quarter of that speed.
    """
    if entries:
        return (n_active**2 + 80 * n_active * n_outputs) / max(1, 12 * n_rows * n_outputs)
    return NEWTON_SHARE * n_active**2 / max(1, 2 * n_rows * n_outputs)


def _predict(state: _WorkingSet, penalty, trace) -> None:
    """Start a new strength from the line through the last two solutions, if that is lower.

    Between changes of the support solutions are smooth in the strength, for a single output
    even linear.
    """
    if len(trace) < 2 or trace[0][0] == trace[1][0]:
        return
    (first, W_first), (second, W_second) = trace
    ahead = (penalty.row_strengths()[0] - second) / (second - first)
    candidate = state.W.copy()
    known = len(W_first)
    lasting = W_first.any(axis=1) & W_second[:known].any(axis=1)
    candidate[:known][lasting] += ahead * (W_second[:known] - W_first)[lasting]
    Q = state.residual_correlation()
    _accept_if_lower(state, penalty, Q, candidate, _restricted_gap(state, penalty, Q)[0], 0.0)


def _restricted_gap(state: _WorkingSet, penalty, Q) -> tuple[float, float]:
    """Objective and duality gap of the problem on the working set, without touching samples.

    With Q' = X'R: ||R||^2 = ||Y||^2 - <W, X'Y> - <W, X'R> and <R, Y> = ||Y||^2 - <W, X'Y>.
    """
    fit = float(np.vdot(state.W, state.correlation))
    residual = max(state.power - fit - float(np.vdot(state.W, Q.T)), 0.0)
    value = residual + penalty.value(state.W)
    bound = penalty.dual_bound_from(residual, state.power - fit, 2.0 * Q.T)
    return value, value - bound


def _extrapolate(trail: list[np.ndarray]) -> np.ndarray | None:
    """Anderson extrapolation of a sequence of iterates, on the rows that move."""
    stack = np.array([W.ravel() for W in trail])
    steps = np.diff(stack, axis=0)
    small = steps @ steps.T
    size = len(small)
    small += 1e-12 * np.trace(small) * np.eye(size)
    try:
        weights = np.linalg.solve(small, np.ones(size))
    except np.linalg.LinAlgError:
        return None
    total = weights.sum()
    if not np.isfinite(total) or total == 0:
        return None
    return ((weights / total) @ stack[1:]).reshape(trail[0].shape)
