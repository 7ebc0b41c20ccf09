"""Stability selection: what is chosen again and again on halves of the samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import MAX_REPEATS, check_choice, check_integer, check_real, warn_user
from .._saved import Floats, Ints, Savable
from ..scoring.outcomes import reaching
from ..selectors.around import group_arguments
from ..selectors.base import FeatureScores, RandomState, TrainingData
from ..selectors.preparation import count_selection, unit_phrase
from .base import (
    MetaSelector,
    check_open,
    check_weighted_classes,
    count_jobs,
    route_arguments,
)
from .halves import BOUNDS, Halving, SampleUnits, run_pair
from .progress import follow_tasks, with_callbacks


@dataclass(frozen=True)
class StabilityPath(Savable):
    """Selection probabilities as a function of the number of features per run.

    Attributes
    ----------
    ks : ndarray of shape (n_ks,)
        1, 2, ..., the number of features per run.
    features : ndarray of shape (n_seen,)
        Indices of the features selected in any run; of the groups, with ``feature_groups``.
    probabilities : ndarray of shape (n_seen, n_ks)
        Selection probabilities.
    threshold : float
        Selection probability required at the last k.

    See Also
    --------
    sparsieve.StabilitySelection : Keeps features that are selected on most random halves of the
        samples.
    sparsieve.StabilityPathDisplay : Plots selection probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector, StabilitySelection
    >>> X, y = load_wine(return_X_y=True)
    >>> stable = StabilitySelection(FisherSelector(), n_features_per_run=3, n_subsamples=10)
    >>> stable.fit(X, y).stability_path_.ks
    array([1, 2, 3])
    """

    ks: Annotated[Ints, "ks"]
    features: Annotated[Ints, "seen"]
    probabilities: Annotated[Floats, "seen", "ks"]
    threshold: float


@dataclass(eq=False, repr=False, kw_only=True)
class StabilitySelection(MetaSelector):
    """Stability selection: keep features that are selected on most random halves of the samples.

    The samples are split at random into two stratified halves, many times (Shah and Samworth's
    complementary pairs). The selector is run on every half, and features selected in at least a
    fraction ``threshold`` of all runs are kept. The expected number of false positives is bounded,
    see ``bound``.

    Any two of the number of features per run, the threshold and the expected number of false
    positives determine the third; give two, one or none of them.

    Parameters
    ----------
    selector : estimator, function, str or None, default=None
        What selects the features: a selector of this package or its name, a selector or model of
        scikit-learn or another package, a pipeline that ends in one, or a function
        ``(X, y) -> scores``, see :class:`SelectorAdapter`. None means
        :class:`RidgeForwardSelector`.
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the features that reach the threshold,
        possibly none. A number keeps the features with the highest probabilities, without an error
        bound.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates: in every run, in the way that the
        selector inside describes. They count towards ``n_features_to_select`` and rank first;
        ``n_features_per_run`` and the bounds on false positives are about the others.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the selectors inside are fitted as if X did not have them.
    n_features_per_run : int or None, default=None
        Number of features selected in every run. None means the largest number with
        ``error_bound_`` at most ``expected_false_positives``, but at least 1.
    threshold : float or None, default=None
        Fraction of the runs, above 0.5. None means 0.75, or, if ``n_features_per_run`` is given,
        the smallest value with ``error_bound_`` at most ``expected_false_positives``.
    expected_false_positives : float or None, default=None
        Largest ``error_bound_`` allowed. None means 1 where it is needed.
    bound : {"unimodal", "worst_case", "r_concave"}, default="unimodal"
        "worst_case" makes no assumptions. The others assume a regular distribution of how often an
        uninformative feature is selected and are tighter: "unimodal" by about half, "r_concave"
        several times.
    n_subsamples : int, default=100
        Number of half-samples, an even number.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.
    verbose : int, default=0
        1 prints a line per iteration; here per pair of halves, with the time left.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. All numbers of
        features then count groups, also the bounds on false positives. Not needed where the
        selector inside has them.

    Attributes
    ----------
    selection_probabilities_ : ndarray of shape (n_features,)
        Fraction of the runs in which each feature was selected; of a column of a group, in which
        the group was.
    threshold_ : float
        Threshold used.
    n_features_per_run_ : int
        Number of features per run used.
    error_bound_ : float
        Upper bound on the expected number of false positives: features that reach the threshold
        although a single run selects them with probability at most ``n_features_per_run_ /
        n_features``, as for noise.
    error_bounds_ : dict
        The bound under each assumption.
    stability_path_ : StabilityPath
        Selection probabilities over the number of features per run;
        :class:`~sparsieve.StabilityPathDisplay` plots it.
    scores_ : ndarray of shape (n_features,)
        Selection probability: the fraction of runs on half the samples in which the feature was
        selected.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Ties are broken by mean rank over the runs.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.

    See Also
    --------
    sparsieve.StabilityPathDisplay : Plots selection probabilities.
    sparsieve.SelectorCV : Chooses the number of features by cross-validation.
    sparsieve.EnsembleSelector : Combines the rankings of several selectors.

    Notes
    -----
    ``sample_weight`` is passed to the selector; it does not affect how halves are drawn. With
    ``groups`` (for example patients with several samples each), groups are split instead of
    samples: samples of one group are never in both halves of a pair.

    With scikit-learn 1.9 and later, callbacks such as ``sklearn.callback.ProgressBar`` follow
    every pair: ``StabilitySelection().set_callbacks(ProgressBar()).fit(X, y)``.

    References
    ----------
    N. Meinshausen, P. Bühlmann, Stability selection, J. R. Stat. Soc. B 72 (2010).
    R. D. Shah, R. J. Samworth, Variable selection with error control: another look at stability
    selection, J. R. Stat. Soc. B 75 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import StabilitySelection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 200))
    >>> y = (X[:, 3] + X[:, 5] > 0).astype(int)
    >>> stable = StabilitySelection(expected_false_positives=0.5).fit(X, y)
    >>> stable.get_support(indices=True)
    array([3, 5])
    >>> stable.n_features_per_run_, stable.error_bound_ <= 0.5
    (9, True)
    >>> stable.summary().partition(",")[0]
    '2 of 200 features were selected in at least 75 % of the 100 runs on half the data'
    """

    selector: Any = field(default=None, kw_only=False)
    n_features_per_run: int | None = None
    threshold: float | None = None
    expected_false_positives: float | None = None
    bound: str = "unimodal"
    n_subsamples: int = 100
    n_jobs: int | None = None
    random_state: RandomState = 0
    verbose: int = 0
    feature_groups: Any = None

    _keeps_one: ClassVar[bool] = False
    _score_meaning: ClassVar[str] = (
        "Selection probability: the fraction of runs on half the samples in which the feature "
        "was selected."
    )

    n_features_per_run_: int = field(init=False)
    threshold_: float = field(init=False)
    error_bounds_: dict[str, float] = field(init=False)
    selection_probabilities_: Annotated[Floats, "features"] = field(init=False)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("bound", self.bound, BOUNDS)
        check_integer("n_subsamples", self.n_subsamples, minimum=2, maximum=MAX_REPEATS)
        if self.n_subsamples % 2:
            raise ValueError(
                "n_subsamples must be even, because halves are drawn in pairs, got "
                f"{self.n_subsamples}"
            )
        check_real("threshold", self.threshold, optional=True)
        if self.threshold is not None and not 0.5 < self.threshold <= 1:
            raise ValueError(f"threshold must lie in (0.5, 1], got {self.threshold!r}")
        check_real(
            "expected_false_positives",
            self.expected_false_positives,
            minimum=0,
            strict=True,
            optional=True,
        )
        if self.n_features_per_run is not None:
            check_integer("n_features_per_run", self.n_features_per_run)
            if self.threshold is not None and self.expected_false_positives is not None:
                raise ValueError(
                    "n_features_per_run, threshold and expected_false_positives were all given, "
                    "but two of them determine the third; leave one out"
                )

    @with_callbacks
    def fit(  # type: ignore[override]
        self, X: Any, y: Any, *, groups: Any = None, **params: Any
    ) -> Self:
        """Run the selector on all halves and count how often each feature is selected.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Class labels or real-valued targets.
        groups : array-like of shape (n_samples,), default=None
            Samples of a group stay in the same half.
        **params : dict
            ``sample_weight`` for the selector.

        Returns
        -------
        self : object
            The fitted selector.
        """
        # The base class fits without metadata: samples must keep their places until the halves
        # are drawn, so weights wait here.
        self._params, self._groups = params, groups
        try:
            return super().fit(X, y)
        finally:
            del self._params, self._groups

    def _fit(self, data: TrainingData) -> FeatureScores:
        params = self._params
        units = SampleUnits.from_target(data.target, self._groups)
        check_weighted_classes(params, data.target)
        selector = self._place_member(self._selector())
        arguments = route_arguments(
            self, params, weighted_members={"selector": selector}, direct={}
        )
        given = {**arguments.selector.fit, **group_arguments(selector, self._groups)}
        groups, n_pairs = data.groups, self.n_subsamples // 2
        fixed = data.choices
        check_open(self, fixed)
        n_units, n_open, unit = len(fixed.always), fixed.n_open, fixed.unit
        halving = Halving(BOUNDS[self.bound], n_open, n_pairs, unit)
        self.n_features_per_run_, self.threshold_ = halving.settings(
            self.n_features_per_run, self.threshold, self.expected_false_positives
        )
        q = self.n_features_per_run_
        bounds = {name: f(q, n_open, self.threshold_, n_pairs) for name, f in BOUNDS.items()}
        self.error_bounds_ = bounds
        self.error_bound_: float = bounds[self.bound]
        X, y = data.samples()
        selector = reaching(selector, fixed.n_always + q, data.target.task)
        seeds = check_random_state(self.random_state).randint(np.iinfo(np.int32).max, size=n_pairs)
        tasks = (delayed(run_pair)(selector, X, y, units, given, q, fixed, seed) for seed in seeds)
        runs = follow_tasks(
            self,
            tasks,
            n_pairs,
            name="pair of halves",
            verbose=self.verbose,
            n_jobs=count_jobs(X, self.n_jobs),
        )
        kept = np.concatenate([tops for tops, _ in runs])
        self.stability_path_: StabilityPath = _path(kept, self.threshold_)
        probabilities = np.zeros(n_units)
        probabilities[self.stability_path_.features] = self.stability_path_.probabilities[:, -1]
        stable = int((probabilities >= self.threshold_ - 1e-9).sum())
        most = float(probabilities.max())
        probabilities[fixed.always] = 1.0
        self.selection_probabilities_ = (
            probabilities if groups is None else groups.scores_of_columns(probabilities)
        )
        if stable == 0 and self.n_features_to_select is None:
            warn_user(
                f"no {unit} was selected in at least {100 * self.threshold_:.3g} % of the runs; "
                f"the most stable one reached {100 * most:.3g} %"
            )
        mean_rank = sum(ranks for _, ranks in runs) / self.n_subsamples
        return FeatureScores(probabilities, n_kept=stable, ties=-mean_rank)

    @property
    def _probabilities(self) -> np.ndarray:
        """Of what was there to select: features, or feature groups."""
        found = vars(self).get("group_scores_", self.selection_probabilities_)
        return found[~self._choices.either]

    def summary(self) -> str:
        """Describe in words what was selected, and how many false positives to expect."""
        check_is_fitted(self)
        found, q = self._probabilities, self.n_features_per_run_
        stable = int((found >= self.threshold_ - 1e-9).sum())
        units = unit_phrase(self, len(found))
        said = (
            f"{stable} of {len(found)} {units} were selected in at least "
            f"{100 * self.threshold_:.3g} % of the {self.n_subsamples} runs on half the data, "
            f"each of which selected {q}. The expected number of false positives is at most "
            f"{self.error_bounds_['worst_case']:.2g} without assumptions, "
            f"{self.error_bounds_['unimodal']:.2g} if selection frequencies are unimodal, and "
            f"{self.error_bounds_['r_concave']:.2g} if they are r-concave."
        )
        if self.n_features_to_select is not None:
            said += (
                f" {count_selection(self)} {units} were requested; the bounds do not apply to "
                "those "
                "below the threshold."
            )
        return said

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing, as in scikit-learn."""
        return self._router(selector=(self._selector(), "fit"))


def _path(kept: np.ndarray, threshold: float) -> StabilityPath:
    n_runs, q = kept.shape
    features, row = np.unique(kept, return_inverse=True)
    counts = np.zeros((len(features), q))
    np.add.at(counts, (row.ravel(), np.tile(np.arange(q), n_runs)), 1)
    return StabilityPath(
        np.arange(1, q + 1), features, counts.cumsum(axis=1) / n_runs, float(threshold)
    )
