"""Selectors in ONNX models: ``sparsieve.onnx.register()``, then skl2onnx converts them.

A fitted selector becomes the choice of its columns, also one that could predict: what comes after
it in a pipeline is converted by skl2onnx as ever.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ._optional import require
from .registry import all_selectors

__all__ = ["register"]

_INT64 = 7  # of TensorProto


def register() -> list[str]:
    """Tell skl2onnx how to convert every selector of this package.

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
    names = all_selectors()
    for name, cls in names.items():
        alias = f"Sparsieve{name}"
        skl2onnx.update_registered_converter(
            cls, alias, _shape, _convert, overwrite=True, parser=partial(_parse, alias)
        )
    return list(names)


def _parse(alias: str, scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """One output, the columns, also of a selector that is a classifier."""
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = inputs
    made = scope.declare_local_variable("selected", type(inputs[0].type)())
    operator.outputs.append(made)
    return operator.outputs


def _shape(operator: Any) -> None:
    given = operator.inputs[0].type
    n_kept = int(operator.raw_operator.get_support().sum())
    n_rows = given.shape[0] if given.shape else None
    operator.outputs[0].type = type(given)([n_rows, n_kept])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    selector = operator.raw_operator
    if getattr(selector, "prepare_", None) is not None:
        raise ValueError(
            "this SelectorCV prepares X before it selects, which ONNX is not told of; put the "
            "preparation into a pipeline in front of it and leave prepare out"
        )
    places = np.flatnonzero(selector.get_support())
    name = scope.get_unique_variable_name("places")
    container.add_initializer(name, _INT64, [len(places)], places.tolist())
    container.add_node(
        "Gather",
        [operator.inputs[0].full_name, name],
        operator.outputs[0].full_name,
        name=scope.get_unique_operator_name("Gather"),
        axis=1,
    )
