"""One selection from options to result, without any printing."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._version import __version__
from ...diagnosis.null import looks_at_target
from ...meta import SelectorCV
from ...preprocessing.covariates import describe_preparation
from ...preprocessing.table import rows_of
from ...registry import Method
from ...selection import SelectedFeatures, select
from ...selection.claims import Claims
from ...selection.covariates import is_in_memory
from ...selection.relation import TREES
from ...selectors.preparation import find_groups
from ...selectors.ranked import RankedFeatures, ranked_features
from ...validation.target import NO_TARGET
from ..io import DataError, Table
from .options import about_target, as_options
from .output import UsageError, collect_warnings
from .settings import AUTO, find_method
from .tables import Preparing


@dataclass(frozen=True)
class Selection:
    """What came out, in the words of the command line."""

    method: Method
    table: Table
    selected: SelectedFeatures
    seconds: float  # from the start of the command to the end of the selection
    caught: list[str]  # what the fit warned of
    claims: Claims | None = None  # tests beside a selection by prediction

    @property
    def selector(self) -> Any:
        """The fitted selector: inside the search, where cross-validation chose the number."""
        return self.selected.method

    @property
    def search(self) -> SelectorCV | None:
        """The search for the number of features, if there was one."""
        found = self.selected.selector
        return found if isinstance(found, SelectorCV) else None

    @cached_property
    def ranking(self) -> RankedFeatures:
        """All features, best first, without covariates."""
        found = ranked_features(self.selector)
        return found.drop_columns(self.selected.covariates.places)

    @property
    def n_kept(self) -> int:
        """How many features are selected."""
        beside = self.selected.covariates.places
        return int(self.selector.get_support().sum()) - len(beside)

    @cached_property
    def group_columns(self) -> dict[str, np.ndarray] | None:
        """Rank and name of the feature group of every column, best first; None without groups."""
        groups = find_groups(self.selector)
        if groups is None:
            return None
        best = groups.of_columns(self.selector.group_ranking_)[self.ranking.features]
        return {
            "rank": np.unique(self.selector.group_ranking_[best], return_inverse=True)[1] + 1,
            "group": self.selector.group_names_[best].astype(str),
        }

    @property
    def positions(self) -> np.ndarray:
        """Positions of the selected features, best first."""
        return self.ranking.features[: self.n_kept]

    @property
    def kept_names(self) -> list[str]:
        """Names of the selected features, best first."""
        return [self.table.feature_names[j] for j in self.positions]

    @property
    def classes(self) -> np.ndarray | None:
        """The labels, if the target has classes."""
        return getattr(self.selector, "classes_", None)

    @property
    def task(self) -> str:
        """How the target was understood."""
        return self.selected.task if looks_at_target(self.selector) else NO_TARGET

    @cached_property
    def warnings(self) -> list[str]:
        """What the user should know before using the selection."""
        against = self.selected.nothing_found
        others = [about_target(one, self.table) for one in self.caught if one != against]
        return [against, *others] if against else others

    @cached_property
    def oddities(self) -> list[str]:
        """What is odd about the data."""
        if self.selected.interrupted or not looks_at_target(self.selector):
            return []
        return [about_target(one, self.table) for one in self.selected.oddities]

    @property
    def why_no_check(self) -> str:
        """Why there is no check on held-out samples, and how to have one."""
        if not is_in_memory(self.selected.X):
            return ""
        return as_options(self.selected.unchecked)

    @property
    def choice(self) -> str:
        """Why so many features, where cross-validation chose."""
        if self.search is None:
            return ""
        return " ".join(self.search.summary().split())

    def _curve(self) -> list[dict[str, Any]] | None:
        """The mean score at every number tried, and its standard error."""
        if self.search is None:
            return None
        found = self.search.cv_results_
        shown = {"k": "param_k", "mean": "mean_test_score", "standard_error": "error_test_score"}
        curve = {name: found[key] for name, key in shown.items()}
        return rows_of(curve | {"k": curve["k"] - self.search._n_beside})

    @property
    def stability(self) -> str:
        """How often features were kept and how many by mistake, where halves were drawn."""
        return self.selector.summary() if hasattr(self.selector, "error_bounds_") else ""

    @property
    def claim_report(self) -> str:
        """What can be claimed, where that was asked for."""
        return as_options(self.selected.verdict if self.claims is None else str(self.claims))

    def _claim_facts(self) -> dict[str, Any] | None:
        if self.claims is None and not self.claim_report:
            return None
        return (self.claims or self.selected.claims()).as_dict()

    def _covariate_facts(self) -> dict[str, Any]:
        if not (beside := self.selected.covariates.names):
            return {}
        alone = self.selected.covariates_alone
        facts = None if alone is None else alone.as_dict()
        return {"covariates": list(beside), "covariates_alone": facts}

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
        return self.table.select(self.positions).columns()

    def ranking_columns(self) -> dict[str, np.ndarray]:
        """Every feature with rank, score, p-value where there is one, and what to know of it."""
        columns = self.ranking.columns(self.table.feature_names)
        if self.group_columns is None:
            return columns
        return {"rank": self.group_columns["rank"], "group": self.group_columns["group"]} | {
            name: values for name, values in columns.items() if name != "rank"
        }

    def as_dict(self, *, all_features: bool = False) -> dict[str, Any]:
        """Everything but the data, for JSON; the ranking of the selected or of all features."""
        ranking = self.ranking_columns()
        if not all_features:
            ranking = {name: column[: self.n_kept] for name, column in ranking.items()}
        check, null, proof = self.selected.check, self.selected.null, self.selected.certificate
        return {
            "method": self.method.name,
            "class": self.method.class_name,
            "parameters": self.selector.get_params(deep=False),
            "prepare": describe_preparation(self.selected.prepare),
            "target": self.table.target_name or None,
            "task": self.task,
            "classes": self.classes,
            "n_samples": self.table.X.shape[0],
            "n_left_out": self.table.n_left_out,
            "n_features": self.table.X.shape[1],
            "n_selected": self.n_kept,
            **({"feature_groups": self.selected.feature_groups} if self.group_columns else {}),
            "selected": self.kept_names,
            "choice": self.choice or None,
            "curve": self._curve(),
            "stability": self._stability_facts(),
            "claims": self._claim_facts(),
            "held_out": None if check is None else check.as_dict(),
            **self._covariate_facts(),
            "score_meaning": self.ranking.meaning,
            "null": None if null is None else {"level": null.level, "n_repeats": null.n_repeats},
            "certificate": None if proof is None else proof.as_dict(),
            "ranking": rows_of(ranking),
            "seconds": self.seconds,
            "fit_seconds": self.selected.fit_seconds,
            "warnings": self.warnings,
            "diagnosis": self.oddities,
            "version": __version__,
        }


def run_selection(
    method: Method,
    selector: Any,
    table: Table,
    *,
    started: float,
    preparing: Preparing,
    open_how: dict[str, Any] | None = None,
    **options: Any,
) -> Selection:
    """Call ``select`` on the table; errors speak of options and columns.

    ``started`` is when the command began, and ``options`` are those of :func:`~sparsieve.select`.
    Where nobody named a method, ``open_how`` holds what is left to say, and ``select`` takes one.
    """
    if options["k"] != AUTO and not looks_at_target(selector):
        options["check"] = False  # there is no target that the features were chosen for
    with collect_warnings() as said:
        try:
            selected = select(
                table,
                method=selector if open_how is None else AUTO,
                prepare=preparing.steps(table),
                **(open_how or {}),
                **options,
            )
        except ValueError as error:
            sentence = as_options(str(error))
            if (about_k := re.sub("^k=", "-k ", sentence)) != sentence:
                raise UsageError(about_k.replace(" of X;", " of the table;")) from None
            raise DataError(sentence) from error
        except TypeError as error:
            if not hasattr(table.X, "passes"):
                raise
            raise DataError(str(error)) from error  # a method that needs the matrix in memory
    relation = selected.relation
    if relation is not None and relation.choice == "trees":
        method = find_method(TREES)
    return Selection(method, table, selected, time.perf_counter() - started, said)
