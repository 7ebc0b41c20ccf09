"""Annotated data of single-cell analysis (.h5ad)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy import sparse

from .._optional import require
from .arrays import as_real, without
from .errors import DataError, said
from .table import Table, check_unique, find_target, target_from_values


def read_h5ad(path: Path, target: str | None, drop: Sequence[str]) -> Table:
    """Read X, ``var_names`` and a column of ``obs``; see ``read_table``."""
    anndata = require("anndata", extra="data", purpose="read .h5ad files")
    try:
        data = anndata.read_h5ad(path)
        if hasattr(data.X, "check_format"):
            data.X.check_format(full_check=True)  # or what is next done with it may crash
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # a damaged file can make anything of the reader
        raise DataError(f"{path.name} is not a readable .h5ad file: {said(error)}") from error
    if data.X is None:
        raise DataError(f"{path.name} has no matrix X")
    annotations = [str(name) for name in data.obs.columns]
    label = find_target(annotations, target, f"obs of {path.name}")
    names = tuple(str(name) for name in data.var_names)
    check_unique(names, f"var of {path.name}")
    y = target_from_values(data.obs.iloc[:, label], annotations[label], path.name)
    X = as_real(data.X if sparse.issparse(data.X) else np.asarray(data.X))
    return without(Table(X, y, names, annotations[label]), drop, f"var of {path.name}")
