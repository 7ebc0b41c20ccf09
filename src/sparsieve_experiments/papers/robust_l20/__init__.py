"""The experiments of the robust l2,0 paper (An, Dong and Qin, 2021): its figures 1 to 5.

The paper prints no numbers beside the curves, so that every exhibit holds ours only.
"""

from __future__ import annotations

from ..base import Experiment, Preset
from ..data import data_table
from .accuracy import accuracy_figures
from .claims import claims_of
from .convergence import convergence_figure
from .plan import QUICK, STANDARD, less
from .redundancy import redundancy_figure
from .sparsity import sparsity_figure

PRESET = Preset(
    "robust-l20",
    "N. T. An, P. D. Dong, X. Qin: Robust feature selection via nonconvex sparsity-based methods, "
    "J. Nonlinear Var. Anal. 5 (2021)",
    (
        Experiment("table 1", "Data sets", data_table),
        Experiment("figure 1", "Redundancy rate of the selected features", redundancy_figure),
        Experiment("figures 2 and 3", "Accuracy over the number of features", accuracy_figures),
        Experiment("figure 4", "Rows that are really zero", sparsity_figure),
        Experiment("figure 5", "Objective over the iterations", convergence_figure),
    ),
    {"quick": less(QUICK), "standard": less(STANDARD)},
    in_batches=True,
    claims=claims_of,
)
