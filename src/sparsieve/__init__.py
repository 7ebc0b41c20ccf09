"""sparsieve: keep few features out of many."""

from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from .choose import *  # noqa: F403
    from .discovery import all_estimators, all_selectors
    from .displays import *  # noqa: F403
    from .filters import *  # noqa: F403
    from .selectors import *  # noqa: F403

__all__ = [
    "AccuracyCurveDisplay",
    "ChiSquareSelector",
    "ConvergenceDisplay",
    "ESFSSelector",
    "EnsembleSelector",
    "ExactPenaltySVMSelector",
    "ExclusiveL21Selector",
    "ExclusiveLassoSelector",
    "FStatisticSelector",
    "FisherSelector",
    "InfoGainSelector",
    "L0MKLSelector",
    "L0MPMSelector",
    "L0SVMSelector",
    "L1MPMSelector",
    "L20Selector",
    "L21Selector",
    "MIKFSSelector",
    "MPMClassifier",
    "MRMRSelector",
    "PathDisplay",
    "RFSSelector",
    "RLSRSelector",
    "RPMFSSelector",
    "RankingDisplay",
    "ReliefFSelector",
    "RidgeForwardSelector",
    "RobustL20Selector",
    "SMPMSelector",
    "SVMRFESelector",
    "SelectorCV",
    "SparseKernelMPMClassifier",
    "StabilityPathDisplay",
    "StabilitySelection",
    "TTestSelector",
    "__version__",
    "all_estimators",
    "all_selectors",
]

# Where public names live. They are imported at first use, so that `sparsieve --version` does not
# wait for scikit-learn.
_ROOMS = ("selectors", "filters", "choose", "discovery", "displays")


def __getattr__(name: str):
    from importlib import import_module
    from importlib.util import find_spec

    if name in __all__:
        for room in _ROOMS:
            module = f"{__name__}.{room}"
            if find_spec(module) is not None and hasattr(import_module(module), name):
                globals()[name] = getattr(import_module(module), name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
