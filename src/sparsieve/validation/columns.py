"""Columns whose fate the user has decided: ``always_keep`` and ``never_keep``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from .._checks import did_you_mean, format_names, resolve_count, warn_of_more
from .._saved import Bools, Savable

# Parameters of selectors that name columns; the last may also be True or False.
BY_NAME = ("always_keep", "never_keep", "nonnegative")


@dataclass(frozen=True)
class FixedColumns(Savable):
    """Masks of the columns that are always and never kept.

    The number of features asked for includes those always kept, so a model with m of them has
    ``n_features_to_select - m`` to choose itself, out of ``n_open`` columns.
    """

    always: Annotated[Bools, "features"]
    never: Annotated[Bools, "features"]
    unit: ClassVar[str] = "feature"  # what is counted

    @classmethod
    def from_selector(cls, selector: Any, n_features: int) -> FixedColumns:
        """What the parameters of a selector say, where it has them; contradictions refused."""
        names = getattr(selector, "feature_names_in_", None)
        always, never = (
            columns_mask(parameter, getattr(selector, parameter, None), n_features, names)
            for parameter in ("always_keep", "never_keep")
        )
        if (always & never).any():
            both = format_names([int(j) for j in np.flatnonzero(always & never)])
            raise ValueError(
                f"always_keep and never_keep both contain column {both}; remove it from one of them"
            )
        if never.all():
            raise ValueError(
                "never_keep contains every feature, so there is nothing left to select; remove some"
            )
        return cls(always, never)

    @cached_property
    def either(self) -> np.ndarray:
        """Columns that are not the model's to choose."""
        return self.always | self.never

    @cached_property
    def n_always(self) -> int:
        """How many columns are always kept."""
        return int(np.count_nonzero(self.always))

    @cached_property
    def n_available(self) -> int:
        """How many columns may be kept at all."""
        return len(self.never) - int(np.count_nonzero(self.never))

    @cached_property
    def n_open(self) -> int:
        """How many columns the model chooses from."""
        return len(self.always) - int(np.count_nonzero(self.either))

    @cached_property
    def candidates(self) -> np.ndarray:
        """The columns that may be kept, by place."""
        return np.flatnonzero(~self.never)

    def spread(self, values: np.ndarray, empty: Any = 0) -> np.ndarray:
        """Values of the columns that may be kept, with ``empty`` for the others."""
        if self.n_available == len(self.never):
            return values
        full = np.full((*values.shape[:-1], len(self.never)), empty, dtype=values.dtype)
        full[..., self.candidates] = values
        return full

    def count(self, wanted: float | str | None, default: int) -> int:
        """The number to keep that an int, a fraction (of all), "all" or None means."""
        count = resolve_count(wanted, len(self.always), default)
        if count < self.n_always:
            raise ValueError(
                f"always_keep contains {self.n_always} {self.unit}s, more than the {count} to "
                "select"
            )
        return min(count, self.n_available)

    def warn_of_more(self, wanted: float | str | None) -> None:
        """Say that all are kept where more are asked for than may be kept."""
        where = "that never_keep leaves" if self.never.any() else "of X"
        warn_of_more(wanted, self.n_available, self.unit, where)

    def own_count(self, wanted: float | str | None, default: int) -> int:
        """How many of them the model chooses itself; by default at most ``default``."""
        if wanted is None:
            return min(default, self.n_open)
        return self.count(wanted, default) - self.n_always

    def rank(self, ranking: np.ndarray) -> np.ndarray:
        """The same ranking with the columns always kept in front and those never kept last."""
        if self.n_open == len(ranking):
            return ranking
        order = np.lexsort((ranking, self.never, ~self.always))
        placed = np.empty_like(ranking)
        placed[order] = np.arange(1, len(ranking) + 1)
        return placed

    def score(self, scores: np.ndarray) -> np.ndarray:
        """The same scores; columns kept by request have none of their own, which is zero."""
        if not self.n_always:
            return scores
        return np.where(self.always, 0.0, scores).astype(scores.dtype, copy=False)


class FixedGroups(FixedColumns):
    """The same for groups of columns."""

    unit = "feature group"


def pass_fixed_columns(
    owner: Any, member: Any, n_features: int, names: Any
) -> dict[str, list[int]]:
    """What a selector around another one tells it to keep and to leave out, beside its own.

    Nothing where nothing was asked of the owner.
    """
    found = {}
    for parameter in ("always_keep", "never_keep"):
        if getattr(owner, parameter) is not None:
            both = (getattr(one, parameter, None) for one in (owner, member))
            masks = [columns_mask(parameter, columns, n_features, names) for columns in both]
            found[parameter] = np.flatnonzero(masks[0] | masks[1]).tolist()
    return found


def columns_mask(
    parameter: str, columns: Any, n_features: int, names: Sequence[Any] | np.ndarray | None
) -> np.ndarray:
    """The columns meant by a list of indices or names or by a mask, as a mask."""
    mask = np.zeros(n_features, dtype=bool)
    if columns is None:
        return mask
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        raise ValueError(f"{parameter} must be a list of column indices or names, got {columns!r}")
    columns = list(columns)
    if columns and all(isinstance(column, bool | np.bool_) for column in columns):
        if len(columns) != n_features:
            raise ValueError(
                f"{parameter} as a mask needs one entry for each of the {n_features} features, "
                f"got {len(columns)}"
            )
        return np.array(columns, dtype=bool)
    known = {} if names is None else {name: j for j, name in enumerate(names)}
    for column in columns:
        mask[_place(parameter, column, n_features, known)] = True
    return mask


def _place(parameter: str, column, n_features: int, known: dict) -> int:
    if isinstance(column, str):
        if column not in known:
            hint = did_you_mean(column, known)
            where = "is not a column of X" if known else "is a name, but X has no column names"
            raise ValueError(f"{parameter}: {column!r} {where}{hint}")
        return known[column]
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise ValueError(f"{parameter} must contain column indices or names, got {column!r}")
    if not -n_features <= column < n_features:
        raise ValueError(
            f"{parameter}: column {column} does not exist; X has {n_features} features"
        )
    return int(column)
