"""The data sets of a paper: ours beside the printed sizes, stand-ins, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..studies.exhibits import Exhibit
from ..studies.sources import DatasetSpec
from .base import Bench, printed_name
from .claims import DATA_SETS, LARGEST_CLASS
from .numbers import published, rounded

_SIZES = ("n_samples", "n_features", "n_classes")


def described(setting: dict) -> dict:
    """Size of a data set, and what always predicting its largest class scores."""
    data = DatasetSpec(setting["dataset"]).load()
    y = data.y.tolist()
    return {
        **dict(zip(_SIZES, (*data.X.shape, len(set(y))), strict=True)),
        LARGEST_CLASS: 100.0 * max(map(y.count, set(y))) / len(y),
    }


def printed_sizes(paper: str) -> dict[str, dict[str, Any]]:
    """What a paper prints of its data sets, by name and in its order.

    Examples
    --------
    >>> from sparsieve_experiments.papers.data import printed_sizes
    >>> printed_sizes("l20")["Brain"]
    {'n_samples': 42, 'n_features': 5597, 'n_classes': 5}
    """
    return {
        row["dataset"]: {n: None if row[n] is None else int(row[n]) for n in _SIZES}
        for row in published("data_sets")
        if row["paper"] == paper
    }


def data_table(
    bench: Bench,
    describe: Callable[[dict], dict] = described,
    remarks: Mapping[str, str] | None = None,
    note: str = "",
) -> list[Exhibit]:
    """The exhibit that lists the data sets; ``remarks`` are on some of them, by printed name."""
    used = bench.at_hand()
    settings = [{"dataset": name} for name in dict.fromkeys(used.values())]
    work = f"{bench.paper} data sets"
    found = {row["dataset"]: row for row in bench.jobs(work, describe, settings)} if used else {}
    if not found:
        return []
    labels = {printed_name(label): label for label in used}
    missing, said = bench.missing(), remarks or {}
    rows = []
    for name, sizes in printed_sizes(bench.paper).items():
        label = labels.get(name, name)
        ours = found.get(used.get(label, ""), {})
        if not ours and name not in missing:
            continue
        remark = said.get(name, "")
        if not ours:
            remark = f"not at hand: {missing[name]}"
        elif label != name:
            remark = f"{used[label]} stands in: the same samples, other features"
        rows.append(
            {
                "dataset": label,
                **{
                    key: value
                    for size in _SIZES
                    for key, value in (
                        (size, ours.get(size)),
                        (f"published_{size}", sizes[size]),
                    )
                },
                LARGEST_CLASS: rounded(ours.get(LARGEST_CLASS)),
                "remark": remark or None,
            }
        )
    empty = {name for name in rows[0] if all(row[name] is None for row in rows)} - {"remark"}
    rows = [{name: value for name, value in row.items() if name not in empty} for row in rows]
    told = f"{LARGEST_CLASS} is the score of always predicting the largest class. {note}".strip()
    title = "Ours beside the printed sizes"
    return [Exhibit(DATA_SETS, title, rows, note=told)]
