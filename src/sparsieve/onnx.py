"""Selectors in ONNX models: ``sparsieve.onnx.register()``, then skl2onnx converts them.

A fitted selector becomes the choice of its columns, also one that could predict: what comes after
it in a pipeline is converted by skl2onnx as ever. So does the first step of ``selected.model``,
where the columns were numbers and not prepared. Its last step may be any model that skl2onnx
knows, or that of counts (expected counts) and survival times (the risk).

skl2onnx has no ridge classifier in double precision or of label sets, and its table of
probabilities (ZipMap) is for single precision alone: both are replaced, or X of float64 could not
be used for classes.
"""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifier

from ._imports import require
from .preprocessing.kept_columns import KeptColumns
from .registry import all_selectors
from .scoring.likelihood_models import LARGEST, LikelihoodRidge
from .scoring.ridge_path import SizedRidge
from .scoring.softmax import SoftmaxRegression

__all__ = ["register"]

_FLOAT, _INT64, _STRING, _DOUBLE = 1, 7, 8, 11  # of TensorProto


def register() -> list[str]:
    """Tell skl2onnx how to convert every selector of this package, and ``selected.model``.

    Returns
    -------
    names : list of str
        The classes that can be converted from now on.

    See Also
    --------
    sparsieve.save : Keep a fitted estimator in a file of this package.

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
            cls, alias, _shape, _convert, overwrite=True, parser=partial(_parse, alias, "selected")
        )
    name = LikelihoodRidge.__name__
    alias = f"Sparsieve{name}"
    skl2onnx.update_registered_converter(
        LikelihoodRidge,
        alias,
        _one_column,
        _convert_likelihood,
        parser=partial(_parse, alias, "variable"),
    )
    _mend_classifiers(skl2onnx)
    _mend_trees()
    return [*classes, name, *_register_linear(skl2onnx)]


def _parse(
    alias: str, output: str, scope: Any, model: Any, inputs: Any, custom_parsers: Any = None
) -> Any:
    """One output, such as the columns, also of a selector that is a classifier."""
    operator = scope.declare_local_operator(alias, model)
    operator.inputs = inputs
    made = scope.declare_local_variable(output, type(inputs[0].type)())
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
    return step.find_places(operator.inputs[0].type.shape[1])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    graph = _Graph(scope, container)
    places = graph.constant(_INT64, _places(operator))
    X, made = operator.inputs[0].full_name, operator.outputs[0].full_name
    graph.add("Gather", X, places, made=made, axis=1)


class _Graph:
    """Adds operations and constants to the model that is made."""

    def __init__(self, scope: Any, container: Any) -> None:
        self.scope, self.container = scope, container

    def add(self, kind: str, *inputs: str, made: str = "", **attributes: Any) -> str:
        """Add an operation; its output is called ``made``, or anything."""
        made = made or self.scope.get_unique_variable_name(kind)
        name = self.scope.get_unique_operator_name(kind)
        self.container.add_node(kind, list(inputs), made, name=name, **attributes)
        return made

    def constant(self, kind: int, values: Any) -> str:
        """Add numbers or texts of a kind."""
        name = self.scope.get_unique_variable_name("constant")
        self.container.add_initializer(name, kind, np.shape(values), np.ravel(values).tolist())
        return name

    def cast(self, found: str, like: Any, made: str) -> None:
        """Give out numbers in the precision of another variable."""
        self.add("Cast", found, made=made, to=_DOUBLE if _is_double(like) else _FLOAT)

    def linear(self, operator: Any) -> str:
        """X times the coefficients plus the intercept, in double precision."""
        model = operator.raw_operator
        coef = self.constant(_DOUBLE, np.atleast_2d(model.coef_).T)
        intercept = self.constant(_DOUBLE, np.reshape(model.intercept_, (1, -1)))
        X = self.add("Cast", operator.inputs[0].full_name, to=_DOUBLE)
        return self.add("Add", self.add("MatMul", X, coef), intercept)


# -- counts and survival times --------------------------------------------------------------------


def _one_column(operator: Any) -> None:
    given = operator.inputs[0].type
    n_rows = given.shape[0] if given.shape else None
    operator.outputs[0].type = type(given)([n_rows, 1])


def _convert_likelihood(scope: Any, operator: Any, container: Any) -> None:
    """The risk, or the expected count."""
    graph, model = _Graph(scope, container), operator.raw_operator
    found = graph.linear(operator)
    if model.task == "counts":
        found = graph.add("Min", found, graph.constant(_DOUBLE, [LARGEST]))
        found = graph.add("Max", found, graph.constant(_DOUBLE, [-LARGEST]))
        found = graph.add("Exp", found)
    graph.cast(found, operator.inputs[0], made=operator.outputs[0].full_name)


def _mend_trees() -> None:
    """Let skl2onnx convert histogram boosting, some of whose numbers ONNX does not take."""
    from skl2onnx.common._registration import get_converter, register_converter

    for kind in ("Classifier", "Regressor"):
        alias = f"SklearnHistGradientBoosting{kind}"
        known = get_converter(alias)
        if not hasattr(known, "mended"):
            convert = partial(_with_whole_numbers, known)
            convert.mended = True  # type: ignore[attr-defined]
            register_converter(alias, convert, overwrite=True, options=_TREE_OPTIONS[kind])


_TREE_OPTIONS: dict[str, Any] = {
    "Classifier": {
        "zipmap": [True, False, "columns"],
        "raw_scores": [True, False],
        "output_class_labels": [False, True],
        "nocl": [True, False],
    },
    "Regressor": None,
}


def _with_whole_numbers(convert: Any, scope: Any, operator: Any, container: Any) -> None:
    """Convert, with whole numbers for truth values and numbers of NumPy in the tables of nodes."""
    add_node = container.add_node

    def add(*given: Any, **named: Any) -> Any:
        for name, value in named.items():
            if name.startswith("nodes_") and isinstance(value, list) and name != "nodes_modes":
                named[name] = [int(one) for one in value]
        return add_node(*given, **named)

    container.add_node = add
    try:
        convert(scope, operator, container)
    finally:
        container.add_node = add_node


def _register_linear(skl2onnx: Any) -> list[str]:
    """Have our own models of classes and of numbers converted as those that they derive from."""
    from skl2onnx.common.shape_calculator import (
        calculate_linear_classifier_output_shapes,
        calculate_linear_regressor_output_shapes,
    )
    from skl2onnx.operator_converters.linear_classifier import convert_sklearn_linear_classifier
    from skl2onnx.operator_converters.linear_regressor import convert_sklearn_linear_regressor

    flags = [True, False]
    options = {"nocl": flags, "raw_scores": flags, "zipmap": [*flags, "columns"]}
    options["output_class_labels"] = flags
    for cls, shape, convert, known in (
        (
            SoftmaxRegression,
            calculate_linear_classifier_output_shapes,
            convert_sklearn_linear_classifier,
            options,
        ),
        (
            SizedRidge,
            calculate_linear_regressor_output_shapes,
            convert_sklearn_linear_regressor,
            None,
        ),
    ):
        alias = f"Sparsieve{cls.__name__}"
        skl2onnx.update_registered_converter(
            cls, alias, shape, convert, overwrite=True, options=known
        )
    return [SoftmaxRegression.__name__, SizedRidge.__name__]


# -- classes ------------------------------------------------------------------------------------


def _is_double(variable: Any) -> bool:
    return type(variable.type).__name__ == "DoubleTensorType"


def _mend_classifiers(skl2onnx: Any) -> None:
    """Let skl2onnx convert ridge classifiers, and all classifiers in double precision."""
    from skl2onnx.common._registration import register_converter, register_shape_calculator
    from skl2onnx.common.data_types import FloatTensorType, Int64TensorType
    from skl2onnx.common.shape_calculator import calculate_linear_classifier_output_shapes
    from skl2onnx.common.utils_classifier import get_label_classes
    from skl2onnx.operator_converters.zip_map import convert_sklearn_zipmap
    from skl2onnx.shape_calculators.zip_map import calculate_sklearn_zipmap

    def parse_ridge(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
        operator = scope.declare_local_operator(alias, model)
        operator.inputs = inputs
        for name, kind in (("label", Int64TensorType), ("probabilities", type(inputs[0].type))):
            operator.outputs.append(scope.declare_local_variable(name, kind()))
        return operator.outputs

    def ridge_shape(operator: Any) -> None:
        calculate_linear_classifier_output_shapes(operator)
        n_rows, n_outputs = operator.inputs[0].get_first_dimension(), _n_outputs(operator)
        operator.outputs[1].type.shape = [n_rows, n_outputs]
        if _has_label_sets(operator):
            operator.outputs[0].type.shape = [n_rows, n_outputs]

    def convert_ridge(scope: Any, operator: Any, container: Any) -> None:
        classes = get_label_classes(scope, operator.raw_operator)
        _convert_ridge(_Graph(scope, container), operator, np.asarray(classes))

    def convert_table(scope: Any, operator: Any, container: Any) -> None:
        *labels, given = operator.inputs
        if _is_double(given):
            name = _Graph(scope, container).add("Cast", given.full_name, to=_FLOAT)
            operator = _with_inputs(operator, [*labels, SimpleNamespace(full_name=name)])
        convert_sklearn_zipmap(scope, operator, container)

    def table_shape(operator: Any) -> None:
        *labels, given = operator.inputs
        if _is_double(given):
            single = FloatTensorType(given.type.shape)
            operator = _with_inputs(operator, [*labels, SimpleNamespace(type=single)])
        calculate_sklearn_zipmap(operator)

    alias = f"Sparsieve{RidgeClassifier.__name__}"
    flags = [True, False]
    options = {"nocl": flags, "raw_scores": flags, "zipmap": [*flags, "columns"]}
    skl2onnx.update_registered_converter(
        RidgeClassifier, alias, ridge_shape, convert_ridge, parser=parse_ridge, options=options
    )
    register_converter("SklearnZipMap", convert_table, overwrite=True)
    register_shape_calculator("SklearnZipMap", table_shape, overwrite=True)


def _with_inputs(operator: Any, inputs: list[Any]) -> Any:
    """The same operator of skl2onnx with other inputs."""
    return SimpleNamespace(**{**vars(operator), "inputs": inputs, "outputs": operator.outputs})


def _n_outputs(operator: Any) -> int:
    return len(np.atleast_2d(operator.raw_operator.coef_))


def _has_label_sets(operator: Any) -> bool:
    return operator.raw_operator._label_binarizer.y_type_.startswith("multilabel")


def _convert_ridge(graph: _Graph, operator: Any, classes: np.ndarray) -> None:
    """The label with the largest score, or all with a positive one, and the scores."""
    label, scores = (made.full_name for made in operator.outputs)
    found = graph.linear(operator)
    graph.cast(found, operator.inputs[0], made=scores)
    if _has_label_sets(operator):
        positive = graph.add("Greater", found, graph.constant(_DOUBLE, [0.0]))
        graph.add("Cast", positive, made=label, to=_INT64)
        return
    if _n_outputs(operator) == 1:
        positive = graph.add("Greater", found, graph.constant(_DOUBLE, [0.0]))
        place = graph.add("Cast", positive, to=_INT64)
        place = graph.add("Reshape", place, graph.constant(_INT64, [-1]))
    else:
        place = graph.add("ArgMax", found, axis=1, keepdims=0)
    is_text = classes.dtype.kind in "UO"
    texts = [str(one).encode() for one in classes]
    known = graph.constant(*(_STRING, texts) if is_text else (_INT64, classes.astype(np.int64)))
    graph.add("Gather", known, place, made=label)
