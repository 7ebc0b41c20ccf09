"""The experiments of the exclusive l2,1 paper."""

from __future__ import annotations

from ..base import Experiment, Preset
from ..data import data_table
from ..levels import left_out
from .claims import claims_of
from .comparison import compared
from .convergence import convergence
from .illustration import illustrated
from .plan import SCALES

PRESET = Preset(
    "exclusive-l21",
    "D. Ming, C. Ding: Robust flexible feature selection via exclusive L21 regularization, "
    "IJCAI 2019",
    (
        Experiment("table 1", "Data sets", data_table),
        Experiment("equation 2", "Three penalties on eight samples", illustrated),
        Experiment("figure 1", "Convergence of the augmented Lagrangian method", convergence),
        Experiment("figure 2", "Accuracy with features per class and at equal budget", compared),
    ),
    left_out(__package__, SCALES),
    claims=claims_of,
)
