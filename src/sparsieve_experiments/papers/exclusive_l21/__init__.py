"""The experiments of the exclusive l2,1 paper."""

from __future__ import annotations

from ..base import Experiment, Preset
from .comparison import compared
from .convergence import convergence
from .illustration import illustrated
from .plan import QUICK, STANDARD, coarser

PRESET = Preset(
    "exclusive-l21",
    "D. Ming, C. Ding: Robust flexible feature selection via exclusive L21 regularization, "
    "IJCAI 2019",
    (
        Experiment("equation 2", "Three penalties on eight samples", illustrated),
        Experiment("figure 1", "Convergence of the augmented Lagrangian method", convergence),
        Experiment("figure 2", "Accuracy with features per class and at equal budget", compared),
    ),
    {"quick": coarser(QUICK), "standard": coarser(STANDARD)},
)
