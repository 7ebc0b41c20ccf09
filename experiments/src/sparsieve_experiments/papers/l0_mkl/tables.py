"""The tables of the l0-MKL paper, ours beside the printed numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...studies.exhibits import Exhibit
from ..base import Bench
from ..data import data_table
from ..declared import exhibit
from ..numbers import difference, mean, with_deviation
from ..published import published_by
from .choices import BEST_ON_TEST, INNER_CV, Choice, choose
from .work import describe


def data_sets(bench: Bench) -> list[Exhibit]:
    """Table 3."""
    note = "The first two classes of every set; the largest class is that of the test halves."
    return data_table(bench, describe, note=note)


# -- Tables 4 to 6 ---------------------------------------------------------------------------


def _paired(choices: Sequence[Choice]) -> list[tuple[Choice, Choice, dict]]:
    """Honest and test-best choice of every set and method, and what the paper prints."""
    printed = published_by("l0mkl_tables4_5_6", "dataset", "method")
    honest = [choice for choice in choices if choice.chosen_by == INNER_CV]
    best = [choice for choice in choices if choice.chosen_by == BEST_ON_TEST]
    theirs = [printed[choice.source.printed, choice.method] for choice in honest]
    return list(zip(honest, best, theirs, strict=True))


def _place(choice: Choice) -> dict:
    return {
        "dataset": choice.source.label,
        "method": choice.method,
        "splits": len(choice.rows),
    }


def _mean_of(choice: Choice, name: str, scale: float = 1.0) -> float | None:
    return mean(None if row[name] is None else scale * row[name] for row in choice.rows)


def _score_rows(choices: Sequence[Choice], name: str) -> list[dict]:
    return [
        {
            **_place(honest),
            **with_deviation(name, [100 * row[name] for row in honest.rows]),
            f"{name}_best_on_test": _mean_of(best, name, 100),
            "published": theirs[name],
            "difference": difference(_mean_of(honest, name, 100), theirs[name]),
            "n_features": _mean_of(honest, "n_used"),
            "n_features_best_on_test": _mean_of(best, "n_used"),
            "published_n_features": theirs["n_features"],
        }
        for honest, best, theirs in _paired(choices)
    ]


def scores(bench: Bench) -> Iterator[Exhibit]:
    """Tables 4, 5 and 6."""
    choices = choose(bench)
    rows = _score_rows(choices, "accuracy")
    yield exhibit(__package__, "Table 4", rows)
    rows = [
        {name: value for name, value in row.items() if "n_features" not in name}
        for row in _score_rows(choices, "f1")
    ]
    yield exhibit(__package__, "Table 5", rows)
    rows = [
        {
            **_place(honest),
            "seconds": _mean_of(honest, "seconds"),
            "seconds_best_on_test": _mean_of(best, "seconds"),
            "published": theirs["cpu_seconds"],
        }
        for honest, best, theirs in _paired(choices)
    ]
    yield exhibit(__package__, "Table 6", rows)


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
