"""What selectors around other selectors share: their input, ranks of any model, routing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from ..selectors.adapter import SelectorAdapter
from ..selectors.around import AroundSelectors, group_arguments, last_step, weight_arguments
from ..selectors.base import BaseSelector, Count
from ..selectors.groups import with_feature_groups
from ..selectors.least_squares.ridge_forward import RidgeForwardSelector
from ..selectors.methods import as_selector
from ..validation.columns import FixedColumns, is_on_device, pass_fixed_columns
from ..validation.containers import plain_vector
from ..validation.feature_groups import by_place
from ..validation.target import Target, with_task
from .progress import CallbackSupportMixin


@dataclass(eq=False, repr=False, kw_only=True)
class MetaSelector(CallbackSupportMixin, AroundSelectors):
    """Base of selectors that ask other selectors; says of itself what those can take."""

    n_features_to_select: Count = field(default=None, kw_only=True)  # what is first is the selector

    # Callbacks of scikit-learn belong to a session, not to what was learnt.
    _not_saved: ClassVar[tuple[str, ...]] = ("_skl_callbacks",)
    _takes_several: ClassVar[bool] = False  # a list of selectors
    _adds_up_ranks: ClassVar[bool] = True  # which columns of one group share

    def _selector(self) -> BaseSelector:
        """The one selector that is asked, as given or by default."""
        return self._members()[0]

    def _input_selectors(self) -> list[Any]:
        """The selectors as they were given, or by default."""
        selector = getattr(self, "selector", None)
        return [request_weights(RidgeForwardSelector()) if selector is None else selector]

    def _members(self) -> list[Any]:
        """The selectors that will see X; other estimators say their needs in their own messages."""
        return [as_selector(member) for member in self._input_selectors()]

    @property
    def _given_groups(self) -> Any:
        """The feature groups, of this selector or of those inside."""
        if (own := getattr(self, "feature_groups", None)) is not None:
            return own
        found = (getattr(member, "feature_groups", None) for member in self._members())
        return next((one for one in found if one is not None), None)

    def _place_member(self, member: Any) -> Any:
        """The member with groups; columns by place where parameters name them: it sees arrays."""
        member = with_feature_groups(member, getattr(self, "feature_groups", None))
        names = getattr(self, "feature_names_in_", None)
        placed = by_place(member, names)
        placed |= pass_fixed_columns(self, member, self.n_features_in_, names)
        return clone(member).set_params(**placed) if placed else member

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        for member in self._input_selectors():
            try:
                as_selector(member)
            except TypeError as error:
                if hasattr(member, "fit"):
                    raise TypeError(f"{owner}: {error}") from None
                wrapped = (
                    "[RidgeForwardSelector(10)]" if self._takes_several else "FisherSelector()"
                )
                raise TypeError(
                    f"{owner} was given {member!r} where a selector is expected; write for example "
                    f"{owner}({wrapped})"
                ) from None
        self._check_groups()

    def _check_groups(self) -> None:
        """Feature groups are given once: to this selector, or to every selector inside."""
        owner, members = type(self).__name__, self._members()
        guests = [last_step(m.selector) for m in members if isinstance(m, SelectorAdapter)]
        if self._adds_up_ranks and any(
            getattr(guest, "feature_groups", None) is not None for guest in guests
        ):
            raise ValueError(
                f"{owner} does not see the feature_groups of a selector inside a pipeline; apply "
                f"the other steps to X first and give {owner} the selector itself"
            )
        have = [getattr(member, "feature_groups", None) is not None for member in members]
        if getattr(self, "feature_groups", None) is not None:
            if any(have):
                raise ValueError(
                    f"feature_groups was given to {owner} and to a selector inside it; give it to "
                    f"{owner} only"
                )
            for member in members:
                with_feature_groups(member, self.feature_groups)  # or says that it takes none
        elif any(have) and not all(have):
            raise ValueError(
                f"some selectors of {owner} have feature_groups and others have none; give "
                f"feature_groups to {owner}, which passes them on"
            )

    @property
    def task(self) -> str:
        """How the wrapped selectors read y."""
        given = (
            getattr(one, "_asked_task", getattr(one, "task", "auto")) for one in self._members()
        )
        tasks = set(given) - {"auto"}
        return tasks.pop() if len(tasks) == 1 else "auto"

    @property
    def _holder_of_task(self) -> str:  # type: ignore[override]
        return f"the selectors inside {type(self).__name__}"

    def _members_with_task(self, task: str) -> dict[str, Any]:
        """The parameter that holds the members, with the task set in every one."""
        return {"selector": with_task(self._selector(), task)}

    def _router(self, **members: tuple[Any, str]) -> MetadataRouter:
        """Who gets metadata of ``fit``: by name, a member and the method that takes them."""
        router = MetadataRouter(owner=self).add_self_request(self)
        for name, (member, method) in members.items():
            mapping = MethodMapping().add(caller="fit", callee=method)
            router.add(method_mapping=mapping, **{name: member})
        return router


def check_open(owner: Any, fixed: FixedColumns) -> None:
    """Refuse a test of features where the user has decided about all of them."""
    if not fixed.n_open:
        raise ValueError(
            f"always_keep and never_keep leave no {fixed.unit} for {type(owner).__name__} to test; "
            "leave some out of them"
        )


def check_single_features(owner: Any, members: list[Any]) -> None:
    """Refuse selectors of groups where features are counted one by one."""
    if any(getattr(member, "feature_groups", None) is not None for member in members):
        raise ValueError(
            f"{type(owner).__name__} counts single features and cannot wrap a selector with "
            "feature_groups; leave feature_groups out, or use StabilitySelection"
        )


def redraw_seeds(selector: Any, rng: np.random.RandomState) -> Any:
    """An unfitted copy whose random numbers, at any depth, are drawn anew."""
    model = clone(selector)
    for name in model.get_params():
        if name.rpartition("__")[2] == "random_state":
            model.set_params(**{name: int(rng.randint(np.iinfo(np.int32).max))})
    return model


def count_jobs(X: Any, n_jobs: int | None) -> int | None:
    """How many jobs share X: one on a device, which works in parallel by itself."""
    return 1 if is_on_device(X) else n_jobs


# -- metadata ----------------------------------------------------------------------------------


def request_weights(estimator: Any) -> Any:
    """Let an estimator that we made ourselves have the sample weights of a routed fit."""
    if get_config()["enable_metadata_routing"]:
        is_pipeline = isinstance(estimator, Pipeline)
        for step in estimator.named_steps.values() if is_pipeline else [estimator]:
            step.set_fit_request(sample_weight=True)
    return estimator


def check_weighted_classes(params: dict[str, Any], target: Target) -> None:
    """Refuse weights that leave one class, before a fold complains about its part of them."""
    weights = plain_vector("sample_weight", params.get("sample_weight"))
    if weights is None or target.codes is None or len(weights) != len(target.codes):
        return
    left = np.unique(target.codes[np.asarray(weights) > 0])
    if len(left) < 2:
        raise ValueError(
            f"sample_weight leaves only {len(left)} class{'' if len(left) == 1 else 'es'} with a "
            "positive weight; at least 2 classes are needed"
        )


def route_arguments(
    owner: Any, params: dict[str, Any], *, weighted_members: dict[str, Any], direct: dict[str, Any]
) -> Bunch:
    """Arguments for every member: by metadata routing, or plainly where that is off.

    ``weighted_members`` maps names to estimators that get ``sample_weight``, and ``groups`` where
    they take them; ``direct`` maps the name of another parameter to (member, method) that gets it.
    Without routing, scorers get the weights.
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
                result[member].fit.update(weight_arguments(estimator, value))
            result.scorer.score[name] = value
        elif name in direct:
            member, method = direct[name]
            result[member][method][name] = value
            for one, estimator in weighted_members.items():
                result[one].fit.update(group_arguments(estimator, value))
        else:
            known = " and ".join(["sample_weight", *direct])
            raise TypeError(
                f"fit got an unknown argument {name!r}; it takes {known}, and others only with "
                "sklearn.set_config(enable_metadata_routing=True)"
            )
    return result
