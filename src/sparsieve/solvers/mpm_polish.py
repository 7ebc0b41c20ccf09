"""Newton's last mile: from the accuracy of a cone solver to that of the machine.

An interior-point method stops when the objective is right to eight digits; the weights are then
right to four. Once it is known which features are used, with which sign, and which constraints
are tight, the optimum solves smooth equations, and Newton's method finishes in a few steps.
"""

from __future__ import annotations

import numpy as np

from .mpm_moments import TwoClassMoments

MAX_STEPS = 10


def polish_weighted_l1(
    moments: TwoClassMoments, support, weights, costs, kappa: float, duals
) -> np.ndarray | None:
    """Weights on ``support`` that solve the optimality conditions, or None if that fails.

    The conditions of min c'|w| s.t. a_i - kappa N_i >= 0 and a_i - 1 >= 0, with a_1 = mu1'w - b
    and a_2 = b - mu2'w, for the constraints that ``duals`` (multipliers of a_1 - kappa N_1,
    a_2 - kappa N_2, a_1 - 1, a_2 - 1) says are tight.
    """
    k = len(support)
    signs = np.sign(weights)
    means = [mean[support] for mean in moments.means]
    covariances = [_covariance(moments, which, support) for which in (0, 1)]
    directions = [np.append(means[0], -1.0), np.append(-means[1], 1.0)]
    w = weights.copy()
    norms = _norms(covariances, w)
    keep = np.maximum(kappa * norms, 1.0)
    b = 0.5 * (means[0] @ w - keep[0] + means[1] @ w + keep[1])
    tight = duals > 1e-6 * duals.max()
    if not (tight[0] or tight[2]) or not (tight[1] or tight[3]):
        return None
    multipliers = duals[tight]
    cones = [which for which in (0, 1) if tight[which]]
    before = None
    for _ in range(MAX_STEPS):
        norms = _norms(covariances, w)
        if any(norms[which] <= 0.0 for which in cones):
            return None
        gradients, values = [], []
        hessian = np.zeros((k + 1, k + 1))
        for which in cones:
            pull = covariances[which] @ w / norms[which]
            gradients.append(directions[which] - kappa * np.append(pull, 0.0))
            values.append(directions[which] @ np.append(w, b) - kappa * norms[which])
            curvature = (covariances[which] - np.outer(pull, pull)) / norms[which]
            hessian[:k, :k] += multipliers[len(gradients) - 1] * kappa * curvature
        for which in (0, 1):
            if tight[2 + which]:
                gradients.append(directions[which])
                values.append(directions[which] @ np.append(w, b) - 1.0)
        jacobian = np.array(gradients)
        stationary = np.append(costs * signs, 0.0) - jacobian.T @ multipliers
        residual = np.concatenate([stationary, values])
        size = float(np.abs(residual).max())
        if before is not None and size > 0.5 * before:
            break  # converged to rounding, or not converging at all
        before = size
        system = np.block([[hessian, -jacobian.T], [jacobian, np.zeros((len(values),) * 2)]])
        try:
            step = np.linalg.solve(system, -residual)
        except np.linalg.LinAlgError:
            return None
        w = w + step[:k]
        b = b + step[k]
        multipliers = multipliers + step[k + 1 :]
    accurate = before is not None and before <= 1e-9 * float(np.abs(costs).max())
    if not accurate or (np.sign(w) != signs).any() or (multipliers < 0.0).any():
        return None
    # A constraint taken for slack must be so.
    norms = _norms(covariances, w)
    sides = np.array([direction @ np.append(w, b) for direction in directions])
    if (sides < np.maximum(kappa * norms, 1.0) * (1.0 - 1e-7)).any():
        return None
    return w


def _covariance(moments: TwoClassMoments, which: int, support) -> np.ndarray:
    Z = moments.columns(which, support)
    return Z.T @ Z + moments.ridges[which] * np.eye(len(support))


def _norms(covariances, w) -> np.ndarray:
    return np.sqrt(np.maximum([w @ covariance @ w for covariance in covariances], 0.0))
