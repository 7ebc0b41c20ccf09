"""The report of a comparison of methods on one data set."""

from __future__ import annotations

from typing import Any

from ..._text import listed_names, plural
from ...preprocessing.covariates import describe_preparation
from .comparison_sections import (
    agreement_section,
    alike_section,
    left_out_section,
    numbers_section,
    picture,
    stability_section,
    standing_section,
    times_section,
)
from .elements import Table, make_table
from .page import Report, provenance_section
from .wording import end_sentence


def comparison_report(comparison: Any, *, title: str | None = None, command: str = "") -> Report:
    """Report on methods compared by :func:`sparsieve.compare`.

    Parameters
    ----------
    comparison : Comparison
        What :func:`sparsieve.compare` returned.
    title : str, default=None
        Heading of the report.
    command : str, default=""
        The command line that made it, to be shown.

    Returns
    -------
    report : Report
        ``report.save("report.html")`` writes it; a notebook shows it.

    See Also
    --------
    sparsieve.compare : Several methods on the same folds.
    sparsieve.app.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.app.report import comparison_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["fisher", "mrmr"], ks=[1, 3], cv=2, n_repeats=1)
    >>> comparison_report(found).title
    '2 methods compared on 178 samples'
    """
    n_samples, n_features = comparison.data.X.shape
    n_methods = len(comparison.methods)
    verdict = comparison.verdict
    figures = {"features in the data": f"{n_features:,}"}
    if comparison.data.feature_groups is not None:
        figures["feature groups"] = f"{len(comparison.data.unit_names):,}"
    score = comparison.score
    figures[score.of_guessing] = score.shown(verdict.guess)
    if comparison.all_features is not None:
        every = float(comparison.all_features[comparison.metric].mean())
        figures[f"{score.title}, all features"] = score.shown(every)
    sections = [
        standing_section(comparison, *comparison.table_rows()),
        agreement_section(comparison),
        alike_section(comparison),
        stability_section(comparison),
        times_section(comparison),
        numbers_section(comparison),
        left_out_section(comparison),
        provenance_section(
            None,
            command=command,
            code=_code(comparison),
            seed=comparison.random_state,
            text=_procedure(comparison),
            tables=[_methods(comparison)],
        ),
    ]
    return Report(
        title=title or f"{plural(n_methods, 'method')} compared on {plural(n_samples, 'sample')}",
        headline=comparison.headline,
        sections=[section for section in sections if section is not None],
        figures=figures,
        warnings=_warnings(comparison),
        picture=picture(comparison),
    )


def _warnings(comparison: Any) -> list[str]:
    found = [end_sentence(note) for note in (*comparison.leaks, *comparison.notes)]
    if comparison.left_out:
        methods = plural(len(comparison.left_out), "method")
        found.append(f"{methods} failed and are not shown: see the table of failures.")
    warned = [name for name, result in comparison.methods.items() if result.warnings]
    if warned:
        found.append(f"{listed_names(warned)} gave warnings: see the table of warnings.")
    return found


def _procedure(comparison: Any) -> list[str]:
    return [
        f"{_splits(comparison)}, the same for every method. In every split, each method selects on "
        f"the training samples only; {comparison.model_words} is fitted to its features"
        f"{', scaled by the training samples,' * (comparison.estimator is None)} and scored on the "
        "held-out samples.",
        f"Methods are compared at {plural(comparison.k, comparison.data.unit)}, "
        f"{comparison.how_chosen} over all methods. This choice makes the scores slightly too "
        "good, but hardly affects the differences between methods.",
        "Standard errors are corrected for overlapping training sets (Nadeau and Bengio). A method "
        "is significantly lower than the best by a two-sided t-test on the same splits, with "
        "Bonferroni's correction for all pairs of methods. A method is better than a guess if its "
        "score is higher and a permutation test of its held-out predictions, averaged over all "
        "numbers of features, is significant, with Holm's correction for all methods. The level is "
        "5 %.",
    ]


def _splits(comparison: Any) -> str:
    if comparison.random_state is None:
        return f"{plural(comparison.n_folds, 'split')} given by the user"
    again = "" if comparison.n_repeats == 1 else f", repeated {comparison.n_repeats} times"
    return f"{comparison.n_folds}-fold cross-validation{again}"


def _cv_arguments(comparison: Any) -> str:
    if comparison.random_state is None:
        return "    cv=cv,"
    return (
        f"    cv={comparison.n_folds}, n_repeats={comparison.n_repeats}, "
        f"random_state={comparison.random_state},"
    )


def _methods(comparison: Any) -> Table:
    rows = [
        {
            "method": result.name,
            "class": result.cls,
            "parameters": ", ".join(f"{k}={v!r}" for k, v in result.parameters.items()),
        }
        for result in comparison.methods.values()
    ]
    return make_table("Methods", rows)


def _model(comparison: Any) -> str:
    """The model as an argument of compare."""
    own = comparison.estimator
    return f"model={comparison.model!r}" if own is None else f"estimator={_preparation_phrase(own)}"


def _code(comparison: Any) -> str:
    names = [*comparison.methods, *comparison.left_out]
    made, scoring = comparison.prepare, [score.asked for score in comparison.scoring.values()]
    prepare = "" if made is None else f"    prepare={_preparation_phrase(made)},\n"
    return (
        "import sparsieve\n\n"
        "found = sparsieve.compare(\n"
        f"    X, y, {names},\n"
        f"    ks={comparison.ks}, rule={comparison.rule!r}, {_model(comparison)},\n"
        f"    scoring={scoring},\n"
        f"{prepare}{_cv_arguments(comparison)}\n"
        ')\nfound.report("comparison.html")'
    )


def _preparation_phrase(prepare: Any) -> str:
    named = describe_preparation(prepare)
    if isinstance(named, str | list):
        return repr(named)
    ours = type(prepare).__module__.startswith("sparsieve.")
    return f"sparsieve.{prepare!r}" if ours else repr(prepare)
