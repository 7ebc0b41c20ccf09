"""Survival curves of held-out samples by predicted risk, and whether they differ by chance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._text import format_p_value, plural, shortened
from ...meta.progress import Pace
from ...scoring.engine import score_fold
from ...scoring.folds import make_folds
from ...scoring.likelihood_models import MAX_RATIOS, hazard_columns
from ...scoring.survival import RISK_NAMES, KaplanMeier, kaplan_meier, log_rank, risk_groups
from ...selection.selected_data import SelectedData
from ...selectors.around import group_arguments
from ...validation.exchange import Exchange
from ...validation.target import with_task
from .claims_section import MEASURED_KEPT, expected_seconds
from .elements import Chart, Column, Section, Table, make_chart, make_table
from .packing import plain, round_digits

_MIN_SHUFFLES = 19  # fewer cannot reach the 5 % level
# So many shuffles that nobody asked for are done where they take as long as the selection at most,
# or some seconds. Both are counted by what is fitted: the clock is not to decide a p-value.
_SHUFFLES, _SECONDS = 39, 5.0


@dataclass(frozen=True)
class HeldOutSurvival:
    """Samples in thirds of predicted risk, each predicted by folds that did not see it.

    Attributes
    ----------
    y : structured ndarray
    risk : ndarray
        Predicted by a Cox model on features that were selected without the sample.
    thirds : ndarray of int
        0, 1 and 2: low, medium and high risk among the samples of the same fold.
    statistic : float
        Of the log-rank test of the three groups.
    p_value : float or None
        Share of shuffles of y with a statistic as large, everything repeated on each; None where
        there were too few. Whole groups are exchanged, within strata.
    n_shuffles : int
    n_folds : int
    why_not : str
        A sentence where shuffles cannot give a p-value.
    time_name : str
        What the time is called.
    """

    y: np.ndarray
    risk: np.ndarray
    thirds: np.ndarray
    statistic: float
    p_value: float | None
    n_shuffles: int
    n_folds: int
    why_not: str = ""
    time_name: str = "time"

    @property
    def approximate(self) -> float:
        """P-value of the log-rank test by the chi-squared distribution."""
        return log_rank(self.y, self.thirds).p_value

    @property
    def curves(self) -> dict[str, KaplanMeier]:
        """The survival curve of every third that has samples."""
        present = [(name, self.thirds == third) for third, name in enumerate(RISK_NAMES)]
        return {name: kaplan_meier(self.y[rows]) for name, rows in present if rows.any()}

    def sentences(self) -> list[str]:
        """What the curves say, and how sure that is."""
        said = [
            f"Every sample was assigned to a third of low, medium or high risk by a Cox model on "
            f"features that were selected without it ({self.n_folds} folds)."
        ]
        if self.p_value is None:
            more = (
                f"Shuffles cannot give a better one: {self.why_not}."
                if self.why_not
                else "select(..., permutations=199), or --null 199 on the command line, repeats "
                "the whole selection on shuffled survival times instead."
            )
            return [
                *said,
                f"Log-rank test of the three curves: {format_p_value(self.approximate)}, by the "
                "chi-squared distribution. That is approximate, because the folds share samples. "
                f"{more}",
            ]
        as_different = round(self.p_value * (self.n_shuffles + 1)) - 1
        shuffles = (
            f"in {self.n_shuffles - as_different} of "
            f"{plural(self.n_shuffles, 'repetition')} of the whole selection, folds included, "
            "on shuffled survival times"
        )
        doubt = "" if self.p_value <= 0.05 else "do not differ significantly: they "
        end = f"The three curves {doubt}differ more than {shuffles} (log-rank test, "
        return [*said, f"{end}{format_p_value(self.p_value)})."]


def held_out_survival(
    kept: SelectedData,
    X: Any,
    *,
    n_folds: int = 5,
    seed: int = 0,
    prepare: Any = None,
    groups: Any = None,
    n_shuffles: int | None = None,
    n_searched: int = 0,
    time_name: str = "time",
) -> HeldOutSurvival | None:
    """Predict the risk of every sample by folds without it; None where that is impossible.

    Parameters
    ----------
    kept : SelectedData
        The selection; its number of features is selected again in every fold.
    X : array or sparse matrix
        What ``prepare`` is fitted to in every fold, or the X of ``kept``.
    n_folds, seed : int
        Of the folds.
    prepare : transformer or None, default=None
    groups : array of shape (n_samples,) or None, default=None
        Samples of a group stay together, in folds and in shuffles.
    n_shuffles : int or None, default=None
        How often everything is repeated on shuffled y; None: 19 to 39 times where that takes no
        longer than the selection did, or seconds.
    n_searched : int, default=0
        How many features all fits of the selection have searched, for that.
    time_name : str, default="time"
        What the time is called.
    """
    n_kept, y = kept.n_kept, kept.y
    if not n_kept or kept.task != "survival" or y["event"].sum() < n_folds:
        return None
    selector = with_task(kept.clone_selector(), "survival")
    how = {"prepare": prepare, "ks": [n_kept], "task": "survival", "models": ["cox"]}
    how |= {"metrics": ["concordance"], "standardize": True}
    how["fit_params"] = group_arguments(selector, groups)
    exchange = Exchange.from_target(y, groups=groups)

    def predict_risks(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        risk, thirds = np.zeros(len(y)), np.zeros(len(y), dtype=np.int64)
        for train, test in make_folds(y, n_folds, seed=seed, groups=groups):
            found = score_fold(selector, X, y, train, test, **how)
            (risk[test],) = found.predictions.values()
            thirds[test] = risk_groups(risk[test])
        return risk, thirds

    def shuffle_statistic(order: np.ndarray) -> float:
        return log_rank(y[order], predict_risks(y[order])[1]).statistic

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            risk, thirds = predict_risks(y)
            statistic = log_rank(y, thirds).statistic
            if n_shuffles is None:
                n_shuffles = default_n_shuffles(selector, X, n_folds, n_kept, n_searched)
            count, rng = 0 if exchange.too_few else n_shuffles, np.random.default_rng(seed)
            pace = Pace("the log-rank test of the report", count, "shuffle of survival times")
            shuffled = (exchange.try_order(shuffle_statistic, rng) for _ in range(count))
            larger = sum(value >= statistic - 1e-9 for value in pace.follow(shuffled))
        except ValueError:
            return None
    p_value = (1 + larger) / (1 + count) if count >= _MIN_SHUFFLES else None
    why_not = exchange.too_few
    return HeldOutSurvival(y, risk, thirds, statistic, p_value, count, n_folds, why_not, time_name)


def default_n_shuffles(
    selector: Any, X: Any, n_folds: int, n_kept: int, n_searched: int = 0
) -> int:
    """How many shuffles nobody asked for; 0 where too few of them are no longer than the selection.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve import HSICLassoSelector, LikelihoodForwardSelector
    >>> from sparsieve.app.report.survival import default_n_shuffles
    >>> default_n_shuffles(LikelihoodForwardSelector(), np.zeros((100, 100)), 5, n_kept=10)
    39
    >>> large = HSICLassoSelector(), np.zeros((100, 2000))
    >>> default_n_shuffles(*large, 5, n_kept=10), default_n_shuffles(*large, 5, 10, n_searched=1000)
    (0, 20)
    """
    searched = n_folds * n_kept  # by one shuffle
    share = min(1.0, n_kept / MEASURED_KEPT)  # of a fit that looks for as many as were measured
    seconds = n_folds * share * expected_seconds(selector, X)
    count = min(_SHUFFLES, int(max(n_searched / searched, _SECONDS / seconds)))
    return count if count >= _MIN_SHUFFLES else 0


def survival_chart(found: HeldOutSurvival) -> Chart:
    """Kaplan-Meier curves of the thirds of risk."""
    rows, names = [], []
    for name, curve in found.curves.items():
        events, samples = int(curve.events.sum()), int(curve.events.sum() + curve.censored.sum())
        label = f"{name} ({plural(samples, 'sample')}, {plural(events, 'event')})"
        names.append(label)
        points = zip(curve.time, curve.survival, curve.censored, strict=True)
        rows += [(float(t), float(s), label, "yes" if c else "no") for t, s, c in points]
    how = f"by {found.n_shuffles} shuffles of the whole selection"
    p = found.p_value
    if p is None:
        p, how = found.approximate, "by the chi-squared distribution, approximate"
    titles = {"x": found.time_name, "y": "share without the event", "series": "predicted risk"}
    return make_chart(
        "Survival of held-out samples by predicted risk",
        "lines",
        rows,
        {**titles, "censored": "censored here"},
        "Kaplan-Meier curves of the thirds of risk, each sample predicted by a Cox model and "
        f"features that were found without it ({found.n_folds} folds). Upright marks: censored "
        f"samples. Log-rank test {how}: {format_p_value(p)}.",
        steps=True,
        marks=False,
        from_zero=True,
        series_names=names,
        whole_legend=True,
        test=f"log-rank test: {format_p_value(p)}",
    )


def survival_section(found: HeldOutSurvival | None, kept: SelectedData) -> Section | None:
    """The curves, what they say, who was still under observation, and hazard ratios."""
    if found is None:
        return None
    ratios = _ratio_table(kept)
    return Section(
        "Survival by predicted risk",
        found.sentences(),
        [survival_chart(found), _table(found), *([] if ratios is None else [ratios])],
        is_open=True,
    )


def _ratio_table(kept: SelectedData) -> Table | None:
    """One row per kept feature, best first."""
    if not 0 < len(kept.order) <= MAX_RATIOS:
        return None
    found = hazard_columns(kept.columns(kept.order), kept.y)
    if not found:
        return None
    titles = ("hazard ratio", "95 % interval from", "to")
    numbers = [
        Column(title, [round_digits(plain(value), 4) for value in values])
        for title, values in zip(titles, found.values(), strict=True)
    ]
    note = (
        "By how much the hazard is multiplied where the feature is larger by one unit and the "
        "others are the same: a Cox model of all selected features, without a penalty. The "
        "features were chosen on the same samples, which makes the ratios look further from 1 than "
        "they are."
        + " Empty: the feature says no more than the others."
        * bool(np.isnan(next(iter(found.values()))).any())
    )
    names = Column("feature", shortened([kept.names[j] for j in kept.order]))
    return Table("Hazard ratios", [names, *numbers], note)


def _table(found: HeldOutSurvival) -> Table:
    last = float(found.y["time"].max())
    times = np.linspace(0.0, last, 6)[:-1]
    rows = []
    for name, curve in found.curves.items():
        mine = found.y[found.thirds == RISK_NAMES.index(name)]
        row: dict[str, Any] = {"predicted risk": name, "samples": len(mine)}
        row["events"] = int(curve.events.sum())
        row["median survival"] = None if np.isnan(curve.median) else curve.median
        row |= {f"at risk at {t:.3g}": int((mine["time"] >= t).sum()) for t in times}
        rows.append(row)
    note = "Median survival: the time by which half of them had the event; empty if never reached."
    return make_table("Thirds of risk", rows, note)
