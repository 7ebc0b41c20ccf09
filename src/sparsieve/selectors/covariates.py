"""Unpenalised features: taken out of a problem before it is solved, and put back afterwards.

Writing Z for the columns of ``always_keep``, X W + Z B is the same as (X - Z A) W + Z B' with
B' = B + A W, whatever A. With A = Z^+ X what the other columns share with Z is gone, and B' is
free. For a squared loss B' = Z^+ Y whatever W (Frisch, Waugh and Lovell), so that the problem on
what Z leaves of X and Y is the same problem; for other losses a few free columns remain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from .._saved import Floats, Ints, Savable
from ..design import DesignMatrix, blank_columns
from ..design.views import deflate
from ..solvers.engines.group_products import RANK_TOL
from ..validation.columns import FixedColumns


@dataclass(frozen=True)
class Covariates(Savable):
    """Features that were projected out of a problem.

    Attributes
    ----------
    index : ndarray of shape (n_covariates,)
        Their columns.
    directions : ndarray of shape (n_samples, n_directions)
        What they span: orthogonal directions of unit mean square, under the sample weights.
    basis : ndarray of shape (n_covariates, n_directions)
        Directions as combinations of the covariates.
    target : ndarray of shape (n_directions, n_outputs)
        Coefficients on the directions that were taken out of the target.
    explained : ndarray of shape (n_directions, n_features)
        Coefficients on the directions that were taken out of the features.
    """

    index: Annotated[Ints, "covariates"]
    directions: Annotated[Floats, "samples", "directions"]
    basis: Annotated[Floats, "covariates", "directions"]
    target: Annotated[Floats, "directions", "outputs"]
    explained: Annotated[Floats, "directions", "features"]

    def complete(self, W: np.ndarray, further: np.ndarray | float = 0.0) -> np.ndarray:
        """W with the rows of the covariates filled in.

        ``further`` are coefficients on the directions of what was left of the target.
        """
        W = W.copy()
        W[self.index] = 0.0
        W[self.index] = self.basis @ (self.target + further - self.explained @ W)
        return W


@dataclass(frozen=True)
class OpenProblem:
    """What the model has to choose from, given the columns whose fate is decided.

    Columns that are not to be chosen, or of which the covariates leave nothing, are zero in
    ``design`` and marked in ``blank``.
    """

    design: DesignMatrix
    Y: np.ndarray
    blank: np.ndarray
    covariates: Covariates | None


def project_fixed_out(
    design: DesignMatrix,
    Y: np.ndarray,
    fixed: FixedColumns,
    weights: np.ndarray | None = None,
    *,
    keep_spent: bool = False,
) -> OpenProblem:
    """Project ``always_keep`` out of X and Y (with these weights), and blank ``never_keep``.

    With ``keep_spent`` columns of which the covariates leave next to nothing are not blank.
    """
    blank = fixed.either
    if not fixed.n_always:
        return OpenProblem(blank_columns(design, blank), Y, blank, None)
    weights = np.ones(len(Y)) if weights is None else weights
    size, root = np.sqrt(weights.sum()), np.sqrt(weights)[:, None]
    index = np.flatnonzero(fixed.always)
    columns = design.dense_columns(index).astype(np.float64)
    left, singular, right = np.linalg.svd(root * columns, full_matrices=False)
    rank = int((singular > 1e-10 * singular.max(initial=0.0)).sum())
    left, basis = left[:, :rank], right[:rank].T / singular[:rank]
    explained = design.rmatmul((root * left).astype(design.dtype)).T.astype(np.float64)
    target = left.T @ (root * Y)
    covariates = Covariates(
        index, left / root * size, basis * size, target / size, explained / size
    )
    means, variances = design.column_moments(weights)
    squares = size**2 * (variances + means**2)
    rest = squares - (explained**2).sum(axis=0)
    if not keep_spent:
        blank = blank | (rest <= RANK_TOL[np.dtype(design.dtype)] * squares)
    smaller = deflate(design, covariates.directions, covariates.explained, blank)
    return OpenProblem(smaller, Y - (left / root) @ target, blank, covariates)
