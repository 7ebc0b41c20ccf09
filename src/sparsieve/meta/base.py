"""What selectors around other selectors share: their input, ranks of any model, routing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch, get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import column_or_1d, has_fit_parameter

from ..design.dense import DenseDesign
from ..design.sparse import SparseDesign
from ..selectors.base import BaseSelector, TrainingData
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..validation.capabilities import is_scale_free
from ..validation.containers import plain_vector
from ..validation.external import is_tensor
from ..validation.target import Target, with_task
from .progress import CallbackSupportMixin


class MetaSelector(CallbackSupportMixin, BaseSelector):
    """Base of selectors that ask other selectors; says of itself what those can take."""

    # Callbacks of scikit-learn belong to a session, not to what was learnt.
    _not_saved: ClassVar[tuple[str, ...]] = ("_skl_callbacks",)
    _takes_several: ClassVar[bool] = False  # a list of selectors

    def _state_checks(self) -> Iterator[bool]:
        members = [*self._members(), getattr(self, "estimator", None)]
        yield all(member is None or isinstance(member, BaseEstimator) for member in members)
        fitted = [*getattr(self, "selectors_", ()), getattr(self, "selector_", self)]
        yield all(getattr(one, "n_features_in_", 0) == self.n_features_in_ for one in fitted)
        yield hasattr(getattr(self, "estimator_", self), "n_features_in_")

    def _selector(self) -> Any:
        """The one selector that is asked, as given or by default."""
        selector = getattr(self, "selector", None)
        return weighted(RidgeForwardSelector()) if selector is None else selector

    def _members(self) -> list:
        """The selectors that will see X; other estimators say their needs in their own messages."""
        return [self._selector()]

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        for member in self._members():
            if isinstance(member, type) or not hasattr(member, "fit"):
                given = member.__name__ if isinstance(member, type) else repr(member)
                wrapped = (
                    "[RidgeForwardSelector(10)]" if self._takes_several else "FisherSelector()"
                )
                raise TypeError(
                    f"{owner} was given {given} where a selector is expected; write for example "
                    f"{owner}({wrapped})"
                )

    @property
    def task(self) -> str:
        """How the wrapped selectors read y."""
        tasks = {getattr(member, "task", "auto") for member in self._members()} - {"auto"}
        return tasks.pop() if len(tasks) == 1 else "auto"

    @property
    def _accepts_regression(self) -> bool:  # type: ignore[override]
        return not any(for_classes_only(member) for member in self._members())

    @property
    def _needs_numbers(self) -> bool:  # type: ignore[override]
        return any(for_numbers_only(member) for member in self._members())

    @property
    def _accepts_device(self) -> bool:  # type: ignore[override]
        return all(
            isinstance(member, BaseSelector)
            and (member._accepts_device or member._accepts_external)
            for member in self._members()
        )

    _accepts_several_targets: ClassVar[bool] = True  # members say themselves what they take

    @property
    def _holder_of_task(self) -> str:  # type: ignore[override]
        example = 'RidgeForwardSelector(task="regression")'
        return f"the selectors inside {type(self).__name__}, such as {example}"

    def _members_with_task(self, task: str) -> dict[str, Any]:
        """The parameter that holds the members, with the task set in every one."""
        return {"selector": with_task(self._selector(), task)}

    def _input_tags(self):
        return [get_tags(member).input_tags for member in self._members()]

    @property
    def _accepts_sparse(self):  # type: ignore[override]
        return all(tags.sparse for tags in self._input_tags())

    @property
    def _accepts_nan(self):  # type: ignore[override]
        return all(tags.allow_nan for tags in self._input_tags())

    @property
    def _scale_free(self):  # type: ignore[override]
        return all(map(is_scale_free, self._members()))

    def _training_data(self, X, y, sample_weight) -> TrainingData:
        is_column = getattr(y, "shape", ())[1:] == (1,)
        if is_column and not get_tags(self).target_tags.multi_output:
            y = column_or_1d(y, warn=True)
        return super()._training_data(X, y, sample_weight)

    def _router(self, **members: tuple[Any, str]) -> MetadataRouter:
        """Who gets metadata of ``fit``: by name, a member and the method that takes them."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, (member, method) in members.items():
            mapping = MethodMapping().add(caller="fit", callee=method)
            router.add(method_mapping=mapping, **{name: member})
        return router

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = any(t.positive_only for t in self._input_tags())
        of_targets = [get_tags(member).target_tags for member in self._members()]
        tags.target_tags.multi_output = all(t.multi_output for t in of_targets)
        return tags


