"""What the parts of a fitted estimator must be: the types that their classes declare, and sizes.

Types come from the annotations. Sizes are what compiled code and index arithmetic rely on; they
are written here, beside each other, because a file can contradict any of them.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from ..choose.stability import StabilityPath
from ..design.dense import DenseDesign
from ..design.sparse import SparseDesign
from ..kernels.bank import KernelBank
from ..kernels.functions import FeatureKernel
from ..selectors.covariates import Covariates
from ..selectors.fixed import FixedColumns
from ..selectors.hinge.base import _Model
from ..selectors.least_squares.certificate import Certificate
from ..selectors.least_squares.l20_greedy import SupportsBySize
from ..selectors.least_squares.support_fit import SupportFit, SupportLeastSquares
from ..selectors.mkl.kernel_machine import FittedKernelMachine
from ..selectors.preparation import Units
from ..selectors.row_norms.base import ModelOnSupports, RobustProblem
from ..solvers.base import Path
from ..solvers.mkl.model import MKLModel
from ..solvers.mkl.weights import KernelWeights
from ..solvers.row_norms.problem import RobustData

LARGEST = 1e100


def is_array(value: Any, kinds: str, *shape: int | None) -> bool:
    """An array of plain numbers of these kinds and this shape; None stands for any length."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype.kind in kinds
        and value.dtype != np.float16
        and value.ndim == len(shape)
        and all(n is None or n == m for n, m in zip(shape, value.shape, strict=True))
    )


def is_finite(*arrays: np.ndarray) -> bool:
    """No NaN and no infinity in any of them."""
    return all(bool(np.isfinite(array).all()) for array in arrays)


def is_moderate(*arrays: np.ndarray) -> bool:
    """Zero, or of a size whose square is a number: what the solvers are made for."""
    return all(
        bool(((array == 0) | ((np.abs(array) < LARGEST) & (np.abs(array) > 1 / LARGEST))).all())
        for array in arrays
    )


def are_places(value: Any, n: int, length: int | None = None) -> bool:
    """A list of indices below n, none twice."""
    if not is_array(value, "i", length):
        return False
    return len(value) == 0 or bool(
        value.min() >= 0 and value.max() < n and len(np.unique(value)) == len(value)
    )


# -- types -------------------------------------------------------------------------------------


