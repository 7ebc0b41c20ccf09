"""Which columns of X belong together: ``feature_groups``."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from .._checks import format_names
from .._saved import Ints, Savable
from .columns import BY_NAME, FixedColumns, FixedGroups, columns_mask
from .written import SEPARATOR

CATEGORIES = "categories"
_PARAMETER = "feature_groups"


def asks_for_marks(given: Any) -> bool:
    """Whether ``feature_groups`` is "categories": gaps of a data frame are marked by columns."""
    return isinstance(given, str) and given == CATEGORIES


@dataclass(frozen=True)
class FeatureGroups(Savable):
    """Groups of columns, each of which is selected as a whole; they may overlap.

    Every column is in at least one group. Groups are in the order of their first columns.

    Attributes
    ----------
    names : list of str
        Names of the groups.
    members : ndarray of int
        The columns of all groups, one group after the other.
    starts : ndarray of int of shape (n_groups + 1,)
        Where each group starts in ``members``.
    n_features : int
        Number of columns of X.
    """

    names: list[str]
    members: Annotated[Ints, "*"]
    starts: Annotated[Ints, "*"]
    n_features: int

    @classmethod
    def from_selector(cls, estimator: Any, n_features: int) -> FeatureGroups | None:
        """What the parameter ``feature_groups`` of a selector says, where it has one."""
        # A selector around others has the groups that these have.
        given = getattr(estimator, "_given_groups", getattr(estimator, _PARAMETER, None))
        if given is None:
            return None
        names = getattr(estimator, "feature_names_in_", None)
        return feature_groups(given, n_features, None if names is None else list(names))

    @property
    def n_groups(self) -> int:
        """How many there are."""
        return len(self.names)

    @cached_property
    def columns(self) -> list[np.ndarray]:
        """The columns of every group."""
        bounds = self.starts.tolist()  # np.split takes ten times as long
        return [self.members[a:b] for a, b in pairwise(bounds)]

    @cached_property
    def numbers(self) -> np.ndarray:
        """The group that every entry of ``members`` belongs to."""
        return np.repeat(np.arange(self.n_groups), np.diff(self.starts))

    @property
    def are_single(self) -> bool:
        """Whether every column is a group of its own: then there is nothing to group."""
        return self.n_groups == len(self.members) == self.n_features

    def union(self, some: np.ndarray) -> np.ndarray:
        """The columns that are in any of some groups, each once and in order."""
        return np.unique(np.concatenate([np.arange(0), *(self.columns[int(g)] for g in some)]))

    def ranks_of_columns(self, ranking: np.ndarray) -> np.ndarray:
        """The rank of the best group of every column."""
        found = np.full(self.n_features, len(ranking), dtype=ranking.dtype)
        np.minimum.at(found, self.members, ranking[self.numbers])
        return found

    def of_columns(self, ranking: np.ndarray) -> np.ndarray:
        """The best group of every column."""
        found = np.empty(self.n_features, dtype=np.int64)
        order = np.argsort(-ranking[self.numbers], kind="stable")  # what comes last stays
        found[self.members[order]] = self.numbers[order]
        return found

    def scores_of_columns(self, scores: np.ndarray) -> np.ndarray:
        """The largest score of the groups of every column."""
        found = np.full(self.n_features, -np.inf, dtype=scores.dtype)
        np.maximum.at(found, self.members, scores[self.numbers])
        return found

    def groups_among(self, columns: np.ndarray) -> np.ndarray:
        """The groups all of whose columns are among these, in the order of their first columns."""
        place = np.full(self.n_features, len(columns))
        place[columns] = np.arange(len(columns))
        last = np.maximum.reduceat(place[self.members], self.starts[:-1])
        first = np.minimum.reduceat(place[self.members], self.starts[:-1])
        inside = np.flatnonzero(last < len(columns))
        return inside[np.argsort(first[inside], kind="stable")]

    def by_place(self) -> dict[str, list[int]]:
        """Positions of the columns of every group by its name."""
        return {name: some.tolist() for name, some in zip(self.names, self.columns, strict=True)}

    def values(self, parameter: str, given: Any) -> np.ndarray:
        """One positive number per group, from a list in their order or a dict by their names."""
        if isinstance(given, Mapping):
            if missing := [name for name in self.names if name not in given]:
                raise ValueError(f"{parameter} has no value for {format_names(missing)}")
            if strange := [str(name) for name in given if name not in self.names]:
                raise ValueError(f"{parameter}: there is no feature group {format_names(strange)}")
            given = [given[name] for name in self.names]
        found = np.asarray(given, dtype=np.float64)
        if found.shape != (self.n_groups,):
            raise ValueError(
                f"{parameter} must have one number for each of the {self.n_groups} feature groups, "
                f"got {found.size}"
            )
        if not (np.isfinite(found) & (found > 0)).all():
            raise ValueError(f"{parameter} must be positive and finite")
        return found

    def widen(self, fixed: FixedColumns) -> FixedColumns:
        """The columns that are kept and left out where whole groups are."""
        kept = np.logical_or.reduceat(fixed.always[self.members], self.starts[:-1])
        if (kept & np.logical_or.reduceat(fixed.never[self.members], self.starts[:-1])).any():
            raise ValueError("always_keep and never_keep name columns of the same feature group")
        always = np.zeros_like(fixed.always)
        always[self.members[kept[self.numbers]]] = True
        return FixedColumns(always, fixed.never & ~always)

    def choices(self, fixed: FixedColumns) -> FixedColumns:
        """The groups that are always and never kept, from the columns that :meth:`widen` gave."""
        always = np.logical_and.reduceat(fixed.always[self.members], self.starts[:-1])
        never = np.logical_or.reduceat(fixed.never[self.members], self.starts[:-1])
        if never.all():
            raise ValueError("never_keep leaves no feature group to select")
        return FixedGroups(always, never & ~always)


def feature_groups(given: Any, n_features: int, names: Sequence[str] | None) -> FeatureGroups:
    """Read what a user may pass as ``feature_groups``.

    Parameters
    ----------
    given : array-like, dict, list of lists, ColumnTransformer, OneHotEncoder or "categories"
        One label per column; columns by name of the group; lists of columns; a fitted transformer
        that made the columns; "categories" for the names that
        :func:`~sparsieve.make_preprocessor` gives, where the source stands before ``=``.
    n_features : int
        Number of columns of X.
    names : list of str or None
        Names of the columns.

    Examples
    --------
    >>> from sparsieve.validation.feature_groups import feature_groups
    >>> groups = feature_groups({"gene": ["p1", "p2"]}, 3, ["p1", "age", "p2"])
    >>> groups.names, [columns.tolist() for columns in groups.columns]
    (['gene', 'age'], [[0, 2], [1]])
    """
    if isinstance(given, str):
        return _by_label(_prefixes(given, names))
    if isinstance(given, Mapping):
        groups = {
            str(name): _columns(name, some, n_features, names) for name, some in given.items()
        }
        if len(groups) < len(given):
            raise ValueError("feature_groups has two groups of the same name")
    elif isinstance(given, ColumnTransformer | OneHotEncoder | Pipeline) or _knows_groups(given):
        groups, made = output_columns(given)
        if made != n_features:
            raise ValueError(
                f"feature_groups: {type(given).__name__} makes {made} columns, but X has "
                f"{n_features}; pass the transformer that made X"
            )
    elif (numbered := _by_number(given, n_features)) is not None:
        return numbered
    elif (labels := _labels(given, n_features)) is not None:
        return _by_label(labels)
    else:
        groups = {
            f"group {i}": _columns(
                i, sorted(some) if isinstance(some, set) else some, n_features, names
            )
            for i, some in enumerate(given)
        }
    return _complete(groups, n_features, names)


def by_place(selector: Any, names: Any) -> dict[str, Any]:
    """Parameters that name columns, with places instead: for a selector that sees no names.

    Examples
    --------
    >>> from sparsieve import RidgeForwardSelector
    >>> from sparsieve.validation.feature_groups import by_place
    >>> by_place(RidgeForwardSelector(always_keep=["age"]), ["sex", "age"])
    {'always_keep': [1]}
    """
    if names is None:
        return {}
    found: dict[str, Any] = {}
    for parameter in BY_NAME:
        columns = getattr(selector, parameter, None)
        if hasattr(columns, "__iter__"):  # others are refused by the fit
            columns = [columns] if isinstance(columns, str) else columns
            mask = columns_mask(parameter, columns, len(names), list(names))
            found[parameter] = np.flatnonzero(mask).tolist()
    if (given := getattr(selector, _PARAMETER, None)) is not None:
        found[_PARAMETER] = feature_groups(given, len(names), list(names)).by_place()
    return found


def _complete(
    groups: dict[str, np.ndarray], n_features: int, names: Sequence[str] | None
) -> FeatureGroups:
    """Columns in no group become groups of one."""
    if not groups:
        raise ValueError("feature_groups is empty; leave it out to select single features")
    alone = np.setdiff1d(np.arange(n_features), np.concatenate(list(groups.values())))
    single = {_name(int(j), names): np.array([j]) for j in alone}
    if clash := [name for name in single if name in groups]:
        raise ValueError(
            f"feature_groups: {format_names(clash)} names a group and a column outside of it; "
            "rename one"
        )
    found = sorted((groups | single).items(), key=lambda item: int(item[1][0]))
    columns = [columns for _, columns in found]
    return FeatureGroups(
        [name for name, _ in found],
        np.concatenate(columns),
        np.concatenate(([0], np.cumsum([len(some) for some in columns]))),
        n_features,
    )


def _name(j: int, names: Sequence[str] | None) -> str:
    return f"x{j}" if names is None else str(names[j])


def _columns(group: Any, columns: Any, n_features: int, names: Sequence[str] | None) -> np.ndarray:
    """The columns of one group, each once and in order."""
    what = f"feature_groups[{group!r}]"
    if isinstance(columns, str | int | np.integer):
        columns = [columns]
    found = np.flatnonzero(columns_mask(what, columns, n_features, names))
    if not len(found):
        raise ValueError(f"{what} has no columns; give it some or leave it out")
    return found


def _labels(given: Any, n_features: int) -> list[Any] | None:
    """One label per column, or None where lists of columns are given."""
    if not hasattr(given, "__iter__"):
        raise TypeError(
            "feature_groups must be one label per column, a dict or list of columns, a fitted "
            f'ColumnTransformer or OneHotEncoder, or "categories", got {type(given).__name__}'
        )
    # Python's own texts are quicker to look up than NumPy's.
    simple = isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iubU"
    labels = given.tolist() if simple else list(given)
    kinds = set(map(type, labels))
    if kinds and all(issubclass(kind, list | tuple | set | np.ndarray | range) for kind in kinds):
        return None
    if len(labels) != n_features:
        raise ValueError(f"feature_groups has {len(labels)} labels for {n_features} columns of X")
    if not all(issubclass(kind, Hashable) for kind in kinds):
        raise TypeError("feature_groups mixes labels and lists; give one kind")
    return labels


def _by_label(labels: list[Any]) -> FeatureGroups:
    """The groups of columns with the same label."""
    seen: dict[Any, int] = {}
    numbers = np.array([seen.setdefault(label, len(seen)) for label in labels])
    if any(one is None or one != one for one in seen):
        raise ValueError("feature_groups has missing labels; every column needs one")
    names = [str(label) for label in seen]
    if len(set(names)) < len(names):
        raise ValueError("feature_groups has labels that differ in type only, such as 1 and '1'")
    return _number_groups(names, numbers)


def _by_number(given: Any, n_features: int) -> FeatureGroups | None:
    """The groups of columns with the same whole number; None where labels are something else."""
    if not (isinstance(given, np.ndarray) and given.dtype.kind in "iu"):
        return None
    if given.shape != (n_features,):
        return None
    labels, firsts, numbers = np.unique(given, return_index=True, return_inverse=True)
    order = np.argsort(firsts)  # as they appear
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _number_groups(list(map(str, labels[order].tolist())), place[numbers])


def _number_groups(names: list[str], numbers: np.ndarray) -> FeatureGroups:
    """The groups with these names, from the number of the group of every column."""
    return FeatureGroups(
        names,
        np.argsort(numbers, kind="stable"),
        np.concatenate(([0], np.cumsum(np.bincount(numbers)))),
        len(numbers),
    )


def _prefixes(given: str, names: Sequence[str] | None) -> list[str]:
    """What stands before the separator in the name of every column."""
    if given != CATEGORIES:
        raise ValueError(
            f'feature_groups as text must be "{CATEGORIES}", for columns from make_preprocessor, '
            f"got {given!r}"
        )
    if names is None:
        raise ValueError(
            'feature_groups="categories" reads names such as "sex=female", but X has no column '
            "names; pass a data frame, or one label per column"
        )
    return source_names(names)


def source_names(names: Sequence[Any] | np.ndarray) -> list[str]:
    """What stands before the separator in names such as sex=female."""
    return [str(name).partition(SEPARATOR)[0] for name in names]


def output_columns(transformer: Any) -> tuple[dict[str, np.ndarray], int]:
    """(output columns by the input column that they come from, number of output columns).

    Nothing is read from names, which are ambiguous: ``a_b`` + ``x`` is ``a`` + ``b_x``. Columns
    that a transformer makes of several at once form one group.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> from sparsieve.validation.feature_groups import output_columns
    >>> encoder = OneHotEncoder(drop="if_binary").fit([["a", "x"], ["b", "y"], ["a", "z"]])
    >>> output_columns(encoder)
    ({'x0': array([0]), 'x1': array([1, 2, 3])}, 4)
    """
    check_is_fitted(transformer)
    if _knows_groups(transformer):
        made = {name: np.array(some) for name, some in transformer.groups_.items() if some}
        return made, sum(map(len, made.values()))
    if isinstance(transformer, ColumnTransformer):
        return _columns_of_parts(transformer)
    inputs = _inputs(transformer)
    sizes = _sizes(transformer, inputs)
    found = _one_after_the_other(inputs, sizes)
    return {name: some for name, some in found.items() if len(some)}, sum(sizes)


def _knows_groups(transformer: Any) -> bool:
    """Whether this is what :func:`~sparsieve.make_preprocessor` returns."""
    return hasattr(type(transformer), "groups_")


def _inputs(transformer: Any) -> list[str]:
    """Names of the columns that a transformer was fitted on."""
    names = getattr(transformer, "feature_names_in_", ())
    return list(map(str, names)) or [f"x{j}" for j in range(transformer.n_features_in_)]


def _one_after_the_other(inputs: list[str], sizes: list[int]) -> dict[str, np.ndarray]:
    """The output columns of every input, of which so many are made."""
    columns = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    return dict(zip(inputs, columns, strict=True))


def _columns_of_parts(transformer: ColumnTransformer) -> tuple[dict[str, np.ndarray], int]:
    groups: dict[str, np.ndarray] = {}
    inputs, n_columns = _inputs(transformer), 0
    for name, part, chosen in transformer.transformers_:
        span = transformer.output_indices_.get(name, slice(0, 0))
        n_columns = max(n_columns, span.stop)
        if span.stop == span.start:
            continue
        places = _in_order(name, _list_columns(chosen), inputs)
        for source, columns in _sources(name, part, places, span.stop - span.start).items():
            columns = columns + span.start
            groups[source] = np.sort(np.concatenate((groups.get(source, columns[:0]), columns)))
    return groups, n_columns


def _list_columns(chosen: Any) -> Any:
    if isinstance(chosen, slice):
        raise ValueError("feature_groups: name the columns of the ColumnTransformer one by one")
    return [chosen] if isinstance(chosen, str | int) else list(chosen)


def _in_order(part: str, chosen: list[Any], inputs: list[str]) -> list[str]:
    """Names of the inputs of a part, in the order in which the part sees them."""
    mask = columns_mask(part, chosen, len(inputs), inputs)
    if chosen and all(isinstance(one, bool | np.bool_) for one in chosen):
        return [inputs[j] for j in np.flatnonzero(mask)]
    return [one if isinstance(one, str) else inputs[one] for one in chosen]


def _sources(name: str, part: Any, inputs: list[str], n_columns: int) -> dict[str, np.ndarray]:
    """Output columns of one part of a ColumnTransformer by the input that they come from."""
    if isinstance(part, str):  # "passthrough"
        return {source: np.array([j]) for j, source in enumerate(inputs)}
    if len(inputs) == 1:
        return {inputs[0]: np.arange(n_columns)}
    sizes = _sizes(part, inputs)
    marks: list[int] = []
    last = part[-1] if isinstance(part, Pipeline) else part
    if isinstance(last, SimpleImputer) and last.indicator_ is not None:
        marks = last.indicator_.features_.tolist()
    if sum(sizes) + len(marks) != n_columns:
        return {name: np.arange(n_columns)}
    found = _one_after_the_other(inputs, sizes)
    for place, j in enumerate(marks):
        found[inputs[j]] = np.append(found[inputs[j]], sum(sizes) + place)
    return {source: columns for source, columns in found.items() if len(columns)}


def _sizes(part: Any, inputs: list[str]) -> list[int]:
    """How many columns are made of every input: of an encoder as it says, otherwise one."""
    last = part[-1] if isinstance(part, Pipeline) else part
    if not isinstance(last, OneHotEncoder):
        return [1] * len(inputs)
    rare = getattr(last, "infrequent_categories_", None) or [None] * len(last.categories_)
    dropped = last.drop_idx_ if last.drop_idx_ is not None else [None] * len(last.categories_)
    return [
        len(values) - (0 if few is None else len(few) - 1) - (drop is not None)
        for values, few, drop in zip(last.categories_, rare, dropped, strict=True)
    ]
