"""What a comparison found, and everything to look at it with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...diagnosis import diagnose
from ...meta.guess import TestedModel
from ...preprocessing.covariates import takes_logarithms
from ...preprocessing.table import rows_of
from ...scoring.folds import error_over_splits
from ...scoring.models import NEIGHBOURS
from ...scoring.scorers import Score
from ...scoring.stability import (
    SplitDifference,
    Stability,
    compare_methods,
    score_of_choosing,
    split_difference,
)
from ...selectors.ranked import as_frame
from ..report import comparison_report
from ..report.packing import collect_charts
from ..report.page import check_packages
from ..report.tables import write_tables
from .data import ComparisonData
from .method_result import MethodResult, comparison_view, method_rows, method_table, table_columns
from .verdict import (
    Peak,
    Verdict,
    consensus_columns,
    count_combinations,
    describe_measurement,
    notes,
    optimism,
    rank_correlations,
    recommendation,
    shared_counts,
)

if TYPE_CHECKING:
    from ..plotting import AccuracyCurveDisplay


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What :func:`~sparsieve.compare` found.

    Attributes
    ----------
    k : int
        The number of features at which methods are compared, chosen by ``rule``.
    how_chosen : str
        How it was chosen, in words.
    ks : list of int
        All numbers that were scored.
    methods : dict of str to MethodResult
        By name; scores of every split, features, seconds.
    left_out : dict of str to str
        Methods that failed on some split, and why.
    table : DataFrame or list of dict
        One row per method, the best score first: mean and standard error, difference to the
        first and to a guess, whether these are significant, stability, seconds.
    consensus : DataFrame or list of dict
        One row per feature that any fit chose: how many methods chose it, and in which share of
        the fits on training parts it was chosen.
    headline, recommendation : str
        What to conclude, in a sentence and in full.
    verdict : Verdict
        The differences behind these words.
    guess : dict of str to ndarray
        Scores without any feature, on every split.
    all_features : dict of str to ndarray or None
        Scores of the same model with all features; None where that would take long.
    scoring : dict of str to Score
        What the columns of scores mean; the first decides.
    metric : str
        The name of the first.
    rule, model, model_words, test_share, n_folds, n_repeats, random_state
        How it was measured; ``random_state`` is None where splits were given.
    data : ComparisonData
        On what.
    leaks : list of str
        Sentences of :func:`~sparsieve.diagnose` on copies of samples, on features that know too
        much, on ids and on raw counts; found when first asked for or shown.
    prepare : transformer or None
        What was done to X first.
    interrupted : bool
        Whether the user interrupted it: methods that were not finished are left out.
    measured : list of str
        Sentences on the model and on splits where a score is not defined, if there are any.
    estimator : estimator or None
        The model, where the user gave one.
    split_repeats : ndarray of int
        Which repeat of the folds every split belongs to.
    score_of_choosing : float or None
        What the best method scores where it is chosen without the split that it is scored on:
        the score of ``verdict.best`` is a little too good, because the best was chosen by it.
        None with a single method, or splits that cannot say it.

    See Also
    --------
    sparsieve.compare : Several methods on the same folds.
    sparsieve.app.report.comparison_report : Report on compared methods.

    Examples
    --------
    >>> import sparsieve
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> found = sparsieve.compare(X, y, ["fisher", "mrmr"], ks=[2], n_repeats=1)
    >>> sorted(found.methods), found.k
    (['fisher', 'mrmr'], 2)
    """

    data: ComparisonData
    methods: dict[str, MethodResult]
    left_out: dict[str, str]
    ks: list[int]
    k: int
    rule: str
    how_chosen: str
    model: str
    model_words: str
    scoring: dict[str, Score]
    guess: dict[str, np.ndarray]
    all_features: dict[str, np.ndarray] | None
    test_share: float
    n_folds: int
    n_repeats: int
    random_state: int | None
    prepare: Any = None
    measured: list[str] = field(default_factory=list)
    interrupted: bool = False
    estimator: Any = None
    split_repeats: Any = None

    @property
    def metric(self) -> str:
        """The score that decides, by its name in ``table``."""
        return next(iter(self.scoring))

    @property
    def score(self) -> Score:
        """The score that decides."""
        return self.scoring[self.metric]

    @cached_property
    def leaks(self) -> list[str]:
        """What a reader must know before anything else."""
        data = self.data
        task = data.task if data.y.ndim == 1 else "auto"
        found = diagnose(data.X, data.y, feature_names=data.names, task=task, try_models=False)
        return found.first(groups=data.groups, prepared=takes_logarithms(self.prepare))

    @cached_property
    def verdict(self) -> Verdict:
        """What the scores at ``k`` allow to say."""
        row, turned = self.ks.index(self.k), self.score.turned
        gains = {n: turned(r.split_scores(self.metric, row)) for n, r in self.methods.items()}
        guess, found = turned(self.guess[self.metric]), compare_methods(gains, self.test_share)
        return Verdict(
            **{**vars(found), "means": {name: turned(mean) for name, mean in found.means.items()}},
            score=self.score,
            k=self.k,
            guess=float(turned(np.mean(guess))),
            over_guess={name: self._over_guess(gains[name], guess) for name in found.means},
            guess_tests={name: result.guess_test for name, result in self.methods.items()},
            unit=self.data.unit,
            peak=self._peak(turned(self.methods[found.best].scores[self.metric][row])),
            tested=self._model_phrase,
        )

    @cached_property
    def score_of_choosing(self) -> float | None:
        """What the best method scores where it is chosen on the other splits."""
        row, turned = self.ks.index(self.k), self.score.turned
        gains = [turned(one.split_scores(self.metric, row)) for one in self.methods.values()]
        found = score_of_choosing(np.array(gains), self.split_repeats)
        return None if found is None else float(turned(found))

    @property
    def _model_phrase(self) -> TestedModel:
        """Which model predicted, for what is said where it is no better than a guess."""
        is_linear = self.estimator is None and self.model not in NEIGHBOURS
        return TestedModel(self.data.task, "" if is_linear else self.model_words)

    def _peak(self, compared: np.ndarray) -> Peak | None:
        """The highest mean of all methods and numbers of features.

        None where that is within one standard error of the paired differences from the scores of
        the best method at ``k``, where one method only was asked for, or where another model than
        the one that is compared has searched for the number.
        """
        if len(self.methods) == 1 or any(one.at_k for one in self.methods.values()):
            return None
        every = [
            (name, k, self.score.turned(result.scores[self.metric][row]))
            for row, k in enumerate(self.ks)
            for name, result in self.methods.items()
            if row < result.n_reached
        ]
        name, k, gains = max(every, key=lambda one: one[2].mean())
        error = float(error_over_splits((gains - compared)[None, :], 0.0)[0])
        if (gains - compared).mean() <= error + 1e-12:
            return None
        return Peak(name, k, float(self.score.turned(gains.mean())))

    def _over_guess(self, gains: np.ndarray, guess: np.ndarray) -> SplitDifference:
        if not np.isfinite(guess).all():  # a scorer of the user's may not take such a model
            return SplitDifference(np.nan, np.nan, np.nan)
        return split_difference(gains, guess, self.test_share)

    @property
    def headline(self) -> str:
        """What is found in a sentence, and by how much its score is too good where that shows."""
        return " ".join(filter(None, [self.verdict.sentences()[0], optimism(self)]))

    @property
    def recommendation(self) -> str:
        """Which methods to prefer and how sure that is; names no winner within the error."""
        return recommendation(self)

    @cached_property
    def stabilities(self) -> dict[str, Stability]:
        """Nogueira's index of every method at ``k``, with its interval."""
        return {name: result.stability(self.k) for name, result in self.methods.items()}

    @property
    def chosen(self) -> dict[str, np.ndarray]:
        """The ``k`` features that every method chose on all samples, best first."""
        return {name: result.chosen[self.k] for name, result in self.methods.items()}

    @property
    def table(self) -> Any:
        """One row per method, the best score first."""
        return self._frame(self.table_columns())

    @property
    def consensus(self) -> Any:
        """One row per feature that any fit chose, what most methods chose first."""
        return self._frame(self.consensus_columns())

    def table_columns(self) -> dict[str, np.ndarray]:
        """The columns of ``table``."""
        return table_columns(self)

    def table_rows(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Headings and rows of the methods as they are printed, with intervals and verdicts."""
        return method_rows(self)

    def consensus_columns(self) -> dict[str, np.ndarray]:
        """The columns of ``consensus``."""
        return consensus_columns(
            self.chosen,
            {
                name: [found[self.k] for found in result.in_splits]
                for name, result in self.methods.items()
            },
            {name: result.ranking for name, result in self.methods.items()},
            self.data.unit_names,
        )

    @property
    def combinations(self) -> list[tuple[tuple[str, ...], list[str]]]:
        """Features by exactly which methods chose them on all samples."""
        names = self.data.unit_names
        return [
            (methods, [names[j] for j in features])
            for methods, features in count_combinations(self.chosen)
        ]

    @property
    def correlations(self) -> np.ndarray:
        """Spearman's correlation of every two rankings over all features, as in ``methods``."""
        return rank_correlations({n: result.ranking for n, result in self.methods.items()})

    @property
    def shared(self) -> np.ndarray:
        """How many of their ``k`` features every two methods have in common."""
        return shared_counts(self.chosen)

    def curve(self, method: str, metric: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Numbers of features that a method reaches, its mean scores, their standard errors."""
        result = self.methods[method]
        scores = result.scores[metric][: result.n_reached]
        ks = np.array(self.ks[: result.n_reached])
        return ks, scores.mean(axis=1), error_over_splits(scores, self.test_share)

    @property
    def how_measured(self) -> str:
        """The model, the folds and how the number of features was chosen, in one sentence."""
        return describe_measurement(self)

    @property
    def notes(self) -> list[str]:
        """What a reader must know of how it was measured."""
        return notes(self)

    def report(self, path: str | os.PathLike[str], *, command: str = "") -> None:
        """Write a report on the comparison: one HTML file to open in any browser.

        Parameters
        ----------
        path : str or path-like
            Where to; a file of this name is replaced.
        command : str, default=""
            The command line that made it, to be shown.
        """
        check_packages()
        comparison_report(self, command=command).save(path)

    def export(self, path: str | os.PathLike[str], *, escape_formulas: bool = False) -> None:
        """Write the table of methods for a paper, an issue or another program.

        Parameters
        ----------
        path : str or path-like
            A file of this name is replaced. Its suffix says the format: ``.tex`` is a LaTeX table
            (for the package booktabs) and ``.md`` a Markdown table, both with the best score in
            bold, intervals, and marks on methods that are significantly lower; ``.csv`` holds
            the numbers of ``table`` with interval bounds, p-values and verdicts.
        escape_formulas : bool, default=False
            For CSV files, as in :func:`~sparsieve.app.io.write_table`.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import sparsieve
        >>> from sklearn.datasets import load_wine
        >>> X, y = load_wine(return_X_y=True, as_frame=True)
        >>> found = sparsieve.compare(X, y, ["fisher", "mrmr"], ks=[2], cv=2, n_repeats=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder) / "table.tex"
        ...     found.export(path)
        ...     "toprule" in path.read_text()
        True
        """
        write_tables(path, [method_table(self)], escape_formulas=escape_formulas)

    def plot(self, *, ax: Any = None, **line_kw: Any) -> AccuracyCurveDisplay:
        """Draw the scores over the number of features, one line per method.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines, as in ``matplotlib.axes.Axes.plot``; ``bands=True`` adds a band of one
            standard error to each, which one or two lines have anyway.

        Returns
        -------
        display : AccuracyCurveDisplay
        """
        from ..plotting import AccuracyCurveDisplay
        from ..plotting.accuracy_curve import ScoreCurve

        curves = [ScoreCurve(name, *self.curve(name, self.metric)) for name in self.verdict.means]
        display = AccuracyCurveDisplay(curves, self.score.label, {"compared": self.k}, "compared")
        return display.plot(ax=ax, **line_kw)

    def save_figures(
        self,
        folder: str | os.PathLike[str],
        *,
        width: str | float = "single",
        formats: Sequence[str] = ("svg", "pdf"),
    ) -> list[Path]:
        """Write every chart of the report as files for a paper.

        Parameters
        ----------
        folder : str or path-like
            Where to; it is made where it does not exist. Files of the same names are replaced.
        width : {"single", "double"} or float, default="single"
            Of the figures: 85 mm, 180 mm, or a number of millimetres.
        formats : sequence of {"svg", "pdf", "png"}, default=("svg", "pdf")
            What to write of each.

        Returns
        -------
        paths : list of Path
            The files written; the last is captions.md with a caption and an alternative text for
            every figure.
        """
        from ..plotting.kinds import ChartDisplay
        from ..plotting.selection import file_name, save_displays

        charts = collect_charts(comparison_report(self))
        displays = ((file_name(chart.title), ChartDisplay(chart)) for chart in charts)
        return save_displays(displays, folder, width=width, formats=formats)

    def _frame(self, columns: dict[str, np.ndarray]) -> Any:
        made = as_frame(columns, self.data.library)
        return rows_of(columns) if made is columns else made

    def __repr__(self) -> str:
        count = f"{len(self.methods)} method{'s' * (len(self.methods) != 1)}"
        notes = "".join(f"note: {sentence}\n" for sentence in self.leaks)
        return f"{notes}{count} compared on {len(self.data.y)} samples: {self.recommendation}"

    def _repr_html_(self) -> str:
        return comparison_view(self)
