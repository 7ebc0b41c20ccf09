"""How close some features are to the best ones of the same number, for a likelihood with ridge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ..._checks import Floats, Ints, Savable, format_names
from ...solvers.exact.likelihood_bounds import LikelihoodBounds
from ...solvers.losses.cox import Cox
from ...solvers.searches.likelihood_forward import explainable
from ...solvers.searches.likelihood_groups import columns_once
from ...solvers.searches.likelihood_neighbours import RidgeLikelihood
from ...solvers.searches.ridge_fit import ridge_fit
from ..certificates import Certificate, make_certificate

# Objectives that differ by more than this share of what can be explained are of other data.
OBJECTIVE_TOL = 1e-4


def ridge_certificate(
    problem: RidgeLikelihood,
    sizes: np.ndarray,
    n_always: int,
    supports: Sequence[np.ndarray],
    known: np.ndarray | None = None,
) -> Certificate:
    """Bounds for the ridge fits on these supports.

    Parameters
    ----------
    problem : RidgeLikelihood
    sizes : ndarray of int
        Numbers of features, with the ``n_always`` that are free.
    n_always : int
    supports : sequence of ndarray
        The features that were chosen, for each of these numbers.
    known : ndarray or None
        Objectives that the supports had in the fit: others are refused.
    """
    loss, own = problem.loss, sizes - n_always
    bounds = LikelihoodBounds(problem, int(own.max(initial=0)))
    scale, reached = explainable(loss), np.empty(len(own))
    for place, (k, support) in enumerate(zip(own, supports, strict=True)):
        A = columns_once(problem, support)
        penalty = problem.penalty(A.shape[1] - problem.free.shape[1])
        reached[place] = ridge_fit(loss, A, penalty, scale=scale).objective
        if known is not None:
            check_same(reached[place], known[place], scale)
        bounds.bound(int(k), support)
    perfect = loss.null()[1] - scale
    objective, power = reached - perfect, float(bounds.best[0] - perfect)
    lower = np.minimum(bounds.best[own] - perfect, objective)
    with np.errstate(divide="ignore", invalid="ignore"):
        gap = np.where(own == 0, 0.0, (objective - lower) / objective)
    return make_certificate(
        problem.groups is not None, sizes, objective, lower, gap, power, n_always
    )


def check_same(objective: float, known: float, scale: float) -> None:
    """Refuse other data than those of the fit, by the objective on them."""
    if not abs(objective - known) <= OBJECTIVE_TOL * scale:
        raise ValueError(
            "X, y or the weights differ from what the selector was fitted on; pass the same data "
            "as to fit"
        )


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
