"""The objectives of all estimators as their docstrings have them, on public attributes alone.

Weights are whole numbers: a weight of two counts as the sample given twice, so formulas see
repeated samples and no weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.stats import rankdata
from sklearn.metrics.pairwise import rbf_kernel


@dataclass(frozen=True)
class Data:
    """Samples as often as their weights say; ``Y`` holds the outputs as documented."""

    X: np.ndarray
    Y: np.ndarray
    times: np.ndarray  # how often every row of the data given to `fit` is repeated
    classes: bool

    def signs(self, multi_class="ovr"):
        """(+1, -1 or 0 for samples that take no part) of every two-class model."""
        c = self.Y.shape[1]
        if c == 2:
            return [self.Y[:, 1] - self.Y[:, 0]]
        if multi_class == "ovo":
            return [self.Y[:, k] - self.Y[:, m] for k in range(c) for m in range(k)]
        return [2.0 * self.Y[:, k] - 1.0 for k in range(c)]


# -- parts of formulas -----------------------------------------------------------------------


def spreads(X):
    """Standard deviations; those of constant columns are left alone."""
    spread = X.std(axis=0)
    return np.where(spread > 0, spread, 1.0)


def units(fitted, data):
    return spreads(data.X) if fitted.standardize else np.ones(data.X.shape[1])


def penalised(fitted):
    """Mask of the columns that are not kept by request."""
    open_ = np.ones(fitted.n_features_in_, dtype=bool)
    open_[fitted.get_params().get("always_keep") or []] = False
    return open_


def rows(fitted, data):
    """W on standardised columns: its penalised rows."""
    return (fitted.coef_.T * units(fitted, data)[:, None])[penalised(fitted)]


def row_norms(matrix):
    return np.linalg.norm(matrix, axis=1)


def residuals(fitted, data, X=None):
    return (data.X if X is None else X) @ fitted.coef_.T + fitted.intercept_ - data.Y


def squares(fitted, data, X=None):
    return (residuals(fitted, data, X) ** 2).sum()


def count(fitted, data):
    return np.count_nonzero(rows(fitted, data).any(axis=1))


def surrogate(name, theta, w):
    """Stand-ins for counting, as in the table of the paper; SCAD with its usual 3.7."""
    t, a = np.abs(w), 3.7
    if name == "l1":
        return t.sum()
    if name == "exp":
        return (1 - np.exp(-theta * t)).sum()
    if name == "log":
        return (np.log(1 + theta * t) / np.log(1 + theta)).sum()
    if name == "capped_l1":
        return np.minimum(1, theta * t).sum()
    middle = (-(theta**2) * t**2 + 2 * a * theta * t - 1) / (a**2 - 1)
    return np.where(
        t <= 1 / theta, 2 * theta * t / (a + 1), np.where(t < a / theta, middle, 1.0)
    ).sum()


# -- least squares and l2,1 losses -----------------------------------------------------------


def l21(fitted, data):
    return squares(fitted, data) + fitted.alpha_ * row_norms(rows(fitted, data)).sum()


def l1inf(fitted, data):
    largest = np.abs(rows(fitted, data)).max(axis=1)
    return squares(fitted, data) + fitted.alpha_ * largest.sum()


def exclusive(fitted, data):
    W = rows(fitted, data)
    alpha = getattr(fitted, "alpha_", 0.0)
    competing = (np.abs(W).sum(axis=1) ** 2).sum()
    return squares(fitted, data) + alpha * row_norms(W).sum() + fitted.beta_ * competing


def rlsr(fitted, data):
    return squares(fitted, data) + fitted.alpha_ * row_norms(rows(fitted, data)).sum() ** 2


def l20(fitted, data):
    homotopy = "hiht" in str(fitted.solver).lower() or fitted.solver == "published"
    ridge = fading(fitted, data)
    if fitted.ridge == "auto" and homotopy:
        ridge = 0.0
    shrunk = ridge * len(data.X) / 2 * (rows(fitted, data) ** 2).sum()
    return squares(fitted, data) / 2 + fitted.lam_ * count(fitted, data) + shrunk


def fading(fitted, data):
    """The ridge relative to the samples as documented: min(1, d / (3 n)) of d open columns."""
    n_open = np.count_nonzero(penalised(fitted))
    return min(1.0, n_open / (3 * len(data.X))) if fitted.ridge == "auto" else fitted.ridge


def ridge_forward(fitted, data):
    X, spread = data.X, units(fitted, data)
    clip = fitted.clip
    if clip == "auto":
        clip = 3.0 if fitted.standardize and fitted.fit_intercept else None
    if clip is not None:
        mean = X.mean(axis=0)
        clipped = np.clip((X - mean) / spread, -clip, clip)
        X, spread = mean + spread * clipped, spread * clipped.std(axis=0)
    W = (fitted.coef_.T * spread[:, None])[penalised(fitted)]
    return squares(fitted, data, X) + fading(fitted, data) * len(X) * (W**2).sum()


def esfs(fitted, data):
    return (residuals(fitted, data) ** 2 / data.Y.sum(axis=0)).sum()


def robust(fitted, data):
    alpha, lam = getattr(fitted, "alpha_", 0.0), getattr(fitted, "lam_", 0.0)
    loss = row_norms(residuals(fitted, data)).sum()
    return loss + alpha * row_norms(rows(fitted, data)).sum() + lam * count(fitted, data)


# -- margins ---------------------------------------------------------------------------------


def hinge(fitted, data):
    """C times the hinge losses of all models."""
    margins = data.X @ fitted.coef_.T + fitted.intercept_
    y = np.column_stack(data.signs())
    return fitted.C * np.maximum(0, 1 - y * margins).sum()


def l0_svm(fitted, data):
    return hinge(fitted, data) + surrogate(fitted.surrogate, fitted.theta, rows(fitted, data))


def exact_penalty_svm(fitted, data):
    least = np.abs(rows(fitted, data)) / fitted.max_weight  # of the switch
    assert (least <= 1 + 1e-7).all()

    def price(u):
        return u + fitted.penalty * np.minimum(u, 1 - u)

    # The price is linear on both sides of 1/2: its minimum over [least, 1] is at one of these.
    prices = np.minimum(price(least), np.minimum(price(np.maximum(least, 0.5)), price(1.0)))
    return hinge(fitted, data) + prices.sum()


def svm_rfe(fitted, data):
    """The machines on the last feature left, solved here by a general minimiser."""
    always = np.flatnonzero(~penalised(fitted))
    last = fitted.path_.features[len(always)]
    X = data.X / units(fitted, data)
    X = np.column_stack([X[:, last], X[:, always], np.full(len(X), float(fitted.fit_intercept))])
    X = X[:, X.any(axis=0)]
    total = 0.0
    for y in data.signs():

        def value(w, y=y):
            short = np.maximum(0, 1 - y * (X @ w))
            slope = -2 * fitted.C * X.T @ (y * short)
            slope[0] += w[0]
            return w[0] ** 2 / 2 + fitted.C * (short**2).sum(), slope

        total += minimize(
            value, np.zeros(X.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9}
        ).fun
    return total


# -- kernels ---------------------------------------------------------------------------------


def centred(K):
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def kernel_machines(fitted, data, name, theta):
    X = data.X
    if fitted.standardize:
        X = (X - X.mean(axis=0)) / spreads(X)
    shift = fitted.solver == "alternating"
    total = 0.0
    for d, beta, b, y in zip(
        fitted.kernel_weights_, fitted.dual_coef_, fitted.intercept_, data.signs(), strict=True
    ):
        beta = np.repeat(beta / data.times, data.times)
        margins, energy = np.full(len(X), b), 0.0
        for m in np.flatnonzero(d):
            K = fitted.kernel_(X[:, m, None], X[None, :, m])
            margins += d[m] * (K @ beta)
            if shift:
                K = centred(K)
                K = K + max(0.0, -np.linalg.eigvalsh(K)[0]) * np.eye(len(K))
            energy += d[m] * (beta @ K @ beta)
        loss = (np.maximum(0, 1 - y * margins) ** 2).sum()
        total += fitted.lambda1 * energy + fitted.lambda2 * surrogate(name, theta, d) + loss
    return total


def l0_mkl(fitted, data):
    return kernel_machines(fitted, data, fitted.surrogate, fitted.theta)


def mik_fs(fitted, data):
    return kernel_machines(fitted, data, "l1", None)


def hsic_lasso(fitted, data):
    def aligned(K):
        K = centred(K)
        return K / np.linalg.norm(K)

    def gaussian(Z):
        Z = (Z - Z.mean(axis=0)) / spreads(Z)
        return np.exp(-((Z[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2) / 2)

    L = data.Y @ np.diag(1 / data.Y.sum(axis=0)) @ data.Y.T if data.classes else gaussian(data.Y)
    rest = aligned(L)
    for j in np.flatnonzero(fitted.kernel_weights_):
        rest -= fitted.kernel_weights_[j] * aligned(gaussian(data.X[:, [j]]))
    return (rest**2).sum() / 2 + fitted.lam_ * fitted.kernel_weights_.sum()


# -- minimax machines ------------------------------------------------------------------------


def tasks(fitted, data, X, auto_share):
    """(difference of means, the two covariances with their ridges) of every two-class task."""
    for y in data.signs(fitted.multi_class):
        first, second = X[y > 0], X[y < 0]
        covariances = []
        for part in (first, second):
            S = np.cov(part.T, bias=True).reshape(X.shape[1], -1)
            ridge = fitted.ridge
            if ridge == "auto":
                ridge = 0.0 if len(part) > X.shape[1] else auto_share * np.trace(S) / len(S)
            covariances.append(S + ridge * np.eye(len(S)))
        yield first.mean(axis=0) - second.mean(axis=0), *covariances


def lengths(w, *covariances):
    # Rounding may leave a length of zero below it.
    return sum(np.sqrt(max(w @ S @ w, 0.0)) for S in covariances)


def l1_mpm(fitted, data):
    return np.abs(rows(fitted, data)).sum()


def l0_mpm(fitted, data):
    if fitted.solver == "exact":
        return np.count_nonzero(rows(fitted, data))
    return surrogate(fitted.surrogate, fitted.theta, rows(fitted, data))


def s_mpm(fitted, data):
    spread = units(fitted, data)
    alphas = np.atleast_1d(fitted.alpha_)
    total = 0.0
    found = tasks(fitted, data, data.X / spread, 0.1)
    for coef, alpha, (D, *covariances) in zip(fitted.coef_, alphas, found, strict=True):
        w = coef * spread
        total += lengths(w, *covariances) / (D @ w - alpha * np.abs(w[penalised(fitted)]).sum())
    return total


def mpm(fitted, data):
    X, weights = data.X, getattr(fitted, "coef_", None)
    if fitted.kernel is not None:
        X, weights = rbf_kernel(X, fitted.support_vectors_, fitted.gamma), fitted.dual_coef_
    return sum(
        lengths(w, *covariances) / (D @ w)
        for w, (D, *covariances) in zip(weights, tasks(fitted, data, X, 0.01), strict=True)
    )


def sparse_kernel_mpm(fitted, data):
    K = rbf_kernel(data.X, fitted.support_vectors_, fitted.gamma)
    weights = fitted.dual_coef_ * (spreads(K) if fitted.standardize else 1.0)
    return surrogate("l1" if fitted.norm == "l1" else fitted.surrogate, fitted.theta, weights)


# -- without a target ------------------------------------------------------------------------


def udfs(fitted, data):
    X = data.X - data.X.mean(axis=0)
    X /= units(fitted, data)
    M = np.zeros((X.shape[1], X.shape[1]))
    for x in X:
        near = np.argsort(((X - x) ** 2).sum(axis=1))[: fitted.n_neighbors + 1]
        local = X[near] - X[near].mean(axis=0)
        M += (
            local.T
            @ np.linalg.inv(local @ local.T + fitted.local_ridge * np.eye(len(near)))
            @ local
        )
    W = fitted.components_.T
    norms = np.sqrt(row_norms(W) ** 2 + 0.001**2)
    return np.trace(W.T @ M @ W) / np.diag(M).mean() + fitted.alpha * norms.sum()


def inf_fs(fitted, data):
    X = data.X / np.ptp(data.X, axis=0) if fitted.unit_range else data.X

    def between(v):
        return (v - v.min()) / np.ptp(v)

    s = between(X.std(axis=0))
    if fitted.supervised:
        parts = [X[column == 1] for column in data.Y.T]
        relevance = 0.0
        for k, first in enumerate(parts):
            for second in parts[:k]:
                apart = (first.mean(axis=0) - second.mean(axis=0)) ** 2
                relevance = relevance + apart / (first.var(0, ddof=1) + second.var(0, ddof=1))
        other = between(np.outer(relevance, relevance))
    else:
        other = 1 - np.abs(np.corrcoef(rankdata(X, axis=0).T))
    A = fitted.mixing * np.maximum.outer(s, s) + (1 - fitted.mixing) * other
    r = 0.9 / np.abs(np.linalg.eigvalsh(A)).max()
    return (np.linalg.inv(np.eye(len(A)) - r * A) - np.eye(len(A))).sum()


# -- likelihoods ---------------------------------------------------------------------------


def log_likelihood(fitted, data):
    """Of the classes, by the probabilities that the linear predictors give."""
    F = data.X @ fitted.coef_.T + fitted.intercept_
    F = np.hstack((np.zeros_like(F), F)) if F.shape[1] == 1 else F
    P = np.exp(F - F.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    return np.log(P[data.Y > 0.5]).sum()


def likelihood_l21(fitted, data):
    return fitted.alpha_ * row_norms(rows(fitted, data)).sum() - log_likelihood(fitted, data)


def likelihood_forward(fitted, data):
    n, c = data.Y.shape
    shares = data.Y.mean(axis=0)
    spread = shares[0] * shares[1] if c == 2 else (1.0 - shares @ shares) / (c - 1)
    ridge = 0.5 * fitted.ridge * n * spread
    return ridge * (rows(fitted, data) ** 2).sum() - log_likelihood(fitted, data)


# -- the table -------------------------------------------------------------------------------


FORMULAS = {
    "ESFSSelector": esfs,
    "ExactPenaltySVMSelector": exact_penalty_svm,
    "ExclusiveL21Selector": exclusive,
    "ExclusiveLassoSelector": exclusive,
    "HSICLassoSelector": hsic_lasso,
    "InfFSSelector": inf_fs,
    "L0MKLSelector": l0_mkl,
    "L0MPMSelector": l0_mpm,
    "L0SVMSelector": l0_svm,
    "L1MPMSelector": l1_mpm,
    "L20Selector": l20,
    "L21Selector": l21,
    "LInfSelector": l1inf,
    "LikelihoodForwardSelector": likelihood_forward,
    "LikelihoodL21Selector": likelihood_l21,
    "MIKFSSelector": mik_fs,
    "MPMClassifier": mpm,
    "RFSSelector": robust,
    "RLSRSelector": rlsr,
    "RPMFSSelector": robust,
    "RidgeForwardSelector": ridge_forward,
    "RobustL20Selector": robust,
    "SMPMSelector": s_mpm,
    "SVMRFESelector": svm_rfe,
    "SparseKernelMPMClassifier": sparse_kernel_mpm,
    "UDFSSelector": udfs,
}
