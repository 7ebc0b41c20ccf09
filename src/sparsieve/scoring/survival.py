"""Survival times: concordance, Kaplan-Meier curves, log-rank test, residuals, groups of risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2, norm

from .._checks import check_choice, check_real
from ..validation.survival import Survival, as_survival, asked_times, survival_parts
from .metrics import SURVIVAL_METRICS

RISK_NAMES = ("low risk", "medium risk", "high risk")


class KaplanMeier(NamedTuple):
    """A survival curve: constant from each of its times to the next.

    Attributes
    ----------
    time : ndarray
        0 and the times of events and censorings, rising.
    survival, low, high : ndarray
        Estimated probability of no event up to and including each time, and its 95 % confidence
        interval by Greenwood's formula on the log-log scale.
    at_risk, events, censored : ndarray of int
        Samples under observation just before each time, events and censorings at it.
    """

    time: np.ndarray
    survival: np.ndarray
    low: np.ndarray
    high: np.ndarray
    at_risk: np.ndarray
    events: np.ndarray
    censored: np.ndarray

    def evaluate(self, times: Any) -> np.ndarray:
        """The survival probability at these times; 1 before the first."""
        place = np.searchsorted(self.time, asked_times(times), side="right")
        return np.concatenate([[1.0], self.survival])[place]

    @property
    def median(self) -> float:
        """The first time at which half of the samples or more have had the event; or NaN."""
        reached = np.flatnonzero(self.survival <= 0.5)
        return float(self.time[reached[0]]) if len(reached) else float("nan")


def kaplan_meier(y: Any) -> KaplanMeier:
    """Estimate the survival curve of some samples by Kaplan and Meier's method.

    Parameters
    ----------
    y : structured array, data frame or tuple (time, event)
        Survival times; samples with an entry time are at risk only after it.

    Returns
    -------
    curve : KaplanMeier

    Examples
    --------
    >>> from sparsieve.scoring.survival import kaplan_meier
    >>> curve = kaplan_meier(([1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1]))
    >>> curve.time.tolist(), curve.survival.round(2).tolist()
    ([0.0, 1.0, 2.0, 3.0, 4.0], [1.0, 0.75, 0.5, 0.5, 0.0])
    """
    parts = survival_parts(as_survival(y))
    time, at_risk, events, censored = _table(parts)
    hazard = np.divide(events, at_risk, out=np.zeros(len(time)), where=at_risk > 0)
    survival = np.cumprod(1.0 - hazard)
    left = at_risk * (at_risk - events)
    terms = np.divide(events, left, out=np.zeros(len(time)), where=left > 0)
    low, high = _log_log_interval(survival, np.cumsum(terms))
    return KaplanMeier(time, survival, low, high, at_risk, events, censored)


def _log_log_interval(survival: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    inside = (survival > 0) & (survival < 1)
    low, high = survival.copy(), survival.copy()
    logs = np.log(survival[inside])
    width = float(norm.ppf(0.975)) * np.sqrt(variance[inside]) / np.abs(logs)
    low[inside] = survival[inside] ** np.exp(width)
    high[inside] = survival[inside] ** np.exp(-width)
    return low, high


def _table(y: Survival) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times with 0 in front; samples at risk just before each, events and censorings at it."""
    moments, places = np.unique(np.concatenate([[0.0], y.time]), return_inverse=True)
    places = places[1:]
    events = np.bincount(places, weights=y.event, minlength=len(moments)).astype(np.int64)
    ended = np.bincount(places, minlength=len(moments))
    gone = np.concatenate([[0], np.cumsum(ended)[:-1]])
    here = np.full(len(moments), len(y.time))
    if y.entry is not None:
        here = np.searchsorted(np.sort(y.entry), moments, side="left")  # entry < time
    return moments, here - gone, events, ended - events


def _censoring_survival(y: Survival, times: np.ndarray) -> np.ndarray:
    """Probability of not being censored up to some times, by Kaplan and Meier.

    Where an event and a censoring share a time the event comes first.
    """
    moments, at_risk, events, censored = _table(y)
    stays = np.cumprod(1.0 - censored / np.maximum(at_risk - events, 1))
    return stays[np.searchsorted(moments, times, side="right") - 1]


