"""X and Y prepared for a solver, the way back to the user's units, and what is chosen among."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import DTypeLike

from .._saved import Floats, Ints, Savable
from ..design import (
    Coded,
    DesignMatrix,
    blank_columns,
    standardise_columns,
    to_condense,
    without_samples,
)
from ..design.views import deflate
from ..solvers.engines.group_products import RANK_TOL
from ..validation.columns import FixedColumns
from ..validation.feature_groups import FeatureGroups
from ..validation.training_data import TrainingData


def find_groups(selector: Any) -> FeatureGroups | None:
    """The feature groups that a fitted selector kept or left out; None for single features."""
    # Of a search for the number of features: those of the selector inside.
    model = getattr(selector, "selector_", selector)
    return getattr(model, "__dict__", {}).get("_feature_groups")


def of_several_columns(groups: FeatureGroups | None) -> FeatureGroups | None:
    """The groups, or None where every column is a group of its own."""
    return None if groups is None or groups.are_single else groups


def scores_groups(selector: Any) -> bool:
    """Whether a fitted selector has scores of groups of several columns."""
    return of_several_columns(vars(selector).get("_feature_groups")) is not None


def unit_phrase(selector: Any, count: int = 1) -> str:
    """What is counted, in words.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.preparation import unit_phrase
    >>> unit_phrase(RidgeForwardSelector(), 2)
    'features'
    """
    word = "feature" if find_groups(selector) is None else "feature group"
    return word if count == 1 else f"{word}s"


def unit_names(selector: Any, names: Any) -> Any:
    """Names of what is counted; ``names`` are those of the columns."""
    groups = find_groups(selector)
    return names if groups is None else np.array(groups.names, dtype=object)


def unit_masks(groups: FeatureGroups | None, columns: np.ndarray) -> np.ndarray:
    """Which units are selected, from masks of the selected columns (in the last axis)."""
    if groups is None:
        return columns
    return np.stack([columns[..., some].all(axis=-1) for some in groups.columns], axis=-1)


def count_selection(selector: Any) -> int:
    """How many features, or feature groups, a fitted selector keeps."""
    if find_groups(selector) is None:
        return int(selector.get_support().sum())
    return int(getattr(selector, "selector_", selector).group_support_.sum())


def kept_words(selector: Any) -> str:
    """How much a fitted selector keeps, in words.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.selectors.preparation import kept_words
    >>> X, y = load_wine(return_X_y=True)
    >>> kept_words(RidgeForwardSelector(1, feature_groups={"phenols": [5, 6, 7]}).fit(X, y))
    '1 of 11 feature groups (1 of 13 columns)'
    """
    support, groups = selector.get_support(), find_groups(selector)
    if groups is None:
        return f"{support.sum()} of {len(support):,} features"
    return (
        f"{count_selection(selector)} of {groups.n_groups:,} feature groups ({support.sum()} of "
        f"{len(support):,} columns)"
    )


# Beyond so many outputs a decomposition of the target is dear.
SVD_MAX_OUTPUTS = 200


@dataclass(frozen=True)
class Units(Savable):
    """How to translate coefficients of the problem solved into the units of the user's data."""

    centre: Annotated[Floats, "features"]
    scale: Annotated[Floats, "features"]
    target_mean: Annotated[Floats, "outputs"]
    decode: Annotated[Floats, "columns", "outputs"] | None
    fit_intercept: bool
    covariates: Annotated[Covariates, "features"] | None = None

    @property
    def n_columns(self) -> int:
        """Number of columns of the target of the problem solved."""
        return len(self.target_mean if self.decode is None else self.decode)

    def outputs(self, W: np.ndarray) -> np.ndarray:
        """From the columns of the problem solved to the user's outputs."""
        return W if self.decode is None else W @ self.decode.astype(W.dtype)

    def coefficients(
        self, W: np.ndarray, rows: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of W, of shapes (n_outputs, n_features) and (n_outputs,).

        ``rows`` are those of W that are not zero, where that is known.
        """
        if rows is None or self.decode is None:
            return self.in_user_units(self.outputs(W), rows=rows)
        wide = np.zeros((len(W), self.decode.shape[1]), dtype=W.dtype)
        wide[rows] = self.outputs(W[rows])
        return self.in_user_units(wide, rows=rows)

    def add_covariates(self, W: np.ndarray, further: np.ndarray | float = 0.0) -> np.ndarray:
        """W with the rows of the covariates, if there are any."""
        return W if self.covariates is None else self.covariates.complete(W, further)

    def in_user_units(
        self,
        W: np.ndarray,
        further: np.ndarray | float = 0.0,
        rows: np.ndarray | None = None,
        dtype: DTypeLike | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(coef, intercept) of coefficients that already belong to the user's outputs.

        ``further`` is what a model says about the directions of its covariates, ``rows`` which
        rows of W are not zero, where that is known. They are rounded to ``dtype``, that of W by
        default.
        """
        W = self.add_covariates(W, further)
        # Few rows of very many are not zero, and the others stay so in any unit.
        if rows is None or self.covariates is not None:
            filled = np.zeros(len(W), dtype=bool)
            filled[np.nonzero(W)[0]] = True
            rows = np.flatnonzero(filled)
        some = (W[rows] / self.scale[rows, None]).T.astype(W.dtype, copy=False)
        coef: np.ndarray = np.zeros(W.shape[::-1], W.dtype if dtype is None else dtype)
        coef[:, rows] = some
        if not self.fit_intercept:
            return coef, np.zeros(coef.shape[0], dtype=coef.dtype)
        intercept = self.target_mean - some @ self.centre[rows]
        return coef, intercept.astype(coef.dtype, copy=False)


@dataclass(frozen=True)
class Prepared:
    """A centred, standardised problem without the columns whose fate is decided.

    Attributes
    ----------
    design : DesignMatrix
    Y : ndarray of shape (n_samples, n_outputs)
        Target, in double precision.
    constant : ndarray of bool
        Columns that cannot be chosen: constant ones, those of ``always_keep``, which were
        projected out, and those of ``never_keep``. They are zero in ``design``.
    units : Units
        The way back.
    target_power : float
        Sum of squares of the target before its outputs were rescaled.
    """

    design: DesignMatrix
    Y: np.ndarray
    constant: np.ndarray
    units: Units
    target_power: float


def prepare(
    data: TrainingData,
    *,
    fit_intercept: bool,
    standardize: bool,
    compress: bool,
    squared_loss: bool,
    clip: float | None = None,
    output_scale: np.ndarray | None = None,
    keep_spent: bool = False,
    n_products: float = 0.0,
) -> Prepared:
    """Centre, scale and weight X and Y, and compress the outputs where that is allowed.

    Centring is the exact intercept of a squared loss; for others it changes nothing when the
    intercept is free, and makes for better numbers. The same holds for what ``always_keep``
    explains of X and Y by least squares. Models with a squared loss want the square roots of
    the sample weights in the rows, and the precision of X; others weigh the samples themselves.

    ``compress`` replaces Y by as many columns as it has independent ones: two classes become one
    column, c classes become c - 1. Writing Y = Y_c V' with orthonormal V, this solves for W V
    instead of W. It is the same problem for a model that is *invariant under rotations of the
    outputs*, that is, which sees the rows of W and of the residuals through their l2 norms alone:
    these are the same for W V, and the part of W outside the span of V could only add to them. A
    penalty on entries, such as the l1 or the maximum norm of a row, has no such invariance and
    becomes another penalty. ``output_scale`` divides the columns of Y. ``keep_spent``
    leaves columns to choose from of which the covariates leave next to nothing. A squared loss on
    few columns is solved by their inner products, if that is less than ``n_products`` of a vector
    with X.
    """
    weights = data.sample_weight
    Y, target_mean = _centred_target(data, fit_intercept)
    steps: Any = {
        "centre": fit_intercept,
        "scale": standardize,
        "sample_weight": weights,
        "clip": clip,
    }
    # A squared loss may as well be fitted to few samples that stand for all.
    few = None
    if squared_loss:
        few = without_samples(
            to_condense(data.design, Y.shape[1], n_products), Y, n_products=n_products, **steps
        )
    if few is not None:
        view, Y = few
    else:
        Y = np.asarray(Y)
        view = standardise_columns(data.design, weight_rows=squared_loss, **steps)
        if weights is not None and squared_loss:
            Y *= np.sqrt(weights)[:, None]
    given = None if squared_loss else weights
    open_ = project_fixed_out(view.design, Y, data.fixed, given, keep_spent=keep_spent)
    Y = open_.Y
    target_power = float(np.vdot(Y, Y))
    decode = None
    if output_scale is not None:
        Y = Y / output_scale
        decode = np.diag(output_scale)
    if compress:
        Y, rotation = compress_outputs(Y, view.design.dtype)
        if rotation is not None:
            decode = rotation.T if decode is None else rotation.T @ decode
    # Without centring a constant column acts as an intercept: it does carry information.
    constant = view.constant if fit_intercept else np.zeros_like(view.constant)
    units = Units(view.centre, view.scale, target_mean, decode, fit_intercept, open_.covariates)
    Y = np.ascontiguousarray(Y, dtype=open_.design.dtype if squared_loss else np.float64)
    return Prepared(open_.design, Y, constant | open_.blank, units, target_power)


def _centred_target(data: TrainingData, centre: bool) -> tuple[Any, np.ndarray]:
    """(Y, what was subtracted from its columns), in double precision."""
    weights = data.sample_weight
    if isinstance(data.target.Y, Coded):
        table = data.target.Y.table.astype(np.float64)
        sizes = data.target.Y.sizes(weights)
        mean = sizes @ table / sizes.sum() if centre else np.zeros(len(table))
        return Coded(data.target.Y.codes, table - mean), mean
    Y = data.target.Y.astype(np.float64)
    if not centre:
        return Y, np.zeros(Y.shape[1])
    mean = np.average(Y, axis=0, weights=weights)
    Y -= mean
    return Y, mean


def compress_outputs(
    Y: np.ndarray, dtype: DTypeLike = np.float64
) -> tuple[np.ndarray, np.ndarray | None]:
    """Y = Y_c V' with orthonormal V and independent columns of Y_c; (Y, None) at full rank.

    ``dtype`` is the precision of the data: differences below it do not count as independent.
    Of very many outputs that add up to nothing, as those of centred classes do, one is dropped by a
    reflection: a decomposition would take longer than the model.
    """
    if Y.shape[1] > SVD_MAX_OUTPUTS:
        size = float(np.abs(Y).max(initial=0.0))
        if np.abs(Y.sum(axis=1)).max(initial=0.0) <= 1e-10 * size:
            return _without_sum(Y)
    left, singular, right = np.linalg.svd(Y, full_matrices=False)
    threshold = singular[0] * max(Y.shape) * np.finfo(np.float64).eps
    if dtype == np.float32:
        threshold = max(threshold, singular[0] * np.finfo(np.float32).eps)
    rank = max(1, int((singular > threshold).sum()))
    if rank == Y.shape[1]:
        return Y, None
    return left[:, :rank] * singular[:rank], right[:rank].T


def _without_sum(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Y V and V, where the columns of V are an orthonormal basis of what adds up to zero."""
    count = Y.shape[1]
    # I - 2 h h' exchanges the first axis and the direction of equal entries.
    h = np.full(count, -1.0 / np.sqrt(count))
    h[0] += 1.0
    h /= np.linalg.norm(h)
    V = -2.0 * np.outer(h, h[1:])
    V[np.arange(1, count), np.arange(count - 1)] += 1.0
    return Y[:, 1:] - np.outer(2.0 * (Y @ h), h[1:]), V


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
