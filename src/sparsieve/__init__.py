"""sparsieve: keep few features out of many."""

from typing import TYPE_CHECKING

from ._imports import FAMILIES, PAPERS, lazy_names
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .app.comparison import *  # noqa: F403
    from .app.plotting import *  # noqa: F403
    from .conformance import *  # noqa: F403
    from .device import *  # noqa: F403
    from .diagnosis import *  # noqa: F403
    from .filters import *  # noqa: F403
    from .memory import *  # noqa: F403
    from .meta import *  # noqa: F403
    from .papers import *  # noqa: F403
    from .persistence import *  # noqa: F403
    from .preprocessing import *  # noqa: F403
    from .registry import *  # noqa: F403
    from .selection import *  # noqa: F403
    from .selectors.hinge import *  # noqa: F403
    from .selectors.least_squares import *  # noqa: F403
    from .selectors.likelihood import *  # noqa: F403
    from .selectors.robust import *  # noqa: F403
    from .selectors.trees import *  # noqa: F403

# Where public names live. They are imported at first use, so that `sparsieve --version` does not
# wait for scikit-learn, nor a method for those of other families.
_PACKAGES = (
    "selection",
    "filters",
    "preprocessing",
    "meta",
    "diagnosis",
    "registry",
    "memory",
    "device",
    "persistence",
    "conformance",
    "app.comparison",
    "app.plotting",
)
if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(
        globals(),
        (
            *(f"selectors.{family}" for family in FAMILIES),
            *_PACKAGES,
            *(f"papers.{paper}" for paper in PAPERS),
        ),
        "__version__",
    )
