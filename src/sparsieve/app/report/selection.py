"""The report of one fitted selector."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._checks import check_flag, check_integer, check_real
from ..._text import plural
from ...diagnosis import diagnose
from ...diagnosis.null import PermutationNull
from ...meta import SelectorCV
from ...meta.held_out import HeldOutCheck
from ...preprocessing.covariates import preparation
from ...registry import selector_name
from ...scoring.folds import seed_number
from ...scoring.relation import RelationFound
from ...selection.claims import Claims, find_claims
from ...selection.covariates import AUTO
from ...selection.selected_data import SelectedData, raw_values
from ...selectors.base import RandomState
from ...selectors.fitted import convergence_failure
from ...selectors.least_squares.fdr import FDRSelector
from ...selectors.methods import format_selector, method_parameters
from ...selectors.near_copies import SUBSTITUTE
from ...selectors.origins import call_with_views
from ...selectors.settings import resolve_solver
from .answer import HeldOut, headline, model_card
from .assessment import MAX_SAMPLES, Assessment, assess
from .claims_section import claims_section, noise_level
from .exploration import explore_section, selections
from .page import Report, check_packages, provenance_section
from .relation import relation_section
from .sample_charts import profiles
from .selection_sections import (
    MAX_LISTED,
    accuracy_section,
    bounds_section,
    certificate_section,
    convergence_section,
    make_certificate,
    ranking_section,
    redundancy_section,
    stability_section,
    weight_section,
)
from .survival import HeldOutSurvival, held_out_survival, survival_section
from .wording import end_sentence, percent

if TYPE_CHECKING:
    from ...selection.result import SelectedFeatures


_NOT_ASKED = "cross-validation was not asked for"


def selector_report(
    selector: Any,
    X: Any,
    y: Any,
    *,
    feature_names: Sequence[str] | np.ndarray | None = None,
    title: str | None = None,
    cv: int | None = None,
    random_state: RandomState = 0,
    threshold: float = SUBSTITUTE,
    null: PermutationNull | str | None = "auto",
    oddities: Sequence[str] | None = None,
    command: str = "",
    certify: bool = False,
    search: Any = None,
    check: HeldOutCheck | None = None,
    prepare: Any = None,
    groups: Any = None,
    claims: Claims | None = None,
    time_name: str = "time",
    covariates: Sequence[int] = (),
    covariates_alone: str = "",
    relation: RelationFound | None = None,
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
    cv : int or None, default=None
        Number of folds in which the selection is repeated, twice, to measure how well it predicts
        and how stable it is; 0 skips this. None takes the folds of ``search`` or ``check``, so
        that the page says what these say, and five where there is neither.
    random_state : int, RandomState instance or None, default=0
        Seed of the folds, where they are not those of ``search``.
    threshold : float, default=0.9
        Smallest absolute correlation that makes a feature a substitute of a selected one.
    null : PermutationNull, "auto" or None, default="auto"
        Scores on shuffled targets, as computed by :func:`~sparsieve.permutation_null`; "auto"
        computes them if that is expected to take a few seconds at most, judged by the method and
        the size of X, None leaves them out.
    oddities : sequence of str, default=None
        Sentences of :func:`~sparsieve.diagnose` on these data; found here if not given.
    command : str, default=""
        The command line that made it, to be shown.
    certify : bool, default=False
        Prove how close this set is to the best set of the same size, on the training data. A
        selector that has already been certified shows its proof in any case.
    search : SelectorCV, default=None
        The fitted search that chose the number of features; its summary is shown. Not needed if
        ``selector`` is a SelectorCV itself.
    check : HeldOutCheck, default=None
        Result on held-out samples, as :func:`~sparsieve.select` computes it; taken from
        ``search`` if not given.
    prepare : transformer or None, default=None
        The fitted transformer that was applied to X before the selection; cross-validation fits it
        again on the training samples of every fold.
    groups : array-like of shape (n_samples,), default=None
        Cross-validation keeps the samples of a group together.
    claims : Claims or None, default=None
        What can be claimed, as ``claims()`` of the result of :func:`~sparsieve.select` finds it.
        Of a FDRSelector its own tests are shown in any case.
    time_name : str, default="time"
        What survival times are called on axes.
    covariates : sequence of int, default=()
        Columns that are in the model and no features: neither ranked nor counted.
    covariates_alone : str, default=""
        How well these predict without the features, in a sentence that follows the headline.
    relation : RelationFound or None, default=None
        How features by lines and by trees predict, as ``relation`` of the result of
        :func:`~sparsieve.select` says.

    Returns
    -------
    report : Report
        ``report.save("report.html")`` writes it; a notebook shows it.

    See Also
    --------
    sparsieve.select : Selection in one line, the number of features found.
    sparsieve.app.report.comparison_report : Report on compared methods.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.app.report import selector_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> selector = RidgeForwardSelector(n_features_to_select=5).fit(X, y)
    >>> report = selector_report(selector, X, y)
    >>> report.title
    '5 features selected by RidgeForwardSelector'
    """
    _check(selector, cv, threshold, certify)
    seed = seed_number(random_state)
    given, X = X, X if prepare is None else call_with_views(prepare.transform, X)
    kept = SelectedData.from_selector(selector, X, y, feature_names, covariates)
    certificate = make_certificate(selector, X, y, certify)
    if search is None and hasattr(selector, "k_by_rule_"):  # it searched for the number itself
        search = selector
    if check is None and search is not None:
        check = HeldOutCheck.of(search)
    if cv:  # other folds than those of the check: the page speaks of these alone
        check = None
    given = kept.X if prepare is None else raw_values(given)
    folds: Any = {"seed": seed, "groups": groups, "prepare": preparation(prepare)}
    assessment, survival = _held_out(kept, given, cv, search, check, null, time_name, **folds)
    if oddities is None:
        oddities = _oddities(kept)
    substitutes = kept.substitutes(threshold)
    steps = selections(kept)
    answer = HeldOut.from_assessment(assessment, check)
    doubt = "" if answer is None else answer.doubt
    picture, ranking = ranking_section(kept, *noise_level(null, kept, groups))
    if claims is None and isinstance(selector, FDRSelector):
        claims = find_claims(kept.X, kept.y, kept.names, fitted=selector)
    sections = [
        accuracy_section(assessment, kept, has_slider=len(steps) > 1, search=search, check=check),
        survival_section(survival, kept),
        relation_section(relation, kept),
        claims_section(claims, kept.X),
        explore_section(kept, assessment, steps),
        certificate_section(certificate, kept.n_kept, kept.unit),
        ranking,
        weight_section(kept),
        redundancy_section(kept, substitutes, threshold),
        stability_section(assessment, kept),
        bounds_section(selector, kept.names),
        convergence_section(selector),
        model_card(kept, answer, check, X=given, groups=groups),
        provenance_section(
            method_parameters(selector),
            command=command,
            code=_code(selector, cv, seed, certificate is not None),
            seed=None if cv == 0 else seed,
        ),
    ]
    name = selector_name(selector)
    return Report(
        title=title or f"{plural(kept.own[0], kept.unit)} selected by {name}",
        headline=" ".join(filter(None, [headline(name, kept, answer), covariates_alone])),
        sections=[section for section in sections if section is not None],
        figures=_figures(kept, assessment, answer),
        warnings=[
            *[doubt] * bool(doubt),
            *map(end_sentence, oddities),
            *_warnings(selector, kept, assessment, answer),
        ],
        profiles=profiles(
            kept, substitutes if kept.groups is None else None, MAX_LISTED, threshold
        ),
        picture=picture,
    )


