"""Several selectors, one ranking: ensembles, and ways to put rankings together.

``rankings`` has one row per selector and one column per feature, with 1 for the best; every way
returns scores, larger is better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from scipy.special import betainc
from sklearn.base import BaseEstimator
from sklearn.utils import Bunch
from sklearn.utils.parallel import delayed
from sklearn.utils.validation import check_is_fitted

from .._checks import check_choice, check_integer
from .._saved import Ints
from ..scoring.folds import one_by_one
from ..scoring.outcomes import reaching, read_ranking
from ..selectors.around import weight_arguments
from ..selectors.base import FeatureScores, TrainingData
from ..selectors.least_squares.l21 import L21Selector
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.least_squares.support_fit import fading_ridge
from ..validation.columns import FixedColumns
from ..validation.feature_groups import FeatureGroups
from ..validation.target import with_task
from .base import MetaSelector, count_jobs


def mean_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Mean rank, turned so that 1 is the best possible and 1/d the worst.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.ensemble import mean_rank
    >>> mean_rank(np.array([[1, 2, 3, 4], [1, 4, 3, 2]]), 4)
    array([1. , 0.5, 0.5, 0.5])
    """
    return _ranks_to_scores(rankings.mean(axis=0))


def median_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Median rank, turned as in :func:`mean_rank`; a minority of odd selectors has no say.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.ensemble import median_rank
    >>> median_rank(np.array([[1, 2], [1, 2], [2, 1]]), 2)
    array([1. , 0.5])
    """
    return _ranks_to_scores(np.median(rankings, axis=0))


def borda(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Borda count over the heads of the lists.

    Every selector gives ``n_ranked`` points to its best feature, one less to the next, and none
    to those below its ``n_ranked`` best.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.ensemble import borda
    >>> borda(np.array([[1, 2, 3, 4], [4, 1, 2, 3]]), 2)
    array([2., 3., 1., 0.])
    """
    return np.maximum(n_ranked + 1.0 - rankings, 0.0).sum(axis=0)


def robust_rank(rankings: np.ndarray, n_ranked: int) -> np.ndarray:
    """Robust rank aggregation (Kolde, Laur, Adler and Vilo 2012): minus log10 of rho.

    Were all m rankings random, the j-th smallest of the m relative ranks of a feature would
    follow Beta(j, m - j + 1); rho is the smallest of the m probabilities of a rank as small as
    the one seen. So a few good ranks count, however bad the others are.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.meta.ensemble import robust_rank
    >>> (10 ** -robust_rank(np.array([[1, 2, 3, 4], [1, 4, 3, 2]]), 4)).round(4)
    array([0.0625, 0.75  , 0.5625, 0.75  ])
    """
    m, n_features = rankings.shape
    relative = np.sort(rankings / n_features, axis=0)
    j = np.arange(1, m + 1)[:, None]
    rho = betainc(j, m - j + 1, relative).min(axis=0)
    return -np.log10(np.maximum(rho, np.finfo(np.float64).tiny))


def _ranks_to_scores(ranks: np.ndarray) -> np.ndarray:
    return 1.0 - (ranks - 1.0) / len(ranks)


AGGREGATIONS = {"mean": mean_rank, "median": median_rank, "borda": borda, "rra": robust_rank}


DEFAULT_COUNT = 10
STRONGER = 3.0  # ridge of the second member by default, in those of the first
_MEANINGS = {
    "mean": (
        "Mean rank over the selectors, rescaled so that 1 is the best and 1 / n_features the worst."
    ),
    "median": (
        "Median rank over the selectors, rescaled so that 1 is the best and 1 / n_features "
        "the worst."
    ),
    "borda": (
        "Borda points: each selector gives n_ranked points to its best feature, one less to "
        "the next, and so on."
    ),
    "rra": "Minus log10 of rho: how unlikely such good ranks would be by chance.",
}