def martingale_residuals(y: Any) -> np.ndarray:
    """Subtract from the events that happened those expected by the model without features.

    A plain regression on them is the cheap way to rank features for survival times: their
    product with a column of X is the score statistic of the Cox model (with Breslow's ties).

    Parameters
    ----------
    y : structured array, data frame or tuple (time, event)
        Survival times, with entry times and strata where there are some.

    Returns
    -------
    residuals : ndarray of shape (n_samples,)
        Their sum is 0; the largest are those of early events.

    See Also
    --------
    sparsieve.scoring.concordance_index : How well a risk orders the samples.

    Examples
    --------
    >>> from sparsieve.scoring import martingale_residuals
    >>> martingale_residuals(([1.0, 2.0, 3.0], [1, 0, 1])).round(3).tolist()
    [0.667, -0.333, -0.333]
    """
    parts = survival_parts(as_survival(y))
    expected = np.empty(len(parts.time))
    for rows in _strata(parts):
        part = Survival(parts.time[rows], parts.event[rows], _rows(parts.entry, rows))
        moments, at_risk, events, _ = _table(part)
        hazard = np.divide(events, at_risk, out=np.zeros(len(moments)), where=at_risk > 0)
        total = np.cumsum(hazard)
        expected[rows] = total[np.searchsorted(moments, part.time)]
        if part.entry is not None:
            before = np.searchsorted(moments, part.entry, side="right")
            expected[rows] -= np.concatenate([[0.0], total])[before]
    return parts.event - expected


def _strata(y: Survival) -> list[np.ndarray]:
    if y.strata is None:
        return [np.arange(len(y.time))]
    return [np.flatnonzero(y.strata == stratum) for stratum in np.unique(y.strata)]


