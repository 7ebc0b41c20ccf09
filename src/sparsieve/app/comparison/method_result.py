"""The results of a comparison, one method per row."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._text import plural
from ...meta.guess import GuessTest, better_than_a_guess
from ...meta.held_out import score_interval
from ...registry import selector_name
from ...scoring import nogueira_stability
from ...scoring.engine import FoldScores
from ...scoring.folds import Fold, error_over_splits
from ...scoring.outcomes import Selection
from ...scoring.scorers import Score
from ...scoring.stability import Stability
from ...scoring.statistics import LEVEL
from ...selectors.fitted import BOX
from ...selectors.methods import method_parameters
from ..report.tables import Cell, ResultTable
from ..report.wording import capitalise, duration
from .data import ComparisonData

if TYPE_CHECKING:
    from .result import Comparison
    from .verdict import Verdict

SHOWN_FEATURES = 10
_CELL = (
    "padding: 0.1em 1em 0.1em 0; border: none; background: none; color: inherit; text-align: {};"
)


def comparison_view(comparison: Comparison) -> str:
    """HTML of the recommendation, the methods and what they agree on; all text is escaped.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve.app.comparison.method_result import comparison_view
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["fisher", "f-statistic"], ks=[3], cv=2, n_repeats=1)
    >>> "f-statistic" in comparison_view(found)
    True
    """
    header, rows = comparison.table_rows()
    agreed = comparison.consensus_columns()
    n_methods = len(comparison.methods)
    features = [
        (
            str(agreed["feature"][i]),
            f"{agreed['methods'][i]} of {plural(n_methods, 'method')}",
            f"{100 * share:.0f} %",
        )
        for i, share in enumerate(agreed["share"][:SHOWN_FEATURES])
    ]
    more = len(agreed["rank"]) - len(features)
    return (
        f'<div class="sparsieve-comparison" style="{BOX}">'
        + "".join(f"<div><b>{escape(sentence)}</b></div>" for sentence in comparison.leaks)
        + f"<div>{escape(comparison.recommendation)}</div>"
        f"{_table(header, rows)}"
        f"{_table(('feature', 'chosen by', 'share of all fits'), features)}"
        + (f"<div>and {plural(more, 'more feature')} chosen in some fit</div>" if more > 0 else "")
        + "</div>"
    )


def _table(header: tuple[str, ...], rows: list[Any]) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        sides = ["left", *["right"] * (len(row) - 1)]
        return "".join(
            f'<{tag} style="{_CELL.format(side)}">{escape(text)}</{tag}>'
            for side, text in zip(sides, row, strict=True)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    style = "border-collapse: collapse; margin: 0.3em 0"
    return f'<table style="{style}"><tr>{cells(header, "th")}</tr>{body}</table>'


# Columns of ``table`` that are no scores.
_COLUMNS = (
    "method", "behind_best", "behind_best_se", "separable", "over_guess", "over_guess_se",
    "better_than_guess", "stability", "stability_low", "stability_high", "seconds",
)  # fmt: skip


def check_names(scores: Mapping[str, Score]) -> None:
    """Refuse scores that are called as another column of the table."""
    for name in scores:
        if name in _COLUMNS or name.removesuffix("_se") in scores.keys() - {name}:
            raise ValueError(f"{name!r} is another column of the table; call the score otherwise")


def table_columns(found: Comparison) -> dict[str, np.ndarray]:
    """The columns of ``table``."""
    verdict, row = found.verdict, found.ks.index(found.k)
    results = [found.methods[name] for name in verdict.means]
    columns: dict[str, Any] = {"method": [result.name for result in results]}
    for metric in found.guess:
        scores = np.array([result.split_scores(metric, row) for result in results])
        columns[metric] = scores.mean(axis=1)
        columns[f"{metric}_se"] = error_over_splits(scores, found.test_share)
    gaps = [verdict.behind.get(result.name) for result in results]
    over = [verdict.over_guess[result.name] for result in results]
    stable = [found.stabilities[result.name] for result in results]
    return {
        name: np.asarray(values, dtype=object if name == "method" else None)
        for name, values in {
            **columns,
            "behind_best": [0.0 if gap is None else gap.mean for gap in gaps],
            "behind_best_se": [0.0 if gap is None else gap.error for gap in gaps],
            "separable": [result.name in verdict.separable for result in results],
            "over_guess": [difference.mean for difference in over],
            "over_guess_se": [difference.error for difference in over],
            "better_than_guess": [result.name in verdict.predictive for result in results],
            "stability": [one.value for one in stable],
            "stability_low": [one.low for one in stable],
            "stability_high": [min(one.high, 1.0) for one in stable],
            "seconds": [result.seconds for result in results],
        }.items()
    }


@dataclass(frozen=True, eq=False)
class MethodResult:
    """One method on all splits and on all samples.

    Attributes
    ----------
    name, cls : str
        What it is called here, and its class.
    parameters : dict
    scores : dict of str to ndarray of shape (n_ks, n_splits)
        Of every score, errors positive; NaN beyond what the method ranks on every split. Splits
        on which the score is not defined are left out.
    guess_test : GuessTest
        Whether its predictions, on average over all k, are better than a guess.
    n_reached : int
        Numbers of features that it ranks on every split.
    in_splits : list of dict of int to ndarray
        Features that it chose on the training part of every split at every number, best first.
    chosen : dict of int to ndarray
        The same on all samples.
    ranking : ndarray
        The rank of every feature on all samples.
    seconds : float
        Of one selection, the median over the splits.
    warnings : list of str
        What the fits warned of.
    at_k : dict of str to ndarray of shape (n_splits,)
        By score, what the model gives at the number that is compared, where another model has
        searched for it.
    """

    name: str
    cls: str
    parameters: dict[str, Any]
    scores: dict[str, np.ndarray]
    guess_test: GuessTest
    n_reached: int
    in_splits: list[dict[Any, np.ndarray]]
    chosen: dict[Any, np.ndarray]
    ranking: np.ndarray
    seconds: float
    warnings: list[str]
    at_k: dict[str, np.ndarray] = field(default_factory=dict)

    def split_scores(self, metric: str, row: int) -> np.ndarray:
        """Of every split at the number that is compared, which is in this row."""
        return self.at_k.get(metric, self.scores[metric][row])

    @classmethod
    def from_scores(
        cls,
        name: str,
        selector: Any,
        fits: Sequence[Any],
        data: ComparisonData,
        splits: Sequence[Fold],
        ks: list[int],
        score: Score,
    ) -> MethodResult:
        """From the scores of every split, then the selection and the ranking on all samples.

        ``score`` is the one that decides.
        """
        parts: list[FoldScores]
        whole: Selection
        *parts, (whole, ranking) = fits
        every = [*(fit.selection for fit in parts), whole]
        reached = min(len(fit.columns) for fit in every)
        metrics = next(iter(parts[0].scores.values()))
        scores = {metric: np.full((len(ks), len(parts)), np.nan) for metric in metrics}
        for metric, table in scores.items():
            for j, fit in enumerate(parts):
                (model,) = {name for name, _ in fit.scores}
                table[:reached, j] = fit.curve(model, metric)[:reached]
        return cls(
            name,
            selector_name(selector),
            method_parameters(selector),
            scores,
            better_than_a_guess(parts, data.y, data.task, splits, groups=data.groups, score=score),
            reached,
            [_in_units(fit.columns, data) for fit in parts],
            _in_units(whole.columns, data),
            ranking,
            float(np.median([fit.selection.seconds for fit in parts])),
            list(dict.fromkeys(warning for fit in every for warning in fit.warnings)),
        )

    def stability(self, k: int) -> Stability:
        """Nogueira's index of what the splits chose; NaN where all or nothing is chosen."""
        every = np.arange(len(self.ranking))
        return nogueira_stability([np.isin(every, columns[k]) for columns in self.in_splits])


