"""sparsieve: keep few features out of many."""

from typing import TYPE_CHECKING

from ._rooms import WINGS, found_in
from ._version import __version__ as __version__

if TYPE_CHECKING:
    from .choose import *  # noqa: F403
    from .comparing import *  # noqa: F403
    from .device import *  # noqa: F403
    from .diagnosis import *  # noqa: F403
    from .discovery import *  # noqa: F403
    from .displays import *  # noqa: F403
    from .filters import *  # noqa: F403
    from .frames import *  # noqa: F403
    from .memory import *  # noqa: F403
    from .oneline import *  # noqa: F403
    from .saved import *  # noqa: F403
    from .selectors.hinge import *  # noqa: F403
    from .selectors.least_squares import *  # noqa: F403
    from .selectors.minimax import *  # noqa: F403
    from .selectors.mkl import *  # noqa: F403
    from .selectors.row_norms import *  # noqa: F403

# Where public names live. They are imported at first use, so that `sparsieve --version` does not
# wait for scikit-learn, nor a method for those of other wings.
_ROOMS = (
    "selectors",
    "filters",
    "frames",
    "choose",
    "diagnosis",
    "discovery",
    "displays",
    "memory",
    "device",
    "oneline",
    "saved",
    "comparing",
)
__getattr__, __dir__ = found_in(
    globals(), (*(f"selectors.{wing}" for wing in WINGS), *_ROOMS[1:]), "__version__"
)
