"""A design held as a torch tensor: on a GPU its numbers stay there, products come and go.

Only arrays with n_samples or n_features rows and few columns move between the device and the
host. The products of clipped, centred, scaled columns are one pass over X each
(``_torch_passes``).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from ..._checks import listed, warn_user
from ...device import out_of_memory
from ..base import COLUMN_LIMITS, MAX_COPY_BYTES, DesignMatrix, Index
from ..external import check_matrix
from ..scaled import Scaled
from . import _torch_passes as passes
from .base import OnDevice

# Which a device multiplies in the time of one: reading X is what takes long, if X is large.
COLUMNS_AT_ONCE = 32
LARGE_BYTES = 512 << 20


def design_of(X: Any) -> DesignMatrix | None:
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
        self.tensor = X
        self.device: Any = X.device if device is None else device
        self.can_record: bool = bool(X.is_cuda)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self.held: np.dtype = np.dtype(str(X.dtype).removeprefix("torch."))
        self.dtype: np.dtype = self.held if dtype is None else np.dtype(dtype)
        self.low, self.high = low, high
        self.columns_at_once = COLUMNS_AT_ONCE if X.is_cuda and X.nbytes >= LARGE_BYTES else 1
        self._moments: tuple[Any, Any] | None = None

    def in_memory(self) -> np.ndarray | None:
        """X as a NumPy array, where it lies in the memory of the host anyway."""
        return self.tensor.numpy() if self.device.type == "cpu" else None

    def project(self, U: Any) -> Any:
        with passes.exactly(), out_of_memory(self.device, "for a product with X"):
            return passes.columns_on(self.tensor, U, self.low, self.high)

    def apply(self, W: Any) -> Any:
        with passes.exactly(), out_of_memory(self.device, "for a product with X"):
            return passes.rows_on(self.tensor, W, self.low, self.high)

    def column_block(self, places: Any) -> Any:
        block = self._columns(places).to(self.device)
        return passes.converted(block, torch.float64, *self._bounds(places))

    def rows(self, index: Index | slice) -> Self:
        places = self._places(index, 0)
        with out_of_memory(self.device, f"to hold {len(places)} rows of X a second time"):
            return self._made(self.tensor[places.to(self.tensor.device)])._in_unit_of(self)

    def columns(self, index: Index | slice) -> Self:
        places = self._places(index, 1)
        with out_of_memory(self.device, f"to hold {len(places)} columns of X a second time"):
            some = self._made(self._columns(places))
        some.low, some.high = self._bounds(places)
        return some._in_unit_of(self, index)

    def clipped(self, low: np.ndarray, high: np.ndarray) -> Self:
        """The same with every column clamped to an interval; nothing is copied."""
        return self._clipped(*(self.on_device(bound, self.held) for bound in (low, high)))

    def _clipped(self, low: Any, high: Any) -> Self:
        other = self._made(self.tensor)
        other.low, other.high = low.to(self.tensor.dtype), high.to(self.tensor.dtype)
        return other._in_unit_of(self)

    def in_double(self) -> Self:
        """The same numbers, with every product taken in double precision."""
        other = self._made(self.tensor)
        other.dtype = np.dtype(np.float64)
        return other._in_unit_of(self)

    def standardised(
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
            base = self._clipped(means - clip * deviations, means + clip * deviations)
            means, deviations, _ = base._standards(sample_weight, tolerance)
        shift = means if centre else torch.zeros_like(means)
        factor = torch.where(constant, 1.0, deviations) if scale else torch.ones_like(means)
        row_scale = np.sqrt(sample_weight) if weight_rows and sample_weight is not None else None
        view: DesignMatrix = base
        if centre or scale or row_scale is not None:
            if base.shape[0] * base.shape[1] * dtype.itemsize <= MAX_COPY_BYTES:
                blank = constant if centre else None
                view = base._copied(shift, factor, row_scale, blank, dtype)
            else:
                moved = (shift if centre else None, factor if scale else None)
                view = ScaledTensor(base, *moved, row_scale)
        unit = self.on_device(self.unit) if np.ndim(self.unit) else 1.0
        parts = shift * unit, factor * unit, constant
        centres, scales, constants = (part.cpu().numpy() for part in parts)
        return view, centres, scales, constants

    def _copied(
        self, shift: Any, factor: Any, row_scale: np.ndarray | None, blank: Any, dtype: np.dtype
    ) -> TensorDesign:
        """A standardised copy, in double precision until it is done."""
        array = (self.column_block(slice(None)) - shift) / factor
        if row_scale is not None:
            array *= self.on_device(row_scale)[:, None]
        if blank is not None:
            array[:, blank] = 0.0
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

    def moments_beside(self, weights: np.ndarray | None = None) -> tuple[Any, Any]:
        return self.device_moments(weights)

    def _pass_for_moments(self, weights: Any, rows: Any = None) -> tuple[Any, Any]:
        """Of all rows, or of these; ``weights`` are those of the rows passed over."""
        with passes.exactly(), out_of_memory(self.device, "for the means of the columns"):
            return passes.moments(self.tensor, weights, self.low, self.high, rows)

    def group_moments_beside(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[Any, Any]:
        """By a pass over the rows of every group, where they are: they are not gathered."""
        codes, found = np.asarray(codes), []
        for k in range(n_groups):
            rows = np.flatnonzero(codes == k)
            some = None if weights is None else self.on_device(weights[rows], np.float64)
            found.append(self._pass_for_moments(some, self.on_device(rows, np.int64)))
            self._check_sizes(*found[-1])
        means, variances = (torch.stack(parts) for parts in zip(*found, strict=True))
        return means, variances

    def group_moments(
        self, codes: np.ndarray, n_groups: int, weights: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        means, variances = self.group_moments_beside(codes, n_groups, weights)
        return means.cpu().numpy(), variances.cpu().numpy()

    def column_minima(self) -> np.ndarray:
        return self.tensor.amin(dim=0).cpu().numpy()

    def squares_there(self) -> Any:
        """Squared norms of the columns as a tensor, in double precision."""
        means, variances = self.device_moments()
        return self.shape[0] * (variances + means**2)

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        return passes.blocks(self.tensor, torch.float64, self.low, self.high)

    def taken(self, index: Index) -> Any:
        """These columns as ``transform`` returns them: a tensor beside X."""
        return self._columns(self._places(index, 1))

    def _columns(self, places: Any) -> Any:
        """These columns as they are, where X is."""
        here = places if isinstance(places, slice) else places.to(self.tensor.device)
        return self.tensor[:, here]

    def _made(self, tensor: Any) -> Self:
        return type(self)(tensor, self.dtype, self.low, self.high, self.device)

    def _bounds(self, places: Any) -> tuple[Any, Any]:
        if self.low is None:
            return None, None
        return self.low[places], self.high[places]

    def _check_sizes(self, means: Any, variances: Any) -> None:
        """Refuse columns with values that are no numbers, or whose squares are none."""
        limit = COLUMN_LIMITS[self.held]
        power = variances + means**2  # NaN where a value is
        usual = (power <= limit**2) & ((power >= limit**-2) | (power == 0))
        if bool(usual.all()):
            return
        where = np.flatnonzero((~usual).cpu().numpy())
        columns = f"{len(where)} column{'s' * (len(where) != 1)} ({listed(where.tolist())})"
        if bool(power.isfinite().all()):
            raise ValueError(
                f"X holds values in {columns} that are too large or too small to be squared in "
                f"{self.held}; change the unit of these columns first"
            )
        raise ValueError(
            f"Input X contains NaN or infinite values in {columns}; impute or drop them before "
            "selecting"
        )


class ScaledTensor(OnDevice, Scaled):
    """diag(row_scale) (B - 1 centre') diag(1 / scale) of a design B on a device.

    As ``Scaled``, with the arithmetic beside X: one pass over X for a product, and nothing but
    the result moves.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    device: Any
    can_record: bool

    base: TensorDesign

    def __init__(
        self, base: TensorDesign, centre: Any = None, scale: Any = None, row_scale: Any = None
    ):
        self.base, self.shape, self.dtype = base, base.shape, base.dtype
        self.columns_at_once: int = base.columns_at_once
        self.device, self.can_record = base.device, base.can_record
        # In the precision of X, and beside it; on the host only for those who ask.
        held = getattr(torch, self.dtype.name)
        self._given = [
            None if part is None else self._there(part).to(held)
            for part in (centre, scale, row_scale)
        ]
        self._converted = {held: self._given}

    @cached_property
    def centre(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._here(0)

    @cached_property
    def scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every column, in the memory of the host."""
        return self._here(1)

    @cached_property
    def row_scale(self) -> np.ndarray | None:  # type: ignore[override]
        """Of every row, in the memory of the host."""
        return self._here(2)

    def _there(self, part: Any) -> Any:
        return part if isinstance(part, torch.Tensor) else self.on_device(part)

    def _here(self, place: int) -> np.ndarray | None:
        part = self._given[place]
        return None if part is None else part.cpu().numpy()

    def apply(self, W: Any) -> Any:
        centre, scale, row_scale = self._parts(W.dtype)
        if scale is not None:
            W = W / scale[:, None]
        product = self.base.apply(W)
        if centre is not None:
            product = product - centre.double().matmul(W.double()).to(W.dtype)
        return product if row_scale is None else product * row_scale[:, None]

    def project(self, U: Any) -> Any:
        centre, scale, row_scale = self._parts(U.dtype)
        if row_scale is not None:
            U = U * row_scale[:, None]
        product = self.base.project(U).T  # an output in every row
        if centre is not None:
            sums = U.sum(dim=0, dtype=torch.float64).to(U.dtype)
            product = product.addr(sums, centre, alpha=-1.0)
        if scale is not None:
            product = product / scale
        return product.T

    def squares_there(self) -> Any:
        centre, scale, _ = self._parts(torch.float64)
        weights = None if self.row_scale is None else self.row_scale.astype(np.float64) ** 2
        means, variances = self.base.device_moments(weights)
        size = self.shape[0] if weights is None else float(weights.sum())
        squares = size * (variances + (means if centre is None else means - centre) ** 2)
        return squares if scale is None else squares / scale**2

    def column_block(self, places: Any) -> Any:
        return self._standard(self.base.column_block(places), slice(None), places)

    def _row_blocks(self) -> Iterator[tuple[slice, Any]]:
        for rows, block in self.base._row_blocks():
            yield rows, self._standard(block, rows, slice(None))

    def _standard(self, block: Any, rows: slice, columns: Any) -> Any:
        """These rows and columns of the base in standard units, in double precision."""
        centre, scale, row_scale = self._parts(torch.float64)
        if centre is not None:
            block = block - centre[columns]
        if scale is not None:
            block = block / scale[columns]
        return block if row_scale is None else block * row_scale[rows, None]

    def in_double(self) -> ScaledTensor:
        """The same numbers, with every product taken in double precision."""
        return ScaledTensor(self.base.in_double(), *self._parts(torch.float64))

    def _parts(self, dtype: Any) -> list[Any]:
        """Centre, scale and row weights beside X, in some precision; converted once."""
        if dtype not in self._converted:
            self._converted[dtype] = [
                None if part is None else part.to(dtype) for part in self._given
            ]
        return self._converted[dtype]
