"""Claims as they are asked for and said, and how strong a feature must be to be claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import betainccinv

from ..._checks import MAX_REPEATS, check_choice, check_integer, check_real, format_names
from ..._text import plural
from .hidden_structure import ADJUSTMENTS

POWER_Z = 0.84  # a normal variable is below it 4 times in 5


def detectable_correlation(level: float, n_tested: int, rank: float, rest: float) -> float:
    """The correlation with y at which the only feature that matters is found 4 times in 5.

    Parameters
    ----------
    level : float
        False discovery rate.
    n_tested : int
        Number of features.
    rank, rest : float
        Degrees of freedom of the explained and the unexplained variance.

    Returns
    -------
    correlation : float
        1 where nothing can be found.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.claim_words import detectable_correlation
    >>> round(detectable_correlation(0.1, 7129, 1, 62), 2)
    0.59
    """
    if n_tested == 0 or rank <= 0 or rest <= 0:
        return 1.0
    least = float(np.sqrt(betainccinv(rank / 2, rest / 2, level / n_tested)))
    if least >= 1.0:
        return 1.0
    return float(np.tanh(np.arctanh(least) + POWER_Z / np.sqrt(max(rank + rest - 2, 1.0))))


# Claims given what other features say.
CONDITIONAL = ("conditional", "set")
HEAVY_TAILS = "Where features have heavy tails, such claims are false more often than that."
MOST_SETS = 10  # that a sentence names
# What a claim says of a feature.
MEANINGS = {
    "conditional": (
        "Each claim says that the feature{substitutes} carries information about y that the "
        "other features do not carry"
    ),
    "set": (
        "Each claim says that at least one feature of its set carries information about y that "
        "the features correlated with it by less than {neighbours:g} do not carry; sets_ lists the "
        "features of every set, the likeliest first"
    ),
    "marginal": (
        "Each claim says that the feature is associated with y when it is looked at alone, perhaps "
        "only because it is correlated with another feature"
    ),
    "sequential": (
        "Each claim says that the feature explains more of y than the features selected before it "
        "do, not that a later feature could not replace it"
    ),
}
WEAKER = (
    'claim="set" finds sets of correlated features one of which matters; '
    'claim="marginal" finds features that are associated with y when each is looked at alone; '
    'claim="sequential" finds features that add to those selected before them'
)


def verdict(
    settings: ClaimSettings,
    names: Sequence[str],
    *,
    n_tested: int,
    n_samples: int,
    smallest: float,
    shuffled: float,
    detectable: float,
    measured: str = "",
    unit: str = "feature",
    sizes: Sequence[int] = (),
) -> str:
    """What can be claimed, or how far away that is.

    Parameters
    ----------
    settings : ClaimSettings
    names : sequence of str
        The features claimed, the surest first.
    n_tested, n_samples : int
    smallest : float
        The smallest p-value.
    shuffled : float
        The smallest level at which something can be claimed. If the smallest p-value would do and
        this does not, it says how often some feature explains a shuffled y as well.
    detectable : float
        The correlation that is found four times in five.
    measured : str
        What correlations are of.
    unit : str
        What is claimed: a feature or a feature group.
    sizes : sequence of int
        How many features are in the set of each name, where sets are claimed.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.claim_words import ClaimSettings
    >>> from sparsieve.selectors.least_squares.claim_words import verdict
    >>> settings = ClaimSettings(level=0.1, claim="marginal")
    >>> print(verdict(settings, ["TP53"], n_tested=40, n_samples=30, smallest=1e-4, shuffled=0.004,
    ...               detectable=0.6).partition(".")[0])
    1 of 40 features is significant at a false discovery rate of 10 %: 'TP53'
    """
    claim, level, substitutes = settings.claim, settings.level, settings.least
    is_familywise = claim == "sequential" or settings.correction == "maxt"
    rate = "a probability of any false claim" if is_familywise else "a false discovery rate"
    bound = f"at {rate} of {100 * level:.3g} %"
    if names:
        close = ""
        if substitutes < 1:
            other = "or one correlated with it"
            if unit != "feature":
                other = "or a group with a column that is correlated with one of its columns"
            close = f", {other} by {substitutes:g} or more"
            close += f" ({measured})," if measured else ","
        meaning = MEANINGS[claim].format(substitutes=close, neighbours=substitutes)
        verb = "is" if len(names) == 1 else "are"
        claimed = f"{len(names):,} of {plural(n_tested, unit)} {verb} significant"
        shown = format_names(names)
        if claim == "set":
            claimed = f"{plural(len(names), 'set')} of features {verb} significant"
            shown = sets_in_words(names, sizes)
        supposes_normal = claim in ("marginal", "sequential") and settings.correction == "fdr"
        caution = f" {HEAVY_TAILS}" if supposes_normal else ""
        return f"{claimed} {bound}: {shown}. {meaning}.{caution}"
    if n_tested == 0:
        return f"No {unit} is significant: none is left to test that varies on its own."
    nothing = f"No {unit} is significant {bound}."
    if claim == "sequential":
        missed = (
            f"The first one selected has a p-value of {smallest:.2g}; it would have to be "
            f"{level:.2g} or less."
        )
    elif claim in CONDITIONAL and smallest <= level / n_tested:
        missed = (
            f"The smallest p-value, {smallest:.2g}, would be small enough. But when y was "
            f"shuffled, some feature explained it equally well in {100 * shuffled:.0f} % of cases; "
            f"at most {100 * level:.3g} % are allowed."
        )
    else:
        missed = (
            f"The smallest p-value is {smallest:.2g}; among {plural(n_tested, unit)} it would "
            f"have to be {level / n_tested:.2g} or less."
        )
    given = ", given the other features," if claim in CONDITIONAL else ""
    weaker = f" Weaker claims may hold: {WEAKER}." if claim == "conditional" else ""
    return (
        f"{nothing} {missed} With {n_samples:,} samples, a {unit} is found in 4 of 5 cases if its "
        f"correlation with y{given} is {detectable:.2f} or more. So this does not show that no "
        f"{unit} matters.{weaker}"
    )


def sets_in_words(names: Sequence[str], sizes: Sequence[int]) -> str:
    """The likeliest feature of every set, and how many others it may be.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.claim_words import sets_in_words
    >>> sets_in_words(["TP53", "MYC", "EGFR"], [1, 2, 12])
    "'TP53' alone; 'MYC' or one other; 'EGFR' or one of 11 others"
    """
    said = []
    for name, size in zip(names[:MOST_SETS], sizes, strict=False):
        others = {1: "alone", 2: "or one other"}.get(size, f"or one of {size - 1:,} others")
        said.append(f"{name!r} {others}")
    if (more := len(names) - MOST_SETS) > 0:
        said.append(f"and {more:,} more")
    return "; ".join(said)


def assumption_phrases(
    *,
    n_samples: int,
    n_groups: int | None = None,
    n_close: int = 0,
    n_components: int = 0,
    n_beside: int = 0,
) -> str:
    """Which samples were taken to belong together, and what tests were adjusted for.

    Parameters
    ----------
    n_samples : int
    n_groups : int or None
        Groups of samples, as given or found; None where every sample stands alone.
    n_close : int
        Samples that were found to belong to others; 0 where groups were given.
    n_components : int
        Principal components that every test takes into account.
    n_beside : int
        Those that it takes into account because of what the features claimed first left of y.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.claim_words import assumption_phrases
    >>> assumption_phrases(n_samples=60, n_groups=30)
    'The 60 samples belong to 30 groups.'
    """
    said = []
    if n_groups is not None and n_close:
        said.append(
            f"{n_close:,} of {n_samples:,} samples are much closer to another sample than to all "
            "others, as repeated measurements are; they were not counted as independent. Pass "
            "groups to say which belong together."
        )
    elif n_groups is not None:
        said.append(f"The {n_samples:,} samples belong to {plural(n_groups, 'group')}.")
    if n_components:
        said.append(
            f"Tests were adjusted for {plural(n_components, 'principal component')} of the "
            "features, as an unrecorded batch would be; adjust=None leaves that out."
        )
    if n_beside:
        more = "further " if n_components else ""
        said.append(
            f"What the features claimed at first left of y goes with {more}principal components of "
            "the features, as with populations or a batch that nobody recorded; so all was tested "
            f"again given {plural(n_beside, 'component')}, and adjust=None leaves that out."
        )
    return " ".join(said)


CLAIMS = ("conditional", "set", "marginal", "sequential")
CORRECTIONS = ("fdr", "maxt")
DEFAULT_RESAMPLES = 999
# Absolute correlation of features that stand for each other, and of those that a set may hold.
SUBSTITUTE_CORRELATION, SET_CORRELATION = 0.7, 0.3
LEFT_OUT = 0.01  # of ``level``: the weight that a set leaves out


@dataclass(frozen=True)
class ClaimSettings:
    """Settings of :class:`~sparsieve.FDRSelector`, under the names that they have there.

    Examples
    --------
    >>> from sparsieve.selectors.least_squares.claim_words import ClaimSettings
    >>> ClaimSettings(claim="set").least, ClaimSettings(claim="sequential").n_draws
    (0.3, 999)
    """

    level: float = 0.1
    claim: str = "conditional"
    substitutes: float | None = None
    correction: str = "fdr"
    n_resamples: int | None = None
    adjust: str | int | None = "auto"
    seed: int = 0

    def check(self) -> None:
        """Refuse values that mean nothing, alone or together."""
        check_real("level", self.level, minimum=0, maximum=1, strict=True)
        check_choice("claim", self.claim, CLAIMS)
        if self.substitutes is not None:
            check_real("substitutes", self.substitutes, minimum=0, maximum=1, strict=True)
            if self.claim not in CONDITIONAL:
                raise ValueError(
                    f'substitutes are of claim="conditional" and claim="set", got claim='
                    f"{self.claim!r}; leave them out"
                )
        check_choice("correction", self.correction, CORRECTIONS)
        if self.correction != "fdr" and self.claim != "marginal":
            raise ValueError(
                f'correction={self.correction!r} is for claim="marginal", got claim='
                f"{self.claim!r}; leave it out"
            )
        if isinstance(self.adjust, str):
            check_choice("adjust", self.adjust, ADJUSTMENTS)
        elif self.adjust is not None:
            check_integer("adjust", self.adjust, minimum=0)
        if self.n_resamples is not None:
            check_integer("n_resamples", self.n_resamples, maximum=MAX_REPEATS)
            if self.claim in CONDITIONAL:
                raise ValueError(
                    f'claim="{self.claim}" needs no permutations; leave n_resamples=None'
                )

    @property
    def least(self) -> float:
        """Smallest absolute correlation of features that stand for each other."""
        if self.substitutes is not None:
            return float(self.substitutes)
        return SET_CORRELATION if self.claim == "set" else SUBSTITUTE_CORRELATION

    @property
    def coverage(self) -> float | None:
        """Share of the likelihood that a set holds; None where no sets are claimed."""
        return 1.0 - LEFT_OUT * self.level if self.claim == "set" else None

    @property
    def n_draws(self) -> int:
        """Permutations of marginal claims, or random targets of sequential ones; 0 for none."""
        is_drawn = self.claim == "sequential" or self.correction == "maxt"
        return self.n_resamples or DEFAULT_RESAMPLES * is_drawn

    @property
    def adjustment(self) -> str | int | None:
        """Which components count: what a feature says alone is not to be adjusted unasked."""
        return None if self.adjust == "auto" and self.claim not in CONDITIONAL else self.adjust
