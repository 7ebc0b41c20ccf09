"""One selection from options to result, without any printing."""

from __future__ import annotations

import ast
import difflib
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from .._version import __version__
from ..io import DataError, Table
from .catalogue import Method
from .errors import UsageError

# These have options of their own.
_OPTION_OF = {"n_features_to_select": "-k", "task": "--task"}


@dataclass(frozen=True)
class Selection:
    """What came out; ``order`` holds all feature positions, best first."""

    method: Method
    selector: Any
    parameters: dict
    table: Table
    order: np.ndarray
    scores: np.ndarray
    n_kept: int
    seconds: float
    classes: np.ndarray | None
    warnings: list[str] = field(default_factory=list)

    @property
    def kept(self) -> np.ndarray:
        """Positions of the selected features, best first."""
        return self.order[: self.n_kept]

    @property
    def kept_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.table.feature_names[j] for j in self.kept]

    @property
    def task(self) -> str:
        """How the target was understood."""
        return "regression" if self.classes is None else "classification"

    def kept_columns(self) -> dict[str, np.ndarray]:
        """The selected features in the order of the file, then the target."""
        return self.table.select(np.sort(self.kept)).columns()

    def ranking_columns(self) -> dict[str, np.ndarray]:
        """Every feature with rank, score and whether it was selected, best first."""
        n_features = len(self.order)
        return {
            "rank": np.arange(1, n_features + 1),
            "feature": np.array([self.table.feature_names[j] for j in self.order]),
            "score": self.scores[self.order],
            "selected": np.arange(n_features) < self.n_kept,
        }

    def as_dict(self) -> dict:
        """Everything but the data, for JSON."""
        ranking = self.ranking_columns()
        return {
            "method": self.method.name,
            "class": self.method.cls.__name__,
            "parameters": self.parameters,
            "target": self.table.target_name,
            "task": self.task,
            "classes": self.classes,
            "n_samples": self.table.X.shape[0],
            "n_features": self.table.X.shape[1],
            "n_selected": self.n_kept,
            "selected": self.kept_names,
            "ranking": [
                dict(zip(ranking, values, strict=True))
                for values in zip(*(c.tolist() for c in ranking.values()), strict=True)
            ],
            "seconds": self.seconds,
            "warnings": self.warnings,
            "version": __version__,
        }


def parse_count(text: str | None) -> int | float | None:
    """``-k`` as an int or a fraction."""
    from .._checks import resolve_count

    if text is None:
        return None
    count = _literal(text)
    if isinstance(count, bool) or not isinstance(count, (int, float)):
        raise UsageError(f"-k must be a number of features or a fraction such as 0.1, got {text!r}")
    if isinstance(count, float) or count < 1:
        _resolved(resolve_count, count, n_features=1)
    return count


def _resolved(resolve_count, count, n_features: int) -> int:
    try:
        return resolve_count(count, n_features, default=n_features)
    except ValueError as error:
        raise UsageError(str(error).replace("n_features_to_select", "-k")) from None


def build_selector(method: Method, count, task: str, settings: Sequence[str]):
    """The unfitted selector that the options describe."""
    selector = method.cls(n_features_to_select=count)
    known = selector.get_params(deep=False)
    for setting in settings:
        name, equals, text = setting.partition("=")
        name = name.strip()
        if not equals or not name:
            raise UsageError(f"--param wants name=value, got {setting!r}")
        if name in _OPTION_OF:
            raise UsageError(f"use {_OPTION_OF[name]} instead of --param {name}")
        if name not in known:
            raise UsageError(_unknown_parameter(name, method, known))
        selector.set_params(**{name: _literal(text)})
    if task == "regression" and not method.takes_regression:
        raise UsageError(
            f"{method.name} selects for class labels only; sparsieve methods shows which methods "
            "take regression"
        )
    if "task" in known:
        selector.set_params(task=task)
    try:
        getattr(selector, "_check_parameters", lambda: None)()
    except ValueError as error:
        raise UsageError(f"--param: {error}") from None
    return selector


def _unknown_parameter(name: str, method: Method, known) -> str:
    from ..selectors.renamed import replacement

    if (instead := replacement(method.cls, name)) is not None:
        return f"{method.name} has no parameter {name!r} any more; use {instead}"
    offered = [other for other in known if other not in _OPTION_OF]
    close = difflib.get_close_matches(name, offered, n=1)
    hint = f"did you mean {close[0]}?" if close else f"it has {', '.join(offered) or 'none'}"
    return f"{method.name} has no parameter {name!r}; {hint}"


def _literal(text: str):
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        return text.strip()


def run_selection(method: Method, selector, table: Table) -> Selection:
    """Fit the selector on the table."""
    from .._checks import check_finite, resolve_count

    if sparse.issparse(table.X) and not method.takes_sparse:
        raise DataError(
            f"the features are sparse but {method.name} takes dense ones only; sparsieve methods "
            "shows which methods take sparse features"
        )
    _resolved(
        resolve_count, selector.get_params()["n_features_to_select"], len(table.feature_names)
    )
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if not getattr(method.cls, "_accepts_nan", False):
                check_finite(table.X, table.feature_names)  # with names, which arrays do not have
            selector.fit(table.X, table.y)
        except ValueError as error:
            raise DataError(str(error)) from error
    return Selection(
        method=method,
        selector=selector,
        parameters=selector.get_params(deep=False),
        table=table,
        order=np.argsort(selector.ranking_),
        scores=selector.scores_,
        n_kept=int(selector.get_support().sum()),
        seconds=time.perf_counter() - start,
        classes=getattr(selector, "classes_", None),
        warnings=_sentences(caught),
    )


def _sentences(caught) -> list[str]:
    """What the selector warned the user of, once each; warnings for developers left out."""
    for_user = [w for w in caught if issubclass(w.category, UserWarning)]
    return list(dict.fromkeys(" ".join(str(w.message).split()) for w in for_user))
