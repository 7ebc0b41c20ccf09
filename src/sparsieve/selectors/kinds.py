"""Whether an estimator is a classifier or a regressor, in scikit-learn's words."""

from __future__ import annotations

from typing import Any

from sklearn.utils import ClassifierTags, RegressorTags

# What predicts the target of a task; of survival times it is a risk, which is neither.
KIND_OF_TASK = {
    "classification": "classifier",
    "regression": "regressor",
    "counts": "regressor",
}


def with_kind(tags: Any, task: str | None, *, multi_label: bool = False) -> Any:
    """Tags of an estimator that predicts the target of this task; None where that is not known.

    Examples
    --------
    >>> from sklearn.utils import get_tags
    >>> from sparsieve import FisherSelector
    >>> from sparsieve.selectors.kinds import with_kind
    >>> with_kind(get_tags(FisherSelector()), "counts").estimator_type
    'regressor'
    """
    tags.estimator_type = kind = KIND_OF_TASK.get(task or "")
    is_classifier, is_regressor = kind == "classifier", kind == "regressor"
    tags.classifier_tags = ClassifierTags(multi_label=multi_label) if is_classifier else None
    tags.regressor_tags = RegressorTags() if is_regressor else None
    return tags
