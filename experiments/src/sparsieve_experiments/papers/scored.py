"""Scores of methods that no study can run, in the shape that a study gives them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def like_a_study(
    study: str, label: str, outcome: Mapping[str, Any], tuning: str = "none"
) -> list[dict[str, Any]]:
    """Rows as :func:`sparsieve_experiments.studies.result_rows` gives them, as far as means
    need them.

    Parameters
    ----------
    study : str
        The study beside which the rows stand.
    label : str
        What to call the method.
    outcome : mapping
        Of a job: dataset, parameters, protocol, seconds, and the scores and selections of a
        :class:`sparsieve.scoring.curves.Curve`.
    tuning : str, default="none"
        How parameters are chosen, see :class:`sparsieve_experiments.studies.SelectorSpec`.
    """
    facts = {selection["k"]: selection for selection in outcome["selections"]}
    return [
        {
            "study": study,
            "dataset": outcome["dataset"],
            "selector": label,
            "class": label,
            "parameters": json.dumps(outcome["parameters"], sort_keys=True),
            "tuning": tuning,
            "protocol": json.dumps(outcome["protocol"], sort_keys=True),
            "precision": None,
            "recall": None,
            "seconds": outcome["seconds"],
            "peak_mib": None,
            **facts[score["k"]],
            **score,
        }
        for score in outcome["scores"]
    ]
