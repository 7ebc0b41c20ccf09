"""Elimination by boosted trees: few features for curves and interactions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ..._checks import check_flag
from ..._saved import Bools, Floats
from ...solvers.base import Path
from ...validation.target import Target
from ...validation.training_data import TrainingData
from ..base import DEFAULT_COUNT, BaseSelector, ClassWeight, FeatureScores, RandomState
from ..preparation import of_several_columns
from .boosting import code_columns
from .elimination import Elimination, Units, eliminate
from .products import Interaction, Products, has_own_effect, interactions_among, no_products
from .rounds import MAX_SAMPLES, GuestTrees, Trees, check_guest

MAX_BYTES = 4e9  # that a sparse X may take when it is made dense


@dataclass(eq=False, repr=False, kw_only=True)
class BoostedTreesSelector(BaseSelector):
    """Elimination by boosted trees: few features for curves and interactions.

    In short: Fits boosted trees, drops the features that they use least, and repeats. Finds curves,
    thresholds and features that matter only together.

    Every round boosts the histogram trees of scikit-learn on the features that are left, and drops
    those whose splits gain least: first those without a split and up to 42 % at a time, from
    twenty on 30 % by two fits, and from ten on one at a time. Elimination continues to the last
    feature, so one fit ranks all features, and ``at(k)`` gives the features that stopping at k
    would have kept.

    Trees rarely begin with a feature that has no effect alone. So products of two signs (and of
    three for up to 100 features) are compared with what stumps, which know no interaction, leave of
    the target: a sign says on which side of its median a value is. Up to 30 products that exceed
    noise take part as columns of their own. What they gain counts for each of their features, with
    the first of which they leave; :attr:`interactions_` names those that are kept.

    The loss is logistic or multinomial for classes, squared for numbers, Poisson for counts and
    Cox's partial likelihood for survival times. Missing values (NaN) are taken as they are, at the
    better side of every split. One fit takes at most 6,000 samples, drawn anew for the next.

    Parameters
    ----------
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
    estimator : estimator or None, default=None
        Trees of another package: LightGBM, XGBoost, CatBoost or a forest. They are fitted in every
        round, and features go by their ``feature_importances_``. None boosts the trees of
        scikit-learn.
    interactions : bool, default=True
        Look for products of signs.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates. They take part in all rounds, so
        that the other features are judged by what they add to these. They count towards
        ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the trees are fitted without them.
    task : {"auto", "classification", "regression", "counts", "survival"}, default="auto"
        How to interpret y. "auto" treats text, booleans, categories and whole numbers as classes
        and numbers with fractions as quantities; more than five different whole
        numbers are quantities where their order shows in X, with a warning. It takes a structured
        array or a frame with the columns "time" and "event" as survival times.
    class_weight : dict, "balanced" or None, default=None
        Class weights in the loss.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. ``n_features_to_select`` then
        counts groups. A group gains what its columns gain.
    random_state : int, RandomState instance or None, default=0
        Seed of the random number generator; an int makes results reproducible.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features,)
        Share of the target that splits on the feature, and on products with it, explained in the
        round in which it left. If a feature that left earlier explained more, that share is used,
        so that scores follow the ranking.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the last one remaining.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.
    classes_ : ndarray of shape (n_classes,)
        Class labels (classification only).
    path_ : Path
        All features from the last one remaining to the first one dropped; ``always_keep`` first.
        Not with ``feature_groups``.
    n_rounds_ : int
        Number of rounds.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for linear relations; the default.
    sparsieve.ReliefFSelector : Compares near samples, and finds combinations as well.
    sparsieve.SelectorAdapter : Takes estimators of other packages as they are, by one fit.

    Notes
    -----
    The features are for a model of trees: a linear model does not see what they are chosen for.
    Columns of codes of categories are split by their order; encode categories one column each and
    pass ``feature_groups`` where that has no meaning. Of products of continuous features those of
    their signs are found, as far as these are related to the target.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import BoostedTreesSelector
    >>> X = np.random.default_rng(0).standard_normal((1000, 30))
    >>> y = np.sign(X[:, 4] * X[:, 7]) + np.abs(X[:, 20]) > 0.5
    >>> selector = BoostedTreesSelector(n_features_to_select=3).fit(X, y)
    >>> selector.get_support(indices=True)
    array([ 4,  7, 20])
    >>> print(*selector.interactions_)
    x4 x x7: only together (adds 6... %)
    """

    estimator: Any = None
    interactions: bool = True
    task: str = "auto"
    class_weight: ClassWeight = None
    feature_groups: Any = None
    random_state: RandomState = 0

    n_rounds_: int = field(init=False)
    _pair_owners: Annotated[np.ndarray, np.signedinteger, "products", "*"] = field(init=False)
    _pair_adds: Annotated[Floats, "products"] = field(init=False)
    _pair_alone: Annotated[Bools, "products"] = field(init=False)

    _purposes: ClassVar[tuple[str, ...]] = ("nonlinear", "panel")
    _n_least: ClassVar[int] = 0  # where features are only compared, see ``eliminate``
    _usual_model: ClassVar[str] = "trees"  # on the features that are kept
    _scale_free: ClassVar[bool | None] = True
    _accepts_nan: ClassVar[bool] = True
    _accepts_counts: ClassVar[bool] = True
    _accepts_survival: ClassVar[bool] = True
    _adjusts_for_kept: ClassVar[bool] = True
    _score_meaning: ClassVar[str] = (
        "Share of the target that splits on the feature, and on products with it, explained in the "
        "round in which it left (at least the share of features that left earlier)."
    )

    def _check_parameters(self) -> None:
        check_flag("interactions", self.interactions)
        if self.estimator is not None:
            check_guest(self.estimator)

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        if self.estimator is None:
            return self._score_meaning
        return (
            "Share of the importance that the trees gave to the feature, and to products with it, "
            "in the round in which it left (at least the share of features that left earlier)."
        )

    @property
    def interactions_(self) -> list[Interaction]:
        """The products of signs among the kept features, those that add most first.

        Each has ``features``, ``names``, ``adds`` (the share of the target that it explains beyond
        curves of single features) and ``only_together`` (none of its features says anything alone),
        and is a sentence as text.
        """
        names = getattr(self, "feature_names_in_", None)
        found = self._pair_owners, self._pair_adds, self._pair_alone
        return interactions_among(*found, self._get_support_mask(), names)

    def _fit(self, data: TrainingData) -> FeatureScores:
        X, target, weights = _rows_by_weight(_dense(data), data.target, data.sample_weight)
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        table = code_columns(X)
        fixed, groups = data.choices, of_several_columns(data.groups)
        units = Units.single(X.shape[1])
        if groups is not None:
            units = Units(groups.members, groups.numbers, groups.n_groups, groups.n_features)
        constant = table.constant
        says_something = np.zeros(units.n_units, dtype=bool)
        says_something[units.numbers[~constant[units.members]]] = True
        candidates = says_something & ~fixed.either
        trees = Trees(table, target, weights, rng)
        trees.fit_offset(np.flatnonzero(units.column_mask(fixed.always)))
        products = no_products(len(X))
        if self.interactions:
            columns = np.flatnonzero(units.column_mask(candidates | fixed.always))
            products = trees.products(columns)
        rounds: Any = trees
        if self.estimator is not None:
            rounds = GuestTrees(self.estimator, X, target, weights, rng)
        rounds.use(products)
        ways = products, rounds.gains, rounds.varies
        found = eliminate(units, candidates, fixed.always, *ways, self._n_least)
        self.n_rounds_ = found.n_rounds
        self._keep_interactions(products, found, trees)
        if groups is None:
            rest = np.flatnonzero(~(candidates | fixed.either))
            left_out = np.flatnonzero(fixed.never)
            always = np.flatnonzero(fixed.always)
            self.path_: Path = Path.from_order(
                np.concatenate([always, found.order, rest, left_out])
            )
        return FeatureScores(
            found.scores, n_kept=DEFAULT_COUNT, order=found.order, constant=~says_something
        )

    def _keep_interactions(self, products: Products, found: Elimination, trees: Trees) -> None:
        """Those that trees used to the end, as arrays: files hold no trees."""
        used = np.flatnonzero(found.product_gains > 0)
        owners = [products.owners[p] for p in used]
        G = trees.null_gradient()
        alone = {j: has_own_effect(trees.table.codes[:, j], G) for one in owners for j in one}
        table = np.full((len(owners), 3), -1, dtype=np.int64)
        for row, one in zip(table, owners, strict=True):
            row[: len(one)] = one
        self._pair_owners = table
        self._pair_adds = products.adds[used].astype(np.float64)
        self._pair_alone = np.array([not any(alone[j] for j in one) for one in owners], dtype=bool)


def _dense(data: TrainingData) -> np.ndarray:
    X, _ = data.arrays()
    if not sparse.issparse(X):
        return np.asarray(X)
    n_bytes = float(X.shape[0]) * X.shape[1] * X.dtype.itemsize
    if n_bytes > MAX_BYTES:
        raise ValueError(
            f"BoostedTreesSelector needs a dense X, and this sparse one of {X.shape[0]:,} x "
            f"{X.shape[1]:,} would take {n_bytes / 1e9:.0f} GB; reduce it by a filter first, such "
            "as FStatisticSelector"
        )
    return np.asarray(X.toarray())


def _rows_by_weight(
    X: np.ndarray, target: Target, weights: np.ndarray | None
) -> tuple[np.ndarray, Target, np.ndarray | None]:
    """Few rows of whole weights are repeated: leaves count rows, and quantiles weigh none."""
    if weights is None or (weights != np.rint(weights)).any() or weights.sum() > MAX_SAMPLES:
        return X, target, weights
    rows = np.repeat(np.arange(len(X)), weights.astype(np.int64))
    return X[rows], target.rows(rows), None