def _check(selector: Any, cv: int | None, threshold: float, certify: bool) -> None:
    if not hasattr(selector, "get_support"):
        kind = type(selector).__name__
        raise TypeError(
            f"selector_report needs a fitted selector, got {kind}; of a pipeline pass the step "
            "that selects, and the X that reaches it"
        )
    check_is_fitted(selector)
    if cv is not None:
        check_integer("cv", cv, minimum=0)
    check_real("threshold", threshold, minimum=0, strict=True)
    check_flag("certify", certify)


def _held_out(
    kept: SelectedData,
    X: Any,
    cv: int | None,
    search: Any,
    check: HeldOutCheck | None,
    null: Any,
    time_name: str,
    **folds: Any,
) -> tuple[Assessment, HeldOutSurvival | None]:
    """How well the selection predicts held-out samples, and which of them live longer."""
    assessment, survival = Assessment(reason=_NOT_ASKED), None
    if cv is not None and cv < 2:
        return assessment, survival
    if len(kept.order):
        assessment = assess(
            kept,
            X,
            n_folds=cv,
            scoring=None if check is None else check.scoring,
            search=None if cv else search,
            max_samples=MAX_SAMPLES if check is None else None,
            **folds,
        )
    if kept.task == "survival":
        n_shuffles = null.n_repeats if isinstance(null, PermutationNull) else None
        how: Any = {"n_shuffles": n_shuffles, "time_name": time_name, "n_folds": cv or 5}
        n_fits, most = 1, kept.n_kept
        if search is not None:
            n_fits, most = search.n_splits_ + 1, int(search.ks_[-1])
        elif check is not None:
            n_fits = check.n_folds + 1
        how["n_searched"] = n_fits * most
        survival = held_out_survival(kept, X, **how, **folds)
    return assessment, survival


