"""Selectors in ONNX models: ``sparsieve.onnx.register()``, then skl2onnx converts them.

A fitted selector becomes the choice of its columns, also one that could predict: what comes after
it in a pipeline is converted by skl2onnx as ever. So does the first step of ``selected.model``,
where the columns were numbers and not prepared.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._optional import require
from .preprocessing.kept_columns import KeptColumns
from .registry import all_selectors

__all__ = ["register"]

_INT64 = 7  # of TensorProto


def register() -> list[str]:
    """Tell skl2onnx how to convert every selector of this package, and ``selected.model``.

    Returns
    -------
    names : list of str
        The classes that can be converted from now on.

    Examples
    --------
    >>> import sparsieve.onnx
    >>> sparsieve.onnx.register()  # doctest: +SKIP
    >>> skl2onnx.to_onnx(make_pipeline(FisherSelector(3), LogisticRegression()).fit(X, y), X[:1])
    ... # doctest: +SKIP
    """
    skl2onnx = require("skl2onnx", extra="onnx", purpose="write ONNX models")
    classes = all_selectors() | {KeptColumns.__name__: KeptColumns}
    for name, cls in classes.items():
        alias = f"Sparsieve{name}"
        skl2onnx.update_registered_converter(
            cls, alias, _shape, _convert, overwrite=True, parser=partial(_parse, alias)
        )
    return list(classes)


def _parse(alias: str, scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """One output, the columns, also of a selector that is a classifier."""
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = inputs
    made = scope.declare_local_variable("selected", type(inputs[0].type)())
    operator.outputs.append(made)
    return operator.outputs


def _shape(operator: Any) -> None:
    given = operator.inputs[0].type
    n_rows = given.shape[0] if given.shape else None
    operator.outputs[0].type = type(given)([n_rows, len(_places(operator))])


def _places(operator: Any) -> np.ndarray:
    """The columns of the input that are kept."""
    step = operator.raw_operator
    if getattr(step, "prepare_", None) is not None:
        raise ValueError(
            f"this {type(step).__name__} prepares X before it selects, which ONNX is not told of; "
            "put the preparation into a pipeline in front of it and leave prepare out"
        )
    if not isinstance(step, KeptColumns):
        return np.flatnonzero(step.get_support())
    if step.encode is not None:
        raise ValueError(
            "this model encodes text, dates or gaps of a data frame, which ONNX is not told of; "
            "select from columns of numbers alone"
        )
    return step.places_in(operator.inputs[0].type.shape[1])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    places = _places(operator)
    name = scope.get_unique_variable_name("places")
    container.add_initializer(name, _INT64, [len(places)], places.tolist())
    container.add_node(
        "Gather",
        [operator.inputs[0].full_name, name],
        operator.outputs[0].full_name,
        name=scope.get_unique_operator_name("Gather"),
        axis=1,
    )
