"""The cone programs of the sparse minimax probability machines on a few features.

At an optimum every weight has the sign of its reduced cost, so a feature takes part as a column
of known sign with a nonnegative variable: w_j = sign_j p_j, |w_j| = p_j. That halves the program.
A feature without cost has a free variable.

With a ridge, one scalar s >= ||w|| serves both classes: N_i = ||(Z_i w, sqrt(ridge_i) s)||.

Clarabel is called directly: no modelling layer, no parsing, no copies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from .moments import TwoClassMoments

# A failed solve is tried again: with the rows and columns rescaled by Clarabel (which helps badly
# scaled programs and harms well scaled ones), then with tolerances this much looser; the last one
# is still far below the accuracy at which features are told apart.
ATTEMPTS = ((False, 1.0), (True, 1.0), (False, 1e2), (True, 1e2), (False, 1e4), (True, 1e4))


@dataclass(frozen=True)
class ConeSolution:
    """Primal and dual solution of a cone program.

    Attributes
    ----------
    status : {"solved", "infeasible", "unbounded", "failed"}
    x, z : ndarray
        Primal variables, and multipliers of the rows (in the dual cone).
    objective, dual_objective : float
        Values of the two; equal up to the tolerance.
    """

    status: str
    x: np.ndarray
    z: np.ndarray
    objective: float
    dual_objective: float


@dataclass
class ConeProgram:
    """A cone program whose cost can be changed and solved again.

    Attributes
    ----------
    q : ndarray of shape (n_variables,)
        Cost.
    A : sparse matrix of shape (n_rows, n_variables)
    b : ndarray of shape (n_rows,)
    n_nonnegative : int
        The first rows, each nonnegative.
    cone_sizes : sequence of int
        Sizes of the second-order cones that the other rows form; the first row of each bounds
        the norm of its others.
    tol : float
        Tolerance on gap and feasibility, relative and absolute.
    """

    q: np.ndarray
    A: sparse.csc_matrix
    b: np.ndarray
    n_nonnegative: int
    cone_sizes: Sequence[int]
    tol: float = 1e-9
    _solver: object = field(default=None, init=False, repr=False)

    def solve(self, q: np.ndarray | None = None) -> ConeSolution:
        """Solve, for a new cost if one is given; what fails (or seems unbounded) is retried."""
        if q is not None:
            self.q = q
        solution = None
        for attempt, (equilibrate, factor) in enumerate(ATTEMPTS):
            solution = self._attempt(self.tol * factor, equilibrate, fresh=attempt > 0)
            if solution.status in ("solved", "infeasible"):
                break
        assert solution is not None
        return solution

    def _attempt(self, tol: float, equilibrate: bool, fresh: bool) -> ConeSolution:
        import clarabel

        if self._solver is None or fresh:
            cones = []
            if self.n_nonnegative:
                cones.append(clarabel.NonnegativeConeT(self.n_nonnegative))
            cones += [clarabel.SecondOrderConeT(size) for size in self.cone_sizes]
            settings = clarabel.DefaultSettings()
            settings.verbose = False
            settings.max_threads = 1
            # Presolve may drop rows, after which the cost can no longer be updated.
            settings.presolve_enable = False
            settings.equilibrate_enable = equilibrate
            settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
            n_variables = len(self.q)
            no_quadratic = sparse.csc_matrix((n_variables, n_variables))
            self._solver = clarabel.DefaultSolver(
                no_quadratic, self.q, sparse.csc_matrix(self.A), self.b, cones, settings
            )
        else:
            self._solver.update(q=self.q)  # type: ignore[attr-defined]
        answer = self._solver.solve()  # type: ignore[attr-defined]
        status = {
            "Solved": "solved",
            "PrimalInfeasible": "infeasible",
            "DualInfeasible": "unbounded",
        }.get(str(answer.status), "failed")
        return ConeSolution(
            status,
            np.asarray(answer.x),
            np.asarray(answer.z),
            float(answer.obj_val),
            float(answer.obj_val_dual),
        )


@dataclass(frozen=True)
class Columns:
    """The working set: features, each with a sign, or 0 for a free variable."""

    features: np.ndarray
    signs: np.ndarray

    def __len__(self) -> int:
        return len(self.features)

    def keys(self) -> np.ndarray:
        """A number for every signed feature; the two signs of a feature are neighbours."""
        return 2 * self.features + (self.signs < 0)

    @classmethod
    def from_keys(cls, keys: np.ndarray, free: Sequence[int] | np.ndarray = ()) -> Columns:
        """The signed features of these keys, without repetition; ``free`` ones once."""
        keys = np.unique(keys)
        features, signs = keys // 2, np.where(keys % 2 == 1, -1.0, 1.0)
        if len(free):
            signed = ~np.isin(features, free)
            features = np.concatenate([features[signed], free])
            signs = np.concatenate([signs[signed], np.zeros(len(free))])
        return cls(features, signs)


@dataclass(frozen=True)
class PrimalDual:
    """A solved restricted program: weights, and the multipliers that give reduced costs.

    ``duals`` are (u1, u2), one per row of the class factors; ``ridge_dual`` is what the ridge
    adds to the reduced cost of the columns of the program, ``ridge_rows`` the multipliers of its
    rows in the two cones; ``strength`` multiplies the mean difference. ``slack`` is the value of
    the artificial variable: positive where the features at hand cannot do the job. ``tight`` holds
    the multipliers of the two cones and (if there are any) of the two linear constraints.
    """

    weights: np.ndarray
    value: float
    dual_value: float
    strength: float
    duals: tuple[np.ndarray, np.ndarray]
    ridge_dual: np.ndarray
    ridge_rows: np.ndarray
    tight: np.ndarray
    slack: float = 0.0


def solve_weighted_l1(
    moments: TwoClassMoments,
    columns: Columns,
    costs: np.ndarray,
    kappa: float,
    artificial_cost: float | None,
    tol: float,
) -> PrimalDual | None:
    """Minimise costs'|w| s.t. both classes at least max(kappa N_i, 1) on their side of b.

    ``artificial_cost`` is that of a variable that separates the classes by itself, so that the
    program is feasible whatever the features; None leaves it out. None is returned on failure.
    """
    inside = _RestrictedProgram(moments, columns)
    has_artificial = artificial_cost is not None
    n_extra = 1 + has_artificial + inside.has_ridge  # b, then the artificial variable, then s
    margins = np.vstack(
        [-inside.coefficients(moments.means[0]), inside.coefficients(moments.means[1])]
    )
    # The extra variables in w'mu1 - b and b - w'mu2, as entries of A.
    sides = np.zeros((2, n_extra))
    sides[:, 0] = (1.0, -1.0)
    linear, linear_extra = margins, sides
    if has_artificial:  # it helps both sides, and is nonnegative itself
        sides[:, 1] = -0.5
        linear = np.vstack([margins, np.zeros(len(columns))])
        linear_extra = np.vstack([sides, np.zeros(n_extra)])
        linear_extra[2, 1] = -1.0
    bound = np.zeros(len(linear))
    bound[:2] = -1.0
    extra_cost = np.zeros(n_extra)
    if has_artificial:
        extra_cost[1] = artificial_cost
    program = inside.program(
        costs / inside.units, extra_cost, linear, linear_extra, bound, margins, sides, kappa, tol
    )
    return inside.solution(program, len(linear), has_artificial)


def solve_ratio(
    moments: TwoClassMoments, columns: Columns, lam: np.ndarray, tol: float
) -> PrimalDual | None:
    """Minimise N1(w) + N2(w) s.t. D'w - lam'|w| >= 1 on these features; None on failure."""
    inside = _RestrictedProgram(moments, columns)
    n_extra = 2 + inside.has_ridge  # N1, N2, s
    linear = (lam[columns.features] / inside.units - inside.coefficients(moments.difference))[
        None, :
    ]
    extra_cost = np.zeros(n_extra)
    extra_cost[:2] = 1.0
    program = inside.program(
        np.zeros(len(columns)),
        extra_cost,
        linear,
        np.zeros((1, n_extra)),
        np.array([-1.0]),
        np.zeros((2, len(columns))),
        -np.eye(2, n_extra),
        1.0,
        tol,
    )
    return inside.solution(program, 1)


class _RestrictedProgram:
    """The columns of a program, in units that put numbers near one whatever the data."""

    def __init__(self, moments: TwoClassMoments, columns: Columns):
        features = columns.features
        self.units = moments.sizes[features]
        self.columns = columns
        self.signs = np.where(columns.signs == 0.0, 1.0, columns.signs)
        self.ridges = moments.ridges
        self.has_ridge = max(moments.ridges) > 0.0
        # Z = Q R: never more rows than columns, and half of a square is zero.
        self.turns: list[np.ndarray | None] = []
        self.factors: list[np.ndarray] = []
        for which in (0, 1):
            Z = moments.columns(which, features) * (self.signs / self.units)
            Q = None
            if 2 * len(Z) > len(features):
                Q, Z = np.linalg.qr(Z)
            self.turns.append(Q)
            self.factors.append(Z)

    def coefficients(self, values: np.ndarray) -> np.ndarray:
        """Entries of a vector over features, as coefficients of the variables p."""
        return values[self.columns.features] * (self.signs / self.units)

    def program(
        self, cost, extra_cost, linear, linear_extra, bound, heads, heads_extra, kappa, tol
    ) -> ConeProgram:
        """Rows: p >= 0, the linear rows, a cone (head, kappa R p) per class, the ridge cone."""
        k, n_variables = len(self.columns), len(cost) + len(extra_cost)
        signed = np.flatnonzero(self.columns.signs)
        signs = np.zeros((len(signed), n_variables))
        signs[np.arange(len(signed)), signed] = -1.0
        blocks, sizes = [signs, np.hstack([linear, linear_extra])], []
        for which, R in enumerate(self.factors):
            cone = np.zeros((1 + len(R) + self.has_ridge, n_variables))
            cone[0] = np.concatenate([heads[which], heads_extra[which]])
            cone[1 : 1 + len(R), :k] = -kappa * R
            if self.has_ridge:
                cone[-1, -1] = -kappa * np.sqrt(self.ridges[which])
            blocks.append(cone)
            sizes.append(len(cone))
        if self.has_ridge:
            cone = np.zeros((k + 1, n_variables))
            cone[0, -1] = -1.0
            np.fill_diagonal(cone[1:], -1.0 / self.units)
            blocks.append(cone)
            sizes.append(len(cone))
        A = sparse.csc_matrix(np.vstack(blocks))
        b = np.zeros(A.shape[0])
        n_nonnegative = len(signed) + len(bound)
        b[len(signed) : n_nonnegative] = bound
        q = np.concatenate([cost, extra_cost])
        return ConeProgram(q, A, b, n_nonnegative, sizes, tol)

    def solution(
        self, program: ConeProgram, n_linear: int, has_artificial: bool = False
    ) -> PrimalDual | None:
        """Solve, and give the answer in the units of the caller; None on failure."""
        answer = program.solve()
        if answer.status != "solved":
            return None
        k, position = len(self.columns), int(np.count_nonzero(self.columns.signs))
        linear = answer.z[position : position + n_linear]
        position += n_linear
        heads, duals, ridge_rows, ridge_dual = [], [], [0.0, 0.0], np.zeros(k)
        for which, (Q, R) in enumerate(zip(self.turns, self.factors, strict=True)):
            heads.append(answer.z[position])
            u = answer.z[position + 1 : position + 1 + len(R)]
            duals.append(u if Q is None else Q @ u)
            position += 1 + len(R)
            if self.has_ridge:
                ridge_rows[which] = answer.z[position]
                position += 1
        if self.has_ridge:
            # The multiplier of -p / units, as a part of the reduced cost of w = sign p / units.
            ridge_dual = self.signs * answer.z[position + 1 :]
        return PrimalDual(
            answer.x[:k] * self.signs / self.units,
            answer.objective,
            answer.dual_objective,
            # A single linear row is D'w - costs'|w| >= 1; of two, the first is one of two sides.
            float(linear[0]) if n_linear == 1 else float(linear[0] + heads[0]),
            (duals[0], duals[1]),
            ridge_dual,
            np.array(ridge_rows),
            np.concatenate([heads, linear[:2]]),
            float(answer.x[k + 1]) if has_artificial else 0.0,
        )
