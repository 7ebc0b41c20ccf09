"""What ``sparsieve predict`` reads and writes: a model, new rows, and columns of predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...persistence import SavedFileError, load
from ...selection.predicting import SavedSelection
from ..io import DataError, Table
from ..io.layout import full_suffix
from ..io.read import ENCODES_TEXT, read_table
from .live import progress
from .options import as_options
from .output import UsageError, say


def load_model(path: Path) -> SavedSelection:
    """The model in a file."""
    try:
        saved = load(path)
    except SavedFileError as error:
        raise DataError(str(error)) from None
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror or error}") from None
    if not isinstance(saved, SavedSelection):
        raise DataError(
            f"{path.name} holds a {type(saved).__name__}, not a model that predicts; write one "
            "with sparsieve select --model"
        )
    return saved


def model_rows(saved: SavedSelection, table: Table) -> Any:
    """The rows of a table whose text was left as it is, as the model takes them."""
    names = saved.model[0].columns
    if names is None:
        return table.X
    known = {name: j for j, name in enumerate(table.feature_names)}
    if saved.model[0].encode is None and all(name in known for name in names):
        return table.X[:, [known[name] for name in names]]
    own = {name: table.X[:, j] for name, j in known.items()} | dict(table.texts)
    return own | dict(table.covariates)


def check_decides(saved: SavedSelection, rule: dict[str, Any]) -> None:
    """Refuse a rule for classes where the model has no probabilities of them."""
    if not hasattr(saved, "predict_proba"):
        option = f"--{next(iter(rule)).replace('_', '-')}"
        remedy = f"its task is {saved.task}"
        if saved.task == "classification":
            remedy = "write it with sparsieve select --model --calibrate"
        raise UsageError(
            f"{option} needs probabilities of classes, which this model does not have: {remedy}"
        )


def read_rows(
    saved: SavedSelection,
    path: Path,
    second: Path | None,
    given: dict[str, Any],
    *,
    groups: str | None,
    quiet: bool,
) -> Table:
    """The rows of the file, every one of them, read as the training data were."""
    how = _reading(saved, path) | {name: v for name, v in given.items() if v is not None}
    covariates = how.pop("covariates", [])
    only = saved.model[0].columns
    is_frame = full_suffix(path) in ENCODES_TEXT
    how |= {
        "needs_target": False,
        "groups": groups,
        "encode_text": "raw" if only is not None and is_frame else False,
        "only": only,
    }
    if second is None:
        # An id that was named in training is not asked of new rows, which may do without.
        if given["sample_id"] is None:
            how |= {"sample_id": None, "id_if_there": saved.id_name or None}
    else:
        if not covariates:
            raise UsageError(
                "--covariates-file is for models with covariates, and this one has none"
            )
        how |= {"target_file": second, "covariates": covariates}
    with progress(f"Reading {path.name}", quiet=quiet):
        try:
            table = read_table(path, **how)
        except DataError as error:
            raise DataError(f"{error}{_other_way(path, how)}") from None
    if second is not None and not quiet:
        say(*(f"note: {note}" for note in table.notes if note.startswith("matched ")))
    return table


def _reading(saved: SavedSelection, path: Path) -> dict[str, Any]:
    """How the training data were read, as far as files of this kind can be read so."""
    known = dict(saved.reading or {})
    is_text = full_suffix(path) in ENCODES_TEXT and full_suffix(path) != ".parquet"
    for name in ("transpose", "encoding", "comment"):
        if not is_text:
            known.pop(name, None)
    if full_suffix(path) != ".h5ad":
        known.pop("layer", None)
    return known


def _other_way(path: Path, how: dict[str, Any]) -> str:
    """That a table has its features in rows, or in columns, where it could be read so."""
    if full_suffix(path) not in ENCODES_TEXT or full_suffix(path) == ".parquet" or not how["only"]:
        return ""
    turned = not how.get("transpose", False)
    alone = {"target_file": None, "covariates": (), "groups": None, "sample_id": None}
    try:
        read_table(path, **how | alone | {"transpose": turned})
    except (DataError, ValueError):
        return ""
    where, option = ("rows", "--transpose") if turned else ("columns", "--no-transpose")
    return f"; its features are in {where}: add {option}"


def predict_columns(
    saved: SavedSelection,
    table: Table,
    times: list[float],
    rule: dict[str, Any],
    *,
    explain: bool = False,
) -> dict[str, np.ndarray]:
    """The columns to write."""
    columns: dict[str, np.ndarray] = {"row": np.arange(1, table.X.shape[0] + 1)}
    if table.ids is not None:
        columns = {table.id_name or "id": table.ids}
    try:
        X = model_rows(saved, table)
        found = np.asarray(saved.decide(X, **rule) if rule else saved.predict(X))
        if found.ndim == 1:
            columns["risk" if saved.task == "survival" else "prediction"] = found
        else:
            columns |= {f"prediction {j}": part for j, part in enumerate(found.T)}
        if hasattr(saved, "predict_proba"):
            shares: Any = saved.predict_proba(X)
            for label, share in zip(saved.model.classes_, np.asarray(shares).T, strict=True):
                columns[f"probability of {label}"] = share
        elif saved.task == "classification" and hasattr(saved, "decision_function"):
            # A rare class is seldom predicted; which rows come nearest to it can still be seen.
            scores, labels = np.asarray(saved.decision_function(X)), saved.model.classes_
            parts = scores[:, None] if scores.ndim == 1 else scores
            for label, part in zip(labels[-parts.shape[1] :], parts.T, strict=True):
                columns[f"score for {label}"] = part
        if times:
            survival = saved.predict_survival(X, times, strata=_strata(saved, table))
            for time, share in zip(times, survival.T, strict=True):
                columns[f"survival at {time:g}"] = share
        if explain:
            columns |= _contributions(saved, X, found)
    except ValueError as error:
        sentence = as_options(str(error)).replace("X lacks", "the table lacks")
        known = {*table.feature_names, *table.texts, *table.covariates}
        if "the table lacks" in sentence and {*(saved.reading or {}).get("covariates", ())} - known:
            sentence += "; covariates of another table: --covariates-file OTHER"
        raise DataError(sentence) from error
    return columns


def _contributions(saved: SavedSelection, X: Any, found: np.ndarray) -> dict[str, np.ndarray]:
    """Decision, base and contributions of every row; of several classes those to the predicted."""
    why = saved.explain(X)
    shares, base, decision, meaning = why.contributions, why.base, why.decision, why.meaning
    if saved.task == "classification" and shares.ndim == 3:
        rows, place = np.arange(len(found)), np.searchsorted(saved.classes_, found)
        shares, decision, base = shares[rows, :, place], decision[rows, place], base[place]
        meaning = "score of the prediction"
    if shares.ndim == 2:
        made = {meaning if meaning != "prediction" else "predicted number": decision}
        made["base"] = np.broadcast_to(base, decision.shape)
        parts = zip(why.features, shares.T, strict=True)
        return made | {f"contribution of {name}": part for name, part in parts}
    made = {}
    for j in range(shares.shape[2]):
        made[f"base {j}"] = np.full(len(shares), base[j])
        for name, part in zip(why.features, shares[:, :, j].T, strict=True):
            made[f"contribution of {name} to prediction {j}"] = part
    return made


def _strata(saved: SavedSelection, table: Table) -> list[Any] | None:
    """The stratum of every row, as the model knows it: as text or as a number."""
    if table.groups is None:
        return None
    known = {str(one): one for one in getattr(saved.model[-1], "strata_", ())}
    return [known.get(one, one) for one in table.groups.tolist()]