def _in_units(columns: dict[Any, np.ndarray], data: ComparisonData) -> dict[Any, np.ndarray]:
    """What was chosen at every number, as features or feature groups."""
    return {k: data.units(some) for k, some in columns.items()}


LOWER, NO_BETTER = "*", "†"  # marks of a printed table


def method_columns(comparison: Comparison) -> dict[str, np.ndarray]:
    """The columns of ``table`` with bounds of 95 % intervals, p-values and verdicts."""
    columns, verdict, metric = comparison.table_columns(), comparison.verdict, comparison.metric
    names = columns["method"].tolist()
    row = comparison.ks.index(comparison.k)
    bounds = np.array(
        [
            score_interval(
                comparison.methods[name].split_scores(metric, row),
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
        "verdict": np.array([verdict.describe_method(name) for name in names], dtype=object),
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
        f"{capitalise(comparison.score.title)} of methods using {plural(comparison.k, 'feature')}",
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
        f"Mean over {plural(n_splits, 'split')} of {plural(len(comparison.data.y), 'sample')}, "
        f"scored with {comparison.model_words}; the {verdict.score.best} is in bold. Stability is "
        "Nogueira's index."
    ]
    if verdict.behind:
        n_pairs = math.comb(len(verdict.means), 2)
        found = f"{LOWER} Significantly" if verdict.separable else "No method is significantly"
        notes.append(
            f"{found} {verdict.score.worse} than the best: two-sided corrected resampled t-test "
            f"(Nadeau and Bengio), Bonferroni correction for {plural(n_pairs, 'pair')} of "
            f"methods, {100 * LEVEL:g} % level. Intervals of differences hold simultaneously."
        )
    if len(verdict.predictive) < len(verdict.means):
        notes.append(
            f"{NO_BETTER} Not significantly better than a guess without features: permutation test "
            f"of the held-out predictions, Holm correction, {100 * LEVEL:g} % level."
        )
    return notes
