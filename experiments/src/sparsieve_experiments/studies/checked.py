"""See that a finished cell holds what results are made of, whoever wrote it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from sparsieve.scoring.metrics import ALL_METRICS
from sparsieve.scoring.models import TASKS

from .kinds import is_text

Check = Callable[[Any], bool]


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63


def _is_number(value: Any) -> bool:
    # Neither infinite, nor NaN, nor an integer beyond all floats.
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) <= sys.float_info.max


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _dict_of(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    def holds(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value and check(value[name]) for name, check in required.items())
            and all(
                name not in value or check(value[name]) for name, check in (optional or {}).items()
            )
        )

    return holds


def _is_plain(value: Any) -> bool:
    return isinstance(value, dict)


def _names_scalars(value: Any) -> bool:
    return isinstance(value, dict) and all(
        v is None or isinstance(v, (str, int, float)) for v in value.values()
    )


_SPEC: dict[str, Check] = {
    "dataset": is_text,
    "label": is_text,
    "selector": is_text,
    "tuning": is_text,
    "fingerprint": is_text,
    "n_samples": _is_count,
    "n_features": _is_count,
    "repeat": _is_count,
    "fold": _is_count,
    "seed": _is_count,
    "parameters": _is_plain,
    "protocol": _is_plain,
}
_SCORE = _dict_of(
    {"k": _maybe(_is_count), "classifier": is_text},
    {"n_selected": _is_count, **dict.fromkeys(ALL_METRICS, _maybe(_is_number))},
)
_SELECTION = _dict_of(
    {"k": _maybe(_is_count)},
    dict.fromkeys(
        ("redundancy_signed", "redundancy_absolute", "precision", "recall"), _maybe(_is_number)
    ),
)
_RESULT: dict[str, Check] = {
    "scores": _list_of(_SCORE),
    "selections": _list_of(_SELECTION),
    "features": _list_of(_is_count),
    "warnings": _list_of(is_text),
    "chosen": _is_plain,
    "seconds": _is_number,
    "peak_mib": _maybe(_is_number),
    "memory_source": is_text,
    "n_train": _is_count,
    "n_test": _is_count,
    "machine": _names_scalars,
    "software": _names_scalars,
}


def trouble_with(cell: Mapping[str, Any]) -> str:
    """What is wrong with a finished cell of a study, in a few words; "" if nothing is.

    Parameters
    ----------
    cell : dict
        From :meth:`StoreReader.cells`.
    """
    for part, checks in (("spec", _SPEC), ("result", _RESULT)):
        found = cell[part]
        if not isinstance(found, dict):
            return f"it has no {part}"
        for name, check in checks.items():
            if name not in found:
                return f"its {part} lacks {name}"
            if not check(found[name]):
                return f"{name} of its {part} is not what it should be"
    spec, result = cell["spec"], cell["result"]
    if spec.get("task", "classification") not in TASKS:
        return "task of its spec is not what it should be"
    if not is_text(spec.get("read_as", "")):
        return "read_as of its spec is not what it should be"
    n_columns = result.get("n_columns", spec["n_features"])
    if not _is_count(n_columns):
        return "n_columns of its result is not what it should be"
    if any(feature >= n_columns for feature in result["features"]):
        return "it keeps a feature that does not exist"
    names = result.get("feature_names", [])
    if not (isinstance(names, list) and all(map(is_text, names))):
        return "its names of features are no text"
    if names and len(names) != len(result["features"]):
        return "it has more or fewer names than features"
    metrics = {tuple(name for name in ALL_METRICS if name in score) for score in result["scores"]}
    if result["scores"] and (len(metrics) != 1 or not min(metrics)):
        return "its scores lack a metric"
    asked = {selection["k"] for selection in result["selections"]}
    if any(score["k"] not in asked for score in result["scores"]):
        return "a score of it belongs to no selection"
    # Beyond the year 9999 there are no dates.
    if not (_is_number(cell["finished_at"]) and 0 <= cell["finished_at"] < 2.5e11):
        return "it has no time of finishing"
    return ""
