"""How much to compute, on which data sets, with which methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..base import Bench
from ..numbers import rounded

# Printed in Table II beside the names of the classifiers here.
CLASSIFIERS = {"5nn": "knn5", "softmax": "softmax"}
OURS = "l20-FS"
BASELINE = "baseline"


@dataclass(frozen=True)
class Method:
    """A method of Table II.

    Parameters
    ----------
    name : str
        As printed.
    selector : str
        Class name.
    parameters : dict
        Fixed ones.
    grid : dict of str to list
        Candidates to choose from.
    each_k : bool
        The number of features is part of the model, so that every number needs its own fit.
    """

    name: str
    selector: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence] = field(default_factory=dict)
    each_k: bool = False


def methods(scale: Any) -> list[Method]:
    """The methods of Table II in its order."""
    alphas = {"alpha": list(scale.gammas)}
    return [
        Method(BASELINE, "AllFeatures"),
        Method("Relief", "ReliefFSelector"),
        Method("mRMR", "MRMRSelector", {"criterion": "mid"}),
        Method("RFS", "RFSSelector", grid=alphas),
        Method("RLSR", "RLSRSelector", grid=alphas),
        Method(
            "RPMFS",
            "RPMFSSelector",
            {"solver": "published", "max_iter": scale.rpmfs_iterations},
            each_k=True,
        ),
        Method("ESFS", "ESFSSelector", each_k=True),
        Method(OURS, "L20Selector", {"solver": "published"}, {"lam": list(scale.lams)}),
    ]


def data_sets(bench: Bench, printed: Sequence[str] | None = None) -> dict[str, str]:
    """What to call the data sets to use, and their names here.

    Where the registry names a stand-in for a set that is missing, that is used unless the bench
    is quick. When none of the sets asked for is at hand, those of the whole paper serve.
    """
    found = bench.datasets(printed)
    if not bench.quick:
        found |= bench.stand_ins(printed)
    if not found and printed is not None:
        return data_sets(bench)
    return dict(list(found.items())[: bench.scale.most_sets])


def percent(share: float | None) -> float | None:
    """A share as percent."""
    return None if share is None else rounded(100.0 * share)
