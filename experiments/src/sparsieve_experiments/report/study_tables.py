"""Tables of a study for papers, issues and other programs."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparsieve._text import plural
from sparsieve.app.report.tables import Cell, ResultTable, write_tables
from sparsieve.app.report.wording import capitalise
from sparsieve.scoring.metrics import LOWER_IS_BETTER, metric_name
from sparsieve.scoring.models import MODEL_WORDS
from sparsieve.scoring.statistics import LEVEL

from ..studies import Standing, StoreError, StoreReader, result_rows, standings
from .studies import opened_study

MARK = "*"


def export_study(
    store: Any,
    path: str | os.PathLike[str],
    study: str | None = None,
    *,
    escape_formulas: bool = False,
) -> None:
    """Write the scores of a study as a table: methods in rows, data sets in columns.

    Parameters
    ----------
    store : str, path or Store
        The SQLite file of the results.
    path : str or path-like
        A file of this name is replaced. Its suffix says the format: ``.tex`` is a LaTeX table
        (for the package booktabs) and ``.md`` a Markdown table, both with the best score in bold
        and marks on methods that are significantly worse; ``.csv`` has one row for every method
        and data set, with interval bounds, p-values and verdicts.
    study : str, default=None
        Its name; not needed where the store holds a single study.
    escape_formulas : bool, default=False
        For CSV files, as in :func:`~sparsieve.app.io.write_table`.

    See Also
    --------
    sparsieve_experiments.report.study_report : The same study as a page.
    sparsieve_experiments.studies.standings : The comparisons behind the marks.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.report import export_study
    >>> from sparsieve_experiments.studies import Study, run_study
    >>> study = Study("small", ["wine"], ["fisher", "relieff"], Folds(3), ks=[2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store, table = pathlib.Path(folder) / "small.sqlite", pathlib.Path(folder) / "t.tex"
    ...     outcome = run_study(study, store)
    ...     export_study(store, table)
    ...     "toprule" in table.read_text()
    True
    """
    with opened_study(store, study) as (reader, name):
        tables = study_tables(reader, name)
    write_tables(path, tables, escape_formulas=escape_formulas)


def study_tables(store: StoreReader, name: str) -> list[ResultTable]:
    """One table for every group of data sets that can be compared with each other."""
    rows = result_rows(store, name)
    found = standings(rows)
    if not found:
        raise StoreError(f"no data set of study {name!r} has a score of every method yet")
    return [_table(standing, _by_set(standing, rows)) for standing in found]


def _by_set(standing: Standing, rows: Sequence[Any]) -> dict[str, Standing]:
    """The comparison on every data set alone, at the same numbers of features."""
    if len(standing.datasets) == 1:
        return {standing.datasets[0]: standing}
    found = {}
    for dataset in standing.datasets:
        mine = [row for row in rows if row["dataset"] == dataset and row["k"] in standing.ks]
        [found[dataset]] = standings(mine, classifier=standing.classifier, metric=standing.metric)
    return found


def _table(standing: Standing, by_set: dict[str, Standing]) -> ResultTable:
    every = dict(by_set)
    if len(by_set) > 1:
        every["all data sets"] = standing
    header = [*by_set, *(["mean"] if len(by_set) > 1 else [])]
    title = metric_name(standing.metric)
    unit = " (%)" if standing.task == "classification" else ""
    return ResultTable(
        f"{capitalise(title)}{unit} of methods using {standing.using}",
        ["method", *header],
        [[Cell(name), *(_cell(one, name) for one in every.values())] for name in standing.means],
        _notes(standing, every),
        _columns(every),
    )


def _cell(standing: Standing, name: str) -> Cell:
    is_best = name in (standing.best, *standing.tied)
    is_worse = name in standing.gaps and standing.gaps[name].separable
    return Cell(standing.number(standing.means[name]), is_best, MARK * is_worse)


def _notes(standing: Standing, every: dict[str, Standing]) -> list[str]:
    model = MODEL_WORDS.get(standing.classifier, standing.classifier)
    lower = standing.metric in LOWER_IS_BETTER
    n_pairs = math.comb(len(standing.means), 2)
    notes = [
        f"Mean over {plural(standing.n_splits, 'split')}, scored with {model}; the "
        f"{'lowest' if lower else 'highest'} is in bold."
    ]
    if n_pairs:
        marked = any(gap.separable for one in every.values() for gap in one.gaps.values())
        found = f"{MARK} Significantly" if marked else "No method is significantly"
        over = "; for the mean, paired t-test over data sets" if len(every) > 1 else ""
        notes.append(
            f"{found} {'higher' if lower else 'lower'} than the best: two-sided corrected "
            "resampled t-test over splits (Nadeau and Bengio)"
            f"{over}; Bonferroni correction for {plural(n_pairs, 'pair')} of methods, "
            f"{100 * LEVEL:g} % level."
        )
    if standing.baseline is not None:
        notes.append(
            f"Using all features, the same model scores {standing.shown(standing.baseline)}."
        )
    return notes


def _columns(every: dict[str, Standing]) -> dict[str, np.ndarray]:
    rows = [_row(dataset, one, name) for dataset, one in every.items() for name in one.means]
    kinds = {key: object if isinstance(value, str) else None for key, value in rows[0].items()}
    return {key: np.array([row[key] for row in rows], dtype=kind) for key, kind in kinds.items()}


def _row(dataset: str, standing: Standing, name: str) -> dict[str, Any]:
    gap = standing.gaps.get(name)
    worse = "higher" if standing.metric in LOWER_IS_BETTER else "lower"
    verdict = "best"
    if gap is not None:
        verdict = f"significantly {worse}" if gap.separable else f"not significantly {worse}"
    mean, margin = (0.0, 0.0) if gap is None else (gap.mean, gap.margin)
    return {
        "dataset": dataset,
        "method": name,
        "model": standing.classifier,
        "features": ", ".join("own" if k is None else str(k) for k in standing.ks),
        "metric": standing.metric,
        "score": standing.means[name],
        "behind_best": mean,
        "behind_best_low": mean - margin,
        "behind_best_high": mean + margin,
        "behind_best_p": math.nan if gap is None else gap.p_value,
        "verdict": verdict,
        "n_splits": standing.n_splits,
    }
