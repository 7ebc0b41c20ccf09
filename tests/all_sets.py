"""Small least-squares problems with every setting at once, and all of their sets one by one.

The objective is written out as the documentation has it, in plain NumPy. Nothing is shared with the
package: not its standardisation, not the way in which it takes covariates out.
"""

from itertools import combinations

import numpy as np

RIDGES = [0.0, 0.0, 1e-3, 1e-3, 0.01, 0.01, 0.1, 1.0, 1.0, 10.0]
FEATURES = ["plain", "whole", "binary", "scaled", *["correlated"] * 4]
TARGETS = ["noise", "signal", "two", "classes", "three", "whole", "exact", *["hidden"] * 5]


class Draw:
    """Random data and settings; ``settings`` are those that a selector takes.

    Attributes
    ----------
    groups : list of list of int, or None
        The columns of every group.
    costs : ndarray or None
        Of every group, where they are given.
    """

    def __init__(self, seed, *, groups=True):
        self.seed, rng = seed, np.random.default_rng(seed)
        self.rng = rng
        n, d = int(rng.integers(4, 17)), int(rng.integers(2, 7))
        self.X = self._features(n, d)
        self.task, self.y = self._target()
        self.weights = None
        if rng.random() < 0.3:
            whole = rng.random() < 0.5
            self.weights = rng.integers(0, 4, n) * 1.0 if whole else rng.uniform(0.2, 3.0, n)
            self.weights[:4] += 0.5  # some of every class are left
        self.intercept, self.standardize = bool(rng.random() < 0.8), bool(rng.random() < 0.8)
        self.ridge = float(rng.choice(RIDGES))
        self.class_weight = None
        if self.task == "classification" and rng.random() < 0.3:
            self.class_weight = "balanced"
        self.groups = self._groups(d) if groups and rng.random() < 0.75 else None
        self.costs = None
        if self.groups is not None and rng.random() < 0.7:
            self.costs = self._costs(len(self.groups))
        self._choose_fixed(d)

    def _features(self, n, d):
        rng = self.rng
        X = rng.standard_normal((n, d))
        kind = rng.choice(FEATURES)
        if kind == "whole":
            X = np.round(X)
        elif kind == "binary":
            X = (X > 0) * 1.0
        elif kind == "correlated":
            X = X + rng.choice([2.0, 4.0]) * rng.standard_normal((n, 1))
        elif kind == "scaled":
            X = X * 10.0 ** rng.integers(-3, 4, d) + rng.integers(-3, 4, d)
        if rng.random() < 0.3:  # copies
            X[:, rng.integers(d)] = X[:, rng.integers(d)] * rng.choice([1.0, -1.0, 2.0])
        if rng.random() < 0.15:
            X[:, rng.integers(d)] = rng.choice([0.0, 1.0, -3.0])
        self.single = bool(rng.random() < 0.1)  # precision
        return X.astype(np.float32) if self.single else X

    def _target(self):
        rng, (n, d) = self.rng, self.X.shape
        clear = self.X.astype(float) @ rng.standard_normal((d, 2))
        kind = rng.choice(TARGETS)
        if kind in ("classes", "three"):
            y = rng.integers(0, 2 + (kind == "three"), n)
            y[:4] = [0, 1, 0, 1]
            return "classification", y
        noise = rng.standard_normal((n, 2))
        y = {
            "noise": noise[:, 0],
            "signal": clear[:, 0] + 0.5 * noise[:, 0],
            "two": clear + noise,
            "whole": np.round(clear[:, 0] / max(np.abs(clear[:, 0]).max(), 1e-9) * 2) + 0.0,
            "exact": clear[:, 0],
            # Two columns say together what neither of them says alone: greedy search ends too soon.
            "hidden": self._difference() + 0.2 * noise[:, 0],
        }[str(kind)]
        return "regression", y.astype(self.X.dtype)

    def _difference(self):
        a, b = self.X.T[self.rng.choice(self.X.shape[1], 2, replace=False)].astype(float)
        a, b = (x / max(float(x.std()), 1e-9) for x in (a, b))
        return a - b if a @ b > 0 else a + b

    def _groups(self, d):
        rng, kind = self.rng, self.rng.choice(["single", "apart", "overlapping"])
        if kind == "single":
            return [[j] for j in range(d)]
        labels = rng.integers(0, max(1, d - 1), d)
        groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
        if kind == "overlapping":
            for _ in range(int(rng.integers(1, 8 - d))):  # at times more groups than columns
                some = np.sort(rng.choice(d, int(rng.integers(1, min(d, 3) + 1)), replace=False))
                groups.append(some.tolist())
        return groups

    def _costs(self, count):
        rng, kind = self.rng, self.rng.choice(["equal", "given", "far apart", "next to nothing"])
        if kind == "equal":
            return np.full(count, float(rng.choice([0.5, 1.0, 3.0])))
        if kind == "given":
            return rng.choice([0.5, 1.0, 3.0, 8.0], count)
        if kind == "far apart":
            return 10.0 ** rng.uniform(-3, 2, count)
        return np.where(rng.random(count) < 0.5, 1e-12, 1.0)

    def _choose_fixed(self, d):
        rng = self.rng
        units = self.units
        self.always = self.never = ()
        if d < 3 or len(units) < 3:
            return
        if rng.random() < 0.3:
            some = rng.choice(d, int(rng.integers(1, 3)), replace=False)
            if len(self.widened(some)) < d:
                self.always = tuple(sorted(some.tolist()))
        if rng.random() < 0.2:
            j = int(rng.integers(d))
            clash = any(j in g and set(g) & set(self.widened(self.always)) for g in units)
            left = any(j not in g for g in units)
            if left and not clash and j not in self.widened(self.always):
                self.never = (j,)

    @property
    def units(self):
        """What is chosen: columns, or groups of them."""
        return [[j] for j in range(self.X.shape[1])] if self.groups is None else self.groups

    @property
    def has_prices(self):
        """Whether groups have prices of their own, beside or instead of one for all."""
        if self.groups is None:
            return False
        return self.costs is not None or self.units != [[j] for j in range(self.X.shape[1])]

    def widened(self, columns):
        """Groups of which a column is always kept are so as a whole."""
        found = {int(j) for j in columns}
        return sorted(found.union(*(g for g in self.units if found & set(g))))

    @property
    def settings(self):
        """Parameters of a selector that does least squares."""
        found = {
            "ridge": self.ridge,
            "fit_intercept": self.intercept,
            "standardize": self.standardize,
            "task": self.task,
            "class_weight": self.class_weight,
            "always_keep": list(self.always) or None,
            "never_keep": list(self.never) or None,
        }
        if self.groups is not None:
            names = {f"g{place}": some for place, some in enumerate(self.groups)}
            found["feature_groups"] = names
        return found

    def __str__(self):
        said = {k: v for k, v in vars(self).items() if k not in ("X", "y", "rng", "weights")}
        return f"{said} {self.X.shape}"