def _oddities(kept: SelectedData) -> Sequence[str]:
    task = kept.task if kept.classes is None else "classification"
    found = diagnose(kept.X, kept.y, feature_names=kept.names, task=task)
    return found.for_user_of(kept.selector)


def _figures(kept: SelectedData, assessment: Assessment, answer: HeldOut | None) -> dict[str, str]:
    """What the headline does not say; never more than fit into one row."""
    figures = {"samples": f"{kept.X.shape[0]:,}"}
    if kept.classes is not None:
        figures["classes"] = str(len(kept.classes))
    elif kept.task == "survival":
        figures["events"] = f"{int(kept.y['event'].sum()):,}"
    elif kept.y.ndim == 2 and kept.y.shape[1] > 1:
        figures["targets"] = str(kept.y.shape[1])
    for every in assessment.baseline.values():
        beside = " and covariates" * bool(len(kept.beside))
        title = f"{assessment.metric}, all {kept.own[1]:,} {kept.unit}s{beside}"
        figures[title] = assessment.format_score(every)
    # Of scores that look behind the labels: these hardly ever name a rare class.
    measure = None if answer is None else answer.measure
    wants_balanced = measure is None or (
        measure.sees_labels_only and measure.name != "balanced_accuracy"
    )
    sizes = kept.class_sizes
    is_uneven = len(sizes) and sizes.max() > 1.5 * sizes.min()
    if is_uneven and assessment.balanced_accuracy is not None and wants_balanced:
        figures["balanced accuracy"] = percent(assessment.balanced_accuracy)
    if answer is not None and answer.stability is not None:
        figures["stability of the selection"] = f"{answer.stability:z.2f}"
    return figures


def _warnings(
    selector: Any, kept: SelectedData, assessment: Assessment, answer: HeldOut | None
) -> list[str]:
    found = []
    reason = convergence_failure(selector)
    if reason:
        found.append(f"The solver did not converge: {reason}; {_remedy(selector)}.")
    if assessment.reason and assessment.reason != _NOT_ASKED:
        found.append(f"The selection was not cross-validated: {assessment.reason}.")
    if answer is not None and answer.stability is not None and answer.stability < 0.4:
        found.append(
            "The selection changes a lot from fold to fold: other samples would give other "
            f"{kept.unit}s. See the substitutes below, or use StabilitySelection."
        )
    is_accuracy = answer is None or answer.measure.name == "accuracy"
    sizes, is_balanced = kept.class_sizes, assessment.balanced_accuracy is not None
    if is_balanced and is_accuracy and sizes.max() > 10 * sizes.min():
        found.append(
            f"The classes differ in size ({sizes.min()} to {sizes.max()} samples), so accuracy "
            "says little about the small ones: look at the balanced accuracy and the confusion "
            "matrix."
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


def _code(selector: Any, cv: int | None, seed: int, is_certified: bool) -> str:
    name, folds = type(selector).__name__, "" if cv is None else f"cv={cv}, "
    more = ", certify=True" if is_certified else ""
    return (
        f"from sparsieve import {name}\n"
        "from sparsieve.app.report import selector_report\n\n"
        f"selector = {format_selector(selector)}.fit(X, y)\n"
        f"selector_report(selector, X, y, {folds}random_state={seed}{more})"
        ".save('report.html')"
    )


def write_report(selected: SelectedFeatures, path: str | os.PathLike[str], **options: Any) -> None:
    """Write the page of a selection; ``options`` are those of ``selector_report``."""
    check_packages()
    search = selected.selector if isinstance(selected.selector, SelectorCV) else None
    claims = options.pop("claims", isinstance(selected.method, FDRSelector))
    if isinstance(claims, bool):
        claims = selected.claims() if claims else None
    alone = selected.covariates_alone
    selector_report(
        selected.method,
        selected.X,
        selected.y,
        prepare=selected.prepare,
        groups=selected.groups,
        feature_names=selected.names,
        null=selected.null or AUTO,
        certify=selected.certificate is not None,
        search=search,
        check=selected.check,
        claims=claims,
        covariates=selected.covariates.places,
        covariates_alone="" if alone is None else alone.sentence,
        relation=selected.relation,
        **{"time_name": selected.inputs.time_name, **options},
    ).save(path)
