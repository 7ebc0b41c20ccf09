"""sparsieve: keep few features out of many."""

from typing import TYPE_CHECKING, Any

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
# wait for scikit-learn.
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


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "__all__":
        rooms = (import_module(f"{__name__}.{room}") for room in _ROOMS)
        found: Any = sorted({"__version__", *(public for room in rooms for public in room.__all__)})
        globals()[name] = found
        return found
    if not name.startswith("_"):
        for room in _ROOMS:
            module = import_module(f"{__name__}.{room}")
            if name in module.__all__:
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
