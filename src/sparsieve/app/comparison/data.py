"""What is compared, and on what: methods, validated data and the splits that they share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.validation import check_array, check_consistent_length

from ..._checks import MAX_REPEATS, check_choice, check_integer
from ...meta.held_out import possible_folds
from ...meta.trials import is_number_of_folds, search_folds
from ...preprocessing.covariates import check_preparable
from ...preprocessing.encoding import encode_columns
from ...preprocessing.inputs import Inputs
from ...registry import all_methods, method_name, selector_name
from ...scoring.folds import Fold
from ...scoring.protocol import drawn_by_class
from ...selection.choice import settle_task
from ...selectors.around import takes_task
from ...selectors.base import BaseSelector
from ...selectors.groups import takes_groups, with_feature_groups
from ...selectors.methods import as_selector
from ...selectors.near_copies import with_max_correlation
from ...validation.containers import canonical, check_finite_target, plain_matrix, plain_vector
from ...validation.dataframes import frame_library
from ...validation.feature_groups import FeatureGroups
from ...validation.feature_groups import feature_groups as read_groups
from ...validation.survival import check_informative, is_survival
from ...validation.target import TASKS, Target, check_varies

# Fast ones of different families, in this order as far as they take the data: greedy and convex
# least squares, one feature at a time, relevance against redundancy, neighbours, large margins;
# the others step in for those that do not.
FAMILIES = (
    "ridge-forward",
    "l21",
    "f-statistic",
    "mrmr",
    "relieff",
    "svmrfe",
    "rfs",
    "info-gain",
    "rlsr",
)
LIKELIHOODS = ("likelihood-forward", "likelihood-l21")  # for survival times and counts


def contenders(
    methods: Any,
    X: Any,
    task: str,
    feature_groups: FeatureGroups | None = None,
    max_correlation: float | str | None = "auto",
) -> dict[str, BaseSelector]:
    """Unfitted selectors by name; refuses in one sentence what cannot be compared."""
    if methods is None:
        names = [*LIKELIHOODS] * (task in ("counts", "survival")) + [*FAMILIES]
        able = [
            method.cls
            for method in (all_methods()[name] for name in names if name in all_methods())
            if takes_task(method.cls(), task)
            and ("sparse" in method.purposes or not sparse.issparse(X))
            and ("groups" in method.purposes or feature_groups is None)
        ]
        methods = able[:6]
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        raise ValueError(
            "methods must be a list of names, selectors, models, functions or (name, method) "
            f"pairs, got {methods!r}; sparsieve.all_selectors() lists the selectors of this package"
        )
    found: dict[str, BaseSelector] = {}
    for method in methods:
        name, selector = _named(method)
        asked = method[1] if isinstance(method, tuple) else method
        selector = with_max_correlation(selector, asked, max_correlation)
        if name in found:
            raise ValueError(
                f"two methods are called {name!r}; tell them apart by (name, method) pairs"
            )
        if feature_groups is not None:
            selector = with_feature_groups(selector, feature_groups.by_place())
        found[name] = selector
    _check_task(found, task)
    return found


def keep_groups(methods: Any) -> bool:
    """Whether all methods that were asked for keep whole groups of columns."""
    if isinstance(methods, str):
        methods = [name.strip() for name in methods.split(",")]
    if not isinstance(methods, Sequence) or not len(methods):
        return False
    return all(takes_groups(_named(method)[1]) for method in methods)


def _named(method: Any) -> tuple[str, BaseSelector]:
    if isinstance(method, tuple) and len(method) == 2 and isinstance(method[0], str):
        return method[0], _named(method[1])[1]
    selector = as_selector(method)
    if "n_features_to_select" not in selector.get_params(deep=False):
        raise TypeError(
            f"{type(selector).__name__} chooses the number of features itself; compare the "
            "selector inside it"
        )
    name, kind = selector_name(selector), type(selector)
    if kind.__module__.startswith("sparsieve.") and name == kind.__name__:
        name = method_name(name)
    return name, clone(selector)


def _check_task(found: dict[str, BaseSelector], task: str) -> None:
    unable = [name for name, selector in found.items() if not takes_task(selector, task)]
    if unable and task == "survival":
        raise ValueError(
            f"{', '.join(unable)} cannot select for survival times; compare methods that can, such "
            f"as {' and '.join(LIKELIHOODS)}"
        )
    if unable:
        verb = "selects" if len(unable) == 1 else "select"
        raise ValueError(
            f"{', '.join(unable)} {verb} for class labels only, but y is read as numbers; leave "
            f'{"it" if len(unable) == 1 else "them"} out, or pass task="classification" if y '
            "holds classes"
        )


@dataclass(frozen=True)
class ComparisonData:
    """Plain data with names.

    Attributes
    ----------
    X : array or CSR matrix
    y : ndarray
    names : ndarray of str
    task : {"classification", "regression", "counts", "survival"}
    groups : ndarray or None
    library : str or None
        The library of the data frame that X was.
    n_given : int
        Samples given, of which ``len(y)`` are used.
    feature_groups : FeatureGroups or None
        What the methods choose among and count, where that are groups of features.
    sample_weight : ndarray or None
    prepare : transformer or None
        What is done to X first, on the training part of every split.
    notes : tuple of str
        What was done to a data frame without being asked, one sentence each.
    inputs : Inputs
        What was asked, before X was prepared and samples were drawn.
    """

    X: Any
    y: np.ndarray
    names: np.ndarray
    task: str
    groups: np.ndarray | None
    library: str | None
    n_given: int
    feature_groups: FeatureGroups | None
    sample_weight: np.ndarray | None
    prepare: Any
    notes: tuple[str, ...]
    inputs: Inputs

    @property
    def unit(self) -> str:
        """What is counted: "feature" or "feature group"."""
        return "feature" if self.feature_groups is None else "feature group"

    @property
    def unit_names(self) -> np.ndarray:
        """Names of what is counted."""
        if self.feature_groups is None:
            return self.names
        return np.array(self.feature_groups.names, dtype=object)

    def units(self, columns: np.ndarray) -> np.ndarray:
        """The features, or groups, that these columns make up, best first as they are."""
        return columns if self.feature_groups is None else self.feature_groups.groups_among(columns)

    @classmethod
    def from_input(
        cls,
        inputs: Inputs,
        *,
        max_samples: int | None = None,
        seed: int = 0,
        takes_groups: bool = True,
    ) -> ComparisonData:
        """Validate once for all methods."""
        check_choice("task", inputs.task, TASKS)
        inputs = encode_columns(inputs, takes_groups=takes_groups)
        y, names, task = inputs.y, inputs.names, inputs.task
        prepare, feature_groups = inputs.prepare, inputs.feature_groups
        X = plain_matrix(inputs.X)
        library = frame_library(X)
        if names is None:
            names = getattr(X, "columns", None)
        X = check_array(
            X,
            accept_sparse="csr",
            dtype=(np.float64, np.float32),
            ensure_all_finite=False,
            ensure_min_samples=4,
        )
        names = np.array(
            [f"x{j}" for j in range(X.shape[1])] if names is None else [str(n) for n in names],
            dtype=object,
        )
        if len(names) != X.shape[1]:
            raise ValueError(
                f"feature_names holds {len(names)} names for {X.shape[1]} features; give one each"
            )
        known = None
        if feature_groups is not None:
            known = read_groups(feature_groups, X.shape[1], [str(name) for name in names])
        check_preparable(X, names, prepare)  # no model that scores takes gaps
        as_given, y = y, y if is_survival(y) else np.asarray(plain_vector("y", y))
        check_consistent_length(X, y)
        if task == "survival":
            check_informative(y)
        check_finite_target(y)
        check_varies(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y[:, 0]
        if y.ndim > 1 and task == "classification":
            raise ValueError("compare reads one column of class labels, got a y of several columns")
        if task == "auto":
            task = "regression" if y.ndim > 1 else settle_task(X, as_given)
        named = {"groups": inputs.groups, "sample_weight": inputs.sample_weight}
        given_too = {n: np.asarray(plain_vector(n, v)) for n, v in named.items() if v is not None}
        check_consistent_length(X, *given_too.values())
        X = canonical(X)
        n_given = len(y)
        if max_samples is not None:
            check_integer("max_samples", max_samples, minimum=20)
            if n_given > max_samples:
                some = _draw_samples(y, task, max_samples, seed)
                X, y = X[some], y[some]
                given_too = {name: values[some] for name, values in given_too.items()}
        return cls(
            *(X, y, names, task, given_too.get("groups"), library, n_given, known),
            *(given_too.get("sample_weight"), prepare, inputs.notes, inputs),
        )

    def splits(self, cv: Any, n_repeats: int, seed: int) -> list[Fold]:
        """Training and test samples of every split.

        A number of folds makes those of :func:`~sparsieve.select` with this seed; a splitter or
        pairs of training and test samples are used as they are.
        """
        check_integer("n_repeats", n_repeats, maximum=MAX_REPEATS)
        given = {} if self.groups is None else {"groups": self.groups}
        known = self.X, self.y, self.target, given, self.groups
        if not is_number_of_folds(cv):
            if len(self.y) < self.n_given:
                raise ValueError(
                    f"cv counts the {self.n_given} samples given, of which {len(self.y)} were "
                    "drawn; set max_samples=None to compare on all of them"
                )
            if len(folds := search_folds(cv, 1, None, *known)) < 2:
                raise ValueError(
                    "cv gives one split of the samples, but methods are told apart by the "
                    "differences of their scores over several; give more (train, test) pairs, or "
                    "a number of folds"
                )
            return folds
        check_integer("cv", cv, minimum=2)
        is_classes = self.task == "classification" and self.y.ndim == 1
        if is_classes and len(np.unique(self.y)) < 2:
            raise ValueError("y has only one class; at least 2 are needed to compare methods")
        n_folds = possible_folds(self.y, self.groups, is_classes, int(cv))
        return search_folds(n_folds, n_repeats, seed, *known)

    @property
    def target(self) -> Target:
        """The target as folds and models know it."""
        if self.task == "survival":
            return Target("survival", np.empty((len(self.y), 0)), events=self.y)
        if self.task == "classification":
            classes, codes = np.unique(self.y, return_inverse=True)
            return Target(self.task, np.eye(len(classes))[codes], classes, codes)
        return Target(self.task, np.reshape(self.y, (len(self.y), -1)))


def _draw_samples(y: np.ndarray, task: str, n_samples: int, seed: int) -> np.ndarray:
    """Some samples, classes in proportion but with a few of each."""
    if task != "classification":
        return np.sort(np.random.default_rng(seed).permutation(len(y))[:n_samples])
    return drawn_by_class(y, seed, lambda size: max(10, round(n_samples * size / len(y))))
