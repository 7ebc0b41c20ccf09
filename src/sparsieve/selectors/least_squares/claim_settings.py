"""What is claimed and how it is tested: the settings that tests of columns and of groups share."""

from __future__ import annotations

from dataclasses import dataclass

from ..._checks import MAX_REPEATS, check_choice, check_integer, check_real
from .claim_words import CONDITIONAL
from .hidden_structure import ADJUSTMENTS

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
    >>> from sparsieve.selectors.least_squares.claim_settings import ClaimSettings
    >>> ClaimSettings(claim="set").least, ClaimSettings(claim="sequential").n_drawn
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
    def n_drawn(self) -> int:
        """Permutations of marginal claims, or random targets of sequential ones; 0 for none."""
        is_drawn = self.claim == "sequential" or self.correction == "maxt"
        return self.n_resamples or DEFAULT_RESAMPLES * is_drawn

    @property
    def adjustment(self) -> str | int | None:
        """Which components count: what a feature says alone is not to be adjusted unasked."""
        return None if self.adjust == "auto" and self.claim not in CONDITIONAL else self.adjust
