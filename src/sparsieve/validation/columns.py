"""Columns whose fate the user has decided: ``always_keep`` and ``never_keep``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from .._checks import did_you_mean, format_names, resolve_count, warn_of_more
from .._saved import Bools, Savable
from .._sklearn import check_y, get_output_config
from ..design import DesignMatrix, external_design
from .containers import fetch_values
from .survival import is_survival

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


# What a design that is only known through products can be selected from with, for messages.
_EXAMPLES = "RidgeForwardSelector, L20Selector, L21Selector or FStatisticSelector"

_ON_DEVICE = (
    "RidgeForwardSelector, L20Selector, L21Selector, RFSSelector, RobustL20Selector, "
    "ExclusiveL21Selector, RLSRSelector, RPMFSSelector, SVMRFESelector, ReliefFSelector, "
    "LikelihoodForwardSelector, LikelihoodL21Selector, "
    'MRMRSelector (criterion "fcq" or "fcd") and the statistical filters'
)


def check_same_device(X: Any, others: dict[str, Any]) -> None:
    """Refuse a target or weights on another accelerator than X."""
    here = getattr(X, "device", None)
    if not hasattr(here, "type"):  # no tensor: a target on a device is simply fetched
        return
    for name, values in others.items():
        place = getattr(values, "device", None)
        if getattr(place, "type", "cpu") != "cpu" and place != here:
            raise ValueError(
                f"X is on {here} but {name} is on {place}; pass {name}.to(X.device) or {name}.cpu()"
            )


def resolved_place(estimator: Any, X: Any) -> Any:
    """X itself, or its design where X stays where it is and the estimator works with that.

    A memory-mapped array serves as well as any other where the estimator needs X in memory.
    """
    design: Any = external_design(X)
    if design is None or (isinstance(X, np.ndarray) and not estimator._accepts_external):
        return X
    here = design.in_memory()
    if here is not None:
        return here
    name = type(estimator).__name__
    if estimator._accepts_external or (estimator._accepts_device and design.is_on_device):
        if design.is_on_device and design.n_bytes < estimator._fetched_bytes:
            return design.tensor.cpu().numpy()
        return design
    if design.is_on_device:
        raise TypeError(
            f"{name} needs X in main memory, but X is on a device; pass X.cpu().numpy(), or use a "
            f"selector that works on devices: {_ON_DEVICE}"
        )
    if estimator._external_hint:
        raise TypeError(f"{name} needs X in memory, but X is not; {estimator._external_hint}")
    raise TypeError(
        f"{name} needs X in memory, but X is not; use a selector that reads X in passes, such "
        f"as {_EXAMPLES}, or load X first, for example with numpy.asarray(X[:])"
    )


def checked_design(estimator: Any, design: DesignMatrix, y: Any) -> tuple[DesignMatrix, np.ndarray]:
    """The design and a plain y of as many samples; sets ``n_features_in_`` and feature names."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None; pass "
            "one label or value per sample"
        )
    if not is_survival(y):  # which was checked already
        y = check_y(y, multi_output=True, estimator=estimator)
    n_samples, n_features = design.ready().shape
    if len(y) != n_samples:
        raise ValueError(f"X has {n_samples} samples, but y has {len(y)}; the numbers must match")
    estimator._frame_library = None
    estimator.n_features_in_ = n_features
    names = getattr(design, "feature_names", None)
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_  # of an earlier fit
    return design, y


def check_in_memory(who: str, X: Any) -> None:
    """Refuse an X that stays in its file or on its cluster: nobody asked to load all of it."""
    if isinstance(X, np.ndarray) or is_tensor(X) or external_design(X) is None:
        return
    load = "X.compute()" if hasattr(X, "compute") else "numpy.asarray(X[:])"
    raise TypeError(
        f"{who} needs X in memory, but X is not; pass {load} if it fits there, or a part of the "
        "samples"
    )


def is_tensor(X: Any) -> bool:
    """Whether X is a torch tensor; imports nothing."""
    return type(X).__module__.partition(".")[0] == "torch" and hasattr(X, "device")


def is_on_device(X: Any) -> bool:
    """Whether X is on a device: a tensor, or the design of one."""
    return is_tensor(X) or (isinstance(X, DesignMatrix) and X.is_on_device)


def take_rows(X: Any, rows: Any) -> Any:
    """Some samples of X as ``TrainingData.samples`` gives it."""
    return X.rows(rows) if isinstance(X, DesignMatrix) else X[rows]


def native_indices(X: Any, support: np.ndarray) -> Any:
    """The indices of a mask as a tensor on the device of X."""
    import torch

    return torch.from_numpy(np.flatnonzero(support)).to(X.device)


def format_output(estimator: Any, taken: Any) -> Any:
    """Selected columns as ``transform`` returns them: in memory where a data frame is asked for."""
    if get_output_config("transform", estimator)["dense"] == "default":
        return taken
    return taken.detach().cpu().numpy() if is_tensor(taken) else fetch_values("X", taken)


def check_same_features(estimator: Any, design: Any) -> None:
    """Refuse columns that are not those of the fit."""
    if len(design.shape) != 2:
        raise ValueError(f"X must be a 2D array of samples x features, got {tuple(design.shape)}")
    n_features = design.shape[1]
    if n_features != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    names = getattr(design, "feature_names", None)
    known = getattr(estimator, "feature_names_in_", None)
    if names is None or known is None or list(names) == list(known):
        return
    other = [name for name, due in zip(names, known, strict=True) if name != due]
    raise ValueError(
        "The feature names should match those that were passed during fit, in the same order; "
        f"these differ: {format_names(other)}"
    )


_BLOCK = 64_000_000  # bytes of a file that are read at once


def in_memory(X: Any) -> Any:
    """A matrix, which may lie in an open file, as an array; sparse ones stay sparse.

    What lies in a file is read by blocks of rows, so that nothing is there twice.
    """
    if isinstance(X, np.ndarray) or hasattr(X, "tocsr"):
        return np.asarray(X) if isinstance(X, np.ndarray) else X
    if hasattr(X, "to_memory"):  # anndata's sparse matrices in files
        return X.to_memory()
    if not hasattr(X, "shape") or not hasattr(X, "dtype"):
        return np.asarray(X)
    whole = np.empty(X.shape, dtype=X.dtype)
    rows = max(1, _BLOCK // max(1, whole.itemsize * X.shape[1]))
    for start in range(0, len(whole), rows):
        whole[start : start + rows] = X[start : start + rows]
    return whole