class AllSets:
    """Half of ||sqrt(D) (Y - b - Z B - X_S W)||^2 + ridge n ||W||^2 of every set S.

    ``values[S]`` for a sorted tuple of units (columns, or groups: a shared column counts once) is
    without prices. Units that are no choice are left out: those that are never kept, and
    those that the intercept and the columns kept by request explain. ``power`` is what these leave
    of the target, ``size`` the target itself, squared.
    """

    def __init__(self, draw, *, clip=None, balance=0.0, ridge=None):
        X = np.asarray(draw.X, dtype=float)
        Y, weights = outputs(draw)
        used = weights > 0
        X, Y, weights = X[used], Y[used], weights[used]
        share = weights / weights.sum()
        if balance:
            Y = Y / (weights @ Y) ** balance
        X = self._scaled(X, share, draw, clip)
        always = draw.widened(draw.always)
        free = [np.ones((len(X), int(draw.intercept))), X[:, always]]
        root = np.sqrt(weights)[:, None]
        self.free, self.X, self.Y = root * np.hstack(free), root * X, root * Y
        self.strength = (draw.ridge if ridge is None else ridge) * weights.sum()
        self.columns = {}
        for unit, some in enumerate(draw.units):
            own = [j for j in some if not self._is_explained(self.X[:, j])]
            if own and not set(some) & set(draw.never):
                self.columns[unit] = own
        self.values = {
            some: self.value(some)
            for k in range(len(self.columns) + 1)
            for some in combinations(self.columns, k)
        }
        self.n_always = sum(set(some) <= set(always) for some in draw.units)
        self.power = 2.0 * self.values[()]
        self.size = float((self.Y**2).sum())

    def _is_explained(self, column):
        rest = column - self.free @ np.linalg.lstsq(self.free, column, rcond=None)[0]
        return np.linalg.norm(rest) <= 1e-10 * np.linalg.norm(column)

    @staticmethod
    def _scaled(X, share, draw, clip):
        """Of unit variance where asked for, with values beyond ``clip`` deviations moved there."""
        for limit in [None] if clip is None else [clip, None]:
            mean = share @ X
            spread = np.sqrt(share @ (X - mean) ** 2)
            spread = np.where(spread > 1e-12 * (np.abs(mean) + spread), spread, 1.0)
            if not draw.standardize:
                spread = np.ones_like(spread)
            if limit is not None:
                X = np.clip((X - mean) / spread, -limit, limit)
            else:
                X = X / spread
        return X

    def value(self, some):
        S = self.X[:, sorted({j for unit in some for j in self.columns[unit]})]
        n_free, size = self.free.shape[1], S.shape[1]
        below = np.hstack([np.zeros((size, n_free)), np.sqrt(self.strength) * np.eye(size)])
        A = np.vstack([np.hstack([self.free, S]), below])
        B = np.vstack([self.Y, np.zeros((size, self.Y.shape[1]))])
        W = np.linalg.lstsq(A, B, rcond=None)[0] if A.shape[1] else np.zeros((0, B.shape[1]))
        return 0.5 * float(((B - A @ W) ** 2).sum())

    def totals(self, prices):
        """{set: objective with the price of every unit}."""
        return {some: found + sum(prices[g] for g in some) for some, found in self.values.items()}


def outputs(draw):
    """Outputs as least squares sees them, and weights with those of classes."""
    weights = np.ones(len(draw.y)) if draw.weights is None else draw.weights
    if draw.task != "classification":
        return np.reshape(draw.y, (len(draw.y), -1)).astype(float), weights
    counted = draw.y[weights > 0]
    classes = np.unique(counted)
    Y = (draw.y[:, None] == classes).astype(float)
    if draw.class_weight == "balanced":
        sizes = weights @ Y
        weights = weights * (Y @ (weights.sum() / (len(classes) * sizes)))
    return Y, weights
