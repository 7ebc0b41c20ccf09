"""The experiments of the l0-MKL paper."""

from __future__ import annotations

from ..base import Experiment, Preset
from ..levels import left_out
from .claims import claims_of
from .figures import convergence, curves, curves_by_rule, theta
from .plan import SCALES
from .printed import tried
from .tables import data_sets, parameters, scores

PRESET = Preset(
    "l0-mkl",
    "H. Xue, Y. Song: Non-convex approximation based l0-norm multiple indefinite kernel feature "
    "selection, Applied Intelligence (2019)",
    (
        Experiment("table 3", "data sets", data_sets),
        Experiment("tables 4, 5 and 6", "accuracy, features, F1 and CPU time", scores),
        Experiment("table 7", "parameters", parameters),
        Experiment("table 7, tried; algorithms 1, 3 and 4", "as printed", tried),
        Experiment("figure 1", "accuracy against the number of features", curves),
        Experiment("figure 1, as printed", "features kept by kernel weight", curves_by_rule),
        Experiment("figure 2", "convergence", convergence),
        Experiment("section 5.2", "tightness of the surrogate", theta),
    ),
    coarser=left_out(__package__, SCALES),
    can_halve=True,
    claims=claims_of,
)