@cache
def _declared(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def has_declared_types(instance: Any) -> bool:
    """Whether every field is of the type that its class says."""
    cls: Any = type(instance)
    declared = _declared(cls)
    fields = instance._asdict() if issubclass(cls, tuple) else vars(instance)
    return all(_is(value, declared.get(name, Any)) for name, value in fields.items())


def _is(value: Any, wanted: Any) -> bool:
    if wanted is Any or isinstance(wanted, typing.TypeVar):
        return True
    origin = typing.get_origin(wanted)
    if origin in (types.UnionType, typing.Union):
        return any(_is(value, one) for one in typing.get_args(wanted))
    if origin in (Sequence, list):
        (inner,) = typing.get_args(wanted)
        return isinstance(value, list | tuple) and all(_is(one, inner) for one in value)
    if wanted is np.ndarray:
        return isinstance(value, np.ndarray) and is_array(value, "biuf", *value.shape)
    if wanted is float:
        return isinstance(value, int | float | np.floating) and not isinstance(value, bool)
    if wanted is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    if wanted is np.dtype:
        return isinstance(value, np.dtype) and value in (np.float32, np.float64)
    return isinstance(value, origin or wanted)


# -- sizes -------------------------------------------------------------------------------------


def sizes_agree(instance: Any) -> bool:
    """Whether lengths, indices and numbers fit together; the types do already."""
    return all(all(rule(instance)) for cls, rule in _RULES.items() if isinstance(instance, cls))


def _path(path: Path) -> Iterator[bool]:
    n = len(path.supports)
    yield n > 0 and all(is_array(support, "i", None) for support in path.supports)
    yield len(path.supports[0]) == 0
    for along in (path.objective, path.strength, path.optimality):
        yield along is None or is_array(along, "f", n)
    for many in (path.coefs, path.intercepts):
        yield many is None or len(many) == n
    yield all(is_array(one, "f", None) for one in path.intercepts or ())
    yield all(one.dtype.kind == "f" for one in path.coefs or ())


def _covariates(part: Covariates) -> Iterator[bool]:
    yield is_array(part.directions, "f", None, None)
    n = part.directions.shape[1]
    yield is_array(part.index, "i", None) and is_array(part.basis, "f", len(part.index), n)
    yield is_array(part.target, "f", n, None) and is_array(part.explained, "f", n, None)
    yield are_places(part.index, part.explained.shape[1])


def _fixed(part: FixedColumns) -> Iterator[bool]:
    yield is_array(part.always, "b", None) and is_array(part.never, "b", len(part.always))


def _plane(part: _Model) -> Iterator[bool]:
    yield is_array(part.columns, "f", None, None)
    n, k = part.columns.shape
    yield is_array(part.features, "i", k)
    yield all(is_array(values, "f", k) for values in (part.weights, part.costs, part.bounds))
    yield is_array(part.y, "f", n) and is_array(part.C, "f", n)
    yield is_moderate(part.columns, part.weights, part.costs, part.C)
    yield all(bool((values >= 0).all()) for values in (part.costs, part.C, part.bounds))
    yield bool((np.abs(part.y) == 1.0).all())


def _certificate(part: Certificate) -> Iterator[bool]:
    yield is_array(part.n_features, "i", None)
    n = len(part.n_features)
    yield all(is_array(a, "f", n) for a in (part.objective, part.lower_bound, part.gap, part.share))


def _support_fit(part: SupportFit) -> Iterator[bool]:
    yield is_array(part.coef, "f", None, None)
    yield is_array(part.intercept, "f", len(part.coef))


def _support_least_squares(part: SupportLeastSquares) -> Iterator[bool]:
    yield are_places(part.features, len(part.units.scale))
    yield is_array(part.factor, "f", None, len(part.features))
    yield is_array(part.target, "f", len(part.factor), None)
    yield is_finite(part.factor, part.target)
    yield part.ridge >= 0 and _outputs(part.units, part.target.shape[1])


def _supports_by_size(part: SupportsBySize) -> Iterator[bool]:
    n = len(part.model.units.scale)
    yield is_array(part.leftover, "f", n) and is_array(part.alone, "f", n)
    yield is_array(part.constant, "b", n) and is_array(part.gains, "f", len(part.path.features))
    yield are_places(part.path.features, n)
    yield all(np.isin(support, part.model.features).all() for support in part.path.supports)


def _units(part: Units) -> Iterator[bool]:
    yield is_array(part.centre, "f", None) and is_array(part.scale, "f", len(part.centre))
    yield is_array(part.target_mean, "f", None)
    yield part.decode is None or is_array(part.decode, "f", None, len(part.target_mean))
    if part.covariates is not None:
        yield part.covariates.explained.shape[1] == len(part.scale)


def _outputs(units: Units, n_columns: int) -> bool:
    """Whether a problem with so many columns of Y can be translated by these units."""
    return n_columns == (len(units.target_mean) if units.decode is None else len(units.decode))


def _kernel_weights(part: KernelWeights) -> Iterator[bool]:
    yield is_array(part.features, "i", None) and is_array(part.d, "f", len(part.features))
    yield is_finite(part.d)


def _kernel_machine(part: FittedKernelMachine) -> Iterator[bool]:
    bank = part.model.bank
    yield len(part.weights.d) == bank.n_features
    yield is_array(part.beta, "f", bank.n_samples) and is_finite(part.beta)


def _mkl_model(part: MKLModel) -> Iterator[bool]:
    yield is_array(part.y, "f", part.bank.n_samples) and bool((np.abs(part.y) == 1.0).all())


def _bank(part: KernelBank) -> Iterator[bool]:
    yield isinstance(part.kernel, FeatureKernel) and isinstance(part.centred, bool)
    yield type(part.max_memory) is int and part.max_memory >= 0
    yield is_array(part.weights, "f", part.n_samples) and part.weights.dtype == np.float64
    yield is_finite(part.weights) and bool((part.weights >= 0).all())


def _robust_data(part: RobustData) -> Iterator[bool]:
    n = part.design.shape[0]
    yield is_array(part.Y, "f", n, None) and is_array(part.weights, "f", n)
    yield is_moderate(part.Y, part.weights) and bool((part.weights >= 0).all())
    extra = part.covariates
    yield extra is None or (is_array(extra, "f", n, None) and is_finite(extra))


def _robust_problem(part: RobustProblem) -> Iterator[bool]:
    yield is_array(part.constant, "b", len(part.units.scale))
    yield _outputs(part.units, part.data.Y.shape[1])
    mine, theirs = part.units.covariates, part.data.covariates
    yield (mine is None) == (theirs is None)
    if mine is not None and theirs is not None:
        yield mine.target.shape[0] == theirs.shape[1]
    yield part.units.fit_intercept == part.data.fit_intercept


def _model_on_supports(part: ModelOnSupports) -> Iterator[bool]:
    yield are_places(part.features, len(part.problem.units.scale))
    yield bool((np.diff(part.features) > 0).all())
    yield len(part.features) == part.problem.data.design.shape[1]
    yield part.max_iter >= 0 and part.tol > 0 and part.alpha >= 0


def _stability_path(part: StabilityPath) -> Iterator[bool]:
    yield is_array(part.ks, "i", None) and is_array(part.features, "i", None)
    yield is_array(part.probabilities, "f", len(part.features), len(part.ks))


def _dense(part: DenseDesign) -> Iterator[bool]:
    yield is_array(part.array, "f", None, None) and is_moderate(part.array)


def _sparse(part: SparseDesign) -> Iterator[bool]:
    yield sparse.issparse(part.matrix) and part.matrix.dtype in (np.float32, np.float64)
    yield is_moderate(part.matrix.data)


_RULES: dict[type, Callable[[Any], Iterator[bool]]] = {
    Certificate: _certificate,
    Covariates: _covariates,
    DenseDesign: _dense,
    FittedKernelMachine: _kernel_machine,
    FixedColumns: _fixed,
    KernelBank: _bank,
    KernelWeights: _kernel_weights,
    MKLModel: _mkl_model,
    ModelOnSupports: _model_on_supports,
    Path: _path,
    RobustData: _robust_data,
    RobustProblem: _robust_problem,
    SparseDesign: _sparse,
    StabilityPath: _stability_path,
    SupportFit: _support_fit,
    SupportLeastSquares: _support_least_squares,
    SupportsBySize: _supports_by_size,
    Units: _units,
    _Model: _plane,
}
