"""Both kinds of methods on the same splits: those of a study, and those fitted for every K."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from sparsieve.scoring.protocol import Protocol

from ...studies.results import summarise
from ...studies.selector_spec import SelectorSpec
from ...studies.study import Study
from ..base import Bench
from ..splits import like_a_study, protocol_from
from .methods import score_per_k
from .together import Together

LARGE = ("COIL20", "USPS", "Isolet")  # by their printed names: over a thousand samples
OURS = "RobustL20 (ours)"
# Fitted once, whatever K. The paper's four filters have no parameters; ours is an extra line.
FILTERS = (
    SelectorSpec("ReliefFSelector", label="ReliefF"),
    SelectorSpec("FisherSelector", label="Fisher"),
    SelectorSpec("InfoGainSelector", label="InfoGain"),
    SelectorSpec("TTestSelector", label="t-test"),
)
GREEDY = SelectorSpec("RobustL20Selector", label=OURS)


@dataclass(frozen=True)
class PerK:
    """A method that is fitted anew for every number of features, see ``score_per_k``."""

    label: str
    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def mean_scores(
    bench: Bench,
    name: str,
    printed: Sequence[str] | None,
    rfs: Callable[[Sequence[float]], Sequence[SelectorSpec]],
    per_k: Sequence[PerK],
    classifiers: Sequence[str],
) -> list[dict]:
    """Means over the splits, of selectors and of the methods fitted per K, by printed data set.

    ``robust-l20 NAME`` is a study of the data sets ``printed`` as NAME of the scale asks for it,
    and of the largest ones as large_NAME does; ``rfs`` gives RFS from its candidates gamma.
    """
    sets = bench.at_hand(printed)
    sampling, large = (getattr(bench.scale, part) for part in (name, f"large_{name}"))
    apart = [one for shown, one in sets.items() if large is not None and shown in LARGE]
    rest = [one for one in sets.values() if one not in apart]
    title = f"robust-l20 {name}"
    labels = {one: shown for shown, one in sets.items()}
    return [
        {**mean, "dataset": labels[mean["dataset"]]}
        for study, names, amount in (
            (title, rest, sampling),
            (f"{title}, large sets", apart, large),
        )
        if names
        for mean in _mean_scores(
            bench,
            Study(
                study,
                names,
                [*rfs(amount["gammas"]), *FILTERS, GREEDY],
                protocol_from(amount["protocol"]),
                ks=amount["ks"],
                classifiers=classifiers,
                scoring=["accuracy"],
            ),
            per_k,
        )
    ]


def _mean_scores(bench: Bench, study: Study, per_k: Sequence[PerK]) -> list[dict]:
    rows = bench.study(study)
    common = {
        "protocol": study.protocol.as_dict(),
        "seed": study.seed,
        "ks": sorted(study.ks),
        "classifiers": list(study.classifiers),
    }
    labels = {}
    settings = []
    for spec in study.dataset_specs:
        for repeat, fold in _places(study.protocol):
            for method in per_k:
                chosen = {"method": method.method, "parameters": dict(method.parameters)}
                labels[json.dumps(chosen)] = method.label
                place = {"dataset": spec.name, "repeat": repeat, "fold": fold}
                settings.append({**place, **chosen, **common})
    ahead = None if bench.device is None else Together(bench, study.name, settings)
    name = f"{study.name}, fitted for every K"
    for outcome in bench.jobs(name, score_per_k, settings, ahead=ahead):
        chosen = {"method": outcome["method"], "parameters": outcome["parameters"]}
        rows += like_a_study(study.name, labels[json.dumps(chosen)], outcome)
    return summarise(rows)


def _places(protocol: Protocol) -> Iterator[tuple[int, int]]:
    n_repeats = getattr(protocol, "n_repeats", 1)
    yield from product(range(n_repeats), range(protocol.n_splits // n_repeats))
