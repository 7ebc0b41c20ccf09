"""Baselines of Cox models, and the survival that they predict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._checks import format_names
from ..._saved import Floats, Ints, Savable
from ...solvers.losses.cox import Cox
from ...validation.survival import asked_times, strata_labels


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
    log_hazards: Annotated[Floats, "models", "events"]

    @classmethod
    def from_predictors(cls, loss: Cox, predictors: list[np.ndarray]) -> Baselines:
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


def listed_times(times: Any) -> np.ndarray:
    """A list of times at which somebody wants to know a probability."""
    found = asked_times(times)
    if found.ndim != 1:
        raise ValueError(
            f"times must be a list of numbers, such as [1.0, 5.0], but have shape {found.shape}"
        )
    return found


def stratum_places(known: np.ndarray | None, strata: Any, n_samples: int, owner: str) -> np.ndarray:
    """Which baseline each of some samples has; ``known`` are the strata of the training data."""
    if known is None:
        if strata is not None:
            raise ValueError(
                f"the {owner} was fitted without strata, so there is one baseline for all "
                "samples; leave strata out, or fit with strata"
            )
        return np.zeros(n_samples, dtype=np.int64)
    if strata is None:
        raise ValueError(
            f"the {owner} was fitted with strata, each with its own baseline; pass strata= to "
            f"predict_survival, one of {format_names(known.tolist())} for every sample"
        )
    asked = strata_labels(strata)
    if len(asked) != n_samples:
        raise ValueError(
            f"strata has {len(asked)} values, but X has {n_samples} samples; pass one stratum "
            "per sample"
        )
    places = {label: place for place, label in enumerate(known.tolist())}
    labels, which = np.unique(asked, return_inverse=True)
    if unknown := [label for label in labels.tolist() if label not in places]:
        raise ValueError(
            f"strata hold {format_names(unknown)}, for which there is no baseline; the {owner} was "
            f"fitted with the strata {format_names(places)}"
        )
    return np.array([places[label] for label in labels.tolist()], dtype=np.int64)[which]
