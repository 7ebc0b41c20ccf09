"""Proven bounds on how close selections are to the best of the same size, and how to say them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from .._checks import check_integer
from .._saved import Floats, Ints, Savable

# A relative gap below this is stated as a number, not by the share that is explained for sure.
MAX_STATED_GAP = 1e-6


@dataclass(frozen=True)
class Certificate(Savable):
    """Proven bounds on how close selections are to the best of the same size.

    All values are of the objective that was searched, on the data as prepared for the search
    (standardised, clipped, balanced, covariates projected out): ``||Y - XW||^2 + ridge * n *
    ||W||^2``, or half of the deviance plus the ridge for likelihoods. The bounds concern this
    training objective, not accuracy on new data.

    Attributes
    ----------
    n_features : ndarray
        Numbers of features, including those of ``always_keep``.
    objective : ndarray
        Objective of the selection of that size.
    lower_bound : ndarray
        Proven lower bound on the objective of every selection of that size (near copies that
        ``max_correlation`` passes over included), rounding errors included.
    gap : ndarray
        Largest possible improvement as a fraction of the objective: ``(objective - lower_bound) /
        objective``; 0 where an exact search has proven, rounding errors included, that no other
        selection is better. Objectives below machine precision (relative to the target) are
        replaced by machine precision.
    share : ndarray
        Proven minimum of what the selection explains, as a fraction of what the best one of its
        size explains.
    target_power : float
        The objective with the features of ``always_keep`` only.
    n_always : int
        Number of features in ``always_keep``; only selections that contain them are compared.

    See Also
    --------
    sparsieve.RidgeForwardSelector : Forward selection for ridge regression; the default.
    sparsieve.L20Selector : Least squares with an l2,0 penalty, greedy or exact.
    sparsieve.solvers.ExactSearch : Branch and bound: finds the best set, with proof.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> X, y = load_wine(return_X_y=True)
    >>> certificate = RidgeForwardSelector(n_features_to_select=2).fit(X, y).certify(X, y)
    >>> certificate.n_features
    array([1, 2])
    >>> bool((certificate.lower_bound <= certificate.objective).all())
    True
    """

    n_features: Annotated[Ints, "sizes"]
    objective: Annotated[Floats, "sizes"]
    lower_bound: Annotated[Floats, "sizes"]
    gap: Annotated[Floats, "sizes"]
    share: Annotated[Floats, "sizes"]
    target_power: float
    n_always: int = 0
    unit: ClassVar[str] = "feature"  # what n_features counts

    def sentence(self, n_features: int | None = None) -> str:
        """Say in one sentence what is proven for one number of features, by default the largest."""
        if len(self.n_features) == 0:
            return nothing_to_prove(self.unit)
        where = -1
        if n_features is not None:
            places = np.flatnonzero(self.n_features == n_features)
            if len(places) == 0:
                raise ValueError(
                    f"this certificate covers {self.n_features[0]} to {self.n_features[-1]} "
                    f"{self.unit}s, not {n_features}; pass that number to certify"
                )
            where = int(places[0])
        count, share = int(self.n_features[where]), float(self.share[where])
        if count == self.n_always:
            kept = f"All {count} {self.unit}s are" if count > 1 else f"The selected {self.unit} is"
            return f"{kept} in always_keep, so there was nothing to choose."
        alone = count == 1
        features = self.unit if alone else f"{count} {self.unit}s"
        gap = float(self.gap[where])
        if gap <= MAX_STATED_GAP:
            more = f" by more than {upwards(gap)} of the objective" if gap > 0.0 else ""
            return (
                f"No {features} explain{'s' * alone} the training data better than "
                f"{'this one' if alone else 'these'}{more}{self._always_phrase()} (proven for "
                "the fit to "
                "the training data, not for accuracy on new data)."
            )
        return (
            f"{'This' if alone else 'These'} {features} explain{'s' * alone} at least "
            f"{np.floor(1000 * share) / 10:.1f} % of what the best {features} "
            f"could{self._always_phrase()} (proven for the fit to the training data, not for "
            "accuracy on "
            "new data)."
        )

    def _always_phrase(self) -> str:
        if self.n_always == 0:
            return ""
        kept = f"{self.n_always} {self.unit}s" if self.n_always > 1 else self.unit
        return f", counting only sets with the {kept} of always_keep"

    def __str__(self) -> str:
        return self.sentence()

    def as_dict(self) -> dict[str, Any]:
        """Return the values as a dict of lists, ready for JSON."""
        return {name: np.asarray(value).tolist() for name, value in vars(self).items()}


class GroupCertificate(Certificate):
    """The same for groups of features; :class:`L20Selector` adds their prices to objectives."""

    unit = "feature group"


def make_certificate(
    is_grouped: bool,
    sizes: np.ndarray,
    objective: np.ndarray,
    bound: np.ndarray,
    gap: np.ndarray,
    power: float,
    n_always: int,
) -> Certificate:
    """The certificate of these bounds, with the share of ``power`` that they leave sure."""
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = power - bound
        share = np.where(possible > 0, (power - objective) / possible, 1.0)
    # What is not proven is not said to be all, by rounding of the share either.
    share = np.where(gap > 0.0, np.minimum(share, 1.0 - 2.0**-53), 1.0)
    kind = GroupCertificate if is_grouped else Certificate
    return kind(sizes, objective, bound, gap, np.clip(share, 0.0, 1.0), power, n_always)


def upwards(share: float) -> str:
    """A small number in two digits that is not less."""
    digits = f"{share:.1e}"
    if float(digits) < share:
        digits = f"{share * 1.1:.1e}"
    return digits.replace("e-0", "e-")


def nothing_to_prove(unit: str = "feature") -> str:
    """What to say about a fit that selected nothing."""
    return f"No {unit} was selected, so there is nothing to prove."


def certified_sizes(
    n_features: int | Sequence[int] | None, n_always: int, n_steps: int
) -> np.ndarray:
    """The numbers of features to certify; None means every one on a path of ``n_steps``."""
    last = n_steps + n_always
    if n_features is None:
        return np.arange(max(1, n_always), last + 1)
    several = [n_features] if isinstance(n_features, int | np.integer) else list(n_features)
    for size in several:
        check_integer("n_features", size, minimum=max(1, n_always))
        if last == 0:
            raise ValueError(nothing_to_prove())
        if size > last:
            raise ValueError(
                f"n_features={size} exceeds the {last} features of the path; fit with "
                f"n_features_to_select >= {size}"
            )
    return np.unique(np.array(several, dtype=np.int64))
