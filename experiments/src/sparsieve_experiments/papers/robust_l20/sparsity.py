"""Figure 4: how many rows of the coefficients are really zero."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from sklearn.preprocessing import StandardScaler

from sparsieve.penalties import row_norms
from sparsieve.scoring.feature_sets import sparsity_level

from ...studies.exhibits import Exhibit
from ...studies.sources import DatasetSpec
from ..base import Bench
from ..declared import exhibit
from ..numbers import rounded
from .accuracy import NMAPG, TOP_K
from .methods import FITS

TOLERANCES = (0.0, 1e-5, 1e-4, 1e-3, 1e-2)
PRINTED = ("LUNG",)


def sparsity_figure(bench: Bench) -> Iterator[Exhibit]:
    """Figure 4."""
    sets = bench.at_hand(PRINTED)
    ks = list(bench.scale.sparsity_ks)
    settings = [
        {
            "dataset": name,
            "label": method.label,
            "method": method.method,
            "parameters": dict(method.parameters),
            "ks": ks,
            "tolerances": list(TOLERANCES),
        }
        for name in sets.values()
        for method in (*NMAPG, TOP_K)
    ]
    printed = {name: shown for shown, name in sets.items()}
    levels, norms = [], []
    for found in bench.jobs("robust-l20 sparsity", rows_above, settings):
        place = {"dataset": printed[found["dataset"]], "method": found["label"]}
        for k, counts in zip(found["fitted"], found["levels"], strict=True):
            for tolerance, count in zip(found["tolerances"], counts, strict=True):
                levels.append({**place, "k": k, "tolerance": tolerance, "rows_above": count})
        for rank, norm in zip(found["ranks"], found["norms"], strict=True):
            norms.append({**place, "k": found["fitted"][-1], "rank": rank, "row_norm": norm})
    yield exhibit(__package__, "Figure 4", levels)
    yield exhibit(
        __package__,
        "Figure 4, row norms",
        norms,
        [row for row in norms if row["rank"] in (1, 10, 20, row["k"])],
    )


def rows_above(setting: dict) -> dict:
    """Numbers of rows above the tolerances for every K, and the row norms for the largest K."""
    data = DatasetSpec(setting["dataset"]).load()
    X = StandardScaler().fit_transform(data.X)
    ks = [k for k in setting["ks"] if k <= X.shape[1]]
    levels = []
    for fit in FITS[setting["method"]](X, data.y, ks, **setting["parameters"]):
        levels.append([sparsity_level(fit.W.T, tolerance) for tolerance in setting["tolerances"]])
    norms = np.sort(row_norms(fit.W))[::-1]
    norms = norms[norms > 0]
    ranks = np.unique(np.geomspace(1, max(len(norms), 1), 60).astype(int))
    ranks = np.union1d(ranks, ks)
    ranks = ranks[ranks <= len(norms)]
    return {
        "fitted": ks,
        "levels": levels,
        "ranks": [int(rank) for rank in ranks],
        "norms": [rounded(float(norms[rank - 1])) for rank in ranks],
    }
