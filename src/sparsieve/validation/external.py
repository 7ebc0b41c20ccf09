"""X that stays where it is (a file, a cluster, a device): checked without being converted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._checks import format_names
from .._sklearn import check_y, get_output_config
from ..design import DesignMatrix, external_design
from .containers import fetch_values
from .survival import is_survival

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
