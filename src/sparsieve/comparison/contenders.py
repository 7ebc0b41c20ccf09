"""Which methods are compared, and under which names.

What every selection is scored by: the scores, and the model that predicts held-out samples.

What to conclude from a comparison, and what to know about how it was measured, in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import RidgeClassifier

from .._checks import check_choice
from ..meta.base import weighted
from ..meta.final_model import check_model, usual_model
from ..registry import all_methods, method_name, name_of
from ..report.wording import counted, duration, listed_names
from ..scoring.folds import Fold
from ..scoring.models import MODEL_WORDS, MODELS
from ..scoring.per_class import seeing_score, why_seeing
from ..scoring.scorers import Score, check_models, scorers_of
from ..selectors.around import check_predicts, last_step, takes_task
from ..selectors.base import BaseSelector
from ..selectors.groups import takes_groups, with_feature_groups
from ..selectors.methods import as_selector
from ..selectors.near_copies import with_max_correlation
from ..validation.feature_groups import FeatureGroups
from .data import ComparisonData

if TYPE_CHECKING:
    from .result import Comparison

AUTO = "auto"
METRICS = {
    "classification": ("accuracy", "balanced_accuracy"),
    "regression": ("r2",),
    "counts": ("deviance_explained",),
    "survival": ("concordance", "uno_concordance"),
}


@dataclass(frozen=True)
class Judge:
    """The model that scores, and how the engine is told."""

    name: str
    words: str
    estimator: Any
    how: dict[str, Any]


def scores_for(
    scoring: Any, estimator: Any, data: ComparisonData, splits: Sequence[Fold]
) -> tuple[dict[str, Score], str]:
    """What is measured, and why that is not what is usual."""
    scores = scorers_of(scoring, data.task, default=METRICS)
    is_open = scoring is None and estimator is None and data.task == "classification"
    if not is_open or (seeing := seeing_score(data.y, splits)) is None:
        return scores, ""
    first = scorers_of(seeing, data.task)
    return first | scores, why_seeing(data.y, next(iter(first.values())).title)


def judge_for(
    model: str, estimator: Any, scores: Mapping[str, Score], data: ComparisonData
) -> tuple[Judge, str]:
    """The model that scores every selection, and why it is not the usual one."""
    if estimator is not None:
        name = _check_own(estimator, model, scores)
        check_predicts(estimator, data.task)
        return Judge(name, name, estimator, {"models": {name: estimator}}), ""
    usual = usual_model(
        *(data.task, len(data.y), list(scores.values())),
        has_classes=data.task == "classification",
    )
    why = ""
    if model == AUTO and usual.name == "softmax":
        needing = next(s.title for s in scores.values() if not s.suits(RidgeClassifier()))
        why = f"{needing} needs class probabilities, so the model is {MODEL_WORDS['softmax']}"
    if model in (AUTO, usual.name):
        made = weighted(usual.estimator)
        how = {"models": {usual.name: made}, "dense": True}
        return Judge(usual.name, f"a {usual.words}", made, how), why
    known = dict.fromkeys([usual.name, "ridge", *MODELS[data.task]])
    if data.task in ("counts", "survival"):
        known.pop("ridge")
    check_choice("model", model, known)
    if model == "ridge":  # where some score needs probabilities
        for score in scores.values():
            score.check_model(RidgeClassifier(), "'ridge'", 'use model="softmax"')
    check_models(scores, data.task, [model])
    made = MODELS[data.task][model]
    how = {"models": [model], "standardize": True}
    return Judge(model, made.words, made(), how), ""


def _check_own(estimator: Any, model: str, scores: Mapping[str, Score]) -> str:
    """What a model of the user's own is called."""
    if model != AUTO:
        raise ValueError(f"give either model={model!r} or an estimator, not both")
    check_model(estimator)
    name = type(last_step(estimator)).__name__
    for score in scores.values():
        score.check_model(estimator, name, "give another estimator")
    return name


