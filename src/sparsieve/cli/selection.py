"""One selection from options to result, without any printing."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _clock
from .._checks import sentences_of
from .._version import __version__
from ..design import RowBlockedDesign
from ..diagnosis import PermutationNull, diagnose, permutation_null
from ..diagnosis.null import looks_at_target
from ..evaluation.held_out import HeldOutCheck, checked
from ..frames.prepare import preparation
from ..io import DataError, Table
from ..selectors.ranked import RankedFeatures, ranked_features
from ..selectors.target import NO_TARGET
from .catalogue import Method
from .settings import AUTO, resolved


@dataclass(frozen=True)
class Selection:
    """What came out."""

    method: Method
    selector: Any
    parameters: dict
    table: Table
    X: Any  # what was selected from: that of the table, or what was made of it
    ranked: RankedFeatures
    n_kept: int
    seconds: float  # from the start of the command to the end of the selection
    fit_seconds: float  # and of the selection alone
    classes: np.ndarray | None
    warnings: list[str] = field(default_factory=list)
    null: PermutationNull | None = None
    oddities: list[str] = field(default_factory=list)
    certificate: Any = None
    interrupted: bool = False
    search: Any = None  # the fitted SelectorCV, where cross-validation chose the number
    prepare: str | None = None  # what was done to the features first
    check: HeldOutCheck | None = None
    unchecked: str = ""  # why there is no check, and how to have one

    @property
    def kept(self) -> np.ndarray:
        """Positions of the selected features, best first."""
        return self.ranked.features[: self.n_kept]

    @property
    def kept_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.table.feature_names[j] for j in self.kept]

    @property
    def task(self) -> str:
        """How the target was understood."""
        if not looks_at_target(self.selector):
            return NO_TARGET
        return "regression" if self.classes is None else "classification"

    @property
    def choice(self) -> str:
        """Why so many features, where cross-validation chose."""
        return "" if self.search is None else " ".join(self.search.summary().split())

    def _curve(self) -> list[dict] | None:
        """The mean score at every number tried, and its standard error."""
        if self.search is None:
            return None
        found = self.search.cv_results_
        columns = (found[name] for name in ("param_k", "mean_test_score", "error_test_score"))
        return [
            {"k": k, "mean": mean, "standard_error": error}
            for k, mean, error in zip(*(column.tolist() for column in columns), strict=True)
        ]

    @property
    def stability(self) -> str:
        """How often features were kept and how many by mistake, where halves were drawn."""
        return self.selector.summary() if hasattr(self.selector, "error_bounds_") else ""

    def _stability_facts(self) -> dict[str, Any] | None:
        if not self.stability:
            return None
        return {
            "threshold": self.selector.threshold_,
            "n_features_per_run": self.selector.n_features_per_run_,
            "n_runs": self.selector.n_subsamples,
            "error_bounds": self.selector.error_bounds_,
        }

    def kept_columns(self) -> dict[str, np.ndarray]:
        """The selected features, best first, then the target."""
        return self.table.select(self.kept).columns()

    def ranking_columns(self) -> dict[str, np.ndarray]:
        """Every feature with rank, score, p-value where there is one, and what to know of it."""
        return self.ranked.columns(self.table.feature_names)

    def as_dict(self, *, all_features: bool = False) -> dict:
        """Everything but the data, for JSON; the ranking of the selected or of all features."""
        ranking = self.ranking_columns()
        if not all_features:
            ranking = {name: column[: self.n_kept] for name, column in ranking.items()}
        return {
            "method": self.method.name,
            "class": self.method.class_name,
            "parameters": self.parameters,
            "prepare": self.prepare,
            "target": self.table.target_name or None,
            "task": self.task,
            "classes": self.classes,
            "n_samples": self.table.X.shape[0],
            "n_features": self.table.X.shape[1],
            "n_selected": self.n_kept,
            "selected": self.kept_names,
            "choice": self.choice or None,
            "curve": self._curve(),
            "stability": self._stability_facts(),
            "held_out": None if self.check is None else self.check.as_dict(),
            "score_meaning": self.ranked.meaning,
            "null": None
            if self.null is None
            else {"level": self.null.level, "n_repeats": self.null.n_repeats},
            "certificate": None if self.certificate is None else self.certificate.as_dict(),
            "ranking": [
                dict(zip(ranking, values, strict=True))
                for values in zip(*(c.tolist() for c in ranking.values()), strict=True)
            ],
            "seconds": self.seconds,
            "fit_seconds": self.fit_seconds,
            "warnings": self.warnings,
            "diagnosis": self.oddities,
            "version": __version__,
        }


def run_selection(
    method: Method,
    selector: Any,
    table: Table,
    n_shuffles: int = 0,
    certify: bool = False,
    *,
    task: str = AUTO,
    rule: str | None = None,
    prepare: str | None = None,
    started: float | None = None,
    check: bool | None = None,
) -> Selection:
    """Fit the selector on the table; a ``rule`` finds the number by cross-validation.

    ``prepare`` names what is done to the features first, and ``started`` is when the command
    began, if not now. Without a ``check`` on held-out samples being asked for or declined, it is
    made where that takes seconds.

    An interrupt that leaves the selector fitted, with the best that it had found, gives a
    selection that says so.
    """
    from .._checks import check_finite
    from ..selectors.target import with_task

    resolved(selector.get_params()["n_features_to_select"], len(table.feature_names))
    with_target = looks_at_target(selector)
    told, read_as = _reading(method, table, task) if with_target else ([], AUTO)
    selector = with_task(selector, read_as)
    search, X, made = None, table.X, preparation(prepare)
    start, interrupted = time.perf_counter(), False
    begun = _clock.clock()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            # A matrix that stays in its file is looked at by the first pass over it.
            in_memory = not isinstance(table.X, RowBlockedDesign)
            if in_memory and not getattr(method.cls, "_accepts_nan", False):
                check_finite(table.X, table.feature_names)  # with names, which arrays do not have
            _number_columns(getattr(selector, "selector", selector), table)
            X = X if made is None else made.fit_transform(X)
            if rule is not None:
                selector, search = _searched(selector, table, X, made, rule)
            else:
                selector.fit(X, table.y)
        except ValueError as error:
            raise DataError(str(error)) from error
        except TypeError as error:  # a method that needs a larger matrix in memory
            if in_memory:
                raise
            raise DataError(str(error)) from error
        except KeyboardInterrupt:
            if getattr(selector, "support_", None) is None:
                raise
            interrupted = True
    done = time.perf_counter()
    fit_seconds = _clock.clock() - begun
    task = "regression" if getattr(selector, "classes_", None) is None else "classification"
    null, certificate, oddities = None, None, []
    if not interrupted:  # who interrupts does not want to wait
        if in_memory and with_target:
            found = diagnose(table.X, table.y, feature_names=table.feature_names, task=task)
            oddities = found.for_user_of(selector, prepared=made is not None)
            oddities = [one.replace('with prepare="log-cpm"', "with --log-cpm") for one in oddities]
        if n_shuffles:
            null = permutation_null(selector, X, table.y, n_repeats=n_shuffles)
        if certify:
            certificate = selector.certify(X, table.y)
    held_out, unchecked = None, ""
    if search is not None and check is not False:
        held_out = HeldOutCheck.of(search)
    elif check is not False and with_target and in_memory and not interrupted:
        held_out, unchecked = checked(
            selector,
            *(table.X, table.y),
            task=task,
            prepare=made,
            fit_seconds=None if check else fit_seconds,
            how="--check makes it",
        )
    against = [held_out.warning] if held_out is not None and held_out.warning else []
    return Selection(
        method=method,
        selector=selector,
        parameters=selector.get_params(deep=False),
        table=table,
        X=X,
        ranked=ranked_features(selector),
        n_kept=int(selector.get_support().sum()),
        seconds=done - (start if started is None else started),
        fit_seconds=done - start,
        classes=getattr(selector, "classes_", None),
        warnings=[*told, *against, *_sentences(caught)],
        null=null,
        search=search,
        oddities=oddities,
        certificate=certificate,
        interrupted=interrupted,
        prepare=prepare,
        check=held_out,
        unchecked=unchecked,
    )


def _reading(method: Method, table: Table, task: str) -> tuple[list[str], str]:
    """A sentence on how y is read, where there is one to say, and the task."""
    from ..selectors.target import read_task

    y = np.asarray(table.y)
    if task != AUTO or y.ndim != 1:
        return [], task
    if not method.takes_regression:
        return [], "classification"
    read_as, sentence = read_task(y, option="--task {}")
    sentence = sentence.replace("y holds", f"{table.target_name} holds", 1)
    return [sentence] * bool(sentence), read_as


def _searched(selector: Any, table: Table, X: Any, prepare: Any, rule: str) -> tuple[Any, Any]:
    """The search for the number of features, after the selector fitted with that number."""
    from ..choose import SelectorCV

    search = SelectorCV(selector, rule=rule, prepare=prepare).fit(table.X, table.y)
    return selector.reaching(search.best_k_).fit(X, table.y), search


def _number_columns(selector: Any, table: Table) -> None:
    """Columns that parameters call by name, by their place: the array has no names."""
    from ..selectors.fixed import columns_mask

    for name in ("always_keep", "never_keep"):
        columns = getattr(selector, name, None)
        if columns is not None:
            columns = [columns] if isinstance(columns, str) else columns
            names = list(table.feature_names)
            mask = columns_mask(name, columns, len(names), names)
            selector.set_params(**{name: np.flatnonzero(mask).tolist()})


def _sentences(caught: Any) -> list[str]:
    """What the selector warned the user of, once each; warnings for developers left out."""
    return sentences_of([one for one in caught if issubclass(one.category, UserWarning)])
