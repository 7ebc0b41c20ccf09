"""The data of a claim: columns without outliers, covariates and copies, and a target of full rank.

A p-value counts samples. Weights that are whole numbers are therefore taken as copies of samples,
and others refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import xlogy

from ...design import (
    DenseDesign,
    DesignMatrix,
    SparseDesign,
    as_design,
    in_double,
    standardise_columns,
)
from ...design.sparse import normal_scores, scores_from_zero, without_stored_zeros
from ...solvers.claims.dependence import Dependence, SampleGroups
from ...solvers.claims.distillation import CredibleSet, TestedPath, places_of_samples
from ...solvers.claims.distilled_state import DistillationProblem, project_out, representatives
from ...solvers.losses.cox import Cox
from ...solvers.searches.redundancy import COPY_TOL
from ...validation.exchange import MIN_PER_STRATUM, Exchange, codes_of_rows, survival_strata
from ...validation.target import Target
from ...validation.training_data import TrainingData
from ..dependent_samples import codes_of_samples, given_or_close
from ..preparation import compress_outputs
from .hidden_structure import MAX_SAMPLES, HiddenStructure

MIN_SAMPLES = 12
# Values beyond this many standard deviations are pulled in; of fewer samples, or classes with
# fewer, normal scores are used.
CLIP = 3.0
MIN_CLIPPED = 40
MAX_CLIPPINGS = 20
MIN_CLASS = 20
MIN_CLASSES_UNEVEN = 3  # classes
# Numbers of an X outside of memory that may be loaded to be ranked.
MAX_RANKED = 1 << 27


@dataclass(frozen=True)
class ClaimData:
    """What is tested, and which columns stand for others.

    Attributes
    ----------
    problem : DistillationProblem
    representative : ndarray of int of shape (n_features,)
        The first of the copies of every column.
    constant : ndarray of bool of shape (n_features,)
        Columns that do not vary, or not once the covariates are known.
    exchange : Exchange
        Which samples exchange what the covariates leave of their targets. What is drawn does not
        hang on the order of the rows.
    groups : ndarray of int of shape (n_samples,) or None
        Samples that depend on each other, as given or found.
    n_close : int
        Samples that are much nearer to another one than to all others, where that was not told.
    hidden : HiddenStructure
    n_components : int
        Principal components that every path starts with, told or ahead of all columns.
    n_beside : int
        Those that it starts with because they go with what claimed columns leave of the target.
    measured : str
        What the correlations of tests are of, in words.
    """

    problem: DistillationProblem
    representative: np.ndarray
    constant: np.ndarray
    exchange: Exchange
    hidden: HiddenStructure
    groups: np.ndarray | None = None
    n_close: int = 0
    n_components: int = 0
    measured: str = ""
    n_beside: int = 0

    @property
    def n_tested(self) -> int:
        """How many different columns there are."""
        return int(self.problem.eligible.sum())

    def add_components(self, components: np.ndarray) -> ClaimData:
        """The same with components that every path starts with, seen beside what was claimed."""
        problem = _add_covariates(self.problem, components)
        return replace(self, problem=problem, n_beside=self.n_beside + components.shape[1])


@dataclass(frozen=True)
class Tests:
    """What tests found of all columns, or of all groups of them.

    Attributes
    ----------
    pvalues, adjusted : ndarray
    ties : ndarray
        Decides between equal p-values.
    freedom : int
        Degrees of freedom that tests have.
    correlations : dict of int to ndarray
        Of candidates with all others.
    sets : dict of int to CredibleSet
        Of candidates: the columns one of which it is.
    """

    pvalues: np.ndarray
    adjusted: np.ndarray
    ties: np.ndarray
    freedom: int
    correlations: dict[int, np.ndarray] = field(default_factory=dict)
    sets: dict[int, CredibleSet] = field(default_factory=dict)

    @classmethod
    def none(cls, shares: np.ndarray, freedom: int) -> Tests:
        """Before anything is tested."""
        return cls(np.ones(len(shares)), np.ones(len(shares)), shares.copy(), freedom)

    @classmethod
    def of_steps(cls, path: TestedPath, freedom: int) -> Tests:
        """Of the steps of a path, each of which counts only after those before it."""
        tests = cls.none(path.remaining, freedom)
        tests.pvalues[path.order] = path.step_pvalues
        tests.adjusted[path.order] = np.maximum.accumulate(path.step_pvalues)
        tests.follow(path)
        return tests

    def follow(self, path: TestedPath) -> None:
        """Prefer what entered earlier, and keep what it is correlated with."""
        order = path.order
        self.ties[order] = 2.0 - np.arange(len(order)) / max(1, len(order))
        self.correlations.update(zip(order.tolist(), path.correlations, strict=True))


def claim_data(
    data: TrainingData,
    owner: str,
    *,
    merge: bool = True,
    groups: Any = None,
    adjust: Any = None,
    conditional: bool = False,
) -> ClaimData:
    """Prepare X and y for tests of features.

    Whatever X holds, tests are in double precision: a p-value near the level decides by its last
    digits. Copies of columns are merged unless they are parts of feature groups. ``groups`` are
    those of samples, and ``adjust`` says which principal components every path starts with. Tests
    given other columns (``conditional``) allow for the uneven spread of what these leave of several
    classes, or of a rare one.
    """
    design, rows = in_double(data.design), _expand_copies(data, owner)
    Y, codes, strata = _numbers(data.target), data.target.codes, survival_strata(data.target.events)
    together = codes_of_samples(data, groups)
    if rows is not None:
        design, Y, codes = design.rows(rows), Y[rows], None if codes is None else codes[rows]
        together = None if together is None else together[rows]
        strata = None if strata is None else strata[rows]
    n_samples, n_features = design.shape
    if n_samples < MIN_SAMPLES:
        raise ValueError(
            f"{owner} needs at least {MIN_SAMPLES} samples, but X has {n_samples} "
            f"(n_samples={n_samples}); no p-value of so few samples can support a claim"
        )
    if codes is None:
        Y = _without_tails(Y)
    smallest = n_samples if codes is None else int(np.bincount(codes).min())
    is_ranked = n_samples < MIN_CLIPPED or smallest < MIN_CLASS
    if is_ranked:
        design = _normal_scores(design, owner)
    view = standardise_columns(design, centre=True, scale=True, clip=None if is_ranked else CLIP)
    design = view.design
    tol = COPY_TOL[np.dtype(data.design.dtype)]  # copies as given
    hidden = HiddenStructure(design, ~(view.constant | data.fixed.either))
    # Copies that a weight stands for are meant.
    find = hidden.close_samples if rows is None else lambda: None
    together, n_close = given_or_close(together, find)
    known = np.asarray(design.dense_columns(np.flatnonzero(data.fixed.always)), np.float64)
    covariates = _basis(known)
    components = np.zeros((n_samples, 0))
    is_asked = adjust not in (None, "auto")
    if is_asked and n_samples > MAX_SAMPLES:
        raise ValueError(
            f"adjust={adjust!r} compares all samples with each other, of which there may be "
            f"{MAX_SAMPLES:,}, but X has {n_samples:,}; leave it out, or pass what is known of a "
            "batch as always_keep"
        )
    if is_asked and hidden.is_small:
        components = hidden.components(covariates, None if adjust == "components" else int(adjust))
        covariates = _basis(np.hstack((covariates, components)))
    random = np.random.default_rng(0).standard_normal((n_samples, 3))
    looked = np.hstack((random, covariates))
    products = design.rmatmul(looked) / np.sqrt(n_samples)
    spent = 1.0 - (products[:, 3:] ** 2).sum(axis=1) <= tol
    first = np.arange(n_features)
    if merge:
        first = representatives(products[:, :3], tol * np.sqrt(n_samples))
    closed = view.constant | data.fixed.either | spent
    # Copies of a column that may not be chosen are not to be chosen either.
    eligible = (first == np.arange(n_features)) & ~closed
    problem = DistillationProblem(design, _residual_basis(Y, covariates), covariates, eligible)
    if adjust == "auto" and hidden.is_small and problem.target.shape[1]:
        components = hidden.ahead(problem)
        problem = _add_covariates(problem, components)
    constant = view.constant | (spent & ~data.fixed.either)
    places = places_of_samples(problem)
    exchange = Exchange.from_target(
        Y, groups=together, strata=strata, covariates=known, places=places
    )
    alike = np.zeros(n_samples, dtype=np.int64) if strata is None else codes_of_rows(strata)
    if known.shape[1]:
        alike = codes_of_rows(np.column_stack((alike, codes_of_rows(known))))
    apart = alike if 0 < alike.max() < n_samples / MIN_PER_STRATUM else None
    if together is not None or apart is not None:
        pairs = None if together is None else SampleGroups(together)
        problem = replace(problem, dependence=Dependence(pairs, apart, exchange.order))
    if conditional and codes is not None:
        is_uneven = smallest < MIN_CLASS or int(codes.max()) + 1 >= MIN_CLASSES_UNEVEN
        problem = replace(problem, is_uneven=is_uneven)
    measured = (
        "normal scores of the ranks" if is_ranked else "values clipped at 3 standard deviations"
    )
    if known.shape[1]:
        measured += ", given always_keep"
    found = together, n_close, components.shape[1], measured
    return ClaimData(problem, first, constant, exchange, hidden, *found)


def _numbers(target: Target) -> np.ndarray:
    """What is tested: values, 0/1 columns of classes, or residuals of the model without features.

    Of survival times these are events that happened less those expected: their products with
    columns are the score statistics of Cox's model. Of counts they are the signed roots of the
    deviances of a Poisson model, which have no long tail.
    """
    if target.task == "survival":
        survival = target.survival
        loss = Cox(survival, ties="breslow")
        return -loss.gradient(np.zeros((len(survival.time), 1)))
    Y = np.asarray(target.Y, dtype=np.float64)
    if target.task != "counts":
        return Y
    mean = Y.mean(axis=0)
    deviance = xlogy(Y, Y / np.where(mean > 0, mean, 1.0)) - (Y - mean)
    return np.sign(Y - mean) * np.sqrt(2.0 * np.maximum(deviance, 0.0))


def _residual_basis(Y: np.ndarray, covariates: np.ndarray) -> np.ndarray:
    """Orthonormal columns: what covariates leave of the target."""
    centred = Y - Y.mean(axis=0)
    target = project_out(centred, covariates)
    scale = np.linalg.norm(target, axis=0)
    usable = scale > 1e-10 * np.linalg.norm(centred, axis=0).max(initial=0.0)
    if not usable.any():
        return np.zeros((len(Y), 0))
    return _basis(compress_outputs(target[:, usable] / scale[usable])[0])


def _add_covariates(problem: DistillationProblem, components: np.ndarray) -> DistillationProblem:
    """The same with more covariates."""
    if not components.shape[1]:
        return problem
    covariates = _basis(np.hstack((problem.covariates, components)))
    target = _residual_basis(problem.target, covariates)
    return replace(problem, target=target, covariates=covariates)


def _expand_copies(data: TrainingData, owner: str) -> np.ndarray | None:
    """The rows that whole numbers of copies stand for; None for each once."""
    weights = data.sample_weight
    if weights is None:
        return None
    if not np.array_equal(weights, np.round(weights)) or weights.sum() > 10**7:
        raise ValueError(
            f"{owner} takes only whole numbers as sample_weight, each of which says how many "
            "samples a row stands for; a p-value counts samples, so leave other weights out"
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def _normal_scores(design: DesignMatrix, owner: str) -> DesignMatrix:
    """Columns of normal scores, ties sharing the one of their mean rank.

    Of few samples, ranks themselves would not do: they are evenly spread, which makes shares near
    the largest more frequent than the beta distribution says.
    """
    n_samples = design.shape[0]
    if isinstance(design, SparseDesign):
        columns = without_stored_zeros(design.matrix.tocsc())
        return SparseDesign(scores_from_zero(columns))
    if isinstance(design, DenseDesign):
        array = design.array
    else:
        if n_samples * design.shape[1] > MAX_RANKED:
            raise ValueError(
                f"{owner} uses ranks where y has a class of fewer than {MIN_CLASS} samples, and "
                "this X does not fit in memory for that; join small classes or pass fewer columns"
            )
        array = design.dense_columns(np.arange(design.shape[1]))
    return as_design(normal_scores(array).astype(design.dtype))


def _without_tails(Y: np.ndarray) -> np.ndarray:
    """Numbers with those pulled in that are far out, until none is.

    A test of correlation holds if the tails of one of the two are light, whatever the other is.
    """
    for _ in range(MAX_CLIPPINGS):
        centre, reach = Y.mean(axis=0), CLIP * Y.std(axis=0)
        pulled = np.clip(Y, centre - reach, centre + reach)
        if np.abs(pulled - Y).max(initial=0.0) <= 1e-3 * reach.max(initial=0.0):
            break
        Y = pulled
    return Y


def _basis(columns: np.ndarray) -> np.ndarray:
    """Orthonormal columns of the same span."""
    left, singular, _ = np.linalg.svd(np.asarray(columns, np.float64), full_matrices=False)
    return left[:, singular > 1e-10 * singular.max(initial=0.0)]