# Fast ones of different families, in this order as far as they take the data: greedy and convex
# least squares, one feature at a time, relevance against redundancy, neighbours, large margins;
# the others step in for those that do not.
FAMILIES = (
    "ridge-forward",
    "l21",
    "f-statistic",
    "mrmr",
    "relieff",
    "svmrfe",
    "rfs",
    "info-gain",
    "rlsr",
)
LIKELIHOODS = ("likelihood-forward", "likelihood-l21")  # for survival times and counts


def contenders(
    methods: Any,
    X: Any,
    task: str,
    feature_groups: FeatureGroups | None = None,
    max_correlation: float | str | None = "auto",
) -> dict[str, BaseSelector]:
    """Unfitted selectors by name; refuses in one sentence what cannot be compared."""
    if methods is None:
        names = [*LIKELIHOODS] * (task in ("counts", "survival")) + [*FAMILIES]
        able = [
            method.cls
            for method in (all_methods()[name] for name in names if name in all_methods())
            if takes_task(method.cls(), task)
            and ("sparse" in method.purposes or not sparse.issparse(X))
            and ("groups" in method.purposes or feature_groups is None)
        ]
        methods = able[:6]
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        raise ValueError(
            "methods must be a list of names, selectors, models, functions or (name, method) "
            f"pairs, got {methods!r}; sparsieve.all_selectors() lists the selectors of this package"
        )
    found: dict[str, BaseSelector] = {}
    for method in methods:
        name, selector = _named(method)
        asked = method[1] if isinstance(method, tuple) else method
        selector = with_max_correlation(selector, asked, max_correlation)
        if name in found:
            raise ValueError(
                f"two methods are called {name!r}; tell them apart by (name, method) pairs"
            )
        if feature_groups is not None:
            selector = with_feature_groups(selector, feature_groups.by_place())
        found[name] = selector
    _check_task(found, task)
    return found


def keep_groups(methods: Any) -> bool:
    """Whether all methods that were asked for keep whole groups of columns."""
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        return False
    return all(takes_groups(_named(method)[1]) for method in methods)


def _named(method: Any) -> tuple[str, BaseSelector]:
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        return method[0], _named(method[1])[1]
    selector = as_selector(method)
    if "n_features_to_select" not in selector.get_params(deep=False):
        raise TypeError(
            f"{type(selector).__name__} chooses the number of features itself; compare the "
            "selector inside it"
        )
    name, kind = name_of(selector), type(selector)
    if kind.__module__.startswith("sparsieve.") and name == kind.__name__:
        name = method_name(name)
    return name, clone(selector)


def _check_task(found: dict[str, BaseSelector], task: str) -> None:
    unable = [name for name, selector in found.items() if not takes_task(selector, task)]
    if unable and task == "survival":
        raise ValueError(
            f"{', '.join(unable)} cannot select for survival times; compare methods that can, such "
            f"as {' and '.join(LIKELIHOODS)}"
        )
    if unable:
        verb = "selects" if len(unable) == 1 else "select"
        raise ValueError(
            f"{', '.join(unable)} {verb} for class labels only, but y is read as numbers; leave "
            f'{"it" if len(unable) == 1 else "them"} out, or pass task="classification" if y '
            "holds classes"
        )


def recommendation(found: Comparison) -> str:
    """Which methods to prefer and how sure that is; names no winner within the error."""
    verdict = found.verdict
    said = verdict.sentences()
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
    "median": "the median of the numbers with the best mean in each repeat of the folds",
    "one_se": "the fewest that do as well as the best mean within one standard error",
    "fewest": "the fewest that were tried, because a guess does as well",
    "best": "the number with the best mean",
    "elbow": "the number where the curve of the mean bends most",
}


def how_measured(found: Comparison) -> str:
    """The model, the folds and how the number of features was chosen, in one sentence."""
    splits = counted(found.n_folds * found.n_repeats, "split")
    said = f"Scores are those of {found.model_words} on the held-out samples of {splits}"
    if len(found.ks) == 1:
        return said
    count = counted(found.k, found.data.unit)
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
