"""HSIC lasso: few features whose kernels together are like the kernel of the target."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from ..._checks import check_integer, check_real
from ..._saved import Floats
from ...design import standardise_columns
from ...selectors.base import DEFAULT_COUNT, BaseSelector, FeatureScores, RandomState, TrainingData
from ...solvers.base import Path
from ...validation.target import Target
from .solvers.nonnegative_lasso import CentredKernels, NonnegativeLARS, NonnegativeLasso

MAX_ONE_BLOCK = 1000  # samples; more than this are looked at in blocks
DEFAULT_BLOCK_SIZE = 50  # samples


@dataclass(eq=False, repr=False, kw_only=True)
class HSICLassoSelector(BaseSelector):
    """Non-linear selection: few features whose kernels together approximate that of the target.

    In short: Adds features one at a time that depend on the target in any way, linear or not, and
    are not redundant.

    Every feature has a Gaussian kernel matrix K_k (width 1, of the standardised feature), and the
    target has L: 1 / n_c for two samples of the same class of n_c samples and 0 else, or a Gaussian
    kernel of the standardised values. All are centred and have Frobenius norm one, and

        1/2 ||L - sum_k a_k K_k||^2 + lam sum_k a_k    over a >= 0

    is minimised for decreasing lam, starting at the smallest value that keeps no feature. Features
    are ranked in the order in which they enter. A feature that depends on the target in any way,
    linear or not, enters early; a copy of a feature already in the model never enters. Several
    noisy measurements of the same quantity may all enter, because together they are less noisy.
    Pure interactions (exclusive or) are not found.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten that enter first.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They count towards
        ``n_features_to_select`` and rank first. The path is the same as without this.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    block_size : int or None, default=None
        Compare kernels within random blocks of this many samples. None uses one block for up to
        1,000 samples, and blocks of 50 for more.
    n_permutations : int, default=3
        How many random divisions into blocks to use; ignored without blocks.
    task : {"auto", "classification", "regression"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    max_memory : float, default=2.56e8
        Maximum memory for kernel matrices, in bytes. They are stored in single precision if they
        all fit, and otherwise recomputed for every feature that enters.
    random_state : int, RandomState instance or None, default=None
        Seed of the random number generator; an int makes results reproducible.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Alignment (0 to 1) of the feature's kernel with the part of the target's kernel that earlier
        features do not explain, when the feature entered; for features that did not enter, at the
        end.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the first to enter. Features that did not enter are ranked by
        score.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    path_ : Path
        Features in the order in which they entered, with the values of lam.
    kernel_weights_ : ndarray of shape (n_features,)
        Weights a at the end of the path, just before one more feature than requested would enter.
        :meth:`at` does not change it.
    lam_ : float
        Value of lam there.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).
    objective_ : float
        Objective at ``lam_``.
    optimality_ : float
        Largest violation of the optimality conditions at ``lam_``, relative to the largest lam.
    n_iter_ : int
        Number of features that entered or left along the path.
    converged_ : bool
        Whether ``optimality_`` is at most 1e-4 and the path did not end early.
    history_ : list of float
        Objective at every lam at which a feature entered or left.

    See Also
    --------
    sparsieve.L0MKLSelector : Non-linear SVM with one kernel per feature.
    sparsieve.InfoGainSelector : Mutual information with the class.
    sparsieve.ReliefFSelector : Also finds features that matter only in combination.

    Notes
    -----
    Only inner products of all kernels with that of the target, and with those of the features
    that enter, are computed: n_features n_samples^2 numbers for each, or n_features n_samples
    block_size n_permutations with blocks. Samples beyond the last whole block are left out of a
    permutation. Kernels are normalised over all blocks together.

    Alignment is not zero for noise: with 100 samples, independent normal features have 0.02 on
    average, and the best of 500 has 0.1; with 30 samples 0.08 and 0.3.

    References
    ----------
    M. Yamada, W. Jitkrittum, L. Sigal, E. P. Xing, M. Sugiyama (2014). High-dimensional feature
    selection by feature-wise kernelized lasso. Neural Computation 26, 185-207.

    H. Climente-Gonzalez, C.-A. Azencott, S. Kaski, M. Yamada (2019). Block HSIC lasso:
    model-free biomarker detection for ultra-high dimensional data. Bioinformatics 35, i427-i435.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import HSICLassoSelector
    >>> X = np.random.default_rng(0).standard_normal((150, 30))
    >>> y = np.sin(2 * X[:, 4]) + X[:, 7] ** 2
    >>> HSICLassoSelector(n_features_to_select=2).fit(X, y).get_support(indices=True)
    array([4, 7])
    """

    block_size: int | None = None
    n_permutations: int = 3
    task: str = "auto"
    max_memory: float = 2.56e8
    random_state: RandomState = None

    kernel_weights_: Annotated[Floats, "features"] = field(init=False)
    lam_: float = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear",)
    _scale_free: ClassVar[bool | None] = True
    _score_meaning: ClassVar[str] = (
        "Alignment (0 to 1) of the feature's kernel with the part of the target's kernel that "
        "earlier features do not explain; for features that were not selected, with what remains "
        "at the end."
    )

    def fit(self, X: Any, y: Any) -> Self:  # type: ignore[override]
        """Rank the features of X by how informative they are about y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels, a 0/1 indicator matrix, or real-valued targets.

        Returns
        -------
        self : object
            The fitted selector.
        """
        return super().fit(X, y)

    def _check_parameters(self) -> None:
        if self.block_size is not None:
            check_integer("block_size", self.block_size, minimum=2)
        check_integer("n_permutations", self.n_permutations)
        check_real("max_memory", self.max_memory, minimum=0)

    def _fit(self, data: TrainingData) -> FeatureScores:
        groups = self._groups(data.design.shape[0])
        view = standardise_columns(data.design, centre=True, scale=True)
        target = target_kernel(data.target)
        fixed = data.fixed
        seen = view.design.columns(fixed.candidates) if fixed.never.any() else view.design
        kernels = CentredKernels(seen, groups, target, float(self.max_memory))
        correlations = np.where(view.constant[fixed.candidates], 0.0, kernels.target_products)
        problem = NonnegativeLasso(correlations, kernels.products, kernels.target_power)
        n_steps = fixed.own_count(self.n_features_to_select, DEFAULT_COUNT) + fixed.n_always
        found = NonnegativeLARS(n_steps).solve(problem)
        path, order = found.solution, fixed.candidates[found.solution.order]
        # At the start of the path nothing is kept yet, just as at the strength of the first entry.
        first = path.strengths[:1] if len(order) else np.zeros(1)
        self.path_: Path = Path.from_order(order, strength=np.concatenate([first, path.strengths]))
        self.kernel_weights_, self.lam_ = fixed.spread(path.weights), path.strength
        self._keep_result(
            found,
            measure="an optimality violation of",
            remedy="the feature kernels are nearly linearly dependent",
        )
        scores = fixed.spread(path.correlations).copy()
        scores[order] = path.strengths
        scores[view.constant] = 0.0
        return FeatureScores(
            scores,
            n_kept=min(DEFAULT_COUNT, len(order)),
            order=order,
            constant=view.constant,
            complete=False,
            beyond="the alignment of their kernels with the unexplained part of the target's",
        )

    def _groups(self, n_samples: int) -> np.ndarray:
        """Samples of every block."""
        size = self.block_size
        if size is None:
            size = n_samples if n_samples <= MAX_ONE_BLOCK else DEFAULT_BLOCK_SIZE
        if size >= n_samples:
            return np.arange(n_samples)[None, :]
        rng = check_random_state(self.random_state)
        n_blocks = n_samples // size
        drawn = [rng.permutation(n_samples)[: n_blocks * size] for _ in range(self.n_permutations)]
        return np.concatenate(drawn).reshape(-1, size)


def target_kernel(target: Target) -> Callable[[np.ndarray], np.ndarray]:
    """What gives the target's kernel matrices on groups of samples; their largest entry is one."""
    if target.codes is not None:
        codes, sizes = target.codes, np.bincount(target.codes)
        shares = (sizes[sizes > 0].min() / np.maximum(sizes, 1)).astype(np.float32)

        def of_classes(groups: np.ndarray) -> np.ndarray:
            inside = codes[groups]
            same = inside[:, :, None] == inside[:, None, :]
            return same * shares[inside][:, :, None]

        return of_classes
    Y = target.Y.astype(np.float64)
    Y = Y - Y.mean(axis=0)
    deviations = np.sqrt((Y**2).mean(axis=0))
    Y = np.divide(Y, deviations, out=np.zeros_like(Y), where=deviations > 0)

    def of_values(groups: np.ndarray) -> np.ndarray:
        inside = Y[groups]
        matrices = np.zeros((*groups.shape, groups.shape[1]))
        for output in range(Y.shape[1]):
            matrices -= 0.5 * (inside[:, :, None, output] - inside[:, None, :, output]) ** 2
        return np.exp(matrices, out=matrices)

    return of_values