@dataclass(eq=False, repr=False, kw_only=True)
class EnsembleSelector(MetaSelector):
    """Combine the rankings of several selectors.

    Parameters
    ----------
    selectors : list of estimators or of (name, estimator) pairs, or None, default=None
        Selectors of this package or their names, or selectors, models and functions of others that
        rank features, see :class:`SelectorAdapter`. Parameters of named ones are
        ``name__parameter`` in ``set_params`` and searches. None means :class:`RidgeForwardSelector`
        with its automatic ridge and with three times that, and :class:`L21Selector`.
    n_features_to_select : int, float, "all" or None, default=None
        Number or fraction of features to keep. None keeps the ten best.
    max_correlation : float or None, default=None
        Pass over a feature whose absolute correlation with a kept one is at least this, until all
        others are used up; ``passed_over_`` names it. 1 passes over exact copies only, None none.
        Of groups it is the multiple correlation: how well the kept group explains the other one,
        adjusted for its number of columns.
    always_keep : list of int or str, or mask, default=None
        Columns that are always kept, such as known covariates: by every selector inside as well,
        in the way that it describes. They count towards ``n_features_to_select`` and rank first.
    never_keep : list of int or str, or mask, default=None
        Columns that are never kept; the selectors inside are fitted as if X did not have them.
    aggregation : {"mean", "median", "borda", "rra"}, default="borda"
        Mean rank; median rank; Borda points for the first ``n_ranked`` features of every selector;
        or robust rank aggregation, which tests how unlikely the ranks of a feature are by chance,
        so that a few good ranks can outweigh bad ones.
    n_ranked : int or None, default=None
        Number of features, beside those always kept, that every selector ranks precisely, and that
        get points with "borda".
        None means twice the number to keep, or all features if there are fewer.
    n_jobs : int or None, default=None
        Number of parallel jobs; None means 1 and -1 means all cores.
    feature_groups : array-like, dict, list of lists, transformer or "categories", default=None
        Columns that are kept or left out together: one label per column; ``{name: columns}`` or a
        list of lists, by name or position; a fitted ``ColumnTransformer`` or ``OneHotEncoder`` that
        made the columns; "categories" for columns from :func:`~sparsieve.make_preprocessor`.
        Columns in no group stand alone, and groups may overlap. All numbers of
        features then count groups. Not needed where every selector inside has the same ones.

    Attributes
    ----------
    rankings_ : ndarray of shape (n_selectors, n_features)
        Ranking of every selector; with ``feature_groups``, of shape (n_selectors, n_groups).
    selectors_ : list of estimators
        The fitted selectors.
    named_selectors_ : Bunch
        Fitted selectors that have names, by name.
    scores_ : ndarray of shape (n_features,)
        1 - (rank - 1) / n_features for "mean" and "median", points for "borda", and minus log10 of
        rho for "rra".
    p_values_ : ndarray of shape (n_features,)
        With "rra", rho times the number of selectors, at most 1: an upper bound on the p-value if
        all rankings were random and independent. Selectors fitted on the same data are not
        independent, so small values show agreement, not significance.
    ranking_ : ndarray of shape (n_features,)
        Rank of every feature, 1 for the best. Ties are broken by mean rank.
    support_ : ndarray of shape (n_features,)
        Mask of the kept features.

    See Also
    --------
    sparsieve.StabilitySelection : Keeps features that are selected on most random halves of the
        samples.
    sparsieve.compare : Several methods on the same folds.

    Notes
    -----
    Do not expect better predictions: an ensemble mostly predicts as well as its better members. Its
    benefit is more stable selections. With the first 10, 20 and 50 features (linear SVM, five
    folds) the default differed from its best member, RidgeForwardSelector alone, by +0.2 points of
    accuracy (standard error 0.5) on the 18 data sets it was chosen on, and by -0.6 (0.3) on 14
    others, where Nogueira's stability was 0.49 instead of 0.42. No ensemble that was tried
    predicted better: RidgeForwardSelector and L21Selector with equal votes lost 1.0 (0.4) points,
    their mean ranks and robust rank aggregation 0.7.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sparsieve import EnsembleSelector, FisherSelector, RidgeForwardSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0)
    >>> members = [("ridge", RidgeForwardSelector()), ("fisher", FisherSelector()), forest]
    >>> ensemble = EnsembleSelector(members, n_features_to_select=3).fit(X, y)
    >>> ensemble.get_support(indices=True)
    array([ 6,  9, 12])
    >>> ensemble.rankings_.shape
    (3, 13)
    >>> ensemble.set_params(ridge__ridge=3.0).get_params()["ridge__ridge"]
    3.0
    """

    selectors: Sequence[Any] | None = field(default=None, kw_only=False)
    aggregation: str = "borda"
    n_ranked: int | None = None
    n_jobs: int | None = None
    feature_groups: Any = None

    selectors_: list[BaseEstimator] = field(init=False)
    rankings_: Annotated[Ints, "*", "*"] = field(init=False)

    _takes_several: ClassVar[bool] = True

    def _pairs(self) -> list[tuple[str | None, Any]]:
        """(name or None, selector), as given or by default."""
        if self.selectors is None:
            defaults = [RidgeForwardSelector(), RidgeForwardSelector(), L21Selector()]
            return [(None, member) for member in defaults]
        return [m if _is_pair(m) else (None, m) for m in self.selectors]

    def _input_selectors(self) -> list:
        return [member for _, member in self._pairs()]

    def _with_members(self, members: Sequence[Any]) -> list:
        """The parameter ``selectors`` with others in the places of its members."""
        pairs = zip(self._pairs(), members, strict=True)
        return [member if name is None else (name, member) for (name, _), member in pairs]

    def _members_with_task(self, task: str) -> dict[str, Any]:
        return {"selectors": self._with_members([with_task(m, task) for m in self._members()])}

    @property
    def _members_by_name(self) -> dict[str, Any]:
        is_list = isinstance(self.selectors, list | tuple)
        return {name: member for name, member in self._pairs() if name} if is_list else {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get parameters by name; with ``deep`` also those of named selectors."""
        params = super().get_params(deep=False)
        if deep:
            for name, member in self._members_by_name.items():
                params[name] = member
                if hasattr(member, "get_params"):
                    nested = member.get_params(deep=True).items()
                    params |= {f"{name}__{key}": value for key, value in nested}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; the name of a selector replaces that selector."""
        if "selectors" in params:  # names mean the members that will be there
            self.selectors = params.pop("selectors")
        named = self._members_by_name
        replaced = {name: params.pop(name) for name in list(params) if name in named}
        if replaced:
            members = [replaced.get(name or "", member) for name, member in self._pairs()]
            self.selectors = self._with_members(members)
        return super().set_params(**params)

    @property
    def named_selectors_(self) -> Bunch:
        """The fitted selectors that have names."""
        check_is_fitted(self)
        pairs = zip(self._pairs(), self.selectors_, strict=True)
        return Bunch(**{name: fitted for (name, _), fitted in pairs if name})

    @property
    def score_meaning(self) -> str:
        """One sentence that explains ``scores_``."""
        return _MEANINGS[self.aggregation]

    def _check_parameters(self) -> None:
        check_choice("aggregation", self.aggregation, AGGREGATIONS)
        if self.n_ranked is not None:
            check_integer("n_ranked", self.n_ranked)
        if self.selectors is not None and (
            not isinstance(self.selectors, list | tuple) or not self.selectors
        ):
            raise ValueError(
                f"selectors must be a list with at least one selector, got {self.selectors!r}"
            )
        super()._check_parameters()
        _check_names([name for name, _ in self._pairs() if name], super().get_params(deep=False))

    def _fit(self, data: TrainingData) -> FeatureScores:
        fixed = data.choices
        n_ranked = self._list_length(fixed) + fixed.n_always
        X, y = data.samples()
        members = [self._place_member(member) for member in self._members()]
        if self.selectors is None:
            members[1].set_params(ridge=STRONGER * fading_ridge(data))
        _check_same_groups(members, n_features=data.design.shape[1])
        fits = (
            delayed(reaching(member, n_ranked, data.target.task).fit)(
                X, y, **weight_arguments(member, data.sample_weight)
            )
            for member in members
        )
        self.selectors_ = list(one_by_one(fits, count_jobs(X, self.n_jobs)))
        _check_ranking(self.selectors_)
        self.rankings_ = np.array([read_ranking(fitted, n_ranked) for fitted in self.selectors_])
        scores = AGGREGATIONS[self.aggregation](self.rankings_, n_ranked)
        if self.aggregation == "rra":
            self.p_values_: np.ndarray = np.minimum(1.0, len(members) * 10.0**-scores)
        reached = [member.n_ranked_ for member in self.selectors_]
        return FeatureScores(
            scores,
            n_kept=DEFAULT_COUNT,
            ties=-self.rankings_.mean(axis=0),
            complete=min(reached) >= fixed.n_available,
        )

    def _list_length(self, fixed: FixedColumns) -> int:
        """How many features every selector ranks precisely, beside those always kept."""
        most = fixed.n_open
        if self.n_ranked is None:
            return min(2 * fixed.own_count(self.n_features_to_select, DEFAULT_COUNT), most)
        if self.n_ranked > most:
            raise ValueError(
                f"n_ranked={self.n_ranked} is larger than the {most} {fixed.unit}s of X"
                f"{' to choose from' if most < len(fixed.always) else ''}; pass at most {most}"
            )
        return int(self.n_ranked)


def _check_same_groups(members: list, n_features: int) -> None:
    """Refuse selectors whose rankings are of different groups."""
    found = [FeatureGroups.from_selector(member, n_features) for member in members]
    kept = [None if one is None else (one.names, one.members.tolist()) for one in found]
    if any(one != kept[0] for one in kept):
        raise ValueError(
            "the selectors of EnsembleSelector have different feature_groups; give feature_groups "
            "to EnsembleSelector, which passes them on"
        )


def _check_ranking(fitted: Sequence[Any]) -> None:
    for member in fitted:
        if not getattr(member, "is_ranking", True):
            raise ValueError(
                f"{member.guest_name} only selects features and does not rank them, so an ensemble "
                "cannot count with it; leave it out"
            )


def _is_pair(member: Any) -> bool:
    return isinstance(member, tuple) and len(member) == 2 and isinstance(member[0], str)


def _check_names(names: list[str], taken: Iterable[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"two selectors are called {repeated[0]!r}; give each its own name")
    for name in names:
        if "__" in name or name in taken:
            why = "contains two underscores" if "__" in name else "is a parameter of the ensemble"
            raise ValueError(f"a selector cannot be called {name!r}, which {why}; rename it")
