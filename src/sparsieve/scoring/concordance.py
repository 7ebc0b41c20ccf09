"""How often the sample with the higher predicted risk has the event first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._checks import check_choice, check_real
from ..validation.survival import Survival, as_survival, survival_of
from .metrics import SURVIVAL_METRICS

KINDS = ("harrell", "uno")


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
    check_choice("kind", kind, KINDS)
    check_real("tau", tau, minimum=0, strict=True, optional=True)
    y = survival_of(as_survival(y_true))
    risk = np.asarray(risk, dtype=np.float64)
    if risk.shape != y.time.shape or not np.isfinite(risk).all():
        raise ValueError(
            f"risk must hold one finite number for each of the {len(y.time)} samples, got shape "
            f"{risk.shape}"
        )
    weights = np.ones(len(risk))
    if kind == "uno":
        train = y if y_train is None else survival_of(as_survival(y_train))
        if y.entry is not None or train.entry is not None:
            raise ValueError('kind="uno" does not know entry times; use kind="harrell"')
        seen = not_censored(train, y.time)
        weights = np.where(seen > 0, 1.0 / np.where(seen > 0, seen, 1.0) ** 2, 0.0)
    if tau is not None:
        weights[y.time >= tau] = 0.0
    right = total = 0.0
    strata = np.zeros(len(risk), dtype=np.int64) if y.strata is None else y.strata
    for stratum in np.unique(strata):
        rows = strata == stratum
        entry = None if y.entry is None else y.entry[rows]
        part = _pairs(y.time[rows], y.event[rows], entry, risk[rows], weights[rows])
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


def not_censored(y: Survival, times: np.ndarray) -> np.ndarray:
    """Probability of not being censored up to some times, by Kaplan and Meier.

    Where an event and a censoring share a time the event comes first.
    """
    moments, places = np.unique(y.time, return_inverse=True)
    events = np.bincount(places, weights=y.event)
    lost = np.bincount(places, weights=~y.event)
    at_risk = len(y.time) - np.concatenate([[0], np.cumsum(events + lost)[:-1]]) - events
    stays = np.cumprod(1.0 - lost / np.maximum(at_risk, 1.0))
    return np.concatenate([[1.0], stays])[np.searchsorted(moments, times, side="right")]


def _pairs(time, event, entry, risk, weights) -> tuple[float, float]:
    """(weighted number of pairs in the right order, of all comparable pairs)."""
    values, ranks = np.unique(risk, return_inverse=True)
    moments = np.unique(time)
    # A sample that is censored at the time of an event lived longer.
    ends = 2 * np.searchsorted(moments, time) + ~event
    asked = np.flatnonzero(event)
    below, equal, total = _compared(ends, ends[asked], ranks, ranks[asked], len(values))
    if entry is not None:  # those who were not there yet lived longer, but cannot be compared
        starts = np.searchsorted(moments, entry, side="right")
        late = _compared(starts, ends[asked] // 2, ranks, ranks[asked], len(values))
        below, equal, total = below - late[0], equal - late[1], total - late[2]
    w = weights[asked]
    return float(w @ (below + 0.5 * equal)), float(w @ total)


def _compared(keys, above, ranks, asked, n_ranks) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the samples whose key is above that of a query: how many ranks are below, equal; all."""
    from ._pair_kernels import count_below

    order = np.argsort(-keys, kind="stable")
    stops = np.searchsorted(-keys[order], -above, side="left")
    queries = np.argsort(stops, kind="stable")
    below, equal = np.zeros((2, len(queries)), dtype=np.int64)
    tree = np.zeros(n_ranks + 1, dtype=np.int64)
    ranks = ranks.astype(np.int64)
    count_below(ranks[order], stops[queries], asked.astype(np.int64)[queries], tree, below, equal)
    back = np.empty_like(queries)
    back[queries] = np.arange(len(queries))
    return below[back], equal[back], stops
