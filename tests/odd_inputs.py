"""Kinds of odd input, in one place: for the tests and for docs/measured/odd_inputs.csv."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_classification

SCALES = (1e200, 1e150, 1e-150, 1e-200, 1e-300)


def small(cls):
    """An estimator that is quick: few features, few repetitions."""
    estimator = cls()
    names = estimator.get_params(deep=False)
    few = {"n_subsamples": 6, "max_rounds": 6, "n_repeats": 1, "cv": 2, "n_features_to_select": 3}
    return estimator.set_params(**{k: v for k, v in few.items() if k in names})


def usual_data():
    """Two classes, 30 samples, 7 positive features of which the last ones count."""
    X, y = make_classification(
        30, 7, n_informative=3, n_redundant=0, class_sep=1.5, shuffle=False, random_state=3
    )
    return np.abs(X[:, ::-1] - X.min()) + 0.1, y


# -- tables ------------------------------------------------------------------------------------

WEIGHTS = {
    "huge": lambda n: np.full(n, 1e200),
    "tiny": lambda n: np.full(n, 1e-200),
    "300 orders": lambda n: np.logspace(-150, 150, n),
    "150 orders": lambda n: np.logspace(-150, 0, n),
}


def stored(X, kind, to_format):
    """The same matrix, stored in an unusual way."""
    matrix = sparse.coo_array(X)
    row, column, value = matrix.row, matrix.col, matrix.data
    if kind == "in parts":
        parts = np.linspace(-1.0, 2.0, 3)
        row, column = np.repeat(row, 3), np.repeat(column, 3)
        value = (value[:, None] * parts / parts.sum()).ravel()
    if kind == "explicit zeros":
        zero_row, zero_column = np.nonzero(X == 0)
        row, column = np.append(row, zero_row), np.append(column, zero_column)
        value = np.append(value, np.zeros(len(zero_row)))
    major, minor = (row, column) if to_format is sparse.csr_array else (column, row)
    order = np.lexsort((-minor, major))  # minor indices fall
    n_major = X.shape[0] if to_format is sparse.csr_array else X.shape[1]
    pointers = np.searchsorted(major[order], np.arange(n_major + 1))
    dtype = np.int64 if kind == "long indices" else np.int32
    made = to_format((value[order], minor[order], pointers), shape=X.shape)
    made.indices, made.indptr = made.indices.astype(dtype), made.indptr.astype(dtype)
    return made


class AnnData:  # stands in where anndata is not installed
    def __init__(self, X):
        self.X, self.obs, self.var = X, pd.DataFrame(index=range(len(X))), pd.DataFrame()
        self.shape = X.shape


class LazyFrame:
    def collect(self):
        raise AssertionError("not asked for")


def polars_frame(X, column):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])})
    return frame.with_columns(f6=polars.Series(column))


def masked(X):
    return np.ma.masked_greater(X, np.sort(X, axis=None)[-3])


def objects(X, value):
    X = X.astype(object)
    X[(3,) + (0,) * (X.ndim - 1)] = value
    return X


def with_column(X, column):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]).assign(when=column)


def nullable(X):
    frame = with_column(X, 0).convert_dtypes()
    frame.loc[2, "f1"] = pd.NA
    return frame


ODD_X = {
    "complex": (lambda X: X + 1j, "X holds complex"),
    "complex sparse": (lambda X: sparse.csr_array(X + 1j), "X holds complex"),
    "complex list": (lambda X: (X + 1j).tolist(), "X holds complex"),
    "complex column": (lambda X: with_column(X, 1j), "X has complex columns: 'when'"),
    "masked": (masked, "X is a masked array with 2 masked values"),
    "none": (lambda X: objects(X, None), "X contains NaN or missing values"),
    "none in a list": (lambda X: objects(X, None).tolist(), "X contains NaN or missing"),
    "NA in objects": (lambda X: objects(X, pd.NA), "X contains NaN or missing"),
    "complex in objects": (lambda X: objects(X, 1j), "X holds complex"),
    "ragged": (lambda X: [[1.0, 2.0], *X.tolist()], "X .*rows have different lengths"),
    "dates": (lambda X: X.astype("M8[s]"), "X holds dates"),
    "durations": (lambda X: X.astype("m8[s]"), "X holds dates"),
    "fields": (lambda X: np.zeros((30, 7), dtype=[("a", float)]), "X has named fields"),
    "date column": (
        lambda X: with_column(X, pd.Timestamp("2020-02-02")),
        "X has date or time columns: 'when'",
    ),
    "polars text": (lambda X: polars_frame(X, ["a"] * len(X)), "X has text columns: 'f6'"),
    "polars dates": (
        lambda X: polars_frame(X, [datetime(2020, 2, 2)] * len(X)),
        "X has date or time columns: 'f6'",
    ),
    "lazy": (lambda X: LazyFrame(), "X is a LazyFrame"),
    "annotated": (AnnData, "X is an AnnData object"),
    "nullable": (nullable, r"X contains NaN.*'f1'"),
}


def dates(y, missing=False):
    when = np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]")[y]
    if missing:
        when[3] = np.datetime64("NaT")
    return when


ODD_Y = {
    "complex": (lambda y: y + 1j, "y holds complex"),
    "masked": (lambda y: np.ma.masked_array(y, np.arange(30) == 3), "y is a masked array with 1 "),
    "NaT": (lambda y: dates(y, missing=True), "y holds dates"),
    "NaT series": (lambda y: pd.Series(dates(y, missing=True)), "y holds dates"),
    "NaT in objects": (lambda y: objects(dates(y), pd.NaT), "y contains NaN or missing"),
    "none": (lambda y: objects(y.astype(str), None), "y contains NaN or missing"),
    "nan in text": (lambda y: objects(y.astype(str), np.nan), "y contains NaN or missing"),
    "NA": (lambda y: pd.Series(objects(y, pd.NA)).astype("Int64"), "y contains NaN"),
    "NA text": (lambda y: pd.Series(objects(y.astype(str), pd.NA), dtype="string"), "y contains"),
    "lazy": (lambda y: LazyFrame(), "y is a LazyFrame"),
}


ODD_WEIGHTS = {
    "complex": (lambda w: w + 1j, "sample_weight holds complex"),
    "masked": (lambda w: np.ma.masked_array(w, np.arange(30) == 3), "sample_weight is a masked"),
    "none": (lambda w: objects(w, None), "sample_weight contains NaN"),
    "nan": (lambda w: np.where(w > 0, np.nan, w), "sample_weight is missing in row 1 and 29 more"),
    "negative": (lambda w: -w, "sample_weight"),
    "short": (lambda w: w[:3], "sample_weight"),
}

BAD_CLASS_WEIGHTS = {
    "zero": ({0: 0.0, 1: 1.0}, "class_weight of 0 must be positive"),
    "negative": ({0: 1.0, 1: -2}, "class_weight of 1 must be positive"),
    "nan": ({0: float("nan"), 1: 1.0}, "class_weight of 0 must be positive"),
    "infinite": ({0: float("inf"), 1: 1.0}, "class_weight of 0 must be positive"),
    "huge": ({0: 1e200, 1: 1.0}, "class_weight .*holds 1e\\+200"),
    "tiny": ({0: 1e-200, 1: 1.0}, "class_weight .*holds 1e-200"),
    "unknown class": ({0: 1.0, 7: 2.0}, "class_weight contains 7, but the classes of y are"),
    "text": ({0: "2", 1: 1.0}, "class_weight of 0 must be a number"),
    "none": ({0: None, 1: 1.0}, "class_weight of 0 must be a number"),
    "boolean": ({0: True, 1: 1.0}, "class_weight of 0 must be a number"),
    "complex": ({0: 1j, 1: 1.0}, "class_weight of 0 must be a number"),
    "a list": ([1.0, 2.0], "class_weight must be a dict"),
    "a number": (2.0, "class_weight must be a dict"),
    "another word": ("balance", "class_weight must be a dict, \"balanced\" or None, got 'balance'"),
}


def _with(X, place, value):
    X = X.copy()
    X[place] = value
    return X


def _frozen(X):
    X = X.copy()
    X.setflags(write=False)
    return X


def _named(X, names):
    return pd.DataFrame(X, columns=names)


LETTERS = list("abcdefg")
SHAPES: dict[str, Callable] = {  # X and y that are wrong or rare as a whole
    "NaN in X": lambda X, y: (_with(X, (2, 3), np.nan), y),
    "infinity in X": lambda X, y: (_with(X, (0, 4), np.inf), y),
    "NaN in sparse X": lambda X, y: (sparse.csr_array(_with(X, (2, 3), np.nan)), y),
    "one class": lambda X, y: (X, np.zeros_like(y)),
    "a class per sample": lambda X, y: (X, [f"s{i}" for i in range(len(y))]),
    "a column of text": lambda X, y: (_named(X, LETTERS).assign(sex="m"), y),
    "text": lambda X, y: (np.full(X.shape, "a", dtype=object), y),
    "doubled names": lambda X, y: (_named(X, list("abacdef")), y),
    "mixed names": lambda X, y: (_named(X, [0, *LETTERS[1:]]), y),
    "y shorter than X": lambda X, y: (X, y[:-1]),
    "no samples": lambda X, y: (X[:0], y[:0]),
    "one sample": lambda X, y: (X[:1], y[:1]),
    "three samples": lambda X, y: (X[[0, 1, -1]], y[[0, 1, -1]]),
    "no features": lambda X, y: (X[:, :0], y),
    "one feature": lambda X, y: (X[:, :1], y),
    "one dimension": lambda X, y: (X[:, 0], y),
    "three dimensions": lambda X, y: (X[:, :, None], y),
    "a scalar": lambda X, y: (3.0, y),
    "X is None": lambda X, y: (None, y),
    "X is a dict": lambda X, y: ({"a": X[:, 0]}, y),
    "NaN in y": lambda X, y: (X, np.where(y == 0, np.nan, 1.0)),
    "y is None": lambda X, y: (X, None),
    "y is infinite": lambda X, y: (X, np.where(y == 0, np.inf, 1.0)),
    "text labels": lambda X, y: (X, np.array(["healthy", "ill"])[y]),
    "boolean labels": lambda X, y: (X, y.astype(bool)),
    "labels of mixed kinds": lambda X, y: (X, np.array(["a", 1], dtype=object)[y]),
    "y as a column": lambda X, y: (X, y[:, None]),
    "lists": lambda X, y: (X.tolist(), y.tolist()),
    "integers": lambda X, y: ((10 * X).astype(int), y),
    "booleans": lambda X, y: (X.mean(axis=0) < X, y),
    "negative numbers": lambda X, y: (X - X.mean(axis=0), y),
    "half precision": lambda X, y: (X.astype(np.float16), y),
    "long double": lambda X, y: (X.astype(np.longdouble), y),
    "big-endian": lambda X, y: (X.astype(">f8"), y),
    "Fortran order": lambda X, y: (np.asfortranarray(X), y),
    "strided": lambda X, y: (np.repeat(X, 2, axis=1)[:, ::2], y),
    "read only": lambda X, y: (_frozen(X), _frozen(y)),
    "np.matrix": lambda X, y: (np.asmatrix(X), y),
    "all constant": lambda X, y: (np.ones_like(X), y),
    "all zero": lambda X, y: (np.zeros_like(X), y),
    "a constant column": lambda X, y: (_with(X, (slice(None), 0), 3.0), y),
    "copies of one column": lambda X, y: (np.repeat(X[:, [6]], 7, axis=1), y),
    "X times 1e8": lambda X, y: (X * 1e8, y),
    "X times 1e-8": lambda X, y: (X * 1e-8, y),
    "X plus 1e6": lambda X, y: (X + 1e6, y),
    "many classes": lambda X, y: (X, np.arange(len(y)) // 3),
    "a class of one sample": lambda X, y: (X, _with(y, 0, 2)),
    "COO": lambda X, y: (sparse.coo_array(X), y),
    "LIL": lambda X, y: (sparse.lil_array(X), y),
    "DIA": lambda X, y: (sparse.dia_array(X), y),
    "nullable integers": lambda X, y: (X, pd.Series(y, dtype="Int64")),
    "categories": lambda X, y: (X, pd.Series(pd.Categorical.from_codes(y, ["no", "yes"]))),
}

LATER: dict[str, Callable] = {  # what is handed to transform and predict after a usual fit
    "a list": lambda X: X.tolist(),
    "COO": sparse.coo_array,
    "CSC": sparse.csc_array,
    "float32": lambda X: X.astype(np.float32),
    "masked": masked,
    "complex": lambda X: X + 1j,
    "one row": lambda X: X[:1],
    "no rows": lambda X: X[:0],
    "one dimension": lambda X: X[0],
    "a column too few": lambda X: X[:, :-1],
    "a column too many": lambda X: np.hstack([X, X[:, :1]]),
    "NaN": lambda X: _with(X, (2, 3), np.nan),
    "infinity": lambda X: _with(X, (2, 3), np.inf),
    "text": lambda X: np.full(X.shape, "a", dtype=object),
    "dates": lambda X: X.astype("M8[s]"),
    "None": lambda X: None,
}
NAMED_LATER: dict[str, Callable] = {  # the same after a fit with names
    "another order of columns": lambda frame: frame[frame.columns[::-1]],
    "other names": lambda frame: frame.add_prefix("new "),
    "a column of text": lambda frame: frame.assign(b="x"),
    "an array instead of a frame": lambda frame: frame.to_numpy(),
}


@dataclass(frozen=True)
class Kind:
    """What is odd, and how it is made from usual data."""

    group: str
    make: Callable


def _kinds() -> dict[str, Kind]:
    kinds = {name: Kind("X and y", make) for name, make in SHAPES.items()}
    for name, (make, _) in ODD_X.items():
        kinds[f"{name} X"] = Kind("X and y", lambda X, y, make=make: (make(X), y))
    for name, (make, _) in ODD_Y.items():
        kinds[f"{name} y"] = Kind("X and y", lambda X, y, make=make: (X, make(y)))
    for scale in SCALES:
        kinds[f"X times {scale:g}"] = Kind("X and y", lambda X, y, by=scale: (X * by, y))
    for kind in ("in parts", "explicit zeros", "unsorted", "long indices"):
        kinds[f"CSR {kind}"] = Kind(
            "X and y", lambda X, y, kind=kind: (stored(X, kind, sparse.csr_array), y)
        )
    for name, make in {**{n: m for n, (m, _) in ODD_WEIGHTS.items()}, **WEIGHTS}.items():
        as_weights = make if name in ODD_WEIGHTS else (lambda w, make=make: make(len(w)))
        kinds[f"sample_weight: {name}"] = Kind("sample_weight", as_weights)
    for name, (value, _) in BAD_CLASS_WEIGHTS.items():
        kinds[f"class_weight: {name}"] = Kind("class_weight", lambda value=value: value)
    for name, make in LATER.items():
        kinds[f"transform: {name}"] = Kind("transform", make)
    for name, make in NAMED_LATER.items():
        kinds[f"transform: {name}"] = Kind("transform with names", make)
    return kinds


KINDS = _kinds()
