"""What a comparison found, and everything to look at it with."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnosis import diagnose
from ..meta.guess import GuessTest, against_guess, mean_votes, true_votes
from ..preprocessing.prepare import takes_logarithms
from ..registry import name_of
from ..scoring import nogueira_stability
from ..scoring.engine import FoldScores
from ..scoring.folds import Fold, error_over_splits
from ..scoring.over_splits import SplitDifference, compare_methods, split_difference
from ..scoring.scorers import Score
from ..scoring.selections import Selection
from ..scoring.stability import Stability
from ..selectors.adapter import parameters_of
from ..selectors.table import as_frame
from .agreement import combinations_of, consensus_columns, rank_correlations, shared_counts
from .data import ComparisonData
from .verdict import Verdict
from .view import comparison_view

if TYPE_CHECKING:
    from ..plotting import AccuracyCurveDisplay

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

    @classmethod
    def of(
        cls,
        name: str,
        selector: Any,
        fits: Sequence[Any],
        data: ComparisonData,
        splits: Sequence[Fold],
        ks: list[int],
    ) -> MethodResult:
        """From the scores of every split, then the selection and the ranking on all samples."""
        parts: list[FoldScores]
        whole: Selection
        *parts, (whole, ranking) = fits
        every = [*(fit.selection for fit in parts), whole]
        classes = np.unique(data.y) if data.task == "classification" else None
        votes = [mean_votes(list(fit.predictions.values()), classes) for fit in parts]
        reached = min(len(fit.columns) for fit in every)
        metrics = next(iter(parts[0].scores.values()))
        scores = {metric: np.full((len(ks), len(parts)), np.nan) for metric in metrics}
        for metric, table in scores.items():
            for j, fit in enumerate(parts):
                (model,) = {name for name, _ in fit.scores}
                table[:reached, j] = fit.curve(model, metric)[:reached]
        return cls(
            name,
            name_of(selector),
            parameters_of(selector),
            scores,
            against_guess(votes, true_votes(data.y, classes), splits, data.groups),
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


@dataclass(frozen=True, repr=False, eq=False)
class Comparison:
    """What :func:`~sparsieve.compare` found.

    Attributes
    ----------
    k : int
        The number of features at which methods are compared.
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
    recommendation : str
        What to conclude, in words.
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
    model, test_share, n_folds, n_repeats, random_state
        How it was measured; ``random_state`` is None where splits were given.
    data : ComparisonData
        On what.
    leaks : list of str
        Sentences of :func:`~sparsieve.diagnose` on copies of samples, on features that know too
        much, on ids and on raw counts; found when first asked for or shown.
    prepare : transformer or None
        What was done to X first.
    measured : list of str
        Sentences on the model and on splits where a score is not defined, if there are any.

    See Also
    --------
    sparsieve.compare : Several methods on the same folds.
    sparsieve.report.comparison_report : Report on compared methods.

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
    model: str
    scoring: dict[str, Score]
    guess: dict[str, np.ndarray]
    all_features: dict[str, np.ndarray] | None
    test_share: float
    n_folds: int
    n_repeats: int
    random_state: int | None
    prepare: Any = None
    measured: list[str] = field(default_factory=list)

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
        gains = {n: turned(result.scores[self.metric][row]) for n, result in self.methods.items()}
        guess, found = turned(self.guess[self.metric]), compare_methods(gains, self.test_share)
        return Verdict(
            **{**vars(found), "means": {name: turned(mean) for name, mean in found.means.items()}},
            score=self.score,
            k=self.k,
            guess=float(turned(np.mean(guess))),
            over_guess={name: self._over_guess(gains[name], guess) for name in found.means},
            guess_tests={name: result.guess_test for name, result in self.methods.items()},
            unit=self.data.unit,
        )

    def _over_guess(self, gains: np.ndarray, guess: np.ndarray) -> SplitDifference:
        if not np.isfinite(guess).all():  # a scorer of the user's may not take such a model
            return SplitDifference(np.nan, np.nan, np.nan)
        return split_difference(gains, guess, self.test_share)

    @property
    def recommendation(self) -> str:
        """Which methods to prefer and how sure that is; names no winner within the error."""
        from ..report.wording import duration

        verdict = self.verdict
        said = verdict.sentences()
        level = [name for name in verdict.level_with_best if name in verdict.predictive]
        if len(level) > 1:
            fastest = min(level, key=lambda name: self.methods[name].seconds)
            took = duration(self.methods[fastest].seconds)
            said.append(
                "Among the methods that are not significantly lower, " * bool(verdict.separable)
                + f"{fastest} is the fastest ({took} per fit){self._steadiest(level)}."
            )
        if verdict.predictive and self.all_features is not None:
            every = float(self.all_features[self.metric].mean())
            said.append(
                f"Using all {len(self.data.names):,} features, the same model scores "
                f"{verdict.shown(every)}."
            )
        for name, reason in self.left_out.items():
            said.append(f"{name} was left out: {reason.rstrip('.')}.")
        return " ".join(said)

    def _steadiest(self, level: list[str]) -> str:
        """Whose choices repeat most from split to split, where that can be told."""
        from ..report.wording import listed_names

        known = {
            name: self.stabilities[name]
            for name in level
            if np.isfinite(self.stabilities[name].value)
        }
        top = max(known.values(), default=None)
        steady = [name for name, found in known.items() if top and found.value >= top.low]
        if top is None or len(steady) == len(level):
            return ""
        if steady == [min(level, key=lambda name: self.methods[name].seconds)]:
            steady = ["it"]
        return (
            f", and {listed_names(steady)} chose the most stable {self.data.unit}s (stability "
            f"{top.value:.2f}, 95 % interval {top.low:.2f} to {min(top.high, 1.0):.2f})"
        )

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
        verdict, row = self.verdict, self.ks.index(self.k)
        results = [self.methods[name] for name in verdict.means]
        columns: dict[str, Any] = {"method": [result.name for result in results]}
        for metric in self.guess:
            scores = np.array([result.scores[metric][row] for result in results])
            columns[metric] = scores.mean(axis=1)
            columns[f"{metric}_se"] = error_over_splits(scores, self.test_share)
        gaps = [verdict.behind.get(result.name) for result in results]
        over = [verdict.over_guess[result.name] for result in results]
        stable = [self.stabilities[result.name] for result in results]
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
                "stability": [found.value for found in stable],
                "stability_low": [found.low for found in stable],
                "stability_high": [min(found.high, 1.0) for found in stable],
                "seconds": [result.seconds for result in results],
            }.items()
        }

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
            for methods, features in combinations_of(self.chosen)
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
    def notes(self) -> list[str]:
        """What a reader must know of how it was measured."""
        found = list(self.measured)
        n_used, n_given = len(self.data.y), self.data.n_given
        if n_used < n_given:
            found.append(
                f"methods were compared on {n_used:,} of the {n_given:,} samples, drawn at random; "
                "set max_samples to use more"
            )
        short = [r for r in self.methods.values() if r.n_reached < len(self.ks)]
        if short:
            least = min(short, key=lambda result: result.n_reached)
            found.append(
                f"{least.name} ranks fewer than {self.ks[least.n_reached]} {self.data.unit}s with "
                f"its parameters, so the methods are compared with fewer {self.data.unit}s"
            )
        return found

    def report(self, path: str | os.PathLike[str], *, command: str = "") -> None:
        """Write a report on the comparison: one HTML file to open in any browser.

        Parameters
        ----------
        path : str or path-like
            Where to; a file of this name is replaced.
        command : str, default=""
            The command line that made it, to be shown.
        """
        from ..report import comparison_report
        from ..report.check import check_installed

        check_installed()
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
            For CSV files, as in :func:`~sparsieve.io.write_table`.

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
        from ..report.method_table import method_table
        from ..report.tables import write_tables

        write_tables(path, [method_table(self)], escape_formulas=escape_formulas)

    def plot(self, *, ax: Any = None, **line_kw: Any) -> AccuracyCurveDisplay:
        """Draw the scores over the number of features, one line and band per method.

        Parameters
        ----------
        ax : matplotlib axes or None, default=None
            Where to draw; None makes a new figure.
        **line_kw : dict
            For the lines, as in ``matplotlib.axes.Axes.plot``.

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
        from ..plotting.chart_display import ChartDisplay
        from ..plotting.saving import file_name, save_displays
        from ..report import comparison_report
        from ..report.stills import charts_of

        charts = charts_of(comparison_report(self).sections)
        displays = ((file_name(chart.title), ChartDisplay(chart)) for chart in charts)
        return save_displays(displays, folder, width=width, formats=formats)

    def _frame(self, columns: dict[str, np.ndarray]) -> Any:
        made = as_frame(columns, self.data.library)
        if made is not columns:
            return made
        rows = zip(*(column.tolist() for column in columns.values()), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]

    def __repr__(self) -> str:
        count = f"{len(self.methods)} method{'s' * (len(self.methods) != 1)}"
        notes = "".join(f"note: {sentence}\n" for sentence in self.leaks)
        return f"{notes}{count} compared on {len(self.data.y)} samples: {self.recommendation}"

    def _repr_html_(self) -> str:
        return comparison_view(self)
