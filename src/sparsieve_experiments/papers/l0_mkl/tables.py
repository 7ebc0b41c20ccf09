"""The tables of the l0-MKL paper, ours beside the printed numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..data import data_table
from ..declared import exhibit
from ..numbers import deviation, difference, mean
from ..published import published_by
from .choices import BEST_ON_TEST, INNER_CV, Choice, choose
from .work import describe


def data_sets(bench: Bench) -> list[Exhibit]:
    """Table 3."""
    note = "The first two classes of every set; the largest class is that of the test halves."
    return data_table(bench, describe, note=note)


# -- Tables 4 to 6 ---------------------------------------------------------------------------


def _paired(choices: Sequence[Choice]) -> list[tuple[Choice, Choice]]:
    """Honest and test-best choice of every set and method."""
    honest = [choice for choice in choices if choice.chosen_by == INNER_CV]
    best = [choice for choice in choices if choice.chosen_by == BEST_ON_TEST]
    return list(zip(honest, best, strict=True))


def _mean_of(choice: Choice, name: str, scale: float = 1.0) -> float | None:
    return mean(None if row[name] is None else scale * row[name] for row in choice.rows)


def _score_rows(choices: Sequence[Choice], name: str) -> list[dict]:
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    rows: list[dict] = []
    for honest, best in _paired(choices):
        ours = _mean_of(honest, name, 100)
        theirs = printed[honest.source.printed, honest.method]
        rows.append(
            {
                "dataset": honest.source.label,
                "method": honest.method,
                name: ours,
                f"{name}_sd": deviation([100 * row[name] for row in honest.rows]),
                f"{name}_best_on_test": _mean_of(best, name, 100),
                "published": theirs[name],
                "difference": difference(ours, theirs[name]),
                "n_features": _mean_of(honest, "n_used"),
                "n_features_best_on_test": _mean_of(best, "n_used"),
                "published_n_features": theirs["n_features"],
            }
        )
    return rows


def scores(bench: Bench) -> Iterator[Exhibit]:
    """Tables 4, 5 and 6."""
    choices = choose(bench)
    rows = _score_rows(choices, "accuracy")
    yield exhibit(__package__, "Table 4", rows)
    rows = [_without_features(row) for row in _score_rows(choices, "f1")]
    yield exhibit(__package__, "Table 5", rows)
    yield _seconds(choices)


def _without_features(row: dict) -> dict:
    return {name: value for name, value in row.items() if "n_features" not in name}


def _seconds(choices: Sequence[Choice]) -> Exhibit:
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    rows: list[dict] = [
        {
            "dataset": honest.source.label,
            "method": honest.method,
            "seconds": _mean_of(honest, "seconds"),
            "seconds_best_on_test": _mean_of(best, "seconds"),
            "published": printed[honest.source.printed, honest.method]["cpu_seconds"],
        }
        for honest, best in _paired(choices)
    ]
    return exhibit(__package__, "Table 6", rows)


# -- Table 7 ---------------------------------------------------------------------------------

_NAMES = ("a", "r", "lambda1", "lambda2", "theta")


def _paper_names(parameters: dict) -> dict:
    values = (parameters["gamma"], -parameters["coef0"], parameters["lambda1"])
    return dict(zip(_NAMES, (*values, parameters["lambda2"], parameters["theta"]), strict=True))


def parameters(bench: Bench) -> Iterator[Exhibit]:
    """Table 7: the chosen parameters."""
    printed = published_by("l0mkl_table7", "dataset")
    rows: list[dict] = []
    for choice in choose(bench):
        if choice.method != "l0-MKL":
            continue
        votes = Counter(tuple(_paper_names(row["parameters"]).items()) for row in choice.rows)
        taken, count = votes.most_common(1)[0]
        theirs = printed[choice.source.printed]
        rows.append(
            {
                "dataset": choice.source.label,
                "chosen_by": choice.chosen_by,
                **dict(taken),
                "splits": f"{count} of {len(choice.rows)}",
                **{f"published_{name}": theirs[name] for name in _NAMES},
            }
        )
    yield exhibit(__package__, "Table 7", rows)
