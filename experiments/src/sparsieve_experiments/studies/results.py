"""Finished cells as tables: one row per number of features and model, and means."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np

from sparsieve.scoring.metrics import ALL_METRICS, column_name, find_metrics, gain

from .checked import trouble_with
from .names import ALL_FEATURES
from .store_reader import StoreReader

_FACTS = ("redundancy_signed", "redundancy_absolute", "precision", "recall")
# What the rows of one mean have in common.
_PLACE = (
    "study", "dataset", "task", "selector", "class", "parameters", "tuning", "protocol",
    "classifier", "k",
)  # fmt: skip


class ScoreTable(NamedTuple):
    """Mean scores of every selector on every data set, ready for the statistics.

    Attributes
    ----------
    scores : ndarray of shape (n_datasets, n_selectors)
        Larger is better.
    datasets, selectors : list of str
        Names of the rows and of the columns.

    See Also
    --------
    sparsieve_experiments.studies.score_table : Data sets by selectors, for the statistics.
    sparsieve.scoring.friedman_nemenyi : All methods over several data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsieve.scoring import average_ranks
    >>> from sparsieve_experiments.studies import ScoreTable
    >>> table = ScoreTable(np.array([[0.9, 0.8], [0.7, 0.6]]), ["wine", "iris"], ["mrmr", "fisher"])
    >>> dict(zip(table.selectors, average_ranks(table.scores).tolist(), strict=True))
    {'mrmr': 1.0, 'fisher': 2.0}
    """

    scores: np.ndarray
    datasets: list[str]
    selectors: list[str]


def result_rows(store: StoreReader, study: str | None = None) -> list[dict[str, Any]]:
    """Every score of the finished cells as flat rows.

    Parameters
    ----------
    store : StoreReader
        Open for reading.
    study : str, default=None
        Only this study; all studies of the store if not given.

    Returns
    -------
    rows : list of dict
        ``tuning`` says in every row how the parameters are chosen: "none", "inner-cv", or
        "best-on-test" for the candidates of an optimistic choice on the test samples. ``k`` is
        None where the model's own number of features was asked for; that of AllFeatures is the
        number of features there are, whatever was asked for. ``chosen`` are the parameters found
        by "inner-cv". ``features`` names what the largest selection keeps, ``feature_indices``
        says where. ``task`` is how the target was read, and decides which scores there are, None
        where one is not defined on the test samples; errors are positive, as "log_loss" for
        scikit-learn's "neg_log_loss";
        ``classifier`` is the model, also for regression. ``n_columns`` are those that the
        selector saw, others than ``n_features`` where something came before it. ``warnings`` are
        those of the fit: a model that did not converge says so.

    See Also
    --------
    sparsieve_experiments.studies.kept_rows : Every kept feature as a row.
    sparsieve_experiments.studies.summarise : Means and standard deviations over the splits.
    sparsieve_experiments.studies.standings : Selectors compared where they can be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study, result_rows, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(2), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         rows = result_rows(store)
    >>> len(rows), rows[0]["k"]  # one for each fold
    (2, 2)
    """
    return [row for name, cell in _finished(store, study) for row in _cell_rows(name, cell)]


def kept_rows(store: StoreReader, study: str | None = None) -> list[dict[str, Any]]:
    """What every finished cell keeps, one row per feature.

    Parameters
    ----------
    store : StoreReader
        Open for reading.
    study : str, default=None
        Only this study; all studies of the store if not given.

    Returns
    -------
    rows : list of dict
        Study, data set, selector, split, and for every feature of the largest selection its
        ``rank`` (1 is the best, where the selector ranks), name and index.

    See Also
    --------
    sparsieve_experiments.studies.result_rows : Every score as a row.
    sparsieve_experiments.studies.StoreReader : Reads a store.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study, kept_rows, run_study
    >>> study = Study("small", ["wine"], ["fisher"], Folds(2), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         rows = kept_rows(store)
    >>> len(rows)  # 2 folds x 2 features
    4
    """
    return [
        {
            "study": name,
            "dataset": cell["spec"]["dataset"],
            "selector": cell["spec"]["label"],
            "parameters": json.dumps(cell["spec"]["parameters"], sort_keys=True),
            "repeat": cell["spec"]["repeat"],
            "fold": cell["spec"]["fold"],
            "rank": rank,
            "feature": feature,
            "index": index,
        }
        for name, cell in _finished(store, study)
        for rank, (feature, index) in enumerate(
            zip(_feature_names(cell["result"]), cell["result"]["features"], strict=True), start=1
        )
    ]


def _finished(store: StoreReader, study: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Finished cells of studies, not of jobs (see run_jobs), with the study's name."""
    for name in store.studies() if study is None else [study]:
        for cell in store.cells(name, states=("done",)):
            if "fingerprint" in cell["spec"]:
                wrong = trouble_with(cell)
                if wrong:
                    raise store.damaged(f"cell {cell['key'][:12]!r}: {wrong}")
                yield name, cell


def _feature_names(result: dict[str, Any]) -> list[str]:
    """As the data call them; stores of the first version know only where they are."""
    return result.get("feature_names") or [f"x{j}" for j in result["features"]]


def _cell_rows(study: str, cell: dict[str, Any]) -> list[dict[str, Any]]:
    spec, result = cell["spec"], cell["result"]
    facts = {selection["k"]: selection for selection in result["selections"]}
    some: dict[str, Any] = next(iter(facts.values()), {})
    metrics = list(map(column_name, spec.get("metrics", ALL_METRICS)))  # the first decides
    before = {
        "study": study,
        "dataset": spec["dataset"],
        "n_samples": spec["n_samples"],
        "n_features": spec["n_features"],
        "task": spec.get("task", "classification"),
        "selector": spec["label"],
        "class": spec["selector"],
        "parameters": json.dumps(spec["parameters"], sort_keys=True),
        "tuning": spec["tuning"],
        "chosen": json.dumps(result["chosen"], sort_keys=True),
        "protocol": json.dumps(spec["protocol"], sort_keys=True),
        "repeat": spec["repeat"],
        "fold": spec["fold"],
        "n_train": result["n_train"],
        "n_test": result["n_test"],
        "seed": spec["seed"],
    }
    software = result["software"]
    after = {
        "n_columns": result.get("n_columns", spec["n_features"]),
        "seconds": result["seconds"],
        "peak_mib": result["peak_mib"],
        "memory_source": result["memory_source"],
        "warnings": " | ".join(result["warnings"]),
        "features": json.dumps(_feature_names(result), ensure_ascii=False),
        "feature_indices": json.dumps(result["features"]),
        "fingerprint": spec["fingerprint"],
        **{f"{name.replace('-', '_')}_version": version for name, version in software.items()},
        "machine": "; ".join(str(value) for value in result["machine"].values()),
        "finished_at": datetime.fromtimestamp(cell["finished_at"], UTC).isoformat(),
        "cell": cell["key"],
    }
    return [
        {
            **before,
            **{name: value for name, value in score.items() if name not in ALL_METRICS},
            **{metric: score[metric] for metric in metrics if metric in score},
            **{name: facts.get(score["k"], some).get(name) for name in _FACTS},
            **after,
        }
        for score in _scores(spec, result)
    ]


def _scores(spec: dict[str, Any], result: dict[str, Any]) -> list[dict[str, Any]]:
    """The scores, those of AllFeatures once instead of at every number that it ignores."""
    scores = result["scores"]
    if spec["selector"] != ALL_FEATURES or any(score["k"] is None for score in scores):
        return scores
    once = {score["classifier"]: score for score in scores}
    every = result.get("n_columns", spec["n_features"])
    return [{**score, "k": every, "n_selected": every} for score in once.values()]


def summarise(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard deviation over the splits.

    Parameters
    ----------
    rows : list of dict
        From :func:`result_rows`.

    Returns
    -------
    means : list of dict
        One for every data set, selector, parameters, classifier and k: ``n_splits``, the mean
        and, as ``<metric>_sd``, the standard deviation of every metric, and the means of
        n_selected, redundancy, recovery, seconds and memory; ``n_warned`` splits warned of
        ``warnings``. Where ``tuning`` is "best-on-test"
        only the parameters with the best mean of the first metric are left.

    See Also
    --------
    sparsieve_experiments.studies.result_rows : Every score as a row.
    sparsieve_experiments.studies.standings : Selectors compared where they can be.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study
    >>> from sparsieve_experiments.studies import result_rows, run_study, summarise
    >>> study = Study("small", ["wine"], ["fisher"], Folds(2), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         means = summarise(result_rows(store))
    >>> [row["n_splits"] for row in means]
    [2]
    """
    groups: dict[tuple, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[tuple(row.get(name) for name in _PLACE)].append(row)
    means = [_mean(dict(zip(_PLACE, place, strict=True)), group) for place, group in groups.items()]
    best: dict[tuple, dict[str, Any]] = {}
    for mean in means:
        same = ("study", "dataset", "selector", "tuning", "protocol", "classifier", "k")
        place = tuple(mean[name] for name in same)
        if mean["tuning"] != "best-on-test":
            place += (mean["parameters"],)
        if place not in best or _gain(mean) > _gain(best[place]):
            best[place] = mean
    return list(best.values())


def _gain(mean: Mapping[str, Any]) -> float:
    """The first score, larger is better."""
    metric = find_metrics(mean)[0]
    return -np.inf if mean[metric] is None else gain(metric, mean[metric])


def _mean(place: dict[str, Any], rows: list[Mapping[str, Any]]) -> dict[str, Any]:
    mean: dict[str, Any] = {**place, "n_splits": len(rows)}
    for name in find_metrics(rows[0]):
        values = np.array([row[name] for row in rows if row[name] is not None])
        mean[name] = float(values.mean()) if len(values) else None
        mean[f"{name}_sd"] = float(values.std(ddof=1)) if len(values) > 1 else None
    for name in ("n_selected", *_FACTS, "seconds", "peak_mib"):
        known = [row[name] for row in rows if row[name] is not None]
        mean[name] = float(np.mean(known)) if known else None
    said = [row["warnings"] for row in rows if row.get("warnings")]
    mean["n_warned"] = len(said)
    mean["warnings"] = " | ".join(dict.fromkeys(said))
    return mean


def score_table(
    rows: Sequence[Mapping[str, Any]],
    *,
    classifier: str,
    k: int | None,
    metric: str = "accuracy",
) -> ScoreTable:
    """Mean scores as a matrix of data sets x selectors.

    Parameters
    ----------
    rows : list of dict
        From :func:`result_rows`.
    classifier : str
        The model whose scores count.
    k : int or None
        None for studies with ``ks="own"``.
    metric : str, default="accuracy"
        The score.

    Returns
    -------
    table : ScoreTable
        ``scores`` (larger is better: errors such as "mae" are negative), ``datasets``,
        ``selectors``. A data set on which a selector has no score, or of a task without this
        metric, is left out. Selectors whose parameters were chosen on the test
        samples say so in their names.

    See Also
    --------
    sparsieve_experiments.studies.ScoreTable : What is returned.
    sparsieve.scoring.friedman_nemenyi : All methods over several data sets.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from sparsieve.scoring import Folds
    >>> from sparsieve_experiments.studies import StoreReader, Study
    >>> from sparsieve_experiments.studies import result_rows, run_study, score_table
    >>> study = Study("small", ["wine"], ["fisher"], Folds(2), ks=[2], classifiers=["1nn"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "small.sqlite"
    ...     done = run_study(study, path)
    ...     with StoreReader(path) as store:
    ...         table = score_table(result_rows(store), classifier="1nn", k=2)
    >>> table.datasets, table.scores.shape
    (['wine'], (1, 1))
    """
    found = {
        (mean["dataset"], mean["selector"]): gain(metric, mean[metric])
        for mean in summarise(rows)
        if mean["classifier"] == classifier and mean["k"] == k and mean.get(metric) is not None
    }
    selectors = list(dict.fromkeys(selector for _, selector in found))
    datasets = [
        dataset
        for dataset in dict.fromkeys(dataset for dataset, _ in found)
        if all((dataset, selector) in found for selector in selectors)
    ]
    scores = [[found[dataset, selector] for selector in selectors] for dataset in datasets]
    return ScoreTable(np.array(scores), datasets, selectors)


def as_columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, np.ndarray]:
    """Rows as named columns, for :func:`sparsieve.app.io.write_table`; missing numbers are NaN.

    Examples
    --------
    >>> from sparsieve_experiments.studies.results import as_columns
    >>> as_columns([{"k": 1, "name": "a"}, {"k": None, "name": "b"}])["k"].tolist()
    [1.0, nan]
    """
    columns = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        values = [row.get(name) for row in rows]
        if any(value is None for value in values):
            values = [float("nan") if value is None else value for value in values]
        columns[name] = np.array(values)
    return columns
