"""A design held as a torch tensor: on a GPU its numbers stay there, products come and go.

Only arrays with n_samples or n_features rows and few columns move between the device and the
host. The products of clipped, centred, scaled columns are one pass over X each
(``_torch_passes``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch

from ..._checks import IMPUTER, format_names, no_numbers, warn_user
from ...design.base import COLUMN_LIMITS, MAX_COPY_BYTES, DesignMatrix, Index, slices
from ...design.standardise import check_matrix
from ...device import out_of_memory
from . import _torch_passes as passes
from .base import OnDevice, ScaledTensor

# Which a device multiplies in the time of one: reading X is what takes long, if X is large.
COLUMNS_AT_ONCE = 32
LARGE_BYTES = 512 << 20


def make_design(X: Any) -> DesignMatrix | None:
    """The design of a torch tensor; None for what is none."""
    return TensorDesign(checked_tensor(X)) if isinstance(X, torch.Tensor) else None


def checked_tensor(X: Any, name: str = "X") -> Any:
    """A dense tensor of float32 or float64 without a gradient, or one sentence on what it is."""
    if X.requires_grad:
        raise TypeError(f"{name} is a tensor that needs a gradient; pass {name}.detach()")
    if X.layout != torch.strided:
        raise TypeError(
            f"{name} is a sparse tensor ({X.layout}); pass {name}.to_dense(), or a SciPy matrix"
        )
    if X.is_complex():
        raise ValueError(
            f"Complex data not supported: {name} holds complex numbers; pass their real parts or "
            "absolute values"
        )
    if X.device.type == "meta":
        raise TypeError(f"{name} is a tensor without values (on the device 'meta')")
    if name == "X":
        check_matrix(tuple(X.shape), np.dtype(np.float32), "the tensor")
    if X.dtype in (torch.float16, torch.bfloat16):
        warn_user(
            f"{name} is a tensor of {X.dtype}, which is not precise enough; it is converted to "
            "float32, which doubles its size"
        )
        return X.float()
    if name == "X" and X.dtype not in (torch.float32, torch.float64):
        return X.double()
    return X


def plain_tensor(name: str, values: Any) -> np.ndarray:
    """A target or weights on any device as a NumPy array."""
    return checked_tensor(values, name).cpu().numpy()


class TensorDesign(OnDevice):
    """A tensor of float32 or float64, its columns clipped to intervals when read.

    ``dtype`` is the precision of the products: that of the tensor, or double.
    """

    low: Any
    high: Any

    feature_names = None

    def __init__(
        self, X: Any, dtype: Any = None, low: Any = None, high: Any = None, device: Any = None
    ):
        self._read = X  # what passes read
        self.device: Any = X.device if device is None else device
        self.can_record: bool = bool(X.is_cuda)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self.held: np.dtype = np.dtype(str(X.dtype).removeprefix("torch."))
        self.dtype: np.dtype = self.held if dtype is None else np.dtype(dtype)
        self.low, self.high = low, high
        self.columns_at_once = COLUMNS_AT_ONCE if X.is_cuda and X.nbytes >= LARGE_BYTES else 1
        self._moments: tuple[Any, Any] | None = None

    @property
    def tensor(self) -> Any:
        """X as a tensor, where it lies."""
        return self._read

    @property
    def is_resident(self) -> bool:
        """Whether X is on the device, and not sent there in every pass."""
        return bool(self._read.device == self.device)

    @property
    def n_bytes(self) -> int:
        """What a copy of X takes."""
        return self.n_entries * self.held.itemsize

    def in_memory(self) -> np.ndarray | None:
        """X as a NumPy array, where it lies in the memory of the host anyway."""
        return self.tensor.numpy() if self.device.type == "cpu" else None

    def project(self, U: Any) -> Any:
        with passes.exactly(), out_of_memory(self.device, "for a product with X"):
            return passes.multiply_columns(self._read, U, self.low, self.high)

    def apply(self, W: Any) -> Any:
        with passes.exactly(), out_of_memory(self.device, "for a product with X"):
            return passes.multiply_rows(self._read, W, self.low, self.high)

    def column_block(self, places: Any) -> Any:
        block = self._columns(places).to(self.device)
        return passes.convert_block(block, torch.float64, *self._bounds(places))

    def rows(self, index: Index | slice) -> TensorDesign:
        """These samples: a copy of few numbers, otherwise :class:`TensorRows` of the same X."""
        places = self._places(index, 0)
        if self.is_resident and len(places) * self.shape[1] * self.held.itemsize > MAX_COPY_BYTES:
            return self._view(places)._adopt_unit(self)
        with out_of_memory(self.device, f"to hold {len(places)} rows of X a second time"):
            return self._wrap_tensor(self._take_rows(places))._adopt_unit(self)

    def _view(self, places: Any) -> TensorDesign:

        return TensorRows(self._read, places, self.dtype, self.low, self.high)

    def _take_rows(self, places: Any) -> Any:
        """A copy of rows, where X is."""
        return self._read[places.to(self._read.device)]

    def columns(self, index: Index | slice) -> TensorDesign:
        places = self._places(index, 1)
        with out_of_memory(self.device, f"to hold {len(places)} columns of X a second time"):
            some = self._wrap_tensor(self._columns(places))
        some.low, some.high = self._bounds(places)
        return some._adopt_unit(self, index)

    def clip_columns(self, low: np.ndarray, high: np.ndarray) -> Self:
        """The same with every column clamped to an interval; nothing is copied."""
        return self._with_limits(*(self.on_device(bound, self.held) for bound in (low, high)))

    def _with_limits(self, low: Any, high: Any) -> Self:
        other = self._again()
        other.low, other.high = low.to(self._read.dtype), high.to(self._read.dtype)
        return other._adopt_unit(self)

    def in_double(self) -> Self:
        """The same numbers, with every product taken in double precision."""
        other = self._again()
        other.dtype = np.dtype(np.float64)
        return other._adopt_unit(self)

    def standardise_columns(
        self,
        *,
        centre: bool,
        scale: bool,
        sample_weight: np.ndarray | None,
        clip: float | None,
        weight_rows: bool,
        dtype: np.dtype,
        tolerance: float,
    ) -> tuple[DesignMatrix, np.ndarray, np.ndarray, np.ndarray]:
        """As the function of this name: the view, centre, scale and the constant columns.

        Done beside X: of a million columns the arithmetic takes longer than the passes on a host.
        """
        means, deviations, constant = self._standards(sample_weight, tolerance)
        base = self
        if clip is not None:
            base = self._with_limits(means - clip * deviations, means + clip * deviations)
            means, deviations, _ = base._standards(sample_weight, tolerance)
        shift = means if centre else torch.zeros_like(means)
        factor = torch.where(constant, 1.0, deviations) if scale else torch.ones_like(means)
        row_scale = np.sqrt(sample_weight) if weight_rows and sample_weight is not None else None
        view: DesignMatrix = base
        if centre or scale or row_scale is not None:
            if base.shape[0] * base.shape[1] * dtype.itemsize <= MAX_COPY_BYTES:
                blank = constant if centre else None
                view = base._standardise_copy(shift, factor, row_scale, blank, dtype)
            else:
                moved = (shift if centre else None, factor if scale else None)
                view = ScaledTensor(base, *moved, row_scale)
        unit = self.on_device(self.unit) if np.ndim(self.unit) else 1.0
        parts = shift * unit, factor * unit, constant
        centres, scales, constants = (part.cpu().numpy() for part in parts)
        return view, centres, scales, constants

    def _standardise_copy(
        self, shift: Any, factor: Any, row_scale: np.ndarray | None, blank: Any, dtype: np.dtype
    ) -> TensorDesign:
        """A standardised copy, in double precision until it is done."""
        array = (self.column_block(slice(None)) - shift) / factor
        if row_scale is not None:
            array *= self.on_device(row_scale)[:, None]
        if blank is not None:
            array.masked_fill_(blank, 0.0)
        return TensorDesign(array.to(getattr(torch, dtype.name)))

    def _standards(self, weights: Any, tolerance: float) -> tuple[Any, Any, Any]:
        """Means, standard deviations, and which columns are constant up to rounding."""
        means, variances = self.device_moments(weights)
        deviations = variances.sqrt()
        return means, deviations, deviations <= tolerance * (means.abs() + deviations)

    def device_moments(self, weights: Any = None) -> tuple[Any, Any]:
        """Weighted means and variances as tensors; those without weights are kept."""
        if weights is None and self._moments is not None:
            return self._moments
        found = self._pass_for_moments(
            None if weights is None else self.on_device(weights, np.float64)
        )
        self._check_sizes(*found)
        if weights is None:
            self._moments = found
        return found

    def column_moments(self, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        means, variances = (part.cpu().numpy() for part in self.device_moments(weights))
        return means, variances

    def native_moments(self, weights: np.ndarray | None = None) -> tuple[Any, Any]:
        return self.device_moments(weights)

    def _pass_for_moments(self, weights: Any, rows: Any = None) -> tuple[Any, Any]:
        """Of all rows, or of these; ``weights`` are those of the rows passed over."""
        with passes.exactly(), out_of_memory(self.device, "for the means of the columns"):
            return passes.moments(self._read, weights, self.low, self.high, rows)

    def native_group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """By a pass over the rows of every group, where they are: they are not gathered."""
        codes, found = np.asarray(codes), []
        for k in range(n_groups):
            rows = np.flatnonzero(codes == k)
            some = None if weights is None else self.on_device(weights[rows], np.float64)
            found.append(self._pass_for_moments(some, self.on_device(rows, np.int64)))
        means, variances = (torch.stack(parts) for parts in zip(*found, strict=True))
        self._check_sizes(means, variances)
        return means, variances

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        means, variances = self.native_group_moments(codes, n_groups, weights)
        return means.cpu().numpy(), variances.cpu().numpy()

    def column_minima(self) -> np.ndarray:
        return self._read.amin(dim=0).cpu().numpy()

    def device_sq_norms(self) -> Any:
        """Squared norms of the columns as a tensor, in double precision."""
        means, variances = self.device_moments()
        return self.shape[0] * (variances + means**2)

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        return passes.blocks(self._read, torch.float64, self.low, self.high)

    def take_columns(self, index: Index) -> Any:
        """These columns as ``transform`` returns them: a tensor beside X."""
        return self._columns(self._places(index, 1))

    def _columns(self, places: Any) -> Any:
        """These columns as they are, where X is."""
        here = places if isinstance(places, slice) else places.to(self._read.device)
        return self._read[:, here]

    def _wrap_tensor(self, tensor: Any) -> TensorDesign:
        """The design of other numbers in these intervals."""
        return type(self)(tensor, self.dtype, self.low, self.high, self.device)

    def _again(self) -> Self:
        """The same numbers, for other intervals or another precision."""
        return type(self)(self._read, self.dtype, self.low, self.high, self.device)

    def _bounds(self, places: Any) -> tuple[Any, Any]:
        if self.low is None:
            return None, None
        return self.low[places], self.high[places]

    def _check_sizes(self, means: Any, variances: Any) -> None:
        """Refuse columns with values that are no numbers, or whose squares are none."""
        limit = COLUMN_LIMITS[self.held]
        power = variances + means**2  # NaN where a value is
        usual = (power <= limit**2) & ((power >= limit**-2) | (power == 0))
        if bool(usual.all()):  # of all columns, in every group of rows
            return
        where = np.flatnonzero((~usual.reshape(-1, self.shape[1])).any(dim=0).cpu().numpy())
        n_missing = n_infinite = 0
        bad = np.zeros(len(where), dtype=bool)
        for first in range(0, len(where), COLUMNS_AT_ONCE):
            some = slice(first, first + COLUMNS_AT_ONCE)
            block = self._columns(self.on_device(where[some], np.int64))
            bad[some] = (~block.isfinite()).any(dim=0).cpu().numpy()
            n_missing += int(block.isnan().sum())
            n_infinite += int(block.isinf().sum())
        if bad.any():
            raise no_numbers(n_missing, n_infinite, where[bad].tolist(), IMPUTER)
        columns = f"{len(where)} column{'s' * (len(where) != 1)} ({format_names(where.tolist())})"
        raise ValueError(
            f"X holds values in {columns} that are too large or too small to be squared in "
            f"{self.held}; change the unit of these columns first"
        )


class TensorRows(TensorDesign):
    """Rows of a tensor at some places.

    A product reads all of the tensor: rows at other places are multiplied by zero, or left out of
    the result. So all of it must be finite, which moments of the whole have shown before. That
    takes about as long as a copy of most rows and its products, and no memory.
    """

    def __init__(self, X: Any, places: Any, dtype: Any = None, low: Any = None, high: Any = None):
        super().__init__(X, dtype, low, high)
        self.places = places
        self.shape: tuple[int, int] = (len(places), int(X.shape[1]))

    @property
    def tensor(self) -> Any:
        """A copy, for the few who compare samples with each other."""
        with out_of_memory(self.device, f"to hold {len(self.places)} rows of X a second time"):
            return self._read[self.places]

    def project(self, U: Any) -> Any:
        wide = torch.zeros((len(self._read), U.shape[1]), dtype=U.dtype, device=U.device)
        return super().project(wide.index_add_(0, self.places, U))  # a row may be there twice

    def apply(self, W: Any) -> Any:
        return super().apply(W).index_select(0, self.places)

    def column_minima(self) -> np.ndarray:
        parts = [self._read[self.places[some]].amin(dim=0) for some in self._blocks()]
        return torch.stack(parts).amin(dim=0).cpu().numpy()

    def _view(self, places: Any) -> TensorDesign:
        return TensorRows(self._read, self.places[places], self.dtype, self.low, self.high)

    def _take_rows(self, places: Any) -> Any:
        return self._read[self.places[places]]

    def _pass_for_moments(self, weights: Any, rows: Any = None) -> tuple[Any, Any]:
        return super()._pass_for_moments(
            weights, self.places if rows is None else self.places[rows]
        )

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        for some in self._blocks():
            block = self._read[self.places[some]]
            yield some, passes.convert_block(block, torch.float64, self.low, self.high)

    def _blocks(self) -> Iterator[slice]:
        """Rows that are gathered together."""
        n_rows, n_columns = self.shape
        return slices(n_rows, max(1, passes.BLOCK_BYTES // (8 * n_columns)))

    def _columns(self, places: Any) -> Any:
        if isinstance(places, slice):
            return self._read[:, places].index_select(0, self.places)
        return self._read[self.places[:, None], places]

    def _wrap_tensor(self, tensor: Any) -> TensorDesign:
        return TensorDesign(tensor, self.dtype, self.low, self.high)

    def _again(self) -> Self:
        return type(self)(self._read, self.places, self.dtype, self.low, self.high)
