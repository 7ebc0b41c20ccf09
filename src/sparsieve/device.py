"""Data on a GPU: moving X there, and clear words where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from ._imports import require

__all__ = ["on_device"]


def on_device(X: Any, device: str = "cuda", *, stream: bool = False) -> Any:
    """Move a matrix to a GPU, so that selectors work there.

    X stays on the device during a fit; results are NumPy arrays, and ``transform`` of a tensor
    returns a tensor on the same device. A torch tensor that is already on a device can be passed to
    ``fit`` directly.

    Parameters
    ----------
    X : array-like or tensor of shape (n_samples, n_features)
        Numbers; float32 and float64 keep their precision.
    device : str, default="cuda"
        Name of a torch device: "cuda", "cuda:1", "cpu".
    stream : bool, default=False
        Keep X in main memory and send it to the device block by block in every pass; for X larger
        than the memory of the device.

    Returns
    -------
    X : torch.Tensor or Streamed
        X to pass to ``fit``.

    See Also
    --------
    sparsieve.set_memory : Limits the memory used for data in files.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> import sparsieve
    >>> X, y = load_wine(return_X_y=True)
    >>> there = sparsieve.on_device(X, "cpu")  # "cuda" on a machine with a GPU
    >>> sparsieve.RidgeForwardSelector(2).fit(there, y).get_support(indices=True)
    array([11, 12])
    """
    torch = require("torch", extra="torch", purpose="work on a device")
    place = torch_device(device, instead='leave X where it is or pass device="cpu"')
    X = X if isinstance(X, torch.Tensor) else torch.from_numpy(_numbers(X))
    if stream:
        return Streamed(X.cpu(), place)
    if place.type == "cuda" and X.device != place:
        free = torch.cuda.mem_get_info(place)[0]
        if X.nbytes > free:
            raise MemoryError(
                f"X needs {_amount(X.nbytes)}, but only {_amount(free)} of {place} memory are "
                "free; pass stream=True to keep X in main memory, use float32, or free memory "
                "first"
            )
    with out_of_memory(place, f"for X, which takes {_amount(X.nbytes)}"):
        return X.to(place)


class Streamed:
    """X in the memory of the host that is worked on by a device, block by block."""

    device: Any
    tensor: Any
    dtype: Any
    ndim: int
    shape: tuple[int, ...]

    def __init__(self, tensor: Any, device: Any):
        self.tensor, self.device = tensor, device
        self.shape, self.dtype, self.ndim = tuple(tensor.shape), tensor.dtype, tensor.ndim

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<{self.shape[0]} x {self.shape[1]} matrix streamed to {self.device}>"


def torch_device(name: Any, instead: str = "leave out the device to work on the CPU") -> Any:
    """The device that torch knows by this name, or one sentence on why there is none."""
    torch = require("torch", extra="torch", purpose="work on a device")
    try:
        place = torch.device(name)
    except (RuntimeError, TypeError):
        raise ValueError(f'device must be a name such as "cuda" or "cpu", got {name!r}') from None
    if place.type != "cuda":
        return place
    if not torch.cuda.is_available():
        raise RuntimeError(
            f"torch {torch.__version__} finds no CUDA device on this machine; {instead}"
        )
    count = torch.cuda.device_count()
    if (place.index or 0) >= count:
        raise RuntimeError(
            f"there is no {place}: torch finds {count} CUDA device{'s' * (count != 1)}, "
            "counted from cuda:0"
        )
    index = torch.cuda.current_device() if place.index is None else place.index
    return torch.device("cuda", index)


def _numbers(X: Any) -> np.ndarray:
    array = np.asarray(X)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"X must contain real numbers, but has dtype {array.dtype}; encode or drop columns "
            "that are not numbers"
        )
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    return array if array.flags.writeable else array.copy()  # torch writes where it may


@contextmanager
def out_of_memory(device: Any, purpose: str) -> Iterator[None]:
    """Turn torch's lengthy answer to a full device into a sentence."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        needed = _requested_amount(str(error))
        cuda = device.type == "cuda"
        free = _amount(torch.cuda.mem_get_info(device)[0]) if cuda else "less"
        raise MemoryError(
            f"{device} has too little memory {purpose}: {needed} needed, {free} free; "
            "free memory, use float32 or fewer rows, or pass sparsieve.on_device(X, stream=True)"
        ) from error


def _requested_amount(message: str) -> str:
    """The amount in torch's "Tried to allocate 2.00 GiB."""
    words = message.partition("Tried to allocate ")[2].split()
    return " ".join(words[:2]).rstrip(".") if len(words) > 1 else "more is"


def _amount(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:.3g} GB"
