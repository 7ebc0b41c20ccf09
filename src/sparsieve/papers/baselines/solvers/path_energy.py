"""The sum of all paths in a graph that is known by products with its matrix of weights."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....solvers.base import Result

SHARE = 0.9  # r is this share of what the series still converges for
_TOL = 1e-10
_MAX_PRODUCTS = 200


def path_energies(
    weigh: Callable[[np.ndarray], np.ndarray], n_nodes: int
) -> Result[tuple[np.ndarray, float]]:
    """((I - r A)^-1 - I) 1 with r = SHARE / rho, and rho, the spectral radius of A.

    A has no negative entries, so that its largest eigenvalue is rho and the vector of ones is
    not orthogonal to the eigenvector: the Lanczos process from there finds rho and solves the
    system from the same products with A. In its basis Q, A is the tridiagonal T, and the
    solution for any r is Q (I - r T)^-1 Q'1.
    """
    length = float(np.sqrt(n_nodes))
    basis = [np.full(n_nodes, 1.0 / length)]
    diagonal: list[float] = []
    off: list[float] = []
    most = min(n_nodes, _MAX_PRODUCTS)
    while True:
        following = weigh(basis[-1])
        diagonal.append(float(basis[-1] @ following))
        Q = np.stack(basis)
        for _ in range(2):  # twice is enough
            following -= Q.T @ (Q @ following)
        rest = float(np.linalg.norm(following))
        T = np.diag(diagonal) + np.diag(off, 1) + np.diag(off, -1)
        values, vectors = np.linalg.eigh(T)
        radius = float(values[-1])
        if radius <= 0.0:  # no edges at all
            return Result((np.zeros(n_nodes), 0.0), 0.0, 0.0, len(diagonal), True)
        r = SHARE / radius
        inner = vectors @ (vectors[0] * length / (1.0 - r * values))
        residual = r * rest * abs(inner[-1]) / length
        # The residual of the eigenvector, whose square bounds how far the radius is off.
        off_radius = rest * abs(vectors[-1, -1]) / radius
        exhausted = rest <= 1e-14 * radius
        if max(residual, off_radius**2) <= _TOL or exhausted or len(basis) == most:
            break
        off.append(rest)
        basis.append(following / rest)
    energies = Q.T @ inner - 1.0
    # Digits beyond the tolerance say nothing: features that are alike score the same.
    grain = _TOL * float(np.abs(energies).max())
    energies = grain * np.rint(energies / grain)
    optimality = float(max(residual, off_radius**2))
    return Result(
        (energies, radius),
        objective=float(energies.sum()),
        optimality=optimality,
        n_iter=len(diagonal),
        converged=optimality <= _TOL or exhausted,
    )
