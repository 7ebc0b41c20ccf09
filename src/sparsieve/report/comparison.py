"""The report of a comparison of methods on one data set."""

from __future__ import annotations

from typing import Any

from ..preprocessing.prepare import described
from ..scoring.models import MODEL_WORDS
from .comparison_sections import (
    agreement_section,
    alike_section,
    left_out_section,
    scores_section,
    stability_section,
    times_section,
)
from .elements import Table, table_of
from .page import Report
from .provenance import how_made
from .wording import counted, ended


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
    sparsieve.report.selector_report : Report on a fitted selector.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.report import comparison_report
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["fisher", "mrmr"], ks=[1, 3], cv=2, n_repeats=1)
    >>> comparison_report(found).title
    '2 methods compared on 178 samples'
    """
    n_samples, n_features = comparison.data.X.shape
    n_methods = len(comparison.methods)
    verdict = comparison.verdict
    figures = {
        "methods": str(n_methods),
        "samples": f"{n_samples:,}",
        "compared at": f"{comparison.k} of {n_features:,} features",
        "without any feature": verdict.shown(verdict.guess),
    }
    if comparison.all_features is not None:
        every = float(comparison.all_features[comparison.metric].mean())
        figures["with all features"] = verdict.shown(every)
    sections = [
        scores_section(comparison),
        agreement_section(comparison),
        alike_section(comparison),
        stability_section(comparison),
        times_section(comparison),
        left_out_section(comparison),
        how_made(
            None,
            command=command,
            code=_code(comparison),
            seed=comparison.random_state,
            text=_procedure(comparison),
            tables=[_methods(comparison)],
        ),
    ]
    return Report(
        title=title or f"{counted(n_methods, 'method')} compared on {counted(n_samples, 'sample')}",
        headline=comparison.recommendation,
        sections=[section for section in sections if section is not None],
        figures=figures,
        warnings=_warnings(comparison),
    )


def _warnings(comparison: Any) -> list[str]:
    found = [ended(note) for note in (*comparison.leaks, *comparison.notes)]
    if comparison.left_out:
        methods = counted(len(comparison.left_out), "method")
        found.append(f"{methods} failed and count in nothing that is shown here.")
    warned = [name for name, result in comparison.methods.items() if result.warnings]
    if warned:
        found.append(f"Fits of {', '.join(warned)} warned: see the table of warnings.")
    return found


def _procedure(comparison: Any) -> list[str]:
    model = MODEL_WORDS[comparison.model]
    return [
        f"{_splits(comparison)}; the same for every method. On every split each method selects "
        f"from the training part alone, a {model} is fitted to its k features, scaled by the "
        "training part, and scored on the samples held out.",
        f"Methods are compared at {counted(comparison.k, 'feature')}: the number that the mean of "
        "their curves favours, which makes the scores themselves, but hardly the differences "
        "between methods, a little too good.",
        "Standard errors are of means over splits of one data set and allow for training parts "
        "that overlap (Nadeau and Bengio). A method counts as lower than the best where a t-test "
        "of the differences on the same splits says so, and as better than a guess where its score "
        "is higher and its held-out predictions, on average over all numbers of features, follow "
        "the target more closely than shuffled ones. Tests are at the level of 5 % together, by "
        "Holm's correction: the former for all pairs of methods, the latter for all methods.",
    ]


def _splits(comparison: Any) -> str:
    if comparison.random_state is None:
        return f"{counted(comparison.n_folds, 'split')}, as given"
    return f"{comparison.n_folds} folds, drawn {counted(comparison.n_repeats, 'time')}"


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
    return table_of("Methods", rows)


def _code(comparison: Any) -> str:
    names = ", ".join(repr(name) for name in [*comparison.methods, *comparison.left_out])
    made, scoring = comparison.prepare, [score.asked for score in comparison.scoring.values()]
    return "\n".join(
        (
            "import sparsieve",
            "",
            "found = sparsieve.compare(",
            f"    X, y, [{names}],",
            f"    ks={comparison.ks}, model={comparison.model!r}, scoring={scoring},",
            *([f"    prepare={_made_by(made)},"] if made is not None else []),
            _cv_arguments(comparison),
            ")",
            'found.report("comparison.html")',
        )
    )


def _made_by(prepare: Any) -> str:
    named = described(prepare)
    if isinstance(named, str | list):
        return repr(named)
    ours = type(prepare).__module__.startswith("sparsieve.")
    return f"sparsieve.{prepare!r}" if ours else repr(prepare)