def _rows(values: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if values is None else values[rows]


class LogRank(NamedTuple):
    """Result of :func:`log_rank`.

    Attributes
    ----------
    statistic : float
        Compared with the chi-squared distribution.
    p_value : float
        Of groups that were fixed before the times were looked at.
    """

    statistic: float
    p_value: float


def log_rank(y: Any, groups: Any) -> LogRank:
    """Test whether the survival of some groups differs, by the log-rank test.

    Strata and entry times count where y has them.

    Parameters
    ----------
    y : structured array, data frame or tuple (time, event)
        Survival times.
    groups : array-like of shape (n_samples,)
        Which group each sample belongs to.

    Returns
    -------
    test : LogRank

    Examples
    --------
    >>> from sparsieve.scoring.survival import log_rank
    >>> time = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> round(log_rank((time, [1] * 6), [1, 1, 1, 0, 0, 0]).p_value, 3)
    0.025
    """
    parts = survival_parts(as_survival(y))
    names, codes = np.unique(np.asarray(groups), return_inverse=True)
    n_groups = len(names)
    gap, covariance = np.zeros(n_groups), np.zeros((n_groups, n_groups))
    for rows in _strata(parts):
        moments = np.unique(parts.time[rows][parts.event[rows]])
        at_risk, events = np.zeros((2, len(moments), n_groups))
        for group in range(n_groups):
            some = rows[codes[rows] == group]
            time, event = np.sort(parts.time[some]), parts.event[some]
            here = np.full(len(moments), len(some))
            if parts.entry is not None:
                here = np.searchsorted(np.sort(parts.entry[some]), moments, side="left")
            at_risk[:, group] = here - np.searchsorted(time, moments, side="left")
            places = np.searchsorted(moments, parts.time[some][event])
            events[:, group] = np.bincount(places, minlength=len(moments))
        n, d = at_risk.sum(axis=1), events.sum(axis=1)
        share = at_risk / n[:, None]
        gap += (events - d[:, None] * share).sum(axis=0)
        factor = d * (n - d) / np.maximum(n - 1, 1)
        covariance += np.diag(factor @ share) - (share * factor[:, None]).T @ share
    if n_groups < 2:
        return LogRank(0.0, 1.0)
    # The gaps add up to zero, so one group says nothing new.
    solved = np.linalg.lstsq(covariance[1:, 1:], gap[1:], rcond=None)[0]
    statistic = max(float(gap[1:] @ solved), 0.0)
    return LogRank(statistic, float(chi2.sf(statistic, n_groups - 1)))


def risk_groups(risk: np.ndarray) -> np.ndarray:
    """Thirds 0, 1 and 2 of equal size in order of risk; equal risks stay together.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring.survival import risk_groups
    >>> risk_groups(np.array([0.3, 2.0, 0.1, 0.5, 0.4, 0.9])).tolist()
    [0, 2, 0, 1, 1, 2]
    """
    order = np.sort(risk)
    rank = np.searchsorted(order, risk, side="left")
    return np.minimum(rank * 3 // len(risk), 2)


def concordance_index(
    y_true: Any,
    risk: Any,
    *,
    kind: str = "harrell",
    y_train: Any = None,
    tau: float | None = None,
) -> float:
    """Share of comparable pairs in which the sample with the higher risk has the event first.

    A pair is comparable if the earlier of the two times is an event. Equal risks count one half,
    so a guess scores 0.5 and a perfect order 1. Samples of different strata are not compared, nor
    are samples that were not yet observed at the time of the event (left truncation).

    Parameters
    ----------
    y_true : structured array, data frame or tuple (time, event)
        Survival times of the samples.
    risk : array-like of shape (n_samples,)
        Predicted risks: a larger one means an earlier event.
    kind : {"harrell", "uno"}, default="harrell"
        "uno" weights every event by one over the squared probability of not being censored before
        it, so that the result does not depend on how many samples are censored; events after the
        last time under observation do not count.
    y_train : as y_true, default=None
        For "uno": the samples that this probability is estimated on; None takes ``y_true``.
    tau : float, default=None
        Count only events before this time. "uno" needs it where late events are rare.

    Returns
    -------
    index : float
        NaN where no pair is comparable.

    See Also
    --------
    sparsieve.scoring.regression_scores : Scores of predicted numbers.

    References
    ----------
    Harrell, Califf, Pryor, Lee, Rosati, "Evaluating the yield of medical tests", JAMA 247 (1982).

    Uno, Cai, Pencina, D'Agostino, Wei, "On the C-statistics for evaluating overall adequacy of risk
    prediction procedures with censored survival data", Statistics in Medicine 30 (2011).

    Examples
    --------
    >>> from sparsieve.scoring import concordance_index
    >>> time, died = [1.0, 2.0, 3.0, 4.0], [True, True, False, True]
    >>> concordance_index((time, died), risk=[0.9, 0.3, 0.5, 0.1])
    0.8
    """
    check_choice("kind", kind, ("harrell", "uno"))
    check_real("tau", tau, minimum=0, strict=True, optional=True)
    y = survival_parts(as_survival(y_true))
    risk = np.asarray(risk, dtype=np.float64)
    if risk.shape != y.time.shape or not np.isfinite(risk).all():
        raise ValueError(
            f"risk must hold one finite number for each of the {len(y.time)} samples, got shape "
            f"{risk.shape}"
        )
    weights = np.ones(len(risk))
    if kind == "uno":
        train = y if y_train is None else survival_parts(as_survival(y_train))
        if y.entry is not None or train.entry is not None:
            raise ValueError('kind="uno" does not know entry times; use kind="harrell"')
        seen = _censoring_survival(train, y.time)
        weights = np.where(seen > 0, 1.0 / np.where(seen > 0, seen, 1.0) ** 2, 0.0)
    if tau is not None:
        weights[y.time >= tau] = 0.0
    right = total = 0.0
    for rows in _strata(y):
        part = _pairs(y.time[rows], y.event[rows], _rows(y.entry, rows), risk[rows], weights[rows])
        right, total = right + part[0], total + part[1]
    return float(right / total) if total > 0 else float("nan")


def survival_scores(
    y_true: Any, risk: Any, metrics: Sequence[str] = SURVIVAL_METRICS, y_train: Any = None
) -> dict[str, float]:
    """Score predicted risks, by name of the metric; Uno's is NaN where it is not defined."""
    found = {}
    for name in metrics:
        how: dict[str, Any] = {}
        if name == "uno_concordance":
            how = {"kind": "uno", "y_train": y_train}
            if "entry" in (as_survival(y_true).dtype.names or ()):
                found[name] = float("nan")
                continue
        found[name] = concordance_index(y_true, risk, **how)
    return found


def _pairs(time, event, entry, risk, weights) -> tuple[float, float]:
    """(weighted number of pairs in the right order, of all comparable pairs)."""
    values, ranks = np.unique(risk, return_inverse=True)
    moments = np.unique(time)
    # A sample that is censored at the time of an event lived longer.
    ends = 2 * np.searchsorted(moments, time) + ~event
    asked = np.flatnonzero(event)
    below, equal, total = _count_pairs(ends, ends[asked], ranks, ranks[asked], len(values))
    if entry is not None:  # those who were not there yet lived longer, but cannot be compared
        starts = np.searchsorted(moments, entry, side="right")
        late = _count_pairs(starts, ends[asked] // 2, ranks, ranks[asked], len(values))
        below, equal, total = below - late[0], equal - late[1], total - late[2]
    w = weights[asked]
    return float(w @ (below + 0.5 * equal)), float(w @ total)


def _count_pairs(keys, above, ranks, asked, n_ranks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the samples whose key is above that of a query: how many ranks are below, equal; all."""
    from ._pair_kernels import count_smaller

    order = np.argsort(-keys, kind="stable")
    stops = np.searchsorted(-keys[order], -above, side="left")
    queries = np.argsort(stops, kind="stable")
    below, equal = np.zeros((2, len(queries)), dtype=np.int64)
    tree = np.zeros(n_ranks + 1, dtype=np.int64)
    ranks = ranks.astype(np.int64)
    count_smaller(ranks[order], stops[queries], asked.astype(np.int64)[queries], tree, below, equal)
    back = np.empty_like(queries)
    back[queries] = np.arange(len(queries))
    return below[back], equal[back], stops
