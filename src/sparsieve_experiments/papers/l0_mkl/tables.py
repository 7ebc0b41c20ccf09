"""The tables of the l0-MKL paper, ours beside the printed numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

from ...studies.exhibits import Exhibit, by_method
from ..base import Bench
from ..numbers import deviation, difference, mean, mean_rows, rounded
from ..published import published_by
from ..verdicts import Verdict, lower_verdict, verdict_of
from .choices import BEST_ON_TEST, INNER_CV, Choice, chance, choose, protocol, ran, sources
from .plan import FULL, scale_of
from .work import describe

GRIDS = (
    "Under best on test one choice per set has the best mean accuracy on the test halves, as the "
    "paper's single best parameters suggest."
)


def _about_grids(bench: Bench) -> str:
    scale = scale_of(bench)
    if scale == FULL:
        return "The grids are the paper's."
    return (
        "The grids are thinner than the paper's (points for the linear machines "
        f"{scale.n_linear_points} instead of {FULL.n_linear_points}, for the kernel machines "
        f"{scale.n_kernel_points} instead of {FULL.n_kernel_points}), but hold the parameters of "
        "its Table 7."
    )


# -- Table 3 ---------------------------------------------------------------------------------


def data_sets(bench: Bench) -> Iterator[Exhibit]:
    """Table 3."""
    printed = published_by("l0mkl_table3", "dataset")
    used = sources(bench)
    found = {
        row["dataset"]: row
        for row in bench.jobs("l0-mkl sets", describe, [{"dataset": s.dataset} for s in used])
    }
    rows: list[dict] = [
        {
            "dataset": source.label,
            "n_samples": found[source.dataset]["n_samples"],
            "published_n_samples": int(printed[source.printed]["n_samples"]),
            "n_features": found[source.dataset]["n_features"],
            "published_n_features": int(printed[source.printed]["n_features"]),
            "majority_percent": rounded(100 * found[source.dataset]["majority"]),
        }
        for source in used
        if source.dataset in found
    ]
    missing = "; ".join(f"{name}: {reason}" for name, reason in bench.missing().items())
    note = "majority_percent is what guessing the larger class would give."
    yield Exhibit("Table 3", "Data sets", rows, note=f"{note} Not at hand: {missing or 'none'}.")


# -- Tables 4 to 6 ---------------------------------------------------------------------------


def _paired(choices: Sequence[Choice]) -> list[tuple[Choice, Choice]]:
    """Honest and test-best choice of every set and method."""
    honest = [choice for choice in choices if choice.chosen_by == INNER_CV]
    best = [choice for choice in choices if choice.chosen_by == BEST_ON_TEST]
    return list(zip(honest, best, strict=True))


def _mean_of(choice: Choice, name: str, scale: float = 1.0) -> float | None:
    return mean(scale * row[name] for row in choice.rows)


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


def verdicts(
    bench: Bench, rows: Sequence[dict], column: str, measure: str, what: dict, printed: str = ""
) -> str:
    """What the rows say of the claim that l0-MKL is the best: chosen honestly, on test, printed."""
    if not rows:
        return ""
    splits, levels = scale_of(bench).n_repeats, {} if "F1" in measure else chance(bench)
    columns = {column: measure, f"{column}_best_on_test": f"{measure} with parameters best on test"}
    said = [
        verdict_of(rows, name, "l0-MKL", measure=words, splits=splits, chance=levels, ran=what)
        for name, words in columns.items()
    ]
    if printed:
        said.append(verdict_of(rows, printed, "l0-MKL", measure=f"printed {measure}"))
    return " ".join(map(str, said))


def fewer_features(
    rows: Sequence[dict], method: str, rivals: Sequence[str], **settings: Any
) -> Verdict:
    """How often a method has fewer features than others."""
    words = "number of features", " features"
    return lower_verdict(rows, "n_features", method, rivals, *words, **settings)


def scores(bench: Bench) -> Iterator[Exhibit]:
    """Tables 4, 5 and 6."""
    choices = choose(bench)
    rows = _score_rows(choices, "accuracy")
    what, splits = ran(choices), scale_of(bench).n_repeats
    pair = ("l0-MKL", ["MIK-FS"])
    fewer = fewer_features(rows, *pair, splits=splits, ran=what)
    above = verdict_of(rows, "accuracy", *pair, splits=splits, chance=chance(bench), ran=what)
    yield Exhibit(
        "Table 4",
        "Accuracy in percent and number of features",
        rows,
        [by_method("n_features", "accuracy", kind="points", log_x=True)],
        note=(
            f"{protocol(bench)} {GRIDS} {_about_grids(bench)} "
            f"{verdicts(bench, rows, 'accuracy', 'accuracy', what, 'published')} {above} {fewer}"
        ),
        summary=mean_rows(
            rows,
            "method",
            (
                "accuracy",
                "accuracy_best_on_test",
                "published",
                "n_features",
                "n_features_best_on_test",
                "published_n_features",
            ),
        ),
    )
    rows = [_without_features(row) for row in _score_rows(choices, "f1")]
    yield Exhibit(
        "Table 5",
        "F1 score in percent",
        rows,
        note=(
            f"{protocol(bench)} The class called 1 in the source counts as positive (Colon: "
            "normal, Lung_Cancer: mesothelioma, Carcinom: prostate), which fits the printed "
            f"numbers. {verdicts(bench, rows, 'f1', 'F1 score', what, 'published')}"
        ),
        summary=mean_rows(rows, "method", ("f1", "f1_best_on_test", "published")),
    )
    yield _seconds(bench, choices)


def _without_features(row: dict) -> dict:
    return {name: value for name, value in row.items() if "n_features" not in name}


def _seconds(bench: Bench, choices: Sequence[Choice]) -> Exhibit:
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
    drawn = {"splits": scale_of(bench).n_repeats, "ran": ran(choices)}
    faster = lower_verdict(rows, "seconds", "CAP-SVM", ["l0-MKL"], "CPU time", " s", **drawn)
    means = mean_rows(rows, "method", ("seconds", "seconds_best_on_test", "published"))
    rows += [{"dataset": "Average", **row} for row in means]
    order = sorted((row for row in means if row["seconds"] is not None), key=itemgetter("seconds"))
    return Exhibit(
        "Table 6",
        "CPU seconds of one fit with the chosen parameters",
        rows,
        note=(
            f"{protocol(bench)} The search for parameters is not counted; the printed seconds are "
            "of another machine and of a general modelling layer. From fastest to slowest here: "
            f"{', '.join(row['method'] for row in order)}. {faster}"
        ),
        summary=means,
    )


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
    yield Exhibit(
        "Table 7",
        "Parameters chosen for l0-MKL",
        rows,
        note=(
            f"{protocol(bench)} By inner cv every split chooses for itself: the most frequent "
            "choice is shown, and of how many splits. The printed parameters of every set are in "
            "the grid: with the printed theta, always at most 1, for MIK-FS, and with a larger "
            "theta for l0-MKL."
        ),
    )
