"""How good the best k features can be at most, for any loss with a ridge.

For every F whose gradient G = grad L(F) is orthogonal to the columns without a penalty, and every
0 <= t <= 1, no k features have an objective L(XW + free B) + ridge / 2 ||W||^2 below

    -L*(t G) - t^2 / (2 ridge) (sum of the k largest ||x_j'G||^2).

With groups, the best k groups of columns have the same bound with ||X_g'G||_F^2 for ||x_j'G||^2.
Any F gives a bound for all k at once; the best F is that of the perspective relaxation, the minimum
over 0 <= z <= 1, sum z <= k of L(XW + free B) + ridge / 2 sum_j ||w_j||^2 / z_j. It is solved by
Newton steps in z on a working set of columns, with one reading of X per round.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..._beside import to_numpy
from ..paths.free import definite, minimise_free
from ..searches.likelihood_forward import explainable
from ..searches.likelihood_neighbours import RidgeLikelihood
from ..searches.ridge_fit import RidgeFit, ridge_fit

# Shares of features below this are none.
MIN_SHARE = 1e-6
# Rounding of values and readings, as a share of what can be explained.
ROUNDING_SHARE = 1e-9
# Columns beyond the working set that join it in a round.
COLUMNS_PER_ROUND = 20
# Coefficients up to which second derivatives are used; more take part by their present shares only.
MAX_COEFFICIENTS = 1500
# Steps of the small quadratic programs, and the change of shares that ends them.
MAX_QUADRATIC_STEPS, SHARE_TOL = 300, 1e-7


@dataclass
class LikelihoodBounds:
    """Lower bounds for every number of features, which improve with every question.

    Attributes
    ----------
    problem : RidgeLikelihood
    most : int
        Largest number of features.
    best : ndarray of shape (most + 1,)
        The best bound known for 0, 1, ... features.
    """

    problem: RidgeLikelihood
    most: int
    best: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.best = np.full(self.most + 1, -np.inf)
        self._scale = explainable(self.problem.loss)
        fit = self._solve(np.empty(0, dtype=np.int64), np.empty(0), None)
        self.best[0] = fit.objective
        if self.most > 0:
            self._squares(fit, 1)

    def bound(self, k: int, support: np.ndarray, tol: float = 1e-3, max_iter: int = 30) -> float:
        """The bound for k features, after solving the relaxation to this share of the deviance."""
        if k == 0 or self.problem.ridge == 0.0:
            return float(self.best[k])
        features = np.asarray(support, dtype=np.int64)
        z = np.full(len(features), min(1.0, k / max(len(features), 1)))
        fit = self._solve(features, z, None)
        for _ in range(max_iter):
            squares = self._squares(fit, k)
            if fit.objective - self.best[k] <= tol * self._scale:
                break
            features, z, W = self._exchange_columns(features, z, fit.W, squares, k)
            step = self._better_shares(features, z, fit.F, squares[features], k)
            length, before = 1.0, fit.objective
            for _ in range(12):
                tried = z + length * (step - z)
                # Coefficients grow and shrink with their shares.
                growth = np.minimum(tried / np.maximum(z, MIN_SHARE), 2.0)
                start = W * self._by_column(growth, features, 1.0)[:, None]
                following = self._solve(features, tried, start)
                if following.objective <= before:
                    break
                length /= 3.0
            else:
                break
            z, fit = tried, following
            if before - fit.objective <= 1e-3 * tol * self._scale:
                self._squares(fit, k)
                break
        return float(self.best[k])

    def _by_column(
        self, values: np.ndarray, features: np.ndarray, free: float | bool
    ) -> np.ndarray:
        """One number per free column and per column of these features."""
        own = np.repeat(values, self.problem.sizes[features])
        return np.concatenate([np.full(self.problem.free.shape[1], free), own])

    def _solve(self, features: np.ndarray, z: np.ndarray, start: np.ndarray | None) -> RidgeFit:
        A = self.problem.columns(features)
        penalty = self._by_column(self.problem.ridge / np.maximum(z, MIN_SHARE), features, 0.0)
        return ridge_fit(self.problem.loss, A, penalty, start, scale=self._scale)

    def _squares(self, fit: RidgeFit, k: int) -> np.ndarray:
        """||x_j'G||^2 of all features; improves all bounds on the way."""
        problem, loss = self.problem, self.problem.loss
        F, G, _ = minimise_free(loss, problem.free, fit.F)
        squares = to_numpy((problem.product(G.T) ** 2).sum(axis=0))
        if problem.members is not None:
            squares = np.array([squares[columns].sum() for columns in problem.members.groups])
        squares[~problem.is_open] = 0.0
        top = np.sort(np.partition(squares, -min(self.most, len(squares)))[-self.most :])[::-1]
        sums = np.append(0.0, np.cumsum(np.pad(top, (0, self.most - len(top)))))
        sums /= 2.0 * problem.ridge if problem.ridge > 0 else np.inf

        def value(t: float) -> np.ndarray:
            return loss.dual_value(F, t) - t**2 * sums - ROUNDING_SHARE * self._scale

        if problem.ridge > 0.0:
            # A concave function of t: golden sections around its largest value for k features.
            low, high, golden = 0.0, 1.0, 0.5 * (np.sqrt(5.0) - 1.0)
            self.best[1:] = np.maximum(self.best[1:], value(1.0)[1:])
            for _ in range(16):
                a, b = high - golden * (high - low), low + golden * (high - low)
                at_a, at_b = value(a), value(b)
                self.best[1:] = np.maximum(self.best[1:], np.maximum(at_a, at_b)[1:])
                low, high = (a, high) if at_a[k] < at_b[k] else (low, b)
        return squares

    def _exchange_columns(
        self, features: np.ndarray, z: np.ndarray, W: np.ndarray, squares: np.ndarray, k: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Let columns join that the gradient speaks for, and those leave that have no share."""
        others = squares.copy()
        others[features] = 0.0
        level = np.sort(squares)[-k]
        new = np.argsort(-others, kind="stable")[: COLUMNS_PER_ROUND + k]
        new = new[(others[new] > 0.0) & (others[new] >= 0.25 * level)]
        kept = (z > MIN_SHARE) | (squares[features] >= 0.25 * level)
        rows = self._by_column(kept, features, True)
        return (
            np.concatenate([features[kept], new]),
            np.concatenate([z[kept], np.zeros(len(new))]),
            np.vstack([W[rows], np.zeros((self.problem.sizes[new].sum(), W.shape[1]))]),
        )

    def _better_shares(
        self, features: np.ndarray, z: np.ndarray, F: np.ndarray, squares: np.ndarray, k: int
    ) -> np.ndarray:
        """Minimise the quadratic model of the relaxation in z, over shares that add up to k."""
        problem, loss, m = self.problem, self.problem.loss, self.problem.loss.n_outputs
        slope = -squares / (2.0 * problem.ridge)
        n_coefficients = problem.sizes[features] * m
        if n_coefficients.sum() > MAX_COEFFICIENTS:
            H = np.diag(squares / problem.ridge)
        else:
            X = problem.columns(features)
            n_free = problem.free.shape[1] * m
            Q = loss.hessian(F, X)
            if n_free:
                inside = definite(loss, Q[:n_free, :n_free])
                Q = Q[n_free:, n_free:] - Q[n_free:, :n_free] @ np.linalg.solve(
                    inside, Q[:n_free, n_free:]
                )
            shares = np.repeat(z, n_coefficients)
            M = np.linalg.solve(problem.ridge * np.eye(len(Q)) + Q * shares, Q)
            C = X[:, problem.free.shape[1] :].T @ loss.gradient(F)
            c = C.ravel()
            begins = np.cumsum(n_coefficients) - n_coefficients
            H = np.add.reduceat(c[:, None] * M * c, begins, axis=0)
            H = np.add.reduceat(H, begins, axis=1) / problem.ridge
        H = 0.5 * (H + H.T)
        # Accelerated projected gradients: the model is small.
        size = max(float(np.linalg.norm(H, 2)), 1e-300)
        x, y, speed = z.copy(), z.copy(), 1.0
        for _ in range(MAX_QUADRATIC_STEPS):
            following = _project(y - (slope + H @ (y - z)) / size, k)
            faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * speed**2))
            y = following + (speed - 1.0) / faster * (following - x)
            moved = float(np.abs(following - x).max(initial=0.0))
            x, speed = following, faster
            if moved <= SHARE_TOL:
                break
        return x


def _project(v: np.ndarray, k: int) -> np.ndarray:
    """The nearest point with entries between 0 and 1 that add up to at most k."""
    inside = np.clip(v, 0.0, 1.0)
    if inside.sum() <= k:
        return inside
    ordered = np.sort(v)
    sums = np.append(0.0, np.cumsum(ordered))

    def excess(level: np.ndarray) -> np.ndarray:
        """The sum of what entries have above a level."""
        place = np.searchsorted(ordered, level)
        return sums[-1] - sums[place] - (len(v) - place) * level

    # How much is left after subtracting a number is linear between these numbers.
    corners = np.sort(np.concatenate([ordered, ordered - 1.0]))
    left = excess(corners) - excess(corners + 1.0)
    last = int(np.flatnonzero(left > k)[-1])
    fall = left[last] - left[last + 1]
    level = corners[last] + (left[last] - k) / fall * (corners[last + 1] - corners[last])
    return np.clip(v - level, 0.0, 1.0)
