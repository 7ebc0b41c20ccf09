"""What to conclude from a comparison, and what to know about how it was measured, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..._text import listed_names, plural
from ..report.wording import duration

if TYPE_CHECKING:
    from .result import Comparison


def recommendation(found: Comparison) -> str:
    """Which methods to prefer and how sure that is; names no winner within the error."""
    verdict = found.verdict
    said = verdict.sentences()
    said += [one for one in [_chosen_by_it(found)] if one]
    level = [name for name in verdict.level_with_best if name in verdict.predictive]
    if len(level) > 1:
        parts = [part for part in (_fastest(found, level), _steadiest(found, level)) if part]
        among = "Among the methods that are not significantly lower, " * bool(verdict.separable)
        said += [f"{among}{', and '.join(parts)}."] * bool(parts)
    if verdict.predictive and found.all_features is not None:
        every = float(found.all_features[found.metric].mean())
        n_features = len(found.data.names)
        which = "both features" if n_features == 2 else f"all {n_features:,} features"
        said.append(f"Using {which}, the same model scores {found.score.shown(every)}.")
    for name, reason in found.left_out.items():
        said.append(f"{name} was left out: {reason.rstrip('.')}.")
    return " ".join(said)


def _chosen_by_it(found: Comparison) -> str:
    """By how much the score of the best method is too good; empty where it is not, or not known."""
    verdict, score, alone = found.verdict, found.score, found.score_of_choosing
    if alone is None or not verdict.predictive:
        return ""
    top = verdict.means[verdict.best]
    is_lower = float(score.turned(alone)) < float(score.turned(top))
    if not is_lower or score.shown(alone) == score.shown(top):
        return ""
    return (
        f"That is a little too good, because the best of {len(verdict.means)} methods was chosen "
        f"by it: the method that is best on the other folds scores {score.shown(alone)}."
    )


def _fastest(found: Comparison, level: list[str]) -> str:
    """Which method is the fastest, where the next one takes visibly longer."""
    first, second, *_ = sorted(level, key=lambda name: found.methods[name].seconds)
    took, next_took = (found.methods[name].seconds for name in (first, second))
    if next_took - took < 1.0 or next_took < 1.5 * took:
        return ""
    return (
        f"{first} is the fastest ({duration(took)} per fit; {second} takes {duration(next_took)})"
    )


def _steadiest(found: Comparison, level: list[str]) -> str:
    """Whose choices repeat most from split to split, where that can be told."""
    known = {name: found.stabilities[name] for name in level}
    known = {name: one for name, one in known.items() if np.isfinite(one.value)}
    top = max(known.values(), default=None)
    steady = [name for name, one in known.items() if top and one.value >= top.low]
    if top is None or len(steady) == len(level):
        return ""
    return (
        f"{listed_names(steady)} chose the most stable {found.data.unit}s (stability "
        f"{top.value:.2f}, 95 % interval {top.low:.2f} to {min(top.high, 1.0):.2f})"
    )


# How a rule chooses the number at which methods are compared.
CHOSEN = {
    "fewest": "the fewest that are as good as the best number",
    "median": "the median of the numbers with the best mean in each repeat of the folds",
    "one_se": "the fewest that do as well as the best mean within one standard error",
    "none": "the fewest that were tried, because a guess does as well",
    "best": "the number with the best mean",
    "elbow": "the number where the curve of the mean bends most",
}


def describe_measurement(found: Comparison) -> str:
    """The model, the folds and how the number of features was chosen, in one sentence."""
    splits = plural(found.n_folds * found.n_repeats, "split")
    said = f"Scores are those of {found.model_words} on the held-out samples of {splits}"
    if len(found.ks) == 1:
        return said
    count = plural(found.k, found.data.unit)
    return f"{said}; {count}: {found.how_chosen} over all methods"


def notes(found: Comparison) -> list[str]:
    """What a reader must know of how it was measured."""
    said = [*found.data.notes, *found.measured]
    n_used, n_given = len(found.data.y), found.data.n_given
    if n_used < n_given:
        said.append(
            f"methods were compared on {n_used:,} of the {n_given:,} samples, drawn at random; "
            "set max_samples to use more"
        )
    short = [r for r in found.methods.values() if r.n_reached < len(found.ks)]
    if short:
        least = min(short, key=lambda result: result.n_reached)
        said.append(
            f"{least.name} ranks fewer than {found.ks[least.n_reached]} {found.data.unit}s with "
            f"its parameters, so the methods are compared with fewer {found.data.unit}s"
        )
    return said
