"""Claims about features: tests that control the false discovery rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..._cost import announce
from ..._saved import Floats, Maybe
from ..base import BaseSelector, Count, FeatureScores, RandomState, TrainingData
from ..dependent_samples import TakesSampleGroups
from ..near_copies import SUBSTITUTE, correlations, list_substitutes
from ..preparation import of_several_columns
from .claim_data import claim_data
from .claim_tests import SMALLEST, describe_sets, name_substitutes, run_tests
from .claim_words import (
    CONDITIONAL,
    ClaimSettings,
    assumption_phrases,
    detectable_correlation,
    verdict,
)

WORK_PER_NUMBER = 6.0  # multiplications for every number of an X on a device, as measured


@dataclass(eq=False, repr=False, kw_only=True)
class FDRSelector(TakesSampleGroups, BaseSelector):
    """Keep the features that can be claimed: tests that aim at few false claims.

    In short: Which features are real? Keeps those that carry information about the target that
    no other feature has, with few false claims; often none.

    Other selectors answer which few features predict well. This one tests features and keeps those
    whose p-values pass the procedure of Benjamini and Hochberg, which aims at a fraction of at most
    ``level`` false claims on average. It may keep nothing, and ``verdict_`` then says how
    far the data were from a claim. What is claimed depends on ``claim``:

    - "conditional": the feature, or a substitute that is strongly correlated with it, carries
      information about y that the other features do not carry. Forward selection finds
      candidates. For each candidate, a path of the same length without the candidate and its
      substitutes is taken out of y and out of the candidate, and the partial correlation of what is
      left is tested ("forward distillation"). All features that are no candidates have the p-value
      1, and the correction counts all of them. Nothing is claimed unless some feature explains y
      better than features explain a shuffled y.
    - "set": at least one feature of a set carries information about y that no feature outside
      of it carries that is correlated with them by less than ``substitutes``. Tested in the same
      way, with all features left out that are correlated with the candidate by at least 0.3. Of
      these, the set holds the ones that explain what is left of y nearly as well as the best one
      does: the smallest set with all but a hundredth of ``level`` of their likelihood (a credible
      set, as in fine mapping of genes). Where the data tell which feature it is, the set has one
      feature; with few samples it has many, and still says something where no single feature can
      be claimed. The feature that is kept is the likeliest of its set; ``sets_`` has all.
    - "marginal": the feature is associated with y when looked at alone. In correlated data most
      such features only follow others.
    - "sequential": the feature adds to those that forward selection took before it. A claim ends
      where the first step fails; ``level`` is then meant to bound the probability of any false
      claim.

    What is promised of a conditional claim is measured, not proven. Each p-value is exact if the
    path had a fixed length and if the feature, given the columns that are no substitutes, were
    linear in those of the path plus normal noise. The false discovery rate was measured with
    simulated targets on real, correlated data: at a level of 0.1 it was 0.05 on average, and up to
    0.13 in the worst case that was tried (a drift that nobody recorded); the documentation lists
    all. Other structure that nobody recorded may do worse. If no feature matters and samples are
    independent, the shuffles bound the probability of a conditional claim by ``level`` (for levels
    from 0.01): whatever the data are without ``always_keep`` and where its values repeat, such as
    sex or batch, and approximately where they do not, such as age.

    Of sets, 0.04 were false on average and 0.09 at most where a target was made of some columns,
    and where single claims find few of these, sets hold twice as many. What moves all features of
    a set at once, such as a drift that nobody recorded, looks like a set that matters: where there
    was nothing else to find, it was claimed in 0.3 of the data sets.

    Marginal and sequential claims have no such bound, because their p-values suppose normal
    columns. At a level of 0.1, where nothing mattered, something was claimed in 14 of 40 data sets
    with very heavy tails, in 3 to 7 of 40 of few ones among zeros, and in 1 to 8 of 40 with a
    recorded batch in which everything had a larger spread. With ``correction="maxt"``, which
    shuffles y, it was something in 2, in 3, and in 5 to 8 of them.

    Samples that depend on each other, such as repeated measurements of a patient, are told by
    ``groups`` of ``fit``: tests then count as many samples as there are independent ones, given how
    much feature and target have in common within groups, and shuffles exchange whole groups.
    Without ``groups``, samples that are much nearer to each other than to all others are found and
    treated so; ``assumed_`` says it.

    Parameters
    ----------
    level : float, default=0.1
        Largest expected fraction of false claims among all claims, the false discovery rate. With
        ``claim="sequential"`` or ``correction="maxt"``, the largest probability of any false claim.
        This is what tests aim at; see above how far they keep it.
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the features that can be claimed,
        possibly none. A number keeps the features with the smallest p-values, without any claim.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    claim : {"conditional", "set", "marginal", "sequential"}, default="conditional"
        What is claimed of a feature, see above.
    substitutes : float or None, default=None
        Features whose absolute correlation is at least this stand for each other: a claim is about
        the feature or one of its substitutes. 1 claims single features, of which two that are
        nearly the same exclude each other. Of sets, the smallest correlation of a feature with
        the one that was selected first. None means 0.7, and 0.3 for sets. Only for conditional
        claims and sets.
    correction : {"fdr", "maxt"}, default="fdr"
        "fdr" adjusts p-values by Benjamini and Hochberg's procedure. "maxt", for marginal claims,
        by step-down permutations of the largest statistic (Westfall and Young).
    n_resamples : int or None, default=None
        Number of random permutations for marginal claims, or of random targets for sequential
        ones. None means 999 for "maxt" and sequential claims, and p-values from the beta
        distribution, which need no permutations, otherwise.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They are never penalised, and the
        other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the model is fitted without them.
    task : {"auto", "classification", "regression", "counts", "survival"}, default="auto"
        How to interpret y. Of survival times and counts, residuals of the model without features
        are tested. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups, and claims are about groups: substitutes are groups with a pair of columns
        that is correlated enough.
    adjust : "auto", "components", int or None, default="auto"
        What to do about structure of X that nobody recorded, such as a batch or populations:
        principal components of X that every test takes into account. "components" takes those that
        have a larger variance than any of shuffled columns (parallel analysis), which protects best
        and costs power where there is no such structure; a number takes so many. "auto", for
        conditional claims and sets, takes those of them that have to do with y and are no single
        feature: before anything is tested, where they say more of y than as many features do, or
        one more; after that, where they go with what the claimed features leave of y. All is then
        tested again given these, and ``assumed_`` says so. None takes none. For up to 3,000
        samples.

    Attributes
    ----------
    pvalues_ : ndarray of shape (n_features,)
        P-values, not corrected for multiple testing. With conditional and sequential claims 1 for
        features that forward selection did not reach and for copies of a column before them. Of
        the columns of a group, that of the group.
    adjusted_pvalues_ : ndarray of shape (n_features,)
        The smallest ``level`` at which the feature is claimed.
    substitutes_ : dict
        For every claim (its name, or its column if X has no names) a list of (feature,
        correlation), strongest first: the features that it stands for. They are those whose
        absolute correlation with it is at least ``substitutes``, of the columns as given (which is
        the correlation that is listed) or of the values as tested, see Notes; of groups, the
        largest of two columns, of the values as tested. Of a set the other features in it, the
        likeliest first. Empty lists for marginal and sequential claims, which are about single
        features, but for copies.
    sets_ : dict
        With ``claim="set"``: for every claim a list of (feature, weight), the likeliest first.
        Weights are shares of the likelihood, if exactly one of the features matters.
    detectable_correlation_ : float
        Correlation with y, for conditional claims given the other features, at which a feature
        would be found in 4 of 5 cases.
    verdict_ : str
        What can be claimed, in sentences; where nothing can be, how small p-values were and would
        have to be.
    assumed_ : str
        Which samples were taken to belong together, and for what hidden structure tests were
        adjusted, in sentences; empty where samples were taken to be independent.
    n_tested_ : int
        Number of different features, which the correction counts: without constant ones, copies
        and covariates.
    degrees_of_freedom_ : tuple of float
        Degrees of freedom of the explained and the unexplained variance.
    scores_ : ndarray of shape (n_features,)
        Minus the decimal logarithm of the p-value; with sequential claims of the adjusted one.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the smallest p-value; features with the p-value 1 by what
        they would add.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features: those that can be claimed.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).

    See Also
    --------
    sparsieve.StabilitySelection : Keeps features that are selected on most random halves of the
        samples.
    sparsieve.FStatisticSelector : F statistics, with p-values.
    sparsieve.RidgeForwardSelector : Forward selection for prediction.

    Notes
    -----
    Values of X and of a numeric y are clipped at three standard deviations; with fewer than 40
    samples, or fewer than 20 in a class, normal scores of the ranks of X are used instead. With
    three or more classes, or fewer than 20 samples in one, conditional tests allow for samples of
    uneven spread. Fewer than 12 samples are refused. Weights must be whole numbers and count as
    copies. Two claims may be substitutes of each other; they are then about one cluster of
    features.

    References
    ----------
    E. Candès, Y. Fan, L. Janson, J. Lv, Panning for gold, J. R. Stat. Soc. B 80 (2018).
    M. Liu, E. Katsevich, L. Janson, A. Ramdas, Fast and powerful conditional randomization testing
    via distillation, Biometrika 109 (2022).
    G. Wang, A. Sarkar, P. Carbonetto, M. Stephens, A simple new approach to variable selection in
    regression, with application to genetic fine mapping, J. R. Stat. Soc. B 82 (2020).

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import FDRSelector
    >>> rng = np.random.default_rng(1)
    >>> X = rng.standard_normal((100, 200))
    >>> y = (X[:, 3] + X[:, 5] > 0).astype(int)
    >>> found = FDRSelector(level=0.1).fit(X, y)
    >>> found.get_support(indices=True)
    array([3, 5])
    >>> print(found.verdict_.partition(".")[0])
    2 of 200 features are significant at a false discovery rate of 10 %: 'x3', 'x5'
    >>> print(FDRSelector().fit(X, rng.permutation(y)).verdict_.partition(".")[0])
    No feature is significant at a false discovery rate of 10 %
    """

    level: float = field(default=0.1, kw_only=False)
    n_features_to_select: Count = field(default=None, kw_only=True)
    claim: str = "conditional"
    substitutes: float | None = None
    correction: str = "fdr"
    n_resamples: int | None = None
    task: str = "auto"
    random_state: RandomState = 0
    feature_groups: Any = None
    adjust: str | int | None = "auto"

    _keeps_one: ClassVar[bool] = False
    _adjusts_for_kept: ClassVar[bool] = True
    _passes_over: ClassVar[bool] = False  # what can be claimed is claimed, copies or not
    _purposes: ClassVar[tuple[str, ...]] = ("p-values", "panel")
    _scale_free: ClassVar[bool | None] = True
    _accepts_external: ClassVar[bool] = True
    # Measured on an H200: 400 x 2,000 takes 0.54 s there and 0.40 s on its host, 400 x 20,000
    # takes 1.62 and 1.94 s.
    _fetched_bytes: ClassVar[int] = 16 << 20
    _accepts_counts: ClassVar[bool] = True
    _rounds_target: ClassVar[bool] = False
    _accepts_survival: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = (
        "Minus the decimal logarithm of the p-value: 3 stands for a p-value of 0.001, and 0 for "
        "features that explain nothing once others are known."
    )

    pvalues_: Annotated[Floats, "features"] = field(init=False)
    adjusted_pvalues_: Annotated[Floats, "features"] = field(init=False)
    detectable_correlation_: float = field(init=False)
    verdict_: str = field(init=False)
    assumed_: Maybe[str] = field(init=False)
    substitutes_: Maybe[dict[Any, list[tuple[Any, float]]]] = field(init=False)
    sets_: Maybe[dict[Any, list[tuple[Any, float]]]] = field(init=False)
    _measured: Maybe[str] = field(init=False)
    # P-values of groups, and adjusted ones.
    _of_groups: Maybe[tuple[Annotated[Floats, "groups"], Annotated[Floats, "groups"]]] = field(
        init=False
    )
    n_tested_: int = field(init=False)
    degrees_of_freedom_: tuple[float, float] = field(init=False)

    def find_substitutes(
        self, X: Any, threshold: float = SUBSTITUTE
    ) -> dict[Any, list[tuple[Any, float]]]:
        """Find features that could replace those kept because they are highly correlated.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Data to compute the correlations on, usually the training data.
        threshold : float, default=0.9
            Smallest absolute correlation of a substitute.

        Returns
        -------
        substitutes : dict
            For every kept feature a list of (feature, correlation), strongest first.
            ``substitutes_`` stays what the claims stand for.
        """
        return list_substitutes(self, X, threshold)

    def _check_parameters(self) -> None:
        self._settings.check()

    def _work(self, data: TrainingData) -> float:
        """Of an X on a device; elsewhere the length of the path says it better."""
        n_samples, n_features = data.design.shape
        return WORK_PER_NUMBER * n_samples * n_features if data.design.is_on_device else 0.0

    def _fit(self, data: TrainingData) -> FeatureScores:
        groups = of_several_columns(data.groups)
        settings = replace(self._settings, seed=self._draw_seed_number)
        ready = claim_data(
            data,
            type(self).__name__,
            merge=groups is None,
            groups=self._sample_groups,
            adjust=settings.adjustment,
            conditional=settings.claim in CONDITIONAL,
        )
        say = partial(announce, type(self).__name__, advice=self._takes_less)
        ready, tests, tested = run_tests(
            ready,
            None if groups is None else groups.columns,
            settings,
            None if data.design.is_on_device else say,
        )
        problem, constant, self.n_tested_ = ready.problem, ready.constant, int(tested.sum())
        if groups is None:
            names = list(getattr(self, "feature_names_in_", range(len(constant))))
            self.pvalues_, self.adjusted_pvalues_ = tests.pvalues, tests.adjusted
        else:
            names, constant = groups.names, ~tested
            self._of_groups = tests.pvalues, tests.adjusted
            self.pvalues_, self.adjusted_pvalues_ = (
                -groups.scores_of_columns(-values) for values in self._of_groups
            )
        rank = problem.target.shape[1]
        # Dependent samples say as much as fewer independent ones.
        fewer = problem.design.shape[0] - problem.n_effective
        self.degrees_of_freedom_ = (float(rank), float(max(tests.freedom - fewer - rank, 0.0)))
        self.detectable_correlation_ = detectable_correlation(
            self.level, self.n_tested_, *self.degrees_of_freedom_
        )
        claimed = np.flatnonzero(tests.adjusted <= self.level)
        claimed = claimed[np.lexsort((claimed, -tests.ties[claimed], tests.adjusted[claimed]))]
        looked = claimed if groups is None else claimed[:0]
        plain = dict(correlations(data.design, looked, data.sample_weight))
        for values in plain.values():
            values[data.fixed.either] = 0.0  # not for the tests to choose
        members = claimed.tolist(), tests, names, plain
        if self.claim == "set":
            first = np.where(data.fixed.either, -1, ready.representative)
            self.sets_, self.substitutes_ = describe_sets(*members, first)
        else:
            self.substitutes_ = name_substitutes(*members, settings)
        where = "in" if groups is not None else "in the columns as given, or in"
        self._measured = f"{where} {ready.measured}"
        named = [names[j] for j in claimed]
        named = [f"x{name}" if isinstance(name, int) else str(name) for name in named]
        self.assumed_ = assumption_phrases(
            n_samples=problem.design.shape[0],
            n_groups=None if ready.groups is None else int(ready.groups.max()) + 1,
            n_close=ready.n_close,
            n_components=ready.n_components,
            n_beside=ready.n_beside,
        )
        self.verdict_ = self._verdict(named, problem.design.shape[0])
        scored = tests.adjusted if self.claim == "sequential" else tests.pvalues
        scores = -np.log10(np.maximum(scored, SMALLEST)) + 0.0
        return FeatureScores(scores, n_kept=len(claimed), ties=tests.ties, constant=constant)

    def _verdict(self, names: Sequence[str], n_samples: int) -> str:
        """What can be claimed, in sentences with these names of the claims."""
        said = verdict(
            self._settings,
            names,
            n_tested=self.n_tested_,
            n_samples=n_samples,
            smallest=float(self.pvalues_.min(initial=1.0)),
            shuffled=float(self.adjusted_pvalues_.min(initial=1.0)),
            detectable=self.detectable_correlation_,
            measured=vars(self).get("_measured", ""),
            unit="feature" if self.feature_groups is None else "feature group",
            sizes=[len(some) for some in vars(self).get("sets_", {}).values()],
        )
        return " ".join(filter(None, (said, self.assumed_)))

    @property
    def _settings(self) -> ClaimSettings:
        names = ("level", "claim", "substitutes", "correction", "n_resamples", "adjust")
        return ClaimSettings(**{name: getattr(self, name) for name in names})

    @property
    def _draw_seed_number(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31))
