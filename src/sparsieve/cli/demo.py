"""``sparsieve demo``: what selection does, on data that comes along."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .options import AsJson, Debug
from .output import command_line, print_json, print_rows, progress, say

# What a first look should show, as far as it exists: a good default, a convex model, filters.
PREFERRED = ("ridge-forward", "l21", "l20", "rfs", "fisher", "relieff", "mrmr")
N_FOLDS = 5


def demo(
    count: Annotated[
        int, typer.Option("-k", min=1, max=30, help="Features to keep, of the 30 there are.")
    ] = 5,
    report: Annotated[
        Path, typer.Option(metavar="OUT", help="Where to write the HTML report.")
    ] = Path("sparsieve-demo.html"),
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Compare a few methods on the breast cancer data of scikit-learn.

    Every method chooses its features inside the training part of each of the 5 folds, so the
    accuracy is that of new samples. Ends with an HTML report on the first method's selection.
    """
    with progress("Loading"):
        from sklearn.datasets import load_breast_cancer

        from .catalogue import all_methods

        data = load_breast_cancer()
        methods = all_methods()
    n_samples, n_features = data.data.shape
    chosen = [methods[name] for name in PREFERRED if name in methods]
    results = []
    for method in (None, *chosen):
        name = "all features" if method is None else method.name
        with progress(f"Cross-validating {name}"):
            selector = None if method is None else method.cls(n_features_to_select=count)
            # First, so that the time below is without compiling.
            kept = data.feature_names if selector is None else _kept_names(selector, data)
            accuracy, seconds = _cross_validated(selector, data)
        results.append(
            {
                "method": name,
                "kept": len(kept),
                "n_features": n_features,
                "accuracy": accuracy,
                "seconds": seconds,
                "features": None if selector is None else list(kept),
            }
        )
    if as_json:
        print_json(results)
        return
    print_rows(
        ("method", "features", "accuracy", "seconds"),
        [
            (
                row["method"],
                f"{row['kept']} of {n_features}",
                f"{row['accuracy']:.1%}",
                f"{row['seconds']:.2f}",
            )
            for row in results
        ],
        title=(
            f"Breast cancer data: {n_samples} samples, {n_features} features, 2 classes; "
            f"{N_FOLDS}-fold cross-validated accuracy of logistic regression"
        ),
        right=("features", "accuracy", "seconds"),
        for_reading=True,
    )
    _say_what_next(results)
    _write_report(chosen[0].cls(n_features_to_select=count), data, report)


def _write_report(selector: Any, data: Any, path: Path) -> None:
    from .._optional import MissingExtraError

    try:
        with progress("Writing the report"):
            from ..report import check_installed, selector_report

            check_installed()
            labels = data.target_names[data.target]
            selector.fit(data.data, labels)
            selector_report(
                selector,
                data.data,
                labels,
                feature_names=data.feature_names,
                title="What separates malignant from benign",
                command=command_line(),
            ).save(path)
    except MissingExtraError as error:
        say(f"\nNo report: {error}")
    else:
        say(f"\nA report on this selection, to open in any browser: {path.resolve()}")


def _cross_validated(selector: Any, data: Any) -> tuple[float, float]:
    """(mean accuracy, seconds for all folds) with the selection made anew in every fold."""
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from .._cross_validation import each_fold, make_folds

    X, y = data.data, data.target
    steps = [StandardScaler(), selector, LogisticRegression(max_iter=1000)]
    pipeline = make_pipeline(*(step for step in steps if step is not None))

    def accuracy(train: np.ndarray, test: np.ndarray) -> float:
        return clone(pipeline).fit(X[train], y[train]).score(X[test], y[test])

    start = time.perf_counter()
    accuracies = each_fold(accuracy, make_folds(y, N_FOLDS, seed=0))
    return float(np.mean(accuracies)), time.perf_counter() - start


def _kept_names(selector: Any, data: Any) -> np.ndarray:
    from sklearn.preprocessing import StandardScaler

    selector.fit(StandardScaler().fit_transform(data.data), data.target)
    return data.feature_names[selector.get_support()]


def _say_what_next(results: list[dict[str, Any]]) -> None:
    first = next((row for row in results if row["features"]), None)
    if first is not None:
        say(f"\n{first['method']} keeps: {', '.join(first['features'])}")
    say(
        "\nNext:\n"
        "  sparsieve select yourdata.csv --target label -k 20 -o selected.csv\n"
        "  sparsieve methods\n"
        "  sparsieve select --help\n"
        "\nIn Python:\n"
        "  from sparsieve import RidgeForwardSelector\n"
        "  selector = RidgeForwardSelector(n_features_to_select=20).fit(X, y)\n"
        "  X_selected = selector.transform(X)"
    )
