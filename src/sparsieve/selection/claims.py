"""What can be claimed of the features, what less, and how many samples it would take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.base import clone

from .._checks import format_names
from .._text import plural
from ..selectors.least_squares.claim_words import CONDITIONAL, detectable_correlation, sets_in_words
from ..selectors.least_squares.claim_words import WEAKER as MAY_HOLD
from ..selectors.least_squares.fdr import FDRSelector
from ..selectors.preparation import find_groups
from ..validation.feature_groups import FeatureGroups

# The other claims, which hold more often and say less: what they say, and how they are tested.
WEAKER: dict[str, tuple[str, dict[str, Any]]] = {
    "set": ("or one of some that are correlated with it matters", {}),
    "sequential": ("adds to the features selected before it", {}),
    "marginal": ("is associated with y when it is looked at alone", {"correction": "maxt"}),
}


@dataclass(frozen=True)
class Claims:
    """What can be claimed of the features at a false discovery rate.

    Attributes
    ----------
    found : FDRSelector
        The fitted tests.
    weaker : tuple of FDRSelector
        Tests of weaker claims, where ``found`` claims nothing.
    names : ndarray of str
        Names of all features, or of all feature groups where these are tested.
    n_samples : int
        Number of samples.
    selected : ndarray of int or None
        Features, or groups, that were selected for prediction, best first.
    of_trees : bool
        Whether trees selected them: the tests know linear effects only.

    See Also
    --------
    sparsieve.FDRSelector : The tests.
    sparsieve.SelectedFeatures : Its ``claims()`` makes this.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import select
    >>> rng = np.random.default_rng(1)
    >>> X = rng.standard_normal((100, 200))
    >>> y = (X[:, 3] + X[:, 5] > 0).astype(int)
    >>> claims = select(X, y, k=6).claims()
    >>> claims.side_by_side()
    '6 features were selected for prediction; 2 of them are significant: x3, x5.'
    """

    found: FDRSelector
    names: np.ndarray
    n_samples: int
    weaker: tuple[FDRSelector, ...] = ()
    selected: np.ndarray | None = field(default=None)
    of_trees: bool = False

    @property
    def level(self) -> float:
        """The false discovery rate."""
        return float(self.found.level)

    @property
    def unit(self) -> str:
        """What is claimed: a feature or a feature group."""
        return "feature" if _feature_groups(self.found) is None else "feature group"

    @property
    def features(self) -> np.ndarray:
        """Columns, or groups of them, that are claimed, the surest first."""
        return claim_columns(self.found)

    @property
    def verdict(self) -> str:
        """What can be claimed, or how far the data are from it, by the names of the features."""
        said = self.found._verdict(self._feature_names(self.features), self.n_samples)
        # Where weaker claims were tested they need not be offered.
        return said.removesuffix(f" Weaker claims may hold: {MAY_HOLD}.") if self.weaker else said

    def clusters(self) -> dict[int, list[tuple[int, float]]]:
        """For every claim the columns, or groups, that could stand for it, with correlations."""
        groups, names = _feature_groups(self.found), getattr(self.found, "feature_names_in_", ())
        place = {name: j for j, name in enumerate(names if groups is None else groups.names)}
        return {
            int(place.get(claim, claim)): [(int(place.get(o, o)), r) for o, r in others]
            for claim, others in self.found.substitutes_.items()
        }

    def side_by_side(self) -> str:
        """Selection by prediction and claims in one sentence; empty without a selection."""
        if self.selected is None:
            return ""
        clusters = self.clusters()
        members = {claim: {claim, *(j for j, _ in others)} for claim, others in clusters.items()}
        of_them = [j for j in self.selected if any(j in each for each in members.values())]
        covered = [claim for claim, each in members.items() if not each.isdisjoint(of_them)]
        what = "in significant sets" if self.found.claim == "set" else "significant"
        if len(self.selected) == 1:
            (name,), verb = self._feature_names(self.selected), "is" if of_them else "is not"
            said = f"{name} was selected for prediction and {verb} {what}"
        else:
            verb = "are" if len(of_them) > 1 else "is"
            said = (
                f"{len(self.selected):,} {self.unit}s were selected for prediction; "
                f"{len(of_them) or 'none'} of them {verb} {what}"
            )
            if len(covered) < len(of_them) and self.found.claim != "set":
                said += f", in {plural(len(covered), 'claim')} with their substitutes"
            said += f": {', '.join(self._feature_names(of_them))}" if of_them else ""
        others = [j for j in clusters if j not in covered]
        if others:
            said += f". Not selected, but significant: {', '.join(self._feature_names(others))}"
        blind = " Claims are about linear effects: curves and interactions have none."
        return f"{said}.{blind * self.of_trees}"

    def weaker_sentences(self) -> list[str]:
        """What can be claimed less strictly, named as weaker; empty where ``found`` has claims."""
        said = []
        for other in self.weaker:
            features, means = claim_columns(other), WEAKER[other.claim][0]
            unit = "set" if other.claim == "set" else self.unit
            what = f"Weaker claim ({other.claim}): a {self.unit} {means}"
            if len(features) == 0:
                said.append(f"{what}. No {unit} passes this test either.")
                continue
            passes = f"{unit} passes" if len(features) == 1 else f"{unit}s pass"
            names = format_names(self._feature_names(features))
            if other.claim == "set":
                sizes = [len(some) for some in other.sets_.values()]
                names = sets_in_words(self._feature_names(features), sizes)
            said.append(f"{what}. {len(features):,} {passes} this test: {names}.")
        return said

    def sample_size_sentence(self) -> str:
        """How many samples it would take; empty where features are claimed or nothing is known."""
        best = self.strongest
        if len(self.features) or best is None:
            return ""
        needed = self.required_samples(best)
        if needed is None:
            return ""
        return (
            f"The best candidate has a correlation of {best:.2f} with y"
            f"{self._condition_phrase} in these {self.n_samples:,} samples. If that is its "
            "true size, about "
            f"{needed:,} samples would find it in 4 of 5 cases; the best of many candidates looks "
            "stronger than it is, so plan for more."
        )

    @property
    def strongest(self) -> float | None:
        """Correlation with y that the smallest p-value stands for."""
        rank, rest = self.found.degrees_of_freedom_
        smallest = float(self.found.pvalues_.min(initial=1.0))
        if self.found.claim == "sequential" or rest <= 0 or smallest >= 1.0:
            return None
        return float(np.sqrt(beta.isf(smallest, rank / 2, rest / 2)))

    def smallest_effect(self, n_samples: int) -> float:
        """Correlation that so many samples find in 4 of 5 cases."""
        rank, rest = self.found.degrees_of_freedom_
        more = rest + n_samples - self.n_samples
        return detectable_correlation(self.level, self.found.n_tested_, rank, more)

    def required_samples(self, correlation: float) -> int | None:
        """Smallest number of samples that finds such a feature in 4 of 5 cases."""
        low, high = 12, 1_000_000
        if not correlation > 0 or self.smallest_effect(high) > correlation:
            return None
        while low < high:
            middle = (low + high) // 2
            if self.smallest_effect(middle) <= correlation:
                high = middle
            else:
                low = middle + 1
        return low

    def curve(self) -> list[tuple[int, float]]:
        """(number of samples, correlation that is found in 4 of 5 cases)."""
        last = self.required_samples(0.1) or 10 * self.n_samples
        sizes = np.unique(np.geomspace(12, max(last, 2 * self.n_samples), 40).astype(int))
        points = [(int(n), self.smallest_effect(int(n))) for n in sizes]
        return [(n, r) for n, r in points if r < 1.0]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """One row for every claim: feature, p-values and substitutes."""
        clusters, features = self.clusters(), self.features
        return {
            "feature": self._feature_names(features),
            "p_value": _pvalues(self.found)[0][features].tolist(),
            "p_value_adjusted": _pvalues(self.found)[1][features].tolist(),
            "substitutes": [self._close(clusters.get(int(one), [])) for one in features],
        }

    def as_dict(self) -> dict[str, Any]:
        """Everything, for JSON; ``members`` are a claim and all its substitutes, by name."""
        found = self.columns
        rows = [{name: found[name][i] for name in found} for i in range(len(self.features))]
        clusters = self.clusters()
        for row, one in zip(rows, self.features, strict=True):  # the text names the first ten
            others = [int(j) for j, _ in clusters.get(int(one), [])]
            row["members"] = self._feature_names([int(one), *others])
        return {
            "claim": self.found.claim,
            "level": self.level,
            "verdict": self.verdict,
            "side_by_side": self.side_by_side() or None,
            "claims": rows,
            "smallest_p_value": float(self.found.pvalues_.min(initial=1.0)),
            "detectable_correlation": self.found.detectable_correlation_,
            "weaker_claims": {
                other.claim: self._feature_names(claim_columns(other)) for other in self.weaker
            },
        }

    def __str__(self) -> str:
        said = [self.side_by_side(), self.verdict, self.sample_size_sentence()]
        return "\n".join(line for line in (*said, *self.weaker_sentences()) if line)

    @property
    def _condition_phrase(self) -> str:
        return f" given the other {self.unit}s" if self.found.claim in CONDITIONAL else ""

    def _close(self, others: list[tuple[int, float]], most: int = 10) -> str:
        """Substitutes with their correlations, the closest ones by name."""
        named = ", ".join(f"{self.names[j]} ({r:.2f})" for j, r in others[:most])
        return named + f" and {len(others) - most:,} more" * (len(others) > most)

    def all_substitutes(self) -> list[str]:
        """The substitutes of every claim, all of them by name."""
        clusters = self.clusters()
        every = [clusters.get(int(one), []) for one in self.features]
        return [self._close(others, len(others)) for others in every]

    def _feature_names(self, features: Any) -> list[str]:
        return [str(self.names[j]) for j in features]


def claim_columns(selector: FDRSelector) -> np.ndarray:
    """Columns, or groups, that fitted tests claim, the surest first."""
    found = np.flatnonzero(_pvalues(selector)[1] <= selector.level)
    is_grouped = _feature_groups(selector) is not None
    ranking = selector.group_ranking_ if is_grouped else selector.ranking_
    return found[np.argsort(ranking[found], kind="stable")]


def _feature_groups(selector: FDRSelector) -> FeatureGroups | None:
    """The feature groups that were tested; None where single features were."""
    return find_groups(selector) if "_of_groups" in vars(selector) else None


def _pvalues(selector: FDRSelector) -> tuple[np.ndarray, np.ndarray]:
    """P-values, and adjusted ones, of what was tested."""
    own = selector.pvalues_, selector.adjusted_pvalues_
    return vars(selector).get("_of_groups", own)


def find_claims(
    X: Any,
    y: Any,
    names: Sequence[str] | np.ndarray,
    *,
    level: float = 0.1,
    claim: str = "conditional",
    task: str = "auto",
    selected: Any = None,
    fitted: FDRSelector | None = None,
    groups: Any = None,
    **options: Any,
) -> Claims:
    """Test the features of X, and weaker claims where nothing can be claimed.

    Parameters
    ----------
    X, y : arrays
        The data.
    names : sequence of str
        Of all features.
    level, claim, task
        As in :class:`~sparsieve.FDRSelector`.
    selected : array of int, default=None
        Features selected for prediction, best first; groups where there are ``feature_groups``.
    fitted : FDRSelector, default=None
        The tests, where they were made already.
    groups : array of shape (n_samples,), default=None
        Samples that depend on each other.
    **options : dict
        Further parameters of :class:`~sparsieve.FDRSelector`.

    Returns
    -------
    claims : Claims
    """
    found = fitted
    if found is None:
        found = FDRSelector(level, claim=claim, task=task, **options).fit(X, y, groups=groups)
    weaker: tuple[FDRSelector, ...] = ()
    if found.claim == "conditional" and len(claim_columns(found)) == 0:
        others = (
            clone(found).set_params(claim=kind, substitutes=None, **how)
            for kind, (_, how) in WEAKER.items()
            if kind != "set" or _feature_groups(found) is None  # which are sets themselves
        )
        weaker = tuple(other.fit(X, y, groups=groups) for other in others)
    of_features = _feature_groups(found)
    names = np.asarray(names if of_features is None else of_features.names, dtype=object)
    return Claims(found, names, X.shape[0], weaker, selected)
