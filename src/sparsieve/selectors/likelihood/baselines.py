"""Baselines of Cox models, and the survival that they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ..._saved import Floats, Ints, Savable, is_finite
from ...solvers.losses.cox import Cox


@dataclass(frozen=True)
class Baselines(Savable):
    """Cumulative hazards of a sample with risk 0, for the models with 0, 1, 2, ... features.

    Attributes
    ----------
    times : ndarray of shape (n_events,)
        Times at which events happened, in order within every stratum.
    strata : ndarray of int of shape (n_events,)
        Their strata, by their places in ``strata_``.
    log_hazards : ndarray of shape (n_models, n_events)
        Their logarithms: where features order all times, hazards are too large for numbers.
    """

    times: Annotated[Floats, "events"]
    strata: Annotated[Ints, "events"]
    log_hazards: Annotated[Floats, "models", "events", is_finite]

    @classmethod
    def of(cls, loss: Cox, predictors: list[np.ndarray]) -> Baselines:
        """Of models with these linear predictors."""
        found = [loss.log_baseline_hazard(F) for F in predictors]
        times, _, strata = found[0]
        return cls(times, strata.astype(np.int64), np.array([logs for _, logs, _ in found]))

    def survival(
        self, model: int, places: np.ndarray, times: np.ndarray, risk: np.ndarray
    ) -> np.ndarray:
        """Probabilities of no event by some times, for samples of these strata and risks."""
        logs = np.full((int(places.max(initial=0)) + 1, len(times)), -np.inf)
        for stratum in np.unique(places):
            own = self.strata == stratum
            steps = np.append(-np.inf, self.log_hazards[model, own])
            logs[stratum] = steps[np.searchsorted(self.times[own], times, side="right")]
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-np.exp(logs[places] + risk[:, None])))
