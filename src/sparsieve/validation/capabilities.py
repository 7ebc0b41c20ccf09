"""What data an estimator takes, as attributes of its class."""

from __future__ import annotations

from typing import Any, ClassVar


class Capabilities:
    """Defaults; a class overrides them by values, or by properties where its parameters decide."""

    _accepts_sparse: ClassVar[bool] = True
    _accepts_nan: ClassVar[bool] = False
    _accepts_regression: ClassVar[bool] = True  # False: y must hold class labels
    _accepts_regression_if_asked: ClassVar[bool] = False  # also where y is class labels otherwise
    # Whether several columns of targets pass even where single ones must be class labels.
    _accepts_several_targets: ClassVar[bool] = False
    _accepts_survival: ClassVar[bool] = False  # times until an event, some of them censored
    _accepts_counts: ClassVar[bool] = False  # also where other quantities are refused
    _needs_numbers: ClassVar[bool] = False  # y is a quantity, also where it holds whole numbers
    _rounds_target: ClassVar[bool] = True  # False: y stays in double precision beside float32
    _needs_target: ClassVar[bool] = True  # False: y is not looked at, and need not be given
    # Whether X may be out of memory: only products with it are used, and few of its columns.
    _accepts_external: ClassVar[bool] = False
    _accepts_device: ClassVar[bool] = False  # whether X may be on a GPU, as external ones may be
    # A smaller X on a GPU is fetched: the host does most of the work, and would wait for products.
    _fetched_bytes: ClassVar[int] = 0
    _external_hint: ClassVar[str] = ""  # what to do where an external X is not accepted
    # Whether the unit of a column makes no difference; None: as far as it is standardised.
    _scale_free: ClassVar[bool | None] = None
    _holder_of_task: ClassVar[str] = ""  # who has the parameter ``task``, if not the estimator


def is_scale_free(estimator: Any) -> bool:
    """Whether the unit of a column makes no difference to what an estimator finds."""
    declared = getattr(estimator, "_scale_free", None)
    return bool(getattr(estimator, "standardize", False) if declared is None else declared)
