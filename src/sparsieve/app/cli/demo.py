"""``sparsieve demo``: few features out of many, on data whose truth is known."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .live import following, progress
from .options import AsJson, Debug, RuleOption
from .output import check_page, command_line, print_json, print_rows, say

if TYPE_CHECKING:  # loading these takes a while
    from ...datasets import Dataset

# The default, a convex model and a filter that looks at one feature at a time.
METHODS = ("ridge-forward", "l21", "fisher")
N_SAMPLES, N_FEATURES, N_RELEVANT, N_COPIES = 150, 5_000, 5, 9
N_FOLDS = 5


def demo(
    rule: RuleOption = None,
    report: Annotated[
        Path, typer.Option(metavar="OUT", help="Where to write the HTML report.")
    ] = Path("sparsieve-demo.html"),
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Find the few features that matter among thousands, with three methods.

    The data are simulated, so the features that matter are known. Each method selects its features
    on the training samples of 5 folds and is scored on the held-out samples; the number of features
    is chosen by cross-validation. Writes an HTML report on the first method.
    """
    has_report = not as_json and _can_report(report)
    with progress("Loading"):
        from ...datasets import make_correlated_blocks

        data = make_correlated_blocks(
            N_SAMPLES,
            N_FEATURES,
            n_relevant=N_RELEVANT,
            block_size=N_COPIES + 1,
            random_state=0,
        )
    searched = []
    for name in METHODS:
        with following(f"Cross-validating {name}"):
            searched.append(_search_count(name, data, None if rule is None else rule.value))
    results, first = [row for row, _ in searched], searched[0][1]
    with progress("Cross-validating all features"):
        whole = _with_all_features(data)
    if as_json:
        print_json([whole, *results])
        return
    say(
        f"{N_SAMPLES} samples of 2 classes, {N_FEATURES:,} features. {N_RELEVANT} features matter, "
        f"each with\n{N_COPIES} correlated copies; the others are noise.\n"
    )
    print_rows(
        ("method", "kept", f"of the {N_RELEVANT} found", "accuracy", "seconds"),
        [
            (
                row["method"],
                f"{row['kept']:,} of {N_FEATURES:,}",
                "" if row["found"] is None else str(row["found"]),
                f"{row['accuracy']:.1%}",
                f"{row['seconds']:.1f}",
            )
            for row in (whole, *results)
        ],
        title=f"{N_FOLDS}-fold cross-validated accuracy of a softmax model",
        right=("kept", f"of the {N_RELEVANT} found", "accuracy", "seconds"),
        for_reading=True,
    )
    say(f"\nThe number of features, with {METHODS[0]}:\n{first.summary()}")
    if has_report:
        _write_report(first, data, report)
    _say_what_next()


def _search_count(name: str, data: Dataset, rule: str | None) -> tuple[dict[str, Any], Any]:
    """How many features are enough with this method, and what they are."""
    from ...meta import SelectorCV
    from ...registry import find_selector

    start = time.perf_counter()
    search = SelectorCV(find_selector(name)(), cv=N_FOLDS, n_repeats=1)
    if rule is not None:
        search.set_params(rule=rule)
    search.fit(data.X, data.y)
    kept = search.get_support(indices=True)
    row = {
        "method": name,
        "kept": len(kept),
        "n_features": data.X.shape[1],
        "found": sum(int(j) in set(data.relevant.tolist()) for j in kept),
        "accuracy": search.best_score_,
        "seconds": time.perf_counter() - start,
        "features": data.feature_names[kept].tolist(),
    }
    return row, search


def _with_all_features(data: Dataset) -> dict[str, Any]:
    """The same model on the same folds without any selection."""
    from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score

    from ...scoring.ridge_path import default_estimator

    start = time.perf_counter()
    model = default_estimator("classification", len(data.y))
    folds = RepeatedStratifiedKFold(n_splits=N_FOLDS, n_repeats=1, random_state=0)
    accuracy = cross_val_score(model, data.X, data.y, cv=folds).mean()
    return {
        "method": "all features",
        "kept": data.X.shape[1],
        "n_features": data.X.shape[1],
        "found": None,
        "accuracy": float(accuracy),
        "seconds": time.perf_counter() - start,
        "features": None,
    }


def _can_report(path: Path) -> bool:
    """Whether a report can be written; a place that cannot be written to is refused at once."""
    from ..._imports import MissingExtraError

    try:
        check_page(path)
    except MissingExtraError as error:
        say(f"No report: {error}\n")
        return False
    return True


def _write_report(search: Any, data: Dataset, path: Path) -> None:
    with following("Cross-validating for the report"):
        from ..report import selector_report

        selector_report(
            search.selector_,
            data.X,
            data.y,
            feature_names=data.feature_names,
            search=search,
            title=f"{search.best_k_} features out of {data.X.shape[1]:,}",
            command=command_line(),
        ).save(path)
    say(f"\nA report on this selection, to open in any browser: {path.resolve()}")


def _say_what_next() -> None:
    say(
        "\nNext:\n"
        "  sparsieve select yourdata.csv --target label -k 20 -o selected.csv\n"
        "  sparsieve methods\n"
        "  sparsieve select --help\n"
        "\nIn Python:\n"
        "  import sparsieve\n"
        "  selected = sparsieve.select(X, y)\n"
        "  selected.table"
    )
