"""The report of one fitted selector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._checks import check_flag, check_integer, check_real
from ..diagnosis import diagnose, permutation_null
from ..diagnosis.null import PermutationNull, looks_at_target
from ..meta.held_out import HeldOutCheck
from ..registry import name_of
from ..scoring.folds import seed_of
from ..selectors.adapter import parameters_of, written
from ..selectors.base import RandomState
from ..selectors.settings import resolve_solver
from ..selectors.trace import why_not_converged
from .assessment import Assessment, assess
from .certificate_section import certificate_section, certified
from .exploration import explore_section, selections
from .page import Report
from .profiles import profiles
from .provenance import how_made
from .selected_data import SelectedData
from .selection_sections import (
    MAX_LISTED,
    accuracy_section,
    convergence_section,
    ranking_section,
    redundancy_section,
    stability_section,
    weight_section,
)
from .stability_bounds import bounds_section
from .wording import counted, ended, listed_names, percent

# What is found without being asked for must not be waited for.
_NULL_SECONDS = 3.0
_MIN_SHUFFLES = 10


def selector_report(
    selector: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | np.ndarray | None = None,
    title: str | None = None,
    cv: int = 5,
    random_state: RandomState = 0,
    threshold: float = 0.9,
    null: PermutationNull | str | None = "auto",
    oddities: Sequence[str] | None = None,
    command: str = "",
    certify: bool = False,
    search: Any = None,
    check: HeldOutCheck | None = None,
) -> Report:
    """Report on a fitted selector: what it kept, how well that predicts, how sure it is.

    Parameters
    ----------
    selector : fitted selector
        What to report on; it is not changed.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The data it was fitted on.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The target it was fitted on.
    feature_names : sequence of str, default=None
        For an X without names; those of the data frame it was fitted on if not given.
    title : str, default=None
        Heading of the report.
    cv : int, default=5
        The selection is repeated inside so many folds to say how well it predicts and how stable
        it is; 0 leaves that out.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds.
    threshold : float, default=0.9
        Smallest absolute correlation that makes a feature a substitute of a selected one.
    null : PermutationNull, "auto" or None, default="auto"
        The level that noise reaches, as found by :func:`~sparsieve.permutation_null`; "auto"
        finds it where that takes a few seconds at most, None leaves it out.
    oddities : sequence of str, default=None
        Sentences of :func:`~sparsieve.diagnose` on these data; found here if not given.
    command : str, default=""
        The command line that made it, to be shown.
    certify : bool, default=False
        Prove how much of what any as many features could explain these do, on the training data.
        A selector that has been certified already shows that anyway.
    search : SelectorCV, default=None
        Fitted: the search that found how many features to select; what it says of their number is
        shown. A ``selector`` that is a SelectorCV itself needs none.
    check : HeldOutCheck, default=None
        What held-out samples said of the selection, as :func:`~sparsieve.select` found it; a
        search says the same.

    Returns
    -------
    report : Report
        ``report.save("report.html")`` writes it; a notebook shows it.

    See Also
    --------
    sparsieve.select : Selection in one line, the number of features found.
    sparsieve.report.comparison_report : Report on compared methods.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.report import selector_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = RidgeForwardSelector(n_features_to_select=1).fit(X, y)
    >>> report = selector_report(selector, X, y)
    >>> report.headline.split(".")[0]
    'RidgeForwardSelector kept 1 of 13 features: proline'
    """
    if not hasattr(selector, "get_support"):
        kind = type(selector).__name__
        raise TypeError(
            f"selector_report needs a fitted selector, got {kind}; of a pipeline pass the step "
            "that selects, and the X that reaches it"
        )
    check_is_fitted(selector)
    check_integer("cv", cv, minimum=0)
    seed = seed_of(random_state)
    check_real("threshold", threshold, minimum=0, strict=True)
    check_flag("certify", certify)
    kept = SelectedData.of(selector, X, y, feature_names)
    certificate = certified(selector, X, y, certify)
    assessment = Assessment(reason="cross-validation was not asked for")
    if cv >= 2 and len(kept.order):
        assessment = assess(
            kept.unfitted(),
            kept.X,
            kept.y,
            n_kept=len(kept.order),
            is_regression=kept.classes is None,
            n_folds=cv,
            seed=seed,
        )
    if oddities is None:
        task = "regression" if kept.classes is None else "classification"
        found = diagnose(kept.X, kept.y, feature_names=kept.names, task=task)
        oddities = found.for_user_of(selector)
    substitutes = kept.substitutes(threshold)
    steps = selections(kept)
    if search is None and hasattr(selector, "k_by_rule_"):  # it searched for the number itself
        search = selector
    if check is None and search is not None:
        check = HeldOutCheck.of(search)
    against = [] if check is None else [check.warning] * bool(check.warning)
    sections = [
        accuracy_section(assessment, kept, has_slider=len(steps) > 1, search=search, check=check),
        explore_section(kept, assessment, steps),
        certificate_section(certificate, len(kept.order)),
        ranking_section(kept, _null(null, kept)),
        weight_section(kept),
        redundancy_section(kept, substitutes, threshold),
        stability_section(assessment, kept),
        bounds_section(selector, kept.names),
        convergence_section(selector),
        how_made(
            parameters_of(selector),
            command=command,
            code=_code(selector, cv, seed, certificate is not None),
            seed=seed if cv else None,
        ),
    ]
    name = name_of(selector)
    return Report(
        title=title or f"{counted(len(kept.order), 'feature')} selected by {name}",
        headline=_headline(name, kept, assessment),
        sections=[section for section in sections if section is not None],
        figures=_figures(kept, assessment),
        warnings=[*against, *map(ended, oddities), *_warnings(selector, kept, assessment)],
        profiles=profiles(kept, substitutes, MAX_LISTED),
    )


def _null(null: PermutationNull | str | None, kept: SelectedData) -> PermutationNull | None:
    if null is None or isinstance(null, PermutationNull):
        return null
    if null != "auto":
        raise ValueError(f'null must be a PermutationNull, "auto" or None, got {null!r}')
    has_scores = hasattr(kept.selector, "scores_") and len(kept.order)
    if not has_scores or not looks_at_target(kept.selector):  # shuffling would change nothing
        return None
    found = permutation_null(kept.unfitted(), kept.X, kept.y, max_seconds=_NULL_SECONDS)
    return found if found.n_repeats >= _MIN_SHUFFLES else None


def _headline(name: str, kept: SelectedData, assessment: Assessment) -> str:
    n_features = kept.X.shape[1]
    if not len(kept.order):
        return f"{name} kept none of the {n_features:,} features."
    first = listed_names([kept.names[j] for j in kept.order[:3]], more=len(kept.order) - 3)
    sentence = f"{name} kept {len(kept.order)} of {n_features:,} features: {first}."
    best = assessment.best
    if best is None:
        return sentence
    model, every = best["model"], assessment.baseline[best["model"]]
    held_out = f"in {assessment.n_folds}-fold cross-validation that repeats the selection"
    if kept.classes is not None:
        accuracy = (
            f"{sentence} With as many, a {model} classifies {percent(best['mean'])} of samples it "
            f"has not seen correctly ({held_out}); with all {n_features:,} features "
            f"{percent(every)}"
        )
        guess = kept.guess
        is_guessing = bool(assessment.doubt(guess))
        if not is_guessing and not _is_uneven(kept):
            return f"{accuracy}."
        advice = "look at balanced accuracy" if _is_uneven(kept) else "there may be nothing to find"
        end = f", which cannot be told from it: {advice}" * is_guessing
        majority = f"who always names the largest class is right for {percent(guess)}{end}"
        return f"{accuracy}; {majority}."
    if assessment.doubt(0.0):
        return (
            f"{sentence} With as many, {model} predicts targets it has not seen no better than "
            f"their mean does (R² = {best['mean']:.2f} {held_out}); with all {n_features:,} "
            f"features R² = {every:.2f}."
        )
    return (
        f"{sentence} With as many, {model} explains R² = {best['mean']:.2f} of targets it has not "
        f"seen ({held_out}); with all {n_features:,} features R² = {every:.2f}."
    )


def _figures(kept: SelectedData, assessment: Assessment) -> dict[str, str]:
    figures = {
        "features kept": f"{len(kept.order)} of {kept.X.shape[1]:,}",
        "samples": f"{kept.X.shape[0]:,}",
    }
    if kept.classes is not None:
        figures["classes"] = str(len(kept.classes))
    elif kept.y.ndim == 2 and kept.y.shape[1] > 1:
        figures["targets"] = str(kept.y.shape[1])
    for row in assessment.at(len(kept.order)):
        value = percent(row["mean"]) if kept.classes is not None else f"{row['mean']:.2f}"
        figures[f"{assessment.metric}, {row['model']}"] = value
    if _is_uneven(kept) and assessment.balanced is not None:
        figures["balanced accuracy"] = percent(assessment.balanced)
        if assessment.auc is not None:
            figures["area under the ROC curve"] = f"{assessment.auc:.3f}"
    if assessment.stability is not None:
        figures["stability"] = f"{assessment.stability.value:.2f}"
    return figures


def _is_uneven(kept: SelectedData) -> bool:
    """Whether a class has half as many samples again as another."""
    _, sizes = np.unique(kept.y, return_counts=True)
    return bool(sizes.max() > 1.5 * sizes.min())


def _warnings(selector: Any, kept: SelectedData, assessment: Assessment) -> list[str]:
    found = []
    reason = why_not_converged(selector)
    if reason:
        found.append(f"The solver did not reach its goal: {reason}; {_remedy(selector)}.")
    if assessment.reason and assessment.reason != "cross-validation was not asked for":
        found.append(f"No cross-validated figures: {assessment.reason}.")
    if assessment.stability is not None and assessment.stability.value < 0.4:
        found.append(
            "The selection changes much from fold to fold: other samples would have given other "
            "features. Look at the substitutes, or at StabilitySelection."
        )
    if kept.classes is not None:
        _, sizes = np.unique(kept.y, return_counts=True)
        if sizes.max() > 10 * sizes.min():
            found.append(
                f"The classes differ in size ({sizes.min()} to {sizes.max()} samples), so accuracy "
                "alone says little about the small ones: see balanced accuracy and the table of "
                "confusions."
            )
    return found


def _remedy(selector: Any) -> str:
    """What lets a solver go on: an exact search ends with its time, others with their steps."""
    solver, known = getattr(selector, "solver", None), getattr(selector, "_solvers", None)
    settings = resolve_solver(solver, known) if solver is not None and known else None
    limit = getattr(settings, "time_limit", None)
    if limit is None:
        return "raise max_iter or tol"
    return f"raise the solver's time_limit, which was {limit:g} s"


def _code(selector: Any, cv: int, seed: int, is_certified: bool) -> str:
    name = type(selector).__name__
    more = ", certify=True" if is_certified else ""
    return (
        f"from sparsieve import {name}\n"
        "from sparsieve.report import selector_report\n\n"
        f"selector = {written(selector)}.fit(X, y)\n"
        f"selector_report(selector, X, y, cv={cv}, random_state={seed}{more})"
        ".save('report.html')"
    )