def for_classes_only(member: Any) -> bool:
    """Whether a selector, or the end of a pipeline, cannot take numbers as its target."""
    last = member[-1] if isinstance(member, Pipeline) else member
    if isinstance(last, BaseSelector):
        return not last._accepts_regression
    return is_classifier(last)


def for_numbers_only(member: Any) -> bool:
    """Whether an estimator, or the end of a pipeline, is one of scikit-learn's regressors."""
    last = member[-1] if isinstance(member, Pipeline) else member
    return not isinstance(last, BaseSelector) and is_regressor(last)


def arrays_of(data: TrainingData) -> tuple:
    """(X, y) of validated data as an estimator of scikit-learn takes them."""
    design: Any = data.design
    target = data.target
    if isinstance(design, SparseDesign):
        X = design.matrix
    elif isinstance(design, DenseDesign):
        X = design.array
    elif design.is_on_device and design.tensor.device == design.device:
        X = design.tensor
    else:
        raise TypeError(
            "selectors that wrap other selectors accept X as a NumPy array, SciPy sparse matrix "
            f"or tensor, not as a {type(design).__name__}; convert X first"
        )
    if target.classes is not None:
        return X, target.classes[target.codes]
    return X, target.Y[:, 0] if target.Y.shape[1] == 1 else target.Y


def jobs_for(X: Any, n_jobs: int | None) -> int | None:
    """How many jobs share X: one on a device, which works in parallel by itself."""
    return 1 if is_tensor(X) else n_jobs


# -- metadata ----------------------------------------------------------------------------------


def weighted(estimator):
    """Let an estimator that we made ourselves have the sample weights of a routed fit."""
    if get_config()["enable_metadata_routing"]:
        is_pipeline = isinstance(estimator, Pipeline)
        for step in estimator.named_steps.values() if is_pipeline else [estimator]:
            step.set_fit_request(sample_weight=True)
    return estimator


def weights_for(estimator, sample_weight) -> dict:
    """Arguments of ``fit`` that hand over the weights, also to the steps of a pipeline."""
    if sample_weight is None:
        return {}
    if isinstance(estimator, Pipeline):
        names = [n for n, step in estimator.steps if has_fit_parameter(step, "sample_weight")]
        arguments = {f"{name}__sample_weight": sample_weight for name in names}
    else:
        takes = has_fit_parameter(estimator, "sample_weight")
        arguments = {"sample_weight": sample_weight} if takes else {}
    if not arguments:
        raise ValueError(
            f"sample_weight was given but {type(estimator).__name__}.fit does not take it; leave "
            "it out, or route it with scikit-learn's metadata routing"
        )
    return arguments


def check_weighted_classes(params: dict, target: Target) -> None:
    """Refuse weights that leave one class, before a fold complains about its part of them."""
    weights = plain_vector("sample_weight", params.get("sample_weight"))
    if weights is None or target.codes is None or len(weights) != len(target.codes):
        return
    left = np.unique(target.codes[np.asarray(weights) > 0])
    if len(left) < 2:
        raise ValueError(
            f"sample_weight leaves only {len(left)} class{'es' * (len(left) != 1)} with a "
            "positive weight; at least 2 classes are needed"
        )


def routed(owner, params: dict, *, weighted_members: dict, direct: dict) -> Bunch:
    """Arguments for every member: by metadata routing, or plainly where that is off.

    ``weighted_members`` maps names to estimators that get ``sample_weight``; ``direct`` maps
    the name of another parameter to (member, method) that gets it. Scorers get something only
    by routing.
    """
    params = {name: value for name, value in params.items() if value is not None}
    if get_config()["enable_metadata_routing"]:
        return process_routing(owner, "fit", **params)
    result = Bunch(scorer=Bunch(score={}), **{name: Bunch(fit={}) for name in weighted_members})
    for member, method in direct.values():
        result[member] = Bunch(**{method: {}})
    for name, value in params.items():
        if name == "sample_weight":
            for member, estimator in weighted_members.items():
                result[member].fit.update(weights_for(estimator, value))
        elif name in direct:
            member, method = direct[name]
            result[member][method][name] = value
        else:
            known = " and ".join(["sample_weight", *direct])
            raise TypeError(
                f"fit got an unknown argument {name!r}; it takes {known}, and others only with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
    return result
