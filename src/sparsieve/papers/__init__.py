"""The published methods: five papers, a folder each, and what they were compared with.

Who reads a paper finds all of it in one folder: the selectors with the model and the errata in
their docstrings, our solvers, and in ``published.py`` the algorithm as it was printed. The core
imports none of this. It finds the selectors by the entry point ``sparsieve.selectors``, as it finds
those of any other package.
"""

from typing import TYPE_CHECKING

from .._imports import PAPERS, lazy_names

if TYPE_CHECKING:
    from .baselines import *  # noqa: F403
    from .exclusive_l21 import *  # noqa: F403
    from .l0_mkl import *  # noqa: F403
    from .l0_mpm import *  # noqa: F403
    from .robust_l20 import *  # noqa: F403

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy_names(globals(), PAPERS)
