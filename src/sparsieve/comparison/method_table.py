"""The methods of a comparison as rows: for pages, terminals, papers and other programs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..meta.held_out import score_interval
from ..report.tables import Cell, ResultTable
from ..report.wording import capitalised, counted, duration
from ..scoring.statistics import LEVEL

if TYPE_CHECKING:
    from .result import Comparison
    from .verdict import Verdict

LOWER, NO_BETTER = "*", "†"  # marks of a printed table


def method_columns(comparison: Comparison) -> dict[str, np.ndarray]:
    """The columns of ``table`` with bounds of 95 % intervals, p-values and verdicts."""
    columns, verdict, metric = comparison.table_columns(), comparison.verdict, comparison.metric
    names = columns["method"].tolist()
    row = comparison.ks.index(comparison.k)
    bounds = np.array(
        [
            score_interval(
                comparison.methods[name].scores[metric][row],
                error,
                len(comparison.data.y),
                verdict.score,
            )
            for name, error in zip(names, columns[f"{metric}_se"], strict=True)
        ]
    )
    behind = columns["behind_best"]
    margins = np.array([verdict.margins.get(name, 0.0) for name in names])
    return {
        **columns,
        f"{metric}_low": bounds[:, 0],
        f"{metric}_high": bounds[:, 1],
        "behind_best_low": behind - margins,
        "behind_best_high": behind + margins,
        "behind_best_p": np.array([verdict.p_values.get(name, np.nan) for name in names]),
        "guess_p": np.array([verdict.guess_p_values[name] for name in names]),
        "verdict": np.array([verdict.judged(name) for name in names], dtype=object),
    }


def method_rows(comparison: Comparison) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Headings and cells: name, score, interval, difference, interval, verdict, stability, time;
    then the other scores.
    """
    columns, verdict, metric = method_columns(comparison), comparison.verdict, comparison.metric
    others = [score for name, score in comparison.scoring.items() if name != metric]
    heading, *headings = (
        f"{score.label}{' (%)' * score.is_percent}" for score in (comparison.score, *others)
    )
    side = "difference from the best"
    header: tuple[str, ...] = (
        *("method", heading, "95 % interval", side, "95 % interval"),
        *("verdict", "stability", "time per fit"),
        *headings,
    )
    rows: list[tuple[str, ...]] = []
    for i, name in enumerate(columns["method"]):
        low, high = (verdict.score.number(columns[f"{metric}_{end}"][i]) for end in ("low", "high"))
        has_interval = bool(np.isfinite(columns[f"{metric}_se"][i]))
        is_best, stability = name == verdict.best, columns["stability"][i]
        rows.append(
            (
                str(name),
                verdict.score.number(columns[metric][i]),
                f"{low} to {high}" if has_interval else "",
                "" if is_best else verdict.score.number(columns["behind_best"][i]),
                "" if is_best else verdict.interval(name),
                columns["verdict"][i],
                f"{stability:z.2f}" if np.isfinite(stability) else "",
                duration(columns["seconds"][i]),
                *(score.number(columns[score.name][i]) for score in others),
            )
        )
    return header, rows


def method_table(comparison: Comparison) -> ResultTable:
    """The table to export."""
    verdict = comparison.verdict
    header, rows = method_rows(comparison)
    place = header.index("verdict")
    printed = [
        [
            Cell(name),
            Cell(score, name in verdict.leaders, _marks(verdict, name)),
            *(Cell(text) for i, text in enumerate(others, 2) if i != place),
        ]
        for name, score, *others in rows
    ]
    return ResultTable(
        f"{capitalised(comparison.score.title)} of methods using "
        f"{counted(comparison.k, 'feature')}",
        [title for title in header if title != "verdict"],
        printed,
        _notes(comparison),
        method_columns(comparison),
    )


def _marks(verdict: Verdict, name: str) -> str:
    return LOWER * (name in verdict.separable) + NO_BETTER * (name not in verdict.predictive)


def _notes(comparison: Comparison) -> list[str]:
    n_splits = comparison.n_folds * comparison.n_repeats
    verdict = comparison.verdict
    notes = [
        f"Mean over {counted(n_splits, 'split')} of {counted(len(comparison.data.y), 'sample')}, "
        f"scored with {comparison.model_words}; the {verdict.score.best} is in bold. Stability is "
        "Nogueira's index."
    ]
    if verdict.behind:
        n_pairs = math.comb(len(verdict.means), 2)
        found = f"{LOWER} Significantly" if verdict.separable else "No method is significantly"
        notes.append(
            f"{found} {verdict.score.worse} than the best: two-sided corrected resampled t-test "
            f"(Nadeau and Bengio), Bonferroni correction for {counted(n_pairs, 'pair')} of "
            f"methods, {100 * LEVEL:g} % level. Intervals of differences hold simultaneously."
        )
    if len(verdict.predictive) < len(verdict.means):
        notes.append(
            f"{NO_BETTER} Not significantly better than a guess without features: permutation test "
            f"of the held-out predictions, Holm correction, {100 * LEVEL:g} % level."
        )
    return notes
