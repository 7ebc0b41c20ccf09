"""The methods fitted for every K, for all splits of a data set as one batch on a device."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.device import torch_device

from ...studies.kinds import StudyError
from ...studies.sources import DatasetSpec
from ..base import Bench
from ..splits import protocol_from
from .methods import Found, published_nmapg, published_top_k, rho_max, robust_problem

STRENGTH = ("rho", "rho_share")  # parameters in which the problems of a batch may differ


class Together:
    """Selects for all settings of a data set and method at once, before they are scored.

    What a batch has selected is kept in the store like every result, so that nothing is solved
    again when the scoring is interrupted.
    """

    def __init__(self, bench: Bench, study: str, settings: Sequence[Mapping[str, Any]]):
        self.bench = replace(bench, n_jobs=1)  # a device has one queue
        self.name = f"{study}, selected on {bench.device}"
        self.batches: dict[str, dict] = {}
        for setting in settings:
            batch = self.batches.setdefault(
                _shared(setting), {**_of_batch(setting), "strengths": [], "device": bench.device}
            )
            strength = _strength(setting)
            if strength not in batch["strengths"]:
                batch["strengths"].append(strength)

    def __call__(self, open_settings: Sequence[Mapping[str, Any]]) -> list[Found | StudyError]:
        """What was selected for every setting."""
        needed = dict.fromkeys(_shared(setting) for setting in open_settings)
        batches = [self.batches[shared] for shared in needed]
        found = {
            _shared(outcome): outcome
            for outcome in self.bench.jobs(self.name, select_together, batches)
        }
        failed = StudyError(f"the batch failed, see: {self.name}")
        return [
            _part(found[_shared(setting)], setting) if _shared(setting) in found else failed
            for setting in open_settings
        ]


def select_together(setting: dict) -> dict:
    """Features for every split, strength and K of one data set and method."""
    device = torch_device(setting["device"])
    start = time.perf_counter()
    data = DatasetSpec(setting["dataset"]).load()
    splits = list(
        protocol_from(setting["protocol"]).splits(data.y, data.groups, seed=setting["seed"])
    )
    ks = [k for k in setting["ks"] if k <= data.X.shape[1]]
    Xs = [StandardScaler().fit_transform(data.X[split.train]) for split in splits]
    gamma = setting["parameters"].get("gamma", 0.0)
    parts = [robust_problem(X, data.y[s.train], gamma) for X, s in zip(Xs, splits, strict=True)]
    if setting["method"] == "TopK":
        from .batched_top_k import batched_top_k

        fits = [[fits] for fits in batched_top_k(published_top_k(), parts, ks, device)]
    else:
        fits = _nmapg(Xs, parts, ks, setting["strengths"], device, **setting["parameters"])
    return {
        "splits": [[split.repeat, split.fold] for split in splits],
        "solved": ks,
        "features": [[[fit.features.tolist() for fit in row] for row in part] for part in fits],
        "seconds": (time.perf_counter() - start) / (len(splits) * len(setting["strengths"])),
    }


def _nmapg(
    Xs: list[np.ndarray],
    parts: list,
    ks: list[int],
    strengths: list[dict],
    device: Any,
    *,
    gamma: float,
    mu: float | None = None,
    warm_start: bool = False,
    **options: Any,
) -> list[list[list]]:
    """Fits by split, strength and K, as ``nmapg_fits`` gives them for one split and strength."""
    from .batched_nmapg import Chain, batched_nmapg

    chains = []
    for strength in strengths:
        if "rho" in strength:
            rhos = [float(strength["rho"])] * len(Xs)
        else:
            rhos = [strength.get("rho_share", 0.01) * rho_max(X, gamma) for X in Xs]
        chains += [Chain(rhos, ks)] if warm_start else [Chain(rhos, [k]) for k in ks]
    found = batched_nmapg(published_nmapg(mu, **options), parts, chains, device)
    if warm_start:
        return found
    # One chain for every strength and K.
    return [
        [
            [fit for (fit,) in part[start : start + len(ks)]]
            for start in range(0, len(part), len(ks))
        ]
        for part in found
    ]


def _of_batch(setting: Mapping[str, Any]) -> dict[str, Any]:
    """What all problems of a batch have in common."""
    common = {name: setting[name] for name in ("dataset", "method", "protocol", "seed", "ks")}
    parameters = {
        name: value for name, value in setting["parameters"].items() if name not in STRENGTH
    }
    return {**common, "parameters": parameters}


def _shared(setting: Mapping[str, Any]) -> str:
    return json.dumps(_of_batch(setting), sort_keys=True)


def _strength(setting: Mapping[str, Any]) -> dict[str, float]:
    parameters = setting["parameters"]
    return {name: parameters[name] for name in STRENGTH if name in parameters}


def _part(outcome: Mapping[str, Any], setting: Mapping[str, Any]) -> Found:
    split = outcome["splits"].index([setting["repeat"], setting["fold"]])
    strength = outcome["strengths"].index(_strength(setting))
    features = outcome["features"][split][strength]
    return Found(dict(zip(outcome["solved"], features, strict=True)), outcome["seconds"])
