"""What a fit leaves behind, how it went, and what a notebook shows of it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import estimator_html_repr

from .._checks import warn_user
from .._saved import Maybe, Savable
from ..solvers.base import Path, Result
from ..validation.columns import FixedColumns
from ..validation.feature_groups import FeatureGroups
from .preparation import find_groups, unit_masks, unit_phrase
from .ranked import ranked_features

SHOWN_FEATURES = 10
SHOWN_CLASSES = 6
LONGEST_NAME = 60

# Attributes worth a glance where they exist, as shown.
_FACTS = {
    "best_score_": "cross-validated score {:.3g}",
    "error_bound_": "at most {:.2g} false positives expected",
    "worst_case_accuracy_": "worst-case accuracy {:.3g}",
    "objective_": "objective {:.4g}",
    "optimality_": "optimality {:.2g}",
    "n_iter_": "{:,} iterations",
}
# Inherited text colour and see-through greys are readable on light and dark pages alike.
BOX = "margin: 0 0 0.6em 0; padding: 0.4em 0.8em; border-left: 4px solid cornflowerblue;"
_CELL = "padding: 0.1em 1em 0.1em 0; border: none; background: none; color: inherit;"
_WARNING = (
    "display: inline-block; margin-top: 0.3em; padding: 0.1em 0.5em; "
    "background: rgba(255, 160, 0, 0.25);"
)


class ShownInNotebooks:
    """What a notebook shows of a selector, and the link to its documentation."""

    _doc_link_module = "sparsieve"
    _doc_link_url_param_generator = None

    def _html_repr(self) -> str:
        return selector_html(self)

    # scikit-learn does the rest itself, but version 1.6 does not ask for ``_html_repr``.
    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if get_config()["display"] == "diagram":
            shown["text/html"] = self._html_repr()
        return shown

    def _get_doc_link(self) -> str:
        home = documentation()
        name = type(self).__name__
        is_ours = type(self).__module__.startswith("sparsieve.")
        return f"{home}/api/sparsieve.{name}.html" if home and is_ours else ""


@lru_cache(maxsize=1)
def documentation() -> str:
    """The address of the documentation in the metadata of the package, or nothing."""
    try:
        links = metadata("sparsieve").get_all("Project-URL") or []
    except PackageNotFoundError:  # run from a folder of sources
        return ""
    found = [link.partition(",")[2].strip() for link in links if link.startswith("Documentation,")]
    return found[0].rstrip("/") if found else ""


def selector_html(selector: Any) -> str:
    """HTML of a selector, with a summary of the selection where it is fitted.

    Parameters
    ----------
    selector : BaseSelector
        Fitted or not.

    Returns
    -------
    html : str
        A fragment; all text from the data is escaped.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.fitted import selector_html
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> "Kept 3 of 13 features" in selector_html(FisherSelector(3).fit(X, y))
    True
    """
    # A fit that failed half-way leaves an object without a selection.
    fitted = hasattr(selector, "support_") and hasattr(selector, "ranking_")
    return (_summary(selector) if fitted else "") + estimator_html_repr(selector)


def _summary(selector: Any) -> str:
    n_kept, n_features = int(selector.support_.sum()), len(selector.support_)
    plural = "" if n_features == 1 else "s"
    facts = [_target(selector), *_facts(selector)]
    return (
        f'<div class="sparsieve-selection" style="{BOX}">'
        f"<div><b>Kept {n_kept:,} of {n_features:,} feature{plural}</b></div>"
        f'<div style="opacity: 0.8">{" · ".join(facts)}</div>'
        f"{_warning(selector)}{_table(selector)}</div>"
    )


def _target(selector: Any) -> str:
    classes = getattr(selector, "classes_", None)
    if classes is None:
        n_outputs = len(np.atleast_2d(getattr(selector, "coef_", 0)))
        return f"target: {n_outputs:,} columns of numbers" if n_outputs > 1 else "target: numbers"
    names = [shorten_name(label) for label in classes[:SHOWN_CLASSES]]
    more = len(classes) - len(names)
    rest = f" and {more} more" if more else ""
    return f"{len(classes):,} classes: {', '.join(names)}{rest}"


def _facts(selector: Any) -> list[str]:
    found = {name: getattr(selector, name, None) for name in _FACTS}
    facts = [_FACTS[name].format(v) for name, v in found.items() if isinstance(v, Real)]
    return ["1 iteration" if fact == "1 iterations" else fact for fact in facts]


def _warning(selector: Any) -> str:
    reason = convergence_failure(selector)
    if not reason:
        return ""
    return f'<div style="{_WARNING}">⚠ Not converged: {reason}; raise max_iter or tol</div>'


def _table(selector: Any) -> str:
    ranked = ranked_features(selector)
    kept = np.flatnonzero(ranked.selected)
    names = getattr(selector, "feature_names_in_", None)
    rows = [
        f'<tr><td style="{_CELL} text-align: left">'
        f"{shorten_name(f'x{j}' if names is None else names[j])}</td>"
        f'<td style="{_CELL} text-align: right">{ranked.notes[i] or f"{ranked.scores[i]:.4g}"}'
        "</td></tr>"
        for i, j in zip(kept[:SHOWN_FEATURES], ranked.features[kept], strict=False)
    ]
    if not rows:
        return ""
    more = len(kept) - len(rows)
    meaning = escape(ranked.meaning)
    head = "".join(
        f'<th style="{_CELL} text-align: {side}; font-weight: normal; opacity: 0.8"{tip}>'
        f"{title}</th>"
        for title, side, tip in (
            ("feature", "left", ""),
            ("score", "right", f' title="{meaning}"'),
        )
    )
    return (
        f'<table style="border-collapse: collapse; margin: 0.3em 0"><tr>{head}</tr>'
        f"{''.join(rows)}</table>"
        + (f'<div style="opacity: 0.8">and {more:,} more</div>' if more else "")
        + f'<div style="opacity: 0.8">Score: {meaning[:1].lower()}{meaning[1:]}</div>'
    )


def shorten_name(value: Any) -> str:
    """A name as HTML, cut where it is too long to show."""
    text = str(value)
    return escape(text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…")


@dataclass(frozen=True)
class Descent:
    """Objective values of a fit.

    Attributes
    ----------
    values : ndarray
        The objective after every step.
    first : int
        Number of the first value.
    unit : str
        What a greedy path counts: "feature" or "feature group"; empty for iterations.
    """

    values: np.ndarray
    first: int
    unit: str = ""

    @property
    def step_name(self) -> str:
        """What is counted, in words."""
        return f"number of {self.unit}s" if self.unit else "iteration"


def objective_history(selector: Any) -> Descent:
    """``history_`` of a fitted selector with its meaning."""
    values = np.asarray(selector.history_, dtype=np.float64)
    path: Any = getattr(selector, "path_", None)
    by_size = getattr(path, "objective", None)
    # The objectives of a path that grows by one feature or group a step are no iterations.
    if by_size is not None and 0 < len(values) <= len(by_size):
        steps = np.arange(len(by_size))[-len(values) :]
        is_last = np.array_equal(by_size[-len(values) :], values)
        if is_last and _counts(selector, path.supports[-len(values) :], steps):
            return Descent(values, int(steps[0]), unit_phrase(selector))
    return Descent(values, 1)


def _counts(selector: Any, supports: Sequence[np.ndarray], steps: np.ndarray) -> bool:
    """Whether the supports have so many features, or so many feature groups."""
    groups = find_groups(selector)
    if groups is None:
        return [len(support) for support in supports] == steps.tolist()
    columns = np.zeros((len(supports), groups.n_features), dtype=bool)
    for row, support in zip(columns, supports, strict=True):
        row[support] = True
    # Groups that overlap may hold others, which then count as well.
    return bool((unit_masks(groups, columns).sum(axis=1) >= steps).all())


def convergence_failure(selector: Any) -> str:
    """What kept a fitted selector from its goal, as part of a sentence; empty if it arrived."""
    if getattr(selector, "converged_", True):
        return ""
    optimality, tol = selector.optimality_, getattr(selector, "tol", None)
    if tol is None or math.isnan(optimality):
        return "it stopped early"
    return f"optimality {optimality:.2g} exceeds tol={tol:g}"


class FittedOnFeatures(Savable):
    """What scikit-learn keeps of X, and how a fit went."""

    n_features_in_: int
    feature_names_in_: Maybe[Annotated[NDArray[Any], np.object_, "features"]]
    _frame_library: Maybe[str | None]
    # Of estimators that solve a problem by iterating.
    objective_: Maybe[float]
    optimality_: Maybe[float]
    n_iter_: Maybe[int]
    converged_: Maybe[bool]
    history_: Maybe[list[float]]


class FittedAttributes(FittedOnFeatures):
    """Annotations without values: an attribute exists once ``fit`` has set it.

    A dataclass collects fields only from bases that are dataclasses themselves; this one is
    none, so nothing here becomes a parameter.
    """

    scores_: Annotated[NDArray[np.floating[Any]], np.floating, "features"]
    ranking_: Annotated[NDArray[np.int64], np.signedinteger, "features"]
    support_: Annotated[NDArray[np.bool_], np.bool_, "features"]
    classes_: Maybe[Any]
    n_passes_: Maybe[int]  # over an X that is not in memory
    path_: Maybe[Path]
    # Of selectors that keep groups of features.
    group_names_: Maybe[Annotated[NDArray[Any], np.object_, "groups"]]
    group_scores_: Maybe[Annotated[NDArray[np.floating[Any]], np.floating, "groups"]]
    group_ranking_: Maybe[Annotated[NDArray[np.int64], np.signedinteger, "groups"]]
    group_support_: Maybe[Annotated[NDArray[np.bool_], np.bool_, "groups"]]
    _feature_groups: Maybe[FeatureGroups]
    _fixed: Annotated[FixedColumns, "features"]
    _n_kept: int
    _n_ranked: int
    _passed_over: Maybe[dict[int, dict[int, float]]]

    @classmethod
    @cache
    def _not_of_every_fit(cls) -> frozenset[str]:
        """The attributes that are declared as :data:`Maybe`."""
        declared = chain.from_iterable(inspect.get_annotations(c).items() for c in cls.__mro__)
        return frozenset(name for name, kind in declared if str(kind).startswith("Maybe["))

    def _forget(self) -> None:
        """Drop what an earlier fit has left: the coming one may not set all of it."""
        optional = self._not_of_every_fit()
        for name in [one for one in vars(self) if one.endswith("_") or one in optional]:
            delattr(self, name)

    if TYPE_CHECKING:  # what scikit-learn, which has no annotations, adds

        def transform(self, X: Any) -> Any:
            """The selected columns of X."""

        def inverse_transform(self, X: Any) -> Any:
            """X with zeros in place of the columns that were left out."""

        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
            """``fit`` and ``transform`` in one."""

        def get_support(self, indices: bool = False) -> NDArray[Any]:
            """Mask or indices of the selected features."""

        def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
            """Names of the selected features."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            """Parameters by name."""


# What solvers stop on, for warnings: convex ones, and the others.
GAP = "a relative duality gap of"
STATIONARITY = "a residual of the stationarity conditions of"


def keep_result(
    estimator: Any,
    results: Result[Any] | Sequence[Result[Any]],
    *,
    measure: str = "optimality",
    remedy: str = "raise max_iter or tol",
) -> None:
    """Say how a fit went, for one model or several: the only place that decides.

    Objectives of several models add up, and the worst of their optimalities counts. A fit
    that did not reach its tolerance is warned about with ``measure`` as its name; ``remedy`` says
    how to get further.
    """
    several = [results] if isinstance(results, Result) else list(results)
    estimator.objective_ = float(sum(one.objective for one in several))
    estimator.optimality_ = float(max(one.optimality for one in several))
    estimator.n_iter_ = max(1, *(int(one.n_iter) for one in several))
    estimator.history_ = _sum_traces([one.trace for one in several])
    estimator.converged_ = bool(all(one.converged for one in several))
    if not estimator.converged_:
        warn_convergence(estimator, measure, estimator.optimality_, remedy)


def warn_convergence(
    estimator: Any, measure: str, reached: float, remedy: str = "raise max_iter or tol"
) -> None:
    """Say how far an iterative fit got."""
    tol = getattr(estimator, "tol", None)
    wanted = "" if tol is None else f" instead of {tol:.3g}"
    warn_user(
        f"{type(estimator).__name__} stopped after {estimator.n_iter_} "
        f"iteration{'' if estimator.n_iter_ == 1 else 's'} with {measure} "
        f"{reached:.3g}{wanted}; {remedy}",
        ConvergenceWarning,
    )


def _sum_traces(traces: list[list[float]]) -> list[float]:
    """Sum over models; a model that is done keeps its last value."""
    traces = [list(map(float, trace)) for trace in traces if len(trace)]
    if len(traces) == 1:
        return traces[0]
    length = max(map(len, traces), default=0)
    padded = [trace + [trace[-1]] * (length - len(trace)) for trace in traces]
    return [float(total) for total in np.sum(padded, axis=0)] if padded else []
